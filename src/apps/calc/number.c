/* SPDX-License-Identifier: MIT */
/* The numbers of Python: integers by libcrypto, floats, and how they are shown. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/calc/calc_internal.h"
#include "base/python.h"

#define MAX_DIGITS 4300 /* that Python prints of an integer */

/* ---- making ---- */

struct num num_new(struct calc *c)
{
    struct num r = {.kind = NUM_INT, .n = BN_CTX_get(c->pool)};

    if (!r.n)
        return calc_fault(c, "out of memory");
    (void)BN_set_word(r.n, 0);
    return r;
}

struct num num_int(struct calc *c, int64_t value)
{
    struct num r = num_new(c);

    if (r.n && BN_set_word(r.n, value < 0 ? -(BN_ULONG)value : (BN_ULONG)value))
        BN_set_negative(r.n, value < 0);
    return r;
}

struct num num_real(double d)
{
    return (struct num){.kind = NUM_REAL, .d = d};
}

struct num num_bool(struct calc *c, bool value)
{
    struct num r = num_int(c, value);

    r.is_bool = true;
    return r;
}

struct num num_parse(struct calc *c, const char *digits, int base)
{
    struct num r = num_new(c);

    if (r.n && !(base == 16 ? BN_hex2bn(&r.n, digits) : BN_dec2bn(&r.n, digits)))
        return calc_fault(c, "out of memory");
    return r;
}

struct num num_trunc(struct calc *c, double d)
{
    int exponent;

    if (isnan(d))
        return calc_fault(c, "cannot convert float NaN to integer");
    if (isinf(d))
        return calc_fault(c, "cannot convert float infinity to integer");
    d = trunc(d);
    double m = frexp(d, &exponent);
    if (exponent <= 53)
        return num_int(c, (int64_t)d);
    struct num r = num_int(c, (int64_t)ldexp(m, 53));
    if (r.n && !BN_lshift(r.n, r.n, exponent - 53))
        return calc_fault(c, "out of memory");
    return r;
}

bool num_fits(struct calc *c, const struct num *a)
{
    if (!a->n || BN_num_bits(a->n) > CALC_MAX_BITS) {
        (void)calc_fault(c, "integer is too large: more than %d bits", CALC_MAX_BITS);
        return false;
    }
    return true;
}

/* ---- as floats ---- */

/* |A| / |B| rounded once: a quotient of at least 55 bits, its last one set when something is left.
 */
static double divide(struct calc *c, const BIGNUM *a, const BIGNUM *b)
{
    int shift = 55 - (BN_num_bits(a) - BN_num_bits(b));
    struct num x = num_new(c), y = num_new(c), q = num_new(c), r = num_new(c);

    if (!r.n || !q.n || !y.n || !x.n || !BN_lshift(x.n, a, shift > 0 ? shift : 0) ||
        !BN_lshift(y.n, b, shift < 0 ? -shift : 0) || !BN_div(q.n, r.n, x.n, y.n, c->pool))
        return calc_fault(c, "out of memory").d;
    BN_ULONG bits = BN_get_word(q.n);
    if (!BN_is_zero(r.n))
        bits |= 1;
    double d = ldexp((double)bits, -shift);
    return BN_is_negative(a) != BN_is_negative(b) ? -d : d;
}

double num_double(struct calc *c, const struct num *a)
{
    if (a->kind == NUM_REAL || c->has_fault)
        return a->d;
    if (a->kind != NUM_INT)
        return calc_fault(c, "must be real number, not %s",
                          a->text[0] == '<' ? "function" : "tuple")
            .d;
    if (BN_is_zero(a->n))
        return 0;
    double d = divide(c, a->n, BN_value_one());
    if (isinf(d))
        (void)calc_fault(c, "int too large to convert to float");
    return d;
}

int num_compare(struct calc *c, const struct num *a, const struct num *b)
{
    if (a->kind == NUM_INT && b->kind == NUM_INT)
        return BN_cmp(a->n, b->n);
    double x = num_double(c, a), y = num_double(c, b);
    if (isnan(x) || isnan(y))
        return 2;
    return (x > y) - (x < y);
}

/* ---- operators ---- */

/* The quotient rounded down and what is left, with the sign of B. */
static bool divide_down(struct calc *c, const struct num *a, const struct num *b, struct num *q,
                        struct num *r)
{
    *q = num_new(c);
    *r = num_new(c);
    if (!r->n || !q->n || !BN_div(q->n, r->n, a->n, b->n, c->pool))
        return false;
    if (BN_is_zero(r->n) || BN_is_negative(r->n) == BN_is_negative(b->n))
        return true;
    return BN_add(r->n, r->n, b->n) && BN_sub_word(q->n, 1);
}

static struct num power_real(struct calc *c, double a, double b);

static struct num power_int(struct calc *c, const struct num *a, const struct num *b)
{
    struct num r = num_new(c);

    if (BN_is_negative(b->n))
        return power_real(c, num_double(c, a), num_double(c, b));
    int bits = BN_num_bits(a->n);
    bool is_small = bits <= 1; /* -1, 0, 1 */
    if (!is_small && (BN_num_bits(b->n) > 20 || bits * (int)BN_get_word(b->n) > 2 * CALC_MAX_BITS))
        return calc_fault(c, "integer is too large: more than %d bits", CALC_MAX_BITS);
    struct num e = *b;
    if (is_small) /* only whether it is 0, and odd */
        e = num_int(c, BN_is_zero(b->n) ? 0 : 2 - BN_is_odd(b->n));
    if (!r.n || !e.n || !BN_exp(r.n, a->n, e.n, c->pool))
        return calc_fault(c, "out of memory");
    return num_fits(c, &r) ? r : num_int(c, 0);
}

static struct num op_int(struct calc *c, char op, const struct num *a, const struct num *b)
{
    struct num r = num_new(c), rest;
    bool is_ok = r.n != NULL;

    if ((op == '/' || op == 'f' || op == '%') && BN_is_zero(b->n))
        return calc_fault(c, op == '/'   ? "division by zero"
                             : op == '%' ? "integer modulo by zero"
                                         : "integer division or modulo by zero");
    switch (op) {
    case '+': is_ok = is_ok && BN_add(r.n, a->n, b->n); break;
    case '-': is_ok = is_ok && BN_sub(r.n, a->n, b->n); break;
    case '*': is_ok = is_ok && BN_mul(r.n, a->n, b->n, c->pool); break;
    case 'f': is_ok = divide_down(c, a, b, &r, &rest); break;
    case '%': is_ok = divide_down(c, a, b, &rest, &r); break;
    case '^': return power_int(c, a, b);
    default:
        r = num_real(BN_is_zero(a->n) ? 0 : divide(c, a->n, b->n));
        return isinf(r.d) ? calc_fault(c, "integer division result too large for a float") : r;
    }
    if (!is_ok)
        return calc_fault(c, "out of memory");
    return num_fits(c, &r) ? r : num_int(c, 0);
}

/* A negative base has a complex power, which can only be shown. */
static struct num power_complex(double a, double b)
{
    auto_buf struct buf text = BUF_INIT(90);
    struct num r = {.kind = NUM_TEXT};
    double size = pow(-a, b), angle = atan2(0, a) * b;
    double imaginary = size * sin(angle);

    (void)buf_add_char(&text, '(');
    python_float(&text, size * cos(angle));
    if (str_ends(buf_str(&text), STR(".0")))
        text.len -= 2;
    if (!signbit(imaginary))
        (void)buf_add_char(&text, '+');
    python_float(&text, imaginary);
    if (str_ends(buf_str(&text), STR(".0")))
        text.len -= 2;
    (void)snprintf(r.text, sizeof r.text, "%.*sj)", (int)text.len, text.p ? text.p : "");
    return r;
}

static struct num power_real(struct calc *c, double a, double b)
{
    if (a == 0 && b < 0)
        return calc_fault(c, "0.0 cannot be raised to a negative power");
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b))
        return power_complex(a, b);
    double r = pow(a, b);
    if (isinf(r) && isfinite(a) && isfinite(b))
        return calc_fault(c, "(34, 'Numerical result out of range')");
    return num_real(r);
}

static double modulo(double a, double b)
{
    double m = fmod(a, b);

    if (m == 0)
        return copysign(0, b);
    return (b < 0) != (m < 0) ? m + b : m;
}

static double floor_divide(double a, double b)
{
    double m = fmod(a, b), q = (a - m) / b;

    if (m != 0 && (b < 0) != (m < 0))
        q -= 1;
    if (q == 0)
        return copysign(0, a / b);
    return q - floor(q) > 0.5 ? floor(q) + 1 : floor(q);
}

static struct num op_real(struct calc *c, char op, double a, double b)
{
    if ((op == '/' || op == 'f' || op == '%') && b == 0)
        return calc_fault(c, op == '/'   ? "float division by zero"
                             : op == '%' ? "float modulo"
                                         : "float floor division by zero");
    switch (op) {
    case '+': return num_real(a + b);
    case '-': return num_real(a - b);
    case '*': return num_real(a * b);
    case '/': return num_real(a / b);
    case '%': return num_real(modulo(a, b));
    case 'f': return num_real(floor_divide(a, b));
    default: return power_real(c, a, b);
    }
}

static const char *type_name(const struct num *a)
{
    if (a->kind == NUM_TEXT)
        return a->text[0] == '<' ? "builtin_function_or_method" : "complex";
    if (a->kind == NUM_REAL)
        return "float";
    return a->is_bool ? "bool" : "int";
}

struct num num_op(struct calc *c, char op, const struct num *a, const struct num *b)
{
    if (c->has_fault)
        return num_real(0);
    if (a->kind == NUM_TEXT || b->kind == NUM_TEXT) {
        char sign[3] = {op == '^' ? '*' : op == 'f' ? '/' : op, 0, 0};
        if (op == '^' || op == 'f')
            sign[1] = sign[0];
        return calc_fault(c, "unsupported operand type(s) for %s: '%s' and '%s'", sign,
                          type_name(a), type_name(b));
    }
    if (a->kind == NUM_INT && b->kind == NUM_INT)
        return op_int(c, op, a, b);
    double x = num_double(c, a), y = num_double(c, b);
    return c->has_fault ? num_real(0) : op_real(c, op, x, y);
}

struct num num_negate(struct calc *c, const struct num *a)
{
    if (c->has_fault)
        return num_real(0);
    if (a->kind == NUM_TEXT)
        return calc_fault(c, "bad operand type for unary -: '%s'", type_name(a));
    if (a->kind == NUM_REAL)
        return num_real(-a->d);
    struct num zero = num_int(c, 0);
    return num_op(c, '-', &zero, a);
}

/* ---- showing ---- */

void num_print(struct calc *c, const struct num *a, struct buf *out)
{
    if (a->kind == NUM_TEXT)
        (void)buf_add_str(out, str_of(a->text));
    else if (a->kind == NUM_REAL)
        python_float(out, a->d);
    else if (a->is_bool)
        (void)buf_add_str(out, BN_is_zero(a->n) ? STR("False") : STR("True"));
    else {
        char *digits = BN_bn2dec(a->n);
        if (!digits)
            (void)calc_fault(c, "out of memory");
        else if (strlen(digits) - (digits[0] == '-') > MAX_DIGITS)
            (void)calc_fault(c,
                             "Exceeds the limit (%d digits) for integer string conversion; use "
                             "sys.set_int_max_str_digits() to increase the limit",
                             MAX_DIGITS);
        else
            (void)buf_add_str(out, str_of(digits));
        OPENSSL_free(digits);
    }
}
