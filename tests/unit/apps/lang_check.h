/* SPDX-License-Identifier: MIT */
/* For tests of query languages: a small database, and what a query finds in it. */
#pragma once

#include "../check.h"

#include <stdio.h>
#include <unistd.h>

#include "apps/lang/lang.h"

struct lang_check {
    const char *schema, *languages; /* languages: app.json's; NULL: none */
    const char *scripts;            /* of :q */
    size_t script;                  /* which of them is asked */
    struct arena arena;
    struct scripts parsed;
    struct appdb *db;
    char path[64];
};

struct lang_case {
    const char *query, *found;
};

static inline void lang_check_open(struct lang_check *c)
{
    struct err e = ERR_INIT;

    arena_init(&c->arena, 64 << 20);
    (void)snprintf(c->path, sizeof c->path, "/tmp/test_lang.%d.db", (int)getpid());
    (void)unlink(c->path);
    assert_int_equal(scripts_parse(&c->arena, str_of(c->scripts), &c->parsed, &e), 0);
    struct appdb_env env = {.scripts = &c->parsed,
                            .seed = 1,
                            .start_us = 1768467600000000, /* 2026-01-15T09:00:00Z */
                            .compile = lang_compile};
    if (c->languages) {
        env.ctx = json_parse(&c->arena, str_of(c->languages), NULL, &e);
        assert_non_null(env.ctx);
    }
    if (appdb_create(c->path, c->schema, &e) < 0 ||
        appdb_open(c->path, false, &env, &c->db, &e) < 0)
        fail_msg("%s", err_text(&e));
}

static inline void lang_check_close(struct lang_check *c)
{
    appdb_close(c->db);
    (void)unlink(c->path);
    arena_done(&c->arena);
}

/* What SCRIPT makes of QUERY. */
static inline struct app_call lang_check_run(struct lang_check *c, const struct script *script,
                                             struct str query)
{
    struct app_call call = {
        .script = script, .args = json_new_object(&c->arena), .arena = &c->arena};
    struct err e = ERR_INIT;

    assert_non_null(script);
    assert_int_equal(
        json_set(&c->arena, (struct json *)call.args, "q", json_new_str(&c->arena, query)), 0);
    if (appdb_run(c->db, &call, &e) < 0)
        fail_msg(STR_FMT ": %s", STR_ARG(query), err_text(&e));
    return call;
}

/* The answer, or "error: …". */
static inline struct str lang_check_find(struct lang_check *c, struct str query)
{
    struct app_call call = lang_check_run(c, &c->parsed.items[c->script], query);

    return call.error.p ? arena_printf(&c->arena, "error: " STR_FMT, STR_ARG(call.error))
                        : call.result;
}

static inline void lang_check_all(struct lang_check *c, const struct lang_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str got = lang_check_find(c, str_of(cases[i].query));
        if (!str_is(got, cases[i].found))
            fail_msg("%s: '" STR_FMT "', not '%s'", cases[i].query, STR_ARG(got), cases[i].found);
    }
}
