/* SPDX-License-Identifier: MIT */
/* printf() and format() as SQLite has them, but a width or a precision is charged before the text
 * is made: SQLite's own would write a thousand million letters for '%.*c'. Each conversion is given
 * to SQLite with the numbers in it. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "apps/functions/functions.h"

enum { SPEC_MAX = 64, FLAGS_MAX = 16 };

/* The format and the values that are left. */
struct printf_source {
    sqlite3_context *x;
    struct str format;
    size_t at;
    int next, n;
    sqlite3_value **v;
};

/* "%-08.3d": a number -1 is not there. */
struct spec {
    char flags[FLAGS_MAX];
    int64_t width, precision;
    char letter;
};

static sqlite3_value *next_value(struct printf_source *s)
{
    return s->next < s->n ? s->v[s->next++] : NULL;
}

static int64_t next_int(struct printf_source *s)
{
    sqlite3_value *v = next_value(s);

    return v ? sqlite3_value_int64(v) : 0;
}

static char peek_format(const struct printf_source *s)
{
    return s->at < s->format.len ? s->format.p[s->at] : 0;
}

/* Digits, or "*" for the next value. */
static int64_t read_format_number(struct printf_source *s)
{
    int64_t n = 0;

    if (peek_format(s) == '*') {
        s->at++;
        n = next_int(s);
        return n > INT_MAX ? INT_MAX : n < -INT_MAX ? -INT_MAX : n;
    }
    for (; peek_format(s) >= '0' && peek_format(s) <= '9'; s->at++)
        n = n < INT_MAX / 10 ? n * 10 + (peek_format(s) - '0') : INT_MAX;
    return n;
}

/* Behind the "%". */
static struct spec read_printf_spec(struct printf_source *s)
{
    struct spec p = {.width = -1, .precision = -1};
    size_t n = 0;

    for (; peek_format(s) && strchr("-+ #!0,", peek_format(s)); s->at++) {
        if (n + 2 < FLAGS_MAX && !strchr(p.flags, peek_format(s)))
            p.flags[n++] = peek_format(s);
    }
    if (peek_format(s) == '*' || (peek_format(s) >= '1' && peek_format(s) <= '9'))
        p.width = read_format_number(s);
    if (p.width < -1) {
        p.flags[n] = '-';
        p.width = -p.width;
    }
    if (peek_format(s) == '.') {
        s->at++;
        p.precision = read_format_number(s);
        p.precision = p.precision < 0 ? -p.precision : p.precision;
    }
    while (peek_format(s) == 'l')
        s->at++;
    p.letter = peek_format(s);
    s->at += p.letter != 0;
    return p;
}

/* The conversion as text, with LENGTH ("ll") before its letter. */
static void put_printf_spec(char out[SPEC_MAX], const struct spec *p, const char *length,
                            char letter)
{
    char width[24] = "", precision[24] = "";

    if (p->width >= 0)
        (void)snprintf(width, sizeof width, "%d", (int)p->width);
    if (p->precision >= 0)
        (void)snprintf(precision, sizeof precision, ".%d", (int)p->precision);
    (void)snprintf(out, SPEC_MAX, "%%%s%s%s%s%c", p->flags, width, precision, length, letter);
}

/* %c: the first character of a text, as often as the precision says. */
static void add_printf_char(sqlite3_str *out, struct spec p, sqlite3_value *v)
{
    struct str s = v ? fn_text(v) : STR("");
    size_t len = s.len > 0;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    char spec[SPEC_MAX];

    while (len < s.len && ((unsigned char)s.p[len] & 0xc0) == 0x80)
        len++;
    for (int64_t i = 0; i < (p.precision > 1 ? p.precision : 1); i++)
        (void)buf_add_str(&b, str_slice(s, 0, len));
    p.precision = -1;
    if (!strchr(p.flags, '!')) /* widths are of characters */
        p.flags[strlen(p.flags)] = '!';
    put_printf_spec(spec, &p, "", 's');
    const char *text = buf_cstr(&b);
    if (text)
        sqlite3_str_appendf(out, spec, text);
}

/* False: a letter that means nothing, where SQLite's ends as well. */
static bool add_formatted_value(struct printf_source *s, sqlite3_str *out, const struct spec *p)
{
    char spec[SPEC_MAX];
    sqlite3_value *v;

    switch (p->letter) {
    case '%':
        put_printf_spec(spec, p, "", '%');
        sqlite3_str_appendf(out, spec);
        return true;
    case 'n': return true;
    case 'c': add_printf_char(out, *p, next_value(s)); return true;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'p':
    case 'r':
        put_printf_spec(spec, p, "ll", p->letter == 'p' ? 'x' : p->letter);
        sqlite3_str_appendf(out, spec, next_int(s));
        return true;
    case 'f':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
        put_printf_spec(spec, p, "", p->letter);
        v = next_value(s);
        sqlite3_str_appendf(out, spec, v ? sqlite3_value_double(v) : 0.0);
        return true;
    case 's':
    case 'z':
    case 'q':
    case 'Q':
    case 'w':
        /* %z would free what it is given. */
        put_printf_spec(spec, p, "", p->letter == 'z' ? 's' : p->letter);
        v = next_value(s);
        sqlite3_str_appendf(out, spec, v ? (const char *)sqlite3_value_text(v) : NULL);
        return true;
    default: return false;
    }
}

static void write_format(struct printf_source *s, sqlite3_str *out)
{
    while (s->at < s->format.len) {
        ptrdiff_t at = str_chr(str_skip(s->format, s->at), '%');
        size_t plain = at < 0 ? s->format.len - s->at : (size_t)at;
        if (plain > 0)
            sqlite3_str_append(out, s->format.p + s->at, (int)plain);
        s->at += plain + 1;
        if (at < 0)
            return;
        if (s->at >= s->format.len) {
            sqlite3_str_appendchar(out, 1, '%');
            return;
        }
        struct spec p = read_printf_spec(s);
        if (!fn_spend(s->x, (p.width > 0 ? p.width : 0) + (p.precision > 0 ? p.precision : 0)) ||
            !add_formatted_value(s, out, &p))
            return;
    }
}

static void fn_printf(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct printf_source s = {.x = x, .n = n, .v = v, .next = 1};

    if (n < 1 || sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    s.format = str_of((const char *)sqlite3_value_text(v[0]));
    sqlite3_str *out = sqlite3_str_new(fn_db(x)->c);
    write_format(&s, out);
    int rc = sqlite3_str_errcode(out), len = sqlite3_str_length(out);
    char *text = sqlite3_str_finish(out);
    if (fn_db(x)->limit)
        sqlite3_free(text);
    else if (rc == SQLITE_TOOBIG)
        sqlite3_result_error_toobig(x);
    else if (rc != SQLITE_OK)
        sqlite3_result_error_nomem(x);
    else if (text) /* an empty one is NULL */
        sqlite3_result_text(x, text, len, sqlite3_free);
}

const struct sql_function functions_printf[] = {
    {"printf", -1, SQLITE_DETERMINISTIC, fn_printf},
    {"format", -1, SQLITE_DETERMINISTIC, fn_printf},
    {NULL, 0, 0, NULL},
};
