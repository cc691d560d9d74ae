/* SPDX-License-Identifier: MIT */
/* Loans, savings and cash flows. Money that is paid is negative. */
#include <math.h>

#include "apps/formula/formula_internal.h"

/* ARGS: rate, number of periods, and the others from index 2 on with 0 when missing. */
static bool read_loan_args(const struct fx_args *a, double *v, size_t n, struct formula_value *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (!fx_arg(a, i, 0, &v[i], ret))
            return false;
    }
    return true;
}

/* What 1 grows to in N periods, and what payments of 1 in each of them do. */
static double growth(double rate, double n)
{
    return pow(1 + rate, n);
}

static double annuity(double rate, double n, double at_begin)
{
    if (!(rate < 0 || rate > 0))
        return n;
    return (growth(rate, n) - 1) / rate * (at_begin > 0 ? 1 + rate : 1);
}

static void give_money(struct formula_value *ret, double d)
{
    fx_give_look(ret, d, FORMULA_LOOK_CURRENCY);
}

/* PMT(rate, n, present, future, at the beginning) */
static void fn_pmt(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double v[5];

    (void)x;
    if (read_loan_args(a, v, 5, ret))
        give_money(ret, -(v[2] * growth(v[0], v[1]) + v[3]) / annuity(v[0], v[1], v[4]));
}

/* FV(rate, n, payment, present, at the beginning) */
static void fn_fv(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double v[5];

    (void)x;
    if (read_loan_args(a, v, 5, ret))
        give_money(ret, -(v[3] * growth(v[0], v[1]) + v[2] * annuity(v[0], v[1], v[4])));
}

/* PV(rate, n, payment, future, at the beginning) */
static void fn_pv(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double v[5];

    (void)x;
    if (read_loan_args(a, v, 5, ret))
        give_money(ret, -(v[3] + v[2] * annuity(v[0], v[1], v[4])) / growth(v[0], v[1]));
}

/* NPER(rate, payment, present, future, at the beginning) */
static void fn_nper(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double v[5];

    (void)x;
    if (!read_loan_args(a, v, 5, ret))
        return;
    double pay = v[1] * (v[4] > 0 ? 1 + v[0] : 1);
    if (v[0] < 0 || v[0] > 0)
        fx_give(ret, log((pay - v[3] * v[0]) / (pay + v[2] * v[0])) / log(1 + v[0]));
    else
        fx_give(ret, -(v[2] + v[3]) / v[1]);
}

/* ---- cash flows ---- */

enum { MAX_FLOWS = 1000 };

struct flows {
    double v[MAX_FLOWS];
    size_t n;
    struct formula_value error;
};

static bool add_flow(void *ctx, const struct formula_value *v, bool is_direct)
{
    struct flows *f = ctx;

    if (v->type == FORMULA_ERROR)
        f->error = *v;
    if (v->type == FORMULA_ERROR || f->n == MAX_FLOWS)
        return false;
    if (v->type == FORMULA_NUMBER || is_direct)
        f->n += fx_number(v, &f->v[f->n], &f->error);
    return f->error.type != FORMULA_ERROR;
}

/* The value today, the first flow now. */
static double present(const struct flows *f, double rate)
{
    double sum = 0;

    for (size_t i = 0; i < f->n; i++)
        sum += f->v[i] / growth(rate, (double)i);
    return sum;
}

static struct flows *collect_cash_flow(struct fx *x, const struct fx_args *a, size_t from,
                                       struct formula_value *ret)
{
    struct flows *f = arena_new(x->env->arena, struct flows);

    if (!f) {
        x->env->is_over = true;
        return NULL;
    }
    fx_each(x, a, from, add_flow, f);
    if (f->error.type != FORMULA_ERROR)
        return f;
    *ret = f->error;
    return NULL;
}

static void fn_npv(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value rate = a->v[0];
    double r;

    fx_scalar(x, &rate);
    if (!fx_number(&rate, &r, ret))
        return;
    const struct flows *f = collect_cash_flow(x, a, 1, ret);
    if (f)
        give_money(ret, present(f, r) / (1 + r));
}

/* The rate at which the flows are worth nothing, found by halving where the sign changes. */
static void fn_irr(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct fx_args own = {.n = 1, .v = a->v};
    const struct flows *f = collect_cash_flow(x, &own, 0, ret);
    double low = -0.999, high = 10;

    if (!f)
        return;
    fx_give_error(ret, FORMULA_ERROR_NUM);
    if (f->n < 2 || !(present(f, low) * present(f, high) < 0))
        return;
    for (int i = 0; i < 100; i++) {
        double mid = (low + high) / 2;
        if (present(f, low) * present(f, mid) <= 0)
            high = mid;
        else
            low = mid;
    }
    fx_give_look(ret, round((low + high) / 2 * 1e12) / 1e12, FORMULA_LOOK_PERCENT);
}

const struct fx_function fx_money[] = {
    {"PMT", 3, 5, FX_SCALAR, 0, fn_pmt},
    {"FV", 3, 5, FX_SCALAR, 0, fn_fv},
    {"PV", 3, 5, FX_SCALAR, 0, fn_pv},
    {"NPER", 3, 5, FX_SCALAR, 0, fn_nper},
    {"NPV", 2, 255, FX_VALUES, 0, fn_npv},
    {"IRR", 1, 2, FX_VALUES, 0, fn_irr},
    {NULL, 0, 0, 0, 0, NULL},
};
