/* SPDX-License-Identifier: MIT */
#include "apps/formula/a1.h"
#include "base/ascii.h"

#include <errno.h>

/* Goes on a word: a range does not end before one of these. Bytes of UTF-8 do as well. */
static bool is_cell_word_char(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '_' || c == '.' || c == '$' ||
           (unsigned char)c > 127;
}

int a1_column(struct str name, uint32_t *ret)
{
    uint32_t n = 0;

    if (name.len == 0 || name.len > 3)
        return -EINVAL;
    for (size_t i = 0; i < name.len; i++) {
        if (!ascii_is_letter(name.p[i]))
            return -EINVAL;
        n = n * 26 + (uint32_t)((name.p[i] | 0x20) - 'a') + 1;
    }
    *ret = n - 1;
    return 0;
}

void a1_column_name(char out[A1_COLUMN_MAX], uint32_t col)
{
    char text[A1_COLUMN_MAX];
    size_t n = 0;

    for (uint32_t k = col + 1; k > 0 && n < A1_COLUMN_MAX - 1; k = (k - 1) / 26)
        text[n++] = (char)('A' + (k - 1) % 26);
    for (size_t i = 0; i < n; i++)
        out[i] = text[n - 1 - i];
    out[n] = '\0';
}

/* ---- reading ---- */

/* One end of a range: "$B$7", "B" or "7". */
struct a1_corner {
    bool has_row, has_col;
    uint32_t row, col;
};

static size_t scan_corner(struct str s, struct a1_corner *ret)
{
    size_t at = 0, from;

    *ret = (struct a1_corner){0};
    from = at += s.len > 0 && s.p[0] == '$';
    while (at < s.len && ascii_is_letter(s.p[at]))
        at++;
    if (at > from) {
        if (a1_column(str_slice(s, from, at), &ret->col) < 0)
            return 0;
        ret->has_col = true;
        from = at += at < s.len && s.p[at] == '$';
    }
    for (; at < s.len && ascii_is_digit(s.p[at]) && at - from < 9; at++)
        ret->row = ret->row * 10 + (uint32_t)(s.p[at] - '0');
    ret->has_row = at > from;
    if (ret->has_row && (ret->row == 0 || ret->row > A1_MAX_ROWS))
        return 0;
    ret->row -= ret->has_row;
    /* A '$' has to stand before something. */
    return at > 0 && s.p[at - 1] != '$' ? at : 0;
}

static void order_bounds(uint32_t *low, uint32_t *high)
{
    uint32_t t = *low;

    if (*high >= t)
        return;
    *low = *high;
    *high = t;
}

/* False for what is none: "A:5". */
static bool join_corners(const struct a1_corner *a, const struct a1_corner *b, struct a1_range *ret)
{
    if (a->has_col != b->has_col && a->has_row != b->has_row)
        return false;
    *ret = (struct a1_range){a->row, a->col, A1_OPEN, A1_OPEN};
    if (a->has_row && b->has_row)
        ret->row1 = b->row;
    if (a->has_col && b->has_col)
        ret->col1 = b->col;
    /* "A:A5" begins in the row of its other end. */
    if (!a->has_row && b->has_row)
        ret->row0 = b->row;
    if (!a->has_col && b->has_col)
        ret->col0 = b->col;
    order_bounds(&ret->row0, &ret->row1);
    order_bounds(&ret->col0, &ret->col1);
    return true;
}

size_t a1_scan(struct str s, struct a1_range *ret)
{
    struct a1_corner a, b;
    size_t n = scan_corner(s, &a), m;

    if (n == 0)
        return 0;
    if (n < s.len && s.p[n] == ':' && (m = scan_corner(str_skip(s, n + 1), &b)) > 0) {
        m += n + 1;
        if ((m == s.len || (!is_cell_word_char(s.p[m]) && s.p[m] != '(')) &&
            join_corners(&a, &b, ret))
            return m;
    }
    if (!a.has_row || !a.has_col || (n < s.len && (is_cell_word_char(s.p[n]) || s.p[n] == '(')))
        return 0;
    *ret = (struct a1_range){a.row, a.col, a.row, a.col};
    return n;
}

/* A name in quotes, a quote in it doubled: its length with the quotes, or 0. */
static size_t scan_quoted_sheet(struct arena *a, struct str s, struct str *ret)
{
    char *p = arena_alloc(a, s.len + 1);
    size_t n = 0, at = 1;

    for (; p && at < s.len; at++) {
        if (s.p[at] == '\'' && (at + 1 == s.len || s.p[at + 1] != '\''))
            break;
        at += s.p[at] == '\'';
        p[n++] = s.p[at];
    }
    if (!p || at >= s.len || n == 0)
        return 0;
    p[n] = '\0';
    *ret = str_n(p, n);
    return at + 1;
}

int a1_parse(struct arena *a, struct str text, struct a1_ref *ret)
{
    struct str s = str_trim(text);
    ptrdiff_t bang;

    *ret = (struct a1_ref){.sheet = STR_NULL, .range = {0, 0, A1_OPEN, A1_OPEN}};
    if (s.len > 0 && s.p[0] == '\'') {
        size_t n = scan_quoted_sheet(a, s, &ret->sheet);
        if (n == 0 || (n < s.len && s.p[n] != '!'))
            return -EINVAL;
        s = str_skip(s, n);
        ret->is_all = s.len == 0;
        s = str_skip(s, 1);
    } else if ((bang = str_chr(s, '!')) > 0) {
        ret->sheet = str_slice(s, 0, (size_t)bang);
        s = str_skip(s, (size_t)bang + 1);
    }
    if (ret->is_all)
        return 0;
    if (s.len > 0 && a1_scan(s, &ret->range) == s.len)
        return 0;
    if (ret->sheet.p || s.len == 0 || s.p[0] == '!')
        return -EINVAL;
    ret->sheet = s;
    ret->is_all = true;
    return 0;
}

/* ---- writing ---- */

static void write_a1_corner(struct buf *out, uint32_t row, uint32_t col)
{
    char name[A1_COLUMN_MAX] = "";

    if (col != A1_OPEN)
        a1_column_name(name, col);
    (void)buf_printf(out, "%s", name);
    if (row != A1_OPEN)
        (void)buf_printf(out, "%u", row + 1);
}

void a1_write(struct buf *out, const struct a1_range *r)
{
    bool is_columns = r->row0 == 0 && r->row1 == A1_OPEN && r->col1 != A1_OPEN;
    bool is_rows = r->col0 == 0 && r->col1 == A1_OPEN && r->row1 != A1_OPEN;

    write_a1_corner(out, is_columns ? A1_OPEN : r->row0, is_rows ? A1_OPEN : r->col0);
    if (r->row0 == r->row1 && r->col0 == r->col1)
        return;
    (void)buf_add_char(out, ':');
    write_a1_corner(out, r->row1, r->col1);
}

void a1_write_sheet(struct buf *out, struct str name)
{
    struct a1_range range;
    bool is_plain = name.len > 0 && !ascii_is_digit(name.p[0]) && a1_scan(name, &range) != name.len;

    for (size_t i = 0; i < name.len; i++)
        is_plain = is_plain &&
                   (ascii_is_letter(name.p[i]) || ascii_is_digit(name.p[i]) || name.p[i] == '_');
    if (is_plain) {
        (void)buf_add_str(out, name);
        return;
    }
    (void)buf_add_char(out, '\'');
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '\'')
            (void)buf_add_char(out, '\'');
        (void)buf_add_char(out, name.p[i]);
    }
    (void)buf_add_char(out, '\'');
}
