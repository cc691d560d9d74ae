/* SPDX-License-Identifier: MIT */
/* Streams of events. One of a session outlives its connection: what was sent is kept within bounds,
 * so that a client that comes back with the id of the last event that it saw gets the rest. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "mcp/exchange.h"
#include "net/http_req.h"

struct stream_event {
    struct list node;
    uint32_t seq;
    size_t len;
    char text[];
};

/* ---- what is kept ---- */

static void drop_oldest_event(struct mcp_stream *t)
{
    struct stream_event *ev = list_entry(list_pop(&t->events), struct stream_event, node);

    t->n_events--;
    t->session->kept -= ev->len;
    free(ev);
}

static bool is_over_limits(const struct mcp_session *n)
{
    return n->kept > MCP_MAX_KEPT || n->n_streams > MCP_MAX_STREAMS;
}

/* Forgets streams that are complete, the oldest first, while the session keeps too much. */
static void forget_done(struct mcp_session *n)
{
    list_each(it, &n->streams)
    {
        struct mcp_stream *t = list_entry(it, struct mcp_stream, node);
        if (!is_over_limits(n))
            return;
        if (t->is_done && !t->sse)
            mcp_stream_free(t);
    }
}

static void keep_event(struct mcp_stream *t, uint32_t seq, struct str text)
{
    struct mcp_session *n = t->session;
    struct stream_event *ev = text.len <= MCP_MAX_KEPT ? mem_alloc(sizeof *ev + text.len) : NULL;

    if (!ev)
        return;
    ev->seq = seq;
    ev->len = text.len;
    memcpy(ev->text, text.p, text.len);
    list_append(&t->events, &ev->node);
    t->n_events++;
    n->kept += text.len;
    forget_done(n);
    while (t->n_events > 1 && (t->n_events > MCP_MAX_EVENTS || n->kept > MCP_MAX_KEPT))
        drop_oldest_event(t);
}

/* ---- connections ---- */

static void on_sse_stream_close(struct sse *sse, void *ctx)
{
    struct mcp_stream *t = ctx;
    struct mcp_session *n = t->session;

    (void)sse;
    t->sse = NULL;
    if (n && n->is_pair) {
        mcp_session_free(n);
        return;
    }
    if (n)
        return;
    if (t->x)
        mcp_exchange_cancel(t->x);
    else
        mcp_stream_free(t);
}

static const struct sse_ops ops = {.on_close = on_sse_stream_close};

static void send_stream_event(struct mcp_stream *t, struct str event, uint32_t seq, struct str text)
{
    char id[32];
    struct sse_event ev = {.event = event, .data = text};

    if (!t->sse)
        return;
    if (t->session && !t->session->is_pair) {
        (void)snprintf(id, sizeof id, "%" PRIu32 "-%" PRIu32, t->id, seq);
        ev.id = str_of(id);
        ev.retry_ms = seq == 0 ? MCP_RETRY_MS : 0;
    }
    (void)sse_send(t->sse, &ev);
}

struct mcp_stream *mcp_stream_open(struct mcp_session *n, struct http_req *r)
{
    struct mcp_stream *t = mem_zalloc(1, sizeof *t);

    if (!t) {
        http_reply(r, 500, NULL, STR_NULL);
        return NULL;
    }
    list_init(&t->node);
    list_init(&t->events);
    map_init(&t->uris, MCP_MAX_SUBSCRIBED);
    map_init(&t->task_ids, MCP_MAX_SUBSCRIBED);
    t->sse = sse_start(r, MCP_HEARTBEAT_MS, &ops, t);
    if (!t->sse) {
        free(t);
        return NULL;
    }
    t->next = 1;
    if (!n)
        return t;
    t->session = n;
    t->id = ++n->next_stream;
    list_append(&n->streams, &t->node);
    n->n_streams++;
    forget_done(n);
    /* An event without data gives the id to come back with. */
    if (n->version >= MCP_V_2025_11_25 && !n->is_pair)
        send_stream_event(t, STR_NULL, 0, STR(""));
    return t;
}

void mcp_stream_resume(struct mcp_stream *t, struct http_req *r, uint32_t after)
{
    if (t->sse)
        sse_end(take(t->sse));
    t->sse = sse_start(r, MCP_HEARTBEAT_MS, &ops, t);
    if (!t->sse)
        return;
    list_each(it, &t->events)
    {
        struct stream_event *ev = list_entry(it, struct stream_event, node);
        if (ev->seq > after)
            send_stream_event(t, STR_NULL, ev->seq, str_n(ev->text, ev->len));
    }
    if (t->is_done)
        sse_end(take(t->sse));
}

/* ---- sending ---- */

void mcp_stream_send(struct mcp_stream *t, struct str event, struct str text)
{
    uint32_t seq = t->next++;

    if (t->session && !t->session->is_pair)
        keep_event(t, seq, text);
    send_stream_event(t, event, seq, text);
}

bool mcp_stream_is_full(const struct mcp_stream *t)
{
    return t->sse && sse_is_full(t->sse);
}

void mcp_stream_finish(struct mcp_stream *t)
{
    t->is_done = true;
    t->x = NULL;
    if (t->sse)
        sse_end(take(t->sse));
    if (!t->session)
        mcp_stream_free(t);
    else
        forget_done(t->session);
}

void mcp_stream_hang_up(struct mcp_stream *t, int64_t retry_ms)
{
    const struct sse_event ev = {.retry_ms = retry_ms};

    if (!t->sse || !t->session || t->session->is_pair)
        return;
    (void)sse_send(t->sse, &ev);
    sse_end(take(t->sse));
}

void mcp_stream_free(struct mcp_stream *t)
{
    struct mcp_session *n = t->session;

    if (t->sse)
        sse_end(take(t->sse));
    if (n) {
        while (t->n_events > 0)
            drop_oldest_event(t);
        n->n_streams--;
        if (n->main == t)
            n->main = NULL;
    }
    list_del(&t->node);
    if (t->owner)
        t->server->n_listeners--;
    free(t->owner);
    free((void *)(uintptr_t)t->subscription.p);
    map_done(&t->uris);
    map_done(&t->task_ids);
    free(t);
}

struct mcp_stream *mcp_stream_find(struct mcp_session *n, struct str text, uint32_t *ret_seq)
{
    uint64_t id, seq;
    struct str first = str_cut(&text, '-');

    if (str_to_u64(first, &id) < 0 || str_to_u64(text, &seq) < 0 || seq > UINT32_MAX)
        return NULL;
    list_each(it, &n->streams)
    {
        struct mcp_stream *t = list_entry(it, struct mcp_stream, node);
        if (t->id == id) {
            *ret_seq = (uint32_t)seq;
            return t;
        }
    }
    return NULL;
}
