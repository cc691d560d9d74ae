/* SPDX-License-Identifier: MIT */
/* SQLite's own functions whose time is not in proportion to what they are given (instr, replace,
 * trim, LIKE, GLOB, printf), or that would let a statement do much between two looks at its limits:
 * in linear time where that can be, and within the call's budget. They answer as SQLite's do. */
#include <string.h>

#include "apps/functions/functions.h"
#include "apps/text/wildcard.h"

static bool has_null(int n, sqlite3_value **v)
{
    for (int i = 0; i < n; i++) {
        if (sqlite3_value_type(v[i]) == SQLITE_NULL)
            return true;
    }
    return false;
}

static struct str sqlite_bytes_of(sqlite3_value *v)
{
    const void *p = sqlite3_value_blob(v);

    return str_n(p ? p : "", (size_t)sqlite3_value_bytes(v));
}

static bool is_blob(sqlite3_value *v)
{
    return sqlite3_value_type(v) == SQLITE_BLOB;
}

/* The first byte of a character. */
static bool is_first_byte(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static int64_t count_utf8_chars(struct str s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += is_first_byte(s.p[i]);
    return n;
}

/* What is behind a NUL is no part of a text's length. */
static struct str until_nul(struct str s)
{
    ptrdiff_t at = str_chr(s, 0);

    return at < 0 ? s : str_slice(s, 0, (size_t)at);
}

static void give_text(sqlite3_context *x, struct str s)
{
    sqlite3_result_text(x, s.p ? s.p : "", (int)s.len, SQLITE_TRANSIENT);
}

/* ---- lengths and parts ---- */

static void fn_length(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    switch (sqlite3_value_type(v[0])) {
    case SQLITE_NULL: return;
    case SQLITE_TEXT: sqlite3_result_int64(x, count_utf8_chars(until_nul(fn_text(v[0])))); return;
    default: sqlite3_result_int(x, sqlite3_value_bytes(v[0])); return;
    }
}

/* The bytes of S before its character number N. */
static size_t sqlite_offset_of(struct str s, int64_t n)
{
    size_t at = 0;

    while (n > 0 && at < s.len) {
        for (at++; at < s.len && !is_first_byte(s.p[at]);)
            at++;
        n--;
    }
    return at;
}

/* Both as far as they are in 0 to LEN. */
static void clip_range(int64_t *begin, int64_t *end, int64_t len)
{
    *begin = *begin < 0 ? 0 : *begin > len ? len : *begin;
    *end = *end < *begin ? *begin : *end > len ? len : *end;
}

/* substr(value, first, count): from 1, or from the end when negative; a negative count are those
 * before it. */
static void fn_substr(sqlite3_context *x, int n, sqlite3_value **v)
{
    const int64_t far = INT64_C(1) << 40;

    if (has_null(n, v))
        return;
    bool has_bytes = is_blob(v[0]);
    struct str s = has_bytes ? sqlite_bytes_of(v[0]) : fn_text(v[0]);
    int64_t len = has_bytes ? (int64_t)s.len : count_utf8_chars(s);
    int64_t first = sqlite3_value_int64(v[1]), count = n > 2 ? sqlite3_value_int64(v[2]) : far;
    first = first > far ? far : first < -far ? -far : first;
    count = count > far ? far : count < -far ? -far : count;
    int64_t at = first < 0 ? len + first : first - 1;
    int64_t begin = count < 0 ? at + count : at, end = count < 0 ? at : at + count;
    clip_range(&begin, &end, len);
    if (has_bytes && s.len == 0)
        return; /* NULL is what SQLite gives of no bytes */
    if (has_bytes) {
        sqlite3_result_blob(x, s.p + begin, (int)(end - begin), SQLITE_TRANSIENT);
        return;
    }
    size_t from = sqlite_offset_of(s, begin);
    s = str_skip(s, from);
    give_text(x, str_slice(s, 0, sqlite_offset_of(s, end - begin)));
}

/* ---- letters ---- */

static void give_mapped(sqlite3_context *x, struct str s, char first, char last)
{
    char *p = sqlite3_malloc64(s.len + 1);

    if (!p) {
        sqlite3_result_error_nomem(x);
        return;
    }
    for (size_t i = 0; i < s.len; i++)
        p[i] = (char)(s.p[i] >= first && s.p[i] <= last ? s.p[i] ^ 0x20 : s.p[i]);
    p[s.len] = 0;
    sqlite3_result_text(x, p, (int)s.len, sqlite3_free);
}

static void fn_sqlite_lower(sqlite3_context *x, int n, sqlite3_value **v)
{
    if (!has_null(n, v))
        give_mapped(x, fn_text(v[0]), 'A', 'Z');
}

static void fn_sqlite_upper(sqlite3_context *x, int n, sqlite3_value **v)
{
    if (!has_null(n, v))
        give_mapped(x, fn_text(v[0]), 'a', 'z');
}

static void fn_hex(sqlite3_context *x, int n, sqlite3_value **v)
{
    static const char digits[] = "0123456789ABCDEF";
    struct str s = sqlite_bytes_of(v[0]);
    char *p = sqlite3_malloc64(2 * s.len + 1);

    (void)n;
    if (!p) {
        sqlite3_result_error_nomem(x);
        return;
    }
    for (size_t i = 0; i < s.len; i++) {
        p[2 * i] = digits[(unsigned char)s.p[i] >> 4];
        p[2 * i + 1] = digits[(unsigned char)s.p[i] & 15];
    }
    p[2 * s.len] = 0;
    sqlite3_result_text64(x, p, 2 * s.len, sqlite3_free, SQLITE_UTF8);
}

/* ---- trim ---- */

enum { TRIM_LEFT = 1, TRIM_RIGHT = 2 };

/* Characters to take off: those of one byte by a table, the others by searching for them. */
struct trim {
    struct str chars;
    bool has[128], has_others;
};

static struct trim trim_of(struct str chars)
{
    struct trim t = {.chars = chars};

    for (size_t i = 0; i < chars.len; i++) {
        unsigned char c = (unsigned char)chars.p[i];
        if (c < 128)
            t.has[c] = true;
        else
            t.has_others = true;
    }
    return t;
}

/* True when the character C is one of them; *WORK grows with what that takes. */
static bool is_trimmed(const struct trim *t, struct str c, int64_t *work)
{
    if ((unsigned char)c.p[0] < 128)
        return t->has[(unsigned char)c.p[0]];
    if (!t->has_others)
        return false;
    *work += (int64_t)t->chars.len;
    return str_find(t->chars, c) >= 0;
}

static struct str last_char(struct str s)
{
    size_t at = s.len - 1;

    while (at > 0 && !is_first_byte(s.p[at]))
        at--;
    return str_skip(s, at);
}

static void trim_sides(sqlite3_context *x, int n, sqlite3_value **v, int sides)
{
    if (has_null(n, v))
        return;
    struct trim t = trim_of(n > 1 ? fn_text(v[1]) : STR(" "));
    struct str s = fn_text(v[0]);
    int64_t work = 0;
    while ((sides & TRIM_LEFT) && s.len > 0 && fn_spend(x, work)) {
        struct str c = str_slice(s, 0, sqlite_offset_of(s, 1));
        work = 0;
        if (!is_trimmed(&t, c, &work))
            break;
        s = str_skip(s, c.len);
    }
    while ((sides & TRIM_RIGHT) && s.len > 0 && fn_spend(x, work)) {
        struct str c = last_char(s);
        work = 0;
        if (!is_trimmed(&t, c, &work))
            break;
        s.len -= c.len;
    }
    if (fn_spend(x, work))
        give_text(x, s);
}

static void fn_sqlite_trim(sqlite3_context *x, int n, sqlite3_value **v)
{
    trim_sides(x, n, v, TRIM_LEFT | TRIM_RIGHT);
}

static void fn_ltrim(sqlite3_context *x, int n, sqlite3_value **v)
{
    trim_sides(x, n, v, TRIM_LEFT);
}

static void fn_rtrim(sqlite3_context *x, int n, sqlite3_value **v)
{
    trim_sides(x, n, v, TRIM_RIGHT);
}

/* ---- searching ---- */

/* V as a text. */
static void give_sqlite_value(sqlite3_context *x, sqlite3_value *v)
{
    if (sqlite3_value_type(v) == SQLITE_TEXT)
        sqlite3_result_value(x, v);
    else
        give_text(x, fn_text(v));
}

static void fn_instr(sqlite3_context *x, int n, sqlite3_value **v)
{
    if (has_null(n, v))
        return;
    bool has_bytes = is_blob(v[0]) && is_blob(v[1]);
    struct str s = has_bytes ? sqlite_bytes_of(v[0]) : fn_text(v[0]);
    ptrdiff_t at = str_find(s, has_bytes ? sqlite_bytes_of(v[1]) : fn_text(v[1]));
    if (at < 0)
        sqlite3_result_int(x, 0);
    else
        sqlite3_result_int64(x,
                             1 + (has_bytes ? at : count_utf8_chars(str_slice(s, 0, (size_t)at))));
}

static void fn_sqlite_replace(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    struct str s = fn_text(v[0]), from = fn_text(v[1]), to = fn_text(v[2]);
    /* Without anything to replace the third value does not matter. */
    if (has_null(2, v) || (from.len > 0 && has_null(n, v)))
        return;
    ptrdiff_t at = from.len > 0 ? str_find(s, from) : -1;
    if (at < 0) {
        give_sqlite_value(x, v[0]);
        return;
    }
    for (; at >= 0; at = str_find(s, from)) {
        (void)buf_add_str(&b, str_slice(s, 0, (size_t)at));
        (void)buf_add_str(&b, to);
        s = str_skip(s, (size_t)at + from.len);
        if (!buf_ok(&b) || !fn_spend(x, (int64_t)(to.len + 16)))
            break;
    }
    (void)buf_add_str(&b, s);
    if (!fn_db(x)->limit)
        fn_give(x, &b);
}

static bool spend_sqlite_work(void *ctx, int64_t units)
{
    return fn_spend(ctx, units);
}

/* The pattern comes first. */
static void match_pattern(sqlite3_context *x, sqlite3_value **v, struct wildcard *w)
{
    w->pattern = until_nul(fn_text(v[0]));
    w->text = until_nul(fn_text(v[1]));
    w->spend = spend_sqlite_work;
    w->ctx = x;
    int r = wildcard_match(w);
    if (r >= 0)
        sqlite3_result_int(x, r);
}

static void fn_sqlite_like(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct wildcard w = {.many = '%', .one = '_', .has_no_case = true};

    if (has_null(n, v))
        return;
    if (n > 2) {
        struct str escape = fn_text(v[2]);
        if (count_utf8_chars(escape) != 1) {
            sqlite3_result_error(x, "ESCAPE expression must be a single character", -1);
            return;
        }
        w.escape = escape;
    }
    match_pattern(x, v, &w);
}

static void fn_glob(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct wildcard w = {.many = '*', .one = '?', .has_sets = true};

    if (!has_null(n, v))
        match_pattern(x, v, &w);
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_sqlite[] = {
    {"length", 1, PURE, fn_length},      {"substr", 2, PURE, fn_substr},
    {"substr", 3, PURE, fn_substr},      {"substring", 2, PURE, fn_substr},
    {"substring", 3, PURE, fn_substr},   {"lower", 1, PURE, fn_sqlite_lower},
    {"upper", 1, PURE, fn_sqlite_upper}, {"hex", 1, PURE, fn_hex},
    {"trim", 1, PURE, fn_sqlite_trim},   {"trim", 2, PURE, fn_sqlite_trim},
    {"ltrim", 1, PURE, fn_ltrim},        {"ltrim", 2, PURE, fn_ltrim},
    {"rtrim", 1, PURE, fn_rtrim},        {"rtrim", 2, PURE, fn_rtrim},
    {"instr", 2, PURE, fn_instr},        {"replace", 3, PURE, fn_sqlite_replace},
    {"like", 2, PURE, fn_sqlite_like},   {"like", 3, PURE, fn_sqlite_like},
    {"glob", 2, PURE, fn_glob},          {NULL, 0, 0, NULL},
};
