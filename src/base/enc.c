/* SPDX-License-Identifier: MIT */
/* Text encodings of bytes: see enc.h. */
#include "base/enc.h"
#include "base/ascii.h"

#include <errno.h>
#include <stdint.h>

static const char hex_digits[] = "0123456789abcdef";

void enc_hex(char *out, const void *p, size_t len)
{
    const unsigned char *b = p;

    for (size_t i = 0; i < len; i++) {
        *out++ = hex_digits[b[i] >> 4];
        *out++ = hex_digits[b[i] & 15];
    }
    *out = '\0';
}

int enc_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int enc_unhex(void *out, size_t len, struct str s)
{
    unsigned char *b = out;

    if (s.len != len * 2)
        return -EINVAL;
    for (size_t i = 0; i < len; i++) {
        int hi = enc_hex_digit(s.p[2 * i]), lo = enc_hex_digit(s.p[2 * i + 1]);
        if (hi < 0 || lo < 0)
            return -EINVAL;
        b[i] = (unsigned char)(hi << 4 | lo);
    }
    return 0;
}

/* One call for all room, because outputs of whole programs go through here. */
static int base64(struct buf *out, struct str s, const char *alphabet, bool pad)
{
    const unsigned char *b = (const unsigned char *)s.p;
    size_t i = 0, rest = s.len % 3;
    size_t len = s.len / 3 * 4 + (rest == 0 ? 0 : pad ? 4 : rest + 1);

    if (len == 0 || buf_reserve(out, len) < 0)
        return out->error;
    char *to = out->p + out->len;
    for (; i + 3 <= s.len; i += 3) {
        uint32_t v = (uint32_t)b[i] << 16 | (uint32_t)b[i + 1] << 8 | b[i + 2];
        *to++ = alphabet[v >> 18];
        *to++ = alphabet[v >> 12 & 63];
        *to++ = alphabet[v >> 6 & 63];
        *to++ = alphabet[v & 63];
    }
    if (rest) {
        uint32_t v = (uint32_t)b[i] << 16 | (rest > 1 ? (uint32_t)b[i + 1] << 8 : 0);
        *to++ = alphabet[v >> 18];
        *to++ = alphabet[v >> 12 & 63];
        if (rest > 1)
            *to++ = alphabet[v >> 6 & 63];
        for (size_t n = rest; pad && n < 3; n++)
            *to++ = '=';
    }
    out->len = (size_t)(to - out->p);
    return 0;
}

#define ALNUM "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

int enc_base64(struct buf *out, struct str s)
{
    return base64(out, s, ALNUM "+/", true);
}

int enc_base64url(struct buf *out, struct str s)
{
    return base64(out, s, ALNUM "-_", false);
}

static int base64_digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    if (c == '/' || c == '_')
        return 63;
    return -1;
}

int enc_unbase64(struct buf *out, struct str s)
{
    uint32_t v = 0;
    unsigned bits = 0;

    for (int pad = 0; pad < 2 && s.len && s.len % 4 == (size_t)(pad ? 3 : 0); pad++) {
        if (s.p[s.len - 1] != '=')
            break;
        s.len--;
    }
    if (s.len % 4 == 1)
        return -EINVAL;
    for (size_t i = 0; i < s.len; i++) {
        int d = base64_digit_of(s.p[i]);
        if (d < 0)
            return -EINVAL;
        v = (v << 6 | (uint32_t)d) & 0xffffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            (void)buf_add_char(out, (char)(v >> bits & 0xff));
        }
    }
    /* Bits that fit no whole byte must be zero: one encoding for every value. */
    if (v & ((1U << bits) - 1))
        return -EINVAL;
    return out->error;
}

static bool is_unreserved(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

int enc_percent(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (is_unreserved((char)c)) {
            (void)buf_add_char(out, (char)c);
            continue;
        }
        char esc[3] = {'%', hex_digits[c >> 4], hex_digits[c & 15]};
        if (esc[1] >= 'a')
            esc[1] = (char)(esc[1] - 32);
        if (esc[2] >= 'a')
            esc[2] = (char)(esc[2] - 32);
        (void)buf_add(out, esc, sizeof esc);
    }
    return out->error;
}

int enc_unpercent(struct buf *out, struct str s, bool plus)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        if (c == '+' && plus) {
            c = ' ';
        } else if (c == '%') {
            int hi = i + 2 < s.len ? enc_hex_digit(s.p[i + 1]) : -1;
            int lo = i + 2 < s.len ? enc_hex_digit(s.p[i + 2]) : -1;
            if (hi < 0 || lo < 0)
                return -EINVAL;
            c = (char)(hi << 4 | lo);
            i += 2;
        }
        (void)buf_add_char(out, c);
    }
    return out->error;
}
