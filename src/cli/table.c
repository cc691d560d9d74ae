/* SPDX-License-Identifier: MIT */
/* Tables for people: see table.h. */
#include "cli/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>

#include "base/utf8.h"

enum { GAP = 2, SHRUNK_MIN = 4 };

/* ---- text in columns ---- */

/* Length of the next character of S; *ret_ok is false when it cannot be shown. A character is one
 * column wide here. */
static size_t next_char(struct str s, bool *ret_ok)
{
    uint32_t c = 0;
    size_t n = utf8_decode(s.p, s.len, &c);

    *ret_ok = n > 0 && c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0);
    return n > 0 ? n : 1;
}

size_t table_width(struct str text)
{
    size_t width = 0;
    bool ok;

    while (text.len > 0) {
        text = str_skip(text, next_char(text, &ok));
        width++;
    }
    return width;
}

int table_put_text(struct buf *out, struct str text, size_t width)
{
    bool is_cut = table_width(text) > width;
    size_t n = is_cut && width > 0 ? width - 1 : width;
    bool ok;

    for (size_t i = 0; i < n && text.len > 0; i++) {
        size_t len = next_char(text, &ok);
        (void)buf_add_str(out, ok ? str_n(text.p, len) : STR("?"));
        text = str_skip(text, len);
    }
    if (is_cut && width > 0)
        (void)buf_add_lit(out, "…");
    return out->error;
}

/* ---- filling ---- */

struct table table_new(struct arena *a, const struct table_col *cols, size_t n_cols)
{
    return (struct table){
        .arena = a, .cols = cols, .n_cols = n_cols < TABLE_COLS_MAX ? n_cols : TABLE_COLS_MAX};
}

static int grow_table(struct table *t)
{
    size_t cap = t->cap ? 2 * t->cap : 16 * t->n_cols;

    if (cap > (size_t)TABLE_ROWS_MAX * TABLE_COLS_MAX)
        return -E2BIG;
    struct str *cells = arena_zalloc(t->arena, cap, sizeof *cells);
    if (!cells)
        return -ENOMEM;
    for (size_t i = 0; i < t->n_cells; i++)
        cells[i] = t->cells[i];
    t->cells = cells;
    t->cap = cap;
    return 0;
}

void table_add(struct table *t, struct str cell)
{
    if (t->error == 0 && t->n_cells == t->cap)
        t->error = grow_table(t);
    if (t->error < 0)
        return;
    struct str copy = arena_str(t->arena, cell.len > 0 ? cell : STR("-"));
    if (!copy.p)
        t->error = -ENOMEM;
    else
        t->cells[t->n_cells++] = copy;
}

void table_addf(struct table *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    table_add(t, arena_vprintf(t->arena, fmt, ap));
    va_end(ap);
}

/* ---- writing ---- */

static struct str table_cell_at(const struct table *t, size_t row, size_t col)
{
    return t->cells[row * t->n_cols + col];
}

static void measure_table(const struct table *t, size_t widths[])
{
    for (size_t c = 0; c < t->n_cols; c++) {
        widths[c] = table_width(str_of(t->cols[c].title));
        for (size_t r = 0; r < t->n_cells / t->n_cols; r++) {
            size_t w = table_width(table_cell_at(t, r, c));
            widths[c] = w > widths[c] ? w : widths[c];
        }
    }
}

/* Takes columns off the widest that may lose some, until the table fits or none can. */
static void shrink(const struct table *t, size_t width, size_t widths[])
{
    size_t total = (t->n_cols - 1) * GAP;

    for (size_t c = 0; c < t->n_cols; c++)
        total += widths[c];
    while (total > width) {
        size_t best = t->n_cols;
        for (size_t c = 0; c < t->n_cols; c++)
            if (t->cols[c].may_shrink && widths[c] > SHRUNK_MIN &&
                (best == t->n_cols || widths[c] > widths[best]))
                best = c;
        if (best == t->n_cols)
            return;
        widths[best]--;
        total--;
    }
}

static void put_spaces(struct buf *out, size_t n)
{
    (void)buf_printf(out, "%*s", (int)n, "");
}

/* TEXT in a column of WIDTH. */
static void put_table_cell(struct buf *out, struct str text, size_t width, bool is_right)
{
    size_t len = table_width(text), space = len < width ? width - len : 0;

    put_spaces(out, is_right ? space : 0);
    (void)table_put_text(out, text, width);
    put_spaces(out, is_right ? 0 : space);
}

/* One line; columns past WIDTH are cut off, and so are spaces at the end. */
static void put_table_line(const struct table *t, const struct str *cells, const size_t widths[],
                           size_t width, struct buf *out)
{
    size_t at = 0;

    for (size_t c = 0; c < t->n_cols && at < width; c++) {
        struct str text = cells ? cells[c] : str_of(t->cols[c].title);
        size_t room = width - at;
        size_t w = widths[c] < room ? widths[c] : room;
        put_table_cell(out, text, w, t->cols[c].is_right);
        put_spaces(out, GAP);
        at += w + GAP;
    }
    while (out->len > 0 && out->p[out->len - 1] == ' ')
        out->len--;
    (void)buf_add_char(out, '\n');
}

int table_write(const struct table *t, size_t width, struct buf *out)
{
    size_t widths[TABLE_COLS_MAX];

    if (t->error < 0)
        return t->error;
    width = width ? width : SIZE_MAX;
    measure_table(t, widths);
    shrink(t, width, widths);
    put_table_line(t, NULL, widths, width, out);
    for (size_t r = 0; r < t->n_cells / t->n_cols; r++)
        put_table_line(t, &t->cells[r * t->n_cols], widths, width, out);
    return out->error;
}
