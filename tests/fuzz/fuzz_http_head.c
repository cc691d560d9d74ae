/* SPDX-License-Identifier: MIT */
/* Heads of requests and responses: whatever arrives, the parser must not read past it, and must
 * come to the same result when the bytes arrive one by one. The first byte chooses which parser. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "net/http.h"

static const struct http_limits limits = {.max_head = 2048, .max_target = 512, .max_headers = 20};

struct outcome {
    struct arena arena;
    struct http_head head;
    ssize_t n;
};

static ssize_t parse(struct outcome *o, const char *p, size_t len, size_t *scanned, int kind)
{
    const char *reason = NULL;
    ssize_t n = kind % 2
                    ? http_parse_response(&o->arena, p, len, scanned, &limits,
                                          kind & 2 ? HTTP_HEAD : HTTP_GET, &o->head, &reason)
                    : http_parse_request(&o->arena, p, len, scanned, &limits, &o->head, &reason);

    if (n > (ssize_t)len || (n < 0 && (!reason || n > -400 || n < -599)))
        abort();
    return n;
}

static void check_inside(struct str s)
{
    if (s.len > limits.max_head || (s.len && !s.p))
        abort();
    for (size_t i = 0; i < s.len; i++)
        if (s.p[i] == '\r' || s.p[i] == '\n' || s.p[i] == '\0')
            abort();
}

static void check_head(const struct http_head *h, int kind)
{
    check_inside(h->target);
    check_inside(h->path);
    check_inside(h->query);
    check_inside(h->host);
    check_inside(h->reason);
    if (h->headers.n > limits.max_headers)
        abort();
    for (size_t i = 0; i < h->headers.n; i++) {
        check_inside(h->headers.items[i].name);
        check_inside(h->headers.items[i].value);
    }
    if (h->is_chunked && h->content_length >= 0)
        abort();
    if (kind % 2 == 0 && (h->path.len == 0 || (h->path.p[0] != '/' && !str_is(h->path, "*"))))
        abort();
}

static void same(const struct http_head *a, const struct http_head *b)
{
    if (a->content_length != b->content_length || a->is_chunked != b->is_chunked ||
        a->is_keep_alive != b->is_keep_alive || a->headers.n != b->headers.n ||
        !str_eq(a->path, b->path) || !str_eq(a->host, b->host))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole = {.n = 0}, slow = {.n = 0};

    if (size == 0)
        return 0;
    int kind = data[0];
    size_t len = size - 1, scanned = 0;
    /* A copy of the exact size, so that reading past the end is seen. */
    char *p = malloc(len ? len : 1);
    if (!p)
        return 0;
    memcpy(p, data + 1, len);
    arena_init(&whole.arena, 1 << 16);
    arena_init(&slow.arena, 1 << 16);
    whole.n = parse(&whole, p, len, &scanned, kind);
    scanned = 0;
    for (size_t part = 1; part <= len && slow.n == 0; part++)
        slow.n = parse(&slow, p, part, &scanned, kind);
    if (whole.n != slow.n)
        abort();
    if (whole.n > 0) {
        check_head(&whole.head, kind);
        same(&whole.head, &slow.head);
    }
    arena_done(&whole.arena);
    arena_done(&slow.arena);
    free(p);
    return 0;
}
