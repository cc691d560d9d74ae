/* SPDX-License-Identifier: MIT */
/* How the SQLite driver comes by its file.
 *
 * An existing file is judged before anything may write to it: its header by plain reads, then
 * version and content through a read-only connection. A new one is made under another name and
 * moved into place when it is complete, so that a crash never leaves a half-made database. */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/enc.h"
#include "sys/io.h"

enum {
    BUSY_MS = 5000,
    HEADER_LEN = 100,
    HEADER_APPLICATION_ID = 68, /* 32 bits, big-endian: sqlite.org/fileformat2.html, 1.3 */
    WAL_LIMIT = 64 << 20,       /* a longer one is cut back after its checkpoint */
};

struct migration {
    int number;
    const char *text;
};

#define SQL_INT   "INTEGER"
#define SQL_BYTES "BLOB"
static const struct migration migrations[] = {
#define MIGRATION(number, text) {number, text},
#include "store/migrations.def"
#undef MIGRATION
};
#define VERSION (migrations[ARRAY_LEN(migrations) - 1].number)

/* ---- small helpers ---- */

static void close_connection_p(sqlite3 **c)
{
    (void)sqlite3_close(*c);
}
#define auto_connection __attribute__((cleanup(close_connection_p)))

/* PATH with SUFFIX behind: 0 or -ENAMETOOLONG. */
static int path_with(char out[PATH_MAX], const char *path, const char *suffix)
{
    int n = snprintf(out, PATH_MAX, "%s%s", path, suffix);

    return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int fail_open(sqlite3 *c, int rc, const char *what, struct err *e)
{
    int r = sqlite_errno(c, rc);

    return err_set(e, r, "%s: %s", what, sqlite3_errmsg(c));
}

static int run_sql(sqlite3 *c, const char *sql, struct err *e)
{
    int rc = sqlite3_exec(c, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : fail_open(c, rc, "prepare the database", e);
}

/* The first column of the first row, as a number and as text. */
struct store_answer {
    int number;
    char text[128];
};

static int ask_sql(sqlite3 *c, const char *sql, struct store_answer *ret)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(c, sql, -1, &stmt, NULL);

    if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        ret->number = sqlite3_column_int(stmt, 0);
        (void)snprintf(ret->text, sizeof ret->text, "%s", text ? text : "");
    }
    rc = rc == SQLITE_ROW ? SQLITE_OK : rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
    (void)sqlite3_finalize(stmt);
    return rc;
}

void sqlite_allow_checkpoint(sqlite3 *c, bool on)
{
    (void)sqlite3_db_config(c, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on ? 0 : 1, NULL);
}

static int connect_to(const char *name, int flags, sqlite3 **ret, struct err *e)
{
    auto_connection sqlite3 *c = NULL;
    int rc = sqlite3_open_v2(name, &c, flags | SQLITE_OPEN_NOMUTEX, NULL);

    if (!c)
        return err_sys(e, -ENOMEM, "open");
    if (rc != SQLITE_OK)
        return fail_open(c, rc, "open", e);
    (void)sqlite3_extended_result_codes(c, 0);
    (void)sqlite3_busy_timeout(c, BUSY_MS);
    sqlite_allow_checkpoint(c, false);
    *ret = take(c);
    return 0;
}

int sqlite_lock_file(const char *path, struct err *e)
{
    char name[PATH_MAX];
    /* Two names of one file have one lock. */
    auto_free char *real = realpath(path, NULL);

    if (path_with(name, real ? real : path, ".lock") < 0)
        return err_sys(e, -ENAMETOOLONG, "lock '%s'", path);
    auto_close int fd = io_open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0)
        return err_sys(e, fd, "lock '%s'", name);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return take_fd(fd);
    if (errno == EWOULDBLOCK)
        return err_set(e, -EBUSY, "database '%s' is in use by another process", path);
    return err_sys(e, -errno, "lock '%s'", name);
}

/* ---- judging an existing file ---- */

static int read_store_header(int fd, unsigned char header[HEADER_LEN])
{
    size_t n = 0;

    while (n < HEADER_LEN) {
        ssize_t r = io_read(fd, header + n, HEADER_LEN - n);
        if (r < 0)
            return (int)r;
        if (r == 0)
            return -ENODATA;
        n += (size_t)r;
    }
    return 0;
}

/* 1: to be created; 0: one of ours, as far as the header shows; or -errno. */
static int check_header(const char *path, off_t *ret_size, struct err *e)
{
    auto_close int fd = io_open(path, O_RDONLY, 0);
    unsigned char header[HEADER_LEN];
    struct stat st;

    if (fd == -ENOENT)
        return 1;
    if (fd < 0)
        return err_sys(e, fd, "open");
    if (fstat(fd, &st) < 0)
        return err_sys(e, -errno, "stat");
    if (!S_ISREG(st.st_mode))
        return err_set(e, -EINVAL, "not a regular file");
    *ret_size = st.st_size;
    if (st.st_size == 0)
        return 1;
    int r = read_store_header(fd, header);
    if (r < 0 && r != -ENODATA)
        return err_sys(e, r, "read");
    if (r < 0 || memcmp(header, "SQLite format 3", 16) != 0)
        return err_set(e, -EUCLEAN, "the file is not a database");
    const unsigned char *at = header + HEADER_APPLICATION_ID;
    uint32_t id = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    if (id != SQLITE_APPLICATION_ID)
        return err_set(e, -EUCLEAN, "the file is a database of another program");
    return 0;
}

/* A failure while the file was read: damage, or a machine in trouble. */
static int cannot_read(sqlite3 *c, int rc, struct err *e)
{
    return fail_open(c, rc, sqlite_errno(c, rc) == -EUCLEAN ? "the file is damaged" : "read", e);
}

static int check_version(sqlite3 *c, bool is_read_only, struct err *e)
{
    struct store_answer version = {0};
    int rc = ask_sql(c, "PRAGMA user_version", &version);

    if (rc != SQLITE_OK)
        return cannot_read(c, rc, e);
    if (version.number > VERSION)
        return err_set(e, -EUCLEAN,
                       "written by a newer version of the program (format %d, known up to %d)",
                       version.number, VERSION);
    if (version.number < 1)
        return err_set(e, -EUCLEAN, "the file is damaged: it has no format number");
    if (is_read_only && version.number < VERSION)
        return err_set(e, -EUCLEAN, "format %d is older than %d: start the service once",
                       version.number, VERSION);
    return 0;
}

static int check_content(sqlite3 *c, off_t size, struct err *e)
{
    struct store_answer schema = {0}, check = {.text = "ok"};
    int rc = ask_sql(c, "SELECT COUNT(*) FROM sqlite_master", &schema);

    if (rc == SQLITE_OK && size <= STORE_CHECK_MAX)
        rc = ask_sql(c, "PRAGMA quick_check(1)", &check);
    if (rc != SQLITE_OK)
        return cannot_read(c, rc, e);
    if (strcmp(check.text, "ok") != 0)
        return err_set(e, -EUCLEAN, "the file is damaged: %s", check.text);
    return 0;
}

/* True when there is a write-ahead log with something in it. */
static bool has_log(const char *path)
{
    char name[PATH_MAX];
    struct stat st;

    return path_with(name, path, "-wal") == 0 && stat(name, &st) == 0 && st.st_size > 0;
}

/* Without a log beside it nothing but this file matters, and it can be read without leaving a trace
 * (the caller holds the lock). */
static int connect_to_check(const char *path, sqlite3 **ret, struct err *e)
{
    struct buf uri auto_buf = BUF_INIT(4UL * PATH_MAX);

    if (has_log(path))
        return connect_to(path, SQLITE_OPEN_READONLY, ret, e);
    (void)buf_add_lit(&uri, "file:");
    (void)enc_percent(&uri, str_of(path));
    (void)buf_add_lit(&uri, "?immutable=1");
    const char *name = buf_cstr(&uri);
    if (!name)
        return err_sys(e, -ENOMEM, "open");
    return connect_to(name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, ret, e);
}

static int check_file(const char *path, off_t size, struct err *e)
{
    auto_connection sqlite3 *c = NULL;
    int r = connect_to_check(path, &c, e);

    if (r == 0)
        r = check_version(c, false, e);
    if (r == 0)
        r = check_content(c, size, e);
    return r;
}

/* ---- migrations ---- */

static int apply_migration(sqlite3 *c, const struct migration *m, struct err *e)
{
    char version[64];

    (void)snprintf(version, sizeof version, "PRAGMA user_version = %d", m->number);
    int r = run_sql(c, "BEGIN IMMEDIATE", e);
    if (r == 0)
        r = run_sql(c, m->text, e);
    if (r == 0)
        r = run_sql(c, version, e);
    if (r == 0)
        r = run_sql(c, "COMMIT", e);
    if (r < 0) {
        if (sqlite3_get_autocommit(c) == 0)
            (void)sqlite3_exec(c, "ROLLBACK", NULL, NULL, NULL);
        return err_ctx(e, r, "migration %d", m->number);
    }
    return 0;
}

static int migrate(sqlite3 *c, struct err *e)
{
    struct store_answer version = {0};
    int rc = ask_sql(c, "PRAGMA user_version", &version);
    int r = rc == SQLITE_OK ? 0 : fail_open(c, rc, "read the version", e);

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(migrations); i++)
        if (migrations[i].number > version.number)
            r = apply_migration(c, &migrations[i], e);
    return r;
}

/* ---- creating ---- */

static void remove_store_files(const char *path, const char *const *suffixes, size_t n)
{
    char name[PATH_MAX];

    for (size_t i = 0; i < n; i++)
        if (path_with(name, path, suffixes[i]) == 0)
            (void)unlink(name);
}

/* What an earlier attempt may have left. */
static void remove_new(const char *path)
{
    static const char *const suffixes[] = {".new", ".new-journal", ".new-wal", ".new-shm"};

    remove_store_files(path, suffixes, ARRAY_LEN(suffixes));
}

static void remove_side_files(const char *path)
{
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};

    remove_store_files(path, suffixes, ARRAY_LEN(suffixes));
}

static int turn_on_log(sqlite3 *c, struct err *e)
{
    struct store_answer mode = {0};
    int rc = ask_sql(c, "PRAGMA journal_mode = WAL", &mode);

    if (rc == SQLITE_OK && strcmp(mode.text, "wal") == 0)
        return 0;
    return fail_open(c, rc == SQLITE_OK ? SQLITE_CANTOPEN : rc, "turn on the write-ahead log", e);
}

static int fill_new(const char *name, struct err *e)
{
    auto_connection sqlite3 *c = NULL;
    char application[64];
    int r = connect_to(name, SQLITE_OPEN_READWRITE, &c, e);

    (void)snprintf(application, sizeof application, "PRAGMA application_id = %d",
                   SQLITE_APPLICATION_ID);
    if (r == 0)
        r = run_sql(c, "PRAGMA synchronous = FULL", e);
    if (r == 0)
        r = run_sql(c, application, e);
    if (r == 0)
        r = migrate(c, e);
    if (r == 0)
        r = turn_on_log(c, e);
    if (r == 0)
        sqlite_allow_checkpoint(c, true);
    return r;
}

/* Only its owner may read it: it holds what keys are checked against. */
static int create_database_file(const char *path, struct err *e)
{
    char name[PATH_MAX];

    if (path_with(name, path, ".new-journal") < 0 || path_with(name, path, ".new") < 0)
        return err_sys(e, -ENAMETOOLONG, "create");
    if (has_log(path))
        return err_set(e, -EUCLEAN, "the file is missing, but its log '%s-wal' is there", path);
    remove_side_files(path);
    remove_new(path);
    auto_close int fd = io_open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_sys(e, fd, "create '%s'", name);
    int r = fill_new(name, e);
    if (r == 0 && rename(name, path) < 0)
        r = err_sys(e, -errno, "rename");
    remove_new(path);
    if (r < 0)
        return r;
    r = io_sync_parent(path);
    return r < 0 ? err_sys(e, r, "create") : 0;
}

/* ---- all of it ---- */

static int open_to_write(const char *path, sqlite3 **ret, struct err *e)
{
    auto_connection sqlite3 *c = NULL;
    char limit[64];
    int r = connect_to(path, SQLITE_OPEN_READWRITE, &c, e);

    (void)snprintf(limit, sizeof limit, "PRAGMA journal_size_limit = %d", WAL_LIMIT);
    if (r == 0)
        r = turn_on_log(c, e);
    if (r == 0)
        r = run_sql(c, "PRAGMA synchronous = FULL", e);
    if (r == 0)
        r = run_sql(c, limit, e);
    if (r == 0)
        r = migrate(c, e);
    if (r == 0)
        *ret = take(c);
    return r;
}

static int open_to_read(const char *path, sqlite3 **ret, struct err *e)
{
    auto_connection sqlite3 *c = NULL;
    int r = connect_to(path, SQLITE_OPEN_READONLY, &c, e);

    if (r == 0)
        r = check_version(c, true, e);
    if (r == 0)
        *ret = take(c);
    return r;
}

static int open_checked(const struct store_opts *opts, sqlite3 **ret, struct err *e)
{
    off_t size = 0;
    int r = check_header(opts->path, &size, e);

    if (r < 0)
        return r;
    if (opts->is_read_only)
        return r == 1 ? err_sys(e, -ENOENT, "open") : open_to_read(opts->path, ret, e);
    r = r == 1 ? create_database_file(opts->path, e) : check_file(opts->path, size, e);
    return r < 0 ? r : open_to_write(opts->path, ret, e);
}

int sqlite_open_file(const struct store_opts *opts, sqlite3 **ret, struct err *e)
{
    int r = open_checked(opts, ret, e);

    return r < 0 ? err_ctx(e, r, "database '%s'", opts->path) : 0;
}
