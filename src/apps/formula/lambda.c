/* SPDX-License-Identifier: MIT */
/* Names within a formula: LET, LAMBDA, and the functions that apply one to arrays. A lambda is not
 * a value: it is bound to a name, applied on the spot, or the last argument of such a function. */
#include "apps/formula/formula_internal.h"

/* What a name stands for: a value, or a lambda and the names that it knows. */
struct fx_scope {
    const struct fx_scope *up;
    struct str name;
    struct formula_value value;
    const struct fx_node *lambda;
    const struct fx_scope *known;
};

struct fx_lambda {
    const struct fx_node *node; /* LAMBDA(name, …, body); NULL: there is none */
    const struct fx_scope *known;
};

static const struct fx_scope *find_name(const struct fx_scope *s, struct str name)
{
    while (s && !str_ieq(s->name, name))
        s = s->up;
    return s;
}

static void fn_lambda(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    (void)a;
    fx_give_error(ret, FORMULA_ERROR_NA);
}

static bool is_lambda(const struct fx_node *n)
{
    return n->kind == FX_NODE_CALL && n->function->fn == fn_lambda;
}

static struct fx_lambda lambda_of(const struct fx *x, const struct fx_node *n)
{
    const struct fx_scope *s = n->kind == FX_NODE_NAME ? find_name(x->names, n->name) : NULL;

    if (is_lambda(n))
        return (struct fx_lambda){n, x->names};
    return s ? (struct fx_lambda){s->lambda, s->known} : (struct fx_lambda){0};
}

void fx_eval_name(struct fx *x, const struct fx_node *n, struct formula_value *ret)
{
    const struct fx_scope *s = find_name(x->names, n->name);

    if (!s)
        fx_give_error(ret, FORMULA_ERROR_NAME);
    else if (s->lambda)
        fx_give_error(ret, FORMULA_ERROR_NA);
    else
        *ret = s->value;
}

/* L's body with V for its names. What it nests counts as if it stood in the formula. */
static void apply(struct fx *x, struct fx_lambda l, const struct formula_value *v, size_t n,
                  struct formula_value *ret)
{
    const struct fx_scope *before = x->names, *names = l.known;
    size_t n_names = l.node->n - 1;
    struct fx_scope *own = arena_zalloc(x->env->arena, n_names + 1, sizeof *own);
    uint32_t depth = l.node->args[n_names]->depth + 1;

    if (n != n_names || x->depth + depth > FORMULA_MAX_CHAIN) {
        fx_give_error(ret, n != n_names ? FORMULA_ERROR_NA : FORMULA_ERROR_VALUE);
        return;
    }
    for (size_t i = 0; own && i < n_names; i++) {
        if (l.node->args[i]->kind != FX_NODE_NAME) {
            fx_give_error(ret, FORMULA_ERROR_NA);
            return;
        }
        own[i] = (struct fx_scope){.up = names, .name = l.node->args[i]->name, .value = v[i]};
        names = &own[i];
    }
    if (!own) {
        x->env->is_over = true;
        return;
    }
    x->names = names;
    x->depth += depth;
    fx_eval(x, l.node->args[n_names], ret);
    x->depth -= depth;
    x->names = before;
}

/* LAMBDA(…)(…), or a name in the place of the former. */
void fx_eval_apply(struct fx *x, const struct fx_node *n, struct formula_value *ret)
{
    struct fx_lambda l = lambda_of(x, n->args[0]);
    struct formula_value *v = arena_zalloc(x->env->arena, n->n, sizeof *v);

    if (!l.node || !v) {
        fx_give_error(ret, FORMULA_ERROR_NAME);
        return;
    }
    for (uint32_t i = 1; i < n->n; i++)
        fx_eval(x, n->args[i], &v[i - 1]);
    apply(x, l, v, n->n - 1, ret);
}

/* LET(name, value, …, result): each value knows the names before it. */
static void fn_let(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    const struct fx_scope *before = x->names;

    for (size_t i = 0; i + 1 < a->n; i += 2) {
        struct fx_scope *s = arena_new(x->env->arena, struct fx_scope);
        if (!s || a->nodes[i]->kind != FX_NODE_NAME || a->n % 2 == 0) {
            fx_give_error(ret, s ? FORMULA_ERROR_NAME : FORMULA_ERROR_VALUE);
            x->names = before;
            return;
        }
        struct fx_lambda l = lambda_of(x, a->nodes[i + 1]);
        *s = (struct fx_scope){.up = x->names, .name = a->nodes[i]->name};
        if (l.node) {
            s->lambda = l.node;
            s->known = l.known;
        } else {
            fx_eval(x, a->nodes[i + 1], &s->value);
        }
        x->names = s;
    }
    fx_eval(x, a->nodes[a->n - 1], ret);
    x->names = before;
}

/* The arguments but the last, which is the lambda; false: RET says what is wrong. */
static bool read_arrays(struct fx *x, const struct fx_args *a, struct formula_value *v,
                        struct fx_lambda *ret_lambda, struct formula_value *ret)
{
    bool was_array = x->is_array;

    *ret_lambda = lambda_of(x, a->nodes[a->n - 1]);
    x->is_array = true;
    for (size_t i = 0; i + 1 < a->n; i++)
        fx_eval(x, a->nodes[i], &v[i]);
    x->is_array = was_array;
    if (!ret_lambda->node)
        fx_give_error(ret, FORMULA_ERROR_NA);
    return ret_lambda->node != NULL;
}

enum { MAP_MAX = 16 }; /* arrays */

static void fn_map(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value v[MAP_MAX + 1], items[MAP_MAX];
    uint32_t rows, cols, r, c;
    struct fx_lambda l;

    if (!read_arrays(x, a, v, &l, ret))
        return;
    fx_size(x, &v[0], &rows, &cols);
    for (size_t j = 1; j + 1 < a->n; j++) {
        fx_size(x, &v[j], &r, &c);
        if (r == rows && c == cols)
            continue;
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return;
    }
    struct formula_array *out = fx_new_array(x, rows, cols, ret);
    for (uint32_t i = 0; out && i < rows; i++) {
        for (uint32_t k = 0; k < cols && fx_step(x); k++) {
            struct formula_value *to = &out->items[(size_t)i * cols + k];
            for (size_t j = 0; j + 1 < a->n; j++)
                fx_item(x, &v[j], i, k, &items[j]);
            apply(x, l, items, a->n - 1, to);
            fx_scalar(x, to);
        }
    }
}

/* REDUCE and SCAN: from the first argument on, over all items of the second. */
static void fold(struct fx *x, const struct fx_args *a, bool keeps_all, struct formula_value *ret)
{
    struct formula_value v[3], pair[2];
    struct formula_array *out = NULL;
    uint32_t rows, cols;
    struct fx_lambda l;

    if (!read_arrays(x, a, v, &l, ret))
        return;
    fx_size(x, &v[1], &rows, &cols);
    if (keeps_all && !(out = fx_new_array(x, rows, cols, ret)))
        return;
    pair[0] = v[0];
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < cols && fx_step(x); k++) {
            struct formula_value next;
            fx_item(x, &v[1], i, k, &pair[1]);
            apply(x, l, pair, 2, &next);
            pair[0] = next;
            if (out)
                out->items[(size_t)i * cols + k] = next;
        }
    }
    if (!out)
        *ret = pair[0];
}

static void fn_reduce(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    fold(x, a, false, ret);
}

static void fn_scan(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    fold(x, a, true, ret);
}

/* One row or column of V. */
static void take_line(struct fx *x, const struct formula_value *v, uint32_t at, bool is_row,
                      struct formula_value *ret)
{
    uint32_t rows, cols;

    fx_size(x, v, &rows, &cols);
    uint32_t n = is_row ? cols : rows;
    struct formula_array *line = fx_new_array(x, is_row ? 1 : n, is_row ? n : 1, ret);
    for (uint32_t i = 0; line && i < n; i++)
        fx_item(x, v, is_row ? at : i, is_row ? i : at, &line->items[i]);
}

static void by_line(struct fx *x, const struct fx_args *a, bool is_row, struct formula_value *ret)
{
    struct formula_value v[2], line;
    uint32_t rows, cols;
    struct fx_lambda l;

    if (!read_arrays(x, a, v, &l, ret))
        return;
    fx_size(x, &v[0], &rows, &cols);
    uint32_t n = is_row ? rows : cols;
    struct formula_array *out = fx_new_array(x, is_row ? n : 1, is_row ? 1 : n, ret);
    for (uint32_t i = 0; out && i < n && fx_step(x); i++) {
        take_line(x, &v[0], i, is_row, &line);
        apply(x, l, &line, 1, &out->items[i]);
        fx_scalar(x, &out->items[i]);
    }
}

static void fn_byrow(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    by_line(x, a, true, ret);
}

static void fn_bycol(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    by_line(x, a, false, ret);
}

const struct fx_function fx_lambdas[] = {
    {"LET", 3, 255, FX_LAZY, 0, fn_let},     {"LAMBDA", 1, 255, FX_LAZY, 0, fn_lambda},
    {"MAP", 2, MAP_MAX, FX_LAZY, 0, fn_map}, {"REDUCE", 3, 3, FX_LAZY, 0, fn_reduce},
    {"SCAN", 3, 3, FX_LAZY, 0, fn_scan},     {"BYROW", 2, 2, FX_LAZY, 0, fn_byrow},
    {"BYCOL", 2, 2, FX_LAZY, 0, fn_bycol},   {NULL, 0, 0, 0, 0, NULL},
};
