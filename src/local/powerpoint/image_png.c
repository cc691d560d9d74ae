/* SPDX-License-Identifier: MIT */
/* PNG files of 8 bits for each channel, not interlaced (RFC 2083). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/crc32.h"
#include "base/deflate.h"
#include "base/gunzip.h"
#include "base/mem.h"
#include "local/powerpoint/image.h"

static const char magic[8] = "\x89PNG\r\n\x1a\n";

static uint32_t read_png_number(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

void image_done(struct image *m)
{
    free(m->rgba);
    *m = (struct image){0};
}

/* ---- reading ---- */

struct png {
    uint32_t width, height;
    unsigned type, channels;
    struct str palette, alphas;
    struct buf packed; /* all IDAT chunks */
    struct buf rows;   /* unpacked: a filter's number before each row */
};

static int check_png_head(struct png *p, struct str head, struct err *e)
{
    static const unsigned channels[7] = {1, 0, 3, 1, 2, 0, 4};

    p->width = read_png_number(head.p);
    p->height = read_png_number(head.p + 4);
    p->type = (unsigned char)head.p[9];
    p->channels = p->type < 7 ? channels[p->type] : 0;
    if (head.p[8] != 8 || head.p[12] != 0 || p->channels == 0)
        return err_set(e, -ENOTSUP,
                       "only PNG files of 8 bits that are not interlaced can be enhanced");
    if (p->width == 0 || p->height == 0)
        return err_set(e, -EINVAL, "the PNG file has no pixels");
    if ((uint64_t)p->width * p->height > IMAGE_PIXELS_MAX)
        return err_set(e, -E2BIG, "the picture has more than %d pixels", (int)IMAGE_PIXELS_MAX);
    return 0;
}

static int read_chunks(struct png *p, struct str bytes, struct err *e)
{
    bool has_head = false;

    if (bytes.len < 8 || memcmp(bytes.p, magic, 8) != 0)
        return err_set(e, -ENOTSUP, "only PNG files can be enhanced");
    for (size_t at = 8; at + 12 <= bytes.len;) {
        uint32_t len = read_png_number(bytes.p + at);
        struct str type = str_n(bytes.p + at + 4, 4);
        if (len > bytes.len - at - 12)
            break;
        struct str data = str_n(bytes.p + at + 8, len);
        int r = 0;
        if (str_is(type, "IHDR") && len == 13) {
            r = check_png_head(p, data, e);
            has_head = true;
        }
        if (str_is(type, "PLTE"))
            p->palette = data;
        if (str_is(type, "tRNS"))
            p->alphas = data;
        if (str_is(type, "IDAT") && buf_add_str(&p->packed, data) < 0)
            r = err_set(e, -ENOMEM, "out of memory");
        if (r < 0)
            return r;
        if (str_is(type, "IEND"))
            return has_head ? 0 : err_set(e, -EINVAL, "the PNG file has no head");
        at += (size_t)len + 12;
    }
    return err_set(e, -EINVAL, "the PNG file is cut off");
}

static int add_png_rows(void *ctx, const char *p, size_t len)
{
    return buf_add(ctx, p, len);
}

static int unpack_png(struct png *p, struct err *e)
{
    struct gunzip *z = gunzip_new_raw(add_png_rows, &p->rows);

    if (!z)
        return err_set(e, -ENOMEM, "out of memory");
    /* Two bytes before the data, a check sum of four behind it. */
    int r = p->packed.len > 6 ? gunzip_feed(z, p->packed.p + 2, p->packed.len - 6) : -EINVAL;
    if (r == 0)
        r = gunzip_finish(z);
    gunzip_free(z);
    size_t want = ((size_t)p->width * p->channels + 1) * p->height;
    if (r < 0 || p->rows.len != want)
        return err_set(e, -EINVAL, "the pixels of the PNG file are damaged");
    return 0;
}

static uint8_t paeth(int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);

    if (pa <= pb && pa <= pc)
        return (uint8_t)a;
    return (uint8_t)(pb <= pc ? b : c);
}

/* Undoes the filter of each row, in place. */
static int unfilter(struct png *p)
{
    size_t n = p->channels, len = (size_t)p->width * n;
    uint8_t *row = (uint8_t *)p->rows.p, *above = NULL;

    for (uint32_t y = 0; y < p->height; y++, above = row + 1, row += len + 1) {
        unsigned filter = row[0];
        if (filter > 4)
            return -EINVAL;
        for (size_t x = 0; x < len; x++) {
            int a = x >= n ? row[1 + x - n] : 0, b = above ? above[x] : 0;
            int c = above && x >= n ? above[x - n] : 0;
            int add[5] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
            row[1 + x] = (uint8_t)(row[1 + x] + add[filter]);
        }
    }
    return 0;
}

static void set_pixel(const struct png *p, const uint8_t *from, uint8_t *to)
{
    size_t i = from[0];

    memset(to, 0, 3);
    to[3] = 255;
    if (p->type == 3) {
        if (i * 3 + 2 < p->palette.len)
            memcpy(to, p->palette.p + i * 3, 3);
        if (i < p->alphas.len)
            to[3] = (uint8_t)p->alphas.p[i];
        return;
    }
    bool is_gray = p->type == 0 || p->type == 4;
    for (size_t k = 0; k < 3; k++)
        to[k] = from[is_gray ? 0 : k];
    if (p->type == 4 || p->type == 6)
        to[3] = from[p->channels - 1];
}

static int make_pixels(struct png *p, struct image *ret, struct err *e)
{
    if (unfilter(p) < 0)
        return err_set(e, -EINVAL, "the PNG file has an unknown filter");
    ret->rgba = mem_alloc((size_t)p->width * p->height * 4);
    if (!ret->rgba)
        return err_set(e, -ENOMEM, "out of memory");
    ret->width = p->width;
    ret->height = p->height;
    ret->has_alpha = p->type == 4 || p->type == 6 || (p->type == 3 && p->alphas.len > 0);
    const uint8_t *from = (const uint8_t *)p->rows.p;
    uint8_t *to = ret->rgba;
    for (uint32_t y = 0; y < p->height; y++) {
        from++;
        for (uint32_t x = 0; x < p->width; x++, from += p->channels, to += 4)
            set_pixel(p, from, to);
    }
    return 0;
}

int image_decode(struct str png, struct image *ret, struct err *e)
{
    struct png p = {.packed = BUF_INIT(64 << 20), .rows = BUF_INIT(IMAGE_PIXELS_MAX * 5UL)};

    *ret = (struct image){0};
    int r = read_chunks(&p, png, e);
    if (r == 0)
        r = unpack_png(&p, e);
    if (r == 0)
        r = make_pixels(&p, ret, e);
    buf_done(&p.packed);
    buf_done(&p.rows);
    return r;
}

/* ---- writing ---- */

static void add_png_number(struct buf *b, uint32_t v)
{
    char bytes[4] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};

    (void)buf_add(b, bytes, 4);
}

static void add_chunk(struct buf *out, const char *type, struct str data)
{
    add_png_number(out, (uint32_t)data.len);
    (void)buf_add(out, type, 4);
    (void)buf_add_str(out, data);
    uint32_t crc = crc32_add(0, type, 4);
    add_png_number(out, crc32_add(crc, data.p, data.len));
}

static uint32_t adler(struct str s)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < s.len; i++) {
        a = (a + (unsigned char)s.p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* The rows, each as differences to the pixel on the left. */
static void add_filtered(const struct image *m, struct buf *out)
{
    size_t n = m->has_alpha ? 4 : 3;

    for (uint32_t y = 0; y < m->height; y++) {
        const uint8_t *p = m->rgba + (size_t)y * m->width * 4, *left = NULL;
        (void)buf_add_char(out, 1);
        for (uint32_t x = 0; x < m->width; x++, left = p, p += 4) {
            for (size_t k = 0; k < n; k++)
                (void)buf_add_char(out, (char)(p[k] - (left ? left[k] : 0)));
        }
    }
}

static int pack_png_rows(struct str rows, struct buf *out)
{
    struct deflate *d = deflate_new(DEFLATE_RAW, add_png_rows, out);

    if (!d)
        return -ENOMEM;
    (void)buf_add_lit(out, "\x78\x9c");
    int r = deflate_feed(d, rows.p, rows.len);
    if (r == 0)
        r = deflate_finish(d);
    deflate_free(d);
    add_png_number(out, adler(rows));
    return r;
}

int image_encode(const struct image *m, struct buf *out)
{
    auto_buf struct buf rows = BUF_INIT(IMAGE_PIXELS_MAX * 5UL), packed = BUF_INIT(64 << 20);
    auto_buf struct buf head = BUF_INIT(16);

    add_filtered(m, &rows);
    int r = buf_ok(&rows) ? pack_png_rows(buf_str(&rows), &packed) : -ENOMEM;
    if (r < 0)
        return r;
    add_png_number(&head, m->width);
    add_png_number(&head, m->height);
    (void)buf_add(&head, m->has_alpha ? "\x08\x06\0\0" : "\x08\x02\0\0", 5);
    (void)buf_add(out, magic, 8);
    add_chunk(out, "IHDR", buf_str(&head));
    add_chunk(out, "IDAT", buf_str(&packed));
    add_chunk(out, "IEND", STR(""));
    return out->error;
}
