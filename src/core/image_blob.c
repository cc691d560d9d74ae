/* SPDX-License-Identifier: MIT */
/* A layer of an image as it is stored: decompressed piece by piece, and checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/gunzip.h"
#include "base/mem.h"
#include "core/image_internal.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum { PIECE = 256 << 10, HEAD = 4 };

struct blob_reading {
    image_sink *sink;
    void *ctx;
    struct digest *stored, *plain;
    struct err *e;
};

struct str image_digest(struct str text)
{
    const struct str prefix = STR("sha256:");
    struct str hex = str_starts(text, prefix) ? str_skip(text, prefix.len) : text;

    if (hex.len != IMAGE_DIGEST_MAX - 1)
        return STR_NULL;
    for (size_t i = 0; i < hex.len; i++)
        if (!strchr("0123456789abcdef", hex.p[i]))
            return STR_NULL;
    return hex;
}

static int take_plain_blob(void *ctx, const char *p, size_t len)
{
    struct blob_reading *r = ctx;

    digest_add(r->plain, p, len);
    return r->sink(r->ctx, p, len, r->e);
}

/* ---- kinds ---- */

/* Each: begins, takes bytes, ends. */
struct blob_kind {
    struct str magic;
    void *(*begin)(struct blob_reading *r);
    int (*feed)(void *state, struct blob_reading *r, const char *p, size_t len);
    int (*end)(void *state, struct blob_reading *r);
    void (*free)(void *state);
};

static void *plain_begin(struct blob_reading *r)
{
    return r;
}

static int plain_feed(void *state, struct blob_reading *r, const char *p, size_t len)
{
    (void)state;
    return take_plain_blob(r, p, len);
}

static int plain_end(void *state, struct blob_reading *r)
{
    (void)state;
    (void)r;
    return 0;
}

static void plain_free(void *state)
{
    (void)state;
}

static void *gzip_begin(struct blob_reading *r)
{
    return gunzip_new(take_plain_blob, r);
}

static int gzip_feed(void *state, struct blob_reading *r, const char *p, size_t len)
{
    int c = gunzip_feed(state, p, len);

    return c < 0 && !r->e->code ? err_set(r->e, c, "%s", gunzip_reason(state)) : c;
}

static int gzip_end(void *state, struct blob_reading *r)
{
    int c = gunzip_finish(state);

    return c < 0 && !r->e->code ? err_set(r->e, c, "%s", gunzip_reason(state)) : c;
}

static void gzip_free(void *state)
{
    gunzip_free(state);
}

#ifdef HAVE_ZSTD
struct zstd_state {
    ZSTD_DStream *stream;
    size_t left; /* 0: at the end of a frame */
    char out[PIECE];
};

static void zstd_free(void *state)
{
    struct zstd_state *z = state;

    if (z)
        (void)ZSTD_freeDStream(z->stream);
    free(z);
}

static void *zstd_begin(struct blob_reading *r)
{
    struct zstd_state *z = mem_zalloc(1, sizeof *z);

    (void)r;
    if (z)
        z->stream = ZSTD_createDStream();
    if (z && z->stream)
        return z;
    zstd_free(z);
    return NULL;
}

static int zstd_feed(void *state, struct blob_reading *r, const char *p, size_t len)
{
    struct zstd_state *z = state;
    ZSTD_inBuffer in = {p, len, 0};

    while (in.pos < in.size) {
        ZSTD_outBuffer out = {z->out, sizeof z->out, 0};
        z->left = ZSTD_decompressStream(z->stream, &out, &in);
        if (ZSTD_isError(z->left))
            return err_set(r->e, -EINVAL, "zstd: %s", ZSTD_getErrorName(z->left));
        int c = out.pos > 0 ? take_plain_blob(r, z->out, out.pos) : 0;
        if (c < 0)
            return c;
    }
    return 0;
}

static int zstd_end(void *state, struct blob_reading *r)
{
    struct zstd_state *z = state;

    return z->left > 0 ? err_set(r->e, -EINVAL, "zstd: cut off") : 0;
}
#else
static void *zstd_begin(struct blob_reading *r)
{
    (void)err_set(r->e, -EOPNOTSUPP, "it is compressed with zstd, which this build cannot read");
    return NULL;
}
#define zstd_feed plain_feed
#define zstd_end  plain_end
#define zstd_free plain_free
#endif

static const struct blob_kind kinds[] = {
    {STR_INIT("\x1f\x8b"), gzip_begin, gzip_feed, gzip_end, gzip_free},
    {STR_INIT("\x28\xb5\x2f\xfd"), zstd_begin, zstd_feed, zstd_end, zstd_free},
    {STR_INIT(""), plain_begin, plain_feed, plain_end, plain_free},
};

static const struct blob_kind *find_blob_kind(const struct image_file *f)
{
    char head[HEAD];
    ssize_t n = pread(f->fd, head, sizeof head, (off_t)f->offset);
    const struct blob_kind *k = kinds;

    while (!str_starts(str_n(head, n > 0 ? (size_t)n : 0), k->magic))
        k++;
    return k;
}

/* ---- all of it ---- */

static int feed_all_plain(struct blob_reading *r, const struct image_blob *b,
                          const struct blob_kind *k, void *state)
{
    char *piece auto_free = mem_zalloc(1, PIECE);
    uint64_t at = 0;
    int c = piece ? 0 : -ENOMEM;

    while (c == 0 && at < b->file.size) {
        size_t len = b->file.size - at > PIECE ? PIECE : (size_t)(b->file.size - at);
        ssize_t n = pread(b->file.fd, piece, len, (off_t)(b->file.offset + at));
        if (n <= 0)
            return err_sys(r->e, n < 0 ? -errno : -EIO, "read");
        digest_add(r->stored, piece, (size_t)n);
        c = k->feed(state, r, piece, (size_t)n);
        at += (uint64_t)n;
        (void)__atomic_add_fetch(b->progress, (uint64_t)n, __ATOMIC_RELAXED);
    }
    return c < 0 ? c : k->end(state, r);
}

static int check_digest(struct digest *d, struct str want, const char *what, struct err *e)
{
    unsigned char sum[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];

    digest_end(d, sum);
    enc_hex(hex, sum, sizeof sum);
    if (want.len == 0 || str_is(image_digest(want), hex))
        return 0;
    return err_set(e, -EBADMSG, "it is corrupted: the digest of %s is %s", what, hex);
}

int image_blob_read(const struct image_blob *b, image_sink *sink, void *ctx, struct err *e)
{
    struct err why = ERR_INIT;
    struct blob_reading r = {
        .sink = sink, .ctx = ctx, .stored = digest_new(), .plain = digest_new(), .e = &why};
    const struct blob_kind *k = find_blob_kind(&b->file);
    void *state = r.stored && r.plain ? k->begin(&r) : NULL;
    int c = state ? feed_all_plain(&r, b, k, state) : why.code ? why.code : -ENOMEM;

    if (state)
        k->free(state);
    if (c == 0)
        c = check_digest(r.stored, b->digest, "what is stored", &why);
    if (c == 0)
        c = check_digest(r.plain, b->diff_id, "its content", &why);
    digest_free(r.stored);
    digest_free(r.plain);
    if (c < 0 && e) {
        if (!why.code)
            (void)err_sys(&why, c, "layer");
        *e = why;
    }
    return c;
}
