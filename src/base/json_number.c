/* SPDX-License-Identifier: MIT */
/* JSON numbers between text and double, exact both ways. */
#include <math.h>
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
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char digits[20];
    size_t n = sizeof digits, len = 0;
    uint64_t x = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

    while (x >= 10) {
        n -= 2;
        memcpy(digits + n, pairs + x % 100 * 2, 2);
        x /= 100;
    }
    if (x > 0 || n == sizeof digits)
        digits[--n] = (char)('0' + x);
    if (i < 0)
        out[len++] = '-';
    memcpy(out + len, digits + n, sizeof digits - n);
    return len + sizeof digits - n;
}

/* ---- the shortest decimal ---- */

/* DIGITS × 10^EXP10. */
struct decimal {
    uint64_t digits;
    int exp10;
};

/* X × P / 2^128, where what is cut off leaves an odd last bit: enough to compare with. */
static uint64_t multiply_to_odd(struct json_pow10 p, uint64_t x)
{
    __extension__ typedef unsigned __int128 wide;
    wide low = (wide)p.lo * x;
    wide sum = (wide)p.hi * x + (uint64_t)(low >> 64);

    /* A rest of 1 can come from the power's having been rounded up. */
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* floor(log10(2^e)), floor(log10(2^e × 3/4)) and floor(log2(10^e)) in fixed point, exact for all
 * exponents of doubles and more. */
static int log10_of_pow2(int e)
{
    return (e * 1262611) >> 22;
}

static int log10_of_pow2_quarters(int e)
{
    return (e * 1262611 - 524031) >> 22;
}

static int log2_of_pow10(int e)
{
    return (e * 1741647) >> 19;
}

/* The decimal with the fewest digits of those that read back as D (positive, finite), the nearest
 * one among them: R. Giulietti, "The Schubfach way to render doubles". D is scaled by a power of
 * ten so that the decimals to choose from are the neighbouring integers S and S + 1, or tens. All
 * quantities are four times as large, which makes the bounds between D and its neighbours whole. */
static struct decimal shortest(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    int biased = (int)(bits >> 52);
    uint64_t c = biased ? mantissa | UINT64_C(1) << 52 : mantissa;
    int q = (biased ? biased : 1) - 1075; /* d = c × 2^q */

    /* Below a power of two the neighbour is half as far. */
    bool is_near = mantissa == 0 && biased > 1;
    int k = is_near ? log10_of_pow2_quarters(q) : log10_of_pow2(q);
    int h = q + log2_of_pow10(-k) + 1;
    struct json_pow10 p = json_pow10[-k - JSON_POW10_FIRST];
    uint64_t lower = multiply_to_odd(p, (4 * c - (is_near ? 1 : 2)) << h);
    uint64_t value = multiply_to_odd(p, 4 * c << h);
    uint64_t upper = multiply_to_odd(p, (4 * c + 2) << h);
    /* The bounds themselves read back as D when its mantissa is even. */
    lower += c & 1;
    upper -= c & 1;

    uint64_t s = value / 4, tens = s / 10 * 10;
    if (s >= 10) {
        bool low_fits = lower <= 4 * tens, high_fits = 4 * (tens + 10) <= upper;
        if (low_fits != high_fits)
            return (struct decimal){low_fits ? tens : tens + 10, k};
    }
    bool low_fits = lower <= 4 * s, high_fits = 4 * (s + 1) <= upper;
    if (low_fits != high_fits)
        return (struct decimal){low_fits ? s : s + 1, k};
    uint64_t middle = 4 * s + 2;
    bool down = value < middle || (value == middle && s % 2 == 0);
    return (struct decimal){down ? s : s + 1, k};
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
    struct decimal x = {0};
    size_t len = 0;

    if (signbit(d)) {
        out[len++] = '-';
        d = -d;
    }
    if (d > 0)
        x = shortest(d);
    if (x.digits && x.digits % 100000000 == 0) { /* most numbers are short */
        x.digits /= 100000000;
        x.exp10 += 8;
    }
    while (x.digits && x.digits % 10 == 0) {
        x.digits /= 10;
        x.exp10++;
    }
    size_t n = json_format_int(digits, (int64_t)x.digits);
    return len + lay_out(out + len, digits, (int)n, x.exp10);
}
