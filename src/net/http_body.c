/* SPDX-License-Identifier: MIT */
/* Request bodies: read whole, streamed to the handler, or dropped. See http_internal.h. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "net/http_internal.h"
#include "net/splice.h"

enum { SMALL_BODY = 16 * 1024 }; /* allocated at once; larger bodies grow as they arrive */

static int keep_body(struct http_xchg *x, struct str data)
{
    if (!x->small)
        return buf_add(&x->body, data.p, data.len);
    memcpy(x->small + x->body_seen, data.p, data.len);
    return 0;
}

/* True when C still reads the body of X and more may be given. */
static bool goes_on_reading(const struct http_conn *c, const struct http_xchg *x)
{
    return c->x == x && c->in == HTTP_IN_BODY && !(x && (x->is_paused || x->move_to));
}

/* A run of body bytes. */
static void on_body_bytes(struct http_conn *c, struct str data)
{
    struct http_xchg *x = c->x;

    /* The request was answered: nobody wants the rest. */
    if (!x) {
        c->dropped += data.len;
        if (c->dropped > c->server->opts.max_drop)
            http_conn_end(c);
        return;
    }
    assert(x); /* only a body that is dropped can outlive its exchange */
    if (data.len > x->body_max - x->body_seen) {
        http_body_fault(c, 413, "request body too large");
        return;
    }
    if (c->mode == HTTP_BODY_READ) {
        if (keep_body(x, data) < 0) {
            http_body_fault(c, 503, "out of memory");
            return;
        }
        x->body_seen += data.len;
        return;
    }
    x->body_seen += data.len;
    int r = x->sink->on_data(&x->req, x->body_ctx, data.p, data.len);
    if (r < 0 && c->x == x)
        c->in = HTTP_IN_SINK;
}

void http_body_end(struct http_conn *c)
{
    struct http_xchg *x = c->x;

    c->in = HTTP_IN_DONE;
    if (!x) {
        c->in = HTTP_IN_HEAD;
    } else if (c->mode == HTTP_BODY_READ) {
        x->req.body = str_n(x->small, (size_t)x->body_seen);
        if (!x->small) {
            /* buf_cstr() can only fail for want of one byte: reserved by the maximum. */
            const char *text = buf_cstr(&x->body);
            if (!text) {
                http_send_error(x, 503, "out of memory");
                return;
            }
            x->req.body.p = text;
        }
        x->body_done(&x->req, x->body_ctx);
    } else if (c->mode == HTTP_BODY_STREAM) {
        x->sink->on_end(&x->req, x->body_ctx);
    }
}

static size_t on_plain_body(struct http_conn *c, const char *p, size_t len)
{
    size_t n = len < c->body_left ? len : (size_t)c->body_left;

    c->body_left -= n;
    on_body_bytes(c, str_n(p, n));
    /* A pause holds bytes back, not the end. */
    if (c->body_left == 0 && c->in == HTTP_IN_BODY && !http_conn_is_moving(c))
        http_body_end(c);
    return n;
}

static size_t on_chunked_body(struct http_conn *c, const char *p, size_t len)
{
    struct http_xchg *x = c->x;
    size_t used = 0;
    bool is_done = false;

    while (used < len && goes_on_reading(c, x) && !is_done) {
        struct str data;
        ssize_t n = http_chunked_decode(&c->chunked, p + used, len - used, &data, &is_done);
        if (n < 0) {
            http_body_fault(c, 400, "bad chunk");
            return len;
        }
        used += (size_t)n;
        if (data.len > 0)
            on_body_bytes(c, data);
    }
    if (is_done && goes_on_reading(c, x))
        http_body_end(c);
    return used;
}

size_t http_on_body(struct http_conn *c, const char *p, size_t len)
{
    if (c->mode == HTTP_BODY_HELD || (c->x && c->x->is_paused)) {
        stream_pause(c->stream);
        return 0;
    }
    return c->is_chunked ? on_chunked_body(c, p, len) : on_plain_body(c, p, len);
}

/* All but the last byte, which ends the body in the usual way. */
ssize_t http_on_body_bulk(struct http_conn *c)
{
    struct http_xchg *x = c->x;

    if (!x || !x->bulk || c->in != HTTP_IN_BODY || c->mode != HTTP_BODY_STREAM || x->is_paused ||
        c->is_chunked || c->body_left < SPLICE_MIN || x->move_to)
        return -EOPNOTSUPP;
    size_t max = c->body_left - 1 < INT32_MAX ? (size_t)c->body_left - 1 : INT32_MAX;
    ssize_t n = x->bulk(&x->req, x->body_ctx, stream_fd(c->stream), max);
    if (n > 0) {
        c->body_left -= (uint64_t)n;
        x->body_seen += (uint64_t)n;
    }
    return n;
}

void http_on_bulk(struct http_req *r,
                  ssize_t (*fn)(struct http_req *r, void *ctx, int from, size_t max))
{
    http_xchg_of(r)->bulk = fn;
}

/* Starts reading in the way that MODE says. When there will never be a whole body the request is
 * over, or its handler knows. */
static void start_body(struct http_xchg *x, enum http_body_mode mode, uint64_t max)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct http_conn *c = x->req.conn;

    c->mode = (uint8_t)mode;
    x->body_max = max;
    if (!c->stream) {
        c->in = HTTP_IN_BODY;
        http_abort_request(c);
        return;
    }
    if (c->in == HTTP_IN_SINK || c->is_eof) {
        http_body_fault(c, 400, "the body ended early");
        return;
    }
    if (!c->is_chunked && c->body_left > max) {
        http_body_fault(c, 413, "request body too large");
        return;
    }
    if (x->req.head.expects_continue && !c->has_more)
        (void)stream_write(c->stream, text, sizeof text - 1);
    stream_resume(c->stream);
    http_conn_set_timeout(c);
}

void http_read_body(struct http_req *r, size_t max, void (*done)(struct http_req *r, void *ctx),
                    void *ctx)
{
    struct http_xchg *x = http_xchg_of(r);
    struct http_conn *c = r->conn;

    if (c->in == HTTP_IN_DONE) {
        r->body = STR("");
        done(r, ctx);
        return;
    }
    x->body_done = done;
    x->body_ctx = ctx;
    if (!c->is_chunked && c->body_left <= SMALL_BODY && c->body_left <= max) {
        x->small = arena_alloc(r->arena, (size_t)c->body_left + 1);
        if (x->small)
            x->small[c->body_left] = '\0';
    }
    if (!x->small)
        buf_init(&x->body, max < SIZE_MAX ? max + 1 : max);
    start_body(x, HTTP_BODY_READ, max);
}

void http_stream_body(struct http_req *r, uint64_t max, const struct http_body_sink *sink,
                      void *ctx)
{
    struct http_xchg *x = http_xchg_of(r);

    if (r->conn->in == HTTP_IN_DONE) {
        sink->on_end(r, ctx);
        return;
    }
    x->sink = sink;
    x->body_ctx = ctx;
    start_body(x, HTTP_BODY_STREAM, max);
}

void http_body_pause(struct http_req *r)
{
    http_xchg_of(r)->is_paused = true;
    if (!r->conn->stream || r->conn->in != HTTP_IN_BODY)
        return;
    stream_pause(r->conn->stream);
    http_conn_set_timeout(r->conn);
}

void http_body_resume(struct http_req *r)
{
    http_xchg_of(r)->is_paused = false;
    if (!r->conn->stream)
        return;
    stream_resume(r->conn->stream);
    http_conn_set_timeout(r->conn);
}
