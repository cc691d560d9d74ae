/* SPDX-License-Identifier: MIT */
#include "apps/formula/edit.h"
#include "base/ascii.h"

/* One end of a range. Where it has no row or no column, that is the sheet's own end. */
struct edit_corner {
    bool has_row, has_col, is_row_fixed, is_col_fixed;
    int64_t row, col;
};

struct edit {
    struct buf *out;
    struct str s; /* what is left */
    struct str own;
    const struct formula_edit *what;
};

static bool is_formula_name_char(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '_' || c == '.' ||
           (unsigned char)c > 127;
}

/* ---- ranges ---- */

/* S is what a1_scan() took for one. */
static struct edit_corner read_corner(struct str s)
{
    struct edit_corner c = {0};
    size_t at = 0, from;
    uint32_t col;
    int64_t row;
    bool is_fixed = s.len > 0 && s.p[0] == '$';

    from = at += is_fixed;
    while (at < s.len && ascii_is_letter(s.p[at]))
        at++;
    if (at > from && a1_column(str_slice(s, from, at), &col) == 0) {
        c.has_col = true;
        c.is_col_fixed = is_fixed;
        c.col = col;
        is_fixed = at < s.len && s.p[at] == '$';
        at += is_fixed;
    }
    if (str_to_i64(str_skip(s, at), &row) == 0) {
        c.has_row = true;
        c.is_row_fixed = is_fixed;
        c.row = row - 1;
    }
    return c;
}

static void write_moved_corner(struct buf *out, const struct edit_corner *c)
{
    char name[A1_COLUMN_MAX];

    if (c->has_col) {
        a1_column_name(name, (uint32_t)c->col);
        (void)buf_printf(out, "%s%s", c->is_col_fixed ? "$" : "", name);
    }
    if (c->has_row)
        (void)buf_printf(out, "%s%lld", c->is_row_fixed ? "$" : "", (long long)c->row + 1);
}

/* The first and the last row, or column, of a range; a missing end is -1. False: all are gone. */
static bool move_span(int64_t *low, int64_t *high, const struct formula_edit *e)
{
    int64_t at = e->at, n = e->n;
    bool is_open = *high < 0;

    if (e->kind == FORMULA_EDIT_INSERT) {
        *low += *low >= at ? n : 0;
        *high += *high >= at ? n : 0;
        return true;
    }
    if (*low >= at && !is_open && *high < at + n)
        return false;
    if (*low >= at)
        *low = *low < at + n ? at : *low - n;
    if (!is_open && *high >= at)
        *high = *high < at + n ? at - 1 : *high - n;
    return true;
}

/* Turns two ends so that the first one is the smaller. */
static void sort_corners(struct edit_corner *a, struct edit_corner *b)
{
    struct edit_corner t = *a;

    if (a->has_row && b->has_row && a->row > b->row) {
        a->row = b->row;
        a->is_row_fixed = b->is_row_fixed;
        b->row = t.row;
        b->is_row_fixed = t.is_row_fixed;
    }
    if (a->has_col && b->has_col && a->col > b->col) {
        a->col = b->col;
        a->is_col_fixed = b->is_col_fixed;
        b->col = t.col;
        b->is_col_fixed = t.is_col_fixed;
    }
}

/* False: the range is none any more. */
static bool move_lines(struct edit_corner *a, struct edit_corner *b, const struct formula_edit *e)
{
    int64_t low, high;

    sort_corners(a, b);
    if (e->is_rows ? !a->has_row : !a->has_col)
        return true;
    low = e->is_rows ? a->row : a->col;
    high = e->is_rows ? (b->has_row ? b->row : -1) : (b->has_col ? b->col : -1);
    if (!move_span(&low, &high, e))
        return false;
    *(e->is_rows ? &a->row : &a->col) = low;
    if (high >= 0)
        *(e->is_rows ? &b->row : &b->col) = high;
    return true;
}

static void shift_corner(struct edit_corner *c, const struct formula_edit *e)
{
    c->row += c->has_row && !c->is_row_fixed ? e->rows : 0;
    c->col += c->has_col && !c->is_col_fixed ? e->cols : 0;
}

static bool is_possible(const struct edit_corner *c)
{
    return c->row >= 0 && c->row < A1_MAX_ROWS && c->col >= 0 && c->col < A1_MAX_COLUMNS;
}

/* TEXT is a range of a sheet; that is the one that is changed, or not. */
static void edit_range(struct edit *e, struct str text, bool is_here)
{
    const struct formula_edit *what = e->what;
    ptrdiff_t colon = str_chr(text, ':');
    bool is_single = colon < 0, is_there = true;
    struct edit_corner a = read_corner(is_single ? text : str_slice(text, 0, (size_t)colon));
    struct edit_corner b = is_single ? a : read_corner(str_skip(text, (size_t)colon + 1));

    if (what->kind == FORMULA_EDIT_SHIFT) {
        shift_corner(&a, what);
        shift_corner(&b, what);
    } else if (is_here && what->kind != FORMULA_EDIT_RENAME) {
        is_there = move_lines(&a, &b, what);
    } else {
        (void)buf_add_str(e->out, text);
        return;
    }
    if (!is_there || !is_possible(&a) || !is_possible(&b)) {
        (void)buf_add_lit(e->out, "#REF!");
        return;
    }
    write_moved_corner(e->out, &a);
    if (is_single)
        return;
    (void)buf_add_char(e->out, ':');
    write_moved_corner(e->out, &b);
}

/* ---- the text ---- */

static void copy_formula_text(struct edit *e, size_t n)
{
    (void)buf_add_str(e->out, str_slice(e->s, 0, n));
    e->s = str_skip(e->s, n);
}

/* How long what stands in QUOTEs is, with them; a quote in it is doubled. */
static size_t scan_quoted_name(struct str s, char quote)
{
    size_t i = 1;

    for (; i < s.len; i++) {
        if (s.p[i] != quote)
            continue;
        if (i + 1 == s.len || s.p[i + 1] != quote)
            return i + 1;
        i++;
    }
    return s.len;
}

/* What stands behind "SHEET!"; PREFIX is that with the '!'. */
static void edit_on_sheet(struct edit *e, struct str prefix, struct str sheet)
{
    struct a1_range range;
    bool is_here = str_ieq(sheet, e->what->sheet);

    e->s = str_skip(e->s, prefix.len);
    size_t n = a1_scan(e->s, &range);
    if (n > 0 && is_here && e->what->kind == FORMULA_EDIT_DROP) {
        (void)buf_add_lit(e->out, "#REF!");
        e->s = str_skip(e->s, n);
        return;
    }
    if (is_here && e->what->kind == FORMULA_EDIT_RENAME) {
        a1_write_sheet(e->out, e->what->name);
        (void)buf_add_char(e->out, '!');
    } else {
        (void)buf_add_str(e->out, prefix);
    }
    if (n == 0)
        return;
    struct str text = str_slice(e->s, 0, n);
    e->s = str_skip(e->s, n);
    edit_range(e, text, is_here);
}

/* 'A sheet'!A1 */
static void edit_quoted(struct edit *e)
{
    struct arena arena auto_arena;
    size_t n = scan_quoted_name(e->s, '\'');
    struct a1_ref ref;

    arena_init(&arena, 1 << 20);
    if (n >= e->s.len || e->s.p[n] != '!' || a1_parse(&arena, str_slice(e->s, 0, n), &ref) < 0)
        copy_formula_text(e, n);
    else
        edit_on_sheet(e, str_slice(e->s, 0, n + 1), ref.sheet);
}

/* A function, a sheet, a range, a number. */
static void edit_word(struct edit *e)
{
    struct a1_range range;
    size_t n = 0, len;

    while (n < e->s.len && is_formula_name_char(e->s.p[n]))
        n++;
    if (n > 0 && n < e->s.len && e->s.p[n] == '!') {
        edit_on_sheet(e, str_slice(e->s, 0, n + 1), str_slice(e->s, 0, n));
        return;
    }
    len = a1_scan(e->s, &range);
    if (len == 0) {
        copy_formula_text(e, n > 0 ? n : 1);
        return;
    }
    struct str text = str_slice(e->s, 0, len);
    e->s = str_skip(e->s, len);
    edit_range(e, text, e->what->kind != FORMULA_EDIT_DROP && str_ieq(e->own, e->what->sheet));
}

/* #REF!, #DIV/0!, #N/A */
static void copy_error(struct edit *e)
{
    size_t n = 1;

    while (n < e->s.len &&
           (ascii_is_letter(e->s.p[n]) || ascii_is_digit(e->s.p[n]) || e->s.p[n] == '/'))
        n++;
    n += n < e->s.len && (e->s.p[n] == '!' || e->s.p[n] == '?');
    copy_formula_text(e, n);
}

void formula_edit(struct buf *out, struct str text, struct str own, const struct formula_edit *edit)
{
    struct edit e = {.out = out, .s = text, .own = own, .what = edit};

    while (e.s.len > 0) {
        char c = e.s.p[0];
        if (c == '"')
            copy_formula_text(&e, scan_quoted_name(e.s, '"'));
        else if (c == '\'')
            edit_quoted(&e);
        else if (c == '#')
            copy_error(&e);
        else if (is_formula_name_char(c) || c == '$')
            edit_word(&e);
        else
            copy_formula_text(&e, 1);
    }
}
