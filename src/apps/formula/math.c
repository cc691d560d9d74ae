/* SPDX-License-Identifier: MIT */
/* Functions of single numbers. Sums and statistics are in stat.c. */
#include <math.h>

#include "apps/formula/formula_internal.h"

/* Functions of one number by the library. */
#define OF_ONE(name, expr)                                                                         \
    static void name(struct fx *x, const struct fx_args *a, struct formula_value *ret)             \
    {                                                                                              \
        double d;                                                                                  \
        (void)x;                                                                                   \
        if (fx_number(&a->v[0], &d, ret))                                                          \
            fx_give(ret, expr);                                                                    \
    }
OF_ONE(fn_int, floor(d))
OF_ONE(fn_sqrt, sqrt(d))
OF_ONE(fn_exp, exp(d))
OF_ONE(fn_ln, d > 0 ? log(d) : NAN)
OF_ONE(fn_log10, d > 0 ? log10(d) : NAN)
OF_ONE(fn_sin, sin(d))
OF_ONE(fn_cos, cos(d))
OF_ONE(fn_tan, tan(d))
OF_ONE(fn_asin, asin(d))
OF_ONE(fn_acos, acos(d))
OF_ONE(fn_atan, atan(d))
OF_ONE(fn_radians, d *M_PI / 180)
OF_ONE(fn_degrees, d * 180 / M_PI)
OF_ONE(fn_sign, (d > 0) - (d < 0))
OF_ONE(fn_fact, d<0 || d> 170 ? NAN : round(tgamma(floor(d) + 1)))
OF_ONE(fn_even, copysign(ceil(fabs(d) / 2) * 2, d))
OF_ONE(fn_odd, copysign(floor(fabs(d) / 2 + (fmod(ceil(fabs(d)), 2) > 0 ? 0 : 0.5)) * 2 + 1, d))

static enum formula_look look_of(const struct formula_value *v)
{
    return v->type == FORMULA_NUMBER ? v->look : FORMULA_LOOK_PLAIN;
}

static void fn_abs(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d;

    (void)x;
    if (fx_number(&a->v[0], &d, ret))
        fx_give_look(ret, fabs(d), look_of(&a->v[0]));
}

/* ---- rounding ---- */

/* Half a unit away from zero; what is a hair below a half because it has no exact binary form is
 * taken for the half that a person sees. */
static double round_half(double d)
{
    return copysign(floor(fabs(d) + 0.5 + fabs(d) * 1e-15), d);
}

static double round_from_zero(double d)
{
    double down = floor(fabs(d) * (1 + 1e-15));

    return copysign(fabs(d) - down > fabs(d) * 1e-15 ? down + 1 : down, d);
}

static double round_down(double d)
{
    return copysign(floor(fabs(d) * (1 + 1e-15)), d);
}

static void round_by(const struct fx_args *a, double (*how)(double), struct formula_value *ret)
{
    double d, places;

    if (!fx_number(&a->v[0], &d, ret) || !fx_arg(a, 1, 0, &places, ret))
        return;
    places = trunc(places);
    places = places > 20 ? 20 : places < -20 ? -20 : places;
    double scale = pow(10, fabs(places));
    double r = places >= 0 ? how(d * scale) / scale : how(d / scale) * scale;
    fx_give_look(ret, isfinite(d * scale) ? r : d, look_of(&a->v[0]));
}

static void fn_formula_round(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    round_by(a, round_half, ret);
}

static void fn_roundup(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    round_by(a, round_from_zero, ret);
}

static void fn_rounddown(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    round_by(a, round_down, ret);
}

/* To a multiple of the second number, which is 1 when missing. */
static void to_multiple(const struct fx_args *a, double (*how)(double), struct formula_value *ret)
{
    double d, unit;

    if (!fx_number(&a->v[0], &d, ret) || !fx_arg(a, 1, 1, &unit, ret))
        return;
    if (!(unit < 0 || unit > 0))
        fx_give(ret, 0);
    else if (d > 0 && unit < 0)
        fx_give_error(ret, FORMULA_ERROR_NUM);
    else
        fx_give_look(ret, how(d / unit) * unit, look_of(&a->v[0]));
}

static void fn_ceiling(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    to_multiple(a, ceil, ret);
}

static void fn_floor(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    to_multiple(a, floor, ret);
}

static void fn_mround(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    to_multiple(a, round_half, ret);
}

/* ---- two numbers ---- */

static void fn_formula_mod(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d, by;

    (void)x;
    if (!fx_number(&a->v[0], &d, ret) || !fx_number(&a->v[1], &by, ret))
        return;
    if (by < 0 || by > 0)
        fx_give(ret, d - by * floor(d / by));
    else
        fx_give_error(ret, FORMULA_ERROR_DIV0);
}

static void fn_quotient(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d, by;

    (void)x;
    if (!fx_number(&a->v[0], &d, ret) || !fx_number(&a->v[1], &by, ret))
        return;
    if (by < 0 || by > 0)
        fx_give(ret, trunc(d / by));
    else
        fx_give_error(ret, FORMULA_ERROR_DIV0);
}

static void fn_log(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d, base;

    (void)x;
    if (!fx_number(&a->v[0], &d, ret) || !fx_arg(a, 1, 10, &base, ret))
        return;
    if (d <= 0 || base <= 0)
        fx_give_error(ret, FORMULA_ERROR_NUM);
    else if (!(base < 1 || base > 1))
        fx_give_error(ret, FORMULA_ERROR_DIV0);
    else
        fx_give(ret, base < 10 || base > 10 ? log(d) / log(base) : log10(d));
}

static void fn_atan2(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double p, q;

    (void)x;
    if (fx_number(&a->v[0], &p, ret) && fx_number(&a->v[1], &q, ret))
        fx_give(ret, atan2(q, p));
}

static void fn_combin(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    int64_t n, k, bounds[2] = {0, 1000};
    double r = 1;

    (void)x;
    if (!fx_arg_int(a, 0, bounds, &n, ret) || !fx_arg_int(a, 1, bounds, &k, ret))
        return;
    for (int64_t i = 1; i <= k; i++)
        r = r * (double)(n - k + i) / (double)i;
    fx_give(ret, k > n ? NAN : round(r));
}

static double gcd(double p, double q)
{
    while (q > 0) {
        double r = fmod(p, q);
        p = q;
        q = r;
    }
    return p;
}

struct divisors {
    double gcd, lcm;
    struct formula_value error;
};

static bool add_divisor(void *ctx, const struct formula_value *v, bool is_direct)
{
    struct divisors *s = ctx;
    double d;

    (void)is_direct;
    if (!fx_number(v, &d, &s->error))
        return false;
    d = floor(d);
    if (d < 0)
        fx_give_error(&s->error, FORMULA_ERROR_NUM);
    s->gcd = gcd(s->gcd, d);
    s->lcm = d > 0 ? s->lcm / gcd(s->lcm, d) * d : 0;
    return d >= 0;
}

static void divisors_of(struct fx *x, const struct fx_args *a, bool is_gcd,
                        struct formula_value *ret)
{
    struct divisors s = {.lcm = 1};

    fx_each(x, a, 0, add_divisor, &s);
    if (s.error.type == FORMULA_ERROR)
        *ret = s.error;
    else
        fx_give(ret, is_gcd ? s.gcd : s.lcm);
}

static void fn_gcd(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    divisors_of(x, a, true, ret);
}

static void fn_lcm(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    divisors_of(x, a, false, ret);
}

/* ---- none ---- */

static void fn_pi(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    (void)a;
    fx_give(ret, M_PI);
}

static double draw_random(struct fx *x)
{
    return x->env->random ? x->env->random(x->env->ctx) : 0.5;
}

static void fn_rand(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)a;
    fx_give(ret, draw_random(x));
}

static void fn_randbetween(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double low, high;

    if (!fx_number(&a->v[0], &low, ret) || !fx_number(&a->v[1], &high, ret))
        return;
    low = ceil(low);
    high = floor(high);
    fx_give(ret, high < low ? NAN : low + floor(draw_random(x) * (high - low + 1)));
}

const struct fx_function fx_math[] = {
    {"ABS", 1, 1, FX_SCALAR, 0, fn_abs},
    {"INT", 1, 1, FX_SCALAR, 0, fn_int},
    {"ROUND", 1, 2, FX_SCALAR, 0, fn_formula_round},
    {"ROUNDUP", 1, 2, FX_SCALAR, 0, fn_roundup},
    {"ROUNDDOWN", 1, 2, FX_SCALAR, 0, fn_rounddown},
    {"TRUNC", 1, 2, FX_SCALAR, 0, fn_rounddown},
    {"CEILING", 1, 2, FX_SCALAR, 0, fn_ceiling},
    {"FLOOR", 1, 2, FX_SCALAR, 0, fn_floor},
    {"MROUND", 2, 2, FX_SCALAR, 0, fn_mround},
    {"MOD", 2, 2, FX_SCALAR, 0, fn_formula_mod},
    {"QUOTIENT", 2, 2, FX_SCALAR, 0, fn_quotient},
    {"SQRT", 1, 1, FX_SCALAR, 0, fn_sqrt},
    {"EXP", 1, 1, FX_SCALAR, 0, fn_exp},
    {"LN", 1, 1, FX_SCALAR, 0, fn_ln},
    {"LOG", 1, 2, FX_SCALAR, 0, fn_log},
    {"LOG10", 1, 1, FX_SCALAR, 0, fn_log10},
    {"SIN", 1, 1, FX_SCALAR, 0, fn_sin},
    {"COS", 1, 1, FX_SCALAR, 0, fn_cos},
    {"TAN", 1, 1, FX_SCALAR, 0, fn_tan},
    {"ASIN", 1, 1, FX_SCALAR, 0, fn_asin},
    {"ACOS", 1, 1, FX_SCALAR, 0, fn_acos},
    {"ATAN", 1, 1, FX_SCALAR, 0, fn_atan},
    {"ATAN2", 2, 2, FX_SCALAR, 0, fn_atan2},
    {"RADIANS", 1, 1, FX_SCALAR, 0, fn_radians},
    {"DEGREES", 1, 1, FX_SCALAR, 0, fn_degrees},
    {"SIGN", 1, 1, FX_SCALAR, 0, fn_sign},
    {"EVEN", 1, 1, FX_SCALAR, 0, fn_even},
    {"ODD", 1, 1, FX_SCALAR, 0, fn_odd},
    {"FACT", 1, 1, FX_SCALAR, 0, fn_fact},
    {"COMBIN", 2, 2, FX_SCALAR, 0, fn_combin},
    {"GCD", 1, 255, FX_VALUES, 0, fn_gcd},
    {"LCM", 1, 255, FX_VALUES, 0, fn_lcm},
    {"PI", 0, 0, FX_SCALAR, 0, fn_pi},
    {"RAND", 0, 0, FX_SCALAR, FX_VOLATILE, fn_rand},
    {"RANDBETWEEN", 2, 2, FX_SCALAR, FX_VOLATILE, fn_randbetween},
    {NULL, 0, 0, 0, 0, NULL},
};
