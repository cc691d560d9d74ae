/* SPDX-License-Identifier: MIT */
/* Bridges, the side of the clients: Streamable HTTP. There are no sessions to keep, because one
 * program serves all; their ids only separate the requests of clients that count alike. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/mem.h"
#include "local/bridge/bridge_internal.h"
#include "local/local.h"
#include "net/http_server.h"
#include "net/sse.h"

enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    HEARTBEAT_MS = 15000,
    SESSION_LEN = 32
};
#define PREFIX "/_stdio/"

struct bridges {
    struct loop *loop;
    const struct local *local;
    struct list list;
    size_t n;
};

const char *bridges_root(const struct bridges *s)
{
    return s->local->root;
}

/* ---- answers ---- */

static void free_pending(struct pending *p)
{
    loop_timer_stop(&p->timer);
    if (p->bridge) {
        list_del(&p->node);
        p->bridge->n_pending--;
    }
    arena_done(&p->arena);
    free(p);
}

static void send_bridge_event(struct sse *s, const struct json *message)
{
    auto_buf struct buf b = BUF_INIT(CHILD_LINE_MAX);

    if (json_write(&b, message, JSON_COMPACT) == 0 && !sse_is_full(s))
        (void)sse_send(s, &(struct sse_event){.data = buf_str(&b)});
}

void pending_send(struct pending *p, const struct json *message)
{
    if (p->sse)
        send_bridge_event(p->sse, message);
}

/* As a whole, or as the last event; then P is gone. */
static void answer_pending(struct pending *p, struct str text)
{
    struct http_req *r = p->req;
    struct sse *s = p->sse;
    char session[SESSION_LEN + 1];
    bool is_hello = str_is(json_str(json_get(p->message, "method"), STR("")), "initialize");

    free_pending(p);
    if (r) {
        id_hex(session, SESSION_LEN);
        if (is_hello)
            (void)http_add_header(r, "Mcp-Session-Id", str_of(session));
        http_reply(r, 200, "application/json", text);
    } else if (s) {
        (void)sse_send(s, &(struct sse_event){.data = text});
        sse_end(s);
    }
}

void pending_reply(struct pending *p, const char *member, const struct json *value)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "jsonrpc");
    jw_cstr(&w, "2.0");
    jw_key(&w, "id");
    jw_value(&w, p->id);
    jw_key(&w, member);
    jw_value(&w, value);
    jw_end(&w);
    answer_pending(p, buf_ok(&b)
                          ? buf_str(&b)
                          : STR("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
                                "\"message\":\"out of memory\"}}"));
}

void pending_fail(struct pending *p, int code, const char *fmt, ...)
{
    struct json *error = json_new_object(&p->arena);
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)json_set(&p->arena, error, "code", json_new_int(&p->arena, code));
    (void)json_set(&p->arena, error, "message", json_new_str(&p->arena, str_of(text)));
    pending_reply(p, "error", error);
}

/* ---- notices of the program ---- */

static void on_listener_gone(struct sse *s, void *ctx)
{
    struct listener *l = ctx;

    (void)s;
    l->bridge->n_listeners--;
    list_del(&l->node);
    free(l);
}

static void listen_to(struct bridge *b, struct http_req *r)
{
    static const struct sse_ops ops = {.on_close = on_listener_gone};
    struct listener *l = b->n_listeners < BRIDGE_LISTENERS_MAX ? mem_zalloc(1, sizeof *l) : NULL;

    if (!l) {
        http_reply(r, 503, "text/plain", STR("too many streams"));
        return;
    }
    l->bridge = b;
    l->sse = sse_start(r, HEARTBEAT_MS, &ops, l);
    if (!l->sse) {
        free(l);
        return;
    }
    list_append(&b->listeners, &l->node);
    b->n_listeners++;
}

void bridge_tell_listeners(struct bridge *b, const struct json *message)
{
    for (struct list *it = b->listeners.next, *next; it != &b->listeners; it = next) {
        next = it->next;
        send_bridge_event(list_entry(it, struct listener, node)->sse, message);
    }
}

/* ---- messages of clients ---- */

static void on_client_gone(struct sse *s, void *ctx)
{
    struct pending *p = ctx;

    (void)s;
    p->sse = NULL; /* the answer will be dropped */
}

/* Progress can only be reported by events. */
static void open_stream(struct pending *p)
{
    static const struct sse_ops ops = {.on_close = on_client_gone};
    struct json *meta = json_pointer(p->message, "/params/_meta");
    const struct json *token = json_get(meta, "progressToken");

    if (!token || !http_header_has(&p->req->head.headers, "accept", "text/event-stream"))
        return;
    p->token = json_copy(&p->arena, token);
    p->sse = sse_start(p->req, HEARTBEAT_MS, &ops, p);
    p->req = NULL;
}

static void refuse_with_rpc(struct http_req *r, int code, const char *text)
{
    http_reply(r, 400, "application/json",
               arena_printf(r->arena,
                            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,"
                            "\"message\":\"%s\"}}",
                            code, text));
}

/* What the query says, as text in A; .p NULL: nothing that can be read. */
static struct str wire_settings_of(struct arena *a, struct str query)
{
    auto_buf struct buf b = BUF_INIT(BRIDGE_SETTINGS_MAX);

    return enc_unbase64(&b, query) == 0 && buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
}

static struct pending *new_pending(struct http_req *r)
{
    struct pending *p = mem_zalloc(1, sizeof *p);

    if (!p) {
        http_reply(r, 500, "text/plain", STR("out of memory"));
        return NULL;
    }
    arena_init(&p->arena, 8 * (size_t)LOCAL_BODY_MAX);
    p->req = r;
    p->message = json_parse(&p->arena, r->body, NULL, NULL);
    p->id = json_copy(&p->arena, json_get(p->message, "id"));
    p->session = arena_str(&p->arena, http_header_get(&r->head.headers, "mcp-session-id"));
    return p;
}

static void on_bridge_body(struct http_req *r, void *ctx)
{
    struct bridge *b = ctx;
    struct pending *p = new_pending(r);

    if (!p)
        return;
    bool is_object = json_is(p->message, JSON_OBJECT);
    bool has_method = json_is(json_get(p->message, "method"), JSON_STRING);
    struct str settings = wire_settings_of(&p->arena, r->head.query);
    if (is_object && has_method && p->id && p->id->type != JSON_NULL && settings.p) {
        open_stream(p);
        p->bridge = b;
        bridge_pass(b, p, settings);
        return;
    }
    bool has_id = p->id != NULL;
    if (is_object && has_method && !has_id)
        bridge_notice(b, p->message, p->session);
    free_pending(p);
    if (!is_object)
        refuse_with_rpc(r, RPC_PARSE_ERROR, "a message is one JSON object");
    else if (has_method && has_id)
        refuse_with_rpc(r, RPC_INVALID_REQUEST, "Invalid request");
    else
        http_reply(r, 202, NULL, STR_NULL);
}

/* ---- which one ---- */

static struct bridge *find_bridge(struct bridges *s, struct str name)
{
    list_each(it, &s->list)
    {
        struct bridge *b = list_entry(it, struct bridge, node);
        if (str_is(name, b->name))
            return b;
    }
    if (s->n == BRIDGE_SERVERS_MAX || name.len == 0 || name.len > BRIDGE_NAME_MAX)
        return NULL;
    struct bridge *b = mem_zalloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->set = s;
    memcpy(b->name, name.p, name.len);
    bridge_init(b, s->loop);
    list_append(&s->list, &b->node);
    s->n++;
    return b;
}

static void reply_log(const struct bridge *b, struct http_req *r)
{
    auto_buf struct buf text = BUF_INIT(CHILD_LOG_MAX), out = BUF_INIT(8 * CHILD_LOG_MAX);

    child_read_log(&b->child, &text);
    (void)buf_add_lit(&out, "{\"log\":");
    (void)json_write_str(&out, buf_str(&text));
    (void)buf_add_char(&out, '}');
    http_reply(r, 200, "application/json", buf_str(&out));
}

bool bridges_serve(struct bridges *s, struct http_req *r)
{
    struct str rest = r->head.path;

    if (!str_starts(rest, STR(PREFIX)))
        return false;
    rest = str_skip(rest, strlen(PREFIX));
    struct str name = str_cut(&rest, '/');
    struct bridge *b = find_bridge(s, name);
    if (!b)
        http_reply(r, 503, "text/plain", STR("too many servers"));
    else if (str_is(rest, "log"))
        reply_log(b, r);
    else if (str_is(rest, "up"))
        http_reply(r, 200, "application/json", STR("{}"));
    else if (r->head.method == HTTP_POST)
        http_read_body(r, LOCAL_BODY_MAX, on_bridge_body, b);
    else if (r->head.method == HTTP_GET)
        listen_to(b, r);
    else
        http_reply(r, r->head.method == HTTP_DELETE ? 200 : 405, NULL, STR_NULL);
    return true;
}

struct bridges *bridges_new(struct loop *loop, const struct local *local)
{
    struct bridges *s = mem_zalloc(1, sizeof *s);

    if (s) {
        s->loop = loop;
        s->local = local;
        list_init(&s->list);
    }
    return s;
}
