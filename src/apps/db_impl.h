/* SPDX-License-Identifier: MIT */
/* Between db.c, run.c and functions.c. */
#pragma once

#include <limits.h>
#include <sqlite3.h>

#include "apps/db.h"

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
    bool is_read_only;
    struct prepared **prepared; /* by script, then by statement; NULL: not yet */
    struct composed composed[APPDB_COMPOSED_MAX];
    uint64_t n_composed;
    sqlite3_stmt *begin, *begin_write, *commit, *rollback, *set_meta, *next_seq;

    /* Of the instance, as the database has them. */
    int64_t n_draws, n_ticks;

    /* Of the call under way. */
    int64_t now_us;
    bool is_volatile; /* it asked for the time or a random number */
    int64_t steps_left, deadline_ms, memory_base;
    const char *limit;        /* the one that was passed */
    enum appdb_limits limits; /* of the call under way */
};

/* Defines the functions that scripts have. */
int functions_define(struct appdb *db, struct err *e);

/* E says what SQLite does; -errno. */
int appdb_fail(struct appdb *db, int rc, struct err *e, const char *what);

/* What nobody changes needs no locks: "file:PATH?immutable=1", with PATH's own characters kept. */
#define APPDB_URI_MAX (3 * PATH_MAX + 32)
void appdb_put_uri(const char *path, char out[APPDB_URI_MAX]);

/* Begins the limits of a call. */
void appdb_limit(struct appdb *db, enum appdb_limits limits);
