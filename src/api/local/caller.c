/* SPDX-License-Identifier: MIT */
#include "api/local/caller.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/internal.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "mcp/mcp.h"

static struct str lower_header_name(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.len + 1);

    for (size_t i = 0; p && i < s.len; i++)
        p[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 0x20 : s.p[i]);
    if (p)
        p[s.len] = '\0';
    return (struct str){p, p ? s.len : 0};
}

/* Adds a header to the object. 0 or -ENOMEM. */
static int add_caller_header(struct arena *a, struct json *object, const struct http_header *h)
{
    struct str name = lower_header_name(a, h->name), value = h->value;
    const struct json *before = name.p ? json_get_str(object, name) : NULL;

    if (before)
        value = arena_printf(a, STR_FMT ", " STR_FMT, STR_ARG(before->s), STR_ARG(h->value));
    const struct json *v = name.p && value.p ? json_new_str(a, value) : NULL;
    return v ? json_set_str(a, object, name, v) : -ENOMEM;
}

struct str local_headers_of(struct arena *a, const struct http_headers *h)
{
    auto_buf struct buf b = BUF_INIT(8 * (size_t)LOCAL_HEADERS_BYTES_MAX);
    struct json *object = json_new_object(a);
    size_t n = 0, bytes = 0;
    int r = object ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < h->n; i++) {
        const struct http_header *one = &h->items[i];
        if (one->name.len < 3 || (one->name.p[0] | 0x20) != 'x' || one->name.p[1] != '-')
            continue;
        bytes += one->name.len + one->value.len;
        if (++n > LOCAL_HEADERS_MAX || bytes > LOCAL_HEADERS_BYTES_MAX)
            return STR_NULL;
        r = add_caller_header(a, object, one);
    }
    return r == 0 && json_write(&b, object, JSON_COMPACT) == 0 ? arena_str(a, buf_str(&b))
                                                               : STR_NULL;
}

struct local_caller *local_caller_new(struct api_req *r, const struct toolset *set, struct str id)
{
    struct str headers = local_headers_of(r->arena, &r->http->head.headers);
    struct local_caller *c;

    if (!headers.p) {
        api_error(r, 431, "There are more than %d 'x-…' headers, or they are too long",
                  LOCAL_HEADERS_MAX);
        return NULL;
    }
    c = mem_zalloc(1, sizeof *c + headers.len);
    if (!c) {
        api_fail(r, -ENOMEM, NULL);
        return NULL;
    }
    c->locals = r->api->locals;
    c->set = set;
    (void)snprintf(c->id, sizeof c->id, STR_FMT, STR_ARG(id));
    memcpy(c + 1, headers.p, headers.len);
    c->headers = (struct str){(const char *)(c + 1), headers.len};
    return c;
}
