/* SPDX-License-Identifier: MIT */
/* The audit chain on the command line: see audit.h. Both ways end in the same JSON. */
#include "cli/audit.h"

#include <errno.h>
#include <inttypes.h>

#include "api/native/native.h"
#include "base/cleanup.h"
#include "base/enc.h"
#include "base/json.h"
#include "core/core.h"
#include "store/chain.h"
#include "store/store.h"

DEFINE_CLEANUP(struct store *, store_close)
DEFINE_CLEANUP(struct store_tx *, store_tx_free)

enum { LIST_MAX = 100000, ARENA_MAX = 512 << 20, TEXT_MAX = 128 << 20 };

/* Only reads, so a service may be running, and it does not matter who named the directory. */
static struct store *open_audit_store(const struct client_where *where, struct err *e)
{
    const struct client_where named = {.config = where->config, .is_named = true};
    struct err why = ERR_INIT;

    if (client_may_go_alone(&named, &why) < 0) {
        if (client_may_go_alone(where, e) == 0)
            (void)err_set(e, why.code, "%s", err_text(&why));
        return NULL;
    }
    return core_open_store(where->config, true, e);
}

static int open_error(const struct err *e)
{
    return e && e->code ? e->code : -EIO;
}

/* ---- the chain ---- */

static int verify_here(const struct client_where *where, struct arena *a, struct json **ret,
                       struct err *e)
{
    struct store *s auto_(store_close) = open_audit_store(where, e);
    struct buf text auto_buf = BUF_INIT(4096);
    struct jw w = jw_to(&text);
    struct chain_report rep;

    if (!s)
        return open_error(e);
    int r = chain_verify(s, &rep, e);
    if (r < 0)
        return r;
    native_put_chain(&w, &rep);
    *ret = buf_ok(&text) ? json_parse(a, buf_str(&text), NULL, e) : NULL;
    return *ret ? 0 : -ENOMEM;
}

int audit_verify(const struct client_where *where, bool is_json, struct buf *out, struct err *e)
{
    const struct client_request rq = {"GET", "/api/v1/audit/verify", STR_NULL};
    struct arena arena auto_arena;
    struct json *rep = NULL;

    arena_init(&arena, ARENA_MAX);
    int r =
        where->url ? client_ask(where, &arena, &rq, &rep, e) : verify_here(where, &arena, &rep, e);
    if (r < 0)
        return r;
    if (is_json) {
        (void)json_write(out, rep, JSON_COMPACT);
        (void)buf_add_char(out, '\n');
    }
    if (!json_bool(json_get(rep, "ok"), false))
        return err_set(e, -EBADMSG, "the chain is broken at event %" PRId64 ": " STR_FMT,
                       json_int(json_get(rep, "broken"), 0),
                       STR_ARG(json_str(json_get(rep, "fault"), STR("?"))));
    if (!is_json)
        (void)buf_printf(out, "The chain is intact: %" PRId64 " events, newest link " STR_FMT "\n",
                         json_int(json_get(rep, "events"), 0),
                         STR_ARG(json_str(json_get(rep, "head"), STR("?"))));
    return 0;
}

/* ---- listing ---- */

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

static int list_here(const struct client_where *where, const struct audit_list_args *args,
                     struct arena *a, struct json **ret, struct err *e)
{
    struct store *s auto_(store_close) = open_audit_store(where, e);
    struct buf text auto_buf = BUF_INIT(TEXT_MAX);
    struct jw w = jw_to(&text);

    if (!s)
        return open_error(e);
    struct store_tx *tx auto_(store_tx_free) = store_tx_new();
    add_query(tx, args);
    int r = store_run(s, tx, e);
    if (r < 0)
        return r;
    jw_array(&w);
    for (size_t i = store_tx_n_rows(tx, 0); i > 0; i--) {
        struct store_row row = store_tx_row(tx, 0, i - 1);
        if (row.cols[0].i > args->after)
            native_put_audit(&w, &row);
    }
    jw_end(&w);
    *ret = buf_ok(&text) ? json_parse(a, buf_str(&text), NULL, e) : NULL;
    return *ret ? 0 : -ENOMEM;
}

static int list_there(const struct client_where *where, const struct audit_list_args *args,
                      struct arena *a, struct json **ret, struct err *e)
{
    struct buf target auto_buf = BUF_INIT(16384);

    (void)buf_printf(&target, "/api/v1/audit?after=%" PRId64 "&limit=%" PRId64, args->after,
                     args->limit);
    if (args->account) {
        (void)buf_add_lit(&target, "&account=");
        (void)enc_percent(&target, str_of(args->account));
    }
    if (args->sandbox) {
        (void)buf_add_lit(&target, "&sandbox=");
        (void)enc_percent(&target, str_of(args->sandbox));
    }
    const struct client_request rq = {"GET", buf_cstr(&target), STR_NULL};
    return rq.target ? client_ask(where, a, &rq, ret, e) : err_sys(e, -ENAMETOOLONG, "events");
}

static struct str audit_member(const struct json *event, const char *name)
{
    struct str s = json_str(json_get(event, name), STR(""));

    return s.len > 0 ? s : STR("-");
}

static void put_audit_event(struct buf *out, const struct json *event, bool is_json)
{
    if (is_json) {
        (void)json_write(out, event, JSON_COMPACT);
        (void)buf_add_char(out, '\n');
        return;
    }
    (void)buf_printf(out, "%" PRId64 "  " STR_FMT "  " STR_FMT "  " STR_FMT "  " STR_FMT "\n",
                     json_int(json_get(event, "seq"), 0), STR_ARG(audit_member(event, "at")),
                     STR_ARG(audit_member(event, "account")),
                     STR_ARG(audit_member(event, "reason")),
                     STR_ARG(audit_member(event, "message")));
}

int audit_list(const struct client_where *where, const struct audit_list_args *args,
               struct buf *out, struct err *e)
{
    struct arena arena auto_arena;
    struct json *events = NULL;

    if (args->limit > LIST_MAX)
        return err_set(e, -EINVAL, "the limit is %d events at a time", LIST_MAX);
    arena_init(&arena, ARENA_MAX);
    int r = where->url ? list_there(where, args, &arena, &events, e)
                       : list_here(where, args, &arena, &events, e);
    for (size_t i = 0; r == 0 && json_at(events, i); i++)
        put_audit_event(out, json_at(events, i), args->is_json);
    return r < 0 ? r : out->error;
}
