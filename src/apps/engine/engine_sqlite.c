/* SPDX-License-Identifier: MIT */
/* The engine that most apps have: a database is a file, NAME.db, and while somebody writes to it
 * its log beside it. A copy is made under another name first. Nothing is synced: the files survive
 * the death of this process at any point, not that of the kernel. */
#include "apps/engine/engine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/db/db.h"
#include "apps/engine/changes.h"
#include "apps/engine/template.h"
#include "apps/engine/verify.h"
#include "base/mem.h"
#include "sys/io.h"

struct app_home {
    char *dir;
};

struct app_handle {
    const struct app *app;
    struct appdb *db;
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
    *ret = h;
    return 0;
}

static void sqlite_stop(struct app_home *h)
{
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

/* A process that was killed left its log: opening the database and closing it moves that in. */
static int sqlite_settle_log(struct app_home *h, const char *name, struct err *e)
{
    static const struct scripts none = {0};
    const struct appdb_env env = {.scripts = &none};
    struct appdb *db auto_(appdb_close) = NULL;
    char path[PATH_MAX];

    if (!is_database_there(h, name, SUFFIX "-wal"))
        return 0;
    if (!sqlite_has(h, name))
        return remove_database_file(h, name, SUFFIX "-wal", e);
    put_database_path(h, name, SUFFIX, path);
    return appdb_open(path, false, &env, &db, e);
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

/* As databases that are written to are: so that a copy needs no change of mode. */
static int set_mode(const struct app *app, const char *path, struct err *e)
{
    struct appdb *db auto_(appdb_close) = NULL;
    const struct appdb_env env = template_env(app, 0, 0);

    return appdb_open(path, false, &env, &db, e);
}

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
    if (r == 0)
        r = set_mode(app, draft, e);
    if (r == 0 && rename(draft, path) < 0)
        r = err_sys(e, -errno, "rename '%s'", draft);
    return r;
}

/* ---- open databases ---- */

/* NOLINTNEXTLINE(readability-function-size): a row of a table */
static int sqlite_open(struct app_home *h, const struct app *app, const char *name,
                       bool is_read_only, struct app_handle **ret, struct err *e)
{
    struct appdb_env env = template_env(app, 0, 0);
    struct app_handle *x = mem_zalloc(1, sizeof *x);
    char path[PATH_MAX];

    if (!x)
        return err_set(e, -ENOMEM, "out of memory");
    x->app = app;
    put_database_path(h, name, SUFFIX, path);
    int r = appdb_open(path, is_read_only, &env, &x->db, e);
    if (r < 0)
        free(x);
    else
        *ret = x;
    return r;
}

static void close_sqlite_database(struct app_handle *x, bool is_dropped)
{
    if (is_dropped)
        appdb_close_dropped(x->db);
    else
        appdb_close(x->db);
    free(x);
}

static void sqlite_tune(struct app_handle *x, uint64_t seed, int64_t start_us)
{
    appdb_tune(x->db, seed, start_us);
}

static int sqlite_run(struct app_handle *x, struct app_call *c, struct err *e)
{
    return appdb_run(x->db, c, e);
}

static int sqlite_import(struct app_handle *x, const struct json *body, struct arena *a,
                         struct str *ret, struct err *e)
{
    struct err own = ERR_INIT;

    *ret = template_import(x->app, x->db, body, a, &own);
    return ret->p ? 0 : err_set(e, own.code, "%s", err_text(&own));
}

static int sqlite_export(struct app_handle *x, struct arena *a, struct str *ret, struct err *e)
{
    struct err own = ERR_INIT;

    *ret = template_export(x->app, x->db, a, &own);
    return ret->p ? 0 : err_set(e, own.code, "%s", err_text(&own));
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
    .open = sqlite_open,
    .close = close_sqlite_database,
    .tune = sqlite_tune,
    .run = sqlite_run,
    .import = sqlite_import,
    .export = sqlite_export,
    .diff = sqlite_diff,
    .verify = sqlite_verify,
};
