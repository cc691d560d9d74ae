/* SPDX-License-Identifier: MIT */
/* Between db.c, run_script.c and functions/functions.c. */
#pragma once

#include <limits.h>
#include <sqlite3.h>

#include "apps/db/db.h"
#include "apps/db/seat.h"

struct prepared {
    sqlite3_stmt *stmt;
};

/* A statement with queries in it, kept for the next time that they compile to the same. */
struct composed {
    char *sql;
    sqlite3_stmt *stmt;
    uint64_t used; /* when, by n_composed */
};

enum { APPDB_COMPOSED_MAX = 16 };

struct appdb {
    sqlite3 *c;
    struct appdb_env env;
    struct seat *seat;
    struct seat_schema schema;
    struct prepared **prepared; /* by script, then by statement; NULL: not yet */
    struct composed composed[APPDB_COMPOSED_MAX];
    uint64_t n_composed;
    struct fn_use *uses; /* of functions/functions.c: what each function is defined with */
    sqlite3_stmt *begin, *begin_write, *commit, *rollback, *get_meta, *set_meta, *next_seq;

    struct appdb_own *own;  /* of the instance whose file it has */
    struct appdb_own first; /* of the one that it was opened with */

    /* Of the call under way. */
    int64_t now_us;
    bool is_volatile; /* it asked for the time or a random number */
    int64_t steps_left, deadline_ms, memory_base;
    int64_t work_left;        /* of functions, see appdb_spend() */
    int64_t look_at;          /* the work_left at which the clock is looked at again */
    const char *limit;        /* the one that was passed */
    enum appdb_limits limits; /* of the call under way */
};

/* Defines the functions that scripts have; -errno. What it allocates goes with DB. */
int functions_define(struct appdb *db, struct err *e);

/* E says what SQLite does; -errno. */
int appdb_fail(struct appdb *db, int rc, struct err *e, const char *what);

/* What nobody changes needs no locks: "file:PATH?immutable=1", with PATH's own characters kept. */
#define APPDB_URI_MAX (3 * PATH_MAX + 32)
void appdb_put_uri(const char *path, char out[APPDB_URI_MAX]);

/* Begins the limits of a call. */
void appdb_limit(struct appdb *db, enum appdb_limits limits);

/* What this thread does from here on, until the same with NULL, gets no more memory than twice the
 * limit of DB's call: statements that go straight on are not interrupted otherwise. */
void appdb_guard(struct appdb *db);

/* How long values may be for SQL of a caller with SQL_LEN bytes: SQLite does not look at limits
 * while a statement goes straight on, and each of its terms may take the time of a value. Until the
 * limits start again. */
void appdb_limit_values(struct sqlite3 *c, size_t sql_len);

/* Takes UNITS of work (about a byte that is looked at each, a nanosecond or a few) from what the
 * call may do. False: it is used up, or the time is; what is under way ends as soon as it can. */
bool appdb_spend(struct appdb *db, int64_t units);

/* The limit was reported to the caller as the product does; the call continues for a moment, to say
 * so.
 */
void appdb_forgive(struct appdb *db);
