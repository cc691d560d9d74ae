/* SPDX-License-Identifier: MIT */
#include "apps/engine/template.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps/lang/lang.h"

struct appdb_env template_env(const struct app *app, uint64_t seed, int64_t start_us)
{
    return (struct appdb_env){
        .scripts = &app->scripts,
        .ids = app->ids,
        .seed = seed,
        .start_us = start_us,
        .compile = lang_compile,
        .ctx = (void *)app->languages,
    };
}

/* The statement of S that E ("line 12: …") is about; NULL: none. */
static const struct script_statement *failed_statement(const struct script *s, const struct err *e)
{
    struct str rest = str_of(err_text(e));
    uint64_t line;

    if (!str_starts(rest, STR("line ")))
        return NULL;
    rest = str_skip(rest, strlen("line "));
    if (str_to_u64(str_cut(&rest, ':'), &line) < 0)
        return NULL;
    for (size_t i = 0; i < s->n; i++) {
        if (s->statements[i].line == line)
            return &s->statements[i];
    }
    return NULL;
}

/* The member of BODY that the statement reads, as '$.NAME' or :NAME; empty: it is not to be seen.
 */
static struct str member_read(const struct script_statement *st, const struct json *body)
{
    char path[128], name[128];

    for (size_t i = 0; st && json_is(body, JSON_OBJECT) && i < body->n; i++) {
        struct str key = body->members[i].key;
        (void)snprintf(path, sizeof path, "'$." STR_FMT, STR_ARG(str_slice(key, 0, 100)));
        (void)snprintf(name, sizeof name, "(:" STR_FMT ")", STR_ARG(str_slice(key, 0, 100)));
        if (str_find(st->sql, str_of(path)) >= 0 || str_find(st->sql, str_of(name)) >= 0)
            return key;
    }
    return STR("");
}

/* The engine refused what the script made of BODY. */
static void refuse_body(const struct script *s, const struct json *body, struct err *e)
{
    struct str member = member_read(failed_statement(s, e), body);

    (void)err_ctx(e, -EDOM, STR_FMT, STR_ARG(member));
}

static void fail_seed_script(const struct app_call *call, struct err *e)
{
    if (e && e->code == -EINVAL && call->args)
        refuse_body(call->script, call->args, e);
    else
        (void)err_ctx(e, e ? e->code : -EIO, STR_FMT, STR_ARG(call->script->name));
}

/* What CALL gives, or .p NULL. */
static struct str run_seed_script(const struct app *app, struct appdb *db, struct app_call *call,
                                  struct err *e)
{
    if (!call->script)
        (void)err_set(e, -EOPNOTSUPP, "%s has no data of its own", app->name);
    else if (appdb_run(db, call, e) < 0)
        fail_seed_script(call, e);
    else if (call->error.p)
        (void)err_set(e, -EINVAL, "%s", call->error.p);
    else if (!call->result.p)
        (void)err_set(e, -EINVAL, STR_FMT ": no result", STR_ARG(call->script->name));
    else
        return call->result;
    return STR_NULL;
}

struct str template_import(const struct app *app, struct appdb *db, const struct json *body,
                           struct arena *a, struct err *e)
{
    struct app_call call = {.script = app->import,
                            .args = (struct json *)body,
                            /* a script only reads it */ .arena = a,
                            .is_write = true,
                            .limits = APPDB_BULK};

    return run_seed_script(app, db, &call, e);
}

struct str template_export(const struct app *app, struct appdb *db, struct arena *a, struct err *e)
{
    struct app_call call = {.script = app->export, .arena = a, .limits = APPDB_BULK};

    return run_seed_script(app, db, &call, e);
}

static int fill_seed_template(const struct app *app, const char *path, const struct json *seed,
                              struct err *e)
{
    struct appdb *db auto_(appdb_close) = NULL;
    struct appdb_env env = template_env(app, 0, TEMPLATE_START_US);
    struct arena a auto_arena;
    struct err own = ERR_INIT;
    int r = appdb_open(path, false, &env, &db, e);

    arena_init(&a, 4 * (size_t)APP_FILE_MAX);
    if (r < 0)
        return r;
    if (!template_import(app, db, seed, &a, &own).p)
        return err_set(e, own.code, "import: %s", err_text(&own));
    return appdb_rewind(db, e);
}

int template_make(const struct app *app, const char *path, const struct json *seed, struct err *e)
{
    int r = appdb_create(path, app->schema_sql, e);

    if (r == 0 && seed)
        r = fill_seed_template(app, path, seed, e);
    if (r < 0)
        (void)unlink(path);
    return r;
}
