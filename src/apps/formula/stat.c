/* SPDX-License-Identifier: MIT */
/* Sums, counts and statistics of many values. Of cells only numbers count; what is written in the
 * formula itself has to be one. */
#include <math.h>
#include <stdlib.h>

#include "apps/formula/formula_internal.h"

struct sample {
    struct fx *x;
    double *v; /* when they are kept */
    size_t n, cap;
    bool keeps, counts_all; /* counts_all: texts are 0, booleans 0 and 1 */
    double sum, product, squares, min, max;
    enum formula_look look; /* of the first that has one */
    struct formula_value error;
};

static bool keep_sample(struct sample *s, double d)
{
    double *v = arena_grow(s->x->env->arena, s->v, s->n, &s->cap, sizeof *v);

    if (!v) {
        s->x->env->is_over = true;
        return false;
    }
    s->v = v;
    s->v[s->n] = d;
    return true;
}

static void add_sample_number(struct sample *s, double d)
{
    s->sum += d;
    s->product *= d;
    s->squares += d * d;
    s->min = s->n == 0 || d < s->min ? d : s->min;
    s->max = s->n == 0 || d > s->max ? d : s->max;
    s->n++;
}

static bool add_sample_value(void *ctx, const struct formula_value *v, bool is_direct)
{
    struct sample *s = ctx;
    double d = 0;

    if (v->type == FORMULA_ERROR) {
        s->error = *v;
        return false;
    }
    if (!is_direct && v->type != FORMULA_NUMBER && !s->counts_all)
        return true;
    if ((is_direct || v->type != FORMULA_TEXT) && !fx_number(v, &d, &s->error))
        return false;
    if (s->keeps && !keep_sample(s, d))
        return false;
    if (v->type == FORMULA_NUMBER && s->look == FORMULA_LOOK_PLAIN)
        s->look = v->look;
    add_sample_number(s, d);
    return true;
}

/* False: RET is the error. */
static bool collect_sample(struct sample *s, const struct fx_args *a, size_t from,
                           struct formula_value *ret)
{
    s->product = 1;
    fx_each(s->x, a, from, add_sample_value, s);
    if (s->error.type != FORMULA_ERROR)
        return true;
    *ret = s->error;
    return false;
}

static int by_number_size(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

/* The numbers of the first argument, in order. */
static bool sorted(struct sample *s, const struct fx_args *a, size_t n_args,
                   struct formula_value *ret)
{
    struct fx_args own = {.n = n_args < a->n ? n_args : a->n, .v = a->v};

    s->keeps = true;
    if (!collect_sample(s, &own, 0, ret))
        return false;
    if (s->n > 0)
        qsort(s->v, s->n, sizeof *s->v, by_number_size);
    return true;
}

/* ---- sums ---- */

static void fn_sum(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x};

    if (collect_sample(&s, a, 0, ret))
        fx_give_look(ret, s.sum, s.look);
}

static void fn_product(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x};

    if (collect_sample(&s, a, 0, ret))
        fx_give(ret, s.n > 0 ? s.product : 0);
}

static void fn_sumsq(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x};

    if (collect_sample(&s, a, 0, ret))
        fx_give(ret, s.squares);
}

static void average_sample(struct sample *s, const struct fx_args *a, struct formula_value *ret)
{
    if (!collect_sample(s, a, 0, ret))
        return;
    if (s->n > 0)
        fx_give_look(ret, s->sum / (double)s->n, s->look);
    else
        fx_give_error(ret, FORMULA_ERROR_DIV0);
}

static void fn_average(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x};

    average_sample(&s, a, ret);
}

static void fn_averagea(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x, .counts_all = true};

    average_sample(&s, a, ret);
}

static void fn_min(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x};

    if (collect_sample(&s, a, 0, ret))
        fx_give_look(ret, s.min, s.look);
}

static void fn_max(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x};

    if (collect_sample(&s, a, 0, ret))
        fx_give_look(ret, s.max, s.look);
}

/* ---- counts ---- */

struct count {
    size_t n_numbers, n_values;
};

static bool count_value(void *ctx, const struct formula_value *v, bool is_direct)
{
    struct count *c = ctx;
    double d;
    struct formula_value ignored;

    c->n_values++;
    c->n_numbers += v->type == FORMULA_NUMBER ||
                    (is_direct && v->type != FORMULA_ERROR && fx_number(v, &d, &ignored));
    return true;
}

static void fn_count(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct count c = {0};

    fx_each(x, a, 0, count_value, &c);
    fx_give(ret, (double)c.n_numbers);
}

static void fn_counta(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct count c = {0};

    fx_each(x, a, 0, count_value, &c);
    fx_give(ret, (double)c.n_values);
}

static bool count_filled(void *ctx, const struct formula_value *v, bool is_direct)
{
    (void)is_direct;
    *(double *)ctx += v->type != FORMULA_TEXT || v->text.len > 0;
    return true;
}

static void fn_countblank(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double n_filled = 0, n_all = 0;

    for (size_t i = 0; i < a->n; i++) {
        uint32_t rows, cols;
        fx_size(x, &a->v[i], &rows, &cols);
        n_all += (double)rows * cols;
    }
    fx_each(x, a, 0, count_filled, &n_filled);
    fx_give(ret, n_all - n_filled);
}

/* ---- order ---- */

/* At POSITION (from 0) of the sorted numbers, between two of them in proportion. */
static double at(const struct sample *s, double position)
{
    size_t i = (size_t)position;
    double part = position - (double)i;

    return i + 1 < s->n ? s->v[i] + part * (s->v[i + 1] - s->v[i]) : s->v[s->n - 1];
}

static void fn_median(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x};

    if (!sorted(&s, a, a->n, ret))
        return;
    if (s.n > 0)
        fx_give_look(ret, at(&s, (double)(s.n - 1) / 2), s.look);
    else
        fx_give_error(ret, FORMULA_ERROR_NUM);
}

static void fn_mode(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x};
    size_t best = 1, best_at = 0;

    if (!sorted(&s, a, a->n, ret))
        return;
    for (size_t i = 0, run = 0; i < s.n; i++) {
        run = i > 0 && by_number_size(&s.v[i], &s.v[i - 1]) == 0 ? run + 1 : 1;
        if (run <= best)
            continue;
        best = run;
        best_at = i;
    }
    if (best > 1)
        fx_give_look(ret, s.v[best_at], s.look);
    else
        fx_give_error(ret, FORMULA_ERROR_NA);
}

static void nth(struct fx *x, const struct fx_args *a, bool is_large, struct formula_value *ret)
{
    struct sample s = {.x = x};
    struct formula_value k = a->v[1];
    double d;

    fx_scalar(x, &k);
    if (!fx_number(&k, &d, ret) || !sorted(&s, a, 1, ret))
        return;
    d = trunc(d);
    if (d < 1 || d > (double)s.n)
        fx_give_error(ret, FORMULA_ERROR_NUM);
    else
        fx_give_look(ret, s.v[is_large ? s.n - (size_t)d : (size_t)d - 1], s.look);
}

static void fn_large(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    nth(x, a, true, ret);
}

static void fn_small(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    nth(x, a, false, ret);
}

/* PERCENTILE and, in steps of a quarter, QUARTILE. */
static void percentile(struct fx *x, const struct fx_args *a, double unit,
                       struct formula_value *ret)
{
    struct sample s = {.x = x};
    struct formula_value k = a->v[1];
    double p;

    fx_scalar(x, &k);
    if (!fx_number(&k, &p, ret) || !sorted(&s, a, 1, ret))
        return;
    p = unit < 1 ? trunc(p) * unit : p;
    if (s.n == 0 || p < 0 || p > 1)
        fx_give_error(ret, FORMULA_ERROR_NUM);
    else
        fx_give_look(ret, at(&s, p * (double)(s.n - 1)), s.look);
}

static void fn_percentile(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    percentile(x, a, 1, ret);
}

static void fn_quartile(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    percentile(x, a, 0.25, ret);
}

static void fn_rank(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct sample s = {.x = x, .keeps = true};
    struct formula_value v = a->v[0], order = {.type = FORMULA_BLANK};
    struct fx_args own = {.n = 1, .v = &a->v[1]};
    double d, is_rising;
    size_t n_before = 0, n_same = 0;

    fx_scalar(x, &v);
    if (a->n > 2)
        order = a->v[2];
    fx_scalar(x, &order);
    if (!fx_number(&v, &d, ret) || !fx_number(&order, &is_rising, ret) ||
        !collect_sample(&s, &own, 0, ret))
        return;
    for (size_t i = 0; i < s.n; i++) {
        int c = by_number_size(&s.v[i], &d);
        n_same += c == 0;
        n_before += is_rising != 0 ? c < 0 : c > 0;
    }
    if (n_same > 0)
        fx_give(ret, (double)n_before + 1);
    else
        fx_give_error(ret, FORMULA_ERROR_NA);
}

/* ---- spread ---- */

/* OF_ALL: of a whole population, not of a sample from it. */
static void variance(struct fx *x, const struct fx_args *a, bool of_all, bool is_root,
                     struct formula_value *ret)
{
    struct sample s = {.x = x, .keeps = true};
    double squares = 0;

    if (!collect_sample(&s, a, 0, ret))
        return;
    if (s.n < (of_all ? 1 : 2)) {
        fx_give_error(ret, FORMULA_ERROR_DIV0);
        return;
    }
    double mean = s.sum / (double)s.n;
    for (size_t i = 0; i < s.n; i++)
        squares += (s.v[i] - mean) * (s.v[i] - mean);
    squares /= (double)(of_all ? s.n : s.n - 1);
    fx_give(ret, is_root ? sqrt(squares) : squares);
}

static void fn_stdev(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    variance(x, a, false, true, ret);
}

static void fn_stdevp(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    variance(x, a, true, true, ret);
}

static void fn_var(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    variance(x, a, false, false, ret);
}

static void fn_varp(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    variance(x, a, true, false, ret);
}

/* ---- pairs ---- */

struct stat_pairs {
    double n, x, y, xx, yy, xy;
};

/* Of two columns the rows in which both are numbers. */
static bool collect_pairs(struct fx *x, const struct formula_value *p,
                          const struct formula_value *q, struct stat_pairs *ret)
{
    uint32_t rows, cols, rows2, cols2;
    struct formula_value v, w;

    *ret = (struct stat_pairs){0};
    fx_size(x, p, &rows, &cols);
    fx_size(x, q, &rows2, &cols2);
    if ((uint64_t)rows * cols != (uint64_t)rows2 * cols2)
        return false;
    for (uint64_t i = 0; i < (uint64_t)rows * cols && !x->env->is_over; i++) {
        fx_item(x, p, (uint32_t)(i / cols), (uint32_t)(i % cols), &v);
        fx_item(x, q, (uint32_t)(i / cols2), (uint32_t)(i % cols2), &w);
        if (v.type != FORMULA_NUMBER || w.type != FORMULA_NUMBER)
            continue;
        ret->n++;
        ret->x += v.number;
        ret->y += w.number;
        ret->xx += v.number * v.number;
        ret->yy += w.number * w.number;
        ret->xy += v.number * w.number;
    }
    return ret->n > 1;
}

static void fn_correl(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct stat_pairs s;

    if (!collect_pairs(x, &a->v[0], &a->v[1], &s)) {
        fx_give_error(ret, FORMULA_ERROR_NA);
        return;
    }
    double spread = sqrt((s.xx - s.x * s.x / s.n) * (s.yy - s.y * s.y / s.n));
    if (spread > 0)
        fx_give(ret, (s.xy - s.x * s.y / s.n) / spread);
    else
        fx_give_error(ret, FORMULA_ERROR_DIV0);
}

/* The line through the points: known y first. */
static bool line(struct fx *x, const struct fx_args *a, double *slope, double *offset,
                 struct formula_value *ret)
{
    struct stat_pairs s;

    fx_give_error(ret, FORMULA_ERROR_NA);
    if (!collect_pairs(x, &a->v[1], &a->v[0], &s))
        return false;
    double spread = s.xx - s.x * s.x / s.n;
    fx_give_error(ret, FORMULA_ERROR_DIV0);
    if (!(spread > 0))
        return false;
    *slope = (s.xy - s.x * s.y / s.n) / spread;
    *offset = (s.y - *slope * s.x) / s.n;
    return true;
}

static void fn_slope(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double slope, offset;

    if (line(x, a, &slope, &offset, ret))
        fx_give(ret, slope);
}

static void fn_intercept(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double slope, offset;

    if (line(x, a, &slope, &offset, ret))
        fx_give(ret, offset);
}

static void fn_forecast(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct fx_args known = {.n = 2, .v = &a->v[1]};
    struct formula_value v = a->v[0];
    double d, slope, offset;

    fx_scalar(x, &v);
    if (fx_number(&v, &d, ret) && line(x, &known, &slope, &offset, ret))
        fx_give(ret, offset + slope * d);
}

/* ---- SUBTOTAL ---- */

static void fn_subtotal(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    static const fx_fn kinds[] = {fn_average, fn_count,  fn_counta, fn_max, fn_min, fn_product,
                                  fn_stdev,   fn_stdevp, fn_sum,    fn_var, fn_varp};
    struct fx_args own = {.n = a->n - 1, .v = a->v + 1};
    struct formula_value v = a->v[0];
    double d;

    fx_scalar(x, &v);
    if (!fx_number(&v, &d, ret))
        return;
    d = d > 100 ? d - 100 : d;
    if (d >= 1 && d < 12)
        kinds[(size_t)d - 1](x, &own, ret);
    else
        fx_give_error(ret, FORMULA_ERROR_VALUE);
}

const struct fx_function fx_stat[] = {
    {"SUM", 1, 255, FX_VALUES, 0, fn_sum},
    {"PRODUCT", 1, 255, FX_VALUES, 0, fn_product},
    {"SUMSQ", 1, 255, FX_VALUES, 0, fn_sumsq},
    {"AVERAGE", 1, 255, FX_VALUES, 0, fn_average},
    {"AVERAGEA", 1, 255, FX_VALUES, 0, fn_averagea},
    {"MIN", 1, 255, FX_VALUES, 0, fn_min},
    {"MAX", 1, 255, FX_VALUES, 0, fn_max},
    {"COUNT", 1, 255, FX_VALUES, 0, fn_count},
    {"COUNTA", 1, 255, FX_VALUES, 0, fn_counta},
    {"COUNTBLANK", 1, 255, FX_VALUES, 0, fn_countblank},
    {"MEDIAN", 1, 255, FX_VALUES, 0, fn_median},
    {"MODE", 1, 255, FX_VALUES, 0, fn_mode},
    {"LARGE", 2, 2, FX_VALUES, 0, fn_large},
    {"SMALL", 2, 2, FX_VALUES, 0, fn_small},
    {"PERCENTILE", 2, 2, FX_VALUES, 0, fn_percentile},
    {"PERCENTILE.INC", 2, 2, FX_VALUES, 0, fn_percentile},
    {"QUARTILE", 2, 2, FX_VALUES, 0, fn_quartile},
    {"QUARTILE.INC", 2, 2, FX_VALUES, 0, fn_quartile},
    {"RANK", 2, 3, FX_VALUES, 0, fn_rank},
    {"RANK.EQ", 2, 3, FX_VALUES, 0, fn_rank},
    {"STDEV", 1, 255, FX_VALUES, 0, fn_stdev},
    {"STDEV.S", 1, 255, FX_VALUES, 0, fn_stdev},
    {"STDEVP", 1, 255, FX_VALUES, 0, fn_stdevp},
    {"STDEV.P", 1, 255, FX_VALUES, 0, fn_stdevp},
    {"VAR", 1, 255, FX_VALUES, 0, fn_var},
    {"VAR.S", 1, 255, FX_VALUES, 0, fn_var},
    {"VARP", 1, 255, FX_VALUES, 0, fn_varp},
    {"VAR.P", 1, 255, FX_VALUES, 0, fn_varp},
    {"CORREL", 2, 2, FX_VALUES, 0, fn_correl},
    {"SLOPE", 2, 2, FX_VALUES, 0, fn_slope},
    {"INTERCEPT", 2, 2, FX_VALUES, 0, fn_intercept},
    {"FORECAST", 3, 3, FX_VALUES, 0, fn_forecast},
    {"SUBTOTAL", 2, 255, FX_VALUES, 0, fn_subtotal},
    {NULL, 0, 0, 0, 0, NULL},
};
