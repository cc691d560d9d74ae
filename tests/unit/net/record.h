/* SPDX-License-Identifier: MIT */
/* Calls of the HTTP client that write down what happens, for its tests. */
#pragma once

#include <stdio.h>

#include "net/http_client.h"
#include "peer.h"

static struct loop *loop;

static const struct http_client_timeouts timeouts = {1000, 2000, 3000, 4000};

static inline int setup(void **state)
{
    (void)state;
    peer_stop_clock();
    loop = loop_new(NULL);
    return loop ? 0 : -1;
}

static inline int teardown(void **state)
{
    (void)state;
    loop_free(loop);
    clock_set_source(NULL);
    return 0;
}

static inline struct http_client *new_client(void)
{
    struct http_client_opts opts = {.loop = loop, .timeouts = timeouts};
    struct http_client *c = http_client_new(&opts, NULL);

    assert_non_null(c);
    return c;
}

/* ---- a call that writes down what happens ---- */

struct record {
    struct buf log; /* "i100 h200 body." and, on failure, "!" instead of the dot */
    int n_ends, result, n_drains, n_caught_up;
    char why[200];
    struct http_call *call;
    char abort_in; /* 'h', 'd': that callback aborts */
    bool pause_in_data;
    int data_result;
    const struct stream_ops *upgrade;
    struct stream *stream;
};

static inline void on_info(struct http_call *c, void *ctx, const struct http_head *head)
{
    (void)c;
    (void)buf_printf(&((struct record *)ctx)->log, "i%d ", head->status);
}

static inline void on_head(struct http_call *c, void *ctx, const struct http_head *head)
{
    struct record *r = ctx;

    (void)buf_printf(&r->log, "h%d ", head->status);
    if (r->upgrade)
        r->stream = http_call_upgrade(c, r->upgrade, r);
    if (r->abort_in == 'h')
        http_call_abort(c);
}

static inline int on_data(struct http_call *c, void *ctx, const char *p, size_t len)
{
    struct record *r = ctx;

    assert_true(len > 0);
    (void)buf_add(&r->log, p, len);
    if (r->abort_in == 'd')
        http_call_abort(c);
    else if (r->pause_in_data)
        http_call_pause(c);
    return r->data_result;
}

static inline void on_caught_up(struct http_call *c, void *ctx)
{
    (void)c;
    ((struct record *)ctx)->n_caught_up++;
}

static inline void on_drain(struct http_call *c, void *ctx)
{
    (void)c;
    ((struct record *)ctx)->n_drains++;
}

static inline void on_end(struct http_call *c, void *ctx, int result, const char *why)
{
    struct record *r = ctx;

    (void)c;
    r->n_ends++;
    r->result = result;
    (void)snprintf(r->why, sizeof r->why, "%s", why);
    (void)buf_add_char(&r->log, result == 0 ? '.' : '!');
    assert_int_equal(result == 0, *why == '\0');
}

__attribute__((unused)) static const struct http_call_ops record_ops = {
    .on_info = on_info,
    .on_head = on_head,
    .on_data = on_data,
    .on_caught_up = on_caught_up,
    .on_drain = on_drain,
    .on_end = on_end,
};

static inline void record_init(struct record *r)
{
    *r = (struct record){.log = BUF_INIT(32 << 20)};
}

__attribute__((unused)) static const struct http_request get = {.method = STR_INIT("GET"),
                                                                .target = STR_INIT("/x")};

/* Starts REQ on a socket pair; returns the peer's end. */
static inline int start(struct http_client *c, struct record *r, struct http_request req)
{
    int fds[2];

    peer_pair(fds);
    req.fd = fds[0];
    r->call = http_client_call(c, &req, &record_ops, r, NULL);
    assert_non_null(r->call);
    peer_settle(loop);
    return fds[1];
}
