/* SPDX-License-Identifier: MIT */
/* Whole responses in one piece: see http_client.h. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/http_client_internal.h"

enum { MAX_BODY = 1 << 20 };

struct http_fetching {
    void (*done)(void *ctx, const struct http_response *r);
    void *ctx;
    struct http_response response;
    struct buf body;
};

static void on_fetch_head(struct http_call *c, void *ctx, const struct http_head *head)
{
    (void)c;
    ((struct http_fetching *)ctx)->response.head = *head;
}

static int on_fetch_data(struct http_call *c, void *ctx, const char *p, size_t len)
{
    struct http_fetching *f = ctx;
    int r = buf_add(&f->body, p, len);

    (void)c;
    return r == -ENOBUFS ? -EMSGSIZE : r;
}

static void on_fetch_end(struct http_call *c, void *ctx, int result, const char *why)
{
    struct http_fetching *f = ctx;

    (void)c;
    f->response.error = result;
    f->response.why = result == -EMSGSIZE ? "response body: too large" : why;
    f->response.body = f->body.p ? buf_str(&f->body) : STR("");
    f->done(f->ctx, &f->response);
}

static void free_fetch(void *ctx)
{
    struct http_fetching *f = ctx;

    buf_done(&f->body);
    free(f);
}

static const struct http_call_ops fetch_ops = {
    .on_head = on_fetch_head,
    .on_data = on_fetch_data,
    .on_end = on_fetch_end,
};

struct http_call *http_client_fetch(struct http_client *c, const struct http_request *req,
                                    void (*done)(void *ctx, const struct http_response *r),
                                    void *ctx, struct err *e)
{
    struct http_fetching *f = mem_zalloc(1, sizeof *f);
    struct http_call *call = NULL;

    if (f) {
        f->done = done;
        f->ctx = ctx;
        buf_init(&f->body, req->max_body ? req->max_body : MAX_BODY);
        call = http_client_call(c, req, &fetch_ops, f, e);
    } else {
        (void)err_sys(e, -ENOMEM, "request");
        if (req->fd > 0)
            (void)close(req->fd);
    }
    if (call)
        call->dispose = free_fetch;
    else
        free(f);
    return call;
}
