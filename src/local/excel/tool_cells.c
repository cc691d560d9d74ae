/* SPDX-License-Identifier: MIT */
/* The server "excel": contents of cells. */
#include <errno.h>

#include "base/cleanup.h"
#include "local/excel/excel.h"

/* ---- formulas ---- */

/* Letters, then digits, nothing else. */
static bool is_cell_name(struct str s)
{
    struct ref at;

    return str_chr(s, '$') < 0 && ref_parse(s, &at);
}

/* What is wrong with a formula; .p is NULL when nothing is. */
static struct str formula_fault(struct arena *a, struct str formula)
{
    static const char *const unsafe[] = {"INDIRECT", "HYPERLINK", "WEBSERVICE", "DGET", "RTD"};
    int depth = 0;

    if (!str_starts(formula, STR("=")))
        return STR("Formula must start with '='");
    for (size_t i = 1, word = 1; i < formula.len; i++) {
        char c = formula.p[i];
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth < 0)
            return STR("Unmatched closing parenthesis");
        for (size_t k = 0; c == '(' && k < ARRAY_LEN(unsafe); k++) {
            if (str_is(str_slice(formula, word, i), unsafe[k]))
                return arena_printf(a, "Unsafe function: %s", unsafe[k]);
        }
        if (c < 'A' || c > 'Z')
            word = i + 1;
    }
    return depth > 0 ? STR("Unclosed parenthesis") : STR_NULL;
}

/* Opens the sheet and checks the arguments; false when the call has its answer. */
static bool check_formula(struct local_call *c, struct excel *x, struct str formula)
{
    struct str cell = local_str(c, "cell");

    if (!excel_open_sheet(c, x))
        return false;
    if (!is_cell_name(cell)) {
        excel_error(c, "Invalid cell reference: " STR_FMT, STR_ARG(cell));
        return false;
    }
    struct str fault = formula_fault(&c->arena, formula);
    if (fault.p)
        excel_error(c, "Invalid formula syntax: " STR_FMT, STR_ARG(fault));
    return !fault.p;
}

void excel_apply_formula(struct local_call *c)
{
    struct str formula = local_str(c, "formula"), cell = local_str(c, "cell");
    struct err e = ERR_INIT;
    struct excel x;
    struct ref at;

    if (!check_formula(c, &x, formula) || !ref_parse(cell, &at))
        return;
    if (sheet_edit(&x.book, x.sheet, &e) < 0) {
        excel_error(c, "%s", err_text(&e));
        return;
    }
    if (excel_is_merged(x.sheet, at)) {
        excel_error(c, "Failed to apply formula to cell: 'MergedCell' object attribute 'value' is "
                       "read-only");
        return;
    }
    cell_set(&x.book, x.sheet, sheet_need_cell(&x.book, x.sheet, at), value_text(formula));
    excel_savef(&x, "Applied formula '" STR_FMT "' to cell " STR_FMT, STR_ARG(formula),
                STR_ARG(cell));
}

void excel_validate_formula_syntax(struct local_call *c)
{
    struct str formula = local_str(c, "formula");
    struct excel x;
    struct ref at;

    if (!check_formula(c, &x, formula) || !ref_parse(local_str(c, "cell"), &at))
        return;
    struct value v = cell_value(&x.book, x.sheet, sheet_cell(x.sheet, at));
    if (v.kind != VALUE_TEXT || !str_starts(v.text, STR("=")))
        local_text(c, STR("Formula is valid but cell contains no formula"));
    else if (str_eq(v.text, formula))
        local_text(c, STR("Formula is valid and matches cell content"));
    else
        local_text(c, STR("Formula is valid but doesn't match cell content"));
}

/* ---- reading ---- */

static bool read_excel_end(struct local_call *c, const char *what, struct str given,
                           struct ref *ret)
{
    if (ref_read(given, ret) > 0)
        return true;
    excel_raise(c, "Invalid %s cell format: Invalid cell reference: " STR_FMT, what,
                STR_ARG(given));
    return false;
}

/* The range that is asked for; false when the call has its answer. */
static bool read_excel_range(struct local_call *c, struct sheet *s, struct range *ret)
{
    struct str start = local_str(c, "start_cell"), end = excel_arg(c, "end_cell");
    struct range used = sheet_used(s);
    struct ref a, b = {used.row2, used.col2};

    if (start.len == 0)
        start = STR("A1");
    struct str first = start;
    struct str left = str_cut(&first, ':');
    if (first.p) {
        start = left;
        end = first;
    }
    if (!read_excel_end(c, "start", start, &a) ||
        (end.len > 0 && !read_excel_end(c, "end", end, &b)))
        return false;
    if (end.len == 0 && str_is(start, "A1"))
        a = (struct ref){used.row, used.col};
    if (a.row > used.row2 || a.col > used.col2 || a.row > b.row || a.col > b.col) {
        local_text(c, STR("No data found in specified range"));
        return false;
    }
    *ret = (struct range){a.row, a.col, b.row, b.col};
    return excel_check_size(c, *ret);
}

static void write_cell(struct excel *x, struct ref at, const struct xml *cell, struct buf *out)
{
    struct str address = ref_text(&x->call->arena, at);

    (void)buf_printf(
        out, "    {\n      \"address\": \"" STR_FMT "\",\n      \"value\": ", STR_ARG(address));
    value_json(out, cell_value(&x->book, x->sheet, cell));
    (void)buf_printf(out,
                     ",\n      \"row\": %u,\n      \"column\": %u,\n      \"validation\": ", at.row,
                     at.col);
    excel_write_rule(x, at, out);
    (void)buf_add_lit(out, "\n    }");
}

void excel_read_data(struct local_call *c)
{
    auto_buf struct buf out = BUF_INIT(LOCAL_ANSWER_MAX / 2);
    struct str name = local_str(c, "sheet_name");
    struct err e = ERR_INIT;
    struct excel x = {.call = c, .path = excel_path(c)};
    struct range r;

    if (!x.path)
        return;
    if (book_open(&x.book, &c->arena, x.path, &e) < 0) {
        excel_raise(c, "%s", err_text(&e));
        return;
    }
    x.sheet = book_sheet(&x.book, name);
    if (!x.sheet) {
        excel_raise(c, "Sheet '" STR_FMT "' not found", STR_ARG(name));
        return;
    }
    if (sheet_load(&x.book, x.sheet, &e) < 0) {
        excel_raise(c, "%s", err_text(&e));
        return;
    }
    if (!read_excel_range(c, x.sheet, &r))
        return;
    (void)buf_printf(&out, "{\n  \"range\": \"" STR_FMT "\",\n  \"sheet_name\": ",
                     STR_ARG(range_text(&c->arena, r)));
    python_json_str(&out, name);
    (void)buf_add_lit(&out, ",\n  \"cells\": [\n");
    for (struct ref at = {r.row, r.col}; at.row <= r.row2; at.row++) {
        for (at.col = r.col; at.col <= r.col2 && buf_ok(&out); at.col++) {
            bool is_first = at.row == r.row && at.col == r.col;
            (void)buf_add_str(&out, is_first ? STR("") : STR(",\n"));
            write_cell(&x, at, sheet_cell(x.sheet, at), &out);
        }
    }
    (void)buf_add_lit(&out, "\n  ]\n}");
    if (buf_ok(&out))
        local_text(c, buf_str(&out));
    else
        excel_raise(c, "The data is larger than %d MiB", LOCAL_ANSWER_MAX >> 21);
}

/* ---- writing ---- */

static bool has_bad_character(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        if (ch < 0x20 && ch != '\t' && ch != '\n' && ch != '\r')
            return true;
    }
    return false;
}

/* V as a value of a cell; false with an answer when it can be none. */
static bool excel_value_of(struct local_call *c, const struct json *v, struct value *ret)
{
    auto_buf struct buf text = BUF_INIT(4096);

    *ret = (struct value){.kind = VALUE_NONE};
    if (json_is(v, JSON_ARRAY) || json_is(v, JSON_OBJECT)) {
        (void)json_write(&text, v, JSON_COMPACT);
        excel_error(c, "Cannot convert " STR_FMT " to Excel", STR_ARG(buf_str(&text)));
        return false;
    }
    if (json_is(v, JSON_STRING)) {
        *ret = value_text(v->s);
        if (has_bad_character(v->s))
            excel_error(c, STR_FMT " cannot be used in worksheets.", STR_ARG(v->s));
        return !has_bad_character(v->s);
    }
    if (json_is(v, JSON_BOOL))
        *ret = (struct value){.kind = VALUE_BOOL, .i = v->b};
    else if (json_is(v, JSON_INT))
        *ret = (struct value){.kind = VALUE_INT, .i = v->i};
    else if (json_is(v, JSON_REAL))
        *ret = (struct value){.kind = VALUE_REAL, .d = v->d};
    return true;
}

static bool write_excel_row(struct excel *x, struct ref at, const struct json *row)
{
    struct value v;

    for (size_t i = 0; i < row->n; i++, at.col++) {
        if (at.row > REF_ROWS_MAX || at.col > REF_COLS_MAX) {
            excel_error(x->call, "Row or column values must be at least 1 and inside the sheet");
            return false;
        }
        if (!excel_value_of(x->call, json_at(row, i), &v))
            return false;
        if (v.kind != VALUE_NONE && excel_is_merged(x->sheet, at)) {
            excel_error(x->call, "'MergedCell' object attribute 'value' is read-only");
            return false;
        }
        cell_set(&x->book, x->sheet, sheet_need_cell(&x->book, x->sheet, at), v);
    }
    return true;
}

void excel_write_data(struct local_call *c)
{
    const struct json *data = json_get(c->args, "data");
    struct str name = local_str(c, "sheet_name"), start = local_str(c, "start_cell");
    struct err e = ERR_INIT;
    struct excel x;
    struct ref at;

    if (!data || data->n == 0) {
        excel_error(c, "No data provided to write");
        return;
    }
    if (!excel_open(c, &x))
        return;
    if (ref_read(start.len > 0 ? start : STR("A1"), &at) == 0) {
        excel_error(c, "Invalid start cell format: Invalid cell reference: " STR_FMT,
                    STR_ARG(start));
        return;
    }
    if (name.len == 0)
        name = x.book.sheets[0]->name;
    x.sheet = book_sheet(&x.book, name);
    if (!x.sheet)
        x.sheet = book_add_sheet(&x.book, name, &e);
    if (!x.sheet || sheet_edit(&x.book, x.sheet, &e) < 0) {
        excel_error(c, "%s", err_text(&e));
        return;
    }
    for (size_t i = 0; i < data->n; i++, at.row++) {
        if (!write_excel_row(&x, at, json_at(data, i)))
            return;
    }
    excel_savef(&x, "Data written to " STR_FMT, STR_ARG(name));
}

/* ---- ranges ---- */

/* Where the cells A to B leave what is used; .p is NULL when they do not. */
static struct str bounds_fault(struct arena *a, struct range used, struct ref from, struct ref to)
{
    char letters[4], last[4];

    ref_letters(used.col2, last);
    if (from.row > used.row2)
        return arena_printf(a, "Start row %u out of bounds (1-%u)", from.row, used.row2);
    if (from.col > used.col2) {
        ref_letters(from.col, letters);
        return arena_printf(a, "Start column %s out of bounds (A-%s)", letters, last);
    }
    if (to.row < from.row)
        return STR("End row cannot be before start row");
    if (to.col < from.col)
        return STR("End column cannot be before start column");
    if (to.row > used.row2)
        return arena_printf(a, "End row %u out of bounds (1-%u)", to.row, used.row2);
    if (to.col <= used.col2)
        return STR_NULL;
    ref_letters(to.col, letters);
    return arena_printf(a, "End column %s out of bounds (A-%s)", letters, last);
}

void excel_validate_range(struct local_call *c)
{
    struct str start = local_str(c, "start_cell"), end = excel_arg(c, "end_cell");
    struct excel x;
    struct range r;
    struct ref from, to;

    if (!excel_open_sheet(c, &x))
        return;
    if (!excel_take_range(c, "start_cell", "end_cell", "Invalid range: ", &r))
        return;
    struct range used = sheet_used(x.sheet);
    (void)ref_read(start, &from);
    if (end.len == 0 || ref_read(end, &to) == 0)
        to = from;
    struct str fault = bounds_fault(&c->arena, used, from, to);
    used.row = used.col = 1;
    if (fault.p)
        excel_error(c, STR_FMT, STR_ARG(fault));
    else
        local_textf(c,
                    "Range '" STR_FMT "%s" STR_FMT "' is valid. Sheet contains data in range "
                    "'" STR_FMT "'",
                    STR_ARG(start), end.len > 0 ? ":" : "", STR_ARG(end),
                    STR_ARG(range_text(&c->arena, used)));
}
