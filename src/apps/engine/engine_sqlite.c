/* SPDX-License-Identifier: MIT */
/* The engine that most apps have: a database is a file, NAME.db. Connections are shared (pool.h),
 * an open database is little more than its name. A copy is made under another name first. Nothing
 * is synced: the files survive the death of this process at any point (apps/db/redo.h), not that of
 * the kernel. Files of earlier versions may have a log beside them, NAME.db-wal. */
#include "apps/engine/engine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/db/db.h"
#include "apps/db/redo.h"
#include "apps/db/seat.h"
#include "apps/engine/changes.h"
#include "apps/engine/pool.h"
#include "apps/engine/template.h"
#include "apps/engine/verify.h"
#include "base/mem.h"
#include "sys/io.h"

struct app_home {
    char *dir;
    struct pool pool;
};

struct app_handle {
    const struct app *app;
    struct app_home *home;
    struct pool_file file;
};

#define SUFFIX ".db"

static int sqlite_start(const char *dir, struct app_home **ret, struct err *e)
{
    struct app_home *h = mem_zalloc(1, sizeof *h);

    if (h)
        h->dir = mem_strdup(dir);
    if (!h || !h->dir) {
        free(h);
        return err_set(e, -ENOMEM, "out of memory");
    }
    int r = redo_recover(dir, e);
    if (r < 0) {
        free(h->dir);
        free(h);
        return r;
    }
    pool_init(&h->pool, h->dir);
    *ret = h;
    return 0;
}

static void sqlite_stop(struct app_home *h)
{
    pool_done(&h->pool);
    free(h->dir);
    free(h);
}

/* ---- files ---- */

static void put_database_path(const struct app_home *h, const char *name, const char *suffix,
                              char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s/%s%s", h->dir, name, suffix);
}

static bool is_database_there(const struct app_home *h, const char *name, const char *suffix)
{
    char path[PATH_MAX];

    put_database_path(h, name, suffix, path);
    return access(path, F_OK) == 0;
}

static bool sqlite_has(struct app_home *h, const char *name)
{
    return is_database_there(h, name, SUFFIX);
}

static int64_t sqlite_size(struct app_home *h, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    put_database_path(h, name, SUFFIX, path);
    return stat(path, &st) < 0 ? -errno : st.st_size;
}

static int make_parent(const struct app_home *h, const char *name, struct err *e)
{
    char path[PATH_MAX];

    put_database_path(h, name, "", path);
    char *slash = strrchr(path, '/');
    *slash = 0;
    return io_mkdirs(path, 0700, e);
}

static int remove_database_file(const struct app_home *h, const char *name, const char *suffix,
                                struct err *e)
{
    char path[PATH_MAX];

    put_database_path(h, name, suffix, path);
    if (unlink(path) < 0 && errno != ENOENT)
        return err_sys(e, -errno, "remove '%s'", path);
    return 0;
}

/* The database first: a log without it means nothing, and goes before the next copy comes. */
static int sqlite_drop(struct app_home *h, const char *name, struct err *e)
{
    int r = remove_database_file(h, name, SUFFIX, e);

    return r < 0 ? r : remove_database_file(h, name, SUFFIX "-wal", e);
}

/* A process of an earlier version that was killed left its log, which is moved in. */
static int sqlite_settle_log(struct app_home *h, const char *name, struct err *e)
{
    char path[PATH_MAX];

    if (!is_database_there(h, name, SUFFIX "-wal"))
        return 0;
    if (!sqlite_has(h, name))
        return remove_database_file(h, name, SUFFIX "-wal", e);
    put_database_path(h, name, SUFFIX, path);
    return seat_settle(path, e);
}

static int copy_database_bytes(int from, int to)
{
    for (;;) {
        ssize_t n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
    }
}

/* File systems that cannot copy by themselves. */
static int copy_slowly(int from, int to)
{
    char chunk[32 << 10];
    ssize_t n;

    if (lseek(from, 0, SEEK_SET) < 0 || lseek(to, 0, SEEK_SET) < 0)
        return -errno;
    while ((n = io_read(from, chunk, sizeof chunk)) > 0) {
        int r = io_write_all(to, chunk, (size_t)n);
        if (r < 0)
            return r;
    }
    return (int)n;
}

static int copy_database_file(const char *from, const char *to)
{
    auto_close int in = io_open(from, O_RDONLY, 0);
    auto_close int out = in < 0 ? -1 : io_open(to, O_RDWR | O_CREAT | O_TRUNC, 0600);

    if (in < 0 || out < 0)
        return in < 0 ? in : out;
    int r = copy_database_bytes(in, out);
    if (r == -EXDEV || r == -EINVAL || r == -EOPNOTSUPP || r == -ENOSYS)
        r = copy_slowly(in, out);
    if (r < 0)
        (void)unlink(to);
    return r;
}

static int sqlite_copy(struct app_home *h, const char *from, const char *to, struct err *e)
{
    char source[PATH_MAX], target[PATH_MAX], draft[PATH_MAX];
    int r = sqlite_settle_log(h, from, e);

    put_database_path(h, from, SUFFIX, source);
    put_database_path(h, to, SUFFIX, target);
    put_database_path(h, to, ".new", draft);
    if (r == 0)
        r = copy_database_file(source, draft);
    if (r == -ENOENT && make_parent(h, to, e) == 0)
        r = copy_database_file(source, draft);
    if (r < 0)
        return err_sys(e, r, "copy '%s' to '%s'", source, draft);
    if (r == 0)
        r = sqlite_settle_log(h, to, e);
    if (r == 0 && rename(draft, target) < 0)
        r = err_sys(e, -errno, "rename '%s'", draft);
    return r;
}

static int sqlite_each(struct app_home *h, const char *kind,
                       void (*fn)(void *ctx, const char *word), void *ctx)
{
    char path[PATH_MAX];
    struct dirent *d;

    put_database_path(h, kind, "", path);
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? 0 : -errno;
    while ((d = readdir(dir))) {
        struct str name = str_of(d->d_name);
        if (!str_ends(name, STR(SUFFIX)))
            continue;
        d->d_name[name.len - strlen(SUFFIX)] = 0;
        fn(ctx, d->d_name);
    }
    (void)closedir(dir);
    return 0;
}

/* ---- templates ---- */

static int sqlite_make(struct app_home *h, const struct app *app, const char *name,
                       const struct json *seed, struct err *e)
{
    char path[PATH_MAX], draft[PATH_MAX];
    int r = make_parent(h, name, e);

    put_database_path(h, name, SUFFIX, path);
    put_database_path(h, name, ".new", draft);
    if (r < 0)
        return r;
    (void)unlink(draft);
    r = template_make(app, draft, seed, e);
    if (r == 0 && rename(draft, path) < 0)
        r = err_sys(e, -errno, "rename '%s'", draft);
    return r;
}

/* ---- open databases ---- */

/* NOLINTNEXTLINE(readability-function-size): a row of a table */
static int sqlite_open(struct app_home *h, const struct app *app, const char *name,
                       bool is_read_only, struct app_handle **ret, struct err *e)
{
    struct app_handle *x = mem_zalloc(1, sizeof *x);
    char path[PATH_MAX];

    put_database_path(h, name, SUFFIX, path);
    if (!x || pool_file_init(&x->file, app, path, is_read_only) < 0) {
        free(x);
        return err_set(e, -ENOMEM, "out of memory");
    }
    x->app = app;
    x->home = h;
    *ret = x;
    return 0;
}

static void close_sqlite_database(struct app_handle *x, bool is_dropped)
{
    (void)is_dropped;
    pool_file_done(&x->home->pool, &x->file);
    free(x);
}

static void sqlite_tune(struct app_handle *x, uint64_t seed, int64_t start_us)
{
    x->file.own.seed = seed;
    x->file.own.start_us = start_us;
}

static int sqlite_run(struct app_handle *x, struct app_call *c, struct err *e)
{
    struct pool *pool = &x->home->pool;
    struct pool_connection *own;
    int r = pool_take(pool, &x->file, c->limits == APPDB_BRIEF, &own, e);

    if (r < 0)
        return r;
    r = appdb_run(own->db, c, e);
    pool_give(pool, own);
    return r;
}

static int sqlite_import(struct app_handle *x, const struct json *body, struct arena *a,
                         struct str *ret, struct err *e)
{
    struct pool *pool = &x->home->pool;
    struct pool_connection *c;
    struct err own = ERR_INIT;
    int r = pool_take(pool, &x->file, false, &c, e);

    if (r < 0)
        return r;
    *ret = template_import(x->app, c->db, body, a, &own);
    pool_give(pool, c);
    return ret->p ? 0 : err_set(e, own.code, "%s", err_text(&own));
}

static int sqlite_export(struct app_handle *x, struct arena *a, struct str *ret, struct err *e)
{
    struct pool *pool = &x->home->pool;
    struct pool_connection *c;
    struct err own = ERR_INIT;
    int r = pool_take(pool, &x->file, false, &c, e);

    if (r < 0)
        return r;
    *ret = template_export(x->app, c->db, a, &own);
    pool_give(pool, c);
    return ret->p ? 0 : err_set(e, own.code, "%s", err_text(&own));
}

static bool sqlite_is_ready(struct app_home *h, const struct app *app)
{
    return pool_is_ready(&h->pool, app);
}

static void sqlite_tidy(struct app_home *h, const struct app *app, int64_t before_ms)
{
    pool_close(&h->pool, app, before_ms);
}

static unsigned sqlite_n_open(struct app_home *h)
{
    return pool_n_open(&h->pool);
}

/* ---- closed databases ---- */

static int sqlite_diff(struct app_home *h, const char *base, const char *name, struct buf *out,
                       struct err *e)
{
    char base_path[PATH_MAX], path[PATH_MAX];
    int r = sqlite_settle_log(h, name, e);

    if (r < 0)
        return r;
    if (strcmp(base, name) == 0)
        return changes_write_none(out);
    put_database_path(h, base, SUFFIX, base_path);
    put_database_path(h, name, SUFFIX, path);
    return changes_of_sqlite(base_path, path, out, e);
}

/* NOLINTNEXTLINE(readability-function-size): a row of a table */
static int sqlite_verify(struct app_home *h, const struct app *app, const char *name,
                         const struct json *checks, struct buf *out, struct err *e)
{
    struct appdb *db auto_(appdb_close) = NULL;
    const struct appdb_env env = template_env(app, 0, 0);
    char path[PATH_MAX];
    int r = sqlite_settle_log(h, name, e);

    put_database_path(h, name, SUFFIX, path);
    if (r == 0)
        r = appdb_open(path, true, &env, &db, e);
    return r < 0 ? r : verify_run(&verify_sqlite, db, checks, out, e);
}

const struct app_engine app_engine_sqlite = {
    .name = "sqlite",
    .is_quick = true,
    .start = sqlite_start,
    .stop = sqlite_stop,
    .make = sqlite_make,
    .has = sqlite_has,
    .size = sqlite_size,
    .copy = sqlite_copy,
    .drop = sqlite_drop,
    .each = sqlite_each,
    .is_ready = sqlite_is_ready,
    .tidy = sqlite_tidy,
    .n_open = sqlite_n_open,
    .open = sqlite_open,
    .close = close_sqlite_database,
    .tune = sqlite_tune,
    .run = sqlite_run,
    .import = sqlite_import,
    .export = sqlite_export,
    .diff = sqlite_diff,
    .verify = sqlite_verify,
};
