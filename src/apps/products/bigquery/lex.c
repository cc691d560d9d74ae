/* SPDX-License-Identifier: MIT */
/* The words of BigQuery's SQL. */
#include <errno.h>
#include <string.h>

#include "apps/products/bigquery/parse.h"
#include "base/ascii.h"
#include "base/cleanup.h"

struct lexer {
    struct bq_parser *p;
    struct str rest;
    unsigned line, column;
    size_t cap;
};

static void advance_lexer(struct lexer *l, size_t n)
{
    for (size_t i = 0; i < n && i < l->rest.len; i++) {
        if (l->rest.p[i] == '\n') {
            l->line++;
            l->column = 1;
        } else if (((unsigned char)l->rest.p[i] & 0xc0) != 0x80) {
            l->column++;
        }
    }
    l->rest = str_skip(l->rest, n);
}

static int fail_lexer(struct lexer *l, const char *what)
{
    l->p->has_failed = true;
    return err_set(l->p->err, -EINVAL, "Syntax error: %s at [%u:%u]", what, l->line, l->column);
}

/* ---- blanks ---- */

static size_t comment_length(struct str s)
{
    bool is_line = str_starts(s, STR("--")) || str_starts(s, STR("#"));

    if (!is_line && !str_starts(s, STR("/*")))
        return 0;
    ptrdiff_t end = is_line ? str_chr(s, '\n') : str_find(str_skip(s, 2), STR("*/"));
    if (end < 0)
        return s.len;
    return (size_t)end + (is_line ? 1 : 4);
}

static void skip_sql_blanks(struct lexer *l)
{
    size_t n;

    for (;;) {
        if (l->rest.len > 0 && l->rest.p[0] && strchr(" \t\r\n\f\v", l->rest.p[0]))
            advance_lexer(l, 1);
        else if ((n = comment_length(l->rest)) > 0)
            advance_lexer(l, n);
        else
            return;
    }
}

/* ---- strings ---- */

static void add_bq_utf8(struct buf *b, unsigned c)
{
    if (c < 0x80) {
        (void)buf_add_char(b, (char)c);
        return;
    }
    unsigned n = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
    (void)buf_add_char(b, (char)(heads[n] | c >> (6 * n)));
    while (n-- > 0)
        (void)buf_add_char(b, (char)(0x80 | (c >> (6 * n) & 0x3f)));
}

/* N digits of BASE at S; false when they are not there. */
static bool read_escape_digits(struct str s, size_t n, unsigned base, unsigned *ret)
{
    unsigned value = 0;

    if (s.len < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = s.p[i];
        unsigned digit = ascii_is_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
        if (!ascii_is_word(c) || c == '_' || digit >= base)
            return false;
        value = value * base + digit;
    }
    *ret = value;
    return true;
}

/* How many bytes behind the backslash were used; 0: it is no escape. */
static size_t add_bq_escape(struct buf *b, struct str s)
{
    static const struct {
        char letter;
        unsigned char n;
    } numbers[] = {{'x', 2}, {'X', 2}, {'u', 4}, {'U', 8}};
    unsigned value;
    ptrdiff_t at = s.len > 0 ? str_chr(STR("abfnrtv\\?\"'`"), s.p[0]) : -1;

    if (at >= 0) {
        (void)buf_add_char(b, "\a\b\f\n\r\t\v\\?\"'`"[at]);
        return 1;
    }
    for (size_t i = 0; s.len > 0 && i < ARRAY_LEN(numbers); i++) {
        if (s.p[0] != numbers[i].letter ||
            !read_escape_digits(str_skip(s, 1), numbers[i].n, 16, &value))
            continue;
        if (value == 0 || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
            return 0;
        add_bq_utf8(b, value);
        return 1U + numbers[i].n;
    }
    if (!read_escape_digits(s, 3, 8, &value) || value == 0)
        return 0;
    add_bq_utf8(b, value);
    return 3;
}

/* The length of the quotes at the beginning of S: 1 or 3. */
static size_t quote_length(struct str s)
{
    return s.len >= 3 && s.p[1] == s.p[0] && s.p[2] == s.p[0] ? 3 : 1;
}

static bool is_string_end(struct str s, size_t at, char quote, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (at + i >= s.len || s.p[at + i] != quote)
            return false;
    }
    return true;
}

/* Appends the character at S, perhaps an escape, and gives its length; 0: it is none. */
static size_t add_character(struct buf *b, struct str s, bool is_raw)
{
    if (s.p[0] != '\\') {
        (void)buf_add_char(b, s.p[0] ? s.p[0] : ' ');
        return 1;
    }
    if (is_raw) {
        (void)buf_add_str(b, str_slice(s, 0, 2));
        return s.len > 1 ? 2 : 1;
    }
    size_t used = add_bq_escape(b, str_skip(s, 1));
    return used > 0 ? used + 1 : 0;
}

static bool has_letter(struct str s, char letter)
{
    return str_chr(s, letter) >= 0 || str_chr(s, (char)(letter & ~32)) >= 0;
}

/* A string at the beginning of the rest, of which N_LETTERS come before the quote. */
static int read_string_token(struct lexer *l, size_t n_letters, struct bq_token *t)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct str prefix = str_slice(l->rest, 0, n_letters), s = str_skip(l->rest, n_letters);
    char quote = s.p[0];
    size_t n = quote_length(s), i = n;

    while (i < s.len && !is_string_end(s, i, quote, n) && (n == 3 || s.p[i] != '\n')) {
        size_t used = add_character(&b, str_skip(s, i), has_letter(prefix, 'r'));
        if (used == 0)
            return fail_lexer(l, "Illegal escape sequence");
        i += used;
    }
    if (i >= s.len || !is_string_end(s, i, quote, n))
        return fail_lexer(l,
                          quote == '`' ? "Unclosed identifier literal" : "Unclosed string literal");
    t->kind = quote == '`' ? BQ_NAME : has_letter(prefix, 'b') ? BQ_BINARY : BQ_TEXT;
    t->text = buf_ok(&b) ? arena_str(l->p->arena, buf_str(&b)) : STR_NULL;
    advance_lexer(l, n_letters + i + n);
    return t->text.p ? 0 : -ENOMEM;
}

/* How many letters stand before a string's quote; -1: this is no string. */
static int string_prefix(struct str s)
{
    for (int n = 0; n <= 2 && (size_t)n < s.len; n++) {
        if (s.p[n] == '\'' || s.p[n] == '"')
            return n;
        if (!strchr("rRbB", s.p[n]))
            return -1;
    }
    return -1;
}

/* ---- numbers, words, signs ---- */

static size_t number_length(struct str s, bool *is_real)
{
    size_t n = 0;

    *is_real = false;
    while (n < s.len && (ascii_is_digit(s.p[n]) || s.p[n] == '.')) {
        if (s.p[n] == '.' && *is_real)
            break;
        *is_real |= s.p[n++] == '.';
    }
    size_t e = n + 1;
    if (n < s.len && (s.p[n] | 32) == 'e') {
        if (e < s.len && (s.p[e] == '+' || s.p[e] == '-'))
            e++;
        if (e < s.len && ascii_is_digit(s.p[e])) {
            *is_real = true;
            for (n = e; n < s.len && ascii_is_digit(s.p[n]);)
                n++;
        }
    }
    return n;
}

static int read_hex_token(struct lexer *l, struct bq_token *t)
{
    uint64_t value = 0;
    size_t n = 2;
    unsigned digit;

    for (; n < l->rest.len && n < 18 && read_escape_digits(str_skip(l->rest, n), 1, 16, &digit);
         n++)
        value = value << 4 | digit;
    t->kind = BQ_INT;
    t->text = arena_printf(l->p->arena, "%lld", (long long)value);
    advance_lexer(l, n);
    return t->text.p ? 0 : -ENOMEM;
}

static size_t bq_sign_length(struct str s)
{
    static const char *const signs[] = {"<<", ">>", "<=", ">=", "!=", "<>", "||", "=>", "@@"};

    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if (str_starts(s, str_of(signs[i])))
            return 2;
    }
    return strchr("()[],.;=<>+-*/|&^~@?:{}%", s.p[0]) && s.p[0] ? 1 : 0;
}

static int read_plain_token(struct lexer *l, struct bq_token *t)
{
    struct str s = l->rest;
    size_t n = 0;
    bool is_real = false;

    if (ascii_is_digit(s.p[0]) || (s.len > 1 && s.p[0] == '.' && ascii_is_digit(s.p[1]))) {
        n = number_length(s, &is_real);
        t->kind = is_real ? BQ_REAL : BQ_INT;
    } else if (ascii_is_word(s.p[0])) {
        while (n < s.len && ascii_is_word(s.p[n]))
            n++;
        t->kind = BQ_WORD;
    } else {
        n = bq_sign_length(s);
        t->kind = BQ_SIGN;
    }
    if (n == 0)
        return fail_lexer(l, "Illegal input character");
    t->text = str_slice(s, 0, n);
    advance_lexer(l, n);
    return 0;
}

static int read_token(struct lexer *l, struct bq_token *t)
{
    skip_sql_blanks(l);
    *t = (struct bq_token){.kind = BQ_END,
                           .begin = l->p->text.len - l->rest.len,
                           .line = l->line,
                           .column = l->column};
    if (l->rest.len == 0)
        return 0;
    int prefix = string_prefix(l->rest);
    if (prefix >= 0 || l->rest.p[0] == '`')
        return read_string_token(l, prefix > 0 ? (size_t)prefix : 0, t);
    if (l->rest.len > 2 && l->rest.p[0] == '0' && (l->rest.p[1] | 32) == 'x')
        return read_hex_token(l, t);
    return read_plain_token(l, t);
}

int bq_lex(struct bq_parser *p, struct str text)
{
    struct lexer l = {.p = p, .rest = text, .line = 1, .column = 1};

    p->text = text;
    do {
        p->tokens = arena_grow(p->arena, p->tokens, p->n, &l.cap, sizeof *p->tokens);
        if (!p->tokens)
            return err_set(p->err, -ENOMEM, "out of memory");
        if (p->n == BQ_MAX_TOKENS)
            return err_set(p->err, -EINVAL, "The query is too large.");
        int r = read_token(&l, &p->tokens[p->n]);
        if (r < 0)
            return r;
    } while (p->tokens[p->n++].kind != BQ_END);
    return 0;
}
