/* SPDX-License-Identifier: MIT */
/* Servers, and exchanges from their POST to their answer: see exchange.h. */
#include "mcp/exchange.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "mcp/task.h"
#include "net/http_req.h"

/* ---- servers ---- */

static void fill_exchange_limits(struct mcp_limits *l)
{
    l->max_body = l->max_body ? l->max_body : (size_t)4 << 20;
    l->max_answer = l->max_answer ? l->max_answer : (size_t)8 << 20;
    l->max_sessions = l->max_sessions ? l->max_sessions : 10000;
    l->max_calls = l->max_calls ? l->max_calls : 4096;
    l->session_idle_ms = l->session_idle_ms ? l->session_idle_ms : 3600000;
    l->max_tasks = l->max_tasks ? l->max_tasks : 64;
    l->max_task_bytes = l->max_task_bytes ? l->max_task_bytes : (size_t)32 << 20;
    l->max_task_ttl_ms = l->max_task_ttl_ms ? l->max_task_ttl_ms : 90000000;
    l->task_keep_ms = l->task_keep_ms ? l->task_keep_ms : 900000;
    l->task_grace_ms = l->task_grace_ms ? l->task_grace_ms : 500;
}

struct mcp_server *mcp_server_new(struct loop *loop, const struct mcp_desc *desc, struct err *e)
{
    struct mcp_server *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        (void)err_sys(e, -ENOMEM, "MCP server");
        return NULL;
    }
    if (mcp_table_init(&s->table, desc, e) < 0) {
        free(s);
        return NULL;
    }
    fill_exchange_limits(&s->table.desc.limits);
    s->loop = loop;
    map_init(&s->sessions, s->table.desc.limits.max_sessions);
    map_init(&s->ended, MCP_MAX_ENDED);
    list_init(&s->by_use);
    list_init(&s->exchanges);
    list_init(&s->listeners);
    map_init(&s->tasks, MCP_MAX_TASKS);
    list_init(&s->task_list);
    id_random(s->key, sizeof s->key);
    return s;
}

/* Frees the server when it is dead and nothing is under way. */
static void mcp_server_settle(struct mcp_server *s)
{
    if (!s->is_dead || !list_is_empty(&s->exchanges))
        return;
    loop_timer_stop(&s->sweep);
    mcp_tasks_forget(s, STR_NULL);
    map_done(&s->tasks);
    map_done(&s->sessions);
    map_done(&s->ended);
    mcp_table_done(&s->table);
    mem_wipe(s->key, sizeof s->key);
    free(s);
}

void mcp_server_free(struct mcp_server *s)
{
    if (!s)
        return;
    while (!list_is_empty(&s->by_use))
        mcp_session_free(list_entry(s->by_use.next, struct mcp_session, node));
    while (!list_is_empty(&s->listeners))
        mcp_stream_free(list_entry(s->listeners.next, struct mcp_stream, node));
    list_each(it, &s->exchanges)
    {
        struct mcp_exchange *x = list_entry(it, struct mcp_exchange, node);
        /* Its neighbour may end with it: one at a time, from the first that is left. */
        if (x->is_cancelled)
            continue;
        mcp_exchange_cancel(x);
        it_next = s->exchanges.next;
    }
    /* None of the tasks has a clock any more; what still works is waited for as any call is. */
    list_each(it, &s->task_list) loop_timer_stop(&list_entry(it, struct mcp_task, node)->expiry);
    s->is_dead = true;
    mcp_server_settle(s);
}

size_t mcp_server_n_sessions(const struct mcp_server *s)
{
    return s->sessions.n;
}

/* ---- exchanges ---- */

struct mcp_exchange *mcp_exchange_new(struct mcp_server *s, struct http_req *r,
                                      const struct mcp_scope *scope)
{
    struct mcp_exchange *x = mem_zalloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->server = s;
    x->http = r;
    x->version = MCP_V_UNSAID;
    arena_init(&x->arena, 16 * s->table.desc.limits.max_body);
    x->scope = *scope;
    x->scope.owner = arena_str(&x->arena, scope->owner);
    if (!x->scope.owner.p) {
        arena_done(&x->arena);
        free(x);
        return NULL;
    }
    list_append(&s->exchanges, &x->node);
    list_init(&x->in_session);
    list_init(&x->calls);
    buf_init(&x->out, s->table.desc.limits.max_answer);
    x->n_open = 1;
    return x;
}

void mcp_exchange_join(struct mcp_exchange *x, struct mcp_session *n)
{
    x->session = n;
    x->version = n->version;
    list_append(&n->exchanges, &x->in_session);
}

static void on_exchange_abort(struct http_req *r)
{
    struct mcp_exchange *x = r->abort_ctx;

    /* A session's client may have lost its connection only; without one it is gone. */
    if (!x->session)
        mcp_exchange_cancel(x);
}

static void on_impatience(struct loop_timer *t)
{
    (void)mcp_exchange_stream(container_of(t, struct mcp_exchange, patience));
}

void mcp_exchange_wait(struct mcp_exchange *x)
{
    if (x->n_open == 1 || !x->http)
        return;
    x->http->abort_ctx = x;
    x->http->on_abort = on_exchange_abort;
    if (x->may_stream)
        (void)loop_timer_start(x->server->loop, &x->patience, MCP_HEARTBEAT_MS, on_impatience);
}

struct mcp_stream *mcp_exchange_stream(struct mcp_exchange *x)
{
    if (x->is_pair)
        return x->session ? x->session->main : NULL;
    if (x->stream || !x->http || !x->may_stream)
        return x->stream;
    loop_timer_stop(&x->patience);
    x->stream = mcp_stream_open(x->session, take(x->http));
    if (x->stream)
        x->stream->x = x;
    return x->stream;
}

void mcp_exchange_cancel(struct mcp_exchange *x)
{
    mcp_exchange_hold(x);
    x->is_cancelled = true;
    for (struct list *it = x->calls.next; it != &x->calls;) {
        struct call *c = list_entry(it, struct call, node);
        it = it->next;
        if (c->is_cancelled)
            continue;
        mcp_call_cancel(c);
        /* It may have ended others, too. */
        it = x->calls.next;
    }
    mcp_exchange_drop(x);
}

void mcp_exchange_hold(struct mcp_exchange *x)
{
    x->n_open++;
}

void mcp_exchange_reply(struct mcp_exchange *x, struct str text)
{
    struct http_req *r = take(x->http);

    r->on_abort = NULL;
    if (x->has_new_session && x->session)
        (void)http_add_header(r, "Mcp-Session-Id", str_of(x->session->id));
    if (text.len > 0)
        http_reply(r, x->status ? x->status : 200, "application/json", text);
    else
        http_reply(r, 202, NULL, STR_NULL);
}

static void finish_mcp_exchange(struct mcp_exchange *x)
{
    struct mcp_server *s = x->server;

    loop_timer_stop(&x->patience);
    if (x->stream)
        mcp_stream_finish(x->stream);
    if (x->out.len > 0)
        (void)buf_add_char(&x->out, ']');
    if (x->http)
        mcp_exchange_reply(x, buf_ok(&x->out) ? buf_str(&x->out) : STR_NULL);
    list_del(&x->in_session);
    list_del(&x->node);
    if (x->scope.release)
        x->scope.release(x->scope.ctx);
    buf_done(&x->out);
    arena_done(&x->arena);
    free(x);
    mcp_server_settle(s);
}

void mcp_exchange_drop(struct mcp_exchange *x)
{
    if (--x->n_open == 0)
        finish_mcp_exchange(x);
}
