/* SPDX-License-Identifier: MIT */
#include "apps/check/check.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/check/cases.h"
#include "apps/db/db.h"
#include "apps/engine/call.h"
#include "apps/engine/engine.h"
#include "apps/engine/template.h"
#include "base/buf.h"
#include "sys/io.h"

#define MAX_FILES 256

void check_finding(struct app_check *c, const char *fmt, ...)
{
    char text[4096];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    c->n_findings++;
    c->finding(c->ctx, text);
}

/* ---- statements ---- */

static void check_one_script(struct app_check *c, struct appdb *db, const struct script *s,
                             const struct app_tool *t)
{
    struct err e = ERR_INIT;
    const struct json *properties = t ? json_get(t->input, "properties") : NULL;
    bool is_write = t ? !t->is_read_only : s == c->app->import;

    struct arena a auto_arena;

    /* With what the caller's request adds to the arguments. */
    arena_init(&a, 1 << 20);
    struct json *all = c->app->hidden ? json_copy(&a, c->app->hidden) : NULL;
    for (size_t i = 0; all && properties && i < properties->n; i++)
        (void)json_set_str(&a, all, properties->members[i].key, &properties->members[i].value);
    if (appdb_check(db, s, all ? all : properties, is_write, &e) < 0)
        check_finding(c, "%s: " STR_FMT ": %s", t ? "tools.sql" : "data.sql", STR_ARG(s->name),
                      err_text(&e));
}

static int check_statements(struct app_check *c, const char *path, struct err *e)
{
    struct appdb *db auto_(appdb_close) = NULL;
    struct appdb_env env = template_env(c->app, 1, 1);
    int r = template_make(c->app, path, NULL, e);

    if (r == 0)
        r = appdb_open(path, false, &env, &db, e);
    for (size_t i = 0; r == 0 && i < c->app->n_tools; i++)
        check_one_script(c, db, c->app->tools[i].script, &c->app->tools[i]);
    if (r == 0 && c->app->import) {
        check_one_script(c, db, c->app->import, NULL);
        check_one_script(c, db, c->app->export, NULL);
    }
    return r;
}

/* ---- data ---- */

/* What export says of a database that is made of SEED. */
static struct str dump_of(struct app_check *c, const struct json *seed, struct arena *a,
                          struct err *e)
{
    const struct app_engine *engine = c->app->engine;
    struct app_handle *x = NULL;
    struct str text = STR_NULL;

    if (engine->drop(c->home, CHECK_DATABASE, e) < 0 ||
        engine->make(c->home, c->app, CHECK_DATABASE, seed, e) < 0 ||
        engine->open(c->home, c->app, CHECK_DATABASE, false, &x, e) < 0)
        return STR_NULL;
    engine->tune(x, 1, 1);
    if (engine->export(x, a, &text, e) < 0)
        text = STR_NULL;
    engine->close(x, true);
    return text;
}

void check_dump(struct app_check *c, const char *what, struct str dump)
{
    struct arena a auto_arena;
    struct err e = ERR_INIT;

    arena_init(&a, 16 * (size_t)APP_FILE_MAX);
    const struct json *body = json_parse(&a, dump, NULL, &e);
    struct str again = body ? dump_of(c, body, &a, &e) : STR_NULL;
    if (!again.p)
        check_finding(c, "%s: import of what was exported: %s", what, err_text(&e));
    else if (!str_eq(dump, again))
        check_finding(c, "%s: export, import and export again differ", what);
}

static void check_data(struct app_check *c, const char *name, const struct json *seed)
{
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    char what[PATH_MAX];

    arena_init(&a, 16 * (size_t)APP_FILE_MAX);
    (void)snprintf(what, sizeof what, "seed/%s", name);
    struct str dump = dump_of(c, seed, &a, &e);
    if (dump.p)
        check_dump(c, what, dump);
    else
        check_finding(c, "%s: %s", what, err_text(&e));
}

/* ---- files ---- */

static int order_case_files(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of DIR's files that end with SUFFIX, in order, in A. */
static size_t list_files(const struct app *app, const char *dir, const char *suffix,
                         struct arena *a, char *names[MAX_FILES])
{
    char path[PATH_MAX];
    size_t n = 0;

    (void)snprintf(path, sizeof path, "%s/%s", app->dir, dir);
    DIR *d = opendir(path);
    for (struct dirent *entry; d && n < MAX_FILES && (entry = readdir(d));) {
        if (!str_ends(str_of(entry->d_name), str_of(suffix)))
            continue;
        names[n] = arena_strdup(a, entry->d_name);
        n += names[n] != NULL;
    }
    if (d)
        (void)closedir(d);
    qsort(names, n, sizeof names[0], order_case_files);
    return n;
}

static void check_seeds(struct app_check *c)
{
    struct arena a auto_arena;
    char *names[MAX_FILES];

    arena_init(&a, 16 * (size_t)APP_FILE_MAX);
    size_t n = list_files(c->app, "seed", ".json", &a, names);
    if (n > 0 && !c->app->import)
        check_finding(c, "seed/: data.sql has no script import");
    for (size_t i = 0; i < n && c->app->import; i++) {
        struct err e = ERR_INIT;
        names[i][strlen(names[i]) - strlen(".json")] = '\0';
        const struct json *seed = app_seed(c->app, names[i], &a, &e);
        if (seed)
            check_data(c, names[i], seed);
        else
            check_finding(c, "%s", err_text(&e));
    }
}

static void check_case_files(struct app_check *c)
{
    struct arena a auto_arena;
    char *names[MAX_FILES];
    struct coverage seen = {0};

    arena_init(&a, 1 << 20);
    size_t n = list_files(c->app, "cases", ".jsonl", &a, names);
    for (size_t i = 0; i < n; i++)
        cases_run(c, names[i], &seen);
    for (size_t i = 0; i < c->app->n_tools; i++) {
        if (!seen.has_success[i])
            check_finding(c, "cases/: no call of %s succeeds", c->app->tools[i].name);
        if (!seen.has_failure[i])
            check_finding(c, "cases/: no call of %s fails", c->app->tools[i].name);
    }
}

/* ---- all of it ---- */

static int remove_check_file(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    (void)remove(path);
    return 0;
}

/* What the statements are prepared on is always SQLite: others say of them when they are run. */
static int check_in(struct app_check *c, const char *dir, struct err *e)
{
    char path[PATH_MAX];
    int r = 0;

    (void)snprintf(path, sizeof path, "%s/statements.db", dir);
    if (c->app->engine == &app_engine_sqlite)
        r = check_statements(c, path, e);
    /* Cases of a broken app only repeat what is wrong with it. */
    if (r < 0 || c->n_findings > 0)
        return r;
    r = c->app->engine->start(dir, &c->home, e);
    if (r < 0)
        return r;
    check_seeds(c);
    check_case_files(c);
    c->app->engine->stop(c->home);
    return 0;
}

int app_check(struct app_check *c, const char *dir, struct err *e)
{
    char own[PATH_MAX];

    (void)snprintf(own, sizeof own, "%s/check.XXXXXX", dir);
    c->n_cases = c->n_findings = 0;
    if (!mkdtemp(own))
        return err_sys(e, -errno, "make '%s'", own);
    int r = check_in(c, own, e);
    (void)nftw(own, remove_check_file, 16, FTW_DEPTH | FTW_PHYS);
    return r;
}
