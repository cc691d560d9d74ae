/* SPDX-License-Identifier: MIT */
/* What a database has to offer to be a store. The group commit, the audit chain and the queue are
 * written once, above this interface: a driver runs statements and marks transactions.
 *
 * All functions but open() are called by one thread at a time (the store's writer). */
#pragma once

#include "store/tx.h"

struct store_db; /* a driver's own */

enum store_mark {
    STORE_BEGIN,
    STORE_BEGIN_UNSYNCED, /* the commit is durable only after sync(), or after a later commit */
    STORE_SAVEPOINT,      /* one level; there is at most one */
    STORE_RELEASE,        /* keeps what happened since the savepoint */
    STORE_ROLLBACK_TO,    /* undoes it, and forgets the savepoint */
    STORE_COMMIT,         /* 0 means durable */
    STORE_ROLLBACK,
    STORE_MARK_COUNT
};

enum store_chores {
    STORE_CHORES_NONE,
    STORE_CHORES_SOME, /* for when nobody waits */
    STORE_CHORES_DUE,  /* now, though somebody waits */
};

struct store_driver {
    const char *name;
    /* Opens, migrates and locks as store_open() promises; NULL with E filled on failure. */
    struct store_db *(*open)(const struct store_opts *opts, struct err *e);
    void (*close)(struct store_db *db);
    /* 0 or -errno. */
    int (*mark)(struct store_db *db, enum store_mark mark);
    /* Runs ST, puts its rows into A and sets n_changed. Returns as store_submit()'s DONE gets. */
    int (*exec)(struct store_db *db, struct store_stmt *st, struct arena *a);
    /* False when there is no transaction any more: some failures make a database roll all of it
     * back without being asked. */
    bool (*in_transaction)(struct store_db *db);
    /* Makes durable what was committed without that. */
    int (*sync)(struct store_db *db);
    /* Work that can wait, such as moving a log into the tables. How much has piled up; and to do
     * it, between transactions. */
    enum store_chores (*chores)(struct store_db *db);
    void (*tidy)(struct store_db *db);
};

extern const struct store_driver store_driver_sqlite;
