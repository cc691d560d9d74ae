/* SPDX-License-Identifier: MIT */
/* gzip decompression by zlib: see gunzip.h. zlib decodes a member; what is around members (several
 * in a row, nothing else behind them, an end that is missing) is checked here. */
#include "base/gunzip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/mem.h"

enum { HEAD_LEN = 10, OUT_MAX = 64 << 10, GZIP_ONLY = 16, WINDOW_BITS = 15 };

struct gunzip {
    z_stream z;
    gunzip_sink *sink;
    void *ctx;
    const char *reason;
    int error;
    bool is_raw, has_member, is_over; /* is_over: behind the last block, when it is raw */
    size_t n_head;                    /* bytes of the member's head; it is decoded when complete */
    unsigned char head[HEAD_LEN];
    char out[OUT_MAX];
};

static int fail_gunzip_with(struct gunzip *g, const char *reason)
{
    g->reason = reason;
    return g->error = -EINVAL;
}

/* What clients read does not depend on the library. */
static const char *find_reason(const char *said)
{
    static const struct {
        const char *said, *reason;
    } rows[] = {
        {"incorrect header check", "gzip: invalid header"},
        {"header crc mismatch", "gzip: invalid header"},
        {"unknown compression method", "gzip: unknown method or flags"},
        {"unknown header flags set", "gzip: unknown method or flags"},
        {"incorrect data check", "gzip: invalid checksum"},
        {"incorrect length check", "gzip: invalid checksum"},
        {"invalid block type", "deflate: unknown type of block"},
        {"invalid stored block lengths", "deflate: bad length of a stored block"},
        {"too many length or distance symbols", "deflate: too many codes"},
        {"invalid code lengths set", "deflate: bad code of lengths"},
        {"invalid bit length repeat", "deflate: bad lengths"},
        {"invalid code -- missing end-of-block", "deflate: a block without an end"},
        {"invalid distance code", "deflate: bad distance"},
        {"invalid distance too far back", "deflate: a distance beyond the beginning"},
    };

    for (size_t i = 0; said && i < ARRAY_LEN(rows); i++)
        if (strcmp(said, rows[i].said) == 0)
            return rows[i].reason;
    return "deflate: bad code";
}

/* ---- making and freeing ---- */

static void *alloc_for_zlib(void *opaque, uInt n, uInt size)
{
    (void)opaque;
    return mem_alloc((size_t)n * size);
}

static void free_for_zlib(void *opaque, void *p)
{
    (void)opaque;
    free(p);
}

static struct gunzip *new_decoder(gunzip_sink *sink, void *ctx, bool is_raw)
{
    struct gunzip *g = mem_alloc(sizeof *g);

    if (!g)
        return NULL;
    /* All but the output, whose pages are not touched before they are needed. */
    memset(g, 0, offsetof(struct gunzip, out));
    g->sink = sink;
    g->ctx = ctx;
    g->is_raw = is_raw;
    g->reason = "";
    g->z.zalloc = alloc_for_zlib;
    g->z.zfree = free_for_zlib;
    if (inflateInit2(&g->z, is_raw ? -WINDOW_BITS : WINDOW_BITS + GZIP_ONLY) == Z_OK)
        return g;
    free(g);
    return NULL;
}

struct gunzip *gunzip_new(gunzip_sink *sink, void *ctx)
{
    return new_decoder(sink, ctx, false);
}

struct gunzip *gunzip_new_raw(gunzip_sink *sink, void *ctx)
{
    return new_decoder(sink, ctx, true);
}

void gunzip_free(struct gunzip *g)
{
    if (!g)
        return;
    (void)inflateEnd(&g->z);
    free(g);
}

/* ---- feeding ---- */

static int end_member(struct gunzip *g)
{
    g->n_head = 0;
    g->has_member = true;
    g->is_over = g->is_raw;
    return inflateReset(&g->z) == Z_OK ? 0 : fail_gunzip_with(g, "gzip: invalid header");
}

/* Decodes what zlib was given, to its end or to that of the member. */
static int decode_input(struct gunzip *g)
{
    int r;

    do {
        g->z.next_out = (Bytef *)g->out;
        g->z.avail_out = OUT_MAX;
        r = inflate(&g->z, Z_NO_FLUSH);
        size_t n = OUT_MAX - g->z.avail_out;
        if (r == Z_MEM_ERROR)
            return g->error = -ENOMEM;
        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
            return fail_gunzip_with(g, find_reason(g->z.msg));
        int taken = n > 0 ? g->sink(g->ctx, g->out, n) : 0;
        if (taken < 0)
            return g->error = taken;
    } while (r == Z_OK && g->z.avail_out == 0);
    return r == Z_STREAM_END ? end_member(g) : 0;
}

static int decode_bytes(struct gunzip *g, const unsigned char **p, size_t *len)
{
    uInt n = *len < INT32_MAX ? (uInt)*len : INT32_MAX;

    g->z.next_in = (Bytef *)(uintptr_t)*p;
    g->z.avail_in = n;
    int r = decode_input(g);
    *p += n - g->z.avail_in;
    *len -= n - g->z.avail_in;
    return r;
}

/* A head is decoded as a whole, so that what is too short for one is an end, not a bad head. */
static int decode_head(struct gunzip *g, const unsigned char **p, size_t *len)
{
    const unsigned char *head = g->head;
    size_t n = HEAD_LEN - g->n_head, left = HEAD_LEN;

    n = n < *len ? n : *len;
    memcpy(g->head + g->n_head, *p, n);
    g->n_head += n;
    *p += n;
    *len -= n;
    return g->n_head < HEAD_LEN ? 0 : decode_bytes(g, &head, &left);
}

int gunzip_feed(struct gunzip *g, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    while (g->error == 0 && len > 0) {
        if (g->is_over)
            return fail_gunzip_with(g, "deflate: data behind the end");
        (void)(g->is_raw || g->n_head == HEAD_LEN ? decode_bytes : decode_head)(g, &p, &len);
    }
    return g->error;
}

int gunzip_finish(struct gunzip *g)
{
    bool is_whole = g->is_raw ? g->is_over : g->has_member && g->n_head == 0;

    return g->error == 0 && !is_whole ? fail_gunzip_with(g, "unexpected EOF") : g->error;
}

const char *gunzip_reason(const struct gunzip *g)
{
    return g->reason;
}
