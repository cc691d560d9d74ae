/* SPDX-License-Identifier: MIT */
#include "office/picture.h"

#include "base/cleanup.h"

enum { DPI_DEFAULT = 72, DPI_MOST = 65535 };

/* ---- numbers; 0 behind the end ---- */

static uint32_t big(struct str s, size_t at, size_t n)
{
    uint32_t v = 0;

    for (size_t i = at; i < at + n; i++)
        v = v << 8 | (i < s.len ? (unsigned char)s.p[i] : 0);
    return v;
}

static uint32_t little(struct str s, size_t at, size_t n)
{
    uint32_t v = 0;

    for (size_t i = at + n; i-- > at;)
        v = v << 8 | (i < s.len ? (unsigned char)s.p[i] : 0);
    return v;
}

/* Dots per inch, of N dots for each UNIT ten thousandths of an inch. */
static uint32_t dots(uint64_t n, uint64_t unit)
{
    uint64_t dpi = (n * 10000 + unit / 2) / unit;

    return dpi > 0 && dpi <= DPI_MOST ? (uint32_t)dpi : DPI_DEFAULT;
}

static uint32_t of_metre(uint32_t n)
{
    return dots(n, 393701);
}

/* ---- formats ---- */

/* Chunks of length, name, content, checksum. */
static void look_png(struct str s, struct picture *p)
{
    p->width = big(s, 16, 4);
    p->height = big(s, 20, 4);
    for (size_t at = 8; at + 12 <= s.len;) {
        size_t len = big(s, at, 4);
        struct str name = str_slice(s, at + 4, at + 8);
        if (str_is(name, "pHYs") && big(s, at + 16, 1) == 1) {
            p->dpi_x = of_metre(big(s, at + 8, 4));
            p->dpi_y = of_metre(big(s, at + 12, 4));
        }
        if (str_is(name, "pHYs") || str_is(name, "IDAT") || len > s.len)
            return;
        at += len + 12;
    }
}

/* Of inches or centimetres; 0 is no unit. */
static void look_jfif(struct str s, size_t at, struct picture *p)
{
    uint32_t unit = big(s, at + 11, 1);

    if (!str_is(str_slice(s, at + 4, at + 8), "JFIF") || unit == 0)
        return;
    p->dpi_x = dots(big(s, at + 12, 2), unit == 2 ? 3937 : 10000);
    p->dpi_y = dots(big(s, at + 14, 2), unit == 2 ? 3937 : 10000);
}

/* A frame of any kind; the others in this range are none. */
static bool is_frame(uint32_t marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/* Segments of a marker and a length; the frame's has the size. */
static void look_jpeg(struct str s, struct picture *p)
{
    for (size_t at = 2; at + 10 <= s.len && (unsigned char)s.p[at] == 0xff;) {
        uint32_t marker = big(s, at + 1, 1), len = big(s, at + 2, 2);
        if (marker == 0xff) {
            at++;
            continue;
        }
        if (is_frame(marker)) {
            p->height = big(s, at + 5, 2);
            p->width = big(s, at + 7, 2);
            return;
        }
        if (marker == 0xe0)
            look_jfif(s, at, p);
        at += 2 + (size_t)(len < 2 ? 2 : len);
    }
}

static void look_gif(struct str s, struct picture *p)
{
    p->width = little(s, 6, 2);
    p->height = little(s, 8, 2);
}

/* A height below 0: its rows begin at the top. */
static void look_bmp(struct str s, struct picture *p)
{
    uint32_t height = little(s, 22, 4);

    p->width = little(s, 18, 4);
    p->height = height > INT32_MAX ? 0 - height : height;
    p->dpi_x = of_metre(little(s, 38, 4));
    p->dpi_y = of_metre(little(s, 42, 4));
}

/* A directory of entries: tag, type, count, value. */
static void look_tiff(struct str s, struct picture *p)
{
    uint32_t (*number)(struct str, size_t, size_t) = s.p[0] == 'I' ? little : big;
    size_t at = number(s, 4, 4), n = number(s, at, 2);

    for (size_t i = 0; i < n && at + 14 + i * 12 <= s.len; i++) {
        size_t entry = at + 2 + i * 12;
        uint32_t tag = number(s, entry, 2);
        uint32_t value = number(s, entry + 8, number(s, entry + 2, 2) == 3 ? 2 : 4);
        if (tag == 256)
            p->width = value;
        if (tag == 257)
            p->height = value;
    }
}

static const struct {
    struct str begin;
    const char *extension, *type;
    void (*look)(struct str s, struct picture *p);
} kinds[] = {
    {STR_INIT("\x89PNG\r\n\x1a\n"), "png", "image/png", look_png},
    {STR_INIT("\xff\xd8"), "jpg", "image/jpeg", look_jpeg},
    {STR_INIT("GIF87a"), "gif", "image/gif", look_gif},
    {STR_INIT("GIF89a"), "gif", "image/gif", look_gif},
    {STR_INIT("BM"), "bmp", "image/bmp", look_bmp},
    {STR_INIT("II*\0"), "tiff", "image/tiff", look_tiff},
    {STR_INIT("MM\0*"), "tiff", "image/tiff", look_tiff},
};

bool picture_look(struct str bytes, struct picture *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_starts(bytes, kinds[i].begin))
            continue;
        struct picture p = {.extension = kinds[i].extension,
                            .type = kinds[i].type,
                            .dpi_x = DPI_DEFAULT,
                            .dpi_y = DPI_DEFAULT};
        kinds[i].look(bytes, &p);
        if (p.width == 0 || p.height == 0 || p.width > PICTURE_SIDE_MAX ||
            p.height > PICTURE_SIDE_MAX)
            return false;
        *ret = p;
        return true;
    }
    return false;
}
