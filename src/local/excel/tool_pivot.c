/* SPDX-License-Identifier: MIT */
/* The server "excel": summaries. What the server that agents know calls a pivot table is a sheet
 * "NAME_pivot" with a row for each combination of the row fields' values and a table over them. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "local/excel/excel.h"
#include "local/excel/styles.h"

enum { FIELDS_MAX = 64, ROWS_MAX = 100000 };

struct pivot {
    struct excel *x;
    struct sheet *source;
    struct range range;
    struct str *headers; /* texts of the first row */
    struct value *data;  /* rows behind it, one after another */
    size_t n_cols, n_rows;

    size_t rows[FIELDS_MAX], values[FIELDS_MAX]; /* columns */
    size_t n_row_fields, n_value_fields;
    struct str *distinct[FIELDS_MAX]; /* of the row fields, sorted */
    size_t n_distinct[FIELDS_MAX];
    struct str function;
};

static const char *const functions[] = {"sum", "average", "count", "min", "max"};

static struct str pivot_text_of(struct pivot *p, struct value v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    if (v.kind == VALUE_TEXT || v.kind == VALUE_TIME)
        return v.text;
    value_str(&b, v);
    return arena_str(&p->x->call->arena, buf_str(&b));
}

/* ---- the source ---- */

/* One row of the range to ROW; false when nothing is in it. */
static bool read_pivot_row(struct pivot *p, unsigned number, struct value *row)
{
    bool has_any = false;

    for (size_t i = 0; i < p->n_cols; i++) {
        struct ref at = {number, p->range.col + (unsigned)i};
        row[i] = cell_value(&p->x->book, p->source, sheet_cell(p->source, at));
        has_any = has_any || row[i].kind != VALUE_NONE;
    }
    return has_any;
}

static bool read_source(struct pivot *p)
{
    struct local_call *c = p->x->call;
    struct range used = sheet_used(p->source);
    size_t n = 0;

    if (p->range.row2 > used.row2)
        p->range.row2 = used.row2;
    size_t height = p->range.row2 >= p->range.row ? p->range.row2 - p->range.row + 1 : 0;
    p->n_cols = p->range.col2 - p->range.col + 1;
    struct value *all = arena_zalloc(&c->arena, height * p->n_cols + 1, sizeof *all);
    p->headers = arena_zalloc(&c->arena, p->n_cols, sizeof *p->headers);
    if (!all || !p->headers) {
        excel_error(c, "Failed to read or process source data: out of memory");
        return false;
    }
    for (size_t i = 0; i < height; i++)
        n += read_pivot_row(p, p->range.row + (unsigned)i, all + n * p->n_cols);
    if (n < 2) {
        excel_error(c, "Failed to read or process source data: Source data must have a header row "
                       "and at least one data row.");
        return false;
    }
    for (size_t i = 0; i < p->n_cols; i++)
        p->headers[i] = pivot_text_of(p, all[i]);
    p->data = all + p->n_cols;
    p->n_rows = n - 1;
    return true;
}

/* ---- fields ---- */

/* Without " (sum)" and the like. */
static struct str clean_field_name(struct str field)
{
    field = str_trim(field);
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        size_t len = strlen(functions[i]) + 3;
        if (field.len < len)
            continue;
        struct str end = str_skip(field, field.len - len);
        if (end.p[0] == ' ' && end.p[1] == '(' && end.p[len - 1] == ')' &&
            str_iis(str_slice(end, 2, len - 1), functions[i]))
            return str_slice(field, 0, field.len - len);
    }
    return field;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void tell_fields(struct pivot *p, const char *kind, struct str field)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct str *sorted = arena_alloc(&p->x->call->arena, p->n_cols * sizeof *sorted);

    if (sorted) {
        memcpy(sorted, p->headers, p->n_cols * sizeof *sorted);
        qsort(sorted, p->n_cols, sizeof *sorted, by_text);
    }
    for (size_t i = 0; sorted && i < p->n_cols; i++)
        (void)buf_printf(&b, "%s" STR_FMT, i > 0 ? ", " : "", STR_ARG(sorted[i]));
    excel_error(p->x->call, "Invalid %s field '" STR_FMT "'. Available fields: " STR_FMT, kind,
                STR_ARG(field), STR_ARG(buf_str(&b)));
}

/* The columns of the fields that the argument NAME lists. False when the call has its answer. */
static bool find_fields(struct pivot *p, const char *name, const char *kind,
                        size_t columns[static FIELDS_MAX], size_t *n)
{
    const struct json *list = json_get(p->x->call->args, name);

    *n = 0;
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n && i < FIELDS_MAX; i++) {
        struct str field = json_str(json_at(list, i), STR(""));
        size_t col = p->n_cols;
        /* Of several columns of one name the last counts. */
        while (col > 0 && !str_ieq(clean_field_name(p->headers[col - 1]), clean_field_name(field)))
            col--;
        if (col == 0) {
            tell_fields(p, kind, field);
            return false;
        }
        columns[(*n)++] = col - 1;
    }
    return true;
}

/* The texts that a column has, each once, sorted. */
static bool find_distinct(struct pivot *p, size_t field)
{
    struct str *texts = arena_alloc(&p->x->call->arena, p->n_rows * sizeof *texts);
    size_t n = 0;

    for (size_t i = 0; texts && i < p->n_rows; i++)
        texts[i] = pivot_text_of(p, p->data[i * p->n_cols + p->rows[field]]);
    if (!texts)
        return false;
    qsort(texts, p->n_rows, sizeof *texts, by_text);
    for (size_t i = 0; i < p->n_rows; i++) {
        if (n == 0 || !str_eq(texts[n - 1], texts[i]))
            texts[n++] = texts[i];
    }
    p->distinct[field] = texts;
    p->n_distinct[field] = n;
    return true;
}

/* ---- sums ---- */

struct sum {
    double total, low, high;
    int64_t whole;
    size_t n;
    bool has_reals;
};

static void add_to_sum(struct sum *s, struct value v)
{
    if (v.kind != VALUE_INT && v.kind != VALUE_REAL && v.kind != VALUE_BOOL)
        return;
    double d = v.kind == VALUE_REAL ? v.d : (double)v.i;
    s->has_reals =
        s->has_reals || v.kind == VALUE_REAL || __builtin_add_overflow(s->whole, v.i, &s->whole);
    s->total += d;
    s->low = s->n == 0 || d < s->low ? d : s->low;
    s->high = s->n == 0 || d > s->high ? d : s->high;
    s->n++;
}

static struct value result_of_sum(const struct pivot *p, const struct sum *s)
{
    struct value v = {.kind = VALUE_INT};

    if (s->n == 0)
        return v;
    if (str_iis(p->function, "count")) {
        v.i = (int64_t)s->n;
        return v;
    }
    bool is_mean = str_iis(p->function, "average") || str_iis(p->function, "mean");
    v.d = is_mean                       ? s->total / (double)s->n
          : str_iis(p->function, "min") ? s->low
          : str_iis(p->function, "max") ? s->high
                                        : s->total;
    v.i = str_iis(p->function, "sum") ? s->whole : (int64_t)v.d;
    v.kind = is_mean || s->has_reals ? VALUE_REAL : VALUE_INT;
    return v;
}

/* Whether the record belongs to the combination. */
static bool matches_combination(struct pivot *p, const struct value *record,
                                const struct str *combination)
{
    for (size_t i = 0; i < p->n_row_fields; i++) {
        if (!str_eq(pivot_text_of(p, record[p->rows[i]]), combination[i]))
            return false;
    }
    return true;
}

/* ---- the sheet ---- */

static void put_pivot_cell(struct pivot *p, unsigned row, size_t col, struct value v)
{
    struct ref at = {row, (unsigned)col + 1};

    cell_set(&p->x->book, p->x->sheet, sheet_need_cell(&p->x->book, p->x->sheet, at), v);
}

static void write_pivot_head(struct pivot *p)
{
    struct style_change bold = {.has_font = true, .is_bold = true};
    int64_t style = style_changed(&p->x->book, 0, &bold);
    size_t col = 0;

    for (size_t i = 0; i < p->n_row_fields; i++)
        put_pivot_cell(p, 1, col++, value_text(clean_field_name(p->headers[p->rows[i]])));
    for (size_t i = 0; i < p->n_value_fields; i++)
        put_pivot_cell(p, 1, col++,
                       value_text(arena_printf(&p->x->call->arena, STR_FMT " (" STR_FMT ")",
                                               STR_ARG(clean_field_name(p->headers[p->values[i]])),
                                               STR_ARG(p->function))));
    for (size_t i = 0; style > 0 && i < col; i++)
        xml_setf(p->x->sheet->doc, sheet_cell(p->x->sheet, (struct ref){1, (unsigned)i + 1}), "s",
                 "%lld", (long long)style);
}

static void write_combination(struct pivot *p, unsigned row, size_t number)
{
    struct str combination[FIELDS_MAX];
    struct sum sums[FIELDS_MAX] = {0};

    for (size_t i = p->n_row_fields; i-- > 0; number /= p->n_distinct[i])
        combination[i] = p->distinct[i][number % p->n_distinct[i]];
    for (size_t i = 0; i < p->n_rows; i++) {
        const struct value *record = p->data + i * p->n_cols;
        for (size_t k = 0; matches_combination(p, record, combination) && k < p->n_value_fields;
             k++)
            add_to_sum(&sums[k], record[p->values[k]]);
    }
    for (size_t i = 0; i < p->n_row_fields; i++)
        put_pivot_cell(p, row, i, value_text(combination[i]));
    for (size_t i = 0; i < p->n_value_fields; i++)
        put_pivot_cell(p, row, p->n_row_fields + i, result_of_sum(p, &sums[i]));
}

/* How many rows there will be; 0 when the call has its answer. */
static size_t count_pivot_rows(struct pivot *p)
{
    size_t n = 1;

    for (size_t i = 0; i < p->n_row_fields; i++) {
        if (!find_distinct(p, i))
            return 0;
        n *= p->n_distinct[i];
        if (n * p->n_rows > 100 * (size_t)ROWS_MAX * 10 || n > ROWS_MAX) {
            excel_error(p->x->call, "The fields have too many combinations of values");
            return 0;
        }
    }
    return n;
}

static void write_pivot(struct pivot *p, size_t n_rows)
{
    struct excel *x = p->x;
    struct err e = ERR_INIT;
    struct str name = arena_printf(&x->call->arena, STR_FMT "_pivot", STR_ARG(p->source->name));
    struct sheet *old = book_sheet(&x->book, name);

    if (old)
        book_remove_sheet(&x->book, old);
    x->sheet = book_add_sheet(&x->book, name, &e);
    if (!x->sheet || sheet_edit(&x->book, x->sheet, &e) < 0) {
        excel_error(x->call, "%s", err_text(&e));
        return;
    }
    write_pivot_head(p);
    for (size_t i = 0; i < n_rows; i++)
        write_combination(p, (unsigned)i + 2, i);
    struct range all = {1, 1, (unsigned)n_rows + 1,
                        (unsigned)(p->n_row_fields + p->n_value_fields)};
    if (all.col2 > 0 && !excel_add_table(x, all, excel_table_name(x->call, "PivotTable"),
                                         "TableStyleMedium9", &e)) {
        excel_error(x->call, "Failed to create pivot table formatting: %s", err_text(&e));
        return;
    }
    excel_save(x, STR("Summary table created successfully"));
}

static bool check_pivot_function(struct pivot *p)
{
    p->function = local_str(p->x->call, "agg_func");
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (str_iis(p->function, functions[i]))
            return true;
    }
    /* The default of the schema. */
    if (p->function.len == 0 || str_iis(p->function, "mean")) {
        p->function = STR("mean");
        return true;
    }
    excel_error(p->x->call, "Invalid aggregation function. Must be one of: sum, average, count, "
                            "min, max");
    return false;
}

void excel_create_pivot_table(struct local_call *c)
{
    struct pivot *p = arena_new(&c->arena, struct pivot);
    struct str range = local_str(c, "data_range");
    size_t unused[FIELDS_MAX], n;
    struct excel x;

    if (!p || !excel_open_sheet(c, &x))
        return;
    p->x = &x;
    p->source = x.sheet;
    if (str_chr(range, ':') < 0) {
        excel_error(c, "Data range must be in format 'A1:B2'");
        return;
    }
    if (!range_parse(range, &p->range)) {
        excel_error(c, "Invalid data range format: Invalid cell reference: " STR_FMT,
                    STR_ARG(range));
        return;
    }
    if (!excel_check_size(c, p->range) || !read_source(p) || !check_pivot_function(p) ||
        !find_fields(p, "rows", "row", p->rows, &p->n_row_fields) ||
        !find_fields(p, "values", "value", p->values, &p->n_value_fields) ||
        !find_fields(p, "columns", "column", unused, &n))
        return;
    size_t n_rows = count_pivot_rows(p);
    if (n_rows > 0)
        write_pivot(p, n_rows);
}
