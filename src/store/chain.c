/* SPDX-License-Identifier: MIT */
/* The audit chain: see chain.h. */
#include "store/chain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/enc.h"

/* ---- links ---- */

static void put_u64(unsigned char out[8], uint64_t v)
{
    for (int i = 7; i >= 0; i--, v >>= 8)
        out[i] = (unsigned char)v;
}

/* What is hashed: a name for this format, the hash before, number and time, then every text with
 * its length in front, so that no two events have the same bytes. Integers are 64 bits, big-endian.
 */
struct chain_link chain_next(const struct chain_link *prev, const struct store_event *ev)
{
    const struct str texts[] = {ev->account, ev->sandbox, ev->kind,
                                ev->type,    ev->reason,  ev->message};
    enum { N = ARRAY_LEN(texts) };
    struct chain_link link = {.seq = prev->seq + 1};
    unsigned char seq[8], at[8], lens[N][8];
    struct str parts[4 + 2 * N] = {
        STR("tidepool event 1\n"),
        str_n((const char *)prev->hash, sizeof prev->hash),
        str_n((const char *)seq, sizeof seq),
        str_n((const char *)at, sizeof at),
    };

    put_u64(seq, (uint64_t)link.seq);
    put_u64(at, (uint64_t)ev->at_us);
    for (size_t i = 0; i < N; i++) {
        put_u64(lens[i], texts[i].len);
        parts[4 + 2 * i] = str_n((const char *)lens[i], sizeof lens[i]);
        parts[5 + 2 * i] = texts[i];
    }
    digest_sha256_parts(link.hash, parts, ARRAY_LEN(parts));
    return link;
}

void chain_format(char out[CHAIN_TEXT_MAX], const struct chain_link *link)
{
    int n = snprintf(out, CHAIN_TEXT_MAX, "%" PRId64 ":", link->seq);

    enc_hex(out + n, link->hash, sizeof link->hash);
}

int chain_parse(struct str text, struct chain_link *ret)
{
    struct chain_link link;
    struct str number = str_cut(&text, ':');

    if (str_to_i64(number, &link.seq) < 0 || link.seq < 0)
        return -EINVAL;
    if (enc_unhex(link.hash, sizeof link.hash, text) < 0)
        return -EINVAL;
    *ret = link;
    return 0;
}

/* ---- verification ---- */

enum { PAGE_ROWS = 1000 };

const char *chain_fault_text(enum chain_fault f)
{
    static const char *const texts[CHAIN_FAULT_COUNT] = {
        [CHAIN_OK] = "the chain is intact",
        [CHAIN_BAD_HASH] = "the event was changed: its hash does not match",
        [CHAIN_BAD_PREV] = "the event does not follow the one before it",
        [CHAIN_MISSING] = "the event is missing",
        [CHAIN_CUT] = "the newest events are missing",
        [CHAIN_BAD_HEAD] = "the note of the newest event does not match",
    };

    return texts[f];
}

/* One consistent look at both ends and the next events. */
struct chain_page {
    struct store_tx *tx;
    struct chain_link anchor, head;
    bool has_head;
};

enum { Q_ANCHOR, Q_HEAD, Q_ROWS };

static int read_chain_link(const struct store_tx *tx, size_t index, struct chain_link *ret)
{
    if (store_tx_n_rows(tx, index) == 0)
        return -ENOENT;
    return chain_parse(store_tx_row(tx, index, 0).cols[0].s, ret);
}

static int read_page(struct store *s, int64_t after, struct chain_page *p, struct err *e)
{
    *p = (struct chain_page){.tx = store_tx_new()};
    store_tx_add(p->tx, STORE_META_GET);
    store_tx_text(p->tx, STR(CHAIN_META_ANCHOR));
    store_tx_add(p->tx, STORE_META_GET);
    store_tx_text(p->tx, STR(CHAIN_META_HEAD));
    store_tx_add(p->tx, STORE_EVENT_AFTER);
    store_tx_int(p->tx, after);
    store_tx_int(p->tx, PAGE_ROWS);
    int r = store_run(s, p->tx, e);
    if (r < 0)
        return r;
    p->has_head = read_chain_link(p->tx, Q_HEAD, &p->head) == 0;
    (void)read_chain_link(p->tx, Q_ANCHOR, &p->anchor);
    return 0;
}

static bool is_hash(struct str blob, const unsigned char hash[DIGEST_SHA256_LEN])
{
    return str_eq(blob, str_n((const char *)hash, DIGEST_SHA256_LEN));
}

/* Columns as EVENT_AFTER returns them. */
static enum chain_fault check_row(struct store_row row, struct chain_link *at)
{
    const struct store_value *c = row.cols;
    struct store_event ev = {.at_us = c[1].i,
                             .account = c[2].s,
                             .sandbox = c[3].s,
                             .kind = c[4].s,
                             .type = c[5].s,
                             .reason = c[6].s,
                             .message = c[7].s};
    struct chain_link link = chain_next(at, &ev);

    if (c[0].i != link.seq)
        return CHAIN_MISSING;
    if (!is_hash(c[8].s, at->hash))
        return CHAIN_BAD_PREV;
    if (!is_hash(c[9].s, link.hash))
        return CHAIN_BAD_HASH;
    *at = link;
    return CHAIN_OK;
}

static enum chain_fault check_page(const struct chain_page *p, struct chain_report *rep)
{
    size_t n = store_tx_n_rows(p->tx, Q_ROWS);

    for (size_t i = 0; i < n; i++) {
        enum chain_fault f = check_row(store_tx_row(p->tx, Q_ROWS, i), &rep->head);
        if (f != CHAIN_OK)
            return f;
        rep->n_events++;
    }
    return CHAIN_OK;
}

/* After the last row: the note beside the rows must name it. */
static enum chain_fault check_chain_head(const struct chain_page *p, const struct chain_link *last)
{
    if (!p->has_head)
        return last->seq == 0 ? CHAIN_OK : CHAIN_BAD_HEAD;
    if (p->head.seq > last->seq)
        return CHAIN_CUT;
    if (p->head.seq < last->seq || memcmp(p->head.hash, last->hash, sizeof last->hash) != 0)
        return CHAIN_BAD_HEAD;
    return CHAIN_OK;
}

/* One page further. True when there is no more to read. */
static bool step_page(const struct chain_page *p, struct chain_report *rep)
{
    /* Where the events begin; or retention has overtaken this walk. */
    if (p->anchor.seq > rep->head.seq) {
        rep->head = p->anchor;
        return false;
    }
    rep->fault = check_page(p, rep);
    if (rep->fault != CHAIN_OK)
        return true;
    if (store_tx_n_rows(p->tx, Q_ROWS) == PAGE_ROWS)
        return false;
    rep->fault = check_chain_head(p, &rep->head);
    return true;
}

int chain_verify(struct store *s, struct chain_report *ret, struct err *e)
{
    struct chain_report rep = {0};
    bool is_last = false;

    while (!is_last) {
        struct chain_page p;
        int r = read_page(s, rep.head.seq, &p, e);
        if (r == 0)
            is_last = step_page(&p, &rep);
        store_tx_free(p.tx);
        if (r < 0)
            return err_ctx(e, r, "audit chain");
    }
    if (rep.fault != CHAIN_OK)
        rep.seq = rep.fault == CHAIN_BAD_HEAD ? rep.head.seq : rep.head.seq + 1;
    *ret = rep;
    return 0;
}
