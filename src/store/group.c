/* SPDX-License-Identifier: MIT */
/* The group commit: see group.h. */
#include "store/group.h"

#include <errno.h>

/* Events are removed when this many are over the limit, in batches of as many. */
enum { PRUNE_BATCH = 1000 };

static int mark_group(struct group *g, enum store_mark m)
{
    return g->driver->mark(g->db, m);
}

static int exec(struct group *g, struct store_stmt *st, struct arena *a)
{
    return g->driver->exec(g->db, st, a);
}

static struct store_value int_value(int64_t i)
{
    return (struct store_value){.type = STORE_INT, .i = i};
}

static struct store_value text_value(struct str s)
{
    return (struct store_value){.type = STORE_TEXT, .s = s};
}

static struct store_value hash_value(const struct chain_link *link)
{
    return (struct store_value){.type = STORE_BLOB,
                                .s = str_n((const char *)link->hash, sizeof link->hash)};
}

/* ---- the chain's rows ---- */

static int note_link(struct group *g, struct str name, const struct chain_link *link)
{
    char text[CHAIN_TEXT_MAX];
    struct store_stmt st = {.sql = STORE_META_SET, .n_params = 2};

    chain_format(text, link);
    st.params[0] = text_value(name);
    st.params[1] = text_value(str_of(text));
    return exec(g, &st, NULL);
}

static int append_event(struct group *g, struct chain_link *head, struct tx_event *te)
{
    const struct store_event *ev = &te->ev;
    struct chain_link link = chain_next(head, ev);
    struct store_stmt st = {
        .sql = STORE_EVENT_INSERT,
        .n_params = 10,
        .params = {int_value(link.seq), int_value(ev->at_us), text_value(ev->account),
                   text_value(ev->sandbox), text_value(ev->kind), text_value(ev->type),
                   text_value(ev->reason), text_value(ev->message), hash_value(head),
                   hash_value(&link)},
    };
    int r = exec(g, &st, NULL);

    if (r < 0)
        return r;
    te->seq = link.seq;
    *head = link;
    return 0;
}

/* ---- applying ---- */

static int apply_statements(struct group *g, struct store_tx *tx)
{
    for (size_t i = 0; i < tx->n_stmts; i++) {
        struct store_stmt *st = tx->stmts[i];
        int r = exec(g, st, &tx->arena);
        if (r < 0)
            return r;
        if (st->has_expect && st->n_changed != st->expect)
            return st->expect_code;
    }
    return 0;
}

/* HEAD moves only when all of TX succeeded. */
static int apply_one(struct group *g, struct store_tx *tx, struct chain_link *head)
{
    struct chain_link next = *head;
    int r = apply_statements(g, tx);

    for (size_t i = 0; r == 0 && i < tx->n_events; i++)
        r = append_event(g, &next, tx->events[i]);
    if (r == 0)
        *head = next;
    else
        tx_clear_results(tx);
    return r;
}

/* With a savepoint around it, unless it is alone. Returns -errno only when the whole group is lost.
 */
static int apply_saved(struct group *g, struct store_tx *tx, struct chain_link *head, bool is_alone)
{
    struct chain_link before = *head;

    if (is_alone)
        return apply_one(g, tx, head);
    int r = mark_group(g, STORE_SAVEPOINT);

    if (r < 0)
        return r;
    tx->result = apply_one(g, tx, head);
    if (tx->result < 0 && !g->driver->in_transaction(g->db))
        return tx->result;
    r = mark_group(g, tx->result < 0 ? STORE_ROLLBACK_TO : STORE_RELEASE);
    if (r < 0)
        *head = before;
    return r;
}

static bool all_may_sync_later(const struct store_tx *txs)
{
    for (; txs; txs = txs->next)
        if (!txs->may_sync_later)
            return false;
    return true;
}

/* All of it in one transaction of the database, or none and -errno. A transaction of the store that
 * fails on its own account is no reason for that. */
static int apply_together(struct group *g, struct store_tx *txs)
{
    struct chain_link head = g->head;
    bool is_unsynced = all_may_sync_later(txs);
    int r = mark_group(g, is_unsynced ? STORE_BEGIN_UNSYNCED : STORE_BEGIN);

    for (struct store_tx *tx = txs; r == 0 && tx; tx = tx->next)
        r = apply_saved(g, tx, &head, tx == txs && !tx->next);
    if (r == 0 && head.seq != g->head.seq)
        r = note_link(g, STR(CHAIN_META_HEAD), &head);
    if (r == 0)
        r = mark_group(g, STORE_COMMIT);
    if (r < 0) {
        if (g->driver->in_transaction(g->db))
            (void)mark_group(g, STORE_ROLLBACK);
        return r;
    }
    g->head = head;
    g->commits++;
    g->is_unsynced = is_unsynced;
    return 0;
}

void group_apply(struct group *g, struct store_tx *txs, size_t n)
{
    int r = apply_together(g, txs);

    if (r == 0)
        return;
    if (n == 1) {
        tx_clear_results(txs);
        txs->result = r;
        return;
    }
    /* What made the group fail (a full disk, say) may concern one of them only. */
    for (struct store_tx *tx = txs; tx; tx = tx->next) {
        struct store_tx *next = tx->next;
        tx->next = NULL;
        tx_clear_results(tx);
        group_apply(g, tx, 1);
        tx->next = next;
    }
}

/* What fails is tried again; a disk that refuses will also refuse the next commit, and say so. */
void group_sync(struct group *g)
{
    if (g->is_unsynced && g->driver->sync(g->db) == 0)
        g->is_unsynced = false;
}

/* ---- start and retention ---- */

static int read_note(struct group *g, struct str name, struct arena *a, struct chain_link *ret)
{
    struct store_stmt st = {.sql = STORE_META_GET, .n_params = 1, .params = {text_value(name)}};
    int r = exec(g, &st, a);

    if (r < 0 || st.n_rows == 0)
        return r;
    /* A note that cannot be read is left to the verifier to report. */
    (void)chain_parse(st.rows[0][0].s, ret);
    return 0;
}

/* The newest link up to SEQ; RET stays as it is when there is none. */
static int read_group_link(struct group *g, int64_t seq, struct arena *a, struct chain_link *ret)
{
    struct store_stmt st = {.sql = STORE_EVENT_LINK, .n_params = 1, .params = {int_value(seq)}};
    int r = exec(g, &st, a);

    if (r < 0 || st.n_rows == 0)
        return r;
    const struct store_value *c = st.rows[0];
    if (c[1].s.len != sizeof ret->hash)
        return -EUCLEAN;
    ret->seq = c[0].i;
    memcpy(ret->hash, c[1].s.p, sizeof ret->hash);
    return 0;
}

/* Where the note and the newest row disagree, the later one is continued: lost events then stay
 * visible as missing numbers. */
int group_load(struct group *g, struct err *e)
{
    struct chain_link last = {0}, anchor = {0};
    struct arena a auto_arena;

    arena_init(&a, STORE_TX_MAX);
    int r = read_note(g, STR(CHAIN_META_HEAD), &a, &g->head);
    if (r == 0)
        r = read_note(g, STR(CHAIN_META_ANCHOR), &a, &anchor);
    if (r == 0)
        r = read_group_link(g, INT64_MAX, &a, &last);
    if (r < 0)
        return err_ctx(e, r, "read the audit chain");
    if (last.seq > g->head.seq)
        g->head = last;
    if (anchor.seq > g->head.seq)
        g->head = anchor;
    g->pruned = anchor.seq;
    return 0;
}

/* Where the oldest of the events that stay is linked to. There is nothing to note when the rows
 * were gone already. */
static int note_anchor(struct group *g, int64_t seq, struct arena *a)
{
    struct chain_link anchor = {0};
    int r = read_group_link(g, seq, a, &anchor);

    /* What is older is kept for its account, and no part of the chain any more. */
    if (r < 0 || anchor.seq <= g->pruned)
        return r;
    return note_link(g, STR(CHAIN_META_ANCHOR), &anchor);
}

static int prune_up_to(struct group *g, int64_t seq)
{
    struct arena a auto_arena;
    struct store_stmt st = {
        .sql = STORE_EVENT_PRUNE,
        .n_params = 3,
        .params = {int_value(seq), int_value(g->keep_account_events), int_value(g->pruned)}};

    arena_init(&a, STORE_TX_MAX);
    int r = mark_group(g, STORE_BEGIN);
    if (r == 0)
        r = note_anchor(g, seq, &a);
    if (r == 0)
        r = exec(g, &st, &a);
    if (r == 0)
        r = mark_group(g, STORE_COMMIT);
    if (r < 0 && g->driver->in_transaction(g->db))
        (void)mark_group(g, STORE_ROLLBACK);
    return r;
}

bool group_prune(struct group *g)
{
    if (g->keep_events < 0)
        return false;
    int64_t batch = g->keep_events / 8;
    batch = batch < 1 ? 1 : batch > PRUNE_BATCH ? PRUNE_BATCH : batch;
    if (g->head.seq - g->pruned - g->keep_events < batch)
        return false;
    /* On failure the next group tries again. */
    if (prune_up_to(g, g->pruned + batch) < 0)
        return false;
    g->pruned += batch;
    return g->head.seq - g->pruned - g->keep_events >= batch;
}
