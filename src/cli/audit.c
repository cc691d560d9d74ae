/* SPDX-License-Identifier: MIT */
/* The audit chain on the command line: see audit.h. */
#include "cli/audit.h"

#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "core/core.h"
#include "store/chain.h"
#include "store/store.h"

DEFINE_CLEANUP(struct store *, store_close)
DEFINE_CLEANUP(struct store_tx *, store_tx_free)

enum { LIST_MAX = 100000 };

static int open_error(const struct err *e)
{
    return e && e->code ? e->code : -EIO;
}

static void put_report(struct buf *out, const struct chain_report *rep)
{
    char head[CHAIN_TEXT_MAX];
    struct jw w = jw_to(out);

    chain_format(head, &rep->head);
    jw_object(&w);
    jw_key(&w, "ok");
    jw_bool(&w, rep->fault == CHAIN_OK);
    jw_key(&w, "events");
    jw_int(&w, rep->n_events);
    jw_key(&w, "head");
    jw_cstr(&w, head);
    if (rep->fault != CHAIN_OK) {
        jw_key(&w, "broken");
        jw_int(&w, rep->seq);
        jw_key(&w, "fault");
        jw_cstr(&w, chain_fault_text(rep->fault));
    }
    jw_end(&w);
    (void)buf_add_char(out, '\n');
}

int audit_verify(const struct config *c, bool is_json, struct buf *out, struct err *e)
{
    struct store *s auto_(store_close) = core_open_store(c, true, e);
    struct chain_report rep;
    char head[CHAIN_TEXT_MAX];

    if (!s)
        return open_error(e);
    int r = chain_verify(s, &rep, e);
    if (r < 0)
        return r;
    if (is_json)
        put_report(out, &rep);
    if (rep.fault != CHAIN_OK)
        return err_set(e, -EBADMSG, "the chain is broken at event %" PRId64 ": %s", rep.seq,
                       chain_fault_text(rep.fault));
    chain_format(head, &rep.head);
    if (!is_json)
        (void)buf_printf(out, "The chain is whole: %" PRId64 " events, newest link %s\n",
                         rep.n_events, head);
    return 0;
}

/* ---- listing ---- */

enum { COL_SEQ, COL_AT, COL_ACCOUNT, COL_OBJECT, COL_KIND, COL_TYPE, COL_REASON, COL_MESSAGE };

/* The newest rows that the filter lets through. */
static void add_query(struct store_tx *tx, const struct audit_list_args *args)
{
    static const enum store_sql queries[2][2] = {
        {STORE_EVENT_PAGE, STORE_EVENT_PAGE_SANDBOX},
        {STORE_EVENT_PAGE_ACCOUNT, STORE_EVENT_PAGE_BOTH},
    };

    store_tx_add(tx, queries[args->account != NULL][args->sandbox != NULL]);
    store_tx_int(tx, INT64_MAX);
    store_tx_int(tx, args->limit);
    if (args->account)
        store_tx_text(tx, str_of(args->account));
    if (args->sandbox)
        store_tx_text(tx, str_of(args->sandbox));
}

static void put_event(struct buf *out, const struct store_value *cols, bool is_json)
{
    static const char *const names[] = {"seq",  "at",   "account", "object",
                                        "kind", "type", "reason",  "message"};
    char at[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(at, cols[COL_AT].i);
    if (!is_json) {
        (void)buf_printf(out, "%" PRId64 "  %s  " STR_FMT "  " STR_FMT "  " STR_FMT "\n",
                         cols[COL_SEQ].i, at,
                         STR_ARG(cols[COL_ACCOUNT].s.len ? cols[COL_ACCOUNT].s : STR("-")),
                         STR_ARG(cols[COL_REASON].s), STR_ARG(cols[COL_MESSAGE].s));
        return;
    }
    struct jw w = jw_to(out);
    jw_object(&w);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        jw_key(&w, names[i]);
        if (i == COL_SEQ)
            jw_int(&w, cols[i].i);
        else
            jw_str(&w, i == COL_AT ? str_of(at) : cols[i].s);
    }
    jw_end(&w);
    (void)buf_add_char(out, '\n');
}

int audit_list(const struct config *c, const struct audit_list_args *args, struct buf *out,
               struct err *e)
{
    if (args->limit > LIST_MAX)
        return err_set(e, -EINVAL, "at most %d events at once", LIST_MAX);
    struct store *s auto_(store_close) = core_open_store(c, true, e);
    if (!s)
        return open_error(e);
    struct store_tx *tx auto_(store_tx_free) = store_tx_new();
    add_query(tx, args);
    int r = store_run(s, tx, e);
    if (r < 0)
        return r;
    for (size_t i = store_tx_n_rows(tx, 0); i > 0; i--) {
        const struct store_value *cols = store_tx_row(tx, 0, i - 1).cols;
        if (cols[COL_SEQ].i > args->after)
            put_event(out, cols, args->is_json);
    }
    return out->error;
}
