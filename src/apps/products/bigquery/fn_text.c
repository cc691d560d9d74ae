/* SPDX-License-Identifier: MIT */
/* Functions of texts. */
#include <stdio.h>

#include "apps/products/bigquery/fn.h"
#include "apps/text/wildcard.h"
#include "base/ascii.h"
#include "base/cleanup.h"

/* ---- texts ---- */

static void fn_concat(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    if (bq_fn_has_null(n, v))
        return;
    for (int i = 0; i < n; i++)
        (void)buf_add_str(&b, fn_text(v[i]));
    fn_give(x, &b);
}

static bool spend_bq_work(void *ctx, int64_t units)
{
    return fn_spend(ctx, units);
}

/* bq_like(text, pattern): with regard to case; '\' escapes. */
static void fn_bq_like(sqlite3_context *x, int n, sqlite3_value **v)
{
    if (bq_fn_has_null(n, v))
        return;
    const struct wildcard w = {.pattern = fn_text(v[1]),
                               .text = fn_text(v[0]),
                               .many = '%',
                               .one = '_',
                               .escape = STR("\\"),
                               .spend = spend_bq_work,
                               .ctx = x};
    int r = wildcard_match(&w);
    if (r >= 0)
        sqlite3_result_int(x, r);
}

static bool is_ascii_letter(char c)
{
    return ascii_is_letter(c) || (unsigned char)c >= 0x80;
}

static void fn_initcap(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str s = fn_text(v[0]);
    bool is_first = true;

    if (bq_fn_has_null(n, v))
        return;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        if (is_first && c >= 'a' && c <= 'z')
            c = (char)(c & ~32);
        else if (!is_first && c >= 'A' && c <= 'Z')
            c = (char)(c | 32);
        is_first = !is_ascii_letter(c) && !(c >= '0' && c <= '9');
        (void)buf_add_char(&b, c);
    }
    fn_give(x, &b);
}

static size_t char_length(struct str s, size_t at)
{
    size_t n = 1;

    while (at + n < s.len && ((unsigned char)s.p[at + n] & 0xc0) == 0x80)
        n++;
    return n;
}

static void fn_reverse(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str s = fn_text(v[0]);

    if (bq_fn_has_null(n, v))
        return;
    for (size_t end = s.len; end > 0;) {
        size_t at = end - 1;
        while (at > 0 && ((unsigned char)s.p[at] & 0xc0) == 0x80)
            at--;
        (void)buf_add(&b, s.p + at, end - at);
        end = at;
    }
    fn_give(x, &b);
}

static void fn_repeat(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    int64_t count = sqlite3_value_int64(v[1]);
    struct str s = fn_text(v[0]);

    if (bq_fn_has_null(n, v))
        return;
    for (int64_t i = 0; i < count && s.len > 0 && buf_ok(&b); i++) {
        (void)buf_add_str(&b, s);
        if (!fn_spend(x, (int64_t)s.len + 8))
            return;
    }
    fn_give(x, &b);
}

/* bq_split(text, separator): an array; "" parts the characters. */
static void fn_bq_split(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str s = fn_text(v[0]), by = fn_text(v[1]);
    struct jw w = jw_to(&b);

    if (bq_fn_has_null(n, v))
        return;
    jw_array(&w);
    while (by.len == 0 && s.len > 0) {
        size_t len = char_length(s, 0);
        jw_str(&w, str_slice(s, 0, len));
        s = str_skip(s, len);
    }
    for (ptrdiff_t at = 0; by.len > 0 && at >= 0;) {
        at = str_find(s, by);
        jw_str(&w, at < 0 ? s : str_slice(s, 0, (size_t)at));
        s = str_skip(s, at < 0 ? s.len : (size_t)at + by.len);
    }
    jw_end(&w);
    fn_give_json(x, &b);
}

static size_t count_text_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i += char_length(s, i))
        n++;
    return n;
}

/* bq_pad(text, length, with, is_left) */
static void fn_pad(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct str s = fn_text(v[0]), with = fn_text(v[2]);
    int64_t want = sqlite3_value_int64(v[1]);
    size_t have = count_text_chars(s), at = 0;

    if (bq_fn_has_null(n, v) || want < 0 || want > (1 << 20) || with.len == 0)
        return;
    size_t cut = 0;
    for (int64_t i = 0; i < want && cut < s.len; i++)
        cut += char_length(s, cut);
    if (!sqlite3_value_int(v[3]))
        (void)buf_add_str(&b, str_slice(s, 0, cut));
    if (!fn_spend(x, want * 4))
        return;
    for (size_t i = have; i < (size_t)want; i++) {
        size_t len = char_length(with, at);
        (void)buf_add(&b, with.p + at, len);
        at = at + len < with.len ? at + len : 0;
    }
    if (sqlite3_value_int(v[3]))
        (void)buf_add_str(&b, str_slice(s, 0, cut));
    fn_give(x, &b);
}

/* ---- FORMAT ---- */

/* 1234567 as 1,234,567. */
static void put_grouped(struct buf *b, struct str digits)
{
    size_t end = 0, begin = digits.len > 0 && digits.p[0] == '-' ? 1 : 0;

    while (begin + end < digits.len && digits.p[begin + end] >= '0' && digits.p[begin + end] <= '9')
        end++;
    for (size_t i = 0; i < digits.len; i++) {
        size_t left = begin + end - i;
        if (i > begin && i < begin + end && left % 3 == 0)
            (void)buf_add_char(b, ',');
        (void)buf_add_char(b, digits.p[i]);
    }
}

struct bq_form {
    bool is_left, has_zeros, has_plus, is_grouped;
    int width, precision; /* precision -1: none */
};

static struct bq_form read_form(const char *flags)
{
    struct bq_form f = {.precision = -1};

    for (; *flags && strchr("-0+ '", *flags); flags++) {
        f.is_left |= *flags == '-';
        f.has_zeros |= *flags == '0';
        f.has_plus |= *flags == '+';
        f.is_grouped |= *flags == '\'';
    }
    for (; *flags >= '0' && *flags <= '9'; flags++)
        f.width = f.width * 10 + (*flags - '0');
    if (*flags == '.') {
        f.precision = 0;
        for (flags++; *flags >= '0' && *flags <= '9'; flags++)
            f.precision = f.precision * 10 + (*flags - '0');
    }
    return f;
}

static void put_repeated(struct buf *b, char c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)buf_add_char(b, c);
}

static void put_padded(struct buf *b, const struct bq_form *f, struct str s, bool is_number)
{
    bool has_sign = is_number && s.len > 0 && s.p[0] == '-';
    bool adds_plus = is_number && f->has_plus && !has_sign;
    size_t len = count_text_chars(s) + adds_plus, width = (size_t)f->width;
    size_t pad = len < width ? width - len : 0;
    bool is_zero = f->has_zeros && !f->is_left && is_number;

    put_repeated(b, ' ', f->is_left || is_zero ? 0 : pad);
    put_repeated(b, '+', adds_plus);
    if (has_sign && is_zero) {
        (void)buf_add_char(b, '-');
        s = str_skip(s, 1);
    }
    put_repeated(b, '0', is_zero ? pad : 0);
    (void)buf_add_str(b, s);
    put_repeated(b, ' ', f->is_left ? pad : 0);
}

/* One value by FLAGS, what is between "%" and the letter. */
static bool put_formatted(struct buf *b, const char *flags, char letter, sqlite3_value *v)
{
    struct bq_form f = read_form(flags);
    int digits = f.precision < 0 ? 6 : f.precision > 30 ? 30 : f.precision;
    double d = sqlite3_value_double(v);
    auto_buf struct buf text = BUF_INIT(1 << 20);
    auto_buf struct buf grouped = BUF_INIT(1 << 20);
    bool is_number = letter != 's' && letter != 't' && letter != 'T';

    switch (letter) {
    case 'd':
    case 'i': (void)buf_printf(&text, "%lld", (long long)sqlite3_value_int64(v)); break;
    case 'x': (void)buf_printf(&text, "%llx", (unsigned long long)sqlite3_value_int64(v)); break;
    case 'f':
    case 'F': (void)buf_printf(&text, "%.*f", digits, d); break;
    case 'e': (void)buf_printf(&text, "%.*e", digits, d); break;
    case 'g': (void)buf_printf(&text, "%.*g", digits, d); break;
    case 's':
    case 't': (void)buf_add_str(&text, fn_text(v)); break;
    case 'T': (void)buf_printf(&text, "\"" STR_FMT "\"", STR_ARG(fn_text(v))); break;
    default: return false;
    }
    if (f.is_grouped && is_number)
        put_grouped(&grouped, buf_str(&text));
    put_padded(b, &f, f.is_grouped && is_number ? buf_str(&grouped) : buf_str(&text), is_number);
    return true;
}

/* bq_format(format, value…) */
static void fn_bq_format(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    int next = 1;

    if (n < 1 || sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    struct str f = fn_text(v[0]);
    for (size_t i = 0; i < f.len; i++) {
        char flags[16] = "";
        size_t k = 0;
        if (f.p[i] != '%') {
            (void)buf_add_char(&b, f.p[i]);
            continue;
        }
        for (i++; i < f.len && k + 1 < sizeof flags && strchr("0123456789.-+ '", f.p[i]); i++)
            flags[k++] = f.p[i];
        /* Not more digits than the text has room for. */
        bool is_wide = k > 6;
        if (i < f.len && f.p[i] == '%') {
            (void)buf_add_char(&b, '%');
        } else if (i >= f.len || is_wide || next >= n) {
            bq_fn_fail(x, "Too few arguments to FORMAT for pattern \"" STR_FMT "\"",
                       STR_ARG(str_slice(f, 0, 100)));
            return;
        } else if (!put_formatted(&b, flags, f.p[i], v[next++])) {
            bq_fn_fail(
                x, "Invalid format specifier character \"%c\" in FORMAT string: \"" STR_FMT "\"",
                f.p[i], STR_ARG(str_slice(f, 0, 100)));
            return;
        }
    }
    fn_give(x, &b);
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_bigquery_text[] = {
    {"bq_concat", -1, PURE, fn_concat},
    {"bq_like", 2, PURE, fn_bq_like},
    {"bq_initcap", 1, PURE, fn_initcap},
    {"bq_reverse", 1, PURE, fn_reverse},
    {"bq_repeat", 2, PURE, fn_repeat},
    {"bq_split", 2, PURE | SQLITE_SUBTYPE, fn_bq_split},
    {"bq_pad", 4, PURE, fn_pad},
    {"bq_format", -1, PURE, fn_bq_format},
    {NULL, 0, 0, NULL},
};
