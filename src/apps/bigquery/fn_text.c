/* SPDX-License-Identifier: MIT */
/* Functions of texts. Regular expressions are those of the C library, which knows most of what
 * BigQuery's have; what it writes otherwise is translated. */
#include <regex.h>
#include <stdio.h>

#include "apps/bigquery/fn.h"
#include "base/cleanup.h"

enum { PATTERN_MAX = 512, REPEAT_MAX = 1000, MATCHES_MAX = 10000 };

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

/* Takes the next character of S by the next of the pattern P, which is no '%'. */
static bool take_like(struct str s, size_t *i, struct str p, size_t *k)
{
    if (*k >= p.len || p.p[*k] == '%')
        return false;
    if (p.p[*k] == '_') {
        for (++*i; *i < s.len && ((unsigned char)s.p[*i] & 0xc0) == 0x80;)
            ++*i;
        ++*k;
        return true;
    }
    size_t at = p.p[*k] == '\\' && *k + 1 < p.len ? *k + 1 : *k;
    if (p.p[at] != s.p[*i])
        return false;
    ++*i;
    *k = at + 1;
    return true;
}

/* bq_like(text, pattern): with regard to case; '\' escapes. */
static bool is_like(struct str s, struct str p)
{
    size_t i = 0, k = 0, star = SIZE_MAX, mark = 0;

    while (i < s.len) {
        if (take_like(s, &i, p, &k))
            continue;
        if (k < p.len && p.p[k] == '%') {
            star = ++k;
            mark = i;
        } else if (star != SIZE_MAX) {
            k = star;
            i = ++mark;
        } else {
            return false;
        }
    }
    while (k < p.len && p.p[k] == '%')
        k++;
    return k == p.len;
}

static void fn_like(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct str text = fn_text(v[0]), pattern = fn_text(v[1]);

    if (!bq_fn_has_null(n, v))
        sqlite3_result_int(x, pattern.len <= 10000 && is_like(text, pattern));
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
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
        is_first = !is_letter(c) && !(c >= '0' && c <= '9');
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
    for (int64_t i = 0; i < count && s.len > 0 && buf_ok(&b); i++)
        (void)buf_add_str(&b, s);
    fn_give(x, &b);
}

/* bq_split(text, separator): an array; "" parts the characters. */
static void fn_split(sqlite3_context *x, int n, sqlite3_value **v)
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

static size_t count_chars(struct str s)
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
    size_t have = count_chars(s), at = 0;

    if (bq_fn_has_null(n, v) || want < 0 || want > (1 << 20) || with.len == 0)
        return;
    size_t cut = 0;
    for (int64_t i = 0; i < want && cut < s.len; i++)
        cut += char_length(s, cut);
    if (!sqlite3_value_int(v[3]))
        (void)buf_add_str(&b, str_slice(s, 0, cut));
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

struct form {
    bool is_left, has_zeros, has_plus, is_grouped;
    int width, precision; /* precision -1: none */
};

static struct form read_form(const char *flags)
{
    struct form f = {.precision = -1};

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

static void put_times(struct buf *b, char c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)buf_add_char(b, c);
}

static void put_padded(struct buf *b, const struct form *f, struct str s, bool is_number)
{
    bool has_sign = is_number && s.len > 0 && s.p[0] == '-';
    bool adds_plus = is_number && f->has_plus && !has_sign;
    size_t len = count_chars(s) + adds_plus, width = (size_t)f->width;
    size_t pad = len < width ? width - len : 0;
    bool is_zero = f->has_zeros && !f->is_left && is_number;

    put_times(b, ' ', f->is_left || is_zero ? 0 : pad);
    put_times(b, '+', adds_plus);
    if (has_sign && is_zero) {
        (void)buf_add_char(b, '-');
        s = str_skip(s, 1);
    }
    put_times(b, '0', is_zero ? pad : 0);
    (void)buf_add_str(b, s);
    put_times(b, ' ', f->is_left ? pad : 0);
}

/* One value by FLAGS, what is between "%" and the letter. */
static bool put_formatted(struct buf *b, const char *flags, char letter, sqlite3_value *v)
{
    struct form f = read_form(flags);
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
static void fn_format(sqlite3_context *x, int n, sqlite3_value **v)
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

/* ---- regular expressions ---- */

/* What stands for "\X" in a bracket or out of it; NULL: the character itself, escaped. */
static const char *class_of(char c, bool is_in_brackets)
{
    switch (c) {
    case 'd': return is_in_brackets ? "0-9" : "[0-9]";
    case 'D': return "[^0-9]";
    case 'w': return is_in_brackets ? "A-Za-z0-9_" : "[A-Za-z0-9_]";
    case 'W': return "[^A-Za-z0-9_]";
    case 's': return is_in_brackets ? " \t\n\r\f" : "[ \t\n\r\f]";
    case 'S': return "[^ \t\n\r\f]";
    case 'n': return "\n";
    case 't': return "\t";
    case 'A': return "^";
    case 'z': return "$";
    default: return NULL;
    }
}

struct pattern {
    regex_t re;
    int first_group; /* 0: all of the match */
};

/* The most that a repetition "{2,40}" stands for. */
static unsigned repeat_of(struct str s)
{
    unsigned value = 0, most = 1;

    for (size_t i = 1; i < s.len && s.p[i] != '}' && value < 100000; i++) {
        value = s.p[i] >= '0' && s.p[i] <= '9' ? value * 10 + (unsigned)(s.p[i] - '0') : 0;
        most = value > most ? value : most;
    }
    return most;
}

static void put_class(struct buf *b, char c, bool is_in_brackets)
{
    const char *class = class_of(c, is_in_brackets);

    if (class)
        (void)buf_printf(b, "%s", class);
    else if (c == 'b')
        (void)buf_add_lit(b, "\\b");
    else
        (void)buf_printf(b, is_in_brackets ? "%c" : "\\%c", c);
}

/* What the library has no form for, or would take too long over. */
static bool is_refused(struct str rest, unsigned *n_repeats)
{
    if (rest.p[0] == '{')
        *n_repeats *= repeat_of(rest);
    return str_starts(rest, STR("(?")) || *n_repeats > REPEAT_MAX;
}

static bool translate(struct str p, struct buf *b, int *flags, unsigned *n_repeats)
{
    bool is_in = false;

    if (str_starts(p, STR("(?i)"))) {
        *flags |= REG_ICASE;
        p = str_skip(p, 4);
    }
    for (size_t i = 0; i < p.len; i++) {
        char c = p.p[i];
        if (c == '\\' && i + 1 < p.len) {
            put_class(b, p.p[++i], is_in);
            continue;
        }
        if (!is_in && is_refused(str_skip(p, i), n_repeats))
            return false;
        bool is_lazy = !is_in && c == '?' && i > 0 && strchr("*+?}", p.p[i - 1]);
        is_in = is_in ? c != ']' || p.p[i - 1] == '[' : c == '[';
        if (!is_lazy) /* the longest match is what there is */
            (void)buf_add_char(b, c);
    }
    return buf_ok(b);
}

/* "(?:…)" is a group of its own in the library: the first that counts is told. */
static bool open_groups(struct str p, struct buf *plain, int *first)
{
    int n = 0;

    *first = 0;
    for (size_t i = 0; i < p.len; i++) {
        bool is_escaped = i > 0 && p.p[i - 1] == '\\';
        (void)buf_add_char(plain, p.p[i]);
        if (p.p[i] != '(' || is_escaped)
            continue;
        if (str_starts(str_skip(p, i), STR("(?i)")))
            continue;
        n++;
        if (str_starts(str_skip(p, i), STR("(?:")))
            i += 2;
        else if (*first == 0)
            *first = n;
    }
    return buf_ok(plain);
}

static bool compile(sqlite3_context *x, struct str text, struct pattern *ret)
{
    auto_buf struct buf plain = BUF_INIT(4096);
    auto_buf struct buf b = BUF_INIT(16 << 10);
    int flags = REG_EXTENDED;
    unsigned n_repeats = 1;

    if (text.len <= PATTERN_MAX && open_groups(text, &plain, &ret->first_group) &&
        translate(buf_str(&plain), &b, &flags, &n_repeats) && buf_cstr(&b) &&
        regcomp(&ret->re, buf_cstr(&b), flags) == 0)
        return true;
    bq_fn_fail(x, "Cannot parse regular expression: " STR_FMT, STR_ARG(str_slice(text, 0, 100)));
    return false;
}

/* The next match in S from AT on; the group that counts is MATCH[1], all of it MATCH[0]. */
static bool find_next(const struct pattern *p, struct str s, size_t at, regmatch_t match[2])
{
    regmatch_t all[10];

    if (at > s.len || regexec(&p->re, s.p + at, 10, all, at > 0 ? REG_NOTBOL : 0) != 0)
        return false;
    match[0] = all[0];
    match[1] = p->first_group < 10 ? all[p->first_group] : all[0];
    for (int i = 0; i < 2; i++) {
        match[i].rm_so += match[i].rm_so < 0 ? 0 : (regoff_t)at;
        match[i].rm_eo += match[i].rm_eo < 0 ? 0 : (regoff_t)at;
    }
    return true;
}

static void fn_regexp(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct pattern p;
    regmatch_t match[2];

    if (bq_fn_has_null(n, v) || !compile(x, fn_text(v[1]), &p))
        return;
    sqlite3_result_int(x, find_next(&p, fn_text(v[0]), 0, match));
    regfree(&p.re);
}

static void fn_regexp_extract(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct pattern p;
    regmatch_t match[2];

    if (bq_fn_has_null(n, v) || !compile(x, fn_text(v[1]), &p))
        return;
    struct str s = fn_text(v[0]);
    if (find_next(&p, s, 0, match) && match[1].rm_so >= 0)
        sqlite3_result_text(x, s.p + match[1].rm_so, match[1].rm_eo - match[1].rm_so,
                            SQLITE_TRANSIENT);
    regfree(&p.re);
}

static void fn_regexp_all(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct jw w = jw_to(&b);
    struct pattern p;
    regmatch_t m[2];

    if (bq_fn_has_null(n, v) || !compile(x, fn_text(v[1]), &p))
        return;
    struct str s = fn_text(v[0]);
    jw_array(&w);
    for (size_t at = 0, i = 0; i < MATCHES_MAX && find_next(&p, s, at, m); i++) {
        jw_str(&w, str_slice(s, (size_t)m[1].rm_so, (size_t)m[1].rm_eo));
        at = (size_t)m[0].rm_eo + (m[0].rm_eo == m[0].rm_so);
    }
    jw_end(&w);
    regfree(&p.re);
    fn_give_json(x, &b);
}

/* bq_regexp_replace(text, pattern, with): "\1" is the first group. */
static void fn_regexp_replace(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct pattern p;
    regmatch_t m[2];
    size_t at = 0;

    if (bq_fn_has_null(n, v) || !compile(x, fn_text(v[1]), &p))
        return;
    struct str s = fn_text(v[0]), with = fn_text(v[2]);
    for (size_t i = 0; i < MATCHES_MAX && at <= s.len && find_next(&p, s, at, m); i++) {
        (void)buf_add_str(&b, str_slice(s, at, (size_t)m[0].rm_so));
        for (size_t k = 0; k < with.len; k++) {
            bool is_group = with.p[k] == '\\' && k + 1 < with.len;
            char c = is_group ? with.p[++k] : with.p[k];
            if (is_group && (c == '0' || c == '1'))
                (void)buf_add_str(&b,
                                  str_slice(s, (size_t)m[c - '0'].rm_so, (size_t)m[c - '0'].rm_eo));
            else
                (void)buf_add_char(&b, c);
        }
        at = (size_t)m[0].rm_eo;
        if (m[0].rm_eo != m[0].rm_so)
            continue;
        if (at < s.len) /* an empty match: the character behind it stays */
            (void)buf_add_char(&b, s.p[at]);
        at++;
    }
    if (at < s.len)
        (void)buf_add_str(&b, str_skip(s, at));
    regfree(&p.re);
    fn_give(x, &b);
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_bigquery_text[] = {
    {"bq_concat", -1, PURE, fn_concat},
    {"bq_like", 2, PURE, fn_like},
    {"bq_initcap", 1, PURE, fn_initcap},
    {"bq_reverse", 1, PURE, fn_reverse},
    {"bq_repeat", 2, PURE, fn_repeat},
    {"bq_split", 2, PURE | SQLITE_SUBTYPE, fn_split},
    {"bq_pad", 4, PURE, fn_pad},
    {"bq_format", -1, PURE, fn_format},
    {"bq_regexp", 2, PURE, fn_regexp},
    {"bq_regexp_extract", 2, PURE, fn_regexp_extract},
    {"bq_regexp_all", 2, PURE | SQLITE_SUBTYPE, fn_regexp_all},
    {"bq_regexp_replace", 3, PURE, fn_regexp_replace},
    {NULL, 0, 0, NULL},
};
