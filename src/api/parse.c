/* SPDX-License-Identifier: MIT */
#include "api/parse.h"

#include <errno.h>

#include "api/internal.h"
#include "base/cleanup.h"
#include "loop/work.h"

enum {
    SHORT = 512 << 10,  /* bytes that the loop's thread parses itself */
    VALUES_MAX = 500000 /* of a body; they are looked at once more on the loop's thread */
};

struct api_long_body {
    struct work work;
    struct api_req *r;
    void (*then)(struct api_req *r);
    struct json *value;
    struct err err;
};

/* The request waits for its answer, so that its arena and its body stay. */
static void parse_body_on_worker(struct work *w)
{
    struct api_long_body *b = container_of(w, struct api_long_body, work);
    const struct json_limits limits = {
        .max_depth = 128, .max_values = VALUES_MAX, .max_bytes = 64UL << 20};

    b->value = json_parse(b->r->arena, b->r->http->body, &limits, &b->err);
}

static void on_body_parsed(struct work *w)
{
    struct api_long_body *b = container_of(w, struct api_long_body, work);
    struct api_req *r = b->r;

    if (b->err.code == -E2BIG) {
        api_error(r, 413, "The body is too large: it may have %d values", VALUES_MAX);
        return;
    }
    r->long_body = b;
    b->then(r);
}

static struct work_pool *parsers(struct api *a)
{
    const struct work_opts o = {.n = 2, .n_reserve = 4, .max_queued = 1024};

    if (!a->parsers)
        a->parsers = work_pool_make(&o, NULL);
    return a->parsers;
}

void api_parse_long(struct api_req *r, void (*then)(struct api_req *r))
{
    struct work_pool *pool = r->http->body.len > SHORT ? parsers(r->api) : NULL;
    struct api_long_body *b = pool ? arena_new(r->arena, struct api_long_body) : NULL;

    if (r->http->body.len <= SHORT) {
        then(r);
        return;
    }
    if (b) {
        *b = (struct api_long_body){.r = r, .then = then, .err = ERR_INIT};
        b->work = (struct work){.run = parse_body_on_worker, .done = on_body_parsed};
        b->work.owner = r->key ? str_of(r->key->account->id) : STR("");
    }
    if (!b || work_submit(pool, r->core->loop, &b->work) < 0)
        api_error(r, 503, "too many long bodies are being read");
}

struct json *api_parsed(struct api_req *r, struct err *e)
{
    if (!r->long_body)
        return str_trim(r->http->body).len > 0 ? json_parse(r->arena, r->http->body, NULL, e)
                                               : NULL;
    if (r->long_body->err.code)
        *e = r->long_body->err;
    return r->long_body->value;
}
