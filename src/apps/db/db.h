/* SPDX-License-Identifier: MIT */
/* The open database of an app's instance, and calls of the app's scripts on it (docs/adr/0006).
 *
 * A call is one transaction: all of it or nothing. It runs under an authorizer and within limits on
 * steps, time and memory, so that no script and no argument can hold up the thread or fill memory.
 * Statements are prepared when they are first used and kept until the database is closed; the file
 * can be exchanged for that of another instance meanwhile (apps/db/seat.h).
 *
 * The clock and the random numbers belong to the instance: random numbers come from the seed and
 * how many were drawn before; with a fixed start the clock shows that start plus a second for every
 * writing call before. Both counts are in the database, so the same calls give the same bytes, also
 * after a restart. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "apps/source/script.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"

struct appdb;
struct seat_file;
struct sqlite3;

enum {
    APPDB_RESULT_MAX = 16 << 20, /* bytes of an answer */
    APPDB_MAX_PARAMETERS = 128   /* of a statement, and columns that are kept for later ones */
};

/* How much a call may take of steps, time and memory: see the table in db.c. */
enum appdb_limits {
    APPDB_USUAL,
    APPDB_BRIEF, /* a few milliseconds, then -EAGAIN */
    APPDB_BULK   /* what the largest body for import needs */
};

/* A compiled query: an expression with parameters ":_1", ":_2", … of these values. */
struct appdb_predicate {
    struct str sql;
    const struct json *values; /* array */
    bool is_order;             /* the terms of an ORDER BY, not an expression */
};

struct appdb_env {
    const struct scripts *scripts;
    const struct json *ids; /* object: kind to format, see apps/db/product_id.h; or NULL */
    uint64_t seed;
    int64_t start_us; /* of the clock, microseconds since 1970; 0: the time of the day */
    /* Compiles TEXT of a query language into A; may be NULL when no script has queries. -EINVAL: E
     * says what is wrong with the query, for the one who wrote it; the call ends with that. */
    int (*compile)(void *ctx, struct str language, struct str text, struct arena *a,
                   struct appdb_predicate *ret, struct err *e);
    void *ctx;
    /* Where what is written survives the death of this process: the database is below it, and
     * redo_recover() of it comes before the next one opens. NULL: it may be left by half. */
    const char *home;
};

/* Of an instance, while its file is in nobody's seat. */
struct appdb_own {
    uint64_t seed;
    int64_t start_us;
    int64_t n_draws, n_ticks; /* as the database has them, once they */
    bool is_read;
};

/* Makes a database of SCHEMA (SQL) at PATH, which must not exist. */
int appdb_create(const char *path, const char *schema, struct err *e);

/* Opens PATH. ENV's pointers must stay valid. One that is open for reading only must not be changed
 * by anybody meanwhile. */
int appdb_open(const char *path, bool is_read_only, const struct appdb_env *env, struct appdb **ret,
               struct err *e);
void appdb_close(struct appdb *db);
DEFINE_CLEANUP(struct appdb *, appdb_close)

/* Opens PATH for appdb_seat(). -EUCLEAN: it has to be made ready by seat_settle(). */
int appdb_open_file(struct seat_file *f, const char *path, const char *home, bool is_read_only);
/* Whether DB can have F: its schema is the same. */
bool appdb_fits(const struct appdb *db, const struct seat_file *f);
/* Takes F, which fits, instead of the file that DB has, and OWN for its clock and random numbers:
 * that must stay until the next appdb_seat() or appdb_unseat(). On failure DB has no file. */
int appdb_seat(struct appdb *db, struct seat_file *f, struct appdb_own *own, struct err *e);
/* DB keeps its schema and its statements, but has no file. */
void appdb_unseat(struct appdb *db);

struct app_tool;

/* A call of a script. It is the same one all the way from who asks for it to the statements; of a
 * tool, app_call() (apps/engine/call.h) sets what the tool says, and needs nothing but the tool,
 * the arguments, the arena and the limits. */
struct app_call {
    const struct app_tool *tool; /* NULL: a script that is not a tool's, such as import */
    struct json *args;           /* object, or NULL; those of a tool get their defaults */
    struct arena *arena;         /* the answer is made in it */
    enum appdb_limits limits;
    const struct script *script; /* of env->scripts */
    bool is_write;               /* a script that writes without this fails */

    /* What came of it: error when that is not NULL, else result or content. */
    struct str error, result, content;
    bool is_query_error; /* the error is of a query that could not be compiled */
    bool is_fixed;       /* it depends on nothing but the database and the arguments */
};

/* 0 also when the script says `error`. Else nothing was changed, and E says why: -ETIME over a
 * limit, -E2BIG the answer is too large, -EINVAL the script or the data do not fit together, or
 * what SQLite met. */
int appdb_run(struct appdb *db, struct app_call *call, struct err *e);

/* Prepares every statement of S, which runs with arguments of these names. -EINVAL: "line 7: …", a
 * statement is wrong, a parameter is neither an argument nor a column before it, or a script that
 * should only read writes. */
int appdb_check(struct appdb *db, const struct script *s, const struct json *properties,
                bool is_write, struct err *e);

/* The seed and the start of the clock of the calls that follow. */
void appdb_tune(struct appdb *db, uint64_t seed, int64_t start_us);

/* Restarts the clock and the random numbers. Outside of calls. */
int appdb_rewind(struct appdb *db, struct err *e);

/* For apps/ alone: the clock of the call under way and the next random number. */
int64_t appdb_now_us(struct appdb *db);
uint64_t appdb_random(struct appdb *db);
const struct json *appdb_ids(const struct appdb *db);
/* The connection. */
struct sqlite3 *appdb_handle(struct appdb *db);
