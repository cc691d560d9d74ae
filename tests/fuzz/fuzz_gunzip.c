/* SPDX-License-Identifier: MIT */
/* gzip decompression: byte 0 is the size of the pieces, the rest the input. Whole and in pieces
 * must give the same, and zlib must agree on whether the input is right and what it holds. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/gunzip.h"
#include "fuzz.h"

enum { OUT_MAX = 1 << 20 };

static int collect(void *ctx, const char *p, size_t len)
{
    return buf_add(ctx, p, len);
}

static int ours(struct str data, size_t piece, struct buf *out)
{
    struct gunzip *z = gunzip_new(collect, out);
    int r = 0;

    if (!z)
        abort();
    for (; r == 0 && data.len > 0; data = str_skip(data, piece)) {
        struct str part = str_slice(data, 0, piece);
        r = gunzip_feed(z, part.p, part.len);
    }
    if (r == 0)
        r = gunzip_finish(z);
    gunzip_free(z);
    return r;
}

/* One member after another, as `gzip -d` does, but nothing else behind them. */
static int theirs(struct str data, struct buf *out)
{
    z_stream s = {0};
    int r = Z_OK;

    if (inflateInit2(&s, 15 + 16) != Z_OK || buf_reserve(out, OUT_MAX) < 0)
        abort();
    s.next_in = (Bytef *)(uintptr_t)data.p;
    s.avail_in = (uInt)data.len;
    s.next_out = (Bytef *)out->p;
    s.avail_out = OUT_MAX;
    while ((r = inflate(&s, Z_FINISH)) == Z_STREAM_END && s.avail_in > 0)
        if (inflateReset(&s) != Z_OK)
            abort();
    out->len = OUT_MAX - s.avail_out;
    (void)inflateEnd(&s);
    return r == Z_STREAM_END ? 0 : -EINVAL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = BUF_INIT(OUT_MAX), parts = BUF_INIT(OUT_MAX), want = BUF_INIT(OUT_MAX);

    if (size < 1)
        return 0;
    struct str input = str_n((const char *)data + 1, size - 1);
    int r = ours(input, size, &whole), p = ours(input, (size_t)data[0] % 64 + 1, &parts);
    if ((r == 0) != (p == 0) || (r == 0 && !str_eq(buf_str(&whole), buf_str(&parts))))
        abort();
    int t = theirs(input, &want);
    /* What is larger than we keep cannot be compared. */
    if (r != -ENOBUFS && p != -ENOBUFS && want.len < OUT_MAX &&
        (r != t || (r == 0 && !str_eq(buf_str(&whole), buf_str(&want)))))
        abort();
    buf_done(&whole);
    buf_done(&parts);
    buf_done(&want);
    return 0;
}
