/* SPDX-License-Identifier: MIT */
#include "local/excel/ref.h"

#include "base/ascii.h"
#include "base/buf.h"

/* What a reference in a formula looks like. */
struct written {
    struct ref at;
    bool is_col_fixed, is_row_fixed;
};

static size_t read_written(struct str s, struct written *ret)
{
    size_t i = 0, begin;
    unsigned col = 0, row = 0;

    *ret = (struct written){0};
    ret->is_col_fixed = i < s.len && s.p[i] == '$';
    i += ret->is_col_fixed;
    for (begin = i; i < s.len && ascii_is_letter(s.p[i]); i++) {
        col = col * 26 + (unsigned)((s.p[i] | 32) - 'a' + 1);
        if (col > REF_COLS_MAX)
            return 0;
    }
    if (i == begin)
        return 0;
    ret->is_row_fixed = i < s.len && s.p[i] == '$';
    i += ret->is_row_fixed;
    for (begin = i; i < s.len && ascii_is_digit(s.p[i]); i++) {
        row = row * 10 + (unsigned)(s.p[i] - '0');
        if (row > REF_ROWS_MAX)
            return 0;
    }
    ret->at = (struct ref){row, col};
    return i == begin || row == 0 ? 0 : i;
}

size_t ref_read(struct str text, struct ref *ret)
{
    struct written w;
    size_t n = read_written(text, &w);

    *ret = w.at;
    return n;
}

bool ref_parse(struct str text, struct ref *ret)
{
    return text.len > 0 && ref_read(text, ret) == text.len;
}

bool range_parse(struct str text, struct range *ret)
{
    struct str first = str_cut(&text, ':');
    struct ref a, b;

    if (!ref_parse(first, &a) || (text.p && !ref_parse(text, &b)))
        return false;
    if (!text.p)
        b = a;
    *ret = (struct range){a.row < b.row ? a.row : b.row, a.col < b.col ? a.col : b.col,
                          a.row < b.row ? b.row : a.row, a.col < b.col ? b.col : a.col};
    return true;
}

void ref_letters(unsigned col, char out[static 4])
{
    char reversed[4];
    size_t n = 0, len;

    for (; col > 0 && n < 3; col = (col - 1) / 26)
        reversed[n++] = (char)('A' + (col - 1) % 26);
    for (len = 0; n > 0;)
        out[len++] = reversed[--n];
    out[len] = '\0';
}

struct str ref_text(struct arena *a, struct ref r)
{
    char letters[4];

    ref_letters(r.col, letters);
    return arena_printf(a, "%s%u", letters, r.row);
}

struct str range_text(struct arena *a, struct range r)
{
    char first[4], second[4];

    ref_letters(r.col, first);
    ref_letters(r.col2, second);
    return arena_printf(a, "%s%u:%s%u", first, r.row, second, r.row2);
}

struct str range_formula(struct arena *a, struct str sheet, struct range r)
{
    auto_buf struct buf b = BUF_INIT(4096);
    char first[4], second[4];

    ref_letters(r.col, first);
    ref_letters(r.col2, second);
    (void)buf_add_char(&b, '\'');
    for (size_t i = 0; i < sheet.len; i++) {
        (void)buf_add_char(&b, sheet.p[i]);
        if (sheet.p[i] == '\'')
            (void)buf_add_char(&b, '\'');
    }
    (void)buf_printf(&b, "'!$%s$%u", first, r.row);
    if (r.row != r.row2 || r.col != r.col2)
        (void)buf_printf(&b, ":$%s$%u", second, r.row2);
    return arena_str(a, buf_str(&b));
}

bool range_has(struct range r, struct ref at)
{
    return at.row >= r.row && at.row <= r.row2 && at.col >= r.col && at.col <= r.col2;
}

/* ---- formulas ---- */

static void write_moved(struct buf *out, const struct written *w, int64_t rows, int64_t cols)
{
    int64_t row = (int64_t)w->at.row + (w->is_row_fixed ? 0 : rows);
    int64_t col = (int64_t)w->at.col + (w->is_col_fixed ? 0 : cols);
    char letters[4];

    if (row < 1 || row > REF_ROWS_MAX || col < 1 || col > REF_COLS_MAX) {
        (void)buf_add_lit(out, "#REF!");
        return;
    }
    ref_letters((unsigned)col, letters);
    (void)buf_printf(out, "%s%s%s%u", w->is_col_fixed ? "$" : "", letters,
                     w->is_row_fixed ? "$" : "", (unsigned)row);
}

static bool is_ref_word_char(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '_' || c == '.' || c == '$' ||
           (c & 0x80);
}

/* Text in quotes, or a word that may be a reference: how many bytes of S, which are written. */
static size_t move_piece(struct buf *out, struct str s, int64_t rows, int64_t cols)
{
    struct written w;
    size_t n = 1;

    if (s.p[0] == '"' || s.p[0] == '\'') {
        while (n < s.len && s.p[n] != s.p[0])
            n++;
        n += n < s.len;
        (void)buf_add(out, s.p, n);
        return n;
    }
    if (!is_ref_word_char(s.p[0])) {
        (void)buf_add_char(out, s.p[0]);
        return 1;
    }
    while (n < s.len && is_ref_word_char(s.p[n]))
        n++;
    /* Not the names of functions ("LOG10(") and sheets ("Q1!"). */
    bool is_name = n < s.len && (s.p[n] == '(' || s.p[n] == '!');
    if (!is_name && read_written(str_slice(s, 0, n), &w) == n)
        write_moved(out, &w, rows, cols);
    else
        (void)buf_add(out, s.p, n);
    return n;
}

struct str formula_moved(struct arena *a, struct str formula, int64_t rows, int64_t cols)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    while (formula.len > 0)
        formula = str_skip(formula, move_piece(&b, formula, rows, cols));
    return buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
}
