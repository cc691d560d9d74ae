/* SPDX-License-Identifier: MIT */
/* Transactions as their callers fill and read them: see store.h. */
#include "store/tx.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"

struct store_tx *store_tx_new(void)
{
    struct store_tx *tx = mem_zalloc(1, sizeof *tx);

    if (tx)
        arena_init(&tx->arena, STORE_TX_MAX);
    return tx;
}

void store_tx_free(struct store_tx *tx)
{
    if (!tx)
        return;
    arena_done(&tx->arena);
    free(tx);
}

/* ---- filling ---- */

static bool is_tx_usable(const struct store_tx *tx)
{
    return tx && tx->error == 0;
}

static void fail_tx(struct store_tx *tx, int code)
{
    if (tx->error == 0)
        tx->error = code;
}

/* Makes room for one more pointer in an array of the arena. */
static void *grow_pointers(struct arena *a, void *old, size_t n, size_t *cap)
{
    if (n < *cap)
        return old;
    size_t new_cap = *cap ? *cap * 2 : 4;
    void **array = arena_alloc(a, new_cap * sizeof *array);
    if (!array)
        return NULL;
    if (n > 0)
        memcpy(array, old, n * sizeof *array);
    *cap = new_cap;
    return array;
}

void store_tx_add(struct store_tx *tx, enum store_sql sql)
{
    assert(sql < STORE_SQL_COUNT);
    if (!is_tx_usable(tx))
        return;
    if (tx->n_stmts >= STORE_MAX_STMTS) {
        fail_tx(tx, -E2BIG);
        return;
    }
    struct store_stmt **stmts = grow_pointers(&tx->arena, tx->stmts, tx->n_stmts, &tx->cap_stmts);
    struct store_stmt *st = arena_new(&tx->arena, struct store_stmt);
    if (stmts)
        tx->stmts = stmts;
    if (!stmts || !st) {
        fail_tx(tx, -ENOMEM);
        return;
    }
    st->sql = sql;
    tx->stmts[tx->n_stmts++] = st;
}

static struct store_stmt *last_stmt(struct store_tx *tx)
{
    if (!is_tx_usable(tx))
        return NULL;
    assert(tx->n_stmts > 0);
    return tx->stmts[tx->n_stmts - 1];
}

static void add_tx_param(struct store_tx *tx, struct store_value v)
{
    struct store_stmt *st = last_stmt(tx);

    if (!st)
        return;
    if (st->n_params >= STORE_MAX_PARAMS) {
        fail_tx(tx, -E2BIG);
        return;
    }
    if (v.type == STORE_TEXT || v.type == STORE_BLOB) {
        v.s = arena_str(&tx->arena, v.s);
        if (!v.s.p) {
            fail_tx(tx, -ENOMEM);
            return;
        }
    }
    st->params[st->n_params++] = v;
}

void store_tx_int(struct store_tx *tx, int64_t i)
{
    add_tx_param(tx, (struct store_value){.type = STORE_INT, .i = i});
}

void store_tx_text(struct store_tx *tx, struct str s)
{
    add_tx_param(tx, (struct store_value){.type = STORE_TEXT, .s = s});
}

void store_tx_blob(struct store_tx *tx, struct str s)
{
    add_tx_param(tx, (struct store_value){.type = STORE_BLOB, .s = s});
}

void store_tx_null(struct store_tx *tx)
{
    add_tx_param(tx, (struct store_value){.type = STORE_NULL});
}

void store_tx_expect(struct store_tx *tx, int64_t n_rows, int code)
{
    struct store_stmt *st = last_stmt(tx);

    assert(code < 0);
    if (!st)
        return;
    st->has_expect = true;
    st->expect = n_rows;
    st->expect_code = code;
}

void store_tx_put_off(struct store_tx *tx)
{
    if (tx)
        tx->may_wait = true;
}

void store_tx_sync_later(struct store_tx *tx)
{
    if (tx)
        tx->may_sync_later = true;
}

/* Copies the strings of EV in place: 0 or -ENOMEM. */
static int own_strings(struct arena *a, struct store_event *ev)
{
    struct str *fields[] = {&ev->account, &ev->sandbox, &ev->kind,
                            &ev->type,    &ev->reason,  &ev->message};

    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        *fields[i] = arena_str(a, *fields[i]);
        if (!fields[i]->p)
            return -ENOMEM;
    }
    return 0;
}

void store_tx_event(struct store_tx *tx, const struct store_event *ev)
{
    if (!is_tx_usable(tx))
        return;
    if (tx->n_events >= STORE_MAX_STMTS) {
        fail_tx(tx, -E2BIG);
        return;
    }
    struct tx_event **events = grow_pointers(&tx->arena, tx->events, tx->n_events, &tx->cap_events);
    struct tx_event *te = arena_new(&tx->arena, struct tx_event);
    if (events)
        tx->events = events;
    if (!events || !te) {
        fail_tx(tx, -ENOMEM);
        return;
    }
    te->ev = *ev;
    if (own_strings(&tx->arena, &te->ev) < 0) {
        fail_tx(tx, -ENOMEM);
        return;
    }
    tx->events[tx->n_events++] = te;
}

/* ---- results ---- */

struct store_value *tx_add_row(struct store_stmt *st, struct arena *a, size_t n_cols)
{
    const struct store_value **rows = grow_pointers(a, st->rows, st->n_rows, &st->cap_rows);
    struct store_value *cols = arena_zalloc(a, n_cols, sizeof *cols);

    if (rows)
        st->rows = rows;
    if (!rows || !cols)
        return NULL;
    st->n_cols = n_cols;
    st->rows[st->n_rows++] = cols;
    return cols;
}

void tx_clear_results(struct store_tx *tx)
{
    tx->result = 0;
    for (size_t i = 0; i < tx->n_stmts; i++) {
        tx->stmts[i]->n_rows = 0;
        tx->stmts[i]->n_changed = 0;
    }
    for (size_t i = 0; i < tx->n_events; i++)
        tx->events[i]->seq = 0;
}

static const struct store_stmt *stmt_at(const struct store_tx *tx, size_t index)
{
    assert(index < tx->n_stmts);
    return tx->stmts[index];
}

size_t store_tx_n_rows(const struct store_tx *tx, size_t index)
{
    return stmt_at(tx, index)->n_rows;
}

struct store_row store_tx_row(const struct store_tx *tx, size_t index, size_t row)
{
    const struct store_stmt *st = stmt_at(tx, index);

    assert(row < st->n_rows);
    return (struct store_row){st->rows[row], st->n_cols};
}

int64_t store_tx_changed(const struct store_tx *tx, size_t index)
{
    return stmt_at(tx, index)->n_changed;
}

int64_t store_tx_seq(const struct store_tx *tx, size_t index)
{
    assert(index < tx->n_events);
    return tx->events[index]->seq;
}
