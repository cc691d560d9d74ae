/* SPDX-License-Identifier: MIT */
/* The reverse proxy: see proxy.h.
 *
 * An exchange is a request of the server and a call of the client, both alive until it is over; or
 * a tunnel, when these have given their streams away. */
#include "proxy/proxy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/mem.h"
#include "net/http_client.h"
#include "net/http_hop.h"
#include "proxy/tunnel.h"

enum {
    KEPT_PER_ADDRESS = 32,
    SMALL = 8192, /* pieces of an answer below this leave together when they came together */
    HELD_BODY_MAX = 65536,
};

struct proxy {
    struct http_client *client;
    struct list exchanges;
    size_t n_exchanges;
    int64_t patience_ms;
};

struct proxy_exchange {
    struct list node;
    struct list in_group;
    struct proxy *proxy;
    struct http_req *req;   /* NULL once it is answered */
    struct http_call *call; /* NULL once it is over */
    struct tunnel *tunnel;
    struct rewrite_rules rules;
    const struct proxy_filter *filter; /* NULL: none, or not for this answer */
    void (*fail)(struct http_req *r, const struct proxy_fault *f);
    bool (*is_cut)(void *ctx); /* of answers without a length; else NULL */
    void (*done)(void *ctx);
    void *ctx;
    bool is_reading; /* the request's body */
    bool is_started; /* the answer */
};

/* ---- the end ---- */

static void finish_proxied(struct proxy_exchange *x)
{
    list_del(&x->node);
    list_del(&x->in_group);
    x->proxy->n_exchanges--;
    if (x->done)
        x->done(x->ctx);
    free(x);
}

/* The answer has begun, and there is no more of it. */
static void cut_answer(const struct proxy_exchange *x, struct http_req *r,
                       const struct proxy_fault *f)
{
    if (x->filter && x->filter->cut && x->filter->cut(x->filter->ctx, r, f))
        http_end(r);
    else
        http_abort(r);
}

/* Ends the call, answers when there is still a chance to, and finishes. */
static void give_up_pass(struct proxy_exchange *x, const struct proxy_fault *f)
{
    struct http_call *call = take(x->call);
    struct http_req *r = take(x->req);

    if (call)
        http_call_abort(call);
    if (r) {
        r->on_abort = NULL;
        if (x->is_started)
            cut_answer(x, r, f);
        else if (f->status == 0)
            http_abort(r);
        else
            x->fail(r, f);
    }
    finish_proxied(x);
}

static void run_out(struct proxy_exchange *x)
{
    give_up_pass(x, &(struct proxy_fault){503, -ENOMEM, "out of memory"});
}

/* ---- from the client ---- */

static void on_client_abort(struct http_req *r)
{
    static const char *const faults[] = {"the request body is malformed",
                                         "the request body took too long",
                                         "the request body is too large"};

    const char *why = faults[r->fault == 408 ? 1 : r->fault == 413 ? 2 : 0];
    give_up_pass(r->abort_ctx, &(struct proxy_fault){r->fault, 0, why});
}

static int on_request_data(struct http_req *r, void *ctx, const char *p, size_t len)
{
    struct proxy_exchange *x = ctx;

    /* A call that cannot take it is about to end. */
    if (http_call_write(x->call, p, len) < 0)
        return -EPIPE;
    if (http_call_is_full(x->call))
        http_body_pause(r);
    return 0;
}

static void on_request_end(struct http_req *r, void *ctx)
{
    struct proxy_exchange *x = ctx;

    (void)r;
    (void)http_call_end(x->call);
}

static const struct http_body_sink request_sink = {on_request_data, on_request_end};

static ssize_t on_request_bulk(struct http_req *r, void *ctx, int from, size_t max)
{
    struct proxy_exchange *x = ctx;
    ssize_t n = http_call_splice(x->call, from, max);

    if (n > 0 && http_call_is_full(x->call))
        http_body_pause(r);
    return n;
}

static void on_client_drain(struct http_req *r, void *ctx)
{
    struct proxy_exchange *x = ctx;

    (void)r;
    http_call_resume(x->call);
}

/* ---- from the service ---- */

/* The service is there, or can take more. */
static void on_service_drain(struct http_call *c, void *ctx)
{
    struct proxy_exchange *x = ctx;

    (void)c;
    if (x->is_reading) {
        http_body_resume(x->req);
        return;
    }
    x->is_reading = true;
    http_on_bulk(x->req, on_request_bulk);
    /* May end the exchange. */
    http_stream_body(x->req, UINT64_MAX, &request_sink, x);
}

static void on_tunnel_done(void *ctx)
{
    finish_proxied(ctx);
}

/* Between two owners of a stream nothing happens to it. */
static const struct stream_ops no_ops = {.on_data = NULL};

static void switch_protocols(struct proxy_exchange *x, const struct http_head *head)
{
    struct http_req *r = x->req;

    if (rewrite_answer(x->req, &x->rules, &head->headers) < 0 ||
        http_add_header(r, "Upgrade", http_header_get(&head->headers, "upgrade")) < 0) {
        run_out(x);
        return;
    }
    struct stream *service = http_call_upgrade(take(x->call), &no_ops, NULL);
    struct stream *client = http_upgrade(take(x->req), 101, &no_ops, NULL);
    if (!client) {
        stream_close(service);
        finish_proxied(x);
        return;
    }
    if (x->proxy->patience_ms > 0)
        stream_set_write_timeout(client, x->proxy->patience_ms);
    x->tunnel = tunnel_open(client, service, on_tunnel_done, x);
    if (!x->tunnel)
        finish_proxied(x);
}

/* The length that the response states; -1: none. */
static int64_t length_of(const struct proxy_exchange *x, const struct http_head *head)
{
    int64_t length = head->is_chunked ? -1 : head->content_length;

    /* An answer to HEAD has no body, but may say how long it would be. */
    if (x->req->head.method == HTTP_HEAD &&
        str_to_i64(http_header_get(&head->headers, "content-length"), &length) < 0)
        length = -1;
    return length;
}

static void on_upstream_head(struct http_call *c, void *ctx, const struct http_head *head)
{
    struct proxy_exchange *x = ctx;
    int64_t length = length_of(x, head);

    (void)c;
    if (head->status == 101) {
        switch_protocols(x, head);
        return;
    }
    if (rewrite_answer(x->req, &x->rules, &head->headers) < 0) {
        run_out(x);
        return;
    }
    if (head->is_chunked || length >= 0)
        x->is_cut = NULL;
    if (x->filter && !x->filter->begin(x->filter->ctx, head, &length))
        x->filter = NULL;
    x->is_started = true;
    if (length < 0 && x->proxy->patience_ms > 0)
        http_set_patience(x->req, x->proxy->patience_ms);
    http_on_drain(x->req, on_client_drain, x);
    http_cork(x->req);
    http_start(x->req, head->status, NULL, length);
}

static int on_upstream_data(struct http_call *c, void *ctx, const char *p, size_t len)
{
    struct proxy_exchange *x = ctx;

    if (len < SMALL)
        http_cork(x->req);
    /* A client that is gone is reported by on_abort(). */
    if (x->filter)
        x->filter->data(x->filter->ctx, x->req, p, len);
    else
        (void)http_write(x->req, p, len);
    if (len >= SMALL)
        http_uncork(x->req);
    if (http_is_full(x->req))
        http_call_pause(c);
    return 0;
}

static void on_caught_up(struct http_call *c, void *ctx)
{
    struct proxy_exchange *x = ctx;

    (void)c;
    http_uncork(x->req);
}

static ssize_t on_upstream_bulk(struct http_call *c, void *ctx, int from, size_t max)
{
    struct proxy_exchange *x = ctx;
    ssize_t n = x->filter ? -EOPNOTSUPP : http_splice(x->req, from, max);

    if (n > 0 && http_is_full(x->req))
        http_call_pause(c);
    return n;
}

static void on_upstream_end(struct http_call *c, void *ctx, int result, const char *why)
{
    struct proxy_exchange *x = ctx;

    (void)c;
    x->call = NULL;
    if (result == 0 && x->is_cut && x->is_cut(x->ctx))
        result = -ECONNRESET;
    if (result < 0) {
        give_up_pass(x, &(struct proxy_fault){result == -ETIMEDOUT ? 504 : 502, result, why});
        return;
    }
    struct http_req *r = take(x->req);
    r->on_abort = NULL;
    if (x->filter && x->filter->end)
        x->filter->end(x->filter->ctx, r);
    http_end(r);
    finish_proxied(x);
}

static const struct http_call_ops call_ops = {
    .on_head = on_upstream_head,
    .on_data = on_upstream_data,
    .on_caught_up = on_caught_up,
    .on_bulk = on_upstream_bulk,
    .on_drain = on_service_drain,
    .on_end = on_upstream_end,
};

/* ---- starting ---- */

static bool has_proxy_body(const struct http_req *r, const struct proxy_pass *pass)
{
    return !pass->has_no_body && (r->head.is_chunked || r->head.content_length > 0);
}

/* The first bytes of the body are here, or will be in a moment. */
static bool is_at_hand(const struct http_req *r)
{
    const struct http_head *h = &r->head;

    return !h->is_chunked && !h->expects_continue && h->content_length <= HELD_BODY_MAX;
}

/* The protocol that R asks to switch to; NULL: none. */
static const char *upgrade_of(const struct http_req *r)
{
    return r->head.is_upgrade ? arena_str(r->arena, http_header_get(&r->head.headers, "upgrade")).p
                              : NULL;
}

static struct http_call *start_proxy_call(struct proxy_exchange *x, const struct proxy_pass *pass,
                                          struct err *e)
{
    struct http_req *r = x->req;
    auto_close int fd = pass->fd > 0 ? pass->fd : -1;
    struct http_headers headers;

    if (rewrite_headers(r, &pass->rules, &headers) < 0) {
        (void)err_sys(e, -ENOMEM, "request");
        return NULL;
    }
    const struct http_request request = {
        .address = fd < 0 ? pass->address : NULL,
        .fd = take_fd(fd),
        .method = pass->method.len ? pass->method : r->head.method_text,
        .target = pass->target,
        .host = pass->host.len ? pass->host : STR("localhost"),
        .headers = headers.items,
        .n_headers = headers.n,
        .body = pass->has_no_body ? pass->body : STR_NULL,
        .is_streamed = has_proxy_body(r, pass),
        .length = r->head.is_chunked ? -1 : r->head.content_length,
        .is_held = is_at_hand(r),
        .upgrade = has_proxy_body(r, pass) ? NULL : upgrade_of(r),
    };
    return http_client_call(pass->client ? pass->client : x->proxy->client, &request, &call_ops, x,
                            e);
}

void proxy_pass(struct proxy *p, struct http_req *r, const struct proxy_pass *pass)
{
    struct proxy_exchange *x = mem_zalloc(1, sizeof *x);
    struct err e = ERR_INIT;

    if (!x) {
        if (pass->fd > 0)
            (void)close(pass->fd);
        pass->fail(r, &(struct proxy_fault){503, -ENOMEM, "out of memory"});
        if (pass->done)
            pass->done(pass->ctx);
        return;
    }
    *x = (struct proxy_exchange){
        .proxy = p,
        .req = r,
        .filter = pass->filter,
        .rules = pass->rules,
        .fail = pass->fail,
        .is_cut = pass->is_cut,
        .done = pass->done,
        .ctx = pass->ctx,
    };
    list_init(&x->in_group);
    if (pass->group)
        list_append(pass->group, &x->in_group);
    list_append(&p->exchanges, &x->node);
    p->n_exchanges++;
    r->on_abort = on_client_abort;
    r->abort_ctx = x;
    x->call = start_proxy_call(x, pass, &e);
    if (!x->call)
        give_up_pass(x, &(struct proxy_fault){e.code == -ENOMEM ? 503 : 502, e.code, err_text(&e)});
    else if (has_proxy_body(r, pass) && !http_call_is_full(x->call))
        /* On a connection that was kept nothing has to be waited for. */
        on_service_drain(x->call, x);
}

void proxy_end_group(struct list *group, const struct proxy_fault *f)
{
    for (struct list *node; (node = list_pop(group));) {
        struct proxy_exchange *x = list_entry(node, struct proxy_exchange, in_group);
        if (x->tunnel)
            tunnel_close(x->tunnel);
        else
            give_up_pass(x, f);
    }
}

/* ---- the proxy ---- */

struct proxy *proxy_new(const struct proxy_opts *o, struct err *e)
{
    const struct http_client_opts opts = {
        .loop = o->loop,
        .timeouts = {.connect_ms = PROXY_CONNECT_MS, .keep_ms = PROXY_KEEP_MS},
        .max_kept_per_address = KEPT_PER_ADDRESS,
        .dial = o->dial,
        .ctx = o->ctx,
    };
    struct proxy *p = mem_zalloc(1, sizeof *p);

    if (!p) {
        (void)err_sys(e, -ENOMEM, "proxy");
        return NULL;
    }
    list_init(&p->exchanges);
    p->patience_ms = o->patience_ms;
    p->client = http_client_new(&opts, e);
    if (!p->client) {
        free(p);
        return NULL;
    }
    return p;
}

void proxy_free(struct proxy *p)
{
    if (!p)
        return;
    while (!list_is_empty(&p->exchanges)) {
        struct proxy_exchange *x = list_entry(p->exchanges.next, struct proxy_exchange, node);
        if (x->tunnel)
            tunnel_close(x->tunnel);
        else
            give_up_pass(x, &(struct proxy_fault){0});
    }
    http_client_free(p->client);
    free(p);
}

size_t proxy_n_active(const struct proxy *p)
{
    return p->n_exchanges;
}
