/* SPDX-License-Identifier: MIT */
/* The opening handshake of WebSockets, both roles (RFC 6455 §4): see ws.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/mem.h"
#include "net/http_server.h"
#include "net/ws_internal.h"
#include "sys/digest.h"

/* ---- what both sides need ---- */

enum { ACCEPT_LEN = 28 }; /* base64 of a SHA-1 */

/* What a server answers to KEY, with a NUL. */
static void accept_of(struct str key, char out[ACCEPT_LEN + 1])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char digest[DIGEST_SHA1_LEN];
    char text[WS_KEY_LEN + sizeof guid];
    struct buf b = {.p = out, .cap = ACCEPT_LEN, .max = ACCEPT_LEN}; /* fits: never moves */

    memcpy(text, key.p, WS_KEY_LEN);
    memcpy(text + WS_KEY_LEN, guid, sizeof guid);
    digest_sha1(digest, str_n(text, sizeof text - 1));
    (void)enc_base64(&b, str_n((char *)digest, sizeof digest));
    out[ACCEPT_LEN] = '\0';
}

/* The only header of that name; .p is NULL when there is none or more than one. */
static struct str only_header(const struct http_headers *h, const char *name)
{
    struct str found = STR_NULL;

    for (size_t i = 0; i < h->n; i++) {
        if (!str_iis(h->items[i].name, name))
            continue;
        if (found.p)
            return STR_NULL;
        found = h->items[i].value;
    }
    return found;
}

static bool is_key(struct str key)
{
    char raw[WS_KEY_LEN];
    struct buf b = {.p = raw, .cap = sizeof raw, .max = sizeof raw};

    return key.len == WS_KEY_LEN && enc_unbase64(&b, key) == 0 && b.len == 16;
}

static void set_protocol(struct ws *w, const char *name)
{
    size_t len = strlen(name);

    if (len <= WS_PROTOCOL_MAX)
        memcpy(w->protocol, name, len + 1);
}

/* ---- the server's side ---- */

bool ws_is_request(const struct http_req *r)
{
    return r->head.method == HTTP_GET && r->head.is_upgrade &&
           http_header_has(&r->head.headers, "Upgrade", "websocket");
}

static struct ws *refuse_upgrade(struct http_req *r, int status, const char *text)
{
    http_reply(r, status, "text/plain", str_of(text));
    return NULL;
}

static void choose_protocol(struct ws *w, const struct http_headers *h)
{
    for (const char *const *p = w->opts.protocols; p && *p && !w->protocol[0]; p++)
        if (http_header_has(h, "Sec-WebSocket-Protocol", *p))
            set_protocol(w, *p);
}

static int add_ws_answer(struct http_req *r, const struct ws *w, struct str key)
{
    char accept[ACCEPT_LEN + 1];

    accept_of(key, accept);
    int e = http_add_header(r, "Upgrade", STR("websocket"));
    if (e == 0)
        e = http_add_header(r, "Sec-WebSocket-Accept", str_of(accept));
    if (e == 0 && w->protocol[0])
        e = http_add_header(r, "Sec-WebSocket-Protocol", str_of(w->protocol));
    return e;
}

struct ws *ws_accept(struct http_req *r, const struct ws_opts *opts)
{
    struct str key = only_header(&r->head.headers, "Sec-WebSocket-Key");
    struct str version = only_header(&r->head.headers, "Sec-WebSocket-Version");

    if (!ws_is_request(r) || !version.p)
        return refuse_upgrade(r, 400, "not a WebSocket request\n");
    if (!str_is(version, "13")) {
        (void)http_add_header(r, "Upgrade", STR("websocket"));
        (void)http_add_header(r, "Sec-WebSocket-Version", STR("13"));
        return refuse_upgrade(r, 426, "WebSocket version 13 only\n");
    }
    if (!is_key(key))
        return refuse_upgrade(r, 400, "bad Sec-WebSocket-Key\n");
    struct ws *w = ws_new(opts, false);
    if (!w)
        return refuse_upgrade(r, 500, "no memory\n");
    choose_protocol(w, &r->head.headers);
    if (add_ws_answer(r, w, key) < 0) {
        free(w);
        return refuse_upgrade(r, 500, "no memory\n");
    }
    struct stream *s = http_upgrade(r, 101, &ws_stream_ops, w);
    if (!s) {
        free(w);
        return NULL;
    }
    ws_start(w, s);
    return w;
}

/* ---- the client's side ---- */

static bool is_offered(const struct ws *w, struct str name)
{
    for (const char *const *p = w->opts.protocols; p && *p; p++)
        if (str_is(name, *p))
            return true;
    return false;
}

/* What is wrong with a 101 response, or NULL. */
static const char *check_answer(struct ws *w, const struct http_headers *h)
{
    char accept[ACCEPT_LEN + 1];
    struct str protocol = http_header_get(h, "Sec-WebSocket-Protocol");

    accept_of(str_n(w->key, WS_KEY_LEN), accept);
    if (!http_header_has(h, "Upgrade", "websocket") || !http_header_has(h, "Connection", "upgrade"))
        return "switched to another protocol";
    if (!str_is(only_header(h, "Sec-WebSocket-Accept"), accept))
        return "bad Sec-WebSocket-Accept";
    if (http_header_get(h, "Sec-WebSocket-Extensions").p)
        return "extension that was not asked for";
    if (protocol.p && (!is_offered(w, protocol) || protocol.len > WS_PROTOCOL_MAX))
        return "subprotocol that was not asked for";
    if (protocol.p) {
        memcpy(w->protocol, protocol.p, protocol.len);
        w->protocol[protocol.len] = '\0';
    }
    return NULL;
}

static void on_upgrade_head(struct http_call *c, void *ctx, const struct http_head *head)
{
    struct ws *w = ctx;
    char status[32];

    (void)snprintf(status, sizeof status, "HTTP status %d", head->status);
    const char *wrong = head->status == 101 ? check_answer(w, &head->headers) : status;
    if (wrong) {
        ws_set_reason(w, WS_CODE_ABNORMAL, str_of(wrong));
        http_call_abort(c);
        ws_end(w);
        return;
    }
    w->call = NULL;
    ws_start(w, http_call_upgrade(c, &ws_stream_ops, w));
    if (w->opts.ops->on_open)
        w->opts.ops->on_open(w, w->opts.ctx);
}

static int on_upgrade_body(struct http_call *c, void *ctx, const char *p, size_t len)
{
    (void)c, (void)ctx, (void)p, (void)len;
    return -EPROTO; /* never: the head ends the call */
}

static void on_upgrade_end(struct http_call *c, void *ctx, int result, const char *why)
{
    struct ws *w = ctx;

    (void)c, (void)result;
    ws_set_reason(w, WS_CODE_ABNORMAL, str_of(why));
    ws_end(w);
}

static const struct http_call_ops handshake_ops = {
    .on_head = on_upgrade_head,
    .on_data = on_upgrade_body,
    .on_end = on_upgrade_end,
};

static void make_key(struct ws *w)
{
    char raw[16];
    struct buf b = {.p = w->key, .cap = WS_KEY_LEN, .max = WS_KEY_LEN};

    id_random(raw, sizeof raw);
    (void)enc_base64(&b, str_n(raw, sizeof raw));
}

/* "a, b" of what the client offers. */
static int join_protocols(struct buf *out, const char *const *protocols)
{
    for (const char *const *p = protocols; p && *p; p++)
        (void)buf_printf(out, "%s%s", out->len ? ", " : "", *p);
    return out->error;
}

struct ws *ws_connect(struct http_client *c, const struct http_request *req,
                      const struct ws_opts *opts, struct err *e)
{
    struct buf protocols auto_buf = BUF_INIT(4096);
    struct http_request full = *req;
    auto_free struct http_header *headers = mem_zalloc(req->n_headers + 3, sizeof *headers);
    struct ws *w = headers ? ws_new(opts, true) : NULL;
    size_t n = req->n_headers;

    if (!w || join_protocols(&protocols, opts->protocols) < 0) {
        free(w);
        if (req->fd > 0)
            (void)close(req->fd);
        (void)err_sys(e, -ENOMEM, "WebSocket");
        return NULL;
    }
    make_key(w);
    for (size_t i = 0; i < n; i++)
        headers[i] = req->headers[i];
    headers[n++] = (struct http_header){STR("Sec-WebSocket-Key"), str_n(w->key, WS_KEY_LEN)};
    headers[n++] = (struct http_header){STR("Sec-WebSocket-Version"), STR("13")};
    if (protocols.len)
        headers[n++] = (struct http_header){STR("Sec-WebSocket-Protocol"), buf_str(&protocols)};
    full.method = STR("GET");
    full.upgrade = "websocket";
    full.headers = headers;
    full.n_headers = n;
    full.body = STR_NULL;
    full.is_streamed = false;
    w->abort_call = http_call_abort;
    w->call = http_client_call(c, &full, &handshake_ops, w, e);
    if (w->call)
        return w;
    free(w);
    return NULL;
}
