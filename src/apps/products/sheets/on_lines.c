/* SPDX-License-Identifier: MIT */
/* Requests about rows and columns: cells, formulas and features move with them. */
#include <errno.h>

#include "apps/products/sheets/sheets_internal.h"

static uint32_t *count_lines_of(const struct lines *l)
{
    return l->is_rows ? &l->sheet->rows : &l->sheet->cols;
}

static uint32_t *line_place_of(struct cell *c, bool is_rows)
{
    return is_rows ? &c->row : &c->col;
}

/* What is dressed like the lines before grows with them, or like those behind. */
static bool is_dress(const struct feature *f)
{
    return str_is(f->kind, "cell") || str_is(f->kind, "pattern");
}

/* ---- more of them ---- */

static int grow_sheet(struct sheets *b, const struct lines *l, uint32_t n)
{
    uint64_t limit = l->is_rows ? A1_MAX_ROWS : A1_MAX_COLUMNS;
    uint64_t other = l->is_rows ? l->sheet->cols : l->sheet->rows;

    if ((uint64_t)*count_lines_of(l) + n > limit)
        return sheets_fail(b, "A sheet cannot have more than %llu %s.", (unsigned long long)limit,
                           l->is_rows ? "rows" : "columns");
    if (!sheets_may_grow(b, other * n))
        return -EINVAL;
    *count_lines_of(l) += n;
    return 0;
}

static void spread_feature(struct feature *f, const struct lines *l, uint32_t n,
                           bool is_like_before)
{
    uint32_t *low = l->is_rows ? &f->range.row0 : &f->range.col0;
    uint32_t *high = l->is_rows ? &f->range.row1 : &f->range.col1;
    bool is_low = *low > l->from || (*low == l->from && (is_like_before || !is_dress(f)));
    bool is_high = *high > l->from || (*high == l->from && is_like_before && is_dress(f));

    if (str_is(f->kind, "properties"))
        return;
    /* What begins with the sheet and has no end is of all lines. */
    if (*high == A1_OPEN && *low == 0)
        return;
    *low += is_low ? n : 0;
    if (*high != A1_OPEN)
        *high += is_high ? n : 0;
}

static int insert_dimension(struct sheets *b, const struct json *body)
{
    struct lines l;
    bool is_like_before = json_bool(json_get(body, "inheritFromBefore"), false);
    int r = grid_lines(b, json_get(body, "range"), &l);

    if (r < 0)
        return r;
    if (l.to == A1_OPEN)
        return sheets_fail(b, "range.endIndex is required.");
    if (is_like_before && l.from == 0)
        return sheets_fail(b, "Can't inherit from before when inserting at the beginning.");
    if (l.from > *count_lines_of(&l))
        return sheets_fail(b, "range.startIndex[%u] is outside the grid, which has %u.", l.from,
                           *count_lines_of(&l));
    uint32_t n = l.to - l.from;
    struct formula_edit edit = {.kind = FORMULA_EDIT_INSERT,
                                .sheet = l.sheet->title,
                                .is_rows = l.is_rows,
                                .at = l.from,
                                .n = n};
    r = grow_sheet(b, &l, n);
    for (size_t i = 0; r == 0 && i < l.sheet->n_cells; i++) {
        uint32_t *at = line_place_of(&l.sheet->cells[i], l.is_rows);
        *at += *at >= l.from ? n : 0;
    }
    for (size_t i = 0; r == 0 && i < l.sheet->n_features; i++)
        spread_feature(&l.sheet->features[i], &l, n, is_like_before);
    return r < 0 ? r : sheets_edit(b, &edit);
}

static int append_dimension(struct sheets *b, const struct json *body)
{
    struct lines l;
    int64_t n = json_int(json_get(body, "length"), 0);
    int r = grid_lines(b, body, &l);

    if (r == 0 && (n < 1 || n > A1_MAX_ROWS))
        r = sheets_fail(b, "length must be at least 1.");
    return r < 0 ? r : grow_sheet(b, &l, (uint32_t)n);
}

/* ---- fewer ---- */

/* False: nothing is left of it. */
static bool shrink_feature(struct feature *f, const struct lines *l)
{
    uint32_t *low = l->is_rows ? &f->range.row0 : &f->range.col0;
    uint32_t *high = l->is_rows ? &f->range.row1 : &f->range.col1;
    uint32_t n = l->to - l->from;

    if (*low >= l->from)
        *low = *low < l->to ? l->from : *low - n;
    if (*high != A1_OPEN && *high > l->from)
        *high = *high < l->to ? l->from : *high - n;
    return *high > *low;
}

/* Takes them away from cells and features. */
static void remove_lines(const struct lines *l)
{
    struct sheet *s = l->sheet;

    for (size_t i = 0; i < s->n_cells; i++) {
        uint32_t *at = line_place_of(&s->cells[i], l->is_rows);
        if (*at >= l->from && *at < l->to)
            sheets_clear(&s->cells[i]);
        else if (*at >= l->to)
            *at -= l->to - l->from;
    }
    sheets_compact(s);
    for (size_t i = s->n_features; i-- > 0;) {
        if (!str_is(s->features[i].kind, "properties") && !shrink_feature(&s->features[i], l))
            sheets_drop_feature(s, i);
    }
    *count_lines_of(l) -= l->to - l->from;
}

static int delete_dimension(struct sheets *b, const struct json *body)
{
    struct lines l;
    int r = grid_lines(b, json_get(body, "range"), &l);

    if (r < 0)
        return r;
    uint32_t size = *count_lines_of(&l);
    const char *what = l.is_rows ? "row" : "column";
    l.to = l.to == A1_OPEN ? size : l.to;
    if (l.from >= size || l.to > size)
        return sheets_fail(b, "Cannot delete a %s that doesn't exist. Tried to delete %s index %u",
                           what, what, l.to - 1);
    if (l.to - l.from == size)
        return sheets_fail(b, "You can't delete all the %ss on the sheet.", what);
    struct formula_edit edit = {.kind = FORMULA_EDIT_DELETE,
                                .sheet = l.sheet->title,
                                .is_rows = l.is_rows,
                                .at = l.from,
                                .n = l.to - l.from};
    remove_lines(&l);
    return sheets_edit(b, &edit);
}

/* ---- how they look ---- */

/* The members of DimensionProperties that MASK names; NULL: b failed. */
static struct json *take_properties(struct sheets *b, const struct mask *mask,
                                    const struct json *properties)
{
    static const char *const known[] = {"pixelSize", "hiddenByUser"};
    struct json *kept = json_new_object(b->arena);

    for (size_t i = 0; kept && !mask->is_all && i < mask->n; i++) {
        if (str_is(mask->paths[i], known[0]) || str_is(mask->paths[i], known[1]))
            continue;
        (void)sheets_fail(b, "field '" STR_FMT "' is not supported here", STR_ARG(mask->paths[i]));
        return NULL;
    }
    for (size_t i = 0; kept && i < ARRAY_LEN(known); i++) {
        const struct json *value = json_get(properties, known[i]);
        if (value && mask_has(mask, known[i]) && json_set(b->arena, kept, known[i], value) < 0)
            kept = NULL;
    }
    if (!kept)
        (void)sheets_no_memory(b);
    return kept;
}

static int update_dimension_properties(struct sheets *b, const struct json *body)
{
    struct lines l;
    struct mask m;
    int r = grid_lines(b, json_get(body, "range"), &l);

    r = r < 0 ? r : mask_read(b, json_get(body, "fields"), &m);
    if (r < 0)
        return r;
    if (l.from >= *count_lines_of(&l) || (l.to != A1_OPEN && l.to > *count_lines_of(&l)))
        return sheets_fail(b, "range is outside the grid, which has %u.", *count_lines_of(&l));
    struct feature f = {l.is_rows ? STR("rows") : STR("columns"),
                        {0, 0, A1_OPEN, A1_OPEN},
                        take_properties(b, &m, json_get(body, "properties"))};
    *(l.is_rows ? &f.range.row0 : &f.range.col0) = l.from;
    *(l.is_rows ? &f.range.row1 : &f.range.col1) = l.to;
    return f.body && sheets_add_feature(b, l.sheet, f) ? 0 : -EINVAL;
}

/* Nobody measures texts here, so the sizes stay the ordinary ones. */
static int auto_resize_dimensions(struct sheets *b, const struct json *body)
{
    struct lines l;

    return grid_lines(b, json_get(body, "dimensions"), &l);
}

const struct request requests_of_lines[] = {
    {"appendDimension", append_dimension},
    {"autoResizeDimensions", auto_resize_dimensions},
    {"deleteDimension", delete_dimension},
    {"insertDimension", insert_dimension},
    {"updateDimensionProperties", update_dimension_properties},
    {NULL, NULL},
};
