/* SPDX-License-Identifier: MIT */
/* Borrowed strings: a pointer and a length, not NUL-terminated unless a function says so. A str
 * never owns its bytes; whoever made them (an arena, a buffer, a literal) does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t len;
};

/* A str of a literal; usable as an initialiser. */
#define STR(lit) ((struct str){"" lit, sizeof(lit) - 1})
#define STR_INIT(lit)                                                                              \
    {                                                                                              \
        "" lit, sizeof(lit) - 1                                                                    \
    }
#define STR_NULL ((struct str){NULL, 0})

/* For "%.*s". */
#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).len, (s).p ? (s).p : ""

static inline struct str str_of(const char *s)
{
    return (struct str){s, s ? strlen(s) : 0};
}

static inline struct str str_n(const char *p, size_t len)
{
    return (struct str){p, len};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool str_is(struct str a, const char *b)
{
    return str_eq(a, str_of(b));
}

/* ASCII case-insensitive equality: of LEN bytes, and of strings. */
bool str_ieq_bytes(const char *a, const char *b, size_t len);
static inline bool str_ieq(struct str a, struct str b)
{
    return a.len == b.len && str_ieq_bytes(a.p, b.p, a.len);
}
static inline bool str_iis(struct str a, const char *b)
{
    return str_ieq(a, str_of(b));
}

/* Byte order, shorter first among equals: <0, 0, >0. */
int str_cmp(struct str a, struct str b);
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* Index of the first C / of NEEDLE, or -1. */
ptrdiff_t str_chr(struct str s, char c);
ptrdiff_t str_find(struct str s, struct str needle);
/* Without the first N bytes (all of them when N is larger) / the part [FROM, TO) clamped to S. */
struct str str_skip(struct str s, size_t n);
struct str str_slice(struct str s, size_t from, size_t to);
/* Without leading and trailing spaces and tabs. */
struct str str_trim(struct str s);
/* Cuts S at the first SEP: returns the part before it and leaves the rest in *S; without SEP
 * returns all and *S becomes STR_NULL (p == NULL), which ends the usual loop. */
struct str str_cut(struct str *s, char sep);

/* Whole-string decimal integers: 0, -EINVAL (not a number), -ERANGE. */
int str_to_i64(struct str s, int64_t *ret);
int str_to_u64(struct str s, uint64_t *ret);

/* FNV-1a, for hash tables whose keys are not chosen by clients (maps seed their own). */
uint64_t str_hash(struct str s, uint64_t seed);

/* True when S is well-formed UTF-8 (no surrogates, no overlong forms). */
bool str_is_utf8(struct str s);

/* For what becomes a C string: true when it would end early. */
static inline bool str_has_nul(struct str s)
{
    return s.len > 0 && memchr(s.p, 0, s.len);
}
