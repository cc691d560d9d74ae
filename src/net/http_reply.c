/* SPDX-License-Identifier: MIT */
/* Answers of the HTTP server: see http_server.h and http_internal.h. */
#include <assert.h>
#include <errno.h>

#include "net/http_chars.h"
#include "net/http_internal.h"
#include "net/splice.h"

enum {
    HEAD_ROOM = 256,    /* for everything in a head but the texts that are counted */
    INLINE_BODY = 2048, /* up to here a body is copied behind its head, to be one piece */
    FIRST_EXTRA = 256,
    HEAD_RESERVE = 16384, /* for a head when the memory of the request is used up */
};

/* ---- composing heads ---- */

/* For the head of an answer. A handler that has used up the arena can still say so; what is taken
 * beyond its end is given back with the request. */
static char *head_alloc(struct http_xchg *x, size_t n)
{
    char *p = arena_alloc(&x->arena, n);

    if (p || n > HEAD_RESERVE || x->has_reserve)
        return p;
    x->has_reserve = true;
    x->arena.max += HEAD_RESERVE;
    return arena_alloc(&x->arena, n);
}

static char *put_head_text(char *at, struct str s)
{
    if (s.len)
        memcpy(at, s.p, s.len);
    return at + s.len;
}

static char *put_head_number(char *at, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;

    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    return put_head_text(at, str_n(digits + i, sizeof digits - i));
}

static char *put_reply_status(char *at, int status)
{
    if (status == 200)
        return put_head_text(at, STR("HTTP/1.1 200 OK\r\n"));
    at = put_head_text(at, STR("HTTP/1.1 "));
    at = put_head_number(at, (unsigned)status);
    *at++ = ' ';
    at = put_head_text(at, str_of(http_status_text(status)));
    return put_head_text(at, STR("\r\n"));
}

static char *put_connection(char *at, const struct http_xchg *x)
{
    if (x->req.status == 101)
        return put_head_text(at, STR("Connection: Upgrade\r\n"));
    if (!x->is_kept_alive)
        return put_head_text(at, STR("Connection: close\r\n"));
    if (x->req.head.minor == 0)
        return put_head_text(at, STR("Connection: keep-alive\r\n"));
    return at;
}

static char *put_framing(char *at, const struct http_xchg *x, int64_t length)
{
    int status = x->req.status;

    if (status < 200 || status == 204 || status == 304)
        return at;
    if (length >= 0) {
        at = put_head_text(at, STR("Content-Length: "));
        at = put_head_number(at, (uint64_t)length);
        return put_head_text(at, STR("\r\n"));
    }
    return x->is_chunked ? put_head_text(at, STR("Transfer-Encoding: chunked\r\n")) : at;
}

/* The head of an answer with ROOM free bytes behind it; .p is NULL when memory ran out. LENGTH < 0
 * means that it is not known. */
static struct str compose(struct http_xchg *x, const char *content_type, int64_t length,
                          size_t room)
{
    struct str common = http_server_common(x->req.conn->server), type = str_of(content_type);
    size_t size = HEAD_ROOM + common.len + type.len + x->extra_len + room;
    char *start = head_alloc(x, size);
    char *at = start;

    if (!start)
        return STR_NULL;
    at = put_reply_status(at, x->req.status);
    at = put_head_text(at, common);
    at = put_head_text(at, STR("X-Request-Id: "));
    at = put_head_text(at, str_n(x->req.id, 16));
    at = put_head_text(at, STR("\r\n"));
    if (type.len) {
        at = put_head_text(at, STR("Content-Type: "));
        at = put_head_text(at, type);
        at = put_head_text(at, STR("\r\n"));
    }
    at = put_framing(at, x, length);
    at = put_connection(at, x);
    at = put_head_text(at, str_n(x->extra, x->extra_len));
    at = put_head_text(at, STR("\r\n"));
    return str_n(start, (size_t)(at - start));
}

int http_add_header(struct http_req *r, const char *name, struct str value)
{
    struct http_xchg *x = http_xchg_of(r);
    struct str n = str_of(name);
    size_t need = n.len + value.len + 4;

    for (size_t i = 0; i < n.len; i++)
        if (!http_is_token(n.p[i]))
            return -EINVAL;
    for (size_t i = 0; i < value.len; i++)
        if (http_is_ctl(value.p[i]))
            return -EINVAL;
    if (n.len == 0 || value.len > INT32_MAX)
        return -EINVAL;
    if (need > x->extra_cap - x->extra_len) {
        size_t cap = (x->extra_len + need) * 2;
        cap = cap < FIRST_EXTRA ? FIRST_EXTRA : cap;
        char *more = head_alloc(x, cap);
        if (!more)
            return -ENOMEM;
        (void)put_head_text(more, str_n(x->extra, x->extra_len));
        x->extra = more;
        x->extra_cap = cap;
    }
    char *at = put_head_text(x->extra + x->extra_len, n);
    at = put_head_text(at, STR(": "));
    at = put_head_text(at, value);
    at = put_head_text(at, STR("\r\n"));
    x->extra_len = (size_t)(at - x->extra);
    return 0;
}

/* ---- the end of a request ---- */

static void uncork(struct http_xchg *x)
{
    if (!x->is_corked)
        return;
    x->is_corked = false;
    if (x->req.conn->stream)
        stream_uncork(x->req.conn->stream);
}

/* Gives the request back; returns its connection. */
static struct http_conn *release_request(struct http_xchg *x)
{
    struct http_conn *c = x->req.conn;
    struct http_server *s = c->server;

    uncork(x);
    if (x->is_patient && s && c->stream)
        stream_set_write_timeout(c->stream, s->opts.timeouts.write_ms);
    if (s && s->opts.on_done)
        s->opts.on_done(&x->req, s->opts.ctx);
    c->x = NULL;
    http_xchg_put(s, x);
    return c;
}

void http_complete(struct http_xchg *x, bool is_kept)
{
    http_conn_next(release_request(x), is_kept);
}

void http_abort(struct http_req *r)
{
    struct http_conn *c = release_request(http_xchg_of(r));

    if (c->stream)
        stream_abort(c->stream);
    else
        http_conn_next(c, false);
}

/* ---- answers ---- */

static void begin_reply(struct http_xchg *x, int status)
{
    assert(!x->is_started);
    x->is_started = true;
    x->req.status = status;
    x->is_kept_alive = x->req.head.is_keep_alive && http_conn_can_stay(x->req.conn);
    x->has_no_body =
        x->req.head.method == HTTP_HEAD || status < 200 || status == 204 || status == 304;
}

void http_reply(struct http_req *r, int status, const char *content_type, struct str body)
{
    struct http_xchg *x = http_xchg_of(r);

    begin_reply(x, status);
    if (!r->conn->stream) {
        http_complete(x, false);
        return;
    }
    bool is_inline = !x->has_no_body && body.len <= INLINE_BODY;
    struct str head = compose(x, content_type, (int64_t)body.len, is_inline ? body.len : 0);
    if (!head.p) {
        http_abort(r);
        return;
    }
    if (is_inline && body.len) {
        /* The room behind the head is ours; its bytes are not const. */
        (void)put_head_text((char *)(uintptr_t)head.p + head.len, body);
        head.len += body.len;
    }
    struct iovec iov[2] = {{(void *)(uintptr_t)head.p, head.len},
                           {(void *)(uintptr_t)body.p, body.len}};
    r->sent_bytes = x->has_no_body ? 0 : body.len;
    (void)stream_writev(r->conn->stream, iov, is_inline || x->has_no_body ? 1 : 2);
    http_complete(x, x->is_kept_alive);
}

void http_flush_head(struct http_xchg *x)
{
    struct str head = x->head;

    x->head = STR_NULL;
    if (head.p && x->req.conn->stream)
        (void)stream_write(x->req.conn->stream, head.p, head.len);
}

void http_start(struct http_req *r, int status, const char *content_type, int64_t length)
{
    struct http_xchg *x = http_xchg_of(r);

    begin_reply(x, status);
    x->out_left = x->has_no_body ? 0 : length;
    x->is_chunked = length < 0 && r->head.minor > 0;
    if (length < 0 && !x->is_chunked)
        x->is_kept_alive = false;
    if (!r->conn->stream)
        return;
    x->head = compose(x, content_type, length, 0);
    if (!x->head.p)
        stream_abort(r->conn->stream);
    /* Inside of a callback the first bytes of the body go out together with the head. */
    else if (r->conn->depth == 0)
        http_flush_head(x);
}

/* "1f\r\n" */
static struct str chunk_line(char out[20], size_t len)
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 20;

    out[--at] = '\n';
    out[--at] = '\r';
    do
        out[--at] = digits[len & 15];
    while (len >>= 4);
    return str_n(out + at, 20 - at);
}

static void add_iov_part(struct iovec *iov, int *n, struct str s)
{
    if (s.len)
        iov[(*n)++] = (struct iovec){(void *)(uintptr_t)s.p, s.len};
}

int http_write(struct http_req *r, const void *p, size_t len)
{
    struct http_xchg *x = http_xchg_of(r);
    struct stream *s = r->conn->stream;
    struct str data = str_n(p, len);
    char line[20];
    struct iovec iov[4];
    int n = 0, result = 0;

    assert(x->is_started);
    if (!s)
        return -EPIPE;
    if (len == 0 || x->has_no_body)
        return 0;
    if (x->out_left >= 0) {
        if (data.len > (uint64_t)x->out_left) {
            data.len = (size_t)x->out_left;
            result = -EMSGSIZE;
        }
        x->out_left -= (int64_t)data.len;
    }
    add_iov_part(iov, &n, x->head);
    if (x->is_chunked)
        add_iov_part(iov, &n, chunk_line(line, data.len));
    add_iov_part(iov, &n, data);
    if (x->is_chunked)
        add_iov_part(iov, &n, STR("\r\n"));
    x->head = STR_NULL;
    r->sent_bytes += data.len;
    int w = stream_writev(s, iov, n);
    return w < 0 ? -EPIPE : result;
}

ssize_t http_splice(struct http_req *r, int from, size_t max)
{
    struct http_xchg *x = http_xchg_of(r);

    if (!r->conn->stream || x->is_chunked || x->has_no_body || x->head.p || x->out_left <= 0)
        return -EOPNOTSUPP;
    if (max > (uint64_t)x->out_left)
        max = (size_t)x->out_left;
    ssize_t n = splice_to(r->conn->stream, from, max);
    if (n > 0) {
        x->out_left -= n;
        r->sent_bytes += (uint64_t)n;
    }
    return n;
}

bool http_is_full(const struct http_req *r)
{
    return r->conn->stream && stream_is_full(r->conn->stream);
}

void http_set_patience(struct http_req *r, int64_t ms)
{
    if (!r->conn->stream)
        return;
    http_xchg_of(r)->is_patient = true;
    stream_set_write_timeout(r->conn->stream, ms);
}

void http_cork(struct http_req *r)
{
    struct http_xchg *x = http_xchg_of(r);

    if (x->is_corked || !r->conn->stream)
        return;
    x->is_corked = true;
    stream_cork(r->conn->stream);
}

void http_uncork(struct http_req *r)
{
    uncork(http_xchg_of(r));
}

void http_on_drain(struct http_req *r, void (*fn)(struct http_req *r, void *ctx), void *ctx)
{
    http_xchg_of(r)->drain = fn;
    http_xchg_of(r)->drain_ctx = ctx;
}

void http_end(struct http_req *r)
{
    struct http_xchg *x = http_xchg_of(r);
    struct stream *s = r->conn->stream;
    struct iovec iov[2];
    int n = 0;

    assert(x->is_started);
    if (s && x->out_left > 0) {
        http_abort(r);
        return;
    }
    if (s) {
        add_iov_part(iov, &n, x->head);
        if (x->is_chunked && !x->has_no_body)
            add_iov_part(iov, &n, STR("0\r\n\r\n"));
        x->head = STR_NULL;
        if (n > 0)
            (void)stream_writev(s, iov, n);
    }
    http_complete(x, x->is_kept_alive);
}

struct stream *http_upgrade(struct http_req *r, int status, const struct stream_ops *ops, void *ctx)
{
    struct http_xchg *x = http_xchg_of(r);
    struct stream *s = r->conn->stream;

    begin_reply(x, status);
    /* Whatever the status says, there is no length: the stream is somebody else's now. */
    x->is_kept_alive = true;
    struct str head = s && r->conn->in == HTTP_IN_DONE ? compose(x, NULL, -1, 0) : STR_NULL;
    if (!head.p) {
        http_abort(r);
        return NULL;
    }
    (void)stream_write(s, head.p, head.len);
    stream_set_timeout(s, 0);
    stream_set_ops(s, ops, ctx);
    stream_resume(s);
    http_conn_gone(release_request(x));
    return s;
}
