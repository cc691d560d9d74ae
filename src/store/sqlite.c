/* SPDX-License-Identifier: MIT */
/* The SQLite driver: prepared statements and transaction marks. The database is in WAL mode with
 * synchronous=FULL: a commit has been synced when it returns. For transactions that may be synced
 * later it is NORMAL. */
#include "store/sqlite.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "store/driver.h"

struct store_prepared {
    sqlite3_stmt *stmt;
    int n_params;
    int at[STORE_MAX_PARAMS]; /* SQLite's own number of $1, $2, … */
};

/* Pages of the log. SQLite itself would move them with the commit that makes it 1000, which would
 * take its time. */
enum { LOG_SOME = 1000, LOG_DUE = 8000 };

/* Blocks that are the files' before they are needed, so that a disk which others have filled does
 * not keep the store from writing down what ends: of the log all that it usually has, of the
 * database this much behind its end. Checked once in this number of commits. */
enum { RESERVE_BYTES = 8 << 20, RESERVE_COMMITS = 512 };

struct store_db {
    sqlite3 *c;
    int lock_fd, n_log;
    int file_fd; /* of the database; closing it would end the locks that SQLite has on the file */
    unsigned n_commits;
    bool is_normal; /* how commits are synced now */
    struct store_prepared stmts[STORE_SQL_COUNT];
    sqlite3_stmt *marks[STORE_MARK_COUNT];
};

static const char *const sql_texts[STORE_SQL_COUNT] = {
#define SQL(name, text) [STORE_##name] = text,
#include "store/sql.def"
#undef SQL
};

static const char *const mark_texts[STORE_MARK_COUNT] = {
    [STORE_BEGIN] = "BEGIN",
    [STORE_BEGIN_UNSYNCED] = "BEGIN",
    [STORE_SAVEPOINT] = "SAVEPOINT tx",
    [STORE_RELEASE] = "RELEASE tx",
    [STORE_ROLLBACK_TO] = "ROLLBACK TO tx",
    [STORE_COMMIT] = "COMMIT",
    [STORE_ROLLBACK] = "ROLLBACK",
};

/* ---- errors ---- */

static int io_errno(sqlite3 *c)
{
    int code = sqlite3_system_errno(c);

    return code > 0 ? -code : -EIO;
}

int sqlite_errno(sqlite3 *c, int rc)
{
    int extended = sqlite3_extended_errcode(c);

    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return 0;
    case SQLITE_CONSTRAINT:
        return extended == SQLITE_CONSTRAINT_PRIMARYKEY || extended == SQLITE_CONSTRAINT_UNIQUE ||
                       extended == SQLITE_CONSTRAINT_ROWID
                   ? -EEXIST
                   : -EINVAL;
    case SQLITE_NOMEM: return -ENOMEM;
    case SQLITE_FULL: return -ENOSPC;
    case SQLITE_IOERR: return extended == SQLITE_IOERR_NOMEM ? -ENOMEM : io_errno(c);
    case SQLITE_CANTOPEN: return io_errno(c);
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return -EBUSY;
    case SQLITE_READONLY: return -EROFS;
    case SQLITE_PERM:
    case SQLITE_AUTH: return -EACCES;
    case SQLITE_TOOBIG: return -E2BIG;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return -EUCLEAN;
    default: return -EINVAL;
    }
}

/* ---- preparing ---- */

static int prepare_statement(sqlite3 *c, const char *text, sqlite3_stmt **ret)
{
    return sqlite_errno(c, sqlite3_prepare_v3(c, text, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL));
}

static int prepare_one(struct store_db *db, enum store_sql sql)
{
    struct store_prepared *p = &db->stmts[sql];
    int r = prepare_statement(db->c, sql_texts[sql], &p->stmt);

    if (r < 0)
        return r;
    p->n_params = sqlite3_bind_parameter_count(p->stmt);
    assert(p->n_params <= STORE_MAX_PARAMS);
    for (int i = 0; i < p->n_params; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "$%d", i + 1);
        p->at[i] = sqlite3_bind_parameter_index(p->stmt, name);
        assert(p->at[i] > 0);
    }
    return 0;
}

static int prepare_all(struct store_db *db)
{
    int r = 0;

    for (enum store_sql i = 0; r == 0 && i < STORE_SQL_COUNT; i++)
        r = prepare_one(db, i);
    for (enum store_mark i = 0; r == 0 && i < STORE_MARK_COUNT; i++)
        r = prepare_statement(db->c, mark_texts[i], &db->marks[i]);
    return r;
}

/* ---- running ---- */

static int bind(sqlite3_stmt *stmt, int at, const struct store_value *v)
{
    const char *bytes = v->s.p ? v->s.p : "";

    switch (v->type) {
    case STORE_INT: return sqlite3_bind_int64(stmt, at, v->i);
    case STORE_TEXT:
        return sqlite3_bind_text64(stmt, at, bytes, v->s.len, SQLITE_STATIC, SQLITE_UTF8);
    case STORE_BLOB: return sqlite3_bind_blob64(stmt, at, bytes, v->s.len, SQLITE_STATIC);
    case STORE_NULL: return sqlite3_bind_null(stmt, at);
    default: return SQLITE_MISUSE;
    }
}

static int bind_all_params(const struct store_prepared *p, const struct store_stmt *st)
{
    int rc = (size_t)p->n_params == st->n_params ? SQLITE_OK : SQLITE_RANGE;

    for (size_t i = 0; rc == SQLITE_OK && i < st->n_params; i++)
        rc = bind(p->stmt, p->at[i], &st->params[i]);
    return rc;
}

/* Copies a column out; false when memory ran out, in SQLite or here. */
static bool read_column(sqlite3_stmt *stmt, int i, struct store_value *v, struct arena *a)
{
    const void *bytes;

    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_NULL: return true;
    case SQLITE_INTEGER:
        *v = (struct store_value){.type = STORE_INT, .i = sqlite3_column_int64(stmt, i)};
        return true;
    case SQLITE_BLOB:
        v->type = STORE_BLOB;
        bytes = sqlite3_column_blob(stmt, i);
        break;
    default:
        v->type = STORE_TEXT;
        bytes = sqlite3_column_text(stmt, i);
        break;
    }
    size_t len = (size_t)sqlite3_column_bytes(stmt, i);
    if (!bytes && (len > 0 || v->type == STORE_TEXT))
        return false;
    v->s = arena_str(a, str_n(bytes, len));
    return v->s.p != NULL;
}

static int read_store_row(sqlite3_stmt *stmt, struct store_stmt *st, struct arena *a)
{
    int n = sqlite3_column_count(stmt);
    struct store_value *cols = tx_add_row(st, a, (size_t)n);

    for (int i = 0; cols && i < n; i++)
        if (!read_column(stmt, i, &cols[i], a))
            return -ENOMEM;
    return cols ? 0 : -ENOMEM;
}

static int db_exec(struct store_db *db, struct store_stmt *st, struct arena *a)
{
    const struct store_prepared *p = &db->stmts[st->sql];
    int rc = bind_all_params(p, st);
    int r = sqlite_errno(db->c, rc);

    while (r == 0 && (rc = sqlite3_step(p->stmt)) == SQLITE_ROW)
        r = read_store_row(p->stmt, st, a);
    if (r == 0)
        r = sqlite_errno(db->c, rc);
    if (r == 0 && !sqlite3_stmt_readonly(p->stmt))
        st->n_changed = sqlite3_changes64(db->c);
    (void)sqlite3_reset(p->stmt);
    (void)sqlite3_clear_bindings(p->stmt);
    return r;
}

static int run_bound(struct store_db *db, sqlite3_stmt *stmt)
{
    int r = sqlite_errno(db->c, sqlite3_step(stmt));

    (void)sqlite3_reset(stmt);
    return r;
}

/* ---- room ---- */

static void reserve_space(int fd, bool is_behind)
{
    struct stat st;

    /* Where the file system cannot, or is full, there is no reserve. */
    if (fd >= 0 && fstat(fd, &st) == 0)
        (void)fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, RESERVE_BYTES + (is_behind ? st.st_size : 0));
}

static void reserve_all(struct store_db *db)
{
    const char *log = sqlite3_filename_wal(sqlite3_db_filename(db->c, "main"));
    auto_close int fd = log ? open(log, O_WRONLY | O_CLOEXEC) : -1;

    reserve_space(fd, false);
    reserve_space(db->file_fd, true);
}

/* ---- transactions ---- */

/* Cannot be changed inside a transaction. */
static int set_synced(struct store_db *db, bool is_normal)
{
    if (db->is_normal == is_normal)
        return 0;
    const char *text = is_normal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL";
    int r = sqlite_errno(db->c, sqlite3_exec(db->c, text, NULL, NULL, NULL));
    if (r == 0)
        db->is_normal = is_normal;
    return r;
}

static int db_mark(struct store_db *db, enum store_mark mark)
{
    int r = 0;

    if (mark == STORE_BEGIN || mark == STORE_BEGIN_UNSYNCED)
        r = set_synced(db, mark == STORE_BEGIN_UNSYNCED);
    if (r == 0)
        r = run_bound(db, db->marks[mark]);
    if (r == 0 && mark == STORE_COMMIT && db->n_commits++ % RESERVE_COMMITS == 0)
        reserve_all(db);
    return r == 0 && mark == STORE_ROLLBACK_TO ? run_bound(db, db->marks[STORE_RELEASE]) : r;
}

static bool db_in_transaction(struct store_db *db)
{
    return sqlite3_get_autocommit(db->c) == 0;
}

static int db_sync(struct store_db *db)
{
    sqlite3_file *log = NULL;
    int rc = sqlite3_file_control(db->c, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);

    if (rc == SQLITE_OK && log && log->pMethods)
        rc = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    return rc == SQLITE_OK ? 0 : -EIO;
}

/* ---- opening and closing ---- */

static void db_close(struct store_db *db)
{
    for (size_t i = 0; i < STORE_SQL_COUNT; i++)
        (void)sqlite3_finalize(db->stmts[i].stmt);
    for (size_t i = 0; i < STORE_MARK_COUNT; i++)
        (void)sqlite3_finalize(db->marks[i]);
    (void)sqlite3_close(db->c);
    if (db->file_fd >= 0)
        (void)close(db->file_fd);
    if (db->lock_fd >= 0)
        (void)close(db->lock_fd);
    free(db);
}
static inline void db_close_p(struct store_db **db)
{
    if (*db)
        db_close(*db);
}

static int on_commit(void *ctx, sqlite3 *c, const char *name, int n_pages)
{
    struct store_db *db = ctx;

    (void)c;
    (void)name;
    db->n_log = n_pages;
    return SQLITE_OK;
}

static enum store_chores db_chores(struct store_db *db)
{
    return db->n_log >= LOG_DUE    ? STORE_CHORES_DUE
           : db->n_log >= LOG_SOME ? STORE_CHORES_SOME
                                   : STORE_CHORES_NONE;
}

/* What cannot be moved now, because somebody reads, is tried again after the next commit. */
static void db_tidy(struct store_db *db)
{
    db->n_log = 0;
    (void)sqlite3_wal_checkpoint_v2(db->c, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

static struct store_db *db_open(const struct store_opts *opts, struct err *e)
{
    auto_(db_close) struct store_db *db = mem_zalloc(1, sizeof *db);

    if (!db) {
        (void)err_sys(e, -ENOMEM, "database '%s'", opts->path);
        return NULL;
    }
    db->file_fd = -1;
    db->lock_fd = opts->is_read_only ? -1 : sqlite_lock_file(opts->path, e);
    if (!opts->is_read_only && db->lock_fd < 0)
        return NULL;
    if (sqlite_open_file(opts, &db->c, e) < 0)
        return NULL;
    int r = prepare_all(db);
    if (r < 0) {
        (void)err_set(e, r, "database '%s' does not have the tables of its version: %s", opts->path,
                      sqlite3_errmsg(db->c));
        return NULL;
    }
    if (!opts->is_read_only) {
        db->file_fd = open(opts->path, O_WRONLY | O_CLOEXEC);
        sqlite_allow_checkpoint(db->c, true);
        (void)sqlite3_wal_hook(db->c, on_commit, db);
    }
    return take(db);
}

const struct store_driver store_driver_sqlite = {
    .name = "sqlite",
    .open = db_open,
    .close = db_close,
    .mark = db_mark,
    .exec = db_exec,
    .in_transaction = db_in_transaction,
    .sync = db_sync,
    .chores = db_chores,
    .tidy = db_tidy,
};
