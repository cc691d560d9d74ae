/* SPDX-License-Identifier: MIT */
/* Functions of whole arrays: those that make them, and SUMPRODUCT. */
#include <math.h>
#include <stdlib.h>

#include "apps/formula/formula_internal.h"

static void fn_arrayformula(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    *ret = a->v[0];
    fx_load(x, ret);
}

/* Items at the same place are multiplied; what is no number counts as 0. */
static void fn_sumproduct(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    uint32_t rows, cols, r, c;
    struct formula_value v;
    double sum = 0;

    fx_size(x, &a->v[0], &rows, &cols);
    for (size_t i = 1; i < a->n; i++) {
        fx_size(x, &a->v[i], &r, &c);
        if (r == rows && c == cols)
            continue;
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return;
    }
    for (uint64_t k = 0; k < (uint64_t)rows * cols && !x->env->is_over; k++) {
        double product = 1;
        for (size_t i = 0; i < a->n; i++) {
            fx_item(x, &a->v[i], (uint32_t)(k / cols), (uint32_t)(k % cols), &v);
            if (v.type == FORMULA_ERROR) {
                *ret = v;
                return;
            }
            /* A condition alone is no number, but what is calculated with it is. */
            product *= v.type == FORMULA_NUMBER                                  ? v.number
                       : v.type == FORMULA_BOOL && a->v[i].type == FORMULA_ARRAY ? v.flag
                                                                                 : 0;
        }
        sum += product;
    }
    fx_give(ret, sum);
}

static void fn_transpose(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    uint32_t rows, cols;

    fx_size(x, &a->v[0], &rows, &cols);
    struct formula_array *out = fx_new_array(x, cols, rows, ret);
    for (uint32_t i = 0; out && i < rows; i++) {
        for (uint32_t k = 0; k < cols; k++)
            fx_item(x, &a->v[0], i, k, &out->items[(size_t)k * rows + i]);
    }
}

static void fn_formula_sequence(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    int64_t rows, cols = 1, bounds[2] = {1, FORMULA_MAX_ITEMS};
    double start, step;

    if (!fx_arg_int(a, 0, bounds, &rows, ret) ||
        (a->n > 1 && !fx_arg_int(a, 1, bounds, &cols, ret)) || !fx_arg(a, 2, 1, &start, ret) ||
        !fx_arg(a, 3, 1, &step, ret))
        return;
    struct formula_array *out = fx_new_array(x, (uint32_t)rows, (uint32_t)cols, ret);
    for (int64_t i = 0; out && i < rows * cols; i++)
        fx_give(&out->items[i], start + (double)i * step);
}

/* ---- rows that are chosen or put in order ---- */

/* Rows (IS_ROWS false: columns) of V by their numbers. */
struct picked {
    const struct formula_value *v;
    uint32_t *numbers;
    uint32_t n;
    bool is_rows;
};

static void give_picked(struct fx *x, const struct picked *p, struct formula_value *ret)
{
    uint32_t rows, cols;

    fx_size(x, p->v, &rows, &cols);
    if (p->n == 0) {
        fx_give_error(ret, FORMULA_ERROR_NA);
        return;
    }
    struct formula_array *out =
        fx_new_array(x, p->is_rows ? p->n : rows, p->is_rows ? cols : p->n, ret);
    for (uint32_t i = 0; out && i < out->rows; i++) {
        for (uint32_t k = 0; k < out->cols; k++)
            fx_item(x, p->v, p->is_rows ? p->numbers[i] : i, p->is_rows ? k : p->numbers[k],
                    &out->items[(size_t)i * out->cols + k]);
    }
}

static bool pick_all(struct fx *x, struct picked *p, uint32_t n)
{
    p->numbers = n <= FORMULA_MAX_ITEMS ? arena_zalloc(x->env->arena, n, sizeof *p->numbers) : NULL;
    x->env->is_over = x->env->is_over || !p->numbers;
    return p->numbers != NULL;
}

/* Whether all conditions have one item for each of N rows or columns. */
static bool has_row_conditions(struct fx *x, const struct fx_args *a, bool is_rows, uint32_t n)
{
    uint32_t r, c;

    for (size_t k = 1; k < a->n; k++) {
        fx_size(x, &a->v[k], &r, &c);
        if ((is_rows ? r : c) != n || (is_rows ? c : r) != 1)
            return false;
    }
    return true;
}

static bool is_item_kept(struct fx *x, const struct fx_args *a, bool is_rows, uint32_t i)
{
    struct formula_value v, ignored;
    bool flag;

    for (size_t k = 1; k < a->n; k++) {
        fx_item(x, &a->v[k], is_rows ? i : 0, is_rows ? 0 : i, &v);
        if (!fx_bool(&v, &flag, &ignored) || !flag)
            return false;
    }
    return true;
}

static void fn_filter(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct picked p = {.v = &a->v[0]};
    uint32_t rows, cols, r, c;

    fx_size(x, &a->v[0], &rows, &cols);
    fx_size(x, &a->v[1], &r, &c);
    p.is_rows = c == 1 && r == rows;
    uint32_t n = p.is_rows ? rows : cols;
    if (!pick_all(x, &p, n))
        return;
    if (!has_row_conditions(x, a, p.is_rows, n)) {
        fx_give_error(ret, FORMULA_ERROR_NA);
        return;
    }
    for (uint32_t i = 0; i < n && !x->env->is_over; i++) {
        if (is_item_kept(x, a, p.is_rows, i))
            p.numbers[p.n++] = i;
    }
    give_picked(x, &p, ret);
}

static bool is_same_row(const struct formula_array *v, uint32_t p, uint32_t q)
{
    for (uint32_t k = 0; k < v->cols; k++) {
        const struct formula_value *a = &v->items[(size_t)p * v->cols + k];
        const struct formula_value *b = &v->items[(size_t)q * v->cols + k];
        if (a->type != b->type || fx_compare(a, b) != 0)
            return false;
    }
    return true;
}

/* The rows of V that are like none before them; false: RET is the error. */
static bool pick_unique(struct fx *x, struct formula_value *v, struct picked *p)
{
    fx_load(x, v);
    if (v->type != FORMULA_ARRAY)
        return false;
    *p = (struct picked){.v = v, .is_rows = true};
    if (!pick_all(x, p, v->array->rows))
        return false;
    for (uint32_t i = 0; i < v->array->rows && !x->env->is_over; i++) {
        bool is_new = true;
        fx_charge(x, p->n);
        for (uint32_t k = 0; is_new && k < p->n; k++)
            is_new = !is_same_row(v->array, p->numbers[k], i);
        if (is_new)
            p->numbers[p->n++] = i;
    }
    return true;
}

static void fn_unique(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value v = a->v[0];
    struct picked p;

    if (pick_unique(x, &v, &p))
        give_picked(x, &p, ret);
    else
        *ret = v;
}

static bool count_new(void *ctx, const struct formula_value *v, bool is_direct)
{
    struct formula_array *seen = ctx;

    (void)is_direct;
    if (seen->rows == FORMULA_MAX_ITEMS / 10)
        return false;
    seen->items[seen->rows] = *v;
    for (uint32_t i = 0; i < seen->rows; i++) {
        if (is_same_row(seen, i, seen->rows))
            return true;
    }
    seen->rows++;
    return true;
}

static void fn_countunique(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_array *seen = fx_new_array(x, FORMULA_MAX_ITEMS / 10 + 1, 1, ret);

    if (!seen)
        return;
    seen->rows = 0;
    fx_each(x, a, 0, count_new, seen);
    fx_give(ret, seen->rows);
}

/* ---- SORT ---- */

enum { MAX_KEYS = 8 };

struct sorting {
    const struct formula_array *v;
    uint32_t columns[MAX_KEYS];
    bool is_rising[MAX_KEYS];
    size_t n;
};

/* Blank ones last in either order. Equal ones stay as they were. */
static int by_sort_keys(const void *a, const void *b, void *ctx)
{
    const struct sorting *s = ctx;
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

    for (size_t i = 0; i < s->n; i++) {
        const struct formula_value *v = &s->v->items[(size_t)p * s->v->cols + s->columns[i]];
        const struct formula_value *w = &s->v->items[(size_t)q * s->v->cols + s->columns[i]];
        if ((v->type == FORMULA_BLANK) != (w->type == FORMULA_BLANK))
            return v->type == FORMULA_BLANK ? 1 : -1;
        int d = fx_compare(v, w);
        if (d != 0)
            return s->is_rising[i] ? d : -d;
    }
    return (p > q) - (p < q);
}

/* Pairs of a column's number and whether it rises, from argument 1 on. */
static bool read_keys(struct fx *x, const struct fx_args *a, struct sorting *s,
                      struct formula_value *ret)
{
    for (size_t i = 1; i < a->n && s->n < MAX_KEYS; i += 2, s->n++) {
        struct formula_value column = a->v[i], rises;
        double d;
        fx_give_bool(&rises, true);
        if (i + 1 < a->n)
            rises = a->v[i + 1];
        fx_scalar(x, &column);
        fx_scalar(x, &rises);
        if (!fx_number(&column, &d, ret) || !fx_bool(&rises, &s->is_rising[s->n], ret))
            return false;
        if (d < 1 || trunc(d) > s->v->cols) {
            fx_give_error(ret, FORMULA_ERROR_VALUE);
            return false;
        }
        s->columns[s->n] = (uint32_t)d - 1;
    }
    if (s->n == 0) {
        s->is_rising[0] = true;
        s->n = 1;
    }
    return true;
}

static void fn_sort(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value v = a->v[0];
    struct picked p = {.v = &v, .is_rows = true};

    fx_load(x, &v);
    *ret = v;
    if (v.type != FORMULA_ARRAY)
        return;
    struct sorting s = {.v = v.array};
    if (!read_keys(x, a, &s, ret) || !pick_all(x, &p, v.array->rows))
        return;
    for (; p.n < v.array->rows; p.n++)
        p.numbers[p.n] = p.n;
    fx_charge(x, (uint64_t)p.n * 16);
    qsort_r(p.numbers, p.n, sizeof *p.numbers, by_sort_keys, &s);
    give_picked(x, &p, ret);
}

/* ---- others ---- */

/* All items in one column. */
static void fn_flatten(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    uint32_t rows, cols;
    uint64_t n = 0, at = 0;

    for (size_t i = 0; i < a->n; i++) {
        fx_size(x, &a->v[i], &rows, &cols);
        n += (uint64_t)rows * cols;
    }
    struct formula_array *out = fx_new_array(x, n > UINT32_MAX ? 0 : (uint32_t)n, 1, ret);
    for (size_t i = 0; out && i < a->n; i++) {
        fx_size(x, &a->v[i], &rows, &cols);
        for (uint64_t k = 0; k < (uint64_t)rows * cols; k++)
            fx_item(x, &a->v[i], (uint32_t)(k / cols), (uint32_t)(k % cols), &out->items[at++]);
    }
}

struct splitting {
    struct str by;
    bool by_each, no_empty; /* by each character of BY; parts without text are left out */
};

/* The length of the delimiter that TEXT begins with, or 0. */
static size_t delimiter(const struct splitting *s, struct str text)
{
    if (s->by_each)
        return str_chr(s->by, text.p[0]) >= 0;
    return s->by.len > 0 && str_starts(text, s->by) ? s->by.len : 0;
}

static uint32_t split_text_parts(const struct splitting *s, struct str text, struct str *parts,
                                 uint32_t max)
{
    size_t from = 0, i = 0;
    uint32_t n = 0;

    while (i <= text.len && n < max) {
        size_t len = i == text.len ? 1 : delimiter(s, str_skip(text, i));
        if (len > 0 && (i > from || !s->no_empty))
            parts[n++] = str_slice(text, from, i);
        i += len > 0 ? len : 1;
        from = len > 0 ? i : from;
    }
    return n;
}

/* SPLIT(text, delimiters, by each character of them, without empty parts): one row. */
static void fn_formula_split(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct splitting s = {.by_each = true, .no_empty = true};
    struct str text, parts[256];

    if (!fx_string(x, &a->v[0], &text, ret) || !fx_string(x, &a->v[1], &s.by, ret) ||
        (a->n > 2 && !fx_bool(&a->v[2], &s.by_each, ret)) ||
        (a->n > 3 && !fx_bool(&a->v[3], &s.no_empty, ret)))
        return;
    fx_charge(x, text.len * (uint64_t)s.by.len / 64);
    uint32_t n = split_text_parts(&s, text, parts, ARRAY_LEN(parts));
    struct formula_array *out = fx_new_array(x, 1, n, ret);
    for (uint32_t i = 0; out && i < n; i++) {
        struct formula_entry entry;
        formula_enter(parts[i], &entry);
        out->items[i] = entry.value;
        if (entry.value.type == FORMULA_TEXT)
            out->items[i].text = parts[i];
    }
}

const struct fx_function fx_arrays[] = {
    {"ARRAYFORMULA", 1, 1, FX_ARRAY, 0, fn_arrayformula},
    {"SUMPRODUCT", 1, 255, FX_ARRAY, 0, fn_sumproduct},
    {"TRANSPOSE", 1, 1, FX_ARRAY, 0, fn_transpose},
    {"SEQUENCE", 1, 4, FX_SCALAR, 0, fn_formula_sequence},
    {"FILTER", 2, 255, FX_ARRAY, 0, fn_filter},
    {"UNIQUE", 1, 1, FX_ARRAY, 0, fn_unique},
    {"COUNTUNIQUE", 1, 255, FX_VALUES, 0, fn_countunique},
    {"SORT", 1, 17, FX_ARRAY, 0, fn_sort},
    {"FLATTEN", 1, 255, FX_ARRAY, 0, fn_flatten},
    {"SPLIT", 2, 4, FX_SCALAR, 0, fn_formula_split},
    {NULL, 0, 0, 0, 0, NULL},
};
