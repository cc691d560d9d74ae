/* SPDX-License-Identifier: MIT */
/* SOQL: its words, and what is said of a query that cannot be understood. */
#include <errno.h>
#include <stdarg.h>

#include "apps/lang/soql.h"
#include "apps/text/scan.h"
#include "base/ascii.h"
#include "base/python.h"

enum { SHOWN = 30 /* bytes of the query on either side of what is wrong */ };

int soql_fail(struct soql *q, size_t at, const char *code, const char *fmt, ...)
{
    struct buf why auto_buf = BUF_INIT(4096);
    struct buf all auto_buf = BUF_INIT(LANG_MAX_TEXT);
    size_t from, to;
    va_list ap;

    va_start(ap, fmt);
    (void)buf_vprintf(&why, fmt, ap);
    va_end(ap);
    at = at < q->text.len ? at : q->text.len;
    struct scan_position place = scan_position(q->text, at);
    from = at - (place.column - 1 > SHOWN ? SHOWN : place.column - 1);
    for (to = at; to < q->text.len && to - at < SHOWN && q->text.p[to] != '\n'; to++)
        ;
    (void)buf_printf(&all, "\n" STR_FMT "\n%*s^\nERROR at Row:%zu:Column:%zu\n" STR_FMT,
                     STR_ARG(str_slice(q->text, from, to)), (int)(at - from), "", place.line,
                     place.column, STR_ARG(buf_str(&why)));
    struct buf repr auto_buf = BUF_INIT(2 * LANG_MAX_TEXT);
    python_str(&repr, buf_str(&all));
    return err_set(q->err, -EINVAL, "[{'message': " STR_FMT ", 'errorCode': '%s'}]",
                   STR_ARG(buf_str(&repr)), code);
}

int soql_unexpected(struct soql *q)
{
    struct str text = q->token.kind == SOQL_END ? STR("<EOF>") : q->token.text;

    return soql_fail(q, q->token.at, "MALFORMED_QUERY", "unexpected token: '" STR_FMT "'",
                     STR_ARG(text));
}

int soql_too_complicated(struct soql *q, size_t at)
{
    return soql_fail(q, at, "QUERY_TOO_COMPLICATED",
                     "Query is either selecting too many fields or the filter conditions are too "
                     "complicated.");
}

static bool is_soql_letter(char c)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

static char char_at(const struct soql *q, size_t i)
{
    return i < q->text.len ? q->text.p[i] : '\0';
}

/* The end of the word or of the number that begins at AT. */
static size_t end_of(const struct soql *q, size_t at, bool is_word)
{
    size_t i = at + 1;

    for (;; i++) {
        char c = char_at(q, i);
        bool is_in = is_soql_letter(c) || ascii_is_digit(c) || c == '.';
        if (!is_in && !(c == ':' && (ascii_is_digit(char_at(q, i + 1)) || !is_word)) &&
            (is_word || (c != '-' && c != '+')))
            return i;
    }
}

static int take_string(struct soql *q)
{
    size_t n = scan_quoted_len(str_skip(q->text, q->at), SCAN_BACKSLASH);

    if (n == 0)
        return soql_fail(q, q->at, "MALFORMED_QUERY", "unexpected token: '''");
    q->token =
        (struct soql_token){SOQL_STRING, str_slice(q->text, q->at + 1, q->at + n - 1), q->at};
    q->at += n;
    return 0;
}

/* The kind of what begins at AT, and where it ends. */
static enum soql_token_kind kind_at(const struct soql *q, size_t at, size_t *ret_end)
{
    char c = char_at(q, at), d = char_at(q, at + 1);
    bool is_sign = c == '-' || c == '+' || c == '.';

    if (is_soql_letter(c)) {
        *ret_end = end_of(q, at, true);
        return SOQL_WORD;
    }
    if (ascii_is_digit(c) || (is_sign && ascii_is_digit(d))) {
        *ret_end = end_of(q, at, false);
        return SOQL_LITERAL;
    }
    bool is_two = (d == '=' && (c == '<' || c == '>' || c == '!')) || (c == '<' && d == '>');
    *ret_end = at + (is_two ? 2 : 1);
    return SOQL_SYMBOL;
}

int soql_next(struct soql *q)
{
    while (q->at < q->text.len && (unsigned char)q->text.p[q->at] <= ' ')
        q->at++;
    if (q->at >= q->text.len) {
        q->token = (struct soql_token){SOQL_END, STR(""), q->at};
        return 0;
    }
    if (q->text.p[q->at] == '\'')
        return take_string(q);
    size_t end;
    enum soql_token_kind kind = kind_at(q, q->at, &end);
    q->token = (struct soql_token){kind, str_slice(q->text, q->at, end), q->at};
    q->at = end;
    return 0;
}

bool soql_is(const struct soql *q, const char *word)
{
    return (q->token.kind == SOQL_WORD || q->token.kind == SOQL_SYMBOL) &&
           str_iis(q->token.text, word);
}

int soql_take(struct soql *q, const char *word)
{
    if (!soql_is(q, word))
        return 0;
    int r = soql_next(q);
    return r < 0 ? r : 1;
}

int soql_need(struct soql *q, const char *word)
{
    int r = soql_take(q, word);

    return r == 0 ? soql_unexpected(q) : r;
}

struct str soql_unescape(struct soql *q, struct str text, bool is_pattern)
{
    struct buf b auto_buf = BUF_INIT(LANG_MAX_TEXT);

    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c == '\\' && i + 1 < text.len) {
            char d = text.p[++i];
            if (is_pattern && (d == '%' || d == '_' || d == '\\'))
                (void)buf_add_char(&b, '\\');
            c = d == 'n' ? '\n' : d == 't' ? '\t' : d == 'r' ? '\r' : d;
        }
        (void)buf_add_char(&b, c ? c : ' ');
    }
    struct str own = buf_ok(&b) ? arena_str(q->out.arena, buf_str(&b)) : STR_NULL;
    q->out.has_failed |= !own.p;
    return own.p ? own : STR("");
}
