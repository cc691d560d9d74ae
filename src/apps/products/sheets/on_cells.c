/* SPDX-License-Identifier: MIT */
/* Requests that write cells: values, and what they look like. */
#include <errno.h>

#include "apps/products/sheets/sheets_internal.h"

/* ---- what cells look like ---- */

/* The pattern of numbers that a NumberFormat means. */
static struct str pattern_of(const struct json *format)
{
    static const struct {
        const char *type, *pattern;
    } usual[] = {
        {"NUMBER", "#,##0.00"},     {"PERCENT", "0.00%"},      {"CURRENCY", "$#,##0.00"},
        {"DATE", "m/d/yyyy"},       {"TIME", "h:mm:ss am/pm"}, {"DATE_TIME", "m/d/yyyy h:mm:ss"},
        {"SCIENTIFIC", "0.00E+00"},
    };
    struct str pattern = json_str(json_get(format, "pattern"), STR(""));
    struct str type = json_str(json_get(format, "type"), STR(""));

    for (size_t i = 0; pattern.len == 0 && i < ARRAY_LEN(usual); i++) {
        if (str_is(type, usual[i].type))
            pattern = str_of(usual[i].pattern);
    }
    return pattern;
}

static bool same_range(const struct range *a, const struct range *b)
{
    return a->row0 == b->row0 && a->row1 == b->row1 && a->col0 == b->col0 && a->col1 == b->col1;
}

/* F goes on behind LAST, in the same rows. */
static bool continues_feature(const struct feature *last, const struct feature *f)
{
    return str_eq(last->kind, f->kind) && last->range.row0 == f->range.row0 &&
           last->range.row1 == f->range.row1 && last->range.col1 == f->range.col0 &&
           json_equal(last->body, f->body);
}

/* Nothing is seen of OLD behind F. */
static bool is_hidden(const struct feature *old, const struct feature *f)
{
    return str_eq(old->kind, f->kind) && same_range(&old->range, &f->range) &&
           (str_is(f->kind, "pattern") || json_equal(old->body, f->body));
}

static int add_dress(struct sheets *b, struct sheet *s, struct feature f)
{
    size_t n = s->features ? s->n_features : 0;

    if (!sheets_charge(b, n))
        return -EINVAL;
    if (n > 0 && continues_feature(&s->features[n - 1], &f)) {
        s->features[n - 1].range.col1 = f.range.col1;
        return 0;
    }
    for (size_t i = n; i-- > 0;) {
        if (is_hidden(&s->features[i], &f))
            sheets_drop_feature(s, i);
    }
    return sheets_add_feature(b, s, f) ? 0 : -EINVAL;
}

static bool has_kind(const struct sheet *s, const char *kind)
{
    bool is_there = false;

    for (size_t i = 0; i < s->n_features; i++)
        is_there = is_there || str_is(s->features[i].kind, kind);
    return is_there;
}

/* Numbers of R are shown by PATTERN, those that come later too. */
static int dress_numbers(struct sheets *b, struct sheet *s, const struct range *r,
                         struct str pattern)
{
    struct feature f = {STR("pattern"), *r, json_new_str(b->arena, pattern)};
    struct range all = grid_close(s, *r);

    if (!f.body)
        return sheets_no_memory(b);
    if (!sheets_charge(b, s->n_cells))
        return -EINVAL;
    for (size_t i = 0; i < s->n_cells; i++) {
        if (grid_has(&all, s->cells[i].row, s->cells[i].col))
            s->cells[i].format = pattern;
    }
    return pattern.len == 0 && !has_kind(s, "pattern") ? 0 : add_dress(b, s, f);
}

/* Adds the member PATH of DATA to BODY, null when there is none. */
static int take_field_path(struct sheets *b, const struct json *data, struct str path,
                           struct json *body)
{
    static const struct json none = {.type = JSON_NULL};
    static const char *const known[] = {"userEnteredFormat", "note", "dataValidation"};
    const struct json *value = mask_value(data, path);
    struct str rest = path, root = str_cut(&rest, '.');
    bool is_known = false;

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        is_known = is_known || str_is(root, known[i]);
    if (!is_known)
        return sheets_fail(b, "field '" STR_FMT "' is not supported here", STR_ARG(path));
    return json_set_str(b->arena, body, path, value ? value : &none) < 0 ? sheets_no_memory(b) : 0;
}

static bool is_all_null(const struct json *body)
{
    bool is_null = true;

    for (size_t i = 0; i < body->n; i++)
        is_null = is_null && json_is(&body->members[i].value, JSON_NULL);
    return is_null;
}

static bool is_about_numbers(const struct mask *m)
{
    bool is_there = mask_has(m, "userEnteredFormat.numberFormat");

    for (size_t i = 0; i < m->n; i++)
        is_there = is_there || str_starts(m->paths[i], STR("userEnteredFormat.numberFormat."));
    return is_there;
}

int cells_dress(struct sheets *b, struct sheet *s, const struct range *r, const struct mask *m,
                const struct json *data)
{
    static struct str all[] = {STR_INIT("userEnteredFormat"), STR_INIT("note"),
                               STR_INIT("dataValidation")};
    struct json *body = json_new_object(b->arena);
    const struct str *paths = m->is_all ? all : m->paths;
    size_t n = m->is_all ? ARRAY_LEN(all) : m->n;
    int done = 0;

    if (!body)
        return sheets_no_memory(b);
    for (size_t i = 0; done == 0 && i < n; i++) {
        if (!str_is(paths[i], "userEnteredValue"))
            done = take_field_path(b, data, paths[i], body);
    }
    if (done < 0 || body->n == 0)
        return done;
    struct feature f = {STR("cell"), *r, body};
    if (!is_all_null(body) || has_kind(s, "cell"))
        done = add_dress(b, s, f);
    if (done == 0 && is_about_numbers(m))
        done = dress_numbers(b, s, r,
                             pattern_of(mask_value(data, STR("userEnteredFormat.numberFormat"))));
    return done;
}

/* ---- values ---- */

/* An ExtendedValue; none clears the cell. */
static int set_extended_value(struct sheets *b, struct cell *c, const struct json *value)
{
    const struct json *v;

    sheets_clear(c);
    if (!json_is(value, JSON_OBJECT) || value->n == 0)
        return 0;
    if (json_is_number(v = json_get(value, "numberValue"))) {
        c->value = (struct formula_value){.type = FORMULA_NUMBER, .number = json_real(v, 0)};
    } else if (json_is(v = json_get(value, "stringValue"), JSON_STRING)) {
        c->value = (struct formula_value){.type = FORMULA_TEXT, .text = v->s};
    } else if (json_is(v = json_get(value, "boolValue"), JSON_BOOL)) {
        c->value = (struct formula_value){.type = FORMULA_BOOL, .flag = v->b};
    } else if (json_is(v = json_get(value, "formulaValue"), JSON_STRING) && v->s.len > 1 &&
               v->s.p[0] == '=') {
        c->formula = v->s;
    } else {
        return sheets_fail(b, "Invalid userEnteredValue.");
    }
    if (c->value.type == FORMULA_TEXT && c->value.text.len == 0)
        sheets_clear(c);
    if ((v && json_is(v, JSON_STRING)) && v->s.len > FORMULA_MAX_TEXT)
        return sheets_fail(b, "Your input contains more than the maximum of 50000 characters in a "
                              "single cell.");
    return 0;
}

static int write_cell_data(struct sheets *b, struct sheet *s, uint32_t row, uint32_t col,
                           const struct json *value)
{
    struct cell *c = sheets_put(b, s, row, col);

    return c ? set_extended_value(b, c, value) : -ENOMEM;
}

/* Rows of CellData from ROW and COL on, inside R. */
struct rows {
    const struct json *rows;
    struct range range;
    struct mask mask;
};

static int write_sheet_row(struct sheets *b, struct sheet *s, const struct rows *in, uint32_t i)
{
    const struct json *values = json_get(json_at(in->rows, i), "values");
    uint32_t row = in->range.row0 + i;
    int r = 0;

    for (uint32_t k = 0; r == 0 && values && k < values->n; k++) {
        const struct json *data = json_at(values, k);
        uint32_t col = in->range.col0 + k;
        struct range one = {row, col, row + 1, col + 1};
        if (row >= in->range.row1)
            return sheets_fail(b,
                               "Attempting to write row: %u, beyond the last requested row "
                               "of: %u",
                               row, in->range.row1 - 1);
        if (col >= in->range.col1)
            return sheets_fail(b,
                               "Attempting to write column: %u, beyond the last requested "
                               "column of: %u",
                               col, in->range.col1 - 1);
        if (mask_has(&in->mask, "userEnteredValue"))
            r = write_cell_data(b, s, row, col, json_get(data, "userEnteredValue"));
        r = r < 0 ? r : cells_dress(b, s, &one, &in->mask, data);
    }
    return r;
}

static int write_rows(struct sheets *b, struct sheet *s, const struct rows *in)
{
    int r = 0;

    for (uint32_t i = 0; r == 0 && in->rows && i < in->rows->n; i++)
        r = write_sheet_row(b, s, in, i);
    sheets_compact(s);
    return r;
}

/* "userEnteredValue.stringValue" is written as the whole value. */
static int read_mask(struct sheets *b, const struct json *body, struct mask *ret)
{
    int r = mask_read(b, json_get(body, "fields"), ret);

    for (size_t i = 0; r == 0 && i < ret->n; i++) {
        if (str_starts(ret->paths[i], STR("userEnteredValue.")))
            ret->paths[i] = STR("userEnteredValue");
    }
    return r;
}

static int update_cells(struct sheets *b, const struct json *body)
{
    const struct json *start = json_get(body, "start"), *range = json_get(body, "range");
    struct rows in = {.rows = json_get(body, "rows")};
    struct sheet *s;
    int r = read_mask(b, body, &in.mask);

    if (r < 0)
        return r;
    if (start) {
        s = grid_place(b, start, &in.range.row0, &in.range.col0);
        in.range.row1 = in.range.col1 = A1_OPEN;
    } else {
        s = grid_range(b, range, &in.range);
    }
    if (!s)
        return -EINVAL;
    in.range = grid_close(s, in.range);
    /* Cells of a range that no row mentions are cleared. */
    for (size_t i = 0; !start && mask_has(&in.mask, "userEnteredValue") && i < s->n_cells; i++) {
        if (grid_has(&in.range, s->cells[i].row, s->cells[i].col))
            sheets_clear(&s->cells[i]);
    }
    if (!start)
        r = cells_dress(b, s, &in.range, &in.mask, NULL);
    return r < 0 ? r : write_rows(b, s, &in);
}

static int append_cells(struct sheets *b, const struct json *body)
{
    struct sheet *s = sheets_sheet(b, json_get(body, "sheetId"));
    struct rows in = {.rows = json_get(body, "rows")};
    int r = s ? read_mask(b, body, &in.mask) : -EINVAL;

    if (r < 0)
        return r;
    size_t n = in.rows ? in.rows->n : 0, n_wide = 0;
    for (size_t i = 0; i < n; i++) {
        const struct json *values = json_get(json_at(in.rows, i), "values");
        n_wide = values && values->n > n_wide ? values->n : n_wide;
    }
    if (s->n_cells > 0)
        in.range.row0 = s->cells[s->n_cells - 1].row + 1;
    uint64_t rows = in.range.row0 + n > s->rows ? in.range.row0 + n : s->rows;
    uint64_t cols = n_wide > s->cols ? n_wide : s->cols;
    if (cols > A1_MAX_COLUMNS || !sheets_may_grow(b, rows * cols - (uint64_t)s->rows * s->cols))
        return sheets_fail(b, "Too many columns.");
    s->rows = (uint32_t)rows;
    s->cols = (uint32_t)cols;
    in.range.row1 = s->rows;
    in.range.col1 = s->cols;
    return write_rows(b, s, &in);
}

/* The same value everywhere; formulas are those of the first cell, moved. */
static int fill_range(struct sheets *b, struct sheet *s, const struct range *r,
                      const struct json *value)
{
    int done = 0;

    if ((uint64_t)(r->row1 - r->row0) * (r->col1 - r->col0) > SHEETS_MAX_FILL)
        return sheets_fail(b, "no more than %d cells can be written at once here", SHEETS_MAX_FILL);
    for (uint32_t row = r->row0; done == 0 && row < r->row1; row++) {
        for (uint32_t col = r->col0; done == 0 && col < r->col1; col++) {
            struct formula_edit edit = {
                .kind = FORMULA_EDIT_SHIFT, .rows = row - r->row0, .cols = col - r->col0};
            struct cell *c = sheets_put(b, s, row, col);
            done = c ? set_extended_value(b, c, value) : -ENOMEM;
            done = done < 0 ? done : sheets_edit_cell(b, c, s->title, &edit);
        }
    }
    sheets_compact(s);
    return done;
}

static int repeat_cell(struct sheets *b, const struct json *body)
{
    const struct json *data = json_get(body, "cell");
    const struct json *value = json_get(data, "userEnteredValue");
    struct range range;
    struct mask m;
    int r = read_mask(b, body, &m);
    struct sheet *s = r < 0 ? NULL : grid_range(b, json_get(body, "range"), &range);

    if (!s)
        return -EINVAL;
    struct range all = grid_close(s, range);
    if (mask_has(&m, "userEnteredValue") && json_is(value, JSON_OBJECT)) {
        r = fill_range(b, s, &all, value);
    } else if (mask_has(&m, "userEnteredValue")) {
        for (size_t i = 0; i < s->n_cells; i++) {
            if (grid_has(&all, s->cells[i].row, s->cells[i].col))
                sheets_clear(&s->cells[i]);
        }
        sheets_compact(s);
    }
    return r < 0 ? r : cells_dress(b, s, &range, &m, data);
}

const struct request requests_of_cells[] = {
    {"appendCells", append_cells},
    {"repeatCell", repeat_cell},
    {"updateCells", update_cells},
    {NULL, NULL},
};
