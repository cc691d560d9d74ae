/* SPDX-License-Identifier: MIT */
/* Streamable HTTP: see http.h. */
#include "mcp/http.h"

#include <errno.h>

#include "base/cleanup.h"
#include "mcp/exchange.h"
#include "net/http_req.h"

enum {
    ERROR_MAX = 16 << 10,
    DEPTH_MAX = 64,
    VALUES_MAX = 500000 /* of a message: what the loop's thread reads in some 20 ms */
};

static void release_scope(const struct mcp_scope *scope)
{
    if (scope->release)
        scope->release(scope->ctx);
}

/* An error that belongs to no call. */
static void refuse_post(struct http_req *r, int status, int code, const char *message)
{
    struct buf b auto_buf = BUF_INIT(ERROR_MAX);

    mcp_write_error(&b, STR("null"), code, str_of(message), STR_NULL);
    http_reply(r, status, "application/json", buf_ok(&b) ? buf_str(&b) : STR_NULL);
}

static struct str find_header(const struct http_req *r, const char *name)
{
    return http_header_get(&r->head.headers, name);
}

static bool accepts(const struct http_req *r, struct str type)
{
    struct str accept = find_header(r, "accept");

    return !accept.p || str_find(accept, type) >= 0 || str_find(accept, STR("*/*")) >= 0;
}

/* ---- messages ---- */

/* Ends X's HTTP request with an error of its own, 400 unless X says otherwise. */
static void fail_exchange(struct mcp_exchange *x, struct str id, const struct mcp_fault *f)
{
    struct buf b auto_buf = BUF_INIT(ERROR_MAX);

    mcp_write_error(&b, id, f->code, str_of(f->message), f->data);
    if (x->is_batch) {
        (void)buf_add_char(&x->out, x->out.len > 0 ? ',' : '[');
        (void)buf_add_str(&x->out, buf_str(&b));
        return;
    }
    x->status = x->status ? x->status : 400;
    if (x->http)
        mcp_exchange_reply(x, buf_ok(&b) ? buf_str(&b) : STR_NULL);
}

static void cancel_call(struct mcp_session *n, const struct json *id)
{
    struct buf text auto_buf = BUF_INIT(MCP_MAX_ID);

    if (json_write(&text, id, JSON_COMPACT) < 0)
        return;
    list_each(it, &n->exchanges)
    {
        struct mcp_exchange *x = list_entry(it, struct mcp_exchange, in_session);
        list_each(c_it, &x->calls)
        {
            struct call *c = list_entry(c_it, struct call, node);
            if (str_eq(c->id, buf_str(&text)) && !c->is_cancelled) {
                mcp_call_cancel(c);
                return;
            }
        }
    }
}

static void notified(struct mcp_exchange *x, const struct json *message)
{
    const struct json *id = json_get(json_get(message, "params"), "requestId");

    if (str_is(json_str(json_get(message, "method"), STR_NULL), "notifications/cancelled") && id &&
        x->session)
        cancel_call(x->session, id);
}

void mcp_exchange_take(struct mcp_exchange *x, const struct json *message)
{
    struct mcp_fault f = {.code = MCP_INVALID_REQUEST, .message = "Invalid Request"};
    struct str id;

    switch (mcp_classify(&x->arena, message, &id)) {
    case MCP_REQUEST:
        if (mcp_is_modern(x) && mcp_check_modern(x->server, x->http, &x->arena, message, &f) < 0)
            fail_exchange(x, id, &f);
        else
            mcp_call_start(x, message, id);
        break;
    case MCP_NOTIFICATION: notified(x, message); break;
    case MCP_RESPONSE:
        if (x->session)
            mcp_ask_answered(x->session, message);
        break;
    case MCP_MALFORMED: fail_exchange(x, id, &f); break;
    }
}

static void take_batch(struct mcp_exchange *x, const struct json *all)
{
    struct mcp_fault f = {.code = MCP_INVALID_REQUEST, .message = "batches are not supported"};

    if (x->version > MCP_V_2025_03_26 || all->n == 0 || all->n > MCP_MAX_BATCH) {
        fail_exchange(x, STR("null"), &f);
        return;
    }
    x->is_batch = true;
    for (size_t i = 0; i < all->n; i++)
        mcp_exchange_take(x, &all->items[i]);
}

struct json *mcp_exchange_parse(struct mcp_exchange *x, struct str body)
{
    const struct json_limits limits = {.max_depth = DEPTH_MAX,
                                       .max_bytes = x->server->table.desc.limits.max_body,
                                       .max_values = VALUES_MAX};
    struct mcp_fault f = {.code = MCP_PARSE_ERROR, .message = "Parse error"};
    struct json *v = json_parse(&x->arena, body, &limits, NULL);

    if (!v)
        fail_exchange(x, STR("null"), &f);
    return v;
}

/* ---- POST ---- */

/* Finds the wire and the session of X; false after answering. */
static bool find_wire(struct mcp_exchange *x, const struct json *message)
{
    struct mcp_fault f = {.code = MCP_NO_SESSION, .message = "Session not found"};
    struct str id = find_header(x->http, "mcp-session-id");

    if (mcp_looks_modern(x->http, message)) {
        x->version = MCP_V_2026_07_28;
        return true;
    }
    enum mcp_version v = mcp_version_of(find_header(x->http, "mcp-protocol-version"));
    x->version = v < MCP_V_COUNT ? v : MCP_V_UNSAID;
    if (!id.p || x->server->table.desc.is_stateless)
        return true;
    struct mcp_session *n = mcp_session_resume(x->server, id, x->scope.owner);
    if (n) {
        mcp_exchange_join(x, n);
        return true;
    }
    x->status = 404;
    fail_exchange(x, STR("null"), &f);
    return false;
}

static void answer_post(struct mcp_exchange *x)
{
    struct json *message = mcp_exchange_parse(x, x->http->body);

    if (!message || !find_wire(x, message))
        return;
    /* A client that takes nothing but events gets them from the start. */
    if (!accepts(x->http, STR("application/json")) && json_get(message, "id") && !mcp_is_modern(x))
        (void)mcp_exchange_stream(x);
    if (message->type == JSON_ARRAY && !mcp_is_modern(x))
        take_batch(x, message);
    else
        mcp_exchange_take(x, message);
}

static void handle_post(struct mcp_server *s, struct http_req *r, const struct mcp_scope *scope)
{
    bool may_stream = accepts(r, STR("text/event-stream"));

    if (!may_stream && !accepts(r, STR("application/json"))) {
        refuse_post(r, 406, MCP_SERVER_ERROR, "Not Acceptable: send JSON or text/event-stream");
        release_scope(scope);
        return;
    }
    if (!str_starts(find_header(r, "content-type"), STR("application/json"))) {
        refuse_post(r, 415, MCP_SERVER_ERROR, "Content-Type must be application/json");
        release_scope(scope);
        return;
    }
    struct mcp_exchange *x = mcp_exchange_new(s, r, scope);
    if (!x) {
        refuse_post(r, 503, MCP_SERVER_ERROR, "no memory");
        release_scope(scope);
        return;
    }
    x->may_stream = may_stream;
    answer_post(x);
    mcp_exchange_wait(x);
    mcp_exchange_drop(x);
}

/* ---- GET and DELETE ---- */

static struct mcp_session *session_of(struct mcp_server *s, struct http_req *r,
                                      const struct mcp_scope *scope)
{
    struct str id = find_header(r, "mcp-session-id");

    if (!id.p) {
        (void)http_add_header(r, "Allow", STR("POST"));
        refuse_post(r, 405, MCP_SERVER_ERROR, "Method not allowed without a session");
        return NULL;
    }
    struct mcp_session *n = mcp_session_resume(s, id, scope->owner);
    if (!n || n->is_pair) {
        refuse_post(r, 404, MCP_NO_SESSION, "Session not found");
        return NULL;
    }
    return n;
}

static void handle_get(struct mcp_server *s, struct http_req *r, const struct mcp_scope *scope)
{
    struct mcp_session *n = session_of(s, r, scope);
    uint32_t after = 0;

    if (!n)
        return;
    if (!accepts(r, STR("text/event-stream"))) {
        refuse_post(r, 406, MCP_SERVER_ERROR, "Not Acceptable: send text/event-stream");
        return;
    }
    struct str last = find_header(r, "last-event-id");
    struct mcp_stream *t = last.p ? mcp_stream_find(n, last, &after) : NULL;
    if (t) {
        mcp_stream_resume(t, r, after);
        return;
    }
    if (n->main)
        mcp_stream_free(n->main);
    n->main = mcp_stream_open(n, r);
}

static void handle_delete(struct mcp_server *s, struct http_req *r, const struct mcp_scope *scope)
{
    struct mcp_session *n = session_of(s, r, scope);

    if (!n)
        return;
    mcp_session_end(n);
    http_reply(r, 204, NULL, STR_NULL);
}

void mcp_http(struct mcp_server *s, struct http_req *r, const struct mcp_scope *scope)
{
    if (!mcp_origin_is_allowed(r, &s->table.desc)) {
        refuse_post(r, 403, MCP_SERVER_ERROR, "requests from this origin are not allowed");
        release_scope(scope);
        return;
    }
    if (r->head.method == HTTP_POST) {
        handle_post(s, r, scope);
        return;
    }
    if (r->head.method == HTTP_GET)
        handle_get(s, r, scope);
    else if (r->head.method == HTTP_DELETE)
        handle_delete(s, r, scope);
    else {
        (void)http_add_header(r, "Allow", STR("GET, POST, DELETE"));
        refuse_post(r, 405, MCP_SERVER_ERROR, "Method not allowed");
    }
    release_scope(scope);
}

/* ---- the older pair ---- */

static void send_endpoint(struct mcp_session *n, struct str messages)
{
    struct buf b auto_buf = BUF_INIT(ERROR_MAX);

    (void)buf_add_str(&b, messages);
    (void)buf_add_char(&b, str_chr(messages, '?') < 0 ? '?' : '&');
    (void)buf_printf(&b, "sessionId=%s", n->id);
    if (buf_ok(&b))
        mcp_stream_send(n->main, STR("endpoint"), buf_str(&b));
}

void mcp_http_sse(struct mcp_server *s, struct http_req *r, const struct mcp_scope *scope,
                  struct str messages)
{
    const struct mcp_hello hello = {.version = MCP_V_2024_11_05};
    struct mcp_session *n = NULL;

    if (!mcp_origin_is_allowed(r, &s->table.desc))
        refuse_post(r, 403, MCP_SERVER_ERROR, "requests from this origin are not allowed");
    else if (!(n = mcp_session_new(s, scope->owner, &hello)))
        refuse_post(r, 503, MCP_SERVER_ERROR, "too many sessions");
    release_scope(scope);
    if (!n)
        return;
    n->is_pair = true;
    n->main = mcp_stream_open(n, r);
    if (n->main)
        send_endpoint(n, messages);
    else
        mcp_session_free(n);
}

void mcp_http_messages(struct mcp_server *s, struct http_req *r, const struct mcp_scope *scope)
{
    struct str id = http_query_get(r->arena, r->head.query, "sessionId");
    struct mcp_session *n = mcp_session_find(s, id, scope->owner);
    struct mcp_exchange *x = NULL;

    if (!mcp_origin_is_allowed(r, &s->table.desc))
        refuse_post(r, 403, MCP_SERVER_ERROR, "requests from this origin are not allowed");
    else if (!n || !n->is_pair)
        refuse_post(r, 404, MCP_NO_SESSION, "Session not found");
    else if (!(x = mcp_exchange_new(s, r, scope)))
        refuse_post(r, 503, MCP_SERVER_ERROR, "no memory");
    if (!x) {
        release_scope(scope);
        return;
    }
    struct json *message = mcp_exchange_parse(x, r->body);
    if (message) {
        x->is_pair = true;
        mcp_exchange_join(x, n);
        mcp_exchange_reply(x, STR_NULL);
        if (message->type == JSON_ARRAY)
            take_batch(x, message);
        else
            mcp_exchange_take(x, message);
    }
    mcp_exchange_drop(x);
}
