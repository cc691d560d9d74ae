/* SPDX-License-Identifier: MIT */
#include "local/word/picture.h"

#include <string.h>

#include "base/cleanup.h"

enum { DPI_DEFAULT = 72, DPI_LEAST = 1, DPI_MOST = 65535 };
#define INCHES_PER_METRE 39.3701

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

static double dots(double dpi)
{
    return dpi >= DPI_LEAST && dpi <= DPI_MOST ? dpi : DPI_DEFAULT;
}

/* Chunks of length, name, content, checksum. */
static bool look_png(struct str s, struct picture *p)
{
    p->width = big(s, 16, 4);
    p->height = big(s, 20, 4);
    for (size_t at = 8; at + 12 <= s.len;) {
        size_t len = big(s, at, 4);
        struct str name = str_slice(s, at + 4, at + 8);
        if (str_is(name, "pHYs") && big(s, at + 16, 1) == 1) {
            p->dpi_x = dots(big(s, at + 8, 4) / INCHES_PER_METRE);
            p->dpi_y = dots(big(s, at + 12, 4) / INCHES_PER_METRE);
        }
        if (str_is(name, "IDAT") || len > s.len)
            break;
        at += len + 12;
    }
    return true;
}

static void look_jfif(struct str s, size_t at, struct picture *p)
{
    uint32_t unit = big(s, at + 11, 1);
    double factor = unit == 2 ? 2.54 : 1;

    if (!str_is(str_slice(s, at + 4, at + 8), "JFIF") || unit == 0)
        return;
    p->dpi_x = dots(big(s, at + 12, 2) * factor);
    p->dpi_y = dots(big(s, at + 14, 2) * factor);
}

/* Segments of a marker and a length; the frame's has the size. */
static bool look_jpeg(struct str s, struct picture *p)
{
    for (size_t at = 2; at + 10 <= s.len && (unsigned char)s.p[at] == 0xff;) {
        uint32_t marker = big(s, at + 1, 1);
        if (marker == 0xff) {
            at++;
            continue;
        }
        if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
            marker != 0xcc) {
            p->height = big(s, at + 5, 2);
            p->width = big(s, at + 7, 2);
            return true;
        }
        if (marker == 0xe0)
            look_jfif(s, at, p);
        at += 2 + (size_t)big(s, at + 2, 2);
    }
    return false;
}

static bool look_gif(struct str s, struct picture *p)
{
    p->width = little(s, 6, 2);
    p->height = little(s, 8, 2);
    return true;
}

static bool look_bmp(struct str s, struct picture *p)
{
    int32_t height = (int32_t)little(s, 22, 4);

    p->width = little(s, 18, 4);
    p->height = height < 0 ? 0 - (uint32_t)height : (uint32_t)height;
    p->dpi_x = dots(little(s, 38, 4) / INCHES_PER_METRE);
    p->dpi_y = dots(little(s, 42, 4) / INCHES_PER_METRE);
    return true;
}

static const struct {
    struct str begin;
    const char *extension, *type;
    bool (*look)(struct str s, struct picture *p);
} kinds[] = {
    {STR_INIT("\x89PNG\r\n\x1a\n"), "png", "image/png", look_png},
    {STR_INIT("\xff\xd8"), "jpg", "image/jpeg", look_jpeg},
    {STR_INIT("GIF87a"), "gif", "image/gif", look_gif},
    {STR_INIT("GIF89a"), "gif", "image/gif", look_gif},
    {STR_INIT("BM"), "bmp", "image/bmp", look_bmp},
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
        if (!kinds[i].look(bytes, &p) || p.width == 0 || p.height == 0)
            return false;
        *ret = p;
        return true;
    }
    return false;
}
