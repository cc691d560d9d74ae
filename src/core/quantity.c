/* SPDX-License-Identifier: MIT */
/* Quantities: see quantity.h. Exact decimal arithmetic in 128 bits, because "0.1" has to be 100
 * thousandths. */
#include "core/quantity.h"

#include <errno.h>
#include <stdbool.h>

#include "base/cleanup.h"

__extension__ typedef unsigned __int128 u128;

enum { DIGITS_MAX = 18, EXPONENT_MAX = 18 };

static const struct {
    const char *suffix;
    bool is_binary;
    int power; /* of 10, or of 2 */
} suffixes[] = {
    {"", false, 0},   {"m", false, -3}, {"k", false, 3},  {"M", false, 6},
    {"G", false, 9},  {"T", false, 12}, {"P", false, 15}, {"Ki", true, 10},
    {"Mi", true, 20}, {"Gi", true, 30}, {"Ti", true, 40}, {"Pi", true, 50},
};

/* Digits with at most one point: the digits as a number, and how many stand behind the point. */
static int read_quantity_digits(struct str *s, uint64_t *ret, int *ret_behind)
{
    bool has_point = false;
    int n = 0;

    *ret = 0;
    *ret_behind = 0;
    for (; s->len > 0; *s = str_skip(*s, 1)) {
        char c = s->p[0];
        if (c == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        if (++n > DIGITS_MAX)
            return -ERANGE;
        *ret = *ret * 10 + (uint64_t)(c - '0');
        *ret_behind += has_point;
    }
    return n > 0 ? 0 : -EINVAL;
}

/* What follows the digits: a suffix or an exponent. */
static int read_scale(struct str s, bool *ret_binary, int *ret_power)
{
    int64_t exponent;

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_is(s, suffixes[i].suffix)) {
            *ret_binary = suffixes[i].is_binary;
            *ret_power = suffixes[i].power;
            return 0;
        }
    if (s.p[0] != 'e' && s.p[0] != 'E')
        return -EINVAL;
    s = str_skip(s, 1);
    if (s.len > 1 && s.p[0] == '+')
        s = str_skip(s, 1);
    if (str_to_i64(s, &exponent) < 0)
        return -EINVAL;
    if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX)
        return -ERANGE;
    *ret_binary = false;
    *ret_power = (int)exponent;
    return 0;
}

/* V × 10^POWER, rounded up; false when it does not fit in 64 bits. */
static bool scale_ten(u128 v, int power, uint64_t *ret)
{
    for (; power > 0 && v <= UINT64_MAX; power--)
        v *= 10;
    for (; power < 0 && v > 0; power++)
        v = (v + 9) / 10;
    *ret = (uint64_t)v;
    return v <= UINT64_MAX;
}

static int read_quantity(struct str text, int extra_power, uint64_t *ret)
{
    uint64_t digits;
    int behind, power = 0, r = read_quantity_digits(&text, &digits, &behind);
    bool is_binary = false;

    if (r == 0)
        r = read_scale(text, &is_binary, &power);
    if (r < 0)
        return r;
    u128 v = digits;
    if (is_binary) {
        v <<= power;
        power = 0;
    }
    return scale_ten(v, power - behind + extra_power, ret) ? 0 : -ERANGE;
}

int quantity_milli(struct str text, uint64_t *ret)
{
    return read_quantity(text, 3, ret);
}

int quantity_units(struct str text, uint64_t *ret)
{
    return read_quantity(text, 0, ret);
}
