/* SPDX-License-Identifier: MIT */
/* What is different between two databases of one app, row by row:
 *
 *     {"inserted": n, "updated": n, "deleted": n,
 *      "tables": {"orders": {"inserted": [row, …],
 *                            "updated": [{"key": {…}, "old": {…}, "new": {…}}, …],
 *                            "deleted": [row, …]}}}
 *
 * A row is an object of its columns, "key" of the primary key, and "old" and "new" of the columns
 * that changed. Tables are in the order of their names and rows in that of their keys; what did not
 * change is not there. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum { CHANGES_TIME_MAX_MS = 20000 };
enum changes_kind { CHANGES_INSERTED, CHANGES_UPDATED, CHANGES_DELETED, CHANGES_KINDS };

struct change {
    enum changes_kind kind;
    const struct json *key, *old, *new; /* objects; what the kind lacks is NULL */
};

struct changes_table;

/* Changes as they are found. */
struct changes {
    struct arena arena; /* for what they are made of */
    struct changes_table *tables;
    size_t n, cap;
};

void changes_init(struct changes *c);
void changes_done(struct changes *c);
/* The table of the changes that follow. 0 or -ENOMEM. */
int changes_table(struct changes *c, const char *name, struct err *e);
int changes_add(struct changes *c, const struct change *change, struct err *e);
/* Appends them all. -E2BIG: more than OUT takes. */
int changes_write(struct changes *c, struct buf *out, struct err *e);
/* The same of two databases that are one. */
int changes_write_none(struct buf *out);

/* Appends the changes that make BASE into PATH, both files of SQLite that nobody writes to. Bytes
 * are {"base64": "…"}. Left out: tables without a primary key, those whose names begin with "fts_"
 * (made from others), and our own. -E2BIG: more than OUT takes; -ETIME; -EIO. */
int changes_of_sqlite(const char *base, const char *path, struct buf *out, struct err *e);
