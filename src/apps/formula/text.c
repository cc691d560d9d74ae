/* SPDX-License-Identifier: MIT */
/* Functions of texts. Characters are code points. */
#include <errno.h>
#include <math.h>

#include "apps/formula/formula_internal.h"
#include "base/ascii.h"
#include "base/regex.h"
#include "base/utf8.h"

static size_t char_len(struct str s)
{
    size_t n = s.len > 0 ? utf8_sequence(s.p, s.len) : 0;

    return n > 0 ? n : 1;
}

static size_t count_formula_chars(struct str s)
{
    size_t n = 0;

    for (; s.len > 0; s = str_skip(s, char_len(s)))
        n++;
    return n;
}

/* Bytes of the first N characters. */
static size_t bytes_of_chars(struct str s, double n)
{
    struct str rest = s;
    size_t left = n < 0 ? 0 : n < (double)s.len ? (size_t)n : s.len;

    for (; rest.len > 0 && left > 0; left--)
        rest = str_skip(rest, char_len(rest));
    return s.len - rest.len;
}

static bool text_arg(struct fx *x, const struct fx_args *a, size_t i, struct str *out,
                     struct formula_value *ret)
{
    *out = STR("");
    return i >= a->n || fx_string(x, &a->v[i], out, ret);
}

/* ---- parts ---- */

static void fn_len(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct str s;

    if (text_arg(x, a, 0, &s, ret))
        fx_give(ret, (double)count_formula_chars(s));
}

static void fn_left(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct str s;
    double n;

    if (!text_arg(x, a, 0, &s, ret) || !fx_arg(a, 1, 1, &n, ret))
        return;
    if (n < 0)
        fx_give_error(ret, FORMULA_ERROR_VALUE);
    else
        fx_give_text(x, ret, str_slice(s, 0, bytes_of_chars(s, trunc(n))));
}

static void fn_right(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct str s;
    double n;

    if (!text_arg(x, a, 0, &s, ret) || !fx_arg(a, 1, 1, &n, ret))
        return;
    double skip = (double)count_formula_chars(s) - trunc(n);
    if (n < 0)
        fx_give_error(ret, FORMULA_ERROR_VALUE);
    else
        fx_give_text(x, ret, str_skip(s, bytes_of_chars(s, skip)));
}

static void fn_mid(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct str s;
    double from, n;

    if (!text_arg(x, a, 0, &s, ret) || !fx_arg(a, 1, 1, &from, ret) || !fx_arg(a, 2, 0, &n, ret))
        return;
    if (from < 1 || n < 0) {
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return;
    }
    s = str_skip(s, bytes_of_chars(s, trunc(from) - 1));
    fx_give_text(x, ret, str_slice(s, 0, bytes_of_chars(s, trunc(n))));
}

static void fn_formula_replace(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(FORMULA_MAX_TEXT);
    struct str s, with;
    double from, n;

    if (!text_arg(x, a, 0, &s, ret) || !fx_arg(a, 1, 1, &from, ret) || !fx_arg(a, 2, 0, &n, ret) ||
        !text_arg(x, a, 3, &with, ret))
        return;
    if (from < 1 || n < 0) {
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return;
    }
    size_t at = bytes_of_chars(s, trunc(from) - 1);
    struct str rest = str_skip(s, at);
    (void)buf_add_str(&b, str_slice(s, 0, at));
    (void)buf_add_str(&b, with);
    (void)buf_add_str(&b, str_skip(rest, bytes_of_chars(rest, trunc(n))));
    fx_give_buf(x, ret, &b);
}

/* ---- search ---- */

static bool is_text_at(struct str s, struct str what, bool any_case)
{
    return s.len >= what.len &&
           (any_case ? str_ieq(str_slice(s, 0, what.len), what) : str_starts(s, what));
}

static void find_in_text(struct fx *x, const struct fx_args *a, bool any_case,
                         struct formula_value *ret)
{
    struct str what, s;
    double from;

    if (!text_arg(x, a, 0, &what, ret) || !text_arg(x, a, 1, &s, ret) ||
        !fx_arg(a, 2, 1, &from, ret))
        return;
    fx_give_error(ret, FORMULA_ERROR_VALUE);
    if (from < 1)
        return;
    fx_charge(x, (uint64_t)s.len * what.len / 64);
    struct str rest = str_skip(s, bytes_of_chars(s, trunc(from) - 1));
    for (double at = trunc(from);; at++, rest = str_skip(rest, char_len(rest))) {
        if (is_text_at(rest, what, any_case)) {
            fx_give(ret, at);
            return;
        }
        if (rest.len == 0)
            return;
    }
}

static void fn_find(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    find_in_text(x, a, false, ret);
}

static void fn_search(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    find_in_text(x, a, true, ret);
}

/* SUBSTITUTE(text, what, with, which one) */
static void fn_substitute(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(FORMULA_MAX_TEXT);
    struct str s, what, with;
    double which, n = 0;

    if (!text_arg(x, a, 0, &s, ret) || !text_arg(x, a, 1, &what, ret) ||
        !text_arg(x, a, 2, &with, ret) || !fx_arg(a, 3, 0, &which, ret))
        return;
    fx_charge(x, (uint64_t)s.len * what.len / 64);
    while (s.len > 0) {
        bool is_found = what.len > 0 && str_starts(s, what);
        n += is_found;
        if (is_found && (a->n < 4 || !(n < trunc(which) || n > trunc(which)))) {
            (void)buf_add_str(&b, with);
            s = str_skip(s, what.len);
            continue;
        }
        size_t len = is_found ? what.len : 1;
        (void)buf_add_str(&b, str_slice(s, 0, len));
        s = str_skip(s, len);
    }
    fx_give_buf(x, ret, &b);
}

static void fn_exact(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct str p, q;

    if (text_arg(x, a, 0, &p, ret) && text_arg(x, a, 1, &q, ret))
        fx_give_bool(ret, str_eq(p, q));
}

/* ---- changes ---- */

enum letter_case { UPPER, LOWER, PROPER };

static void change_case(struct fx *x, const struct fx_args *a, enum letter_case to,
                        struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(FORMULA_MAX_TEXT);
    struct str s;
    bool is_first = true;

    if (!text_arg(x, a, 0, &s, ret))
        return;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        bool up = to == UPPER || (to == PROPER && is_first);
        (void)buf_add_char(&b, up && ascii_is_lower(c)    ? (char)(c - 32)
                               : !up && ascii_is_upper(c) ? (char)(c + 32)
                                                          : c);
        is_first = !ascii_is_lower(c) && !ascii_is_upper(c) && (unsigned char)c < 128;
    }
    fx_give_buf(x, ret, &b);
}

static void fn_formula_upper(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    change_case(x, a, UPPER, ret);
}

static void fn_formula_lower(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    change_case(x, a, LOWER, ret);
}

static void fn_proper(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    change_case(x, a, PROPER, ret);
}

/* Without spaces at the ends, and one where there were several. */
static void fn_formula_trim(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(FORMULA_MAX_TEXT);
    struct str s;

    if (!text_arg(x, a, 0, &s, ret))
        return;
    for (size_t i = 0; i < s.len; i++) {
        bool is_kept = s.p[i] != ' ' || (b.len > 0 && i + 1 < s.len && s.p[i + 1] != ' ');
        if (is_kept)
            (void)buf_add_char(&b, s.p[i]);
    }
    fx_give_buf(x, ret, &b);
}

static void fn_formula_clean(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(FORMULA_MAX_TEXT);
    struct str s;

    if (!text_arg(x, a, 0, &s, ret))
        return;
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.p[i] >= 32)
            (void)buf_add_char(&b, s.p[i]);
    }
    fx_give_buf(x, ret, &b);
}

static void fn_rept(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(FORMULA_MAX_TEXT);
    int64_t n, bounds[2] = {0, FORMULA_MAX_TEXT};
    struct str s;

    if (!text_arg(x, a, 0, &s, ret) || !fx_arg_int(a, 1, bounds, &n, ret))
        return;
    for (int64_t i = 0; s.len > 0 && i < n && buf_ok(&b); i++)
        (void)buf_add_str(&b, s);
    fx_give_buf(x, ret, &b);
}

/* ---- joining ---- */

struct joined {
    struct fx *x;
    struct buf b;
    struct str between;
    bool skips_empty, is_first;
    struct formula_value error;
};

static bool join_values(void *ctx, const struct formula_value *v, bool is_direct)
{
    struct joined *j = ctx;
    struct str s;

    (void)is_direct;
    if (!fx_string(j->x, v, &s, &j->error))
        return false;
    if (j->skips_empty && s.len == 0)
        return true;
    if (!j->is_first)
        (void)buf_add_str(&j->b, j->between);
    j->is_first = false;
    (void)buf_add_str(&j->b, s);
    return buf_ok(&j->b);
}

/* Blank cells are empty texts, with what stands between. */
static void join_all(struct joined *j, const struct formula_value *v)
{
    struct formula_value item;
    uint32_t rows, cols;

    fx_size(j->x, v, &rows, &cols);
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < cols && !j->x->env->is_over; k++) {
            fx_item(j->x, v, i, k, &item);
            if (!join_values(j, &item, true))
                return;
        }
    }
}

static void join_from(struct joined *j, const struct fx_args *a, size_t from,
                      struct formula_value *ret)
{
    buf_init(&j->b, FORMULA_MAX_TEXT);
    j->is_first = true;
    if (j->skips_empty || j->between.len == 0)
        fx_each(j->x, a, from, join_values, j);
    for (size_t i = from; !j->skips_empty && j->between.len > 0 && i < a->n; i++)
        join_all(j, &a->v[i]);
    if (j->error.type == FORMULA_ERROR)
        *ret = j->error;
    else
        fx_give_buf(j->x, ret, &j->b);
    buf_done(&j->b);
}

static void fn_concatenate(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct joined j = {.x = x, .between = STR("")};

    join_from(&j, a, 0, ret);
}

static void fn_join(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct joined j = {.x = x};
    struct formula_value between = a->v[0];

    fx_scalar(x, &between);
    if (fx_string(x, &between, &j.between, ret))
        join_from(&j, a, 1, ret);
}

static void fn_textjoin(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct joined j = {.x = x};
    struct formula_value between = a->v[0], skips = a->v[1];

    fx_scalar(x, &between);
    fx_scalar(x, &skips);
    if (fx_string(x, &between, &j.between, ret) && fx_bool(&skips, &j.skips_empty, ret))
        join_from(&j, a, 2, ret);
}

/* ---- conversions ---- */

static void fn_formula_text(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(FORMULA_MAX_TEXT);
    struct formula_value v = a->v[0];
    struct formula_entry entry;
    struct str pattern;
    double d;

    if (!text_arg(x, a, 1, &pattern, ret))
        return;
    if (v.type == FORMULA_TEXT && fx_read_number(v.text, &d, &entry))
        v = entry.value;
    if (v.type == FORMULA_BLANK)
        fx_give(&v, 0);
    formula_show(&b, &v, pattern);
    fx_give_buf(x, ret, &b);
}

static void fn_value(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d;

    (void)x;
    if (fx_number(&a->v[0], &d, ret))
        fx_give(ret, d);
}

/* A number with that many decimals, as FIXED and DOLLAR write it. */
static void write_fixed(struct fx *x, const struct fx_args *a, const char *sign,
                        struct formula_value *ret)
{
    auto_buf struct buf pattern = BUF_INIT(64), b = BUF_INIT(1024);
    struct formula_value v;
    double d, plain;
    int64_t n = 2, bounds[2] = {0, 20};

    if (!fx_number(&a->v[0], &d, ret) || (a->n > 1 && !fx_arg_int(a, 1, bounds, &n, ret)) ||
        !fx_arg(a, 2, 0, &plain, ret))
        return;
    (void)buf_printf(&pattern, "%s%s%s", sign, plain > 0 ? "0" : "#,##0", n > 0 ? "." : "");
    for (int64_t i = 0; i < n; i++)
        (void)buf_add_char(&pattern, '0');
    fx_give(&v, d);
    formula_show(&b, &v, buf_str(&pattern));
    fx_give_buf(x, ret, &b);
}

static void fn_fixed(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    write_fixed(x, a, "", ret);
}

static void fn_dollar(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    write_fixed(x, a, "$", ret);
}

static void fn_char(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    int64_t c, bounds[2] = {1, 0x10FFFF};
    char text[UTF8_MAX];

    if (!fx_arg_int(a, 0, bounds, &c, ret))
        return;
    if (c >= 0xD800 && c <= 0xDFFF)
        fx_give_error(ret, FORMULA_ERROR_NUM);
    else
        fx_give_text(x, ret, str_n(text, utf8_encode(text, (uint32_t)c)));
}

static void fn_code(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct str s;
    uint32_t c;

    if (!text_arg(x, a, 0, &s, ret))
        return;
    if (s.len > 0 && utf8_decode(s.p, s.len, &c) > 0)
        fx_give(ret, c);
    else
        fx_give_error(ret, FORMULA_ERROR_VALUE);
}

static void fn_t(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    if (a->v[0].type == FORMULA_TEXT)
        *ret = a->v[0];
    else
        fx_give_text(x, ret, STR(""));
}

const struct fx_function fx_text[] = {
    {"LEN", 1, 1, FX_SCALAR, 0, fn_len},
    {"LEFT", 1, 2, FX_SCALAR, 0, fn_left},
    {"RIGHT", 1, 2, FX_SCALAR, 0, fn_right},
    {"MID", 3, 3, FX_SCALAR, 0, fn_mid},
    {"REPLACE", 4, 4, FX_SCALAR, 0, fn_formula_replace},
    {"FIND", 2, 3, FX_SCALAR, 0, fn_find},
    {"SEARCH", 2, 3, FX_SCALAR, 0, fn_search},
    {"SUBSTITUTE", 3, 4, FX_SCALAR, 0, fn_substitute},
    {"EXACT", 2, 2, FX_SCALAR, 0, fn_exact},
    {"UPPER", 1, 1, FX_SCALAR, 0, fn_formula_upper},
    {"LOWER", 1, 1, FX_SCALAR, 0, fn_formula_lower},
    {"PROPER", 1, 1, FX_SCALAR, 0, fn_proper},
    {"TRIM", 1, 1, FX_SCALAR, 0, fn_formula_trim},
    {"CLEAN", 1, 1, FX_SCALAR, 0, fn_formula_clean},
    {"REPT", 2, 2, FX_SCALAR, 0, fn_rept},
    {"CONCATENATE", 1, 255, FX_VALUES, 0, fn_concatenate},
    {"JOIN", 2, 255, FX_VALUES, 0, fn_join},
    {"TEXTJOIN", 3, 255, FX_VALUES, 0, fn_textjoin},
    {"TEXT", 2, 2, FX_SCALAR, 0, fn_formula_text},
    {"VALUE", 1, 1, FX_SCALAR, 0, fn_value},
    {"FIXED", 1, 3, FX_SCALAR, 0, fn_fixed},
    {"DOLLAR", 1, 2, FX_SCALAR, 0, fn_dollar},
    {"CHAR", 1, 1, FX_SCALAR, 0, fn_char},
    {"UNICHAR", 1, 1, FX_SCALAR, 0, fn_char},
    {"CODE", 1, 1, FX_SCALAR, 0, fn_code},
    {"UNICODE", 1, 1, FX_SCALAR, 0, fn_code},
    {"T", 1, 1, FX_SCALAR, 0, fn_t},
    {NULL, 0, 0, 0, 0, NULL},
};
