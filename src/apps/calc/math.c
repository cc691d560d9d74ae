/* SPDX-License-Identifier: MIT */
/* The functions of Python's module math, as a table. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/calc/calc_internal.h"
#include "base/cleanup.h"
#include "base/python.h"

struct calc_function {
    const char *name;
    int min, max; /* arguments */
    /* One of these. */
    double (*one)(double);
    double (*two)(double, double);
    struct num (*any)(struct calc *c, struct num *args, int n);
    bool can_overflow; /* of ONE: an infinite result is too large, not undefined */
};

/* ---- on integers ---- */

static bool need_ints(struct calc *c, const struct num *args, int n)
{
    for (int i = 0; i < n && !c->has_fault; i++) {
        if (args[i].kind != NUM_INT)
            (void)calc_fault(c, "'%s' object cannot be interpreted as an integer",
                             args[i].kind == NUM_REAL ? "float" : "tuple");
    }
    return !c->has_fault;
}

/* HIGH × (HIGH - 1) × … of N factors, from LOW on. */
static struct num product(struct calc *c, const struct num *low, BN_ULONG n)
{
    struct num r = num_int(c, 1), k = num_new(c);

    if (!r.n || !k.n || !BN_copy(k.n, low->n))
        return calc_fault(c, "out of memory");
    for (; n > 0; n--) {
        if (!BN_mul(r.n, r.n, k.n, c->pool) || !BN_add_word(k.n, 1))
            return calc_fault(c, "out of memory");
        if (!num_fits(c, &r))
            break;
    }
    return r;
}

static struct num f_factorial(struct calc *c, struct num *a, int n)
{
    if (!need_ints(c, a, n))
        return num_real(0);
    if (BN_is_negative(a[0].n))
        return calc_fault(c, "factorial() not defined for negative values");
    struct num one = num_int(c, 1);
    return product(c, &one, BN_get_word(a[0].n));
}

/* N × (N - 1) × … of K factors. */
static struct num falling(struct calc *c, const struct num *n, const struct num *k)
{
    struct num low = num_op(c, '-', n, k), one = num_int(c, 1);

    low = num_op(c, '+', &low, &one);
    return c->has_fault ? low : product(c, &low, BN_get_word(k->n));
}

static bool are_counts(struct calc *c, struct num *a, int n)
{
    if (!need_ints(c, a, n))
        return false;
    for (int i = 0; i < n; i++) {
        if (BN_is_negative(a[i].n)) {
            (void)calc_fault(c, "%s must be a non-negative integer", i == 0 ? "n" : "k");
            return false;
        }
    }
    return true;
}

static struct num f_perm(struct calc *c, struct num *a, int n)
{
    if (!are_counts(c, a, n))
        return num_real(0);
    if (n == 1)
        return f_factorial(c, a, n);
    return BN_cmp(a[1].n, a[0].n) > 0 ? num_int(c, 0) : falling(c, &a[0], &a[1]);
}

static struct num f_comb(struct calc *c, struct num *a, int n)
{
    struct num one = num_int(c, 1);

    if (!are_counts(c, a, n))
        return num_real(0);
    if (BN_cmp(a[1].n, a[0].n) > 0)
        return num_int(c, 0);
    struct num other = num_op(c, '-', &a[0], &a[1]);
    struct num *k = num_compare(c, &other, &a[1]) < 0 ? &other : &a[1];
    struct num above = falling(c, &a[0], k);
    struct num below = c->has_fault ? one : product(c, &one, BN_get_word(k->n));
    return num_op(c, 'f', &above, &below);
}

static struct num f_gcd(struct calc *c, struct num *a, int n)
{
    struct num r = num_int(c, 0);

    if (!need_ints(c, a, n))
        return r;
    for (int i = 0; i < n; i++) {
        if (!r.n || !BN_gcd(r.n, r.n, a[i].n, c->pool))
            return calc_fault(c, "out of memory");
        BN_set_negative(r.n, 0);
    }
    return r;
}

static struct num f_lcm(struct calc *c, struct num *a, int n)
{
    struct num r = num_int(c, 1);

    if (!need_ints(c, a, n))
        return r;
    for (int i = 0; i < n && !c->has_fault; i++) {
        struct num pair[2] = {r, a[i]};
        if (BN_is_zero(a[i].n))
            return num_int(c, 0);
        struct num common = f_gcd(c, pair, 2), part = num_op(c, 'f', &a[i], &common);
        r = num_op(c, '*', &r, &part);
        if (r.n)
            BN_set_negative(r.n, 0);
    }
    return r;
}

/* By Newton's method, from above. */
static struct num f_isqrt(struct calc *c, struct num *a, int n)
{
    struct num two = num_int(c, 2), x = num_int(c, 1);

    if (!need_ints(c, a, n))
        return x;
    if (BN_is_negative(a[0].n))
        return calc_fault(c, "isqrt() argument must be nonnegative");
    if (BN_is_zero(a[0].n))
        return num_int(c, 0);
    if (!x.n || !BN_lshift(x.n, x.n, (BN_num_bits(a[0].n) + 1) / 2))
        return calc_fault(c, "out of memory");
    for (;;) {
        struct num q = num_op(c, 'f', &a[0], &x), s = num_op(c, '+', &x, &q);
        struct num next = num_op(c, 'f', &s, &two);
        if (c->has_fault || num_compare(c, &next, &x) >= 0)
            return x;
        x = next;
    }
}

/* ---- to integers ---- */

static struct num to_calc_int(struct calc *c, const struct num *a, double (*round_it)(double))
{
    if (a->kind == NUM_INT) {
        struct num r = *a;
        r.is_bool = false;
        return r;
    }
    double d = num_double(c, a);
    return c->has_fault ? num_real(0) : num_trunc(c, round_it(d));
}

static struct num f_floor(struct calc *c, struct num *a, int n)
{
    (void)n;
    return to_calc_int(c, &a[0], floor);
}

static struct num f_ceil(struct calc *c, struct num *a, int n)
{
    (void)n;
    return to_calc_int(c, &a[0], ceil);
}

static struct num f_trunc(struct calc *c, struct num *a, int n)
{
    (void)n;
    return to_calc_int(c, &a[0], trunc);
}

static struct num f_round(struct calc *c, struct num *a, int n)
{
    char text[400];

    if (n == 1 || a[0].kind == NUM_INT)
        return to_calc_int(c, &a[0], rint);
    if (!need_ints(c, &a[1], 1))
        return num_real(0);
    double digits = num_double(c, &a[1]), d = a[0].d;
    if (!isfinite(d) || digits > 300)
        return num_real(d);
    if (digits < 0) {
        double unit = pow(10, digits < -400 ? 400 : -digits);
        return num_real(rint(d / unit) * (isinf(unit) ? 0 : unit));
    }
    (void)snprintf(text, sizeof text, "%.*f", (int)digits, fabs(d) < 1e60 ? d : 0);
    return num_real(fabs(d) < 1e60 ? strtod(text, NULL) : d);
}

/* ---- of any ---- */

static struct num f_abs(struct calc *c, struct num *a, int n)
{
    (void)n;
    if (a[0].kind == NUM_INT && BN_is_negative(a[0].n))
        return num_negate(c, &a[0]);
    if (a[0].kind != NUM_REAL)
        return to_calc_int(c, &a[0], trunc);
    return num_real(fabs(a[0].d));
}

static struct num extreme(struct calc *c, const struct num *a, int n, int sign)
{
    struct num r = a[0];

    if (n == 1)
        return calc_fault(c, "'%s' object is not iterable",
                          a[0].kind == NUM_REAL ? "float" : "int");
    for (int i = 1; i < n; i++) {
        if (num_compare(c, &a[i], &r) == sign)
            r = a[i];
    }
    return r;
}

static struct num f_min(struct calc *c, struct num *a, int n)
{
    return extreme(c, a, n, -1);
}

static struct num f_max(struct calc *c, struct num *a, int n)
{
    return extreme(c, a, n, 1);
}

static struct num f_not_iterable(struct calc *c, struct num *a, int n)
{
    (void)n;
    return calc_fault(c, "'%s' object is not iterable", a[0].kind == NUM_REAL ? "float" : "int");
}

/* The logarithm by LOG of A, also of integers that are no floats. */
static double logarithm(struct calc *c, const struct num *a, double (*log_it)(double))
{
    if (a->kind == NUM_INT && !BN_is_negative(a->n) && BN_num_bits(a->n) > 1000) {
        int shift = BN_num_bits(a->n) - 64;
        struct num high = num_new(c);
        if (!high.n || !BN_rshift(high.n, a->n, shift))
            return calc_fault(c, "out of memory").d;
        return log_it(num_double(c, &high)) + shift * log_it(2);
    }
    double d = num_double(c, a);
    if (!c->has_fault && d <= 0)
        (void)calc_fault(c, "math domain error");
    return c->has_fault ? 0 : log_it(d);
}

static struct num f_log(struct calc *c, struct num *a, int n)
{
    double d = logarithm(c, &a[0], log);

    if (n == 1 || c->has_fault)
        return num_real(d);
    struct num x = num_real(d), base = num_real(logarithm(c, &a[1], log));
    return num_op(c, '/', &x, &base);
}

static struct num f_log2(struct calc *c, struct num *a, int n)
{
    (void)n;
    return num_real(logarithm(c, &a[0], log2));
}

static struct num f_log10(struct calc *c, struct num *a, int n)
{
    (void)n;
    return num_real(logarithm(c, &a[0], log10));
}

static struct num f_hypot(struct calc *c, struct num *a, int n)
{
    double r = 0;

    for (int i = 0; i < n; i++)
        r = hypot(r, num_double(c, &a[i]));
    return num_real(r);
}

static struct num f_pow(struct calc *c, struct num *a, int n)
{
    double x = num_double(c, &a[0]), y = num_double(c, &a[1]), r = pow(x, y);

    (void)n;
    if ((isnan(r) && !isnan(x) && !isnan(y)) || (x == 0 && isinf(r) && isfinite(y)))
        return calc_fault(c, "math domain error");
    if (isinf(r) && isfinite(x) && isfinite(y))
        return calc_fault(c, "math range error");
    return num_real(r);
}

static struct num f_gamma(struct calc *c, struct num *a, int n)
{
    double x = num_double(c, &a[0]);

    (void)n;
    if (x == -INFINITY || (x <= 0 && x == floor(x)))
        return calc_fault(c, "math domain error");
    double r = tgamma(x);
    return isinf(r) && isfinite(x) ? calc_fault(c, "math range error") : num_real(r);
}

static struct num f_lgamma(struct calc *c, struct num *a, int n)
{
    double x = num_double(c, &a[0]);

    (void)n;
    if (isfinite(x) && x <= 0 && x == floor(x))
        return calc_fault(c, "math domain error");
    int sign;
    return num_real(lgamma_r(x, &sign));
}

static struct num f_ldexp(struct calc *c, struct num *a, int n)
{
    double x = num_double(c, &a[0]);

    (void)n;
    if (a[1].kind != NUM_INT)
        return calc_fault(c, "Expected an int as second argument to ldexp.");
    double e = num_double(c, &a[1]), r = ldexp(x, (int)fmax(fmin(e, 100000), -100000));
    return isinf(r) && isfinite(x) ? calc_fault(c, "math range error") : num_real(r);
}

static struct num make_number_pair(double first, double second, bool is_int)
{
    auto_buf struct buf b = BUF_INIT(80);
    struct num r = {.kind = NUM_TEXT};

    python_float(&b, first);
    (void)buf_add_lit(&b, ", ");
    if (is_int)
        (void)buf_printf(&b, "%d", (int)second);
    else
        python_float(&b, second);
    (void)snprintf(r.text, sizeof r.text, "(%s)", buf_cstr(&b));
    return r;
}

static struct num f_frexp(struct calc *c, struct num *a, int n)
{
    int exponent = 0;
    double x = num_double(c, &a[0]), m = isfinite(x) ? frexp(x, &exponent) : x;

    (void)n;
    return make_number_pair(m, exponent, true);
}

static struct num f_modf(struct calc *c, struct num *a, int n)
{
    double x = num_double(c, &a[0]), whole, part = modf(x, &whole);

    (void)n;
    return make_number_pair(part, whole, false);
}

static struct num f_isclose(struct calc *c, struct num *a, int n)
{
    double x = num_double(c, &a[0]), y = num_double(c, &a[1]);

    (void)n;
    if (isinf(x) || isinf(y))
        return num_bool(c, x == y);
    return num_bool(c, x == y || fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y)));
}

static struct num f_isfinite(struct calc *c, struct num *a, int n)
{
    (void)n;
    return num_bool(c, isfinite(num_double(c, &a[0])));
}

static struct num f_isinf(struct calc *c, struct num *a, int n)
{
    (void)n;
    return num_bool(c, isinf(num_double(c, &a[0])));
}

static struct num f_isnan(struct calc *c, struct num *a, int n)
{
    (void)n;
    return num_bool(c, isnan(num_double(c, &a[0])));
}

static double to_degrees(double x)
{
    return x * (180 / M_PI);
}

static double to_radians(double x)
{
    return x * (M_PI / 180);
}

static double ulp(double x)
{
    x = fabs(x);
    if (!isfinite(x))
        return x;
    double next = nextafter(x, INFINITY);
    return isinf(next) ? x - nextafter(x, -INFINITY) : next - x;
}

/* ---- the table ---- */

#define ONE(name, fn)                                                                              \
    {                                                                                              \
        name, 1, 1, fn, NULL, NULL, false                                                          \
    }
#define GROWS(name, fn)                                                                            \
    {                                                                                              \
        name, 1, 1, fn, NULL, NULL, true                                                           \
    }
#define TWO(name, fn)                                                                              \
    {                                                                                              \
        name, 2, 2, NULL, fn, NULL, false                                                          \
    }
#define ANY(name, fn, least, most)                                                                 \
    {                                                                                              \
        name, least, most, NULL, NULL, fn, false                                                   \
    }

static const struct calc_function functions[] = {
    ONE("acos", acos),
    ONE("acosh", acosh),
    ONE("asin", asin),
    ONE("asinh", asinh),
    ONE("atan", atan),
    ONE("atanh", atanh),
    ONE("cbrt", cbrt),
    ONE("cos", cos),
    GROWS("cosh", cosh),
    ONE("degrees", to_degrees),
    ONE("erf", erf),
    ONE("erfc", erfc),
    GROWS("exp", exp),
    GROWS("exp2", exp2),
    GROWS("expm1", expm1),
    ONE("fabs", fabs),
    ONE("log1p", log1p),
    ONE("radians", to_radians),
    ONE("sin", sin),
    GROWS("sinh", sinh),
    ONE("sqrt", sqrt),
    ONE("tan", tan),
    ONE("tanh", tanh),
    ONE("ulp", ulp),
    TWO("atan2", atan2),
    TWO("copysign", copysign),
    TWO("fmod", fmod),
    TWO("nextafter", nextafter),
    TWO("remainder", remainder),
    ANY("pow", f_pow, 2, 2),
    ANY("ldexp", f_ldexp, 2, 2),
    ANY("isclose", f_isclose, 2, 2),
    ANY("abs", f_abs, 1, 1),
    ANY("ceil", f_ceil, 1, 1),
    ANY("floor", f_floor, 1, 1),
    ANY("trunc", f_trunc, 1, 1),
    ANY("round", f_round, 1, 2),
    ANY("factorial", f_factorial, 1, 1),
    ANY("isqrt", f_isqrt, 1, 1),
    ANY("comb", f_comb, 2, 2),
    ANY("perm", f_perm, 1, 2),
    ANY("gcd", f_gcd, 0, CALC_MAX_ARGS),
    ANY("lcm", f_lcm, 0, CALC_MAX_ARGS),
    ANY("hypot", f_hypot, 0, CALC_MAX_ARGS),
    ANY("min", f_min, 1, CALC_MAX_ARGS),
    ANY("max", f_max, 1, CALC_MAX_ARGS),
    ANY("log", f_log, 1, 2),
    ANY("log2", f_log2, 1, 1),
    ANY("log10", f_log10, 1, 1),
    ANY("gamma", f_gamma, 1, 1),
    ANY("lgamma", f_lgamma, 1, 1),
    ANY("frexp", f_frexp, 1, 1),
    ANY("modf", f_modf, 1, 1),
    ANY("isfinite", f_isfinite, 1, 1),
    ANY("isinf", f_isinf, 1, 1),
    ANY("isnan", f_isnan, 1, 1),
    ANY("fsum", f_not_iterable, 1, 1),
    ANY("prod", f_not_iterable, 1, 1),
    ANY("dist", f_not_iterable, 2, 2),
};

const struct calc_function *calc_function(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (str_is(name, functions[i].name))
            return &functions[i];
    }
    return NULL;
}

const char *calc_function_name(const struct calc_function *f)
{
    return f->name;
}

bool calc_constant(struct str name, double *ret)
{
    static const struct {
        const char *name;
        double value;
    } constants[] = {
        {"pi", M_PI}, {"e", M_E}, {"tau", 2 * M_PI}, {"inf", INFINITY}, {"nan", (double)NAN},
    };

    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (str_is(name, constants[i].name)) {
            *ret = constants[i].value;
            return true;
        }
    }
    return false;
}

/* ---- calling ---- */

static struct num call_one(struct calc *c, const struct calc_function *f, const struct num *a)
{
    double x = num_double(c, a);
    double r = c->has_fault ? 0 : f->one(x);

    if (isnan(r) && !isnan(x))
        return calc_fault(c, "math domain error");
    if (isinf(r) && isfinite(x))
        return calc_fault(c, f->can_overflow ? "math range error" : "math domain error");
    return num_real(r);
}

static struct num call_two(struct calc *c, const struct calc_function *f, const struct num *a)
{
    double x = num_double(c, &a[0]), y = num_double(c, &a[1]);
    double r = c->has_fault ? 0 : f->two(x, y);

    if (isnan(r) && !isnan(x) && !isnan(y))
        return calc_fault(c, "math domain error");
    return num_real(r);
}

static struct num wrong_count(struct calc *c, const struct calc_function *f, int n)
{
    if (f->min == 1 && f->max == 1)
        return calc_fault(c, "math.%s() takes exactly one argument (%d given)", f->name, n);
    if (f->min == f->max)
        return calc_fault(c, "%s expected %d arguments, got %d", f->name, f->min, n);
    return calc_fault(c, "%s expected at %s %d argument%s, got %d", f->name,
                      n < f->min ? "least" : "most", n < f->min ? f->min : f->max,
                      (n < f->min ? f->min : f->max) == 1 ? "" : "s", n);
}

struct num calc_call(struct calc *c, const struct calc_function *f, struct num *args, int n)
{
    if (c->has_fault || !f)
        return num_real(0);
    if (n < f->min || n > f->max)
        return wrong_count(c, f, n);
    for (int i = 0; i < n; i++) {
        if (args[i].kind == NUM_TEXT)
            return calc_fault(c, "must be real number, not %s",
                              args[i].text[0] == '<' ? "builtin_function_or_method" : "complex");
    }
    if (f->one)
        return call_one(c, f, args);
    return f->two ? call_two(c, f, args) : f->any(c, args, n);
}
