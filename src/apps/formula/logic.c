/* SPDX-License-Identifier: MIT */
/* Decisions, and questions about values. */
#include "apps/formula/formula_internal.h"

/* ---- decisions: only what is chosen is calculated ---- */

/* The condition, which has to be a single value; false: RET is the error or the answer. */
static bool eval_condition(struct fx *x, const struct fx_node *n, bool *out,
                           struct formula_value *ret)
{
    struct formula_value v;

    fx_eval(x, n, &v);
    fx_scalar(x, &v);
    return fx_bool(&v, out, ret);
}

static void if_item(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    bool is_true;

    (void)x;
    if (!fx_bool(&a->v[0], &is_true, ret))
        return;
    if (is_true || a->n > 2)
        *ret = a->v[is_true ? 1 : 2];
    else
        fx_give_bool(ret, false);
}

static void iferror_item(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    *ret = (struct formula_value){.type = FORMULA_BLANK};
    if (a->v[0].type != FORMULA_ERROR)
        *ret = a->v[0];
    else if (a->n > 1)
        *ret = a->v[1];
}

/* Within arrays both sides are calculated, and chosen from item by item. */
static void choose_items(struct fx *x, fx_fn fn, const struct fx_args *a, struct formula_value *ret)
{
    const struct fx_function f = {NULL, 1, 3, FX_SCALAR, FX_ERRORS, fn};
    struct formula_value v[3];
    struct fx_args own = {.n = a->n, .v = v};

    for (size_t i = 0; i < a->n && i < ARRAY_LEN(v); i++)
        fx_eval(x, a->nodes[i], &v[i]);
    fx_map(x, &f, &own, ret);
}

static void fn_if(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    bool is_true;

    if (x->is_array) {
        choose_items(x, if_item, a, ret);
        return;
    }
    if (!eval_condition(x, a->nodes[0], &is_true, ret))
        return;
    if (is_true || a->n > 2)
        fx_eval(x, a->nodes[is_true ? 1 : 2], ret);
    else
        fx_give_bool(ret, false);
}

static void fn_iferror(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    if (x->is_array) {
        choose_items(x, iferror_item, a, ret);
        return;
    }
    fx_eval(x, a->nodes[0], ret);
    if (ret->type == FORMULA_AREA)
        fx_scalar(x, ret);
    if (ret->type != FORMULA_ERROR)
        return;
    *ret = (struct formula_value){.type = FORMULA_BLANK};
    if (a->n > 1)
        fx_eval(x, a->nodes[1], ret);
}

static void fn_ifna(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    fx_eval(x, a->nodes[0], ret);
    fx_scalar(x, ret);
    if (ret->type == FORMULA_ERROR && ret->error == FORMULA_ERROR_NA)
        fx_eval(x, a->nodes[1], ret);
}

static void fn_ifs(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    bool is_true;

    for (size_t i = 0; i + 1 < a->n; i += 2) {
        if (!eval_condition(x, a->nodes[i], &is_true, ret))
            return;
        if (is_true) {
            fx_eval(x, a->nodes[i + 1], ret);
            return;
        }
    }
    fx_give_error(ret, FORMULA_ERROR_NA);
}

static void fn_switch(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value what, with;

    fx_eval(x, a->nodes[0], &what);
    fx_scalar(x, &what);
    if (what.type == FORMULA_ERROR) {
        *ret = what;
        return;
    }
    for (size_t i = 1; i + 1 < a->n; i += 2) {
        fx_eval(x, a->nodes[i], &with);
        fx_scalar(x, &with);
        if (with.type != FORMULA_ERROR && fx_compare(&what, &with) == 0) {
            fx_eval(x, a->nodes[i + 1], ret);
            return;
        }
    }
    if (a->n % 2 == 0)
        fx_eval(x, a->nodes[a->n - 1], ret);
    else
        fx_give_error(ret, FORMULA_ERROR_NA);
}

static void fn_choose(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value v;
    double d;

    fx_eval(x, a->nodes[0], &v);
    fx_scalar(x, &v);
    if (!fx_number(&v, &d, ret))
        return;
    if (d >= 1 && d < (double)a->n)
        fx_eval(x, a->nodes[(size_t)d], ret);
    else
        fx_give_error(ret, FORMULA_ERROR_NUM);
}

/* ---- AND, OR, XOR ---- */

struct votes {
    unsigned n_true, n_false;
    struct formula_value error;
};

static bool vote(void *ctx, const struct formula_value *v, bool is_direct)
{
    struct votes *s = ctx;
    bool flag;

    if (!is_direct && v->type == FORMULA_TEXT)
        return true;
    if (!fx_bool(v, &flag, &s->error))
        return false;
    s->n_true += flag;
    s->n_false += !flag;
    return true;
}

static bool count_votes(struct fx *x, const struct fx_args *a, struct votes *s,
                        struct formula_value *ret)
{
    *s = (struct votes){0};
    fx_each(x, a, 0, vote, s);
    if (s->error.type == FORMULA_ERROR)
        *ret = s->error;
    else if (s->n_true + s->n_false == 0)
        fx_give_error(ret, FORMULA_ERROR_VALUE);
    else
        return true;
    return false;
}

static void fn_and(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct votes s;

    if (count_votes(x, a, &s, ret))
        fx_give_bool(ret, s.n_false == 0);
}

static void fn_or(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct votes s;

    if (count_votes(x, a, &s, ret))
        fx_give_bool(ret, s.n_true > 0);
}

static void fn_xor(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct votes s;

    if (count_votes(x, a, &s, ret))
        fx_give_bool(ret, s.n_true % 2 == 1);
}

static void fn_not(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    bool flag;

    (void)x;
    if (fx_bool(&a->v[0], &flag, ret))
        fx_give_bool(ret, !flag);
}

static void fn_true(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    (void)a;
    fx_give_bool(ret, true);
}

static void fn_false(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    (void)a;
    fx_give_bool(ret, false);
}

const struct fx_function fx_logic[] = {
    {"IF", 2, 3, FX_LAZY, 0, fn_if},
    {"IFS", 2, 254, FX_LAZY, 0, fn_ifs},
    {"IFERROR", 1, 2, FX_LAZY, 0, fn_iferror},
    {"IFNA", 2, 2, FX_LAZY, 0, fn_ifna},
    {"SWITCH", 3, 255, FX_LAZY, 0, fn_switch},
    {"CHOOSE", 2, 255, FX_LAZY, 0, fn_choose},
    {"AND", 1, 255, FX_VALUES, 0, fn_and},
    {"OR", 1, 255, FX_VALUES, 0, fn_or},
    {"XOR", 1, 255, FX_VALUES, 0, fn_xor},
    {"NOT", 1, 1, FX_SCALAR, 0, fn_not},
    {"TRUE", 0, 0, FX_SCALAR, 0, fn_true},
    {"FALSE", 0, 0, FX_SCALAR, 0, fn_false},
    {NULL, 0, 0, 0, 0, NULL},
};

/* ---- questions ---- */

#define QUESTION(name, expr)                                                                       \
    static void name(struct fx *x, const struct fx_args *a, struct formula_value *ret)             \
    {                                                                                              \
        const struct formula_value *v = &a->v[0];                                                  \
        (void)x;                                                                                   \
        fx_give_bool(ret, expr);                                                                   \
    }
QUESTION(fn_isblank, v->type == FORMULA_BLANK)
QUESTION(fn_isnumber, v->type == FORMULA_NUMBER)
QUESTION(fn_istext, v->type == FORMULA_TEXT)
QUESTION(fn_isnontext, v->type != FORMULA_TEXT)
QUESTION(fn_islogical, v->type == FORMULA_BOOL)
QUESTION(fn_iserror, v->type == FORMULA_ERROR)
QUESTION(fn_isna, v->type == FORMULA_ERROR && v->error == FORMULA_ERROR_NA)
QUESTION(fn_iserr, v->type == FORMULA_ERROR && v->error != FORMULA_ERROR_NA)
QUESTION(fn_isdate, v->type == FORMULA_NUMBER && v->look >= FORMULA_LOOK_DATE)

static void parity(const struct fx_args *a, int64_t want, struct formula_value *ret)
{
    int64_t n, bounds[2] = {-((int64_t)1 << 53), (int64_t)1 << 53};

    if (fx_arg_int(a, 0, bounds, &n, ret))
        fx_give_bool(ret, (n % 2 != 0) == want);
}

static void fn_isodd(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    parity(a, 1, ret);
}

static void fn_iseven(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    parity(a, 0, ret);
}

static void fn_na(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    (void)a;
    fx_give_error(ret, FORMULA_ERROR_NA);
}

static void fn_n(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    if (a->v[0].type == FORMULA_NUMBER || a->v[0].type == FORMULA_ERROR)
        *ret = a->v[0];
    else
        fx_give(ret, a->v[0].type == FORMULA_BOOL && a->v[0].flag);
}

static void fn_type(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    static const int types[FORMULA_TYPE_COUNT] = {1, 1, 2, 4, 16, 64, 64};

    (void)x;
    fx_give(ret, types[a->v[0].type]);
}

static void fn_error_type(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    if (a->v[0].type == FORMULA_ERROR)
        fx_give(ret, (double)a->v[0].error + 1);
    else
        fx_give_error(ret, FORMULA_ERROR_NA);
}

const struct fx_function fx_info[] = {
    {"ISBLANK", 1, 1, FX_SCALAR, FX_ERRORS, fn_isblank},
    {"ISNUMBER", 1, 1, FX_SCALAR, FX_ERRORS, fn_isnumber},
    {"ISTEXT", 1, 1, FX_SCALAR, FX_ERRORS, fn_istext},
    {"ISNONTEXT", 1, 1, FX_SCALAR, FX_ERRORS, fn_isnontext},
    {"ISLOGICAL", 1, 1, FX_SCALAR, FX_ERRORS, fn_islogical},
    {"ISERROR", 1, 1, FX_SCALAR, FX_ERRORS, fn_iserror},
    {"ISERR", 1, 1, FX_SCALAR, FX_ERRORS, fn_iserr},
    {"ISNA", 1, 1, FX_SCALAR, FX_ERRORS, fn_isna},
    {"ISDATE", 1, 1, FX_SCALAR, FX_ERRORS, fn_isdate},
    {"ISODD", 1, 1, FX_SCALAR, 0, fn_isodd},
    {"ISEVEN", 1, 1, FX_SCALAR, 0, fn_iseven},
    {"NA", 0, 0, FX_SCALAR, 0, fn_na},
    {"N", 1, 1, FX_SCALAR, FX_ERRORS, fn_n},
    {"TYPE", 1, 1, FX_SCALAR, FX_ERRORS, fn_type},
    {"ERROR.TYPE", 1, 1, FX_SCALAR, FX_ERRORS, fn_error_type},
    {NULL, 0, 0, 0, 0, NULL},
};
