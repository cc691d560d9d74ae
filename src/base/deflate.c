/* SPDX-License-Identifier: MIT */
/* deflate as a stream: gathers pieces. */
#include "base/deflate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/mem.h"

struct deflate {
    enum deflate_format format;
    deflate_sink *sink;
    void *ctx;
    struct deflate_work *work;
    struct buf out;
    uint32_t crc;
    uint64_t size;
    int error;
    size_t dict, len; /* of bytes */
    unsigned char bytes[DEFLATE_WINDOW + DEFLATE_PIECE];
};

int deflate_gzip_head(struct buf *out)
{
    static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};

    return buf_add(out, head, sizeof head);
}

int deflate_gzip_tail(struct buf *out, uint32_t crc, uint64_t size)
{
    unsigned char tail[8];

    for (unsigned i = 0; i < 4; i++) {
        tail[i] = (unsigned char)(crc >> 8 * i);
        tail[4 + i] = (unsigned char)(size >> 8 * i);
    }
    return buf_add(out, tail, sizeof tail);
}

struct deflate *deflate_new(enum deflate_format format, deflate_sink *sink, void *ctx)
{
    struct deflate *d = mem_alloc(sizeof *d);

    if (!d)
        return NULL;
    memset(d, 0, offsetof(struct deflate, bytes));
    d->format = format;
    d->sink = sink;
    d->ctx = ctx;
    d->work = deflate_work_new();
    buf_init(&d->out, 2 * (size_t)DEFLATE_PIECE);
    if (d->work && (format == DEFLATE_RAW || deflate_gzip_head(&d->out) == 0))
        return d;
    deflate_free(d);
    return NULL;
}

void deflate_free(struct deflate *d)
{
    if (!d)
        return;
    deflate_work_free(d->work);
    buf_done(&d->out);
    free(d);
}

/* Compresses what was gathered; its end stays for the next to refer to. */
static int write_deflate_piece(struct deflate *d, bool is_last)
{
    unsigned char *p = d->bytes + d->dict;

    if (d->format == DEFLATE_GZIP)
        d->crc = crc32_add(d->crc, p, d->len);
    d->size += d->len;
    const struct deflate_piece piece = {p, d->len, d->dict, is_last};
    d->error = deflate_piece(d->work, &piece, &d->out);
    if (is_last && d->format == DEFLATE_GZIP && d->error == 0)
        d->error = deflate_gzip_tail(&d->out, d->crc, d->size);
    if (d->error == 0)
        d->error = d->sink(d->ctx, d->out.p, d->out.len);
    buf_clear(&d->out);
    size_t all = d->dict + d->len, keep = all < DEFLATE_WINDOW ? all : DEFLATE_WINDOW;
    memmove(d->bytes, d->bytes + all - keep, keep);
    d->dict = keep;
    d->len = 0;
    return d->error;
}

int deflate_feed(struct deflate *d, const void *p, size_t len)
{
    const char *at = p;

    while (d->error == 0 && len > 0) {
        size_t room = DEFLATE_PIECE - d->len, n = len < room ? len : room;
        memcpy(d->bytes + d->dict + d->len, at, n);
        d->len += n;
        at += n;
        len -= n;
        if (d->len == DEFLATE_PIECE)
            (void)write_deflate_piece(d, false);
    }
    return d->error;
}

int deflate_finish(struct deflate *d)
{
    return d->error ? d->error : write_deflate_piece(d, true);
}
