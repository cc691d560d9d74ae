/* SPDX-License-Identifier: MIT */
/* Connections of the HTTP server: what arrives, when, and what becomes of it. See http_internal.h.
 *
 * All input comes through on_server_data(), which passes it to the state that the connection is in
 * until that state wants no more. A request that is answered at once leads back to HTTP_IN_HEAD, so
 * that pipelined requests are served by the loop in on_server_data(), not by recursion. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/http_internal.h"

enum {
    LINGER_MS = 2000, /* for what a peer still sends after our last answer */
    TURN = 16         /* pieces of input, most of them requests, before others have their turn */
};

void http_conn_set_timeout(struct http_conn *c)
{
    const struct http_timeouts *t = &c->server->opts.timeouts;

    if (!c->stream || c->in == HTTP_IN_SINK)
        return;
    if (c->in == HTTP_IN_HEAD || c->in == HTTP_IN_GREETING) {
        /* The deadline of a head that has begun does not move. */
        if (!c->is_partial)
            stream_set_timeout(c->stream, t->idle_ms);
        return;
    }
    bool is_held = c->mode == HTTP_BODY_HELD || (c->x && c->x->is_paused);
    stream_set_timeout(c->stream, c->in == HTTP_IN_BODY && !is_held ? t->body_ms : 0);
}

/* ---- the end of a connection ---- */

static void leave_server(struct http_conn *c)
{
    struct http_server *s = c->server;

    list_del(&c->node);
    if (!s)
        return;
    s->stats.active--;
    http_server_left(s);
}

static void free_server_conn(struct http_conn *c)
{
    loop_timer_stop(&c->turn);
    leave_server(c);
    free(c);
}

void http_conn_gone(struct http_conn *c)
{
    c->stream = NULL;
    if (c->depth > 0)
        c->is_gone = true;
    else
        free_server_conn(c);
}

void http_conn_orphan(struct http_conn *c)
{
    c->server = NULL;
    if (c->stream)
        stream_close(c->stream);
}

bool http_conn_is_idle(const struct http_conn *c)
{
    return c->stream && !c->x && c->in == HTTP_IN_HEAD && !c->is_partial;
}

bool http_conn_can_stay(const struct http_conn *c)
{
    const struct http_server *s = c->server;

    if (!s || s->is_draining || !c->stream || c->is_eof)
        return false;
    /* Connections that moved here were not counted when they were accepted. */
    if (s->opts.max_conns && s->stats.active > s->opts.max_conns)
        return false;
    if (c->in == HTTP_IN_DONE)
        return true;
    if (c->in != HTTP_IN_BODY)
        return false;
    /* A client that waits for "100 Continue" may or may not send the body after another answer. */
    if (c->x && c->x->req.head.expects_continue && c->mode == HTTP_BODY_HELD && !c->has_more)
        return false;
    return c->is_chunked || c->body_left <= s->opts.max_drop;
}

/* Closes when the output is written. While the peer may still be sending, closing at once would
 * make the kernel reset the connection and the answer could be lost: then only our side is closed
 * and what arrives is dropped for a while. */
void http_conn_end(struct http_conn *c)
{
    bool is_sending = c->in != HTTP_IN_DONE && !c->is_eof;

    c->in = HTTP_IN_SINK;
    if (!is_sending) {
        stream_close_after_flush(c->stream);
        return;
    }
    stream_shutdown(c->stream);
    stream_set_timeout(c->stream, LINGER_MS);
    stream_resume(c->stream);
}

void http_conn_next(struct http_conn *c, bool is_kept)
{
    if (!c->stream) {
        http_conn_gone(c);
        return;
    }
    if (!is_kept || !http_conn_can_stay(c)) {
        http_conn_end(c);
        return;
    }
    if (c->in == HTTP_IN_BODY) {
        c->mode = HTTP_BODY_DROP;
        c->dropped = 0;
    } else {
        c->in = HTTP_IN_HEAD;
    }
    stream_resume(c->stream);
    /* Inside of a callback this is done once, at its end. */
    if (c->depth == 0)
        http_conn_set_timeout(c);
}

/* ---- faults ---- */

static void plain_error(struct http_req *r, int status, const char *reason)
{
    struct str text = arena_printf(r->arena, "%s\n", reason);

    http_reply(r, status, "text/plain", text.p ? text : STR_NULL);
}

void http_send_error(struct http_xchg *x, int status, const char *reason)
{
    struct http_conn *c = x->req.conn;
    const struct http_server_opts *o = &c->server->opts;

    c->in = HTTP_IN_SINK;
    x->req.on_abort = NULL;
    if (o->on_error)
        o->on_error(&x->req, status, reason, o->ctx);
    else
        plain_error(&x->req, status, reason);
}

static void tell_abort(struct http_xchg *x)
{
    if (x->is_aborted || !x->req.on_abort)
        return;
    x->is_aborted = true;
    x->req.on_abort(&x->req);
}

/* The body cannot be read to its end. */
void http_body_fault(struct http_conn *c, int status, const char *reason)
{
    struct http_xchg *x = c->x;

    if (!x) {
        http_conn_end(c);
        return;
    }
    bool is_streamed = c->mode == HTTP_BODY_STREAM;
    c->in = HTTP_IN_SINK;
    if (is_streamed && x->req.on_abort) {
        x->req.fault = status;
        tell_abort(x);
    } else if (x->is_started) {
        http_abort(&x->req);
    } else {
        http_send_error(x, status, reason);
    }
}

void http_abort_request(struct http_conn *c)
{
    struct http_xchg *x = c->x;
    bool is_ours = c->in == HTTP_IN_BODY &&
                   (c->mode == HTTP_BODY_READ || (c->mode == HTTP_BODY_STREAM && !x->req.on_abort));

    if (is_ours)
        http_complete(x, false);
    else if (!c->stream && !x->req.on_abort && x->drain)
        /* A producer that waits for room finds out by writing. */
        x->drain(&x->req, x->drain_ctx);
    else
        tell_abort(x);
}

/* ---- heads ---- */

static void make_server_id(char out[17], uint32_t prefix, uint32_t number)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t id = (uint64_t)prefix << 32 | number;

    for (int i = 15; i >= 0; i--, id >>= 4)
        out[i] = digits[id & 15];
    out[16] = '\0';
}

static void start_request(struct http_conn *c, struct http_xchg *x)
{
    struct http_server *s = c->server;

    c->x = x;
    c->scanned = 0;
    c->is_partial = c->is_fresh = false;
    x->req.conn = c;
    x->req.loop = s->opts.loop;
    x->req.peer = stream_peer(c->stream);
    x->req.is_tls = stream_is_tls(c->stream);
    x->req.start_us = clock_mono_us();
    make_server_id(x->req.id, s->id_prefix, s->id_next++);
    s->stats.requests++;
}

/* Where the body ends, and what is done with it until the handler decides. */
static void frame_body(struct http_conn *c, const struct http_head *h, bool has_more)
{
    c->is_chunked = h->is_chunked;
    c->body_left = h->content_length > 0 ? (uint64_t)h->content_length : 0;
    c->in = c->is_chunked || c->body_left > 0 ? HTTP_IN_BODY : HTTP_IN_DONE;
    c->mode = HTTP_BODY_HELD;
    c->has_more = has_more;
    if (c->is_chunked)
        c->chunked = (struct http_chunked){0};
}

static ssize_t on_request_head(struct http_conn *c, const char *p, size_t len)
{
    struct http_server *s = c->server;
    struct http_xchg *x = http_xchg_take(s);
    const char *reason = NULL;

    if (!x)
        return -ENOMEM;
    ssize_t n =
        http_parse_request(&x->arena, p, len, &c->scanned, &s->opts.limits, &x->req.head, &reason);
    if (n == 0) {
        http_xchg_put(s, x);
        /* A lone line end is not a head yet: clients used to send one behind a body. */
        if (!c->is_partial && !(len <= 2 && p[0] == '\r')) {
            c->is_partial = true;
            stream_set_timeout(c->stream, s->opts.timeouts.head_ms);
        }
        return 0;
    }
    start_request(c, x);
    if (n < 0) {
        http_send_error(x, (int)-n, reason);
        return (ssize_t)len;
    }
    frame_body(c, &x->req.head, (size_t)n < len);
    s->opts.handler(&x->req, s->opts.ctx);
    return n;
}

/* ---- callbacks of the stream ---- */

static void enter_conn(struct http_conn *c)
{
    c->depth++;
}

static void leave_conn(struct http_conn *c)
{
    if (--c->depth > 0)
        return;
    if (c->is_gone) {
        free_server_conn(c);
        return;
    }
    if (http_conn_is_moving(c))
        return;
    if (c->x && c->x->head.p)
        http_flush_head(c->x);
    http_conn_set_timeout(c);
}

/* Somebody who means another server must not reach this one. */
static ssize_t on_greeting(struct http_conn *c, const char *p, size_t len)
{
    struct str want = c->server->opts.greeting;

    if (!str_starts(want, str_n(p, len < want.len ? len : want.len)))
        return -EPROTO;
    if (len < want.len)
        return 0;
    c->in = HTTP_IN_HEAD;
    return (ssize_t)want.len;
}

static ssize_t on_http_input(struct http_conn *c, const char *p, size_t len)
{
    switch ((enum http_in)c->in) {
    case HTTP_IN_GREETING: return on_greeting(c, p, len);
    case HTTP_IN_HEAD: return on_request_head(c, p, len);
    case HTTP_IN_BODY: return (ssize_t)http_on_body(c, p, len);
    case HTTP_IN_DONE: stream_pause(c->stream); return 0;
    case HTTP_IN_SINK: break;
    }
    return (ssize_t)len;
}

static void on_conn_turn(struct loop_timer *t)
{
    struct http_conn *c = container_of(t, struct http_conn, turn);

    if (c->stream)
        stream_resume(c->stream);
}

/* Whether the next of the pipelined requests has to wait: until the peer has read answers, of which
 * there would be no end, or until others had their turn. */
static bool must_wait(struct http_conn *c, unsigned n_served)
{
    if (c->in != HTTP_IN_HEAD || (n_served < TURN && !stream_is_full(c->stream)))
        return false;
    stream_pause(c->stream);
    if (!stream_is_full(c->stream) &&
        loop_timer_start(stream_loop(c->stream), &c->turn, 0, on_conn_turn) < 0)
        stream_resume(c->stream);
    return true;
}

static ssize_t on_server_data(struct stream *s, void *ctx, const char *p, size_t len)
{
    struct http_conn *c = ctx;
    size_t used = 0;
    ssize_t n = 1;
    bool is_corked = false;

    enter_conn(c);
    for (unsigned i = 0; used < len && n > 0 && !c->is_gone && !http_conn_is_moving(c); i++) {
        if (must_wait(c, i))
            break;
        /* Answers to pipelined requests are sent together. */
        if (used > 0 && c->in == HTTP_IN_HEAD && !is_corked) {
            stream_cork(s);
            is_corked = true;
        }
        n = on_http_input(c, p + used, len - used);
        used += n > 0 ? (size_t)n : 0;
    }
    leave_conn(c);
    if (is_corked)
        stream_uncork(s);
    return n < 0 ? n : (ssize_t)used;
}

static ssize_t on_server_bulk(struct stream *s, void *ctx)
{
    struct http_conn *c = ctx;

    (void)s;
    enter_conn(c);
    ssize_t n = http_on_body_bulk(c);
    leave_conn(c);
    return n;
}

static void on_server_drain(struct stream *s, void *ctx)
{
    struct http_conn *c = ctx;

    (void)s;
    enter_conn(c);
    if (c->x && c->x->drain)
        c->x->drain(&c->x->req, c->x->drain_ctx);
    else if (!c->x && c->in == HTTP_IN_HEAD && c->stream)
        stream_resume(c->stream);
    leave_conn(c);
}

static void on_server_eof(struct stream *s, void *ctx)
{
    struct http_conn *c = ctx;

    enter_conn(c);
    c->is_eof = true;
    if (!c->x)
        stream_close_after_flush(s);
    else if (c->in == HTTP_IN_BODY && c->mode != HTTP_BODY_HELD)
        http_body_fault(c, 400, "the body ended early");
    else
        http_abort_request(c);
    leave_conn(c);
}

static void on_moved_alone(struct loop_msg *m);

static void on_server_close(struct stream *s, void *ctx, int reason)
{
    struct http_conn *c = ctx;
    struct http_xchg *x = c->x;

    (void)reason;
    c->stream = NULL;
    if (!x) {
        free_server_conn(c);
        return;
    }
    /* The request outlives the stream that the text belongs to. */
    x->req.peer = arena_strdup(x->req.arena, stream_peer(s));
    if (!x->req.peer)
        x->req.peer = "";
    if (x->move_to) {
        loop_post(x->move_to->opts.loop, &x->msg, on_moved_alone);
        return;
    }
    http_abort_request(c);
}

static void on_head_timeout(struct http_conn *c)
{
    struct http_xchg *x = c->is_partial ? http_xchg_take(c->server) : NULL;

    if (x) {
        x->req.head.content_length = -1;
        start_request(c, x);
        http_send_error(x, 408, "the request took too long");
        return;
    }
    bool is_handshake_over = c->is_fresh && stream_is_ready(c->stream);
    c->is_fresh = false;
    if (!is_handshake_over)
        stream_close(c->stream);
}

static void on_server_timeout(struct stream *s, void *ctx)
{
    struct http_conn *c = ctx;

    enter_conn(c);
    if (c->in == HTTP_IN_HEAD)
        on_head_timeout(c);
    else if (c->in == HTTP_IN_BODY && c->x)
        http_body_fault(c, 408, "the request body took too long");
    else
        stream_close(s);
    leave_conn(c);
}

static const struct stream_ops conn_ops = {
    .on_data = on_server_data,
    .on_bulk = on_server_bulk,
    .on_drain = on_server_drain,
    .on_eof = on_server_eof,
    .on_close = on_server_close,
    .on_timeout = on_server_timeout,
};

int http_conn_new(struct http_server *s, int fd)
{
    struct http_conn *c = mem_zalloc(1, sizeof *c);
    const struct stream_opts opts = {
        .loop = s->opts.loop,
        .ops = &conn_ops,
        .ctx = c,
        .tls = s->opts.tls,
        .write_ms = s->opts.timeouts.write_ms,
    };

    if (!c) {
        (void)close(fd);
        return -ENOMEM;
    }
    c->stream = stream_new(fd, &opts, NULL);
    if (!c->stream) {
        free(c);
        return -ENOMEM;
    }
    c->server = s;
    c->in = s->opts.greeting.len > 0 ? HTTP_IN_GREETING : HTTP_IN_HEAD;
    list_append(&s->conns, &c->node);
    s->stats.accepted++;
    s->stats.active++;
    c->is_fresh = s->opts.tls != NULL;
    if (c->is_fresh)
        stream_set_timeout(c->stream, s->opts.timeouts.head_ms);
    else
        http_conn_set_timeout(c);
    return 0;
}

/* ---- moving to another server ---- */

/* On the new server's thread. */
static void arrive_moved(struct http_conn *c)
{
    struct http_xchg *x = c->x;
    struct http_server *to = x->move_to;

    x->move_to = NULL;
    x->req.loop = to->opts.loop;
    c->server = to;
    list_append(&to->conns, &c->node);
    to->stats.active++;
    (void)atomic_fetch_sub(&to->n_arriving, 1);
    enter_conn(c);
    x->move_fn(&x->req, x->move_ctx);
    /* The body's last bytes may have been what made the old thread's handler move. */
    bool is_read = c->mode != HTTP_BODY_HELD && !c->is_chunked && c->body_left == 0;
    if (c->x == x && !x->move_to && c->in == HTTP_IN_BODY && is_read)
        http_body_end(c);
    leave_conn(c);
}

static void on_conn_moved(struct stream *s, void *ctx)
{
    (void)s;
    arrive_moved(ctx);
}

static void on_moved_alone(struct loop_msg *m)
{
    struct http_xchg *x = container_of(m, struct http_xchg, msg);
    struct http_conn *c = x->req.conn;

    c->depth++;
    arrive_moved(c);
    c->depth--;
    if (c->is_gone)
        free_server_conn(c);
    else if (c->x)
        http_abort_request(c);
}

void http_move(struct http_req *r, struct http_server *to,
               void (*fn)(struct http_req *r, void *ctx), void *ctx)
{
    struct http_xchg *x = http_xchg_of(r);
    struct http_conn *c = r->conn;

    x->move_to = to;
    x->move_fn = fn;
    x->move_ctx = ctx;
    (void)atomic_fetch_add(&to->n_arriving, 1);
    leave_server(c);
    if (c->stream)
        stream_move(c->stream, to->opts.loop, on_conn_moved);
    else
        loop_post(to->opts.loop, &x->msg, on_moved_alone);
}
