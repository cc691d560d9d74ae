/* SPDX-License-Identifier: MIT */
/* /api/v1/audit: the chain of events for operators, as `tidepool audit` shows it. */
#include <errno.h>
#include <stdlib.h>

#include "api/internal.h"
#include "api/native/native.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "loop/work.h"
#include "store/chain.h"
#include "store/store.h"

DEFINE_CLEANUP(struct store *, store_close)

enum { LIST_DEFAULT = 100, LIST_MAX = 100000, BODY_MAX = 64 << 20, JOBS_MAX = 16 };

enum { COL_SEQ, COL_AT, COL_COUNT = 8 };

/* ---- writing ---- */

void native_put_audit(struct jw *w, const struct store_row *row)
{
    static const char *const names[COL_COUNT] = {"seq",  "at",   "account", "object",
                                                 "kind", "type", "reason",  "message"};
    char at[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(at, row->cols[COL_AT].i);
    jw_object(w);
    for (size_t i = 0; i < COL_COUNT; i++) {
        jw_key(w, names[i]);
        if (i == COL_SEQ)
            jw_int(w, row->cols[i].i);
        else
            jw_str(w, i == COL_AT ? str_of(at) : row->cols[i].s);
    }
    jw_end(w);
}

void native_put_chain(struct jw *w, const struct chain_report *rep)
{
    char head[CHAIN_TEXT_MAX];

    chain_format(head, &rep->head);
    jw_object(w);
    jw_key(w, "ok");
    jw_bool(w, rep->fault == CHAIN_OK);
    jw_key(w, "events");
    jw_int(w, rep->n_events);
    jw_key(w, "head");
    jw_cstr(w, head);
    if (rep->fault != CHAIN_OK) {
        jw_key(w, "broken");
        jw_int(w, rep->seq);
        jw_key(w, "fault");
        jw_cstr(w, chain_fault_text(rep->fault));
    }
    jw_end(w);
}

/* ---- the list ---- */

struct audit_listing {
    struct api_req *req;
    int64_t after;
};

static void on_audit_rows(struct store_tx *tx, int result, void *ctx)
{
    struct audit_listing *l = ctx;
    struct buf body auto_buf = BUF_INIT(BODY_MAX);
    struct jw w = native_begin(&body);

    if (result < 0) {
        api_fail(l->req, result, NULL);
        return;
    }
    jw_array(&w);
    for (size_t i = store_tx_n_rows(tx, 0); i > 0; i--) {
        struct store_row row = store_tx_row(tx, 0, i - 1);
        if (row.cols[COL_SEQ].i > l->after)
            native_put_audit(&w, &row);
    }
    jw_end(&w);
    native_end(&w);
    api_reply_json(l->req, 200, &body);
}

static bool read_audit_number(struct api_req *r, const char *name, int64_t max, int64_t *ret)
{
    struct str text = api_query(r, name);

    if (text.len == 0 || (str_to_i64(text, ret) == 0 && *ret >= 0 && *ret <= max))
        return true;
    api_error(r, 400, "%s must be a whole number up to %lld", name, (long long)max);
    return false;
}

void native_audit_list(struct api_req *r)
{
    static const enum store_sql queries[2][2] = {
        {STORE_EVENT_PAGE, STORE_EVENT_PAGE_SANDBOX},
        {STORE_EVENT_PAGE_ACCOUNT, STORE_EVENT_PAGE_BOTH},
    };
    struct str account = api_query(r, "account"), sandbox = api_query(r, "sandbox");
    struct audit_listing *l = arena_new(r->arena, struct audit_listing);
    int64_t limit = LIST_DEFAULT;

    if (!l) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    l->req = r;
    if (!read_audit_number(r, "after", INT64_MAX, &l->after) ||
        !read_audit_number(r, "limit", LIST_MAX, &limit))
        return;
    struct store_tx *tx = store_tx_new();
    store_tx_add(tx, queries[account.len > 0][sandbox.len > 0]);
    store_tx_int(tx, INT64_MAX);
    store_tx_int(tx, limit);
    if (account.len > 0)
        store_tx_text(tx, account);
    if (sandbox.len > 0)
        store_tx_text(tx, sandbox);
    int code = store_submit(r->core->store, tx, r->core->loop, on_audit_rows, l);
    if (code < 0)
        api_fail(r, code, NULL);
}

/* ---- the chain ---- */

struct audit_walk {
    struct work work;
    struct api_req *req;
    const struct config *config;
    struct chain_report report;
    int result;
};

/* On a thread of its own, with a connection of its own: reading everything takes its time. */
static void walk_run(struct work *work)
{
    struct audit_walk *k = container_of(work, struct audit_walk, work);
    struct err e = ERR_INIT;
    struct store *s auto_(store_close) = core_open_store(k->config, true, &e);

    k->result = s ? chain_verify(s, &k->report, &e) : e.code ? e.code : -EIO;
}

static void walk_done(struct work *work)
{
    struct audit_walk *k = container_of(work, struct audit_walk, work);
    struct buf body auto_buf = BUF_INIT(4096);
    struct jw w = native_begin(&body);

    native_put_chain(&w, &k->report);
    native_end(&w);
    if (k->result < 0)
        api_fail(k->req, k->result, NULL);
    else
        api_reply_json(k->req, 200, &body);
    free(k);
}

void native_audit_verify(struct api_req *r)
{
    /* Not in the request's arena, which a service that stops may free before the thread ends. */
    struct audit_walk *k = mem_zalloc(1, sizeof *k);
    struct err e = ERR_INIT;

    if (!r->api->readers)
        r->api->readers = work_pool_new(1, JOBS_MAX, &e);
    if (!k || !r->api->readers) {
        free(k);
        api_fail(r, -ENOMEM, &e);
        return;
    }
    *k = (struct audit_walk){
        .work = {.run = walk_run, .done = walk_done}, .req = r, .config = r->core->config};
    int code = work_submit(r->api->readers, r->core->loop, &k->work);
    if (code < 0) {
        free(k);
        api_fail(r, code, NULL);
    }
}
