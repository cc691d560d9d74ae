/* SPDX-License-Identifier: MIT */
/* JSON numbers between text and double: exact both ways, with fast paths for short numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_internal.h"

/* Powers of ten that a double holds exactly. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { MAX_POWER = 22 };
#define MAX_EXACT (UINT64_C(1) << 53)

double json_decimal_to_double(const struct json_decimal *d, const char *text)
{
    if (d->cut || d->mantissa > MAX_EXACT || d->exp10 < -MAX_POWER || d->exp10 > MAX_POWER)
        return strtod(text, NULL);
    /* Both operands are exact, so the one rounding that happens is the right one. */
    double x = (double)d->mantissa;
    x = d->exp10 < 0 ? x / powers[-d->exp10] : x * powers[d->exp10];
    return d->negative ? -x : x;
}

bool json_real_to_int(double d, int64_t *ret)
{
    static const double limit = 9223372036854775808.0; /* 2^63: INT64_MAX itself is no double */

    if (!(d >= -limit && d < limit) || d != floor(d))
        return false;
    *ret = (int64_t)d;
    return true;
}

size_t json_format_int(char *out, int64_t i)
{
    char digits[20];
    size_t n = sizeof digits, len = 0;
    uint64_t x = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

    do
        digits[--n] = (char)('0' + x % 10);
    while (x /= 10);
    if (i < 0)
        out[len++] = '-';
    memcpy(out + len, digits + n, sizeof digits - n);
    return len + sizeof digits - n;
}

/* ±DIGITS × 10^EXP10, DIGITS without trailing zeros. */
struct shortest {
    uint64_t digits;
    int exp10;
};

/* Tries the numbers of at most 15 digits with 0 to 6 decimals, which most numbers are. If such a
 * decimal is the shortest then D × 10^k is nearer than 1/2 to it, and dividing two exact numbers
 * rounds once, as reading the text would. */
static bool shortest_by_division(double d, struct shortest *ret)
{
    if (d >= 1e15)
        return false;
    for (int k = 0; k <= 6; k++) {
        double scaled = rint(d * powers[k]);
        if (scaled >= 1e15)
            return false;
        if (scaled / powers[k] == d) {
            *ret = (struct shortest){(uint64_t)scaled, -k};
            return true;
        }
    }
    return false;
}

static struct shortest shortest_by_trying(double d)
{
    char text[40];
    int precision = d < 0x1p-1022 ? 0 : 14; /* denormal numbers may be shorter than 15 digits */

    do
        (void)snprintf(text, sizeof text, "%.*e", precision, d);
    while (strtod(text, NULL) != d && ++precision <= 16);
    struct shortest x = {0};
    const char *p = text;
    int decimals = 0;
    for (; *p != 'e'; p++) {
        if (*p == '.')
            continue;
        x.digits = x.digits * 10 + (uint64_t)(*p - '0');
        decimals++;
    }
    x.exp10 = (int)strtol(p + 1, NULL, 10) - (decimals - 1);
    return x;
}

/* 1234e-2 as 12.34, 12e3 as 12000.0, the rest with an exponent. DIGITS is N digits long. */
static size_t lay_out(char *out, const char *digits, int n, int exp10)
{
    int point = n + exp10; /* digits before the decimal point */
    size_t len = 0;

    if (point > 0 && point <= 17) {
        int whole = n < point ? n : point;
        memcpy(out, digits, (size_t)whole);
        memset(out + whole, '0', (size_t)(point - whole));
        len = (size_t)point;
        out[len++] = '.';
        if (n == whole)
            out[len++] = '0';
        memcpy(out + len, digits + whole, (size_t)(n - whole));
        return len + (size_t)(n - whole);
    }
    if (point <= 0 && point > -6) {
        memset(out, '0', 7);
        out[1] = '.';
        len = (size_t)(2 - point);
        memcpy(out + len, digits, (size_t)n);
        return len + (size_t)n;
    }
    out[len++] = digits[0];
    if (n > 1) {
        out[len++] = '.';
        memcpy(out + len, digits + 1, (size_t)(n - 1));
        len += (size_t)(n - 1);
    }
    out[len++] = 'e';
    return len + json_format_int(out + len, point - 1);
}

size_t json_format_real(char *out, double d)
{
    char digits[JSON_NUMBER_MAX];
    struct shortest x;
    size_t len = 0;

    if (signbit(d)) {
        out[len++] = '-';
        d = -d;
    }
    if (!shortest_by_division(d, &x))
        x = shortest_by_trying(d);
    while (x.digits && x.digits % 10 == 0) {
        x.digits /= 10;
        x.exp10++;
    }
    size_t n = json_format_int(digits, (int64_t)x.digits);
    return len + lay_out(out + len, digits, (int)n, x.exp10);
}
