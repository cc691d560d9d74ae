/* SPDX-License-Identifier: MIT */
/* CSV files: their rows, and the types that their values seem to have. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/products/bigquery/moment.h"
#include "base/ascii.h"
#include "base/cleanup.h"

enum { MAX_FIELDS = BQ_MAX_COLUMNS, ARENA_MAX = 256 << 20 };

struct csv_reader {
    struct arena arena;
    struct str rest;
    struct str cells[MAX_FIELDS];
    size_t n;
    unsigned line;
};

/* ---- lines ---- */

static int take_quoted_cell(struct csv_reader *r, struct str *ret)
{
    auto_buf struct buf b = BUF_INIT(16 << 20);
    size_t i = 1;

    for (; i < r->rest.len; i++) {
        if (r->rest.p[i] == '"' && i + 1 < r->rest.len && r->rest.p[i + 1] == '"')
            i++;
        else if (r->rest.p[i] == '"')
            break;
        (void)buf_add_char(&b, r->rest.p[i]);
    }
    if (i >= r->rest.len)
        return -EINVAL;
    r->rest = str_skip(r->rest, i + 1);
    *ret = arena_str(&r->arena, buf_str(&b));
    return ret->p ? 0 : -ENOMEM;
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static int take_csv_cell(struct csv_reader *r, struct str *cell)
{
    size_t len = 0;

    if (r->rest.len > 0 && r->rest.p[0] == '"')
        return take_quoted_cell(r, cell);
    while (len < r->rest.len && r->rest.p[len] != ',' && !is_line_end(r->rest.p[len]))
        len++;
    *cell = str_slice(r->rest, 0, len);
    r->rest = str_skip(r->rest, len);
    return 0;
}

/* The cells of the next line; 0: there is none. */
static int read_csv_line(struct csv_reader *r)
{
    bool is_more = true;

    while (r->rest.len > 0 && is_line_end(r->rest.p[0]))
        r->rest = str_skip(r->rest, 1);
    if (r->rest.len == 0)
        return 0;
    r->line++;
    for (r->n = 0; is_more; r->n++) {
        int e = r->n == MAX_FIELDS - 1 ? -E2BIG : take_csv_cell(r, &r->cells[r->n]);
        if (e < 0)
            return e;
        is_more = r->rest.len > 0 && r->rest.p[0] == ',';
        r->rest = str_skip(r->rest, is_more);
        if (!is_more && r->rest.len > 0 && !is_line_end(r->rest.p[0]))
            return -EINVAL;
    }
    return 1;
}

/* ---- types ---- */

static bool is_int(struct str s)
{
    int64_t n;

    return str_to_i64(s, &n) == 0;
}

static bool is_real(struct str s, double *ret)
{
    char text[64], *end;

    if (s.len == 0 || s.len >= sizeof text || !strchr("+-.0123456789", s.p[0]))
        return false;
    (void)snprintf(text, sizeof text, STR_FMT, STR_ARG(s));
    *ret = strtod(text, &end);
    return !*end && isfinite(*ret) && !strpbrk(text, "xX");
}

/* What one cell looks like. */
static enum bq_kind csv_kind_of(struct str s)
{
    struct bq_moment m;
    double d;

    if (s.len == 0)
        return BQ_ANY;
    if (is_int(s))
        return BQ_INT64;
    if (is_real(s, &d))
        return BQ_FLOAT64;
    if (str_iis(s, "true") || str_iis(s, "false"))
        return BQ_BOOL;
    if (bq_moment_read(s, &m) < 0)
        return BQ_STRING;
    if (!m.has_date)
        return BQ_TIME;
    /* As BigQuery's autodetection: times with a date are TIMESTAMPs. */
    return m.has_time ? BQ_TIMESTAMP : BQ_DATE;
}

static enum bq_kind both(enum bq_kind a, enum bq_kind b)
{
    if (a == BQ_ANY || a == b)
        return b;
    if (b == BQ_ANY)
        return a;
    if ((a == BQ_INT64 && b == BQ_FLOAT64) || (a == BQ_FLOAT64 && b == BQ_INT64))
        return BQ_FLOAT64;
    if ((a == BQ_DATE && b == BQ_TIMESTAMP) || (a == BQ_TIMESTAMP && b == BQ_DATE))
        return BQ_TIMESTAMP;
    return BQ_STRING;
}

static int fail_csv(const struct csv_reader *r, int code, struct err *e)
{
    if (code == -E2BIG)
        return err_set(e, -EINVAL, "Too many columns: line %u has more than %d", r->line,
                       MAX_FIELDS - 1);
    if (code == -ENOMEM)
        return err_set(e, -EINVAL, "The file is too large");
    return err_set(e, -EINVAL,
                   "Error while reading data, error message: CSV table encountered too many "
                   "errors, giving up. Rows: %u; errors: 1. Please look into the errors[] "
                   "collection for more details.",
                   r->line);
}

/* ---- names ---- */

/* Letters, digits and '_'. */
static void put_field_name(struct buf *b, struct str s, size_t i)
{
    size_t before = b->len;

    s = str_trim(s);
    for (size_t k = 0; k < s.len; k++) {
        char c = s.p[k];
        bool is_plain = ascii_is_alnum(c);
        if (k == 0 && c >= '0' && c <= '9')
            (void)buf_add_char(b, '_');
        (void)buf_add_char(b, is_plain ? c : '_');
    }
    if (b->len == before)
        (void)buf_printf(b, "string_field_%zu", i);
}

static void put_csv_fields(struct buf *out, const struct csv_reader *r, bool has_header,
                           const enum bq_kind *kinds, size_t n)
{
    struct jw w = jw_to(out);

    jw_array(&w);
    for (size_t i = 0; i < n; i++) {
        auto_buf struct buf name = BUF_INIT(1 << 10);
        if (has_header && i < r->n)
            put_field_name(&name, str_slice(r->cells[i], 0, 300), i);
        else
            put_field_name(&name, STR(""), i);
        bq_put_field(&w, buf_str(&name), &bq_scalars[kinds[i] == BQ_ANY ? BQ_STRING : kinds[i]]);
    }
    jw_end(&w);
}

/* ---- values ---- */

static bool put_converted_cell(struct jw *w, struct str s, enum bq_kind kind)
{
    auto_buf struct buf b = BUF_INIT(64);
    struct bq_moment m;
    int64_t n;
    double d;

    if (s.len == 0 && kind != BQ_STRING) {
        jw_null(w);
        return true;
    }
    switch ((int)kind) {
    case BQ_INT64:
        if (str_to_i64(s, &n) < 0)
            return false;
        jw_int(w, n);
        return true;
    case BQ_FLOAT64:
    case BQ_NUMERIC:
        if (!is_real(s, &d))
            return false;
        jw_real(w, d);
        return true;
    case BQ_BOOL:
        if (!str_iis(s, "true") && !str_iis(s, "false"))
            return false;
        jw_int(w, str_iis(s, "true"));
        return true;
    case BQ_DATE:
    case BQ_DATETIME:
    case BQ_TIME:
    case BQ_TIMESTAMP:
        if (bq_moment_read(s, &m) < 0 || bq_moment_write(&b, kind, m.us) < 0)
            return false;
        jw_str(w, buf_str(&b));
        return true;
    default:
        if (s.len == 0)
            jw_null(w);
        else
            jw_str(w, s);
        return true;
    }
}

static int put_rows(struct csv_reader *r, const enum bq_kind *kinds, size_t n, struct buf *out,
                    struct err *e)
{
    struct jw w = jw_to(out);
    int more;

    jw_array(&w);
    while ((more = read_csv_line(r)) > 0) {
        if (r->n > n)
            return fail_csv(r, -EINVAL, e);
        jw_array(&w);
        for (size_t i = 0; i < n; i++) {
            struct str cell = i < r->n ? r->cells[i] : STR("");
            if (!put_converted_cell(&w, cell, kinds[i]))
                return err_set(e, -EINVAL,
                               "Error while reading data, error message: Could not parse '" STR_FMT
                               "' as %s for field %zu (position %zu) starting at line %u",
                               STR_ARG(str_slice(cell, 0, 60)), bq_kind_name(kinds[i]), i, i,
                               r->line);
        }
        jw_end(&w);
    }
    jw_end(&w);
    if (more < 0)
        return fail_csv(r, more, e);
    return buf_ok(out) ? 0 : err_set(e, -EINVAL, "The file is too large");
}

/* The kinds of all columns, and how many there are; -errno. */
static int detect(struct str csv, bool has_header, struct csv_reader *r, enum bq_kind *kinds)
{
    size_t n = 0;
    int more;

    r->rest = csv;
    if (has_header && (more = read_csv_line(r)) < 0)
        return more;
    while ((more = read_csv_line(r)) > 0) {
        for (size_t i = 0; i < r->n; i++)
            kinds[i] = both(kinds[i], csv_kind_of(r->cells[i]));
        n = r->n > n ? r->n : n;
    }
    return more < 0 ? more : (int)n;
}

static size_t known_kinds(const struct json *fields, enum bq_kind *kinds)
{
    size_t n = fields->n < MAX_FIELDS ? fields->n : MAX_FIELDS;

    for (size_t i = 0; i < n; i++) {
        enum bq_kind kind =
            bq_kind_of(json_str(json_get(json_at(fields, i), "type"), STR("STRING")));
        kinds[i] = kind == BQ_KIND_COUNT ? BQ_STRING : kind;
    }
    return n;
}

/* NOLINTNEXTLINE(readability-function-size): in and out of one conversion */
static int read_csv(struct csv_reader *r, struct str csv, bool has_header,
                    const struct json *fields, struct buf *ret_fields, struct buf *ret_rows,
                    struct err *e)
{
    enum bq_kind kinds[MAX_FIELDS] = {BQ_ANY};
    size_t n;
    int found = 0;

    if (fields) {
        n = known_kinds(fields, kinds);
    } else {
        found = detect(csv, has_header, r, kinds);
        if (found < 0)
            return fail_csv(r, found, e);
        n = (size_t)found;
    }
    r->rest = csv;
    r->line = 0;
    r->n = 0;
    if (has_header && (found = read_csv_line(r)) < 0)
        return fail_csv(r, found, e);
    if (!fields && r->n > n)
        n = r->n;
    if (!fields)
        put_csv_fields(ret_fields, r, has_header, kinds, n);
    if (n == 0)
        return err_set(e, -EINVAL, "The file has no columns");
    return put_rows(r, kinds, n, ret_rows, e);
}

/* NOLINTNEXTLINE(readability-function-size): in and out of one conversion */
int bq_read_csv(struct str csv, bool has_header, const struct json *fields, struct buf *ret_fields,
                struct buf *ret_rows, struct err *e)
{
    struct csv_reader *r = calloc(1, sizeof *r);

    if (!r)
        return err_set(e, -ENOMEM, "out of memory");
    if (str_starts(csv, STR("\xef\xbb\xbf")))
        csv = str_skip(csv, 3);
    arena_init(&r->arena, ARENA_MAX);
    int code = read_csv(r, csv, has_header, fields, ret_fields, ret_rows, e);
    arena_done(&r->arena);
    free(r);
    return code;
}
