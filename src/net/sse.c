/* SPDX-License-Identifier: MIT */
/* Server-sent events: see sse.h. */
#include "net/sse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http_server.h"

/* ---- formatting ---- */

static bool is_one_line(struct str s)
{
    return str_chr(s, '\n') < 0 && str_chr(s, '\r') < 0 && str_chr(s, '\0') < 0;
}

/* Takes a line off *S: ended by CRLF, CR, LF or the end of S (then *S becomes STR_NULL). */
static struct str cut_sse_line(struct str *s)
{
    size_t n = 0;

    while (n < s->len && s->p[n] != '\n' && s->p[n] != '\r')
        n++;
    struct str line = str_slice(*s, 0, n);
    if (n == s->len)
        *s = STR_NULL;
    else
        *s = str_skip(*s, s->p[n] == '\r' && n + 1 < s->len && s->p[n + 1] == '\n' ? n + 2 : n + 1);
    return line;
}

static void add_field(struct buf *out, struct str name, struct str value)
{
    (void)buf_add_str(out, name);
    (void)buf_add_lit(out, ": ");
    (void)buf_add_str(out, value);
    (void)buf_add_char(out, '\n');
}

int sse_format(struct buf *out, const struct sse_event *ev)
{
    if (!is_one_line(ev->event) || !is_one_line(ev->id))
        return -EINVAL;
    if (ev->event.len)
        add_field(out, STR("event"), ev->event);
    if (ev->id.p)
        add_field(out, STR("id"), ev->id);
    if (ev->retry_ms > 0)
        (void)buf_printf(out, "retry: %" PRId64 "\n", ev->retry_ms);
    for (struct str rest = ev->data; rest.p;)
        add_field(out, STR("data"), cut_sse_line(&rest));
    return buf_add_char(out, '\n');
}

/* ---- writing ---- */

struct sse {
    struct http_req *r;
    const struct sse_ops *ops;
    void *ctx;
    int64_t heartbeat_ms;
    struct loop_timer timer;
    struct loop_msg gone;
    bool is_gone;  /* the peer left: the message that frees S is on its way */
    bool is_ended; /* by sse_end() after that */
};

static void free_writer(struct sse *s)
{
    loop_timer_stop(&s->timer);
    http_end(s->r);
    free(s);
}

static void run_gone(struct loop_msg *m)
{
    struct sse *s = container_of(m, struct sse, gone);

    if (!s->is_ended && s->ops->on_close)
        s->ops->on_close(s, s->ctx);
    free_writer(s);
}

/* May come out of a write of our own, so what frees S waits for the next round. */
static void on_sse_abort(struct http_req *r)
{
    struct sse *s = r->abort_ctx;

    if (s->is_gone)
        return;
    s->is_gone = true;
    loop_timer_stop(&s->timer);
    loop_post(r->loop, &s->gone, run_gone);
}

static void on_sse_drain(struct http_req *r, void *ctx)
{
    struct sse *s = ctx;

    (void)r;
    if (!s->is_gone && s->ops->on_drain)
        s->ops->on_drain(s, s->ctx);
}

static void on_heartbeat(struct loop_timer *t)
{
    struct sse *s = container_of(t, struct sse, timer);

    /* A peer that does not read gets no more to read. */
    if (!http_is_full(s->r))
        (void)sse_comment(s, STR_NULL);
    else
        (void)loop_timer_start(s->r->loop, t, s->heartbeat_ms, on_heartbeat);
}

static int write_sse_event(struct sse *s, const struct buf *b)
{
    if (s->is_gone || s->is_ended)
        return -EPIPE;
    int r = http_write(s->r, b->p, b->len);
    if (s->heartbeat_ms > 0 && !s->is_gone)
        (void)loop_timer_start(s->r->loop, &s->timer, s->heartbeat_ms, on_heartbeat);
    return r;
}

struct sse *sse_start(struct http_req *r, int64_t heartbeat_ms, const struct sse_ops *ops,
                      void *ctx)
{
    struct sse *s = mem_zalloc(1, sizeof *s);

    if (s && heartbeat_ms > 0 &&
        loop_timer_start(r->loop, &s->timer, heartbeat_ms, on_heartbeat) < 0) {
        free(s);
        s = NULL;
    }
    if (!s) {
        http_reply(r, 500, "text/plain", STR("no memory\n"));
        return NULL;
    }
    s->r = r;
    s->ops = ops;
    s->ctx = ctx;
    s->heartbeat_ms = heartbeat_ms;
    r->abort_ctx = s;
    r->on_abort = on_sse_abort;
    (void)http_add_header(r, "Cache-Control", STR("no-store"));
    (void)http_add_header(r, "X-Accel-Buffering", STR("no"));
    http_start(r, 200, "text/event-stream", -1);
    http_on_drain(r, on_sse_drain, s);
    return s;
}

int sse_send(struct sse *s, const struct sse_event *ev)
{
    struct buf b auto_buf = BUF_INIT(SSE_EVENT_MAX);
    int r = sse_format(&b, ev);

    if (r < 0)
        return r == -ENOBUFS ? -EMSGSIZE : r;
    return write_sse_event(s, &b);
}

int sse_comment(struct sse *s, struct str text)
{
    struct buf b auto_buf = BUF_INIT(SSE_EVENT_MAX);

    if (!is_one_line(text))
        return -EINVAL;
    (void)buf_add_char(&b, ':');
    (void)buf_add_str(&b, text);
    (void)buf_add_lit(&b, "\n\n");
    if (!buf_ok(&b))
        return b.error == -ENOBUFS ? -EMSGSIZE : b.error;
    return write_sse_event(s, &b);
}

bool sse_is_full(const struct sse *s)
{
    return !s->is_gone && http_is_full(s->r);
}

void sse_end(struct sse *s)
{
    s->is_ended = true;
    if (!s->is_gone)
        free_writer(s);
}

/* ---- parsing ---- */

void sse_parser_init(struct sse_parser *p, size_t max_event)
{
    *p = (struct sse_parser){0};
    buf_init(&p->line, max_event);
    buf_init(&p->event, max_event);
    buf_init(&p->data, max_event);
    buf_init(&p->id, max_event);
}

void sse_parser_done(struct sse_parser *p)
{
    buf_done(&p->line);
    buf_done(&p->event);
    buf_done(&p->data);
    buf_done(&p->id);
}

/* An event whose data field was empty still has data: its pointer must not be NULL. */
static struct str event_text_of(const struct buf *b)
{
    return b->p ? buf_str(b) : STR("");
}

static int dispatch_event(struct sse_parser *p, sse_event_fn *fn, void *ctx)
{
    struct sse_event ev = {
        .event = buf_str(&p->event),
        .id = p->has_id ? event_text_of(&p->id) : STR_NULL,
        .data = event_text_of(&p->data),
        .retry_ms = p->retry_ms,
    };
    int r = p->has_data ? fn(ctx, &ev) : 0;

    buf_clear(&p->event);
    buf_clear(&p->data);
    p->has_data = false;
    return r;
}

static void read_retry(struct sse_parser *p, struct str value)
{
    uint64_t ms;

    if (str_to_u64(value, &ms) == 0 && ms <= INT32_MAX)
        p->retry_ms = (int64_t)ms;
}

static int set_field_text(struct buf *b, struct str value)
{
    buf_clear(b);
    return buf_add_str(b, value);
}

static int read_sse_field(struct sse_parser *p, struct str line)
{
    struct str value = line;
    struct str name = str_cut(&value, ':');

    if (value.len && value.p[0] == ' ')
        value = str_skip(value, 1);
    if (str_is(name, "data")) {
        if (p->has_data)
            (void)buf_add_char(&p->data, '\n');
        p->has_data = true;
        return buf_add_str(&p->data, value);
    }
    if (str_is(name, "event"))
        return set_field_text(&p->event, value);
    if (str_is(name, "id") && str_chr(value, '\0') < 0) {
        p->has_id = true;
        return set_field_text(&p->id, value);
    }
    if (str_is(name, "retry"))
        read_retry(p, value);
    return 0;
}

static int read_sse_line(struct sse_parser *p, struct str line, sse_event_fn *fn, void *ctx)
{
    if (!p->is_started && str_starts(line, STR("\xef\xbb\xbf")))
        line = str_skip(line, 3);
    p->is_started = true;
    return line.len == 0 ? dispatch_event(p, fn, ctx) : read_sse_field(p, line);
}

static int sticky(struct sse_parser *p, int error)
{
    p->error = error == -ENOBUFS ? -EMSGSIZE : error;
    return p->error;
}

int sse_parser_feed(struct sse_parser *p, struct str bytes, sse_event_fn *fn, void *ctx)
{
    if (p->error)
        return p->error;
    while (bytes.len > 0) {
        if (p->skip_lf && bytes.p[0] == '\n')
            bytes = str_skip(bytes, 1);
        p->skip_lf = false;
        size_t n = 0;
        while (n < bytes.len && bytes.p[n] != '\n' && bytes.p[n] != '\r')
            n++;
        int r = buf_add(&p->line, bytes.p, n);
        if (r < 0)
            return sticky(p, r);
        if (n == bytes.len)
            return 0;
        p->skip_lf = bytes.p[n] == '\r';
        bytes = str_skip(bytes, n + 1);
        r = read_sse_line(p, buf_str(&p->line), fn, ctx);
        buf_clear(&p->line);
        if (r < 0)
            return sticky(p, r);
    }
    return 0;
}
