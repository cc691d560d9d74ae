/* SPDX-License-Identifier: MIT */
/* The tree of a formula is calculated. */
#include "apps/formula/formula_internal.h"

enum { OWN_ARGS = 8 }; /* that need no memory */

static bool is_many_values(const struct formula_value *v)
{
    return v->type == FORMULA_AREA || v->type == FORMULA_ARRAY;
}

bool fx_step(struct fx *x)
{
    if (x->env->steps == 0)
        x->env->is_over = true;
    else
        x->env->steps--;
    return !x->env->is_over;
}

void fx_charge(struct fx *x, uint64_t n_steps)
{
    x->env->is_over = x->env->is_over || n_steps > x->env->steps;
    x->env->steps = n_steps > x->env->steps ? 0 : x->env->steps - n_steps;
}

/* ---- areas and arrays ---- */

void fx_size(struct fx *x, const struct formula_value *v, uint32_t *ret_rows, uint32_t *ret_cols)
{
    struct formula_extent extent;

    *ret_rows = *ret_cols = 1;
    if (v->type == FORMULA_ARRAY) {
        *ret_rows = v->array->rows;
        *ret_cols = v->array->cols;
    } else if (v->type == FORMULA_AREA) {
        struct a1_range r = v->area->range;
        x->env->extent(x->env->ctx, v->area->sheet, &extent);
        uint32_t row1 = r.row1 == A1_OPEN ? extent.rows : r.row1 + 1;
        uint32_t col1 = r.col1 == A1_OPEN ? extent.cols : r.col1 + 1;
        *ret_rows = row1 > r.row0 ? row1 - r.row0 : 1;
        *ret_cols = col1 > r.col0 ? col1 - r.col0 : 1;
    }
}

void fx_item(struct fx *x, const struct formula_value *v, uint32_t row, uint32_t col,
             struct formula_value *ret)
{
    *ret = *v;
    if (!is_many_values(v))
        return;
    if (!fx_step(x)) {
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return;
    }
    if (v->type == FORMULA_ARRAY) {
        *ret = v->array->items[(size_t)row * v->array->cols + col];
        return;
    }
    struct formula_place at = {v->area->sheet, v->area->range.row0 + row,
                               v->area->range.col0 + col};
    x->env->cell(x->env->ctx, at, ret);
}

struct formula_array *fx_new_array(struct fx *x, uint32_t rows, uint32_t cols,
                                   struct formula_value *ret)
{
    struct formula_array *a = NULL;

    fx_give_error(ret, FORMULA_ERROR_VALUE);
    if (rows == 0 || cols == 0 || (uint64_t)rows * cols > FORMULA_MAX_ITEMS)
        return NULL;
    a = arena_new(x->env->arena, struct formula_array);
    if (a)
        a->items = arena_zalloc(x->env->arena, (size_t)rows * cols, sizeof *a->items);
    if (!a || !a->items) {
        x->env->is_over = true;
        return NULL;
    }
    a->rows = rows;
    a->cols = cols;
    *ret = (struct formula_value){.type = FORMULA_ARRAY, .array = a};
    return a;
}

void fx_load(struct fx *x, struct formula_value *v)
{
    struct formula_value from = *v;
    uint32_t rows, cols;

    if (v->type != FORMULA_AREA)
        return;
    fx_size(x, v, &rows, &cols);
    struct formula_array *a = fx_new_array(x, rows, cols, v);
    for (uint32_t i = 0; a && i < rows; i++) {
        for (uint32_t k = 0; k < cols; k++)
            fx_item(x, &from, i, k, &a->items[(size_t)i * cols + k]);
    }
}

void fx_scalar(struct fx *x, struct formula_value *v)
{
    struct formula_value from = *v;

    if (v->type == FORMULA_ARRAY)
        *v = v->array->items[0];
    if (v->type != FORMULA_AREA)
        return;
    const struct a1_range *r = &from.area->range;
    uint32_t row = x->at.row, col = x->at.col;
    if (r->row0 == r->row1 && r->col0 == r->col1)
        fx_item(x, &from, 0, 0, v);
    else if (r->col0 == r->col1 && row >= r->row0 && row <= r->row1)
        fx_item(x, &from, row - r->row0, 0, v);
    else if (r->row0 == r->row1 && col >= r->col0 && col <= r->col1)
        fx_item(x, &from, 0, col - r->col0, v);
    else
        fx_give_error(v, FORMULA_ERROR_VALUE);
}

/* The items of V that are not blank. False: FN wants no more. */
static bool each_item(struct fx *x, const struct formula_value *v, fx_each_fn fn, void *ctx)
{
    struct formula_extent extent;
    struct formula_value item;
    uint32_t rows, cols;

    fx_size(x, v, &rows, &cols);
    if (v->type == FORMULA_AREA) {
        const struct a1_range *r = &v->area->range;
        x->env->extent(x->env->ctx, v->area->sheet, &extent);
        uint32_t used_rows = extent.used_rows > r->row0 ? extent.used_rows - r->row0 : 0;
        uint32_t used_cols = extent.used_cols > r->col0 ? extent.used_cols - r->col0 : 0;
        rows = rows < used_rows ? rows : used_rows;
        cols = cols < used_cols ? cols : used_cols;
    }
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < cols && !x->env->is_over; k++) {
            fx_item(x, v, i, k, &item);
            if (item.type != FORMULA_BLANK && !fn(ctx, &item, false))
                return false;
        }
    }
    return true;
}

void fx_each(struct fx *x, const struct fx_args *a, size_t from, fx_each_fn fn, void *ctx)
{
    bool goes_on = true;

    for (size_t i = from; goes_on && i < a->n; i++) {
        goes_on =
            is_many_values(&a->v[i]) ? each_item(x, &a->v[i], fn, ctx) : fn(ctx, &a->v[i], true);
    }
}

/* ---- calls ---- */

static void call_scalar(struct fx *x, const struct fx_function *f, const struct fx_args *a,
                        struct formula_value *ret)
{
    for (size_t i = 0; !(f->flags & FX_ERRORS) && i < a->n; i++) {
        if (a->v[i].type == FORMULA_ERROR) {
            *ret = a->v[i];
            return;
        }
    }
    f->fn(x, a, ret);
}

/* Item (ROW, COL) of V, of which one row or column stands for all. */
static void spread_item(struct fx *x, const struct formula_value *v, uint32_t row, uint32_t col,
                        struct formula_value *ret)
{
    uint32_t rows, cols;

    fx_size(x, v, &rows, &cols);
    row = rows == 1 ? 0 : row;
    col = cols == 1 ? 0 : col;
    if (row < rows && col < cols)
        fx_item(x, v, row, col, ret);
    else
        fx_give_error(ret, FORMULA_ERROR_NA);
}

void fx_map(struct fx *x, const struct fx_function *f, const struct fx_args *a,
            struct formula_value *ret)
{
    uint32_t rows = 1, cols = 1, r, c;
    struct formula_value *v = arena_zalloc(x->env->arena, a->n, sizeof *v);

    for (size_t i = 0; i < a->n; i++) {
        fx_size(x, &a->v[i], &r, &c);
        rows = r > rows ? r : rows;
        cols = c > cols ? c : cols;
    }
    struct formula_array *out = fx_new_array(x, rows, cols, ret);
    struct fx_args own = {.n = a->n, .v = v};
    for (uint32_t i = 0; v && out && i < rows; i++) {
        for (uint32_t k = 0; k < cols && fx_step(x); k++) {
            for (size_t j = 0; j < a->n; j++)
                spread_item(x, &a->v[j], i, k, &v[j]);
            call_scalar(x, f, &own, &out->items[(size_t)i * cols + k]);
        }
    }
}

/* For every item of argument EACH, the others as they are. */
static void call_each(struct fx *x, const struct fx_function *f, struct fx_args *a, size_t each,
                      struct formula_value *ret)
{
    struct formula_value items = a->v[each];
    uint32_t rows, cols;

    fx_size(x, &items, &rows, &cols);
    struct formula_array *out = fx_new_array(x, rows, cols, ret);
    for (uint32_t i = 0; out && i < rows; i++) {
        for (uint32_t k = 0; k < cols && fx_step(x); k++) {
            struct formula_value *to = &out->items[(size_t)i * cols + k];
            fx_item(x, &items, i, k, &a->v[each]);
            f->fn(x, a, to);
            fx_scalar(x, to);
        }
    }
}

static void call_function(struct fx *x, const struct fx_function *f, struct fx_args *a,
                          struct formula_value *ret)
{
    bool has_many = false;

    if (f->kind != FX_SCALAR) {
        size_t each = f->flags & FX_EACH1 ? 1 : 0;
        if (x->is_array && (f->flags & (FX_EACH0 | FX_EACH1)) && is_many_values(&a->v[each]))
            call_each(x, f, a, each, ret);
        else
            f->fn(x, a, ret);
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        if (!x->is_array)
            fx_scalar(x, &a->v[i]);
        has_many = has_many || is_many_values(&a->v[i]);
    }
    if (has_many)
        fx_map(x, f, a, ret);
    else
        call_scalar(x, f, a, ret);
}

static void eval_call(struct fx *x, const struct fx_node *n, struct formula_value *ret)
{
    struct formula_value own[OWN_ARGS];
    struct fx_args a = {.n = n->n, .v = own, .nodes = n->args};
    bool was_array = x->is_array;

    if (n->function->kind == FX_LAZY) {
        n->function->fn(x, &a, ret);
        return;
    }
    if (n->n > OWN_ARGS)
        a.v = arena_zalloc(x->env->arena, n->n, sizeof *a.v);
    if (!a.v) {
        x->env->is_over = true;
        return;
    }
    x->is_array = was_array || n->function->kind == FX_ARRAY;
    for (size_t i = 0; i < a.n; i++)
        fx_eval(x, n->args[i], &a.v[i]);
    x->is_array = was_array;
    call_function(x, n->function, &a, ret);
}

/* ---- {…} ---- */

/* Puts V at (ROW, COL) of OUT; it has to be ROWS high. */
static bool place_item(struct fx *x, const struct formula_value *v, struct formula_array *out,
                       const uint32_t at[2], uint32_t *ret_cols)
{
    uint32_t rows, cols;

    fx_size(x, v, &rows, &cols);
    *ret_cols = cols;
    if (at[0] + rows > out->rows || at[1] + cols > out->cols)
        return false;
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < cols; k++)
            fx_item(x, v, i, k, &out->items[(size_t)(at[0] + i) * out->cols + at[1] + k]);
    }
    return true;
}

/* How large all items are together, of which each row has to be as wide as the first. */
static bool measure_items(struct fx *x, const struct fx_node *n, const struct formula_value *v,
                          uint32_t ret[2])
{
    const struct formula_value *item = v;
    uint32_t rows, cols;

    ret[0] = ret[1] = 0;
    for (uint32_t i = 0; i < n->n_rows; i++) {
        uint32_t height = 0, width = 0;
        for (uint32_t k = 0; k < n->rows[i]; k++, item++) {
            fx_size(x, item, &rows, &cols);
            if (k > 0 && rows != height)
                return false;
            height = rows;
            width += cols;
        }
        if (i > 0 && width != ret[1])
            return false;
        ret[0] += height;
        ret[1] = width;
    }
    return true;
}

static void eval_array(struct fx *x, const struct fx_node *n, struct formula_value *ret)
{
    struct formula_value *v = arena_zalloc(x->env->arena, n->n, sizeof *v);
    bool was_array = x->is_array;
    uint32_t size[2], at[2] = {0, 0}, rows = 1, cols = 0;

    x->is_array = true;
    for (uint32_t i = 0; v && i < n->n; i++)
        fx_eval(x, n->args[i], &v[i]);
    x->is_array = was_array;
    if (!v || !measure_items(x, n, v, size)) {
        fx_give_error(ret, FORMULA_ERROR_REF);
        return;
    }
    struct formula_array *out = fx_new_array(x, size[0], size[1], ret);
    for (uint32_t i = 0, k = 0; out && i < n->n_rows; i++, at[0] += rows) {
        at[1] = 0;
        for (uint32_t j = 0; j < n->rows[i]; j++, k++, at[1] += cols) {
            if (!place_item(x, &v[k], out, at, &cols))
                return;
            fx_size(x, &v[k], &rows, &cols);
        }
    }
}

/* ---- all of it ---- */

void fx_eval(struct fx *x, const struct fx_node *n, struct formula_value *ret)
{
    *ret = (struct formula_value){.type = FORMULA_BLANK};
    if (!fx_step(x)) {
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return;
    }
    switch (n->kind) {
    case FX_NODE_VALUE: *ret = n->value; break;
    case FX_NODE_CALL: eval_call(x, n, ret); break;
    case FX_NODE_ARRAY: eval_array(x, n, ret); break;
    case FX_NODE_NAME: fx_eval_name(x, n, ret); break;
    case FX_NODE_APPLY: fx_eval_apply(x, n, ret); break;
    case FX_NODE_MISSING: break;
    }
}

void formula_eval(const struct formula *f, struct formula_env *env, struct formula_place at,
                  struct formula_value *ret)
{
    struct fx x = {.env = env, .at = at};

    fx_eval(&x, f->root, ret);
    /* An area that the formula names is one cell, one that a function found is all of it. */
    if (f->root->kind == FX_NODE_VALUE)
        fx_scalar(&x, ret);
    fx_load(&x, ret);
    if (ret->type == FORMULA_ARRAY && ret->array->rows == 1 && ret->array->cols == 1)
        *ret = ret->array->items[0];
}
