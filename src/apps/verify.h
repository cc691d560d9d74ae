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
 * be written; the limits are those of a call (apps/db.h). What comes of them:
 *
 *     [{"name", "passed", "actual"}, {"name", "passed": false, "error"}, …] */
#pragma once

#include "apps/db.h"
#include "base/buf.h"

enum { VERIFY_MAX_CHECKS = 1000, VERIFY_MAX_ROWS = 1000 };

/* DB is open for reading. -EINVAL: CHECKS is no array of such objects, E says which one. */
int verify_run(struct appdb *db, const struct json *checks, struct buf *out, struct err *e);
