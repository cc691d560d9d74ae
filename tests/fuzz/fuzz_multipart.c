/* SPDX-License-Identifier: MIT */
/* multipart/form-data. Byte 0: the size of the pieces. Then the Content-Type up to LF, then the
 * body, which is parsed whole and in pieces; both must give the same parts. */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "fuzz.h"
#include "net/multipart.h"

struct result {
    struct buf log;
    size_t depth; /* 1 inside of a part */
    int error;
};

static int on_part(void *ctx, const struct multipart_part *part)
{
    struct result *r = ctx;

    if (r->depth++ != 0 || !str_is_utf8(part->name) || !str_is_utf8(part->filename))
        abort();
    (void)buf_add_char(&r->log, '[');
    (void)buf_add_str(&r->log, part->name);
    (void)buf_add_char(&r->log, '|');
    (void)buf_add_str(&r->log, part->filename);
    (void)buf_add_char(&r->log, '|');
    return buf_add_str(&r->log, part->content_type) < 0 ? -ENOMEM : 0;
}

static int on_data(void *ctx, const char *p, size_t len)
{
    struct result *r = ctx;

    if (r->depth != 1 || len == 0)
        abort();
    return buf_add(&r->log, p, len);
}

static int on_part_end(void *ctx)
{
    struct result *r = ctx;

    if (r->depth-- != 1)
        abort();
    return buf_add_char(&r->log, ']');
}

static int on_end(void *ctx)
{
    struct result *r = ctx;

    if (r->depth != 0)
        abort();
    return buf_add_char(&r->log, '!');
}

static void parse(struct result *r, struct str type, struct str body, size_t piece)
{
    static const struct multipart_ops ops = {on_part, on_data, on_part_end, on_end};
    static const struct multipart_limits limits = {20, 400, 4000};
    const char *reason;
    struct multipart *m = multipart_new(type, &limits, &ops, r, &reason);

    buf_init(&r->log, 1 << 20);
    if (!m)
        return;
    while (body.len > 0 && r->error == 0) {
        struct str part = str_slice(body, 0, piece);
        r->error = multipart_feed(m, part.p, part.len);
        body = str_skip(body, piece);
    }
    if (r->error == 0)
        r->error = multipart_finish(m);
    if (r->error && !*multipart_reason(m))
        abort();
    multipart_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct result whole = {0}, parts = {0};

    if (size < 1)
        return 0;
    struct str body = str_n((const char *)data + 1, size - 1);
    struct str type = str_cut(&body, '\n');
    parse(&whole, type, body, size);
    parse(&parts, type, body, (size_t)data[0] % 32 + 1);
    /* The limit on the total is checked per piece, so only an accepted body must be equal. */
    if (whole.error == 0 && (parts.error != 0 || !str_eq(buf_str(&whole.log), buf_str(&parts.log))))
        abort();
    if (parts.error == 0 && whole.error != 0)
        abort();
    buf_done(&whole.log);
    buf_done(&parts.log);
    return 0;
}
