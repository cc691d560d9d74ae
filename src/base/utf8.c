/* SPDX-License-Identifier: MIT */
/* UTF-8: see utf8.h. */
#include "base/utf8.h"

/* The ranges are those of the Unicode standard's table of well-formed byte sequences. */
size_t utf8_sequence(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    unsigned char lo = 0x80, hi = 0xbf;
    size_t len;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n < len)
        return 0;
    if (p[0] == 0xe0)
        lo = 0xa0;
    else if (p[0] == 0xed)
        hi = 0x9f;
    else if (p[0] == 0xf0)
        lo = 0x90;
    else if (p[0] == 0xf4)
        hi = 0x8f;
    if (p[1] < lo || p[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

size_t utf8_decode(const char *s, size_t n, uint32_t *ret)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *p = (const unsigned char *)s;
    size_t len = utf8_sequence(s, n);

    if (len == 0)
        return 0;
    uint32_t c = p[0] & lead_bits[len];
    for (size_t i = 1; i < len; i++)
        c = c << 6 | (p[i] & 0x3fU);
    *ret = c;
    return len;
}

size_t utf8_encode(char out[static UTF8_MAX], uint32_t c)
{
    static const unsigned char lead_mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = len - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead_mark[len] | c);
    return len;
}
