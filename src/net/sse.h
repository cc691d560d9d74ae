/* SPDX-License-Identifier: MIT */
/* Server-sent events (text/event-stream): a formatter, a writer that turns a request into a stream
 * of events with a heartbeat, and a parser for the client's side. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct http_req;

struct sse_event {
    struct str event; /* type; empty: "message" */
    struct str id;    /* .p NULL: none; empty: resets the last id */
    struct str data;  /* any line ends; they arrive as LF. .p NULL: no data field */
    int64_t retry_ms; /* when to reconnect; 0 or less: not given */
};

/* Appends the wire form of EV. -EINVAL when event or id hold a line end or NUL (nothing is added
 * then), else as buf_add(). */
int sse_format(struct buf *out, const struct sse_event *ev);

/* ---- writing: loop thread ---- */

struct sse;

struct sse_ops {
    /* After sse_is_full(): the peer has read on. May be NULL. */
    void (*on_drain)(struct sse *s, void *ctx);
    /* The peer left. The last callback; S is freed when it returns. Not called by sse_end(). */
    void (*on_close)(struct sse *s, void *ctx);
};

/* Begins a 200 answer of events to R (headers may have been added before; R belongs to the writer
 * from now on, with its abort_ctx and on_abort fields). When nothing was sent for HEARTBEAT_MS a
 * comment goes out, so that proxies keep the connection and a dead peer is noticed; 0: never. NULL
 * when memory ran out: R was answered with 500. */
struct sse *sse_start(struct http_req *r, int64_t heartbeat_ms, const struct sse_ops *ops,
                      void *ctx);
/* Sends an event. 0; -EINVAL as sse_format(); -EMSGSIZE over SSE_EVENT_MAX; -ENOMEM; -EPIPE when
 * the peer is gone (on_close() follows). The event is always taken: a producer waits while
 * sse_is_full(). */
int sse_send(struct sse *s, const struct sse_event *ev);
/* Sends a comment line, which parsers ignore. */
int sse_comment(struct sse *s, struct str text);
bool sse_is_full(const struct sse *s);
/* Completes the answer; S must not be used afterwards. */
void sse_end(struct sse *s);

/* The most bytes an event may have on the wire. */
#define SSE_EVENT_MAX (16 << 20)

/* ---- parsing ---- */

struct sse_parser {
    struct buf line, event, data, id;
    int64_t retry_ms; /* the last one given; 0 before */
    bool has_data, has_id;
    bool skip_lf;    /* the last line ended with CR: an LF belongs to it */
    bool is_started; /* the first line was read */
    int error;
};

/* EV is valid during the call; its id and retry_ms are the last that were given on the stream. A
 * negative result ends the feed. */
typedef int sse_event_fn(void *ctx, const struct sse_event *ev);

/* MAX_EVENT: most bytes of one line and of one event's data. */
void sse_parser_init(struct sse_parser *p, size_t max_event);
void sse_parser_done(struct sse_parser *p);
/* Feeds bytes, split anywhere, and calls FN for each event. 0; -EMSGSIZE past the maximum, -ENOMEM
 * (the parser fails the same way from then on); or what FN returned. An event without its closing
 * blank line is dropped, as the standard says. */
int sse_parser_feed(struct sse_parser *p, struct str bytes, sse_event_fn *fn, void *ctx);
