/* SPDX-License-Identifier: MIT */
/* What a transaction is inside: shared by the store, the group commit and the drivers. */
#pragma once

#include "store/store.h"

struct store_stmt {
    enum store_sql sql;
    size_t n_params;
    struct store_value params[STORE_MAX_PARAMS];

    bool has_expect;
    int64_t expect;
    int expect_code;

    /* The result; rows live in the transaction's arena. */
    int64_t n_changed;
    size_t n_rows, cap_rows, n_cols;
    const struct store_value **rows;
};

struct tx_event {
    struct store_event ev;
    int64_t seq;
};

struct store_tx {
    struct store_tx *next; /* in the queue, then in its group */
    struct loop_msg msg;
    struct loop *loop; /* NULL: store_run() waits for it */
    store_done *done;
    void *ctx;
    int error;    /* while it is filled: the first thing that went wrong */
    int result;   /* after it was applied */
    bool is_done; /* for store_run(); under the store's lock */
    bool may_wait;
    bool may_sync_later;

    struct arena arena;
    struct store_stmt **stmts;
    size_t n_stmts, cap_stmts;
    struct tx_event **events;
    size_t n_events, cap_events;
};

/* Room for one more row of N_COLS values (zeroed), or NULL. */
struct store_value *tx_add_row(struct store_stmt *st, struct arena *a, size_t n_cols);
/* Forgets results, for a second attempt. */
void tx_clear_results(struct store_tx *tx);
