/* SPDX-License-Identifier: MIT */
#include "apps/text/scan.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/json.h"

enum { NUMBER_MAX = 40 }; /* bytes of a number */

/* ---- words ---- */

struct str scan_peek(struct str s, scan_class *is_in)
{
    size_t n = 0;

    while (n < s.len && is_in(s.p[n]))
        n++;
    return str_slice(s, 0, n);
}

struct str scan_word(struct str *s, scan_class *is_in)
{
    struct str word = scan_peek(*s, is_in);

    *s = str_skip(*s, word.len);
    return word;
}

bool scan_keyword(struct str *s, scan_class *is_in, const char *word)
{
    if (!str_is(scan_peek(*s, is_in), word))
        return false;
    *s = str_skip(*s, strlen(word));
    return true;
}

bool scan_ikeyword(struct str *s, scan_class *is_in, const char *word)
{
    if (!str_iis(scan_peek(*s, is_in), word))
        return false;
    *s = str_skip(*s, strlen(word));
    return true;
}

/* ---- text in quotes ---- */

/* Bytes of an escaped character at I; 0 when what is there is plain. */
static size_t escape_len(struct str s, size_t i, enum scan_escape how)
{
    if (i + 1 >= s.len)
        return 0;
    char quote = s.p[0], next = s.p[i + 1];
    if (how == SCAN_DOUBLED)
        return s.p[i] == quote && next == quote ? 2 : 0;
    return s.p[i] == '\\' && (how == SCAN_BACKSLASH || next == quote || next == '\\') ? 2 : 0;
}

size_t scan_quoted_len(struct str s, enum scan_escape how)
{
    for (size_t i = 1, n; i < s.len; i += n ? n : 1) {
        n = escape_len(s, i, how);
        if (n == 0 && s.p[i] == s.p[0])
            return i + 1;
    }
    return 0;
}

int scan_quoted(struct str *s, enum scan_escape how, struct arena *a, struct str *ret)
{
    size_t end = scan_quoted_len(*s, how), len = 0;

    if (end == 0)
        return -EINVAL;
    char *text = arena_alloc(a, end);
    if (!text)
        return -ENOMEM;
    for (size_t i = 1; i + 1 < end; i++) {
        i += escape_len(*s, i, how) ? 1 : 0;
        text[len++] = (char)(s->p[i] ? s->p[i] : ' ');
    }
    text[len] = '\0';
    *s = str_skip(*s, end);
    *ret = str_n(text, len);
    return 0;
}

/* ---- figures and places ---- */

bool scan_fits(struct str s, const char *pattern)
{
    for (size_t i = 0; pattern[i]; i++) {
        if (i >= s.len || (pattern[i] == '9' ? !ascii_is_digit(s.p[i]) : s.p[i] != pattern[i]))
            return false;
    }
    return true;
}

bool scan_number(struct str s, double *ret)
{
    auto_arena struct arena a;

    arena_init(&a, ARENA_BLOCK);
    const struct json *v = s.len < NUMBER_MAX ? json_parse(&a, s, NULL, NULL) : NULL;
    *ret = json_real(v, 0);
    return json_is_number(v);
}

struct scan_position scan_position(struct str text, size_t at)
{
    struct scan_position p = {1, 1};

    for (size_t i = 0; i < at && i < text.len; i++) {
        bool is_end = text.p[i] == '\n';
        p.line += is_end;
        p.column = is_end ? 1 : p.column + 1;
    }
    return p;
}
