/* SPDX-License-Identifier: MIT */
/* Borrowed strings: see str.h. */
#include "base/str.h"

#include <errno.h>

#include "base/ascii.h"
#include "base/utf8.h"

bool str_ieq_bytes(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (ascii_lower(a[i]) != ascii_lower(b[i]))
            return false;
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int r = n ? memcmp(a.p, b.p, n) : 0;

    if (r != 0)
        return r;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_n(s.p, prefix.len), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_skip(s, s.len - suffix.len), suffix);
}

ptrdiff_t str_chr(struct str s, char c)
{
    const char *hit = s.len ? memchr(s.p, c, s.len) : NULL;

    return hit ? hit - s.p : -1;
}

ptrdiff_t str_find(struct str s, struct str needle)
{
    if (needle.len == 0)
        return 0;
    const char *hit = s.len ? memmem(s.p, s.len, needle.p, needle.len) : NULL;
    return hit ? hit - s.p : -1;
}

struct str str_skip(struct str s, size_t n)
{
    if (n >= s.len)
        return str_n(s.p ? s.p + s.len : NULL, 0);
    return str_n(s.p + n, s.len - n);
}

struct str str_slice(struct str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from >= to)
        return str_n(s.p, 0);
    return str_n(s.p + from, to - from);
}

struct str str_trim(struct str s)
{
    while (s.len && ascii_is_blank(s.p[0]))
        s = str_n(s.p + 1, s.len - 1);
    while (s.len && ascii_is_blank(s.p[s.len - 1]))
        s.len--;
    return s;
}

struct str str_cut(struct str *s, char sep)
{
    ptrdiff_t at = str_chr(*s, sep);
    struct str head = *s;

    if (at < 0) {
        *s = STR_NULL;
        return head;
    }
    head.len = (size_t)at;
    *s = str_n(s->p + at + 1, s->len - (size_t)at - 1);
    return head;
}

int str_to_u64(struct str s, uint64_t *ret)
{
    uint64_t value = 0;

    if (s.len == 0)
        return -EINVAL;
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -EINVAL;
        if (__builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, (uint64_t)(s.p[i] - '0'), &value))
            return -ERANGE;
    }
    *ret = value;
    return 0;
}

int str_to_i64(struct str s, int64_t *ret)
{
    bool negative = s.len && s.p[0] == '-';
    uint64_t magnitude;
    int r = str_to_u64(negative ? str_skip(s, 1) : s, &magnitude);

    if (r < 0)
        return r;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1U : 0U))
        return -ERANGE;
    *ret = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}

uint64_t str_hash(struct str s, uint64_t seed)
{
    uint64_t h = 0xcbf29ce484222325U ^ seed;

    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3U;
    return h ^ (h >> 32);
}

bool str_is_utf8(struct str s)
{
    size_t i = 0;

    while (i < s.len) {
        size_t n = utf8_sequence(s.p + i, s.len - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}
