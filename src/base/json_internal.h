/* SPDX-License-Identifier: MIT */
/* What the json_*.c files share and nobody else includes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/json.h"

/* ---- json_number.c ---- */

/* A decimal number as the parser saw it: ±MANTISSA × 10^EXP10. When it has more digits than fit,
 * CUT is set and only the text is exact. */
struct json_decimal {
    uint64_t mantissa;
    int64_t exp10;
    bool negative, cut;
};

/* The nearest double. TEXT is the number's text with a NUL behind it. May be infinite. */
double json_decimal_to_double(const struct json_decimal *d, const char *text);

/* Longest text of json_format_real() and json_format_int(). */
#define JSON_NUMBER_MAX 32
/* Write to OUT (JSON_NUMBER_MAX bytes; no NUL) and return the length. D is finite. */
size_t json_format_real(char *out, double d);
size_t json_format_int(char *out, int64_t i);
/* True when D is integral and fits; stores it. */
bool json_real_to_int(double d, int64_t *ret);

/* ---- json_pow10.c ---- */

enum { JSON_POW10_FIRST = -292, JSON_POW10_LAST = 324 };

/* A power of ten, scaled by a power of two to 128 bits. */
struct json_pow10 {
    uint64_t hi, lo;
};

extern const struct json_pow10 json_pow10[JSON_POW10_LAST - JSON_POW10_FIRST + 1];

/* ---- json_sort.c ---- */

/* A member's place in key order. PREFIX is the start of the key as a big-endian number, which
 * settles most comparisons. */
struct json_order {
    uint64_t prefix;
    uint32_t i;
};

/* The members' indices by key bytes, equal keys by index; the caller frees it. NULL: no memory. */
struct json_order *json_sort_members(const struct json_member *m, uint32_t n);

/* ---- scanning ---- */

/* True for what a JSON string holds as it is and that needs no further look: printable ASCII
 * without quote and backslash. */
static inline bool json_is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* The same for all of eight bytes. */
static inline bool json_is_plain8(const char *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t x;

    memcpy(&x, p, sizeof x);
    uint64_t quote = x ^ ones * '"', slash = x ^ ones * '\\';
    /* Where a byte is below the subtracted one its top bit shows it (or an earlier byte's does). */
    uint64_t low = ((x - ones * 0x20) | (quote - ones) | (slash - ones)) & tops;
    return ((low | x) & tops) == 0;
}

#define JSON_CHUNK 16

/* How many of the JSON_CHUNK bytes at P are plain before the first that is not. */
static inline unsigned json_plain_chunk(const char *p)
{
#ifdef __SSE2__
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    /* Signed comparison: bytes from 0x80 up are negative and so below 0x20 as well. */
    __m128i other = _mm_cmplt_epi8(x, _mm_set1_epi8(0x20));
    int mask = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), other));
    return mask ? (unsigned)__builtin_ctz((unsigned)mask) : JSON_CHUNK;
#else
    unsigned n = 0;

    while (n < JSON_CHUNK && json_is_plain(p[n]))
        n++;
    return n;
#endif
}
