/* SPDX-License-Identifier: MIT */
#include "apps/db/db.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/db/clocks.h"
#include "apps/db/db_internal.h"
#include "apps/db/deadline.h"
#include "apps/db/memory.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
    /* How many steps SQLite takes between two looks at the limits: so few, because each may be a
     * function of SQLite's over a long text. */
    STEPS_PER_LOOK = 100,
    /* Units of work of our functions between two looks at the clock. */
    WORK_PER_LOOK = 64 << 10,
    /* What is left to say which limit was passed. */
    GRACE_STEPS = 100000,
    GRACE_MS = 500,
    GRACE_WORK = 4 << 20,
    VALUE_MIN = 256 << 10 /* bytes that a value may have for any statement */
};

/* Bytes of a caller's statement times those of a value: some seconds at worst. */
#define SQL_BY_VALUE (INT64_C(16) << 30)

#define META                                                                                       \
    "CREATE TABLE tidepool_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"     \
    "INSERT INTO tidepool_meta VALUES ('draws', 0), ('ticks', 0);"

int appdb_fail(struct appdb *db, int rc, struct err *e, const char *what)
{
    int code = -EINVAL;

    if (db->limit)
        return err_set(e, db->limits == APPDB_BRIEF ? -EAGAIN : -ETIME, "%s: %s", what, db->limit);
    /* Values are shorter when a call is brief. */
    if (db->limits == APPDB_BRIEF && (rc & 0xff) == SQLITE_TOOBIG)
        return err_set(e, -EAGAIN, "%s: a value is too long", what);
    switch (rc & 0xff) {
    case SQLITE_NOMEM: code = -ENOMEM; break;
    case SQLITE_FULL: code = -ENOSPC; break;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: code = -EIO; break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: code = -EBUSY; break;
    case SQLITE_READONLY: code = -EROFS; break;
    case SQLITE_TOOBIG: code = -E2BIG; break;
    case SQLITE_AUTH: code = -EACCES; break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: code = -EUCLEAN; break;
    default: break;
    }
    return err_set(e, code, "%s: %s", what, db->c ? sqlite3_errmsg(db->c) : sqlite3_errstr(rc));
}

/* ---- what scripts may do ---- */

/* The rest is refused: other files, settings, changes of the schema. */
static const int allowed[] = {
    SQLITE_SELECT,    SQLITE_READ,   SQLITE_RECURSIVE, SQLITE_FUNCTION, SQLITE_TRANSACTION,
    SQLITE_SAVEPOINT, SQLITE_INSERT, SQLITE_UPDATE,    SQLITE_DELETE,
};

/* SQLite asks for this number. NOLINTNEXTLINE(readability-function-size) */
static int authorize(void *ctx, int action, const char *table, const char *more, const char *schema,
                     const char *trigger)
{
    (void)ctx;
    (void)schema;
    (void)trigger;
    if (action == SQLITE_FUNCTION && more && clocks_is_refused(more))
        return SQLITE_DENY;
    /* What SQLite keeps for itself is only read. */
    if (action != SQLITE_READ && table && strncmp(table, "sqlite_", 7) == 0)
        return SQLITE_DENY;
    /* How FTS5 finds out that its table has changed. */
    if (action == SQLITE_PRAGMA && table && strcmp(table, "data_version") == 0)
        return SQLITE_OK;
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++) {
        if (allowed[i] == action)
            return SQLITE_OK;
    }
    return SQLITE_DENY;
}

/* Three things hold a call in bounds, because no one of them sees everything: SQLite's progress
 * handler sees steps and, between them, time and memory (look_at_limits()); functions of ours,
 * which may take long within one step, pay for what they do (appdb_spend()); and the allocator
 * refuses what grows within one step without either (appdb_guard()).
 *
 * What is brief runs on the loop's thread, so none of its steps may be long: values are short
 * there, and few are sorted. */
static const struct {
    int64_t steps; /* of SQLite's machine */
    int ms;
    int64_t memory; /* bytes that it may add */
    int64_t work;   /* of functions, see appdb_spend() */
    int length;     /* bytes of a value, a row, the text of a statement */
} limits_of[] = {
    [APPDB_USUAL] = {20 << 20, 2000, 64 << 20, 256 << 20, APPDB_RESULT_MAX},
    [APPDB_BRIEF] = {40000, 20, 16 << 20, 2 << 20, 128 << 10},
    [APPDB_BULK] = {1 << 30, 30000, 256 << 20, 4LL << 30, APPDB_RESULT_MAX},
};

static int look_at_limits(void *ctx)
{
    struct appdb *db = ctx;

    db->steps_left -= STEPS_PER_LOOK;
    if (db->steps_left < 0)
        db->limit = "too many steps";
    else if (deadline_passed(db->deadline_ms))
        db->limit = "takes too long";
    else if (memory_used() - db->memory_base > limits_of[db->limits].memory)
        db->limit = "needs too much memory";
    return db->limit != NULL;
}

/* What goes straight on takes memory without a look at the limits between. */
static bool may_take_db_memory(void *ctx, int64_t bytes)
{
    struct appdb *db = ctx;

    if (memory_used() + bytes - db->memory_base <= 2 * limits_of[db->limits].memory)
        return true;
    db->limit = "needs too much memory";
    return false;
}

void appdb_guard(struct appdb *db)
{
    memory_ask(db ? may_take_db_memory : NULL, db);
}

void appdb_limit_values(sqlite3 *c, size_t sql_len)
{
    int64_t max = SQL_BY_VALUE / (int64_t)(sql_len + 1);
    int now = sqlite3_limit(c, SQLITE_LIMIT_LENGTH, -1);

    max = max < VALUE_MIN ? VALUE_MIN : max;
    /* It may be a value itself. */
    max = max < (int64_t)sql_len ? (int64_t)sql_len : max;
    if (max < now)
        (void)sqlite3_limit(c, SQLITE_LIMIT_LENGTH, (int)max);
}

void appdb_limit(struct appdb *db, enum appdb_limits limits)
{
    db->limit = NULL;
    db->limits = limits;
    db->steps_left = limits_of[limits].steps;
    db->deadline_ms = clock_mono_ms() + limits_of[limits].ms;
    db->memory_base = memory_used();
    db->work_left = limits_of[limits].work;
    db->look_at = db->work_left - WORK_PER_LOOK;
    if (db->c)
        (void)sqlite3_limit(db->c, SQLITE_LIMIT_LENGTH, limits_of[limits].length);
}

bool appdb_spend(struct appdb *db, int64_t units)
{
    db->work_left -= units;
    if (db->work_left >= db->look_at)
        return true;
    if (db->work_left < 0) {
        db->limit = "too much work";
        return false;
    }
    db->look_at = db->work_left - WORK_PER_LOOK;
    if (deadline_passed(db->deadline_ms))
        db->limit = "takes too long";
    return !db->limit;
}

void appdb_forgive(struct appdb *db)
{
    db->limit = NULL;
    db->steps_left = GRACE_STEPS;
    db->deadline_ms = clock_mono_ms() + GRACE_MS;
    db->memory_base = memory_used();
    db->work_left = GRACE_WORK;
    db->look_at = db->work_left - WORK_PER_LOOK;
}

static void set_db_limits(sqlite3 *c)
{
    static const struct {
        int what, max;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, APPDB_RESULT_MAX},   {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
        {SQLITE_LIMIT_EXPR_DEPTH, 1000},           {SQLITE_LIMIT_COMPOUND_SELECT, 50},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10000}, {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 20},          {SQLITE_LIMIT_VARIABLE_NUMBER, 4200},
    };

    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        (void)sqlite3_limit(c, limits[i].what, limits[i].max);
}

/* ---- opening ---- */

int appdb_create(const char *path, const char *schema, struct err *e)
{
    struct appdb db = {0};
    char *text = NULL;

    /* Defaults of columns are not asked about when a statement uses them. */
    if (clocks_refuse(str_of(schema), 1, e) < 0)
        return err_ctx(e, -EACCES, "schema");
    int rc = sqlite3_open_v2(path, &db.c, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db.c, "BEGIN;" META, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db.c, schema, NULL, NULL, &text);
    if (rc == SQLITE_OK)
        rc = seat_mark(db.c);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db.c, "COMMIT", NULL, NULL, NULL);
    int r = rc == SQLITE_OK ? 0 : appdb_fail(&db, rc, e, text ? "schema" : path);
    sqlite3_free(text);
    (void)sqlite3_close(db.c);
    return r;
}

static int prepare_fixed_sql(struct appdb *db, const char *sql, sqlite3_stmt **ret)
{
    return sqlite3_prepare_v3(db->c, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
}

static int prepare_own(struct appdb *db)
{
    const struct {
        const char *sql;
        sqlite3_stmt **stmt;
    } own[] = {
        {"BEGIN", &db->begin},
        {"BEGIN IMMEDIATE", &db->begin_write},
        {"COMMIT", &db->commit},
        {"ROLLBACK", &db->rollback},
        {"SELECT key, value FROM tidepool_meta WHERE key IN ('draws', 'ticks')", &db->get_meta},
        {"UPDATE tidepool_meta SET value = ?2 WHERE key = ?1", &db->set_meta},
    };

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        int rc = prepare_fixed_sql(db, own[i].sql, own[i].stmt);
        if (rc != SQLITE_OK)
            return rc;
    }
    return SQLITE_OK;
}

static int read_meta(struct appdb *db)
{
    sqlite3_stmt *st = db->get_meta;
    int rc;

    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        bool is_draws = sqlite3_column_text(st, 0)[0] == 'd';
        *(is_draws ? &db->own->n_draws : &db->own->n_ticks) = sqlite3_column_int64(st, 1);
    }
    (void)sqlite3_reset(st);
    db->own->is_read = rc == SQLITE_DONE;
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Virtual tables declare their columns when they are first used, which the authorizer would take
 * for new tables. Of those in the schema, and of the table functions. */
static void declare_virtual(sqlite3 *c)
{
    sqlite3_stmt *names = NULL, *one;

    (void)sqlite3_exec(c, "SELECT 1 FROM json_each('[]'), json_tree('[]')", NULL, NULL, NULL);
    (void)sqlite3_prepare_v2(c,
                             "SELECT format('SELECT 1 FROM \"%w\"', name) FROM sqlite_schema "
                             "WHERE sql LIKE 'CREATE VIRTUAL TABLE%'",
                             -1, &names, NULL);
    while (names && sqlite3_step(names) == SQLITE_ROW) {
        (void)sqlite3_prepare_v2(c, (const char *)sqlite3_column_text(names, 0), -1, &one, NULL);
        (void)sqlite3_finalize(one);
    }
    (void)sqlite3_finalize(names);
}

/* One process has the database, and a call that was answered is in the kernel's hands: the death of
 * this process loses none (apps/db/redo.h). Nothing is synced, as that would hold up the thread for
 * the disk, so a loss of power may cost the whole file. */
static int set_up(struct appdb *db, struct err *e)
{
    static const char settings[] = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;"
                                   "PRAGMA foreign_keys = ON; PRAGMA cache_size = -2048;";
    int rc = sqlite3_exec(db->c, settings, NULL, NULL, NULL);

    if (rc == SQLITE_OK)
        rc = prepare_own(db);
    if (rc == SQLITE_OK)
        rc = read_meta(db);
    if (rc != SQLITE_OK)
        return appdb_fail(db, rc, e, "open");
    set_db_limits(db->c);
    int r = functions_define(db, e);
    if (r < 0)
        return r;
    declare_virtual(db->c);
    (void)sqlite3_db_config(db->c, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_set_authorizer(db->c, authorize, db);
    sqlite3_progress_handler(db->c, STEPS_PER_LOOK, look_at_limits, db);
    return 0;
}

void appdb_put_uri(const char *path, char out[APPDB_URI_MAX])
{
    size_t n = (size_t)snprintf(out, APPDB_URI_MAX, "file:");

    for (const char *p = path; *p && n < APPDB_URI_MAX - 32; p++) {
        if (*p == '%' || *p == '?' || *p == '#')
            n += (size_t)snprintf(out + n, 4, "%%%02x", (unsigned char)*p);
        else
            out[n++] = *p;
    }
    (void)snprintf(out + n, APPDB_URI_MAX - n, "?immutable=1");
}

int appdb_open_file(struct seat_file *f, const char *path, const char *home, bool is_read_only)
{
    int r = seat_file_open(f, path, home, is_read_only);

    if (r < 0 || !seat_file_is_old(f))
        return r;
    seat_file_close(f);
    return -EUCLEAN;
}

static int open_first(struct appdb *db, const char *path, bool is_read_only, struct err *e)
{
    struct seat_file f;
    int r = appdb_open_file(&f, path, db->env.home, is_read_only);

    if (r == -EUCLEAN) {
        r = seat_settle(path, e);
        if (r < 0)
            return r;
        r = appdb_open_file(&f, path, db->env.home, is_read_only);
    }
    if (r < 0)
        return err_sys(e, r, "open '%s'", path);
    int rc =
        sqlite3_open_v2("seat", &db->c, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, seat_vfs());
    if (rc != SQLITE_OK)
        r = appdb_fail(db, rc, e, path);
    else if ((r = seat_of(db->c, db->env.home, &db->seat)) < 0)
        (void)err_sys(e, r, "%s", path);
    if (r < 0) {
        seat_file_close(&f);
        return r;
    }
    db->schema = seat_schema_of(&f);
    seat_take(db->seat, db->c, &f);
    return 0;
}

int appdb_open(const char *path, bool is_read_only, const struct appdb_env *env, struct appdb **ret,
               struct err *e)
{
    struct appdb *db auto_(appdb_close) = mem_zalloc(1, sizeof *db);

    if (!db)
        return err_set(e, -ENOMEM, "out of memory");
    db->env = *env;
    db->first = (struct appdb_own){.seed = env->seed, .start_us = env->start_us};
    db->own = &db->first;
    appdb_limit(db, APPDB_USUAL);
    db->prepared = mem_zalloc(env->scripts->n + 1, sizeof *db->prepared);
    if (!db->prepared)
        return err_set(e, -ENOMEM, "out of memory");
    int r = open_first(db, path, is_read_only, e);
    if (r == 0)
        r = set_up(db, e);
    if (r < 0)
        return err_ctx(e, r, "%s", path);
    *ret = take(db);
    return 0;
}

bool appdb_fits(const struct appdb *db, const struct seat_file *f)
{
    struct seat_schema schema = seat_schema_of(f);

    return memcmp(&schema, &db->schema, sizeof schema) == 0;
}

int appdb_seat(struct appdb *db, struct seat_file *f, struct appdb_own *own, struct err *e)
{
    assert(appdb_fits(db, f));
    seat_take(db->seat, db->c, f);
    /* What the connection remembers of the one before. */
    sqlite3_set_last_insert_rowid(db->c, 0);
    db->own = own;
    if (own->is_read)
        return 0;
    appdb_limit(db, APPDB_USUAL);
    int rc = read_meta(db);
    if (rc == SQLITE_OK)
        return 0;
    int r = appdb_fail(db, rc, e, "open");
    appdb_unseat(db);
    return r;
}

void appdb_unseat(struct appdb *db)
{
    seat_take(db->seat, db->c, NULL);
    db->own = &db->first;
}

void appdb_close(struct appdb *db)
{
    if (!db)
        return;
    for (size_t i = 0; db->prepared && i < db->env.scripts->n; i++) {
        for (size_t k = 0; db->prepared[i] && k < db->env.scripts->items[i].n; k++)
            (void)sqlite3_finalize(db->prepared[i][k].stmt);
        free(db->prepared[i]);
    }
    free(db->prepared);
    for (size_t i = 0; i < APPDB_COMPOSED_MAX; i++) {
        (void)sqlite3_finalize(db->composed[i].stmt);
        free(db->composed[i].sql);
    }
    sqlite3_stmt *own[] = {db->begin,    db->begin_write, db->commit,  db->rollback,
                           db->get_meta, db->set_meta,    db->next_seq};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        (void)sqlite3_finalize(own[i]);
    (void)sqlite3_close(db->c);
    free(db->uses);
    free(db);
}

/* ---- clock and random numbers ---- */

void appdb_tune(struct appdb *db, uint64_t seed, int64_t start_us)
{
    db->own->seed = seed;
    db->own->start_us = start_us;
}

int64_t appdb_now_us(struct appdb *db)
{
    db->is_volatile = true;
    return db->now_us;
}

/* The draw's number, mixed with the seed (the finisher of SplitMix64). */
uint64_t appdb_random(struct appdb *db)
{
    uint64_t z = db->own->seed + 0x9e3779b97f4a7c15ULL * (uint64_t)++db->own->n_draws;

    db->is_volatile = true;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

const struct json *appdb_ids(const struct appdb *db)
{
    return db->env.ids;
}

struct sqlite3 *appdb_handle(struct appdb *db)
{
    return db->c;
}
