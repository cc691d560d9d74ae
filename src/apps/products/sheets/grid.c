/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "apps/products/sheets/sheets_internal.h"

/* An index of BODY that is not negative; false: b failed. */
static bool read_index(struct sheets *b, const struct json *body, const char *name, uint32_t *ret)
{
    const struct json *v = json_get(body, name);
    int64_t i = json_int(v, -1);

    if (!v || json_is(v, JSON_NULL))
        return true;
    if (i < 0 || i > SHEETS_MAX_GRID) {
        (void)sheets_fail(b, "%s must be a number that is not negative.", name);
        return false;
    }
    *ret = (uint32_t)i;
    return true;
}

/* FROM to TO, of which the sheet has SIZE; false: b failed. */
static bool is_span(struct sheets *b, uint32_t from, uint32_t to, uint32_t size, const char *what)
{
    if (to != A1_OPEN && to <= from)
        (void)sheets_fail(b, "end%sIndex[%u] must be greater than start%sIndex[%u].", what, to,
                          what, from);
    else if (from >= size || (to != A1_OPEN && to > size))
        (void)sheets_fail(b, "%s %u is outside the grid, which has %u.", what,
                          from >= size ? from : to - 1, size);
    else
        return true;
    return false;
}

struct sheet *grid_range(struct sheets *b, const struct json *json, struct range *ret)
{
    *ret = (struct range){0, 0, A1_OPEN, A1_OPEN};
    if (!json_is(json, JSON_OBJECT)) {
        (void)sheets_fail(b, "A range is required.");
        return NULL;
    }
    struct sheet *s = sheets_sheet(b, json_get(json, "sheetId"));
    if (!s || !read_index(b, json, "startRowIndex", &ret->row0) ||
        !read_index(b, json, "endRowIndex", &ret->row1) ||
        !read_index(b, json, "startColumnIndex", &ret->col0) ||
        !read_index(b, json, "endColumnIndex", &ret->col1) ||
        !is_span(b, ret->row0, ret->row1, s->rows, "Row") ||
        !is_span(b, ret->col0, ret->col1, s->cols, "Column"))
        return NULL;
    return s;
}

struct range grid_close(const struct sheet *s, struct range r)
{
    r.row1 = r.row1 == A1_OPEN ? s->rows : r.row1;
    r.col1 = r.col1 == A1_OPEN ? s->cols : r.col1;
    return r;
}

struct sheet *grid_place(struct sheets *b, const struct json *json, uint32_t *row, uint32_t *col)
{
    struct sheet *s = sheets_sheet(b, json_get(json, "sheetId"));

    *row = *col = 0;
    if (!s || !read_index(b, json, "rowIndex", row) || !read_index(b, json, "columnIndex", col) ||
        !is_span(b, *row, A1_OPEN, s->rows, "Row") || !is_span(b, *col, A1_OPEN, s->cols, "Column"))
        return NULL;
    return s;
}

int grid_lines(struct sheets *b, const struct json *json, struct lines *ret)
{
    struct str dimension = json_str(json_get(json, "dimension"), STR(""));

    *ret = (struct lines){.to = A1_OPEN};
    ret->sheet = sheets_sheet(b, json_get(json, "sheetId"));
    if (!ret->sheet)
        return -EINVAL;
    ret->is_rows = str_is(dimension, "ROWS");
    if (!ret->is_rows && !str_is(dimension, "COLUMNS"))
        return sheets_fail(b, "No dimension specified.");
    if (!read_index(b, json, "startIndex", &ret->from) ||
        !read_index(b, json, "endIndex", &ret->to))
        return -EINVAL;
    if (ret->to != A1_OPEN && ret->to <= ret->from)
        return sheets_fail(b, "range.endIndex[%u] must be greater than range.startIndex[%u].",
                           ret->to, ret->from);
    return 0;
}

bool grid_has(const struct range *r, uint32_t row, uint32_t col)
{
    return row >= r->row0 && row < r->row1 && col >= r->col0 && col < r->col1;
}

bool grid_is_within(const struct range *inner, const struct range *outer)
{
    return inner->row0 >= outer->row0 && inner->row1 <= outer->row1 && inner->col0 >= outer->col0 &&
           inner->col1 <= outer->col1;
}

bool grid_meets(const struct range *a, const struct range *b)
{
    return a->row0 < b->row1 && b->row0 < a->row1 && a->col0 < b->col1 && b->col0 < a->col1;
}
