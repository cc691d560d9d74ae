/* SPDX-License-Identifier: MIT */
/* What is different between two databases of one schema, row by row:
 *
 *     {"inserted": n, "updated": n, "deleted": n,
 *      "tables": {"orders": {"inserted": [row, …],
 *                            "updated": [{"key": {…}, "old": {…}, "new": {…}}, …],
 *                            "deleted": [row, …]}}}
 *
 * A row is an object of its columns, "key" of the primary key, and "old" and "new" of the columns
 * that changed. Tables are in the order of their names and rows in that of their keys; what did not
 * change is not there. Bytes are {"base64": "…"}. Left out: tables without a primary key, those
 * whose names begin with "fts_" (made from others), and our own. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum { CHANGES_TIME_MAX_MS = 20000 };

/* Appends the changes that make BASE into PATH, both files of SQLite that nobody writes to. -E2BIG:
 * more than OUT takes; -ETIME; -EIO. */
int changes_write(const char *base, const char *path, struct buf *out, struct err *e);
/* The same of two that are one. */
int changes_write_none(struct buf *out);
