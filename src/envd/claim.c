/* SPDX-License-Identifier: MIT */
/* What a cell got: see claim.h. */
#include "envd/claim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "envd/hostname.h"
#include "envd/proc.h"
#include "envd/user.h"

enum { ENV_MAX = 1024 };

void claim_free_strings(char **list)
{
    for (char **s = list; s && *s; s++)
        free(*s);
    free((void *)list);
}

static bool is_claim_name(struct str s)
{
    return s.len > 0 && str_chr(s, '=') < 0 && str_chr(s, '\0') < 0;
}

/* A scalar as text; .p is NULL for anything else. */
static struct str claim_text_of(struct arena *a, const struct json *v)
{
    if (json_is(v, JSON_STRING))
        return str_chr(v->s, '\0') < 0 ? v->s : STR_NULL;
    if (json_is(v, JSON_BOOL))
        return v->b ? STR("true") : STR("false");
    if (json_is(v, JSON_INT))
        return arena_printf(a, "%lld", (long long)v->i);
    if (json_is(v, JSON_REAL))
        return arena_printf(a, "%.17g", v->d);
    return STR_NULL;
}

char **claim_env(struct arena *a, const struct json *object, struct err *e)
{
    size_t n = json_is(object, JSON_OBJECT) ? object->n : 0;

    if (object && !json_is(object, JSON_OBJECT) && !json_is(object, JSON_NULL)) {
        (void)err_set(e, -EINVAL, "env must be an object");
        return NULL;
    }
    if (n > ENV_MAX) {
        (void)err_set(e, -EINVAL, "env has more than %d members", (int)ENV_MAX);
        return NULL;
    }
    char **env = arena_zalloc(a, n + 1, sizeof *env);
    for (size_t i = 0; env && i < n; i++) {
        const struct json_member *m = &object->members[i];
        struct str value = claim_text_of(a, &m->value);
        if (!is_claim_name(m->key) || !value.p) {
            (void)err_set(e, -EINVAL, "env: '%.*s' is not a usable variable",
                          (int)(m->key.len < 64 ? m->key.len : 64), m->key.p);
            return NULL;
        }
        struct str pair = arena_printf(a, STR_FMT "=" STR_FMT, STR_ARG(m->key), STR_ARG(value));
        env[i] = (char *)(uintptr_t)pair.p;
        if (!pair.p)
            env = NULL;
    }
    if (!env)
        (void)err_sys(e, -ENOMEM, "env");
    return env;
}

char **claim_strings(struct arena *a, const struct json *array, const char *what, struct err *e)
{
    size_t n = json_is(array, JSON_ARRAY) ? array->n : 0;

    if ((array && !json_is(array, JSON_ARRAY) && !json_is(array, JSON_NULL)) || n > PROC_ARGS_MAX) {
        (void)err_set(e, -EINVAL, "%s must be an array of at most %d strings", what,
                      (int)PROC_ARGS_MAX);
        return NULL;
    }
    char **list = arena_zalloc(a, n + 1, sizeof *list);
    if (!list)
        (void)err_sys(e, -ENOMEM, "%s", what);
    for (size_t i = 0; list && i < n; i++) {
        struct str s = json_str(json_at(array, i), STR_NULL);
        if (!s.p || str_chr(s, '\0') >= 0) {
            (void)err_set(e, -EINVAL, "%s must hold strings only", what);
            return NULL;
        }
        list[i] = (char *)(uintptr_t)s.p; /* ends with a NUL, and lives as long as the value */
    }
    return list;
}

char **claim_copy_strings(char **list)
{
    size_t n = 0;

    while (list[n])
        n++;
    char **copy = mem_zalloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = mem_strdup(list[i]);
        if (!copy[i]) {
            claim_free_strings(copy);
            return NULL;
        }
    }
    return copy;
}

/* Replaces *TO by member KEY when there is one that is not empty. */
static int take_claim_text(char **to, const struct json *body, const char *key, struct err *e)
{
    const struct json *v = json_get(body, key);
    struct str s = json_str(v, STR_NULL);

    if (!v || json_is(v, JSON_NULL) || (s.p && s.len == 0))
        return 0;
    if (!s.p || str_chr(s, '\0') >= 0)
        return err_set(e, -EINVAL, "%s must be a string", key);
    char *copy = mem_strndup(s.p, s.len);
    if (!copy)
        return err_sys(e, -ENOMEM, "%s", key);
    free(*to);
    *to = copy;
    return 0;
}

static int take_hostname(struct claim *c, const struct json *body, struct err *e)
{
    struct str s = json_str(json_get(body, "hostname"), STR(""));

    if (s.len == 0)
        return 0;
    if (s.len >= HOSTNAME_MAX)
        return err_set(e, -EINVAL, "hostname is longer than %d bytes", (int)HOSTNAME_MAX - 1);
    int r = hostname_set(s.p);
    if (r < 0)
        return err_sys(e, r, "hostname");
    return take_claim_text(&c->name, body, "hostname", e);
}

int claim_set(struct claim *c, const struct json *body, struct err *e)
{
    auto_arena struct arena a;

    arena_init(&a, 8 << 20);
    const struct json *env = json_get(body, "env");
    char **list = claim_env(&a, env, e);
    if (!list)
        return e->code;
    if (env && !json_is(env, JSON_NULL)) {
        char **copy = claim_copy_strings(list);
        if (!copy)
            return err_sys(e, -ENOMEM, "env");
        claim_free_strings(c->env);
        c->env = copy;
    }
    int r = take_hostname(c, body, e);
    if (r == 0)
        r = take_claim_text(&c->user, body, "user", e);
    return r == 0 ? take_claim_text(&c->workdir, body, "workdir", e) : r;
}

void claim_done(struct claim *c)
{
    free(c->name);
    free(c->user);
    free(c->workdir);
    claim_free_strings(c->env);
    *c = (struct claim){0};
}

const char *claim_user(const struct claim *c)
{
    struct user u;

    if (c->user)
        return c->user;
    return user_find("user", &u, NULL) == 0 ? "user" : "root";
}
