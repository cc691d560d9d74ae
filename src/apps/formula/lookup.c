/* SPDX-License-Identifier: MIT */
/* Where a value is, and what stands there. */
#include <math.h>

#include "apps/formula/formula_internal.h"

/* A row or a column of cells. */
struct vector {
    const struct formula_value *v;
    uint32_t n, at; /* at: which row or column of v it is */
    bool is_row;
};

static void vector_get(struct fx *x, const struct vector *c, uint32_t i, struct formula_value *ret)
{
    if (c->is_row)
        fx_item(x, c->v, c->at, i, ret);
    else
        fx_item(x, c->v, i, c->at, ret);
}

/* V if it is one row or one column. */
static bool vector_of(struct fx *x, const struct formula_value *v, struct vector *ret)
{
    uint32_t rows, cols;

    fx_size(x, v, &rows, &cols);
    *ret = (struct vector){.v = v, .n = rows > 1 ? rows : cols, .is_row = rows == 1};
    return rows == 1 || cols == 1;
}

static bool is_alike(const struct formula_value *a, const struct formula_value *b)
{
    return a->type == b->type;
}

static int64_t find_equal(struct fx *x, const struct vector *c, const struct formula_value *key,
                          bool is_backward)
{
    struct formula_value v;

    for (uint32_t i = 0; i < c->n && !x->env->is_over; i++) {
        uint32_t k = is_backward ? c->n - 1 - i : i;
        vector_get(x, c, k, &v);
        if (is_alike(&v, key) && fx_compare(&v, key) == 0)
            return k;
    }
    return -1;
}

/* The last of those in rising order (IS_FALLING: in falling order) that is not behind KEY. */
static int64_t find_sorted(struct fx *x, const struct vector *c, const struct formula_value *key,
                           bool is_falling)
{
    struct formula_value v;
    int64_t found = -1;

    for (uint32_t i = 0; i < c->n && !x->env->is_over; i++) {
        vector_get(x, c, i, &v);
        if (!is_alike(&v, key))
            continue;
        int d = fx_compare(&v, key);
        if (is_falling ? d < 0 : d > 0)
            break;
        found = i;
    }
    return found;
}

/* The nearest one below (SIDE -1) or above (1) KEY, in any order; an equal one before all. */
static int64_t find_nearest(struct fx *x, const struct vector *c, const struct formula_value *key,
                            int side)
{
    struct formula_value v, best;
    int64_t found = find_equal(x, c, key, false);
    bool has_found = false;

    for (uint32_t i = 0; found < 0 && i < c->n && !x->env->is_over; i++) {
        vector_get(x, c, i, &v);
        if (!is_alike(&v, key) || fx_compare(&v, key) * side < 0)
            continue;
        if (has_found && fx_compare(&v, &best) * side >= 0)
            continue;
        best = v;
        has_found = true;
        found = -2 - (int64_t)i;
    }
    return found < -1 ? -2 - found : found;
}

/* Argument I as a number; *OUT stays as it is when there are fewer. */
static bool scalar_arg(struct fx *x, const struct fx_args *a, size_t i, double *out,
                       struct formula_value *ret)
{
    if (i >= a->n)
        return true;
    struct formula_value v = a->v[i];
    fx_scalar(x, &v);
    return fx_number(&v, out, ret);
}

/* The value that is looked for; false: it is an error. */
static bool read_lookup_key(struct fx *x, const struct fx_args *a, struct formula_value *key,
                            struct formula_value *ret)
{
    *key = a->v[0];
    fx_scalar(x, key);
    if (key->type == FORMULA_BLANK)
        fx_give(key, 0);
    if (key->type == FORMULA_ERROR)
        *ret = *key;
    return key->type != FORMULA_ERROR;
}

/* ---- VLOOKUP, HLOOKUP, LOOKUP, XLOOKUP ---- */

static void look_up_line(struct fx *x, const struct fx_args *a, bool is_row,
                         struct formula_value *ret)
{
    struct formula_value key;
    double index = 1, is_sorted = 1;
    uint32_t rows, cols;

    if (!read_lookup_key(x, a, &key, ret) || !scalar_arg(x, a, 2, &index, ret) ||
        !scalar_arg(x, a, 3, &is_sorted, ret))
        return;
    fx_size(x, &a->v[1], &rows, &cols);
    if (index < 1 || trunc(index) > (is_row ? rows : cols)) {
        fx_give_error(ret, index < 1 ? FORMULA_ERROR_VALUE : FORMULA_ERROR_REF);
        return;
    }
    struct vector c = {.v = &a->v[1], .n = is_row ? cols : rows, .is_row = is_row};
    int64_t i = is_sorted != 0 ? find_sorted(x, &c, &key, false) : find_equal(x, &c, &key, false);
    if (i < 0) {
        fx_give_error(ret, FORMULA_ERROR_NA);
        return;
    }
    c.at = (uint32_t)index - 1;
    vector_get(x, &c, (uint32_t)i, ret);
}

static void fn_vlookup(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    look_up_line(x, a, false, ret);
}

static void fn_hlookup(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    look_up_line(x, a, true, ret);
}

static void fn_lookup(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value key;
    struct vector in, out;
    uint32_t rows, cols;

    if (!read_lookup_key(x, a, &key, ret))
        return;
    fx_size(x, &a->v[1], &rows, &cols);
    in = (struct vector){.v = &a->v[1], .n = cols > rows ? cols : rows, .is_row = cols > rows};
    out = in;
    out.at = (in.is_row ? rows : cols) - 1;
    if (a->n > 2 && !vector_of(x, &a->v[2], &out)) {
        fx_give_error(ret, FORMULA_ERROR_REF);
        return;
    }
    int64_t i = find_sorted(x, &in, &key, false);
    if (i < 0 || i >= out.n)
        fx_give_error(ret, FORMULA_ERROR_NA);
    else
        vector_get(x, &out, (uint32_t)i, ret);
}

/* By the match mode of XLOOKUP and XMATCH: 0 equal, -1 or the next below, 1 or the next above. */
static int64_t find_mode(struct fx *x, const struct vector *c, const struct formula_value *key,
                         const double modes[2])
{
    if (modes[0] < 0)
        return find_nearest(x, c, key, -1);
    if (modes[0] > 0 && modes[0] < 2)
        return find_nearest(x, c, key, 1);
    return find_equal(x, c, key, modes[1] < 0);
}

/* Row or column I of V. */
static void give_line(struct fx *x, const struct formula_value *v, uint32_t i, bool is_row,
                      struct formula_value *ret)
{
    uint32_t rows, cols;

    fx_size(x, v, &rows, &cols);
    uint32_t n = is_row ? cols : rows;
    struct formula_array *out = fx_new_array(x, is_row ? 1 : rows, is_row ? cols : 1, ret);
    for (uint32_t k = 0; out && k < n; k++)
        fx_item(x, v, is_row ? i : k, is_row ? k : i, &out->items[k]);
    if (out && n == 1)
        *ret = out->items[0];
}

static void fn_xlookup(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value key;
    struct vector in;
    double modes[2] = {0, 1};
    uint32_t rows, cols;

    if (!read_lookup_key(x, a, &key, ret) || !scalar_arg(x, a, 4, &modes[0], ret) ||
        !scalar_arg(x, a, 5, &modes[1], ret))
        return;
    fx_size(x, &a->v[2], &rows, &cols);
    if (!vector_of(x, &a->v[1], &in) || (in.is_row ? cols : rows) != in.n) {
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return;
    }
    int64_t i = find_mode(x, &in, &key, modes);
    if (i >= 0)
        give_line(x, &a->v[2], (uint32_t)i, !in.is_row, ret);
    else if (a->n > 3 && a->v[3].type != FORMULA_BLANK)
        *ret = a->v[3];
    else
        fx_give_error(ret, FORMULA_ERROR_NA);
}

/* ---- MATCH, INDEX ---- */

static void give_position(int64_t i, struct formula_value *ret)
{
    if (i >= 0)
        fx_give(ret, (double)i + 1);
    else
        fx_give_error(ret, FORMULA_ERROR_NA);
}

static void fn_match(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value key;
    struct vector in;
    double mode = 1;

    if (!read_lookup_key(x, a, &key, ret) || !scalar_arg(x, a, 2, &mode, ret))
        return;
    if (!vector_of(x, &a->v[1], &in))
        fx_give_error(ret, FORMULA_ERROR_NA);
    else if (mode < 0 || mode > 0)
        give_position(find_sorted(x, &in, &key, mode < 0), ret);
    else
        give_position(find_equal(x, &in, &key, false), ret);
}

static void fn_xmatch(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value key;
    struct vector in;
    double modes[2] = {0, 1};

    if (!read_lookup_key(x, a, &key, ret) || !scalar_arg(x, a, 2, &modes[0], ret) ||
        !scalar_arg(x, a, 3, &modes[1], ret))
        return;
    if (vector_of(x, &a->v[1], &in))
        give_position(find_mode(x, &in, &key, modes), ret);
    else
        fx_give_error(ret, FORMULA_ERROR_NA);
}

/* A part of an area stays an area, so that ROW() and the like see it. */
static void give_part(struct fx *x, const struct formula_value *v, const uint32_t part[4],
                      struct formula_value *ret)
{
    struct formula_area *area = arena_new(x->env->arena, struct formula_area);

    if (!area) {
        x->env->is_over = true;
        return;
    }
    *area = *v->area;
    area->range = (struct a1_range){part[0], part[1], part[2], part[3]};
    *ret = (struct formula_value){.type = FORMULA_AREA, .area = area};
}

/* Row R and column C of V, from 1; 0 is all of them. SIZE: rows and columns of V. */
static void give_index(struct fx *x, const struct formula_value *v, const uint32_t size[2],
                       const uint32_t at[2], struct formula_value *ret)
{
    uint32_t r = at[0], c = at[1];

    if (v->type == FORMULA_AREA) {
        const struct a1_range *range = &v->area->range;
        uint32_t part[4] = {range->row0 + (r > 0 ? r - 1 : 0), range->col0 + (c > 0 ? c - 1 : 0),
                            range->row0 + (r > 0 ? r : size[0]) - 1,
                            range->col0 + (c > 0 ? c : size[1]) - 1};
        give_part(x, v, part, ret);
        return;
    }
    if (r > 0 && (c > 0 || size[1] == 1))
        fx_item(x, v, r - 1, c > 0 ? c - 1 : 0, ret);
    else if (r > 0 || c > 0)
        give_line(x, v, r > 0 ? r - 1 : c - 1, r > 0, ret);
    else
        *ret = *v;
}

static void fn_index(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double row = 0, col = 0;
    uint32_t size[2];

    if (!scalar_arg(x, a, 1, &row, ret) || !scalar_arg(x, a, 2, &col, ret))
        return;
    fx_size(x, &a->v[0], &size[0], &size[1]);
    if (size[0] == 1 && a->n == 2 && size[1] > 1) { /* of one row the number is the column */
        col = row;
        row = 0;
    }
    if (row < 0 || col < 0 || trunc(row) > size[0] || trunc(col) > size[1]) {
        fx_give_error(ret, FORMULA_ERROR_REF);
        return;
    }
    uint32_t at[2] = {(uint32_t)row, (uint32_t)col};
    give_index(x, &a->v[0], size, at, ret);
}

/* ---- places ---- */

static void give_cell_place(struct fx *x, const struct fx_args *a, bool is_row,
                            struct formula_value *ret)
{
    uint32_t rows, cols;

    if (a->n == 0) {
        fx_give(ret, (is_row ? x->at.row : x->at.col) + 1.0);
        return;
    }
    if (a->v[0].type != FORMULA_AREA) {
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return;
    }
    const struct a1_range *r = &a->v[0].area->range;
    double first = (is_row ? r->row0 : r->col0) + 1.0;
    fx_size(x, &a->v[0], &rows, &cols);
    uint32_t n = is_row ? rows : cols;
    if (!x->is_array || n == 1) {
        fx_give(ret, first);
        return;
    }
    struct formula_array *out = fx_new_array(x, is_row ? n : 1, is_row ? 1 : n, ret);
    for (uint32_t i = 0; out && i < n; i++)
        fx_give(&out->items[i], first + i);
}

static void fn_cell_row(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    give_cell_place(x, a, true, ret);
}

static void fn_formula_column(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    give_cell_place(x, a, false, ret);
}

static void fn_formula_rows(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    uint32_t rows, cols;

    fx_size(x, &a->v[0], &rows, &cols);
    fx_give(ret, rows);
}

static void fn_columns(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    uint32_t rows, cols;

    fx_size(x, &a->v[0], &rows, &cols);
    fx_give(ret, cols);
}

/* ADDRESS(row, column, 1 both fixed | 2 row | 3 column | 4 none, A1 style, sheet) */
static void fn_address(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(1024);
    int64_t row, col, rows[2] = {1, A1_MAX_ROWS}, cols[2] = {1, A1_MAX_COLUMNS};
    char name[A1_COLUMN_MAX];
    double mode;
    struct str sheet;

    if (!fx_arg_int(a, 0, rows, &row, ret) || !fx_arg_int(a, 1, cols, &col, ret) ||
        !fx_arg(a, 2, 1, &mode, ret))
        return;
    if (a->n > 4) {
        if (!fx_string(x, &a->v[4], &sheet, ret))
            return;
        a1_write_sheet(&b, sheet);
        (void)buf_add_char(&b, '!');
    }
    a1_column_name(name, (uint32_t)col - 1);
    bool is_row_fixed = mode < 3, is_col_fixed = mode < 2 || (mode >= 3 && mode < 4);
    (void)buf_printf(&b, "%s%s%s%lld", is_col_fixed ? "$" : "", name, is_row_fixed ? "$" : "",
                     (long long)row);
    fx_give_buf(x, ret, &b);
}

static void fn_indirect(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_area *area = arena_new(x->env->arena, struct formula_area);
    struct a1_ref ref;
    struct str text;

    if (!fx_string(x, &a->v[0], &text, ret))
        return;
    fx_give_error(ret, FORMULA_ERROR_REF);
    if (!area || a1_parse(x->env->arena, text, &ref) < 0 || ref.is_all)
        return;
    *area = (struct formula_area){x->at.sheet, ref.range};
    if (ref.sheet.p)
        area->sheet = x->env->sheet(x->env->ctx, ref.sheet);
    if (area->sheet >= 0)
        *ret = (struct formula_value){.type = FORMULA_AREA, .area = area};
}

static void fn_offset(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double down = 0, right = 0;
    uint32_t rows, cols;

    fx_size(x, &a->v[0], &rows, &cols);
    double height = rows, width = cols;
    if (!scalar_arg(x, a, 1, &down, ret) || !scalar_arg(x, a, 2, &right, ret) ||
        !scalar_arg(x, a, 3, &height, ret) || !scalar_arg(x, a, 4, &width, ret))
        return;
    fx_give_error(ret, FORMULA_ERROR_REF);
    if (a->v[0].type != FORMULA_AREA || height < 1 || width < 1)
        return;
    double row = a->v[0].area->range.row0 + trunc(down);
    double col = a->v[0].area->range.col0 + trunc(right);
    if (row < 0 || col < 0 || row + height > A1_MAX_ROWS || col + width > A1_MAX_COLUMNS)
        return;
    uint32_t part[4] = {(uint32_t)row, (uint32_t)col, (uint32_t)(row + trunc(height)) - 1,
                        (uint32_t)(col + trunc(width)) - 1};
    give_part(x, &a->v[0], part, ret);
}

const struct fx_function fx_lookup[] = {
    {"VLOOKUP", 3, 4, FX_VALUES, FX_EACH0, fn_vlookup},
    {"HLOOKUP", 3, 4, FX_VALUES, FX_EACH0, fn_hlookup},
    {"LOOKUP", 2, 3, FX_VALUES, FX_EACH0, fn_lookup},
    {"XLOOKUP", 3, 6, FX_VALUES, FX_EACH0, fn_xlookup},
    {"MATCH", 2, 3, FX_VALUES, FX_EACH0, fn_match},
    {"XMATCH", 2, 4, FX_VALUES, FX_EACH0, fn_xmatch},
    {"INDEX", 1, 3, FX_ARRAY, 0, fn_index},
    {"ROW", 0, 1, FX_VALUES, 0, fn_cell_row},
    {"COLUMN", 0, 1, FX_VALUES, 0, fn_formula_column},
    {"ROWS", 1, 1, FX_VALUES, 0, fn_formula_rows},
    {"COLUMNS", 1, 1, FX_VALUES, 0, fn_columns},
    {"ADDRESS", 2, 5, FX_SCALAR, 0, fn_address},
    {"INDIRECT", 1, 2, FX_SCALAR, FX_VOLATILE, fn_indirect},
    {"OFFSET", 3, 5, FX_VALUES, FX_VOLATILE, fn_offset},
    {NULL, 0, 0, 0, 0, NULL},
};
