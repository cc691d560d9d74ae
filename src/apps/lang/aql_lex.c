/* SPDX-License-Identifier: MIT */
/* The words of JQL and CQL. */
#include <errno.h>
#include <stdio.h>

#include "apps/lang/aql.h"
#include "apps/text/scan.h"
#include "base/ascii.h"

static bool is_aql_word_char(char c)
{
    return ascii_is_word(c) || c == '-' || c == '.' || c == '\\' || c == ':' || c == '{' ||
           c == '}' || (unsigned char)c >= 0x80;
}

static void advance_aql(struct aql_lexer *l, size_t n)
{
    for (size_t i = 0; i < n && i < l->rest.len; i++) {
        /* The bytes behind the first one of a character have no column of their own. */
        if (l->rest.p[i] == '\n') {
            l->line++;
            l->column = 1;
        } else if (((unsigned char)l->rest.p[i] & 0xc0) != 0x80) {
            l->column++;
        }
    }
    l->rest = str_skip(l->rest, n);
}

/* ---- escapes ---- */

static void add_aql_utf8(struct buf *b, unsigned c)
{
    if (c < 0x80) {
        (void)buf_add_char(b, (char)c);
    } else if (c < 0x800) {
        (void)buf_add_char(b, (char)(0xc0 | c >> 6));
        (void)buf_add_char(b, (char)(0x80 | (c & 0x3f)));
    } else {
        (void)buf_add_char(b, (char)(0xe0 | c >> 12));
        (void)buf_add_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
        (void)buf_add_char(b, (char)(0x80 | (c & 0x3f)));
    }
}

/* "\u0040" at the beginning of S, without what is no character of its own. */
static bool read_unicode_escape(struct str s, unsigned *ret)
{
    unsigned value = 0;

    if (s.len < 6)
        return false;
    for (size_t i = 2; i < 6; i++) {
        ptrdiff_t digit = str_chr(STR("0123456789abcdef"), (char)(s.p[i] | 0x20));
        if (digit < 0)
            return false;
        value = value << 4 | (unsigned)digit;
    }
    *ret = value;
    return value != 0 && (value < 0xd800 || value > 0xdfff);
}

/* What "\\WHAT" stands for; false when that is nothing. */
static bool add_aql_escape(struct buf *b, char what)
{
    ptrdiff_t at = str_chr(STR("ntr"), what);

    if (at >= 0)
        (void)buf_add_char(b, "\n\t\r"[at]);
    else if (what && str_chr(STR("\\'\" +.,;?|*/%^$#@[]-!&(){}:~"), what) >= 0)
        (void)buf_add_char(b, what);
    else
        return false;
    return true;
}

/* The text of RAW with its escapes resolved. */
static int unescape(struct aql_lexer *l, struct str raw, struct str *ret, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(LANG_MAX_TEXT + 1);

    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.p[i];
        unsigned value;
        if (c != '\\') {
            (void)buf_add_char(&b, c);
            continue;
        }
        char what = i + 1 < raw.len ? raw.p[i + 1] : '\0';
        if (what == 'u' && read_unicode_escape(str_skip(raw, i), &value)) {
            add_aql_utf8(&b, value);
            i += 5;
        } else if (add_aql_escape(&b, what)) {
            i++;
        } else {
            return err_set(e, -EINVAL,
                           "Error in the JQL Query: '\\%c' is an illegal JQL escape sequence. The "
                           "valid escape sequences are \\', \\\", \\t, \\n, \\r, \\\\, '\\ ' and "
                           "\\uXXXX. (line %u, character %u)",
                           what ? what : ' ', l->line, l->column);
        }
    }
    *ret = buf_ok(&b) ? arena_str(l->arena, buf_str(&b)) : STR_NULL;
    return ret->p ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/* ---- tokens ---- */

static int read_aql_string(struct aql_lexer *l, struct aql_token *ret, struct err *e)
{
    size_t n = scan_quoted_len(l->rest, SCAN_BACKSLASH);

    if (n == 0) {
        struct str open = str_slice(l->rest, 1, 101);
        return err_set(e, -EINVAL,
                       "Error in the JQL Query: The quoted string '" STR_FMT
                       "' has not been completed. (line %u, character %u)",
                       STR_ARG(open), l->line, l->column);
    }
    ret->kind = AQL_STRING;
    int r = unescape(l, str_slice(l->rest, 1, n - 1), &ret->text, e);
    advance_aql(l, n);
    return r;
}

/* "cf[10016]" is one word. */
static size_t word_length(struct str s)
{
    size_t n = 0;

    while (n < s.len && is_aql_word_char(s.p[n]))
        n += s.p[n] == '\\' && n + 1 < s.len ? 2 : 1;
    if (n == 2 && s.len > 2 && s.p[2] == '[' && str_ieq(str_slice(s, 0, 2), STR("cf"))) {
        ptrdiff_t end = str_chr(s, ']');
        return end > 0 ? (size_t)end + 1 : n;
    }
    return n > s.len ? s.len : n;
}

static int read_aql_word(struct aql_lexer *l, struct aql_token *ret, struct err *e)
{
    size_t n = word_length(l->rest);
    struct str raw = str_slice(l->rest, 0, n);
    int r = 0;

    ret->kind = AQL_WORD;
    ret->text = raw;
    if (str_chr(raw, '\\') >= 0)
        r = unescape(l, raw, &ret->text, e);
    advance_aql(l, n);
    return r;
}

/* The length of the sign at the beginning of S, 0 when there is none. */
static size_t aql_sign_length(struct str s)
{
    static const char *const signs[] = {"!=", "<=", ">=", "!~", "&&", "||", "=", "<",
                                        ">",  "~",  "!",  "(",  ")",  ",",  "&", "|"};

    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if (str_starts(s, str_of(signs[i])))
            return strlen(signs[i]);
    }
    return 0;
}

/* "+1d" is a period. */
static bool is_plus(struct str s)
{
    return s.len > 1 && s.p[0] == '+' && s.p[1] >= '0' && s.p[1] <= '9';
}

int aql_next(struct aql_lexer *l, struct aql_token *ret, struct err *e)
{
    while (l->rest.len > 0 && scan_is_blank(l->rest.p[0]))
        advance_aql(l, 1);
    *ret = (struct aql_token){.line = l->line, .column = l->column};
    if (l->rest.len == 0)
        return 0;
    char c = l->rest.p[0];
    size_t n = aql_sign_length(l->rest);
    if (c == '"' || c == '\'')
        return read_aql_string(l, ret, e);
    if (n > 0) {
        ret->kind = AQL_SIGN;
        ret->text = str_slice(l->rest, 0, n);
        advance_aql(l, n);
        return 0;
    }
    if (is_plus(l->rest))
        advance_aql(l, 1);
    else if (!is_aql_word_char(c))
        return err_set(e, -EINVAL,
                       "Error in the JQL Query: The character '%c' is a reserved JQL character. "
                       "You must enclose it in a string or use the escape '\\u%04x' instead. "
                       "(line %u, character %u)",
                       c, (unsigned)(unsigned char)c, l->line, l->column);
    return read_aql_word(l, ret, e);
}
