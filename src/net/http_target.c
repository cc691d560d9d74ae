/* SPDX-License-Identifier: MIT */
/* Percent-decoding of request targets: see http.h. */
#include "base/enc.h"
#include "net/http.h"

static struct str decode_target(struct arena *a, struct str s, bool plus)
{
    char *out = arena_alloc(a, s.len + 1);
    size_t n = 0;

    if (!out)
        return STR_NULL;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        if (c == '%') {
            int high = s.len - i > 2 ? enc_hex_digit(s.p[i + 1]) : -1;
            int low = s.len - i > 2 ? enc_hex_digit(s.p[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return STR_NULL;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        } else if (c == '\0') {
            return STR_NULL;
        }
        out[n++] = c;
    }
    out[n] = '\0';
    return str_n(out, n);
}

struct str http_decode_segment(struct arena *a, struct str s)
{
    return decode_target(a, s, false);
}

struct str http_decode_query(struct arena *a, struct str s)
{
    return decode_target(a, s, true);
}

struct str http_query_get(struct arena *a, struct str query, const char *name)
{
    while (query.p) {
        struct str value = str_cut(&query, '&');
        struct str key = str_cut(&value, '=');
        bool is_plain = str_chr(key, '%') < 0 && str_chr(key, '+') < 0;
        if (!is_plain)
            key = http_decode_query(a, key);
        if (key.p && str_is(key, name))
            return http_decode_query(a, value.p ? value : STR(""));
    }
    return STR_NULL;
}
