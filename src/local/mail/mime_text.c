/* SPDX-License-Identifier: MIT */
/* Transfer encodings and character sets. */
#include <errno.h>
#include <iconv.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/utf8.h"
#include "local/mail/mime.h"

static int mime_base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

struct str mime_unbase64(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, s.len / 4 * 3 + 4);
    size_t n = 0;
    uint32_t bits = 0;
    unsigned n_bits = 0;

    for (size_t i = 0; out && i < s.len && s.p[i] != '='; i++) {
        int digit = mime_base64_digit(s.p[i]);
        if (digit < 0)
            continue;
        bits = (bits << 6 | (uint32_t)digit) & 0xffffff;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            out[n++] = (char)(bits >> n_bits);
        }
    }
    return out ? str_n(out, n) : STR("");
}

/* The length of "=" and what is behind it when it only breaks the line; else 0. */
static size_t soft_break(struct str s)
{
    size_t i = 1;

    while (i < s.len && (s.p[i] == ' ' || s.p[i] == '\t'))
        i++;
    if (i < s.len && s.p[i] == '\r')
        i++;
    if (i < s.len && s.p[i] == '\n')
        return i + 1;
    return i == s.len ? i : 0;
}

struct str mime_unquote(struct arena *a, struct str s, bool is_word)
{
    char *out = arena_alloc(a, s.len + 1);
    size_t n = 0;

    while (out && s.len > 0) {
        size_t used = 1;
        char c = s.p[0];
        int high = c == '=' && s.len > 2 ? enc_hex_digit(s.p[1]) : -1;
        int low = high >= 0 ? enc_hex_digit(s.p[2]) : -1;
        if (low >= 0) {
            c = (char)(high << 4 | low);
            used = 3;
        } else if (c == '=' && !is_word && soft_break(s)) {
            s = str_skip(s, soft_break(s));
            continue;
        } else if (c == '_' && is_word) {
            c = ' ';
        }
        out[n++] = c;
        s = str_skip(s, used);
    }
    return out ? str_n(out, n) : STR("");
}

/* Without what is no UTF-8. */
static struct str only_utf8(struct arena *a, struct str s)
{
    if (str_is_utf8(s))
        return s;
    char *out = arena_alloc(a, s.len + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < s.len;) {
        size_t len = utf8_sequence(s.p + i, s.len - i);
        for (size_t k = 0; k < len; k++)
            out[n++] = s.p[i + k];
        i += len ? len : 1;
    }
    return out ? str_n(out, n) : STR("");
}

static struct str convert_charset(struct arena *a, iconv_t cd, struct str s)
{
    auto_buf struct buf b = BUF_INIT(4 * s.len + 4096); /* with room for the last reserve */
    char *in = (char *)(uintptr_t)s.p;
    size_t left = s.len;

    while (left > 0 && buf_reserve(&b, 64) == 0) {
        char *out = b.p + b.len;
        size_t room = b.cap - b.len;
        size_t r = iconv(cd, &in, &left, &out, &room);
        b.len = (size_t)(out - b.p);
        if (r == (size_t)-1 && errno != E2BIG) {
            in++;
            left--;
        }
    }
    return arena_str(a, buf_str(&b));
}

struct str mime_to_utf8(struct arena *a, struct str s, struct str charset)
{
    char name[32];

    bool is_plain = charset.len == 0 || charset.len >= sizeof name || str_iis(charset, "utf-8") ||
                    str_iis(charset, "utf8") || str_iis(charset, "us-ascii");
    if (is_plain)
        return only_utf8(a, s);
    /* What is called Latin-1 is Windows' superset of it. */
    if (str_iis(charset, "iso-8859-1") || str_iis(charset, "latin1"))
        charset = STR("windows-1252");
    memcpy(name, charset.p, charset.len);
    name[charset.len] = '\0';
    iconv_t cd = iconv_open("UTF-8", name);
    if (cd == (iconv_t)-1)
        return only_utf8(a, s);
    struct str out = convert_charset(a, cd, s);
    (void)iconv_close(cd);
    return out.p ? only_utf8(a, out) : STR("");
}
