/* SPDX-License-Identifier: MIT */
/* Requests that change what is in an area: copies, order, search and replacement. */
#include <errno.h>
#include <stdlib.h>

#include "apps/products/sheets/sheets_internal.h"
#include "base/ascii.h"

static int reply_count(struct sheets *b, const char *name, int64_t n)
{
    struct json *body = json_get(b->reply, b->name);

    if (!body) {
        struct json *made = json_new_object(b->arena);
        if (!made || json_set(b->arena, b->reply, b->name, made) < 0)
            return sheets_no_memory(b);
        body = json_get(b->reply, b->name);
    }
    return n == 0 || json_set(b->arena, body, name, json_new_int(b->arena, n)) == 0
               ? 0
               : sheets_no_memory(b);
}

/* The cells of R, copied; *ret_n of them. */
static struct cell *take_cells(struct sheets *b, const struct sheet *s, const struct range *r,
                               size_t *ret_n)
{
    struct cell *list = arena_zalloc(b->arena, s->n_cells + 1, sizeof *list);

    *ret_n = 0;
    for (size_t i = 0; list && i < s->n_cells; i++) {
        if (grid_has(r, s->cells[i].row, s->cells[i].col))
            list[(*ret_n)++] = s->cells[i];
    }
    if (!list)
        (void)sheets_no_memory(b);
    return list;
}

static void clear_range(struct sheet *s, const struct range *r)
{
    for (size_t i = 0; i < s->n_cells; i++) {
        if (grid_has(r, s->cells[i].row, s->cells[i].col))
            sheets_clear(&s->cells[i]);
    }
    sheets_compact(s);
}

/* ---- copies ---- */

struct paste {
    struct sheet *from, *to;
    struct range source, target;
    bool has_values, has_formulas, has_looks;
    struct cell *cells;
    size_t n_cells;
};

static int paste_cell(struct sheets *b, const struct paste *p, const struct cell *from,
                      int64_t rows, int64_t cols)
{
    struct formula_edit edit = {.kind = FORMULA_EDIT_SHIFT, .rows = rows, .cols = cols};
    struct cell *c =
        sheets_put(b, p->to, (uint32_t)(from->row + rows), (uint32_t)(from->col + cols));

    if (!c)
        return -ENOMEM;
    c->value = from->value;
    c->formula = p->has_formulas ? from->formula : STR_NULL;
    c->format = p->has_looks ? from->format : c->format;
    return sheets_edit_cell(b, c, p->to->title, &edit);
}

/* What the source looks like, at its new place. */
static int paste_looks(struct sheets *b, const struct paste *p, int64_t rows, int64_t cols)
{
    size_t n = p->from->n_features;

    for (size_t i = 0; i < n; i++) {
        struct feature f = p->from->features[i];
        struct range r = grid_close(p->from, f.range);
        if ((!str_is(f.kind, "cell") && !str_is(f.kind, "pattern")) || !grid_meets(&r, &p->source))
            continue;
        f.range.row0 = (uint32_t)((r.row0 > p->source.row0 ? r.row0 : p->source.row0) + rows);
        f.range.col0 = (uint32_t)((r.col0 > p->source.col0 ? r.col0 : p->source.col0) + cols);
        f.range.row1 = (uint32_t)((r.row1 < p->source.row1 ? r.row1 : p->source.row1) + rows);
        f.range.col1 = (uint32_t)((r.col1 < p->source.col1 ? r.col1 : p->source.col1) + cols);
        if (!sheets_add_feature(b, p->to, f))
            return -EINVAL;
    }
    return 0;
}

/* Once, with its first cell ROWS below and COLS to the right of the source's. */
static int paste_tile(struct sheets *b, const struct paste *p, int64_t rows, int64_t cols)
{
    int r = p->has_looks ? paste_looks(b, p, rows, cols) : 0;

    for (size_t i = 0; r == 0 && p->has_values && i < p->n_cells; i++)
        r = paste_cell(b, p, &p->cells[i], rows, cols);
    return r;
}

static int read_paste_type(struct sheets *b, const struct json *body, struct paste *p)
{
    static const struct {
        const char *name;
        bool has_values, has_formulas, has_looks;
    } types[] = {
        {"PASTE_NORMAL", true, true, true},   {"PASTE_NO_BORDERS", true, true, true},
        {"PASTE_VALUES", true, false, false}, {"PASTE_FORMULA", true, true, false},
        {"PASTE_FORMAT", false, false, true},
    };
    struct str type = json_str(json_get(body, "pasteType"), STR("PASTE_NORMAL"));

    if (!str_is(json_str(json_get(body, "pasteOrientation"), STR("NORMAL")), "NORMAL"))
        return sheets_fail(b, "pasteOrientation TRANSPOSE is not supported here");
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (!str_is(type, types[i].name))
            continue;
        p->has_values = types[i].has_values;
        p->has_formulas = types[i].has_formulas;
        p->has_looks = types[i].has_looks;
        return 0;
    }
    return sheets_fail(b, "pasteType " STR_FMT " is not supported here", STR_ARG(type));
}

/* A target that is larger is filled as often as the source fits into it, at least once. */
static int copy_paste(struct sheets *b, const struct json *body)
{
    struct paste p = {0};

    p.from = grid_range(b, json_get(body, "source"), &p.source);
    p.to = p.from ? grid_range(b, json_get(body, "destination"), &p.target) : NULL;
    int r = p.to ? read_paste_type(b, body, &p) : -EINVAL;
    if (r < 0)
        return r;
    p.source = grid_close(p.from, p.source);
    p.target = grid_close(p.to, p.target);
    uint32_t rows = p.source.row1 - p.source.row0, cols = p.source.col1 - p.source.col0;
    uint32_t down = (p.target.row1 - p.target.row0) / rows;
    uint32_t right = (p.target.col1 - p.target.col0) / cols;
    down += down == 0;
    right += right == 0;
    p.target.row1 = p.target.row0 + down * rows;
    p.target.col1 = p.target.col0 + right * cols;
    if (p.target.row1 > p.to->rows || p.target.col1 > p.to->cols)
        return sheets_fail(b,
                           "The destination is outside the grid, which has %u rows and %u "
                           "columns.",
                           p.to->rows, p.to->cols);
    if ((uint64_t)down * right * rows * cols > SHEETS_MAX_FILL)
        return sheets_fail(b, "no more than %d cells can be written at once here", SHEETS_MAX_FILL);
    p.cells = take_cells(b, p.from, &p.source, &p.n_cells);
    if (!p.cells)
        return -ENOMEM;
    if (p.has_values)
        clear_range(p.to, &p.target);
    for (uint32_t i = 0; r == 0 && i < down * right; i++)
        r = paste_tile(b, &p, (int64_t)p.target.row0 + (int64_t)(i / right) * rows - p.source.row0,
                       (int64_t)p.target.col0 + (int64_t)(i % right) * cols - p.source.col0);
    return r;
}

/* Lines of texts between delimiters, each as if it was typed. */
static int paste_data(struct sheets *b, const struct json *body)
{
    struct str data = json_str(json_get(body, "data"), STR(""));
    struct str delimiter = json_str(json_get(body, "delimiter"), STR(""));
    uint32_t row, col;
    struct sheet *s = grid_place(b, json_get(body, "coordinate"), &row, &col);

    if (!s)
        return -EINVAL;
    if (delimiter.len != 1 || json_bool(json_get(body, "html"), false))
        return sheets_fail(b, "a delimiter of one character is required here");
    for (; data.p; row++) {
        struct str line = str_cut(&data, '\n');
        line.len -= line.len > 0 && line.p[line.len - 1] == '\r';
        if (line.len == 0 && !data.p)
            break;
        for (uint32_t at = col; line.p; at++) {
            if (row >= s->rows || at >= s->cols)
                return sheets_fail(b,
                                   "The data does not fit into the grid, which has %u rows and "
                                   "%u columns.",
                                   s->rows, s->cols);
            struct cell *c = sheets_put(b, s, row, at);
            if (!c)
                return -ENOMEM;
            int r = sheets_type(b, c, str_cut(&line, delimiter.p[0]));
            if (r < 0)
                return r;
        }
    }
    sheets_compact(s);
    return 0;
}

/* ---- rows in another order ---- */

/* The cells of a row of R: values[i] is of column i, NULL when it is blank. */
struct sheets_line {
    uint32_t row;
    const struct cell **values;
    const struct json *specs;
    uint32_t col0;
};

static int type_rank(const struct cell *c)
{
    static const int ranks[] = {
        [FORMULA_NUMBER] = 0, [FORMULA_TEXT] = 1, [FORMULA_BOOL] = 2, [FORMULA_ERROR] = 3};

    return c && c->value.type != FORMULA_BLANK && c->value.type <= FORMULA_ERROR
               ? ranks[c->value.type]
               : 4;
}

static int text_cmp(struct str a, struct str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        int d = (unsigned char)ascii_lower(a.p[i]) - (unsigned char)ascii_lower(b.p[i]);
        if (d != 0)
            return d;
    }
    return (a.len > b.len) - (a.len < b.len);
}

static int value_cmp(const struct cell *a, const struct cell *b)
{
    int d = type_rank(a) - type_rank(b);

    if (d != 0 || type_rank(a) == 4)
        return d;
    if (a->value.type == FORMULA_NUMBER)
        return (a->value.number > b->value.number) - (a->value.number < b->value.number);
    if (a->value.type == FORMULA_TEXT)
        return text_cmp(a->value.text, b->value.text);
    if (a->value.type == FORMULA_BOOL)
        return a->value.flag - b->value.flag;
    return 0;
}

/* Blank cells are the last ones in either order. */
static int line_cmp(const void *p, const void *q)
{
    const struct sheets_line *a = p, *b = q;

    for (size_t i = 0; i < a->specs->n; i++) {
        const struct json *spec = json_at(a->specs, i);
        uint32_t col = (uint32_t)json_int(json_get(spec, "dimensionIndex"), 0) - a->col0;
        bool is_down = str_is(json_str(json_get(spec, "sortOrder"), STR("")), "DESCENDING");
        bool is_blank = type_rank(a->values[col]) == 4 || type_rank(b->values[col]) == 4;
        int d = value_cmp(a->values[col], b->values[col]);
        if (d != 0)
            return is_down && !is_blank ? -d : d;
    }
    return (a->row > b->row) - (a->row < b->row);
}

/* R without the rows below the last one that has something in it. */
static struct range cut_blank(const struct sheet *s, struct range r)
{
    uint32_t end = r.row0 + 1;

    for (size_t i = 0; i < s->n_cells; i++) {
        if (grid_has(&r, s->cells[i].row, s->cells[i].col) && s->cells[i].row >= end)
            end = s->cells[i].row + 1;
    }
    r.row1 = end;
    return r;
}

/* The rows of R, with their cells. */
static struct sheets_line *take_range_rows(struct sheets *b, const struct sheet *s,
                                           const struct range *r)
{
    uint32_t rows = r->row1 - r->row0, cols = r->col1 - r->col0;
    struct sheets_line *lines = arena_zalloc(b->arena, rows, sizeof *lines);
    const struct cell **values =
        (uint64_t)rows * cols > SHEETS_MAX_GRID
            ? NULL
            : arena_zalloc(b->arena, (size_t)rows * cols, sizeof(struct cell *));
    size_t n;
    struct cell *cells = take_cells(b, s, r, &n);

    if (!lines || !values || !cells) {
        (void)sheets_no_memory(b);
        return NULL;
    }
    for (uint32_t i = 0; i < rows; i++)
        lines[i] = (struct sheets_line){r->row0 + i, values + (size_t)i * cols, NULL, r->col0};
    for (size_t i = 0; i < n; i++)
        lines[cells[i].row - r->row0].values[cells[i].col - r->col0] = &cells[i];
    return lines;
}

/* LINES, N of them, are what R has from its first row on. */
static int put_sorted_lines(struct sheets *b, struct sheet *s, const struct range *r,
                            const struct sheets_line *lines, uint32_t n)
{
    int done = 0;

    clear_range(s, r);
    for (uint32_t i = 0; i < n; i++) {
        struct formula_edit edit = {.kind = FORMULA_EDIT_SHIFT,
                                    .rows = (int64_t)r->row0 + i - lines[i].row};
        for (uint32_t k = 0; done == 0 && k < r->col1 - r->col0; k++) {
            const struct cell *from = lines[i].values[k];
            struct cell *c = from ? sheets_put(b, s, r->row0 + i, r->col0 + k) : NULL;
            if (!from)
                continue;
            if (!c)
                return -ENOMEM;
            c->value = from->value;
            c->formula = from->formula;
            c->format = from->format;
            done = sheets_edit_cell(b, c, s->title, &edit);
        }
    }
    return done;
}

static int sort_range(struct sheets *b, const struct json *body)
{
    const struct json *specs = json_get(body, "sortSpecs");
    struct range r;
    struct sheet *s = grid_range(b, json_get(body, "range"), &r);

    if (!s)
        return -EINVAL;
    r = cut_blank(s, grid_close(s, r));
    if (!json_is(specs, JSON_ARRAY) || specs->n == 0)
        return sheets_fail(b, "At least one sort spec is required.");
    for (size_t i = 0; i < specs->n; i++) {
        int64_t col = json_int(json_get(json_at(specs, i), "dimensionIndex"), 0);
        if (col < r.col0 || col >= r.col1)
            return sheets_fail(b, "dimensionIndex %lld is not within the range.", (long long)col);
    }
    struct sheets_line *lines = take_range_rows(b, s, &r);
    if (!lines)
        return -ENOMEM;
    for (uint32_t i = 0; i < r.row1 - r.row0; i++)
        lines[i].specs = specs;
    qsort(lines, r.row1 - r.row0, sizeof *lines, line_cmp);
    return put_sorted_lines(b, s, &r, lines, r.row1 - r.row0);
}

/* The same in the columns of SPECS; a row without values is like no other. */
static bool is_same_line(const struct sheets_line *a, const struct sheets_line *b)
{
    bool is_same = true, has_value = false;

    for (size_t i = 0; i < a->specs->n; i++) {
        uint32_t k =
            (uint32_t)json_int(json_get(json_at(a->specs, i), "dimensionIndex"), 0) - a->col0;
        is_same = is_same && value_cmp(a->values[k], b->values[k]) == 0;
        has_value = has_value || a->values[k];
    }
    return is_same && has_value;
}

/* Specs that sort by the columns from FROM to TO; NULL: b failed. */
static struct json *new_specs(struct sheets *b, uint32_t from, uint32_t to)
{
    struct json *specs = json_new_array(b->arena);

    for (; specs && from < to; from++) {
        struct json *spec = json_new_object(b->arena);
        if (!spec || json_set(b->arena, spec, "dimensionIndex", json_new_int(b->arena, from)) < 0 ||
            json_push(b->arena, specs, spec) < 0)
            specs = NULL;
    }
    if (!specs)
        (void)sheets_no_memory(b);
    return specs;
}

/* Which columns of R are compared. */
static struct json *read_columns(struct sheets *b, const struct json *columns,
                                 const struct range *r)
{
    const struct json *one = json_at(columns, 0);
    int64_t from = json_int(json_get(one, "startIndex"), r->col0);
    int64_t to = json_int(json_get(one, "endIndex"), r->col1);

    if (columns && columns->n > 1)
        (void)sheets_fail(b, "no more than one of comparisonColumns is supported here");
    else if (from < r->col0 || to > r->col1 || from >= to)
        (void)sheets_fail(b, "comparisonColumns are not within the range.");
    else
        return new_specs(b, (uint32_t)from, (uint32_t)to);
    return NULL;
}

/* Takes out of N LINES those that are the same as one before; how many are left, or -ENOMEM. */
static int64_t drop_same(struct sheets *b, struct sheets_line *lines, uint32_t n)
{
    struct sheets_line *sorted = arena_zalloc(b->arena, n, sizeof *sorted);
    bool *is_same = arena_zalloc(b->arena, n, sizeof *is_same);
    uint32_t first = lines[0].row, left = 0;

    if (!sorted || !is_same)
        return sheets_no_memory(b);
    memcpy(sorted, lines, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, line_cmp);
    for (uint32_t i = 1; i < n; i++)
        is_same[sorted[i].row - first] = is_same_line(&sorted[i - 1], &sorted[i]);
    for (uint32_t i = 0; i < n; i++) {
        if (!is_same[i])
            lines[left++] = lines[i];
    }
    return left;
}

static int delete_duplicates(struct sheets *b, const struct json *body)
{
    struct range r;
    struct sheet *s = grid_range(b, json_get(body, "range"), &r);

    if (!s)
        return -EINVAL;
    r = cut_blank(s, grid_close(s, r));
    struct json *specs = read_columns(b, json_get(body, "comparisonColumns"), &r);
    struct sheets_line *lines = specs ? take_range_rows(b, s, &r) : NULL;
    uint32_t n = r.row1 - r.row0;
    if (!lines)
        return -EINVAL;
    for (uint32_t i = 0; i < n; i++)
        lines[i].specs = specs;
    int64_t left = drop_same(b, lines, n);
    int done = left < 0 ? -ENOMEM : put_sorted_lines(b, s, &r, lines, (uint32_t)left);
    return done < 0 ? done : reply_count(b, "duplicatesRemovedCount", n - left);
}

/* ---- texts ---- */

static int trim_whitespace(struct sheets *b, const struct json *body)
{
    struct range r;
    struct sheet *s = grid_range(b, json_get(body, "range"), &r);
    int64_t n = 0;

    if (!s)
        return -EINVAL;
    r = grid_close(s, r);
    for (size_t i = 0; i < s->n_cells; i++) {
        struct cell *c = &s->cells[i];
        if (!grid_has(&r, c->row, c->col) || c->formula.p || c->value.type != FORMULA_TEXT)
            continue;
        auto_buf struct buf out = BUF_INIT(1 << 20);
        struct str text = str_trim(c->value.text);
        for (size_t k = 0; k < text.len; k++) {
            if (text.p[k] != ' ' || text.p[k - 1] != ' ')
                (void)buf_add_char(&out, text.p[k]);
        }
        if (str_eq(buf_str(&out), c->value.text))
            continue;
        c->value.text = arena_str(b->arena, buf_str(&out));
        if (!c->value.text.p)
            return sheets_no_memory(b);
        n++;
    }
    return reply_count(b, "cellsChangedCount", n);
}

/* What is looked for, and how often it was found. */
struct sheets_search {
    struct str find, replacement;
    bool is_case, is_entire, has_formulas;
    int64_t values, formulas, rows, sheets, occurrences;
};

static bool is_search_hit(const struct sheets_search *q, struct str text, size_t i)
{
    struct str part = str_slice(text, i, i + q->find.len);

    return q->is_case ? str_eq(part, q->find) : str_ieq(part, q->find);
}

/* How often it is in TEXT; OUT is TEXT with the replacements. */
static int64_t replace_matches(const struct sheets_search *q, struct str text, struct buf *out)
{
    int64_t n = 0;

    if (q->is_entire && q->find.len != text.len)
        return 0;
    for (size_t i = 0; i < text.len;) {
        if (is_search_hit(q, text, i)) {
            (void)buf_add_str(out, q->replacement);
            i += q->find.len;
            n++;
        } else {
            (void)buf_add_char(out, text.p[i++]);
        }
    }
    return n;
}

static int replace_in_cell(struct sheets *b, struct cell *c, struct sheets_search *q,
                           bool *ret_changed)
{
    auto_buf struct buf shown = BUF_INIT(1 << 20);
    auto_buf struct buf out = BUF_INIT(1 << 20);
    bool is_formula = c->formula.p;

    *ret_changed = false;
    if (is_formula && !q->has_formulas)
        return 0;
    if (!is_formula)
        formula_show(&shown, &c->value, c->format);
    int64_t n = replace_matches(q, is_formula ? c->formula : buf_str(&shown), &out);
    if (n == 0)
        return 0;
    struct str text = arena_str(b->arena, buf_str(&out));
    if (!buf_ok(&out) || !buf_ok(&shown) || !text.p)
        return sheets_no_memory(b);
    *ret_changed = true;
    q->occurrences += n;
    *(is_formula ? &q->formulas : &q->values) += 1;
    return sheets_type(b, c, text);
}

static int replace_in_sheet(struct sheets *b, struct sheet *s, const struct range *r,
                            struct sheets_search *q)
{
    uint32_t last_row = A1_OPEN;
    int done = 0;

    for (size_t i = 0; done == 0 && i < s->n_cells; i++) {
        bool is_changed = false;
        struct cell *c = &s->cells[i];
        if (grid_has(r, c->row, c->col))
            done = replace_in_cell(b, c, q, &is_changed);
        q->rows += is_changed && c->row != last_row;
        q->sheets += is_changed && last_row == A1_OPEN;
        last_row = is_changed ? c->row : last_row;
    }
    sheets_compact(s);
    return done;
}

/* Where to look: in R of *RET_SHEET, or everywhere (NULL). */
static int choose_sheet(struct sheets *b, const struct json *body, struct sheet **ret_sheet,
                        struct range *r)
{
    if (json_get(body, "range"))
        *ret_sheet = grid_range(b, json_get(body, "range"), r);
    else if (json_get(body, "sheetId"))
        *ret_sheet = sheets_sheet(b, json_get(body, "sheetId"));
    else if (!json_bool(json_get(body, "allSheets"), false))
        return sheets_fail(b, "One of range, sheetId and allSheets must be set.");
    return b->err->code ? -EINVAL : 0;
}

static int find_replace(struct sheets *b, const struct json *body)
{
    struct sheets_search q = {.find = json_str(json_get(body, "find"), STR("")),
                              .replacement = json_str(json_get(body, "replacement"), STR("")),
                              .is_case = json_bool(json_get(body, "matchCase"), false),
                              .is_entire = json_bool(json_get(body, "matchEntireCell"), false),
                              .has_formulas = json_bool(json_get(body, "includeFormulas"), false)};
    struct range all = {0, 0, A1_OPEN, A1_OPEN};
    struct sheet *s = NULL;
    int r = 0;

    r = choose_sheet(b, body, &s, &all);
    if (r == 0 && q.find.len == 0)
        r = sheets_fail(b, "find must not be empty.");
    if (r == 0 && json_bool(json_get(body, "searchByRegex"), false))
        r = sheets_fail(b, "searchByRegex is not supported here");
    for (size_t i = 0; r == 0 && i < b->n_sheets; i++) {
        if (!s || s == b->sheets[i])
            r = replace_in_sheet(b, b->sheets[i], &all, &q);
    }
    r = r < 0 ? r : reply_count(b, "valuesChanged", q.values);
    r = r < 0 ? r : reply_count(b, "formulasChanged", q.formulas);
    r = r < 0 ? r : reply_count(b, "rowsChanged", q.rows);
    r = r < 0 ? r : reply_count(b, "sheetsChanged", q.sheets);
    return r < 0 ? r : reply_count(b, "occurrencesChanged", q.occurrences);
}

const struct request requests_of_ranges[] = {
    {"copyPaste", copy_paste},
    {"deleteDuplicates", delete_duplicates},
    {"findReplace", find_replace},
    {"pasteData", paste_data},
    {"sortRange", sort_range},
    {"trimWhitespace", trim_whitespace},
    {NULL, NULL},
};
