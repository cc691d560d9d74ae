/* SPDX-License-Identifier: MIT */
/* Functions of scripts for cells of spreadsheets. A value is a type, an SQL value and a look, see
 * apps/formula/json.h. */
#include <errno.h>

#include "apps/formula/book.h"
#include "apps/formula/json.h"
#include "apps/functions/functions.h"
#include "base/json.h"

enum { BOOK_ARENA_MAX = 256 << 20, BOOK_MAX_CHANGED = 1000 };

/* ---- values ---- */

static struct formula_value cell_value_of(sqlite3_value **v)
{
    struct json type = {.type = JSON_STRING, .s = fn_text(v[0])};
    struct json look = {.type = JSON_STRING, .s = fn_text(v[2])};
    struct json value = {.type = JSON_NULL};

    switch (sqlite3_value_type(v[1])) {
    case SQLITE_INTEGER:
        value = (struct json){.type = JSON_INT, .i = sqlite3_value_int64(v[1])};
        break;
    case SQLITE_FLOAT:
        value = (struct json){.type = JSON_REAL, .d = sqlite3_value_double(v[1])};
        break;
    case SQLITE_TEXT: value = (struct json){.type = JSON_STRING, .s = fn_text(v[1])}; break;
    default: break;
    }
    return formula_value_read(&type, &value, &look);
}

/* cell_show(type, value, look, format): as the cell shows it. */
static void fn_formula_show(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct formula_value value = cell_value_of(v);

    (void)n;
    formula_show(&b, &value, fn_text(v[3]));
    fn_give(x, &b);
}

/* cell_enter(text): what a person who types it means: {"formula", "format", "value": [type, value,
 * look]}; the formula is null when it is none. */
static void fn_enter(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct str text = fn_text(v[0]);
    struct formula_entry entry = {.format = ""};
    bool is_formula = text.len > 1 && text.p[0] == '=';

    (void)n;
    if (!is_formula)
        formula_enter(text, &entry);
    struct jw w = jw_to(&b);
    jw_object(&w);
    jw_key(&w, "formula");
    if (is_formula)
        jw_str(&w, text);
    else
        jw_null(&w);
    jw_key(&w, "format");
    jw_cstr(&w, entry.format);
    jw_key(&w, "value");
    jw_array(&w);
    formula_value_write(&w, &entry.value);
    jw_end(&w);
    jw_end(&w);
    fn_give_json(x, &b);
}

/* ---- books ---- */

/* Days since 1899-12-30. */
static double serial_of(int64_t ms)
{
    return (double)ms / 86400000.0 + 25569;
}

static int read_formula_sheets(struct arena *a, const struct json *in, struct formula_book *b)
{
    struct formula_sheet *sheets = arena_zalloc(a, in->n + 1, sizeof *sheets);

    if (!sheets)
        return -ENOMEM;
    for (size_t i = 0; i < in->n; i++) {
        const struct json *s = json_at(in, i);
        sheets[i].title = json_str(json_at(s, 0), STR(""));
        sheets[i].rows = (uint32_t)json_int(json_at(s, 1), 0);
        sheets[i].cols = (uint32_t)json_int(json_at(s, 2), 0);
    }
    b->sheets = sheets;
    b->n_sheets = in->n;
    return 0;
}

static bool read_place(const struct json *in, size_t n_sheets, struct formula_place *ret)
{
    int64_t sheet = json_int(json_at(in, 0), -1), row = json_int(json_at(in, 1), -1);
    int64_t col = json_int(json_at(in, 2), -1);

    *ret = (struct formula_place){(int)sheet, (uint32_t)row, (uint32_t)col};
    return sheet >= 0 && (uint64_t)sheet < n_sheets && row >= 0 && row < A1_MAX_ROWS && col >= 0 &&
           col < A1_MAX_COLUMNS;
}

/* [sheet, row, column, formula, type, value, look, is_spilled] */
static int read_formula_cells(const struct json *in, struct formula_book *b)
{
    for (size_t i = 0; i < in->n; i++) {
        const struct json *c = json_at(in, i);
        struct formula_cell *to = &b->cells[b->n_cells++];
        if (!read_place(c, b->n_sheets, &to->at))
            return -EINVAL;
        to->formula = json_str(json_at(c, 3), STR_NULL);
        to->value = formula_value_read(json_at(c, 4), json_at(c, 5), json_at(c, 6));
        to->is_spilled = json_int(json_at(c, 7), 0) != 0;
    }
    return 0;
}

/* Marks the places that were changed; where there is no cell any more, formulas may read it. */
static int read_formula_changes(const struct json *in, struct formula_book *b)
{
    struct formula_place at;

    for (size_t i = 0; in && i < in->n; i++) {
        size_t k = 0;
        if (!read_place(json_at(in, i), b->n_sheets, &at))
            return -EINVAL;
        while (k < b->n_cells && (b->cells[k].at.sheet != at.sheet ||
                                  b->cells[k].at.row != at.row || b->cells[k].at.col != at.col))
            k++;
        if (k == b->n_cells)
            b->cells[b->n_cells++].at = at;
        b->cells[k].is_changed = true;
    }
    return 0;
}

static int read_book(struct arena *a, const struct json *options, const struct json *sheets,
                     const struct json *cells, struct formula_book *b)
{
    const struct json *changed = json_get(options, "changed");

    if (!json_is(options, JSON_OBJECT) || !json_is(sheets, JSON_ARRAY) ||
        !json_is(cells, JSON_ARRAY) || (changed && !json_is(changed, JSON_ARRAY)))
        return -EINVAL;
    size_t n_changed = changed ? changed->n : 0;
    if (cells->n > FORMULA_BOOK_MAX_CELLS || n_changed > BOOK_MAX_CHANGED)
        return -E2BIG;
    *b = (struct formula_book){.arena = a,
                               .now = serial_of(json_int(json_get(options, "now_ms"), 0)),
                               .seed = (uint64_t)json_int(json_get(options, "seed"), 0),
                               .is_new = !changed};
    b->cells = arena_zalloc(a, cells->n + n_changed + 1, sizeof *b->cells);
    int r = b->cells ? read_formula_sheets(a, sheets, b) : -ENOMEM;
    r = r < 0 ? r : read_formula_cells(cells, b);
    return r < 0 ? r : read_formula_changes(changed, b);
}

/* The changed cells: [[sheet, row, column, type, value, look, is_spilled], …] */
static void write_book(struct buf *out, const struct formula_book *b)
{
    struct jw w = jw_to(out);

    jw_array(&w);
    for (size_t i = 0; i < b->n_cells; i++) {
        const struct formula_cell *c = &b->cells[i];
        if (!c->is_changed)
            continue;
        jw_array(&w);
        jw_int(&w, c->at.sheet);
        jw_int(&w, c->at.row);
        jw_int(&w, c->at.col);
        formula_value_write(&w, &c->value);
        jw_int(&w, c->is_spilled);
        jw_end(&w);
    }
    jw_end(&w);
}

/* book_calculate(options, sheets, cells): what is different after the calculation. Options:
 * {"now_ms", "seed", "changed": [[sheet, row, column], …]}, without changed everything is new;
 * sheets: [[title, rows, columns], …]. */
static void fn_calculate(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    const struct json *in[3];
    struct formula_book book;
    struct err e = ERR_INIT;

    (void)n;
    arena_init(&arena, BOOK_ARENA_MAX);
    for (size_t i = 0; i < ARRAY_LEN(in); i++)
        in[i] = json_parse(&arena, fn_text(v[i]), NULL, &e);
    int r = e.code ? e.code : read_book(&arena, in[0], in[1], in[2], &book);
    r = r < 0 ? r : formula_book_calculate(&book);
    if (r == 0) {
        write_book(&b, &book);
        fn_give_json(x, &b);
        return;
    }
    sqlite3_result_error(
        x, r == -EINVAL ? "book_calculate: not a book" : "book_calculate: too large", -1);
}

const struct sql_function functions_formula[] = {
    {"cell_show", 4, SQLITE_DETERMINISTIC, fn_formula_show},
    {"cell_enter", 1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_enter},
    {"book_calculate", 3, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_calculate},
    {NULL, 0, 0, NULL},
};
