/* SPDX-License-Identifier: MIT */
/* The file below a connection of SQLite, which can be exchanged for another one of the same schema
 * between two transactions (docs/adr/0038): the connection keeps its parsed schema and its prepared
 * statements, and drops the pages that it has in memory.
 *
 * SQLite keeps what it needs for a rollback in memory. What a transaction changes is collected (see
 * redo.h) and comes into the file with the commit, all or nothing, also when the process dies.
 * There are no locks: who exchanges files sees to it that nobody else writes to them. */
#pragma once

#include <sqlite3.h>

#include "apps/db/redo.h"
#include "base/err.h"

struct seat;

enum { SEAT_HEAD = 4096 };

/* What makes two databases one for a connection: SQLite's numbers of the schema and of the format,
 * and a fingerprint of the schema's text, which seat_mark() leaves in the file. */
struct seat_schema {
    unsigned char bytes[32];
};

/* An open database file. */
struct seat_file {
    struct redo_target at;
    bool is_read_only;
    size_t n_head;
    unsigned char head[SEAT_HEAD]; /* its first bytes */
};

/* The name of the VFS (SQLite's way to the operating system) whose main files are seats. Its clock
 * is that of apps/db/clocks.h. NULL: it cannot be had. */
const char *seat_vfs(void);

/* PATH, whose name in redos is what comes behind HOME (NULL: it needs none). */
int seat_file_open(struct seat_file *f, const char *path, const char *home, bool is_read_only);
void seat_file_close(struct seat_file *f);
struct seat_schema seat_schema_of(const struct seat_file *f);
/* True when a seat cannot have it: it has a log beside it, or no fingerprint. See seat_settle(). */
bool seat_file_is_old(const struct seat_file *f);

/* The seat of C, which was opened with this VFS under any name; it is empty. Its redo is below
 * HOME; without one a death of the process may leave a transaction by half. */
int seat_of(sqlite3 *c, const char *home, struct seat **ret);
/* Takes F, which may be NULL, instead of the file that was there. C is in no transaction. */
void seat_take(struct seat *s, sqlite3 *c, struct seat_file *f);
bool seat_is_read_only(const struct seat *s);

/* Writes the fingerprint of its schema into the database that C has open, by any VFS. */
int seat_mark(sqlite3 *c);
/* Makes a database of any age one that a seat can have. Takes milliseconds. */
int seat_settle(const char *path, struct err *e);
