/* SPDX-License-Identifier: MIT */
/* The store: what must survive. One interface, a driver per database (SQLite now).
 *
 * Work is submitted as a transaction: a short list of statements out of one table (store/sql.def),
 * with their parameters, applied together or not at all. That form fits a group commit on one
 * writer thread as well as a pipelined connection to a database server. The caller's done() runs on
 * its loop's thread after the transaction is durable; nothing may be reported to a client before.
 *
 * Transactions are applied in the order of submission. Rows come back in the transaction's arena.
 *
 * Limits: STORE_MAX_STMTS statements and as many events in a transaction, STORE_MAX_PARAMS
 * parameters in a statement, STORE_TX_MAX bytes of parameters and rows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct store;

/* ---- values and rows ---- */

enum store_type { STORE_NULL, STORE_INT, STORE_TEXT, STORE_BLOB };

struct store_value {
    enum store_type type;
    int64_t i;
    struct str s; /* text and blobs */
};

struct store_row {
    const struct store_value *cols;
    size_t n_cols;
};

/* ---- statements ---- */

/* The names of store/sql.def: STORE_KEY_INSERT, … */
enum store_sql {
#define SQL(name, text) STORE_##name,
#include "store/sql.def"
#undef SQL
    STORE_SQL_COUNT
};

/* ---- transactions ---- */

#define STORE_MAX_STMTS  256
#define STORE_MAX_PARAMS 16
#define STORE_TX_MAX     (64UL << 20)

struct store_tx;
typedef void store_done(struct store_tx *tx, int result, void *ctx);

/* An empty transaction with an arena of its own, or NULL. The functions that fill a transaction
 * accept NULL, and store_submit() then answers -ENOMEM: one check at the end is enough. */
struct store_tx *store_tx_new(void);
/* Only for a transaction that was not submitted, or that went through store_run(). */
void store_tx_free(struct store_tx *tx);

/* Adds a statement; parameters follow in order with the store_tx_int/text/… calls, whose bytes are
 * copied. Errors stick and come out of store_submit(). */
void store_tx_add(struct store_tx *tx, enum store_sql sql);
void store_tx_int(struct store_tx *tx, int64_t i);
void store_tx_text(struct store_tx *tx, struct str s);
void store_tx_blob(struct store_tx *tx, struct str s);
void store_tx_null(struct store_tx *tx);
/* The last added statement must change exactly N rows, else the transaction ends with CODE
 * (a negative errno) and changes nothing. */
void store_tx_expect(struct store_tx *tx, int64_t n_rows, int code);

struct store_event {
    int64_t at_us;
    struct str account; /* who may see it; empty: system only */
    struct str sandbox; /* involved object, may be empty */
    struct str kind;    /* of the object: "Sandbox", "Key", "Service" */
    struct str type;    /* "Normal" or "Warning" */
    struct str reason, message;
};
/* Appends to the audit chain inside this transaction: number and hash are given when it is applied,
 * so that a transaction that fails leaves no hole. */
void store_tx_event(struct store_tx *tx, const struct store_event *ev);

/* Nobody waits for TX: it is written together with the next one that somebody waits for, or a
 * moment later. The order stays as it is. */
void store_tx_put_off(struct store_tx *tx);

/* What TX says is over anyway when the machine goes down: DONE runs when the file has it, where a
 * service that was killed finds it; the disk has it STORE_SYNC_MS later, or with the next
 * transaction that is not like this. */
#define STORE_SYNC_MS 50
void store_tx_sync_later(struct store_tx *tx);

/* Hands TX over. DONE runs on LOOP's thread and gets 0; -EEXIST on a uniqueness conflict; the code
 * of store_tx_expect(); -ENOSPC, -EIO… otherwise. TX and its rows are freed when DONE returns.
 * Returns 0, or -EBUSY when the queue is full, -ENOMEM, or what went wrong while TX was filled
 * (then TX is freed and DONE is not called). Any thread. */
int store_submit(struct store *s, struct store_tx *tx, struct loop *loop, store_done *done,
                 void *ctx);

/* Rows that statement number INDEX (from 0) returned. */
size_t store_tx_n_rows(const struct store_tx *tx, size_t index);
struct store_row store_tx_row(const struct store_tx *tx, size_t index, size_t row);
/* Rows that it inserted, updated or deleted. */
int64_t store_tx_changed(const struct store_tx *tx, size_t index);
/* The number that event INDEX of this transaction got in the audit chain. */
int64_t store_tx_seq(const struct store_tx *tx, size_t index);

/* ---- the store ---- */

struct store_opts {
    const char *path;    /* of the database file */
    bool is_read_only;   /* for audits beside a running service */
    size_t max_queued;   /* transactions waiting; default 65536 */
    int64_t keep_events; /* of the audit chain, the oldest go first; default 1 000 000, -1: all */
    int64_t keep_account_events; /* the newest of each account, which lists still have when they are
                                    no part of the chain any more */
};

/* Opens or creates, migrates, and starts the writer. NULL with E filled on failure.
 *
 * A file that is no database, belongs to another program, is damaged or was written by a newer
 * version is refused and stays as it is, byte for byte. Damage is looked for in the whole file when
 * it has at most STORE_CHECK_MAX bytes, else in its header and schema only. One process at a time
 * has the store open for writing: it holds a lock on PATH.lock. */
#define STORE_CHECK_MAX (64L << 20)
struct store *store_open(const struct store_opts *opts, struct err *e);
/* Applies everything that was submitted, then closes. The loops must still run the messages with
 * which transactions end. NULL is allowed. */
void store_close(struct store *s);

/* Runs one transaction and waits: start-up, command line and tests. TX is freed by the caller. */
int store_run(struct store *s, struct store_tx *tx, struct err *e);

struct store_stats {
    uint64_t queued;       /* waiting now */
    uint64_t transactions; /* that succeeded */
    uint64_t failures;     /* that failed */
    uint64_t commits;      /* of the database; each writes one or more transactions */
    bool is_unsynced;      /* the disk does not have all of them yet */
    int64_t last_event;    /* the number of the newest event that is committed; 0: none */
};
struct store_stats store_stats(struct store *s);
