/* SPDX-License-Identifier: MIT */
/* Compression: what was compressed comes back as it was, whatever it is, as a stream and by pieces.
 * Byte 0 is the size of the pieces and how often the rest is repeated. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/crc32.h"
#include "base/deflate.h"
#include "base/gunzip.h"
#include "fuzz.h"

enum { OUT_MAX = 4 << 20, PLAIN_MAX = 1 << 20 };

static int collect(void *ctx, const char *p, size_t len)
{
    return buf_add(ctx, p, len);
}

static void must_be(struct str packed, struct str plain)
{
    struct buf out = BUF_INIT(OUT_MAX);
    struct gunzip *z = gunzip_new(collect, &out);

    if (!z || gunzip_feed(z, packed.p, packed.len) != 0 || gunzip_finish(z) != 0 ||
        !str_eq(buf_str(&out), plain))
        abort();
    gunzip_free(z);
    buf_done(&out);
}

static void as_stream(struct str plain, size_t step, struct buf *out)
{
    struct deflate *d = deflate_new(DEFLATE_GZIP, collect, out);

    if (!d)
        abort();
    for (struct str s = plain; s.len > 0; s = str_skip(s, step)) {
        struct str part = str_slice(s, 0, step);
        if (deflate_feed(d, part.p, part.len) != 0)
            abort();
    }
    if (deflate_finish(d) != 0)
        abort();
    deflate_free(d);
}

static void by_pieces(struct str plain, size_t step, struct buf *out)
{
    struct deflate_work *w = deflate_work_new();
    uint32_t crc = 0;
    size_t at = 0;

    if (!w || deflate_gzip_head(out) != 0)
        abort();
    do {
        struct str part = str_slice(plain, at, at + step);
        size_t dict = at < DEFLATE_WINDOW ? at : DEFLATE_WINDOW;
        const struct deflate_piece piece = {part.p, part.len, dict, at + step >= plain.len};
        if (deflate_piece(w, &piece, out) != 0)
            abort();
        crc = crc32_join(crc, crc32_add(0, part.p, part.len), part.len);
        at += step;
    } while (at < plain.len);
    if (deflate_gzip_tail(out, crc, plain.len) != 0)
        abort();
    deflate_work_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf plain = BUF_INIT(PLAIN_MAX), out = BUF_INIT(OUT_MAX);

    if (size < 2)
        return 0;
    size_t step = 1 + (size_t)(data[0] & 15) * 4099;
    for (unsigned i = 0; i <= data[0] >> 4; i++)
        (void)buf_add(&plain, data + 1, size - 1);
    as_stream(buf_str(&plain), step, &out);
    must_be(buf_str(&out), buf_str(&plain));
    if (step > 1) {
        buf_clear(&out);
        by_pieces(buf_str(&plain), step, &out);
        must_be(buf_str(&out), buf_str(&plain));
    }
    buf_done(&plain);
    buf_done(&out);
    return 0;
}
