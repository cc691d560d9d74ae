/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "apps/formula/json.h"
#include "apps/products/sheets/sheets_internal.h"

/* ---- cells ---- */

static int cell_place_cmp(const void *a, const void *b)
{
    const struct cell *c = a, *d = b;

    if (c->row != d->row)
        return c->row < d->row ? -1 : 1;
    return (c->col > d->col) - (c->col < d->col);
}

struct cell *sheets_put(struct sheets *b, struct sheet *s, uint32_t row, uint32_t col)
{
    struct cell new = {.row = row, .col = col, .format = STR("")};
    struct cell *old =
        s->n_sorted > 0 ? bsearch(&new, s->cells, s->n_sorted, sizeof new, cell_place_cmp) : NULL;

    if (old)
        return old;
    struct cell *list = arena_grow(b->arena, s->cells, s->n_cells, &s->cap_cells, sizeof *list);
    if (!list) {
        (void)sheets_no_memory(b);
        return NULL;
    }
    s->cells = list;
    if (s->n_sorted == s->n_cells &&
        (s->n_cells == 0 || cell_place_cmp(&list[s->n_cells - 1], &new) < 0))
        s->n_sorted++;
    list[s->n_cells] = new;
    return &list[s->n_cells++];
}

void sheets_clear(struct cell *c)
{
    c->formula = STR_NULL;
    c->value = (struct formula_value){.type = FORMULA_BLANK};
}

void sheets_compact(struct sheet *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_cells; i++) {
        if (s->cells[i].formula.p || s->cells[i].value.type != FORMULA_BLANK)
            s->cells[n++] = s->cells[i];
    }
    /* Places stay in order when lines come or go: only what was put behind the others is not. */
    if (s->n_sorted < s->n_cells && n > 0)
        qsort(s->cells, n, sizeof s->cells[0], cell_place_cmp);
    s->n_cells = s->n_sorted = n;
}

/* As when a person does it: a number without a format of its own takes the one of its cell. */
int sheets_type(struct sheets *b, struct cell *c, struct str text)
{
    struct formula_entry entry = {.format = ""};

    sheets_clear(c);
    if (text.len > FORMULA_MAX_TEXT)
        return sheets_fail(b, "Your input contains more than the maximum of 50000 characters in a "
                              "single cell.");
    if (text.len > 1 && text.p[0] == '=') {
        c->formula = text;
        return 0;
    }
    formula_enter(text, &entry);
    c->value = entry.value;
    if (entry.format[0] || entry.value.type != FORMULA_NUMBER)
        c->format = str_of(entry.format);
    return 0;
}

/* ---- formulas ---- */

int sheets_edit_cell(struct sheets *b, struct cell *c, struct str own,
                     const struct formula_edit *edit)
{
    auto_buf struct buf out = BUF_INIT(1 << 20);

    if (!c->formula.p)
        return 0;
    formula_edit(&out, c->formula, own, edit);
    if (buf_ok(&out) && str_eq(buf_str(&out), c->formula))
        return 0;
    c->formula = buf_ok(&out) ? arena_str(b->arena, buf_str(&out)) : STR_NULL;
    return c->formula.p ? 0 : sheets_no_memory(b);
}

int sheets_edit(struct sheets *b, const struct formula_edit *edit)
{
    int r = 0;

    for (size_t i = 0; i < b->n_sheets; i++) {
        struct sheet *s = b->sheets[i];
        for (size_t k = 0; r == 0 && k < s->n_cells; k++)
            r = sheets_edit_cell(b, &s->cells[k], s->title, edit);
    }
    return r;
}

/* ---- features ---- */

struct feature *sheets_add_feature(struct sheets *b, struct sheet *s, struct feature f)
{
    if (s->n_features == SHEETS_MAX_FEATURES) {
        (void)sheets_fail(b, "A sheet cannot have more than %d formats, rules and the like here.",
                          SHEETS_MAX_FEATURES);
        return NULL;
    }
    struct feature *list =
        arena_grow(b->arena, s->features, s->n_features, &s->cap_features, sizeof *list);
    if (!list) {
        (void)sheets_no_memory(b);
        return NULL;
    }
    s->features = list;
    list[s->n_features] = f;
    return &list[s->n_features++];
}

void sheets_drop_feature(struct sheet *s, size_t i)
{
    memmove(s->features + i, s->features + i + 1, (--s->n_features - i) * sizeof s->features[0]);
}

/* ---- sheets ---- */

struct sheet *sheets_sheet(struct sheets *b, const struct json *id)
{
    int64_t wanted = json_int(id, 0);

    for (size_t i = 0; i < b->n_sheets; i++) {
        if (b->sheets[i]->id == wanted)
            return b->sheets[i];
    }
    (void)sheets_fail(b, "No grid with id: %lld", (long long)wanted);
    return NULL;
}

size_t sheets_index(const struct sheets *b, const struct sheet *s)
{
    size_t i = 0;

    while (i < b->n_sheets && b->sheets[i] != s)
        i++;
    return i;
}

bool sheets_may_grow(struct sheets *b, uint64_t n_cells)
{
    for (size_t i = 0; i < b->n_sheets; i++)
        n_cells += (uint64_t)b->sheets[i]->rows * b->sheets[i]->cols;
    if (n_cells <= SHEETS_MAX_GRID)
        return true;
    (void)sheets_fail(b,
                      "This action would increase the number of cells in the workbook above the "
                      "limit of %d cells.",
                      SHEETS_MAX_GRID);
    return false;
}

/* ---- reading and writing ---- */

static int read_book_sheets(struct sheets *b, const struct json *in)
{
    if (!json_is(in, JSON_ARRAY) || in->n > SHEETS_MAX_SHEETS)
        return err_set(b->err, -EINVAL, "not a spreadsheet, or more than %d sheets",
                       SHEETS_MAX_SHEETS);
    for (size_t i = 0; i < in->n; i++) {
        const struct json *from = json_at(in, i);
        struct sheet *s = arena_new(b->arena, struct sheet);
        if (!s)
            return sheets_no_memory(b);
        s->id = json_int(json_at(from, 0), 0);
        s->title = json_str(json_at(from, 1), STR(""));
        s->rows = (uint32_t)json_int(json_at(from, 2), 1);
        s->cols = (uint32_t)json_int(json_at(from, 3), 1);
        b->sheets[b->n_sheets++] = s;
    }
    return 0;
}

static int read_book_cells(struct sheets *b, const struct json *in)
{
    for (size_t i = 0; in && i < in->n; i++) {
        const struct json *from = json_at(in, i);
        size_t sheet = (size_t)json_int(json_at(from, 0), -1);
        struct cell *c = sheet >= b->n_sheets ? NULL
                                              : sheets_put(b, b->sheets[sheet],
                                                           (uint32_t)json_int(json_at(from, 1), 0),
                                                           (uint32_t)json_int(json_at(from, 2), 0));
        if (!c)
            return err_set(b->err, -EINVAL, "not a spreadsheet");
        c->formula = json_str(json_at(from, 3), STR_NULL);
        c->value = formula_value_read(json_at(from, 4), json_at(from, 5), json_at(from, 6));
        c->format = json_str(json_at(from, 7), STR(""));
    }
    for (size_t i = 0; i < b->n_sheets; i++)
        sheets_compact(b->sheets[i]);
    return 0;
}

static int read_features(struct sheets *b, const struct json *in)
{
    for (size_t i = 0; in && i < in->n; i++) {
        const struct json *from = json_at(in, i);
        size_t sheet = (size_t)json_int(json_at(from, 0), -1);
        struct feature f = {.kind = json_str(json_at(from, 1), STR("")), .body = json_at(from, 6)};
        f.range.row0 = (uint32_t)json_int(json_at(from, 2), 0);
        f.range.col0 = (uint32_t)json_int(json_at(from, 3), 0);
        f.range.row1 = (uint32_t)json_int(json_at(from, 4), A1_OPEN);
        f.range.col1 = (uint32_t)json_int(json_at(from, 5), A1_OPEN);
        if (sheet >= b->n_sheets || !sheets_add_feature(b, b->sheets[sheet], f))
            return err_set(b->err, -EINVAL, "not a spreadsheet");
    }
    return 0;
}

int sheets_read(struct sheets *b, const struct json *state)
{
    b->title = json_str(json_get(state, "title"), STR(""));
    int r = read_book_sheets(b, json_get(state, "sheets"));
    r = r < 0 ? r : read_book_cells(b, json_get(state, "cells"));
    return r < 0 ? r : read_features(b, json_get(state, "features"));
}

static void write_cell_json(struct jw *w, size_t sheet, const struct cell *c)
{
    jw_array(w);
    jw_int(w, (int64_t)sheet);
    jw_int(w, c->row);
    jw_int(w, c->col);
    if (c->formula.p)
        jw_str(w, c->formula);
    else
        jw_null(w);
    formula_value_write(w, &c->value);
    jw_str(w, c->format);
    jw_end(w);
}

static void write_sheets_end(struct jw *w, uint32_t end)
{
    if (end == A1_OPEN)
        jw_null(w);
    else
        jw_int(w, end);
}

static void write_feature(struct jw *w, size_t sheet, const struct feature *f)
{
    jw_array(w);
    jw_int(w, (int64_t)sheet);
    jw_str(w, f->kind);
    jw_int(w, f->range.row0);
    jw_int(w, f->range.col0);
    write_sheets_end(w, f->range.row1);
    write_sheets_end(w, f->range.col1);
    jw_value(w, f->body);
    jw_end(w);
}

void sheets_write(struct jw *w, const struct sheets *b)
{
    jw_key(w, "title");
    jw_str(w, b->title);
    jw_key(w, "sheets");
    jw_array(w);
    for (size_t i = 0; i < b->n_sheets; i++) {
        jw_array(w);
        jw_int(w, b->sheets[i]->id);
        jw_str(w, b->sheets[i]->title);
        jw_int(w, b->sheets[i]->rows);
        jw_int(w, b->sheets[i]->cols);
        jw_end(w);
    }
    jw_end(w);
    jw_key(w, "cells");
    jw_array(w);
    for (size_t i = 0; i < b->n_sheets; i++) {
        sheets_compact(b->sheets[i]);
        for (size_t k = 0; k < b->sheets[i]->n_cells; k++)
            write_cell_json(w, i, &b->sheets[i]->cells[k]);
    }
    jw_end(w);
    jw_key(w, "features");
    jw_array(w);
    for (size_t i = 0; i < b->n_sheets; i++) {
        for (size_t k = 0; k < b->sheets[i]->n_features; k++)
            write_feature(w, i, &b->sheets[i]->features[k]);
    }
    jw_end(w);
}
