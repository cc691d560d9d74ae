/* SPDX-License-Identifier: MIT */
/* Requests and responses of the HTTP client: see http_client.h and http_client_internal.h.
 *
 * A call ends once: by complete_response(), call_fail() or call_lost(), which call on_end(), or by
 * http_call_abort(), after which nothing is called any more. Any callback may abort the call that
 * it is called for; so callbacks run between enter_call() and leave_call(), and the memory goes
 * with the outermost of these.
 *
 * A kept connection may be closed by the server at the moment when the next request is on its way.
 * Such a request is sent again, once, on a new connection: only when nothing of a response came,
 * and only where that cannot do something twice (is_idempotent(), and no streamed body, of which
 * the beginning is gone). `out` and `body` are kept for that long. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/http_chars.h"
#include "net/http_client_internal.h"
#include "net/splice.h"

enum {
    ARENA_MAX = 1 << 20,
    OUT_MAX = 4 << 20, /* a request's head, and body bytes written before the connection is made */
    INFOS_MAX = 16,    /* 1xx responses to one request */
    BODY_IOV = 3,
};

/* ---- the end of a call ---- */

static void free_call(struct http_call *c)
{
    list_del(&c->in_calls);
    c->client->n_calls--;
    if (c->dispose)
        c->dispose(c->ctx);
    buf_done(&c->out);
    arena_done(&c->arena);
    free(c);
}

/* Callbacks run between enter_call() and leave_call(), which frees a call that one of them ended.
 */
static void enter_call(struct http_call *c)
{
    c->depth++;
}

/* True while the call goes on. */
static bool leave_call(struct http_call *c)
{
    if (--c->depth > 0 || !c->is_over)
        return !c->is_over;
    free_call(c);
    return false;
}

static void finish_http_call(struct http_call *c, int result, const char *why)
{
    enter_call(c);
    c->is_over = true;
    c->ops->on_end(c, c->ctx, result, why);
    (void)leave_call(c);
}

void call_fail(struct http_call *c, int error, const char *why)
{
    conn_release(c, false);
    finish_http_call(c, error, why);
}

void http_call_abort(struct http_call *c)
{
    if (c->is_over)
        return;
    enter_call(c);
    c->is_over = true;
    conn_release(c, false);
    (void)leave_call(c);
}

static void complete_response(struct http_call *c, bool is_clean)
{
    bool is_reusable = is_clean && c->is_out_done && c->head.is_keep_alive &&
                       c->framing != FRAMING_CLOSE && stream_queued(c->conn->stream) == 0;

    if (c->is_paused && is_reusable)
        stream_resume(c->conn->stream);
    conn_release(c, is_reusable);
    finish_http_call(c, 0, "");
}

void call_lost(struct http_call *c, int reason, const char *why)
{
    struct err e = ERR_INIT;

    if (c->may_retry && !c->has_byte && !why) {
        c->may_retry = false;
        c->client->retries++;
        if (!conn_get(c, 0, true, &e))
            finish_http_call(c, e.code ? e.code : -EIO, err_text(&e));
        return;
    }
    if (reason == 0)
        reason = -ECONNRESET;
    if (!why) {
        (void)err_sys(&e, reason, c->has_head ? "response body" : "response head");
        why = err_text(&e);
    }
    finish_http_call(c, reason, why);
}

/* ---- the request's head ---- */

static bool is_method_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!http_is_token(s.p[i]))
            return false;
    return s.len > 0;
}

static bool is_target(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!http_is_target(s.p[i]))
            return false;
    return s.len > 0;
}

static bool is_value(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (http_is_ctl(s.p[i]))
            return false;
    return true;
}

/* Headers that the client makes itself. */
static bool is_own_header(struct str name)
{
    static const struct str names[] = {STR_INIT("host"), STR_INIT("connection"),
                                       STR_INIT("upgrade"), STR_INIT("content-length"),
                                       STR_INIT("transfer-encoding")};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_ieq(name, names[i]))
            return true;
    return false;
}

static int check_call_request(const struct http_request *req, struct err *e)
{
    if (!req->address && req->fd <= 0)
        return err_set(e, -EINVAL, "request without an address");
    if (!is_method_token(req->method))
        return err_set(e, -EINVAL, "bad request method");
    if (!is_target(req->target) || !is_value(req->host))
        return err_set(e, -EINVAL, "bad request target or host");
    if (req->upgrade && !is_value(str_of(req->upgrade)))
        return err_set(e, -EINVAL, "bad upgrade");
    if (req->is_streamed && req->length < -1)
        return err_set(e, -EINVAL, "bad length");
    for (size_t i = 0; i < req->n_headers; i++) {
        const struct http_header *h = &req->headers[i];
        if (!is_method_token(h->name) || is_own_header(h->name) || !is_value(h->value))
            return err_set(e, -EINVAL, "bad header '" STR_FMT "'",
                           (int)(h->name.len < 64 ? h->name.len : 64), h->name.p);
    }
    return 0;
}

static enum http_method call_method_of(struct str s)
{
    int m = HTTP_GET;

    while (m < HTTP_OTHER && !str_is(s, http_method_name((enum http_method)m)))
        m++;
    return (enum http_method)m;
}

static bool is_idempotent(enum http_method m)
{
    return m == HTTP_GET || m == HTTP_HEAD || m == HTTP_PUT || m == HTTP_DELETE ||
           m == HTTP_OPTIONS;
}

static void add_framing(struct http_call *c, const struct http_request *req)
{
    bool wants_body = c->method == HTTP_POST || c->method == HTTP_PUT || c->method == HTTP_PATCH;

    if (c->is_out_chunked)
        (void)buf_add_lit(&c->out, "Transfer-Encoding: chunked\r\n");
    else if (c->is_streamed || req->body.len || wants_body)
        (void)buf_printf(&c->out, "Content-Length: %" PRId64 "\r\n",
                         c->is_streamed ? req->length : (int64_t)req->body.len);
}

/* Host when the caller gives none: a unix socket has no name of its own. */
static struct str default_host_of(const struct http_request *req)
{
    struct str address = str_of(req->address);

    if (req->host.len)
        return req->host;
    return address.len == 0 || str_starts(address, STR("unix:")) ? STR("localhost") : address;
}

static int write_request_head(struct http_call *c, const struct http_request *req)
{
    struct str host = default_host_of(req);

    (void)buf_add_str(&c->out, req->method);
    (void)buf_add_char(&c->out, ' ');
    (void)buf_add_str(&c->out, req->target);
    (void)buf_add_lit(&c->out, " HTTP/1.1\r\nHost: ");
    (void)buf_add_str(&c->out, host);
    (void)buf_add_lit(&c->out, "\r\n");
    for (size_t i = 0; i < req->n_headers; i++) {
        (void)buf_add_str(&c->out, req->headers[i].name);
        (void)buf_add_lit(&c->out, ": ");
        (void)buf_add_str(&c->out, req->headers[i].value);
        (void)buf_add_lit(&c->out, "\r\n");
    }
    add_framing(c, req);
    if (req->upgrade)
        (void)buf_printf(&c->out, "Connection: Upgrade\r\nUpgrade: %s\r\n", req->upgrade);
    else if (!req->address)
        (void)buf_add_lit(&c->out, "Connection: close\r\n");
    return buf_add_lit(&c->out, "\r\n");
}

/* ---- starting ---- */

static struct http_call *make_http_call(struct http_client *client, const struct http_request *req)
{
    struct http_call *c = mem_zalloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->client = client;
    list_init(&c->in_calls);
    list_append(&client->calls, &c->in_calls);
    client->n_calls++;
    arena_init(&c->arena, ARENA_MAX + 4 * client->opts.limits.max_head);
    buf_init(&c->out, OUT_MAX);
    c->method = call_method_of(req->method);
    c->body = req->body;
    c->is_streamed = req->is_streamed;
    c->is_out_chunked = req->is_streamed && req->length < 0;
    c->out_left = req->is_streamed ? req->length : 0;
    c->is_out_done = !req->is_streamed;
    c->is_held = req->is_streamed && req->is_held;
    c->wants_upgrade = req->upgrade != NULL;
    c->address = req->address ? arena_strdup(&c->arena, req->address) : NULL;
    if ((req->address && !c->address) || write_request_head(c, req) < 0) {
        free_call(c);
        return NULL;
    }
    return c;
}

struct http_call *http_client_call(struct http_client *client, const struct http_request *req,
                                   const struct http_call_ops *ops, void *ctx, struct err *e)
{
    auto_close int fd = req->fd > 0 ? req->fd : -1;

    if (check_call_request(req, e) < 0)
        return NULL;
    struct http_call *c = make_http_call(client, req);
    if (!c) {
        (void)err_sys(e, -ENOMEM, "request");
        return NULL;
    }
    c->ops = ops;
    c->ctx = ctx;
    if (!conn_get(c, take_fd(fd), false, e)) {
        free_call(c);
        return NULL;
    }
    c->may_retry = c->conn->is_reused && is_idempotent(c->method) && !c->is_streamed;
    if (c->conn->stream)
        call_connected(c, false);
    return c;
}

static bool is_sending(const struct http_call *c)
{
    return !c->is_out_done || stream_queued(c->conn->stream) > 0;
}

static void await_head(struct http_call *c)
{
    c->was_sending = is_sending(c);
    stream_set_timeout(c->conn->stream, c->client->opts.timeouts.head_ms);
}

/* A write that fails closes the stream a little later, which ends the call. */
static void send_request(struct http_call *c)
{
    struct iovec iov[2] = {{c->out.p, c->out.len}, {(void *)(uintptr_t)c->body.p, c->body.len}};

    c->is_held = false;
    (void)stream_writev(c->conn->stream, iov, c->body.len ? 2 : 1);
    if (!c->may_retry)
        buf_done(&c->out);
    await_head(c);
}

void call_connected(struct http_call *c, bool is_late)
{
    if (!buf_ok(&c->out)) {
        call_fail(c, c->out.error, "request body written before the connection was made");
        return;
    }
    if (!c->is_held)
        send_request(c);
    if (c->is_paused)
        stream_pause(c->conn->stream);
    if (is_late && !c->is_out_done)
        call_drained(c);
}

/* ---- the request's body ---- */

/* The head that was held, together with the first parts of the body. */
static int write_first(struct http_call *c, const struct iovec *iov, int n)
{
    struct iovec all[BODY_IOV + 1] = {{c->out.p, c->out.len}};

    for (int i = 0; i < n; i++)
        all[i + 1] = iov[i];
    c->is_held = false;
    int r = stream_writev(c->conn->stream, all, n + 1);
    buf_done(&c->out);
    await_head(c);
    return r;
}

static int write_parts(struct http_call *c, const struct iovec *iov, int n)
{
    if (!c->conn)
        return -EPIPE;
    if (c->conn->stream)
        return (c->is_held ? write_first(c, iov, n) : stream_writev(c->conn->stream, iov, n)) < 0
                   ? -EPIPE
                   : 0;
    c->is_held = false;
    for (int i = 0; i < n; i++)
        (void)buf_add(&c->out, iov[i].iov_base, iov[i].iov_len);
    return c->out.error;
}

int http_call_write(struct http_call *c, const void *p, size_t len)
{
    char line[24];

    if (c->is_over || c->is_out_done)
        return -EPIPE;
    if (len == 0)
        return 0;
    if (!c->is_out_chunked) {
        if (len > (uint64_t)c->out_left)
            return -EMSGSIZE;
        c->out_left -= (int64_t)len;
        return write_parts(c, &(struct iovec){(void *)(uintptr_t)p, len}, 1);
    }
    int n = snprintf(line, sizeof line, "%zx\r\n", len);
    struct iovec iov[BODY_IOV] = {
        {line, (size_t)n}, {(void *)(uintptr_t)p, len}, {line + n - 2, 2}};
    return write_parts(c, iov, 3);
}

ssize_t http_call_splice(struct http_call *c, int from, size_t max)
{
    if (c->is_over || c->is_out_done || c->is_out_chunked || !c->conn || !c->conn->stream)
        return -EOPNOTSUPP;
    if (c->is_held)
        send_request(c);
    if (max > (uint64_t)c->out_left)
        max = (size_t)c->out_left;
    ssize_t n = max > 0 ? splice_to(c->conn->stream, from, max) : -EOPNOTSUPP;
    c->out_left -= n > 0 ? n : 0;
    return n;
}

bool http_call_is_full(const struct http_call *c)
{
    return !c->conn || !c->conn->stream || stream_is_full(c->conn->stream);
}

int http_call_end(struct http_call *c)
{
    char last[] = "0\r\n\r\n";
    int r = 0;

    if (c->is_over || c->is_out_done)
        return -EPIPE;
    if (c->out_left > 0)
        return -EINVAL;
    c->is_out_done = true;
    if (c->is_out_chunked)
        r = write_parts(c, &(struct iovec){last, sizeof last - 1}, 1);
    if (c->conn && c->conn->stream && !c->has_head)
        await_head(c);
    return r;
}

void call_drained(struct http_call *c)
{
    if (!c->ops->on_drain || c->is_out_done)
        return;
    enter_call(c);
    c->ops->on_drain(c, c->ctx);
    (void)leave_call(c);
}

/* ---- time ---- */

/* Waiting that the other side is not to blame for: our caller paused, or the request was still
 * being sent when the time began to run (output that stalls is the stream's business). */
static bool is_excused(struct http_call *c)
{
    bool was_sending = c->was_sending;

    c->was_sending = is_sending(c);
    return c->is_paused || c->was_sending || was_sending;
}

static int64_t call_timeout_of(const struct http_call *c)
{
    return c->has_head ? c->client->opts.timeouts.idle_ms : c->client->opts.timeouts.head_ms;
}

void call_timeout(struct http_call *c)
{
    if (is_excused(c))
        stream_set_timeout(c->conn->stream, call_timeout_of(c));
    else
        call_fail(c, -ETIMEDOUT, c->has_head ? "response body: timed out" : "response: timed out");
}

/* ---- the response ---- */

void http_call_pause(struct http_call *c)
{
    c->is_paused = true;
    if (c->conn && c->conn->stream)
        stream_pause(c->conn->stream);
}

void http_call_resume(struct http_call *c)
{
    c->is_paused = false;
    if (c->conn && c->conn->stream)
        stream_resume(c->conn->stream);
}

struct stream *http_call_upgrade(struct http_call *c, const struct stream_ops *ops, void *ctx)
{
    struct client_conn *conn = take(c->conn);
    struct stream *s = take(conn->stream);

    c->is_over = true;
    stream_set_timeout(s, 0);
    stream_set_ops(s, ops, ctx);
    conn_forget(conn);
    return s;
}

static void set_framing(struct http_call *c)
{
    const struct http_head *h = &c->head;

    if (c->method == HTTP_HEAD || h->status == 204 || h->status == 304 ||
        (!h->is_chunked && h->content_length == 0))
        c->framing = FRAMING_NONE;
    else if (h->is_chunked)
        c->framing = FRAMING_CHUNKED;
    else
        c->framing = h->content_length > 0 ? FRAMING_LENGTH : FRAMING_CLOSE;
    c->left = h->content_length > 0 ? (uint64_t)h->content_length : 0;
}

/* A 1xx response: another one follows. True while the call goes on. */
static bool on_info(struct http_call *c)
{
    c->scanned = 0;
    if (++c->n_infos > INFOS_MAX) {
        call_fail(c, -EPROTO, "too many 1xx responses");
        return false;
    }
    if (!c->ops->on_info)
        return true;
    enter_call(c);
    c->ops->on_info(c, c->ctx, &c->head);
    return leave_call(c);
}

/* 101: the callback takes the stream, or the call fails. */
static void on_switch(struct http_call *c)
{
    if (!c->wants_upgrade) {
        call_fail(c, -EPROTO, "response: 101 that was not asked for");
        return;
    }
    enter_call(c);
    c->ops->on_head(c, c->ctx, &c->head);
    if (leave_call(c))
        call_fail(c, -EPROTO, "response: 101 was not taken up");
}

/* The final head. IS_LAST: nothing came behind it. */
static void on_final(struct http_call *c, bool is_last)
{
    c->has_head = true;
    set_framing(c);
    stream_set_timeout(c->conn->stream, c->client->opts.timeouts.idle_ms);
    enter_call(c);
    c->ops->on_head(c, c->ctx, &c->head);
    if (leave_call(c) && c->framing == FRAMING_NONE)
        complete_response(c, is_last);
}

/* Reads a head. Returns the bytes used; 0 when it is not complete yet. */
static size_t feed_response_head(struct http_call *c, const char *p, size_t len)
{
    const char *reason = "";
    ssize_t n = http_parse_response(&c->arena, p, len, &c->scanned, &c->client->opts.limits,
                                    c->method, &c->head, &reason);

    if (n < 0) {
        struct err e = ERR_INIT;
        (void)err_set(&e, -EPROTO, "response: %s", reason);
        call_fail(c, -EPROTO, err_text(&e));
        return len;
    }
    if (n == 0)
        return 0;
    if (c->head.status == 101)
        on_switch(c);
    else if (c->head.status < 200)
        (void)on_info(c);
    else
        on_final(c, (size_t)n == len);
    return (size_t)n;
}

/* Hands body bytes on. True while the call goes on. */
static bool deliver(struct http_call *c, struct str data)
{
    if (data.len == 0)
        return true;
    enter_call(c);
    int r = c->ops->on_data(c, c->ctx, data.p, data.len);
    if (!leave_call(c))
        return false;
    if (r < 0)
        call_fail(c, r, "response body: refused");
    return r >= 0;
}

static size_t feed_length(struct http_call *c, const char *p, size_t len)
{
    size_t n = len < c->left ? len : (size_t)c->left;

    c->left -= n;
    bool is_end = c->left == 0;
    if (deliver(c, str_n(p, n)) && is_end)
        complete_response(c, n == len);
    return n;
}

static size_t feed_chunked(struct http_call *c, const char *p, size_t len)
{
    struct str data = STR_NULL;
    bool is_done = false;
    ssize_t n = http_chunked_decode(&c->chunked, p, len, &data, &is_done);

    if (n < 0) {
        call_fail(c, -EPROTO, "response body: malformed chunk");
        return len;
    }
    if (deliver(c, data) && is_done)
        complete_response(c, (size_t)n == len);
    return (size_t)n;
}

static size_t feed_body(struct http_call *c, const char *p, size_t len)
{
    if (c->framing == FRAMING_CHUNKED)
        return feed_chunked(c, p, len);
    if (c->framing == FRAMING_LENGTH)
        return feed_length(c, p, len);
    (void)deliver(c, str_n(p, len));
    return len;
}

size_t call_feed(struct http_call *c, const char *p, size_t len)
{
    size_t used = 0, n = 1;

    enter_call(c);
    c->has_byte = true;
    if (!c->is_held)
        buf_done(&c->out);
    if (c->has_head)
        stream_set_timeout(c->conn->stream, c->client->opts.timeouts.idle_ms);
    while (n > 0 && used < len && !c->is_paused && !c->is_over) {
        n = c->has_head ? feed_body(c, p + used, len - used)
                        : feed_response_head(c, p + used, len - used);
        used += n;
    }
    if (!c->is_over && c->ops->on_caught_up)
        c->ops->on_caught_up(c, c->ctx);
    (void)leave_call(c);
    return used;
}

/* All but the last byte, which ends the response in the usual way. */
ssize_t call_bulk(struct http_call *c)
{
    if (!c->ops->on_bulk || !c->has_head || c->framing != FRAMING_LENGTH || c->left < SPLICE_MIN)
        return -EOPNOTSUPP;
    stream_set_timeout(c->conn->stream, c->client->opts.timeouts.idle_ms);
    enter_call(c);
    size_t max = c->left - 1 < INT32_MAX ? (size_t)c->left - 1 : INT32_MAX;
    ssize_t n = c->ops->on_bulk(c, c->ctx, stream_fd(c->conn->stream), max);
    if (!leave_call(c))
        return -EAGAIN;
    c->left -= n > 0 ? (uint64_t)n : 0;
    return n;
}

void call_eof(struct http_call *c)
{
    struct stream *s = c->conn->stream;

    if (c->has_head && c->framing == FRAMING_CLOSE)
        complete_response(c, false);
    else
        stream_close(s); /* on_close() ends the call, or tries again */
}
