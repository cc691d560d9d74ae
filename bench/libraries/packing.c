/* SPDX-License-Identifier: MIT */
/* deflate, gunzip and CRC-32 beside zlib, libdeflate and ISA-L. Streams are cut into pieces of 64
 * KiB, as they come from sockets; libdeflate has no streams and gets all at once. */
#include <isa-l.h>
#include <libdeflate.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/crc32.h"
#include "base/deflate.h"
#include "base/gunzip.h"
#include "bench.h"

enum { SAMPLE = 4 << 20, PACKED_MAX = 2 * SAMPLE, PIECE = 64 << 10 };

struct sample {
    const char *name;
    struct buf plain, gzip;
    char *out; /* PACKED_MAX bytes */
    size_t n;
};

/* ---- samples ---- */

static void add_text(struct buf *b)
{
    static const char *const words[] = {"the ",  "workspace ", "of ", "a ",     "tide ", "pool ",
                                        "file ", "\n",         "is ", "shell ", "sand ", "water "};
    unsigned seed = 1;

    while (b->len < SAMPLE)
        (void)buf_printf(b, "%s%u", words[bench_random(&seed) % ARRAY_LEN(words)],
                         bench_random(&seed) % 50);
}

static void add_sheet(struct buf *b)
{
    unsigned seed = 2, row = 0;

    while (b->len < SAMPLE) {
        (void)buf_printf(b, "<row r=\"%u\" spans=\"1:8\">", ++row);
        for (int i = 0; i < 8; i++)
            (void)buf_printf(b, "<c r=\"%c%u\" s=\"%u\"><v>%u</v></c>", 'A' + i, row,
                             bench_random(&seed) % 4, bench_random(&seed) % 100000);
        (void)buf_printf(b, "</row>");
    }
}

static void add_program(struct buf *b)
{
    FILE *f = fopen("/proc/self/exe", "rb");
    char piece[4096];
    size_t n;

    bench_must(f != NULL, "open");
    while (b->len < SAMPLE) {
        n = fread(piece, 1, sizeof piece, f);
        if (n == 0)
            rewind(f);
        (void)buf_add(b, piece, n);
    }
    (void)fclose(f);
}

static void add_noise(struct buf *b)
{
    unsigned seed = 3;

    while (b->len < SAMPLE)
        (void)buf_add_char(b, (char)bench_random(&seed));
}

/* ---- decompression ---- */

static int keep(void *ctx, const char *p, size_t len)
{
    struct sample *s = ctx;

    memcpy(s->out + s->n, p, len);
    s->n += len;
    return 0;
}

static size_t gunzip_ours(void *ctx)
{
    struct sample *s = ctx;
    struct gunzip *z = gunzip_new(keep, s);
    struct str rest = buf_str(&s->gzip);

    s->n = 0;
    for (; rest.len > 0; rest = str_skip(rest, PIECE)) {
        struct str part = str_slice(rest, 0, PIECE);
        bench_must(gunzip_feed(z, part.p, part.len) == 0, "gunzip");
    }
    bench_must(gunzip_finish(z) == 0, "gunzip");
    gunzip_free(z);
    return s->n;
}

static size_t gunzip_zlib(void *ctx)
{
    struct sample *s = ctx;
    struct str rest = buf_str(&s->gzip);
    z_stream z = {0};
    int r = Z_OK;

    bench_must(inflateInit2(&z, 31) == Z_OK, "inflateInit2");
    z.next_out = (Bytef *)s->out;
    z.avail_out = PACKED_MAX;
    for (; rest.len > 0; rest = str_skip(rest, PIECE)) {
        struct str part = str_slice(rest, 0, PIECE);
        z.next_in = (Bytef *)(uintptr_t)part.p;
        z.avail_in = (uInt)part.len;
        r = inflate(&z, Z_NO_FLUSH);
    }
    bench_must(r == Z_STREAM_END, "inflate");
    (void)inflateEnd(&z);
    return z.total_out;
}

static size_t gunzip_libdeflate(void *ctx)
{
    struct sample *s = ctx;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t n = 0;

    bench_must(libdeflate_gzip_decompress(d, s->gzip.p, s->gzip.len, s->out, PACKED_MAX, &n) ==
                   LIBDEFLATE_SUCCESS,
               "libdeflate");
    libdeflate_free_decompressor(d);
    return n;
}

static size_t gunzip_isal(void *ctx)
{
    struct sample *s = ctx;
    struct str rest = buf_str(&s->gzip);
    struct inflate_state *z = malloc(sizeof *z);

    isal_inflate_init(z);
    z->crc_flag = ISAL_GZIP;
    z->next_out = (uint8_t *)s->out;
    z->avail_out = PACKED_MAX;
    for (; rest.len > 0; rest = str_skip(rest, PIECE)) {
        struct str part = str_slice(rest, 0, PIECE);
        z->next_in = (uint8_t *)(uintptr_t)part.p;
        z->avail_in = (uint32_t)part.len;
        bench_must(isal_inflate(z) == ISAL_DECOMP_OK, "isal_inflate");
    }
    size_t n = z->total_out;
    free(z);
    return n;
}

/* ---- compression ---- */

static size_t deflate_ours(void *ctx)
{
    struct sample *s = ctx;
    struct deflate *d = deflate_new(DEFLATE_GZIP, keep, s);
    struct str rest = buf_str(&s->plain);

    s->n = 0;
    for (; rest.len > 0; rest = str_skip(rest, PIECE)) {
        struct str part = str_slice(rest, 0, PIECE);
        bench_must(deflate_feed(d, part.p, part.len) == 0, "deflate");
    }
    bench_must(deflate_finish(d) == 0, "deflate");
    deflate_free(d);
    return s->n;
}

static size_t deflate_zlib(struct sample *s, int level)
{
    struct str rest = buf_str(&s->plain);
    z_stream z = {0};

    bench_must(deflateInit2(&z, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
    z.next_out = (Bytef *)s->out;
    z.avail_out = PACKED_MAX;
    for (; rest.len > 0; rest = str_skip(rest, PIECE)) {
        struct str part = str_slice(rest, 0, PIECE);
        z.next_in = (Bytef *)(uintptr_t)part.p;
        z.avail_in = (uInt)part.len;
        (void)deflate(&z, Z_NO_FLUSH);
    }
    bench_must(deflate(&z, Z_FINISH) == Z_STREAM_END, "zlib");
    (void)deflateEnd(&z);
    return z.total_out;
}

static size_t deflate_zlib_1(void *ctx)
{
    return deflate_zlib(ctx, 1);
}

static size_t deflate_zlib_6(void *ctx)
{
    return deflate_zlib(ctx, 6);
}

static size_t deflate_libdeflate(struct sample *s, int level)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    size_t n = libdeflate_gzip_compress(c, s->plain.p, s->plain.len, s->out, PACKED_MAX);

    bench_must(n > 0, "libdeflate");
    libdeflate_free_compressor(c);
    return n;
}

static size_t deflate_libdeflate_1(void *ctx)
{
    return deflate_libdeflate(ctx, 1);
}

static size_t deflate_libdeflate_6(void *ctx)
{
    return deflate_libdeflate(ctx, 6);
}

static size_t deflate_isal(void *ctx)
{
    struct sample *s = ctx;
    struct isal_zstream *z = malloc(sizeof *z);
    uint8_t *level_buf = malloc(ISAL_DEF_LVL1_DEFAULT);

    isal_deflate_init(z);
    z->gzip_flag = IGZIP_GZIP;
    z->level = 1;
    z->level_buf = level_buf;
    z->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    z->end_of_stream = 1;
    z->next_in = (uint8_t *)s->plain.p;
    z->avail_in = (uint32_t)s->plain.len;
    z->next_out = (uint8_t *)s->out;
    z->avail_out = PACKED_MAX;
    bench_must(isal_deflate(z) == COMP_OK, "isal_deflate");
    size_t n = z->total_out;
    free(level_buf);
    free(z);
    return n;
}

/* ---- check sums ---- */

static size_t crc_ours(void *ctx)
{
    struct sample *s = ctx;

    return crc32_add(0, s->plain.p, s->plain.len);
}

static size_t crc_zlib(void *ctx)
{
    struct sample *s = ctx;

    return crc32(0, (const Bytef *)s->plain.p, (uInt)s->plain.len);
}

static size_t crc_libdeflate(void *ctx)
{
    struct sample *s = ctx;

    return libdeflate_crc32(0, s->plain.p, s->plain.len);
}

static const struct bench_side unpacking[] = {
    {"ours", gunzip_ours},
    {"zlib", gunzip_zlib},
    {"libdeflate", gunzip_libdeflate},
    {"ISA-L", gunzip_isal},
};
static const struct bench_side packing[] = {
    {"ours", deflate_ours},
    {"zlib 1", deflate_zlib_1},
    {"zlib 6", deflate_zlib_6},
    {"libdeflate 1", deflate_libdeflate_1},
    {"libdeflate 6", deflate_libdeflate_6},
    {"ISA-L 1", deflate_isal},
};
static const struct bench_side sums[] = {
    {"ours", crc_ours},
    {"zlib", crc_zlib},
    {"libdeflate", crc_libdeflate},
};

int main(void)
{
    static const struct {
        const char *name;
        void (*add)(struct buf *b);
    } kinds[] = {
        {"text", add_text}, {"sheet", add_sheet}, {"program", add_program}, {"noise", add_noise}};
    char what[32];

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct sample s = {kinds[i].name, BUF_INIT(PACKED_MAX), BUF_INIT(PACKED_MAX), NULL, 0};
        s.out = malloc(PACKED_MAX);
        bench_must(s.out != NULL, "memory");
        kinds[i].add(&s.plain);
        size_t n = deflate_zlib_6(&s);
        (void)buf_add(&s.gzip, s.out, n);
        (void)snprintf(what, sizeof what, "gunzip %s", s.name);
        bench_compare(what, s.plain.len, unpacking, ARRAY_LEN(unpacking), &s);
        (void)snprintf(what, sizeof what, "gzip %s", s.name);
        bench_compare(what, s.plain.len, packing, ARRAY_LEN(packing), &s);
        if (i == 0)
            bench_compare("CRC-32", s.plain.len, sums, ARRAY_LEN(sums), &s);
        free(s.out);
        buf_done(&s.plain);
        buf_done(&s.gzip);
    }
    return 0;
}
