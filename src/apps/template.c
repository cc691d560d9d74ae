/* SPDX-License-Identifier: MIT */
#include "apps/template.h"

#include <errno.h>
#include <unistd.h>

#include "apps/lang.h"

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

static int run(struct appdb *db, struct appdb_call *call, const char *what, struct err *e)
{
    int r = appdb_run(db, call, e);

    if (r < 0)
        return err_ctx(e, r, "%s", what);
    return call->error.p ? err_set(e, -EINVAL, "%s: %s", what, call->error.p) : 0;
}

int template_import(const struct app *app, struct appdb *db, const struct json *body, struct err *e)
{
    struct arena a auto_arena;
    struct appdb_call call = {.script = app->import, .args = body, .arena = &a, .is_write = true};

    arena_init(&a, 4 * (size_t)APP_FILE_MAX);
    if (!app->import)
        return err_set(e, -EOPNOTSUPP, "%s has no data of its own", app->name);
    return run(db, &call, "import", e);
}

struct str template_export(const struct app *app, struct appdb *db, struct arena *a, struct err *e)
{
    struct appdb_call call = {.script = app->export, .arena = a};

    if (!app->export)
        (void)err_set(e, -EOPNOTSUPP, "%s has no data of its own", app->name);
    else if (run(db, &call, "export", e) == 0)
        return call.result;
    return STR_NULL;
}

static int fill(const struct app *app, const char *path, const struct json *seed, struct err *e)
{
    struct appdb *db auto_(appdb_close) = NULL;
    struct appdb_env env = template_env(app, 0, TEMPLATE_START_US);
    int r = appdb_open(path, false, &env, &db, e);

    if (r == 0)
        r = template_import(app, db, seed, e);
    return r < 0 ? r : appdb_rewind(db, e);
}

int template_make(const struct app *app, const char *path, const struct json *seed, struct err *e)
{
    int r = appdb_create(path, app->schema_sql, e);

    if (r == 0 && seed)
        r = fill(app, path, seed, e);
    if (r < 0)
        (void)unlink(path);
    return r;
}
