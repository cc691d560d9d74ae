/* SPDX-License-Identifier: MIT */
/* Assertions on the content of a database, for graders. Each is an object:
 *
 *     {"sql": "SELECT …", "params": […] or {…}, "equals": value}  the first column of the first row
 *                                               "rows": [[…], …]  all rows, as arrays
 *                                               "count": n        how many rows
 *                                               (none of these)   the first value is true
 *     {"table": "orders", "where": {"product": "tea"}, "count": n} how many rows are so
 *                                                      "min", "max"
 *                                                      (none)     at least one
 *
 * and may have a "name". Where an array or an object is expected, text is read as JSON. Nothing can
 * be written; the limits are those of a call (apps/db/db.h). What comes of them:
 *
 *     [{"name", "passed", "actual"}, {"name", "passed": false, "error"}, …] */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum { VERIFY_MAX_CHECKS = 1000, VERIFY_MAX_ROWS = 1000 };

/* Whom is asked. */
struct verify_source {
    /* The rows of one SELECT, arrays of values, in A; PARAMS is an array or an object or NULL. NULL
     * with E when that cannot be had, or when there are more than VERIFY_MAX_ROWS. */
    struct json *(*query)(void *ctx, struct str sql, const struct json *params, struct arena *a,
                          struct err *e);
    /* Appends that something is the same as parameter N, which may be null. */
    void (*put_same)(struct buf *sql, size_t n);
};

/* CTX is a struct appdb, open for reading. */
extern const struct verify_source verify_sqlite;

/* -EINVAL: CHECKS is no array of such objects, E says which one. */
int verify_run(const struct verify_source *source, void *ctx, const struct json *checks,
               struct buf *out, struct err *e);
