/* SPDX-License-Identifier: MIT */
/* Tunnels: see tunnel.h. */
#include "proxy/tunnel.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/splice.h"

struct tunnel_side {
    struct tunnel *tunnel;
    struct tunnel_side *other;
    struct stream *stream; /* NULL once it is gone */
    bool is_ended;         /* it will send nothing more */
};

struct tunnel {
    struct tunnel_side sides[2];
    unsigned n_open;
    bool is_closing; /* by tunnel_close() */
    void (*done)(void *ctx);
    void *ctx;
};

static ssize_t on_tunnel_data(struct stream *s, void *ctx, const char *p, size_t len)
{
    struct tunnel_side *from = ctx;
    struct stream *to = from->other->stream;

    /* What comes while the other side is gone is for nobody. */
    if (!to)
        return (ssize_t)len;
    if (from->other->is_ended)
        stream_set_timeout(s, TUNNEL_HALF_MS);
    if (stream_write(to, p, len) == 0 && stream_is_full(to))
        stream_pause(s);
    return (ssize_t)len;
}

static ssize_t on_tunnel_bulk(struct stream *s, void *ctx)
{
    struct tunnel_side *from = ctx;
    struct stream *to = from->other->stream;
    ssize_t n =
        to && !from->other->is_ended ? splice_to(to, stream_fd(s), SPLICE_MIN) : -EOPNOTSUPP;

    if (n > 0 && stream_is_full(to))
        stream_pause(s);
    return n;
}

static void on_tunnel_drain(struct stream *s, void *ctx)
{
    struct tunnel_side *side = ctx;

    (void)s;
    if (side->other->stream)
        stream_resume(side->other->stream);
}

static void on_tunnel_eof(struct stream *s, void *ctx)
{
    struct tunnel_side *side = ctx;
    struct stream *other = side->other->stream;

    side->is_ended = true;
    if (!other)
        return;
    if (!side->other->is_ended) {
        stream_shutdown(other);
        stream_set_timeout(other, TUNNEL_HALF_MS);
        return;
    }
    /* Both have ended: what is queued still goes out. */
    stream_set_timeout(s, TUNNEL_LINGER_MS);
    stream_set_timeout(other, TUNNEL_LINGER_MS);
    stream_close_after_flush(s);
    stream_close_after_flush(other);
}

static void on_tunnel_close(struct stream *s, void *ctx, int reason)
{
    struct tunnel_side *side = ctx;
    struct tunnel *t = side->tunnel;
    struct stream *other = side->other->stream;

    (void)s;
    side->stream = NULL;
    if (--t->n_open == 0) {
        t->done(t->ctx);
        free(t);
    } else if (reason < 0 || t->is_closing) {
        stream_abort(other);
    } else {
        stream_set_timeout(other, TUNNEL_LINGER_MS);
        stream_close_after_flush(other);
    }
}

static const struct stream_ops ops = {
    .on_data = on_tunnel_data,
    .on_bulk = on_tunnel_bulk,
    .on_drain = on_tunnel_drain,
    .on_eof = on_tunnel_eof,
    .on_close = on_tunnel_close,
};

/* For streams that nobody owns any more. */
static const struct stream_ops no_ops = {.on_data = NULL};

struct tunnel *tunnel_open(struct stream *a, struct stream *b, void (*done)(void *ctx), void *ctx)
{
    struct tunnel *t = mem_zalloc(1, sizeof *t);
    struct stream *streams[2] = {a, b};

    if (!t) {
        for (int i = 0; i < 2; i++) {
            stream_set_ops(streams[i], &no_ops, NULL);
            stream_close(streams[i]);
        }
        return NULL;
    }
    t->done = done;
    t->ctx = ctx;
    t->n_open = 2;
    for (int i = 0; i < 2; i++) {
        t->sides[i] = (struct tunnel_side){t, &t->sides[1 - i], streams[i], false};
        stream_set_ops(streams[i], &ops, &t->sides[i]);
        stream_set_timeout(streams[i], 0);
        stream_resume(streams[i]);
    }
    return t;
}

void tunnel_close(struct tunnel *t)
{
    struct stream *a = t->sides[0].stream;

    t->is_closing = true;
    /* The end of one side closes the other, and that frees the tunnel. */
    stream_abort(a ? a : t->sides[1].stream);
}
