/* SPDX-License-Identifier: MIT */
/* Functions by their names, and the operators, which are functions too. */
#include <math.h>

#include "apps/formula/formula_internal.h"

static const struct fx_function *const tables[] = {
    fx_operators, fx_math,   fx_stat,  fx_logic, fx_lookup,  fx_text,    fx_dates,
    fx_criteria,  fx_arrays, fx_money, fx_info,  fx_lambdas, fx_regexes,
};

const struct fx_function *fx_find(struct str name)
{
    for (size_t i = 0; name.len > 0 && i < ARRAY_LEN(tables); i++) {
        for (const struct fx_function *f = tables[i]; f->name; f++) {
            if ((f->name[0] | 0x20) == (name.p[0] | 0x20) && str_iis(name, f->name))
                return f;
        }
    }
    return NULL;
}

/* ---- arithmetic ---- */

/* How the sum or difference of A and B looks: dates less dates are days. */
static enum formula_look look_of(const struct fx_args *a, bool is_minus)
{
    enum formula_look p = a->v[0].type == FORMULA_NUMBER ? a->v[0].look : FORMULA_LOOK_PLAIN;
    enum formula_look q = a->v[1].type == FORMULA_NUMBER ? a->v[1].look : FORMULA_LOOK_PLAIN;

    if (p >= FORMULA_LOOK_DATE && q >= FORMULA_LOOK_DATE)
        return is_minus ? FORMULA_LOOK_PLAIN : p;
    return p != FORMULA_LOOK_PLAIN ? p : q;
}

static bool read_number_pair(const struct fx_args *a, double *p, double *q,
                             struct formula_value *ret)
{
    return fx_number(&a->v[0], p, ret) && fx_number(&a->v[1], q, ret);
}

static void op_add(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double p, q;

    (void)x;
    if (read_number_pair(a, &p, &q, ret))
        fx_give_look(ret, p + q, look_of(a, false));
}

static void op_minus(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double p, q;

    (void)x;
    if (read_number_pair(a, &p, &q, ret))
        fx_give_look(ret, p - q, look_of(a, true));
}

static bool is_money(const struct formula_value *v)
{
    return v->type == FORMULA_NUMBER && v->look == FORMULA_LOOK_CURRENCY;
}

static void op_multiply(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double p, q;

    (void)x;
    if (read_number_pair(a, &p, &q, ret))
        fx_give_look(ret, p * q,
                     is_money(&a->v[0]) || is_money(&a->v[1]) ? FORMULA_LOOK_CURRENCY
                                                              : FORMULA_LOOK_PLAIN);
}

static void op_divide(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double p, q;

    (void)x;
    if (!read_number_pair(a, &p, &q, ret))
        return;
    if (!(q < 0 || q > 0)) {
        fx_give_error(ret, FORMULA_ERROR_DIV0);
        return;
    }
    fx_give_look(ret, p / q,
                 is_money(&a->v[0]) && !is_money(&a->v[1]) ? FORMULA_LOOK_CURRENCY
                                                           : FORMULA_LOOK_PLAIN);
}

static void op_pow(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double p, q;

    (void)x;
    if (read_number_pair(a, &p, &q, ret))
        fx_give(ret, pow(p, q));
}

static void op_uminus(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double p;

    (void)x;
    if (fx_number(&a->v[0], &p, ret))
        fx_give_look(ret, -p, a->v[0].type == FORMULA_NUMBER ? a->v[0].look : FORMULA_LOOK_PLAIN);
}

static void op_uplus(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    *ret = a->v[0];
}

static void op_percent(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double p;

    (void)x;
    if (fx_number(&a->v[0], &p, ret))
        fx_give(ret, p / 100);
}

/* ---- texts and comparisons ---- */

static void op_concat(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(FORMULA_MAX_TEXT);
    struct str p, q;

    if (!fx_string(x, &a->v[0], &p, ret) || !fx_string(x, &a->v[1], &q, ret))
        return;
    (void)buf_add_str(&b, p);
    (void)buf_add_str(&b, q);
    fx_give_buf(x, ret, &b);
}

#define COMPARISON(name, op)                                                                       \
    static void name(struct fx *x, const struct fx_args *a, struct formula_value *ret)             \
    {                                                                                              \
        (void)x;                                                                                   \
        fx_give_bool(ret, fx_compare(&a->v[0], &a->v[1]) op 0);                                    \
    }
COMPARISON(op_eq, ==)
COMPARISON(op_ne, !=)
COMPARISON(op_lt, <)
COMPARISON(op_lte, <=)
COMPARISON(op_gt, >)
COMPARISON(op_gte, >=)

const struct fx_function fx_operators[] = {
    {"ADD", 2, 2, FX_SCALAR, 0, op_add},
    {"MINUS", 2, 2, FX_SCALAR, 0, op_minus},
    {"MULTIPLY", 2, 2, FX_SCALAR, 0, op_multiply},
    {"DIVIDE", 2, 2, FX_SCALAR, 0, op_divide},
    {"POW", 2, 2, FX_SCALAR, 0, op_pow},
    {"POWER", 2, 2, FX_SCALAR, 0, op_pow},
    {"UMINUS", 1, 1, FX_SCALAR, 0, op_uminus},
    {"UPLUS", 1, 1, FX_SCALAR, 0, op_uplus},
    {"UNARY_PERCENT", 1, 1, FX_SCALAR, 0, op_percent},
    {"CONCAT", 2, 2, FX_SCALAR, 0, op_concat},
    {"EQ", 2, 2, FX_SCALAR, 0, op_eq},
    {"NE", 2, 2, FX_SCALAR, 0, op_ne},
    {"LT", 2, 2, FX_SCALAR, 0, op_lt},
    {"LTE", 2, 2, FX_SCALAR, 0, op_lte},
    {"GT", 2, 2, FX_SCALAR, 0, op_gt},
    {"GTE", 2, 2, FX_SCALAR, 0, op_gte},
    {NULL, 0, 0, 0, 0, NULL},
};
