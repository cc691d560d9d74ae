/* SPDX-License-Identifier: MIT */
/* The language: an expression is calculated while it is read, by recursive descent. */
#include "apps/calc/calc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/calc/calc_internal.h"
#include "base/ascii.h"

static struct num comparison(struct calc *c);
static struct num factor(struct calc *c);

/* ---- faults ---- */

struct num calc_fault(struct calc *c, const char *fmt, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    if (!c->has_fault) {
        va_start(ap, fmt);
        (void)vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        (void)err_set(c->err, -EINVAL, "%s", text);
        c->has_fault = true;
    }
    return num_real(0);
}

/* The end of reading: what was wrong with the calculation does not matter any more. */
static struct num syntax(struct calc *c, const char *what)
{
    if (c->rest.len == 0 && c->n_open > 0)
        what = "'(' was never closed";
    if (!c->is_syntax)
        (void)err_set(c->err, -EINVAL, "%s (<unknown>, line 1)", what);
    c->is_syntax = c->has_fault = true;
    c->rest = STR("");
    return num_real(0);
}

/* ---- words ---- */

static void skip_calc_space(struct calc *c)
{
    while (c->rest.len > 0 && strchr(" \t\r\n", c->rest.p[0]) && c->rest.p[0])
        c->rest = str_skip(c->rest, 1);
}

static bool take_sign(struct calc *c, const char *sign)
{
    skip_calc_space(c);
    if (!str_starts(c->rest, str_of(sign)))
        return false;
    c->rest = str_skip(c->rest, strlen(sign));
    c->n_open += sign[0] == '(' ? 1 : sign[0] == ')' ? -1 : 0;
    return true;
}

/* Whether a name goes on at TEXT. */
static bool is_name_part(struct str text)
{
    char ch = text.len > 0 ? text.p[0] : 0;

    if (str_starts(text, STR("×")) || str_starts(text, STR("÷")))
        return false;
    return ascii_is_letter(ch) || ch == '_' || (unsigned char)ch >= 128;
}

/* Digits of BASE with single '_' between them, appended without; false when there are none, or the
 * '_' are wrong. */
static bool take_base_digits(struct calc *c, int base, struct buf *out)
{
    bool was_digit = false;

    while (c->rest.len > 0) {
        char ch = c->rest.p[0];
        bool is_one = base == 16 ? strchr("0123456789abcdefABCDEF", ch) != NULL && ch
                                 : ch >= '0' && ch < '0' + base;
        if (!is_one && !(ch == '_' && was_digit))
            break;
        if (is_one)
            (void)buf_add_char(out, ch);
        was_digit = is_one;
        c->rest = str_skip(c->rest, 1);
    }
    return was_digit;
}

/* ---- literals ---- */

/* 0x1f, 0o17, 0b11 behind its first two characters. */
static struct num based(struct calc *c, int base)
{
    static const struct {
        int base, bits;
        const char *name;
    } bases[] = {{2, 1, "binary"}, {8, 3, "octal"}, {16, 4, "hexadecimal"}};
    size_t i = base == 2 ? 0 : base == 8 ? 1 : 2;
    auto_buf struct buf b = BUF_INIT(CALC_MAX_TEXT);
    char text[64];

    bool is_ok = take_base_digits(c, base, &b);
    char next = c->rest.len > 0 ? c->rest.p[0] : 0;
    if (ascii_is_digit(next)) {
        (void)snprintf(text, sizeof text, "invalid digit '%c' in %s literal", next, bases[i].name);
        return syntax(c, text);
    }
    if (!is_ok || is_name_part(c->rest)) {
        (void)snprintf(text, sizeof text, "invalid %s literal", bases[i].name);
        return syntax(c, text);
    }
    struct num r = num_new(c);
    for (size_t k = 0; k < b.len && r.n; k++) {
        char digit[2] = {b.p[k], 0};
        if (!BN_lshift(r.n, r.n, bases[i].bits) ||
            !BN_add_word(r.n, (BN_ULONG)strtoul(digit, NULL, 16)))
            return calc_fault(c, "out of memory");
    }
    return r;
}

/* What is behind the digits before the point. */
static bool take_float_fraction(struct calc *c, struct buf *b)
{
    if (c->rest.len > 0 && c->rest.p[0] == '.') {
        (void)buf_add_char(b, '.');
        c->rest = str_skip(c->rest, 1);
        if (c->rest.len > 0 && ascii_is_digit(c->rest.p[0]) && !take_base_digits(c, 10, b))
            return false;
    }
    if (c->rest.len > 0 && (c->rest.p[0] == 'e' || c->rest.p[0] == 'E')) {
        (void)buf_add_char(b, 'e');
        c->rest = str_skip(c->rest, 1);
        if (c->rest.len > 0 && (c->rest.p[0] == '+' || c->rest.p[0] == '-')) {
            (void)buf_add_char(b, c->rest.p[0]);
            c->rest = str_skip(c->rest, 1);
        }
        return take_base_digits(c, 10, b);
    }
    return true;
}

/* The base that 0x, 0o and 0b say, which are taken off; else 10. */
static int take_base(struct calc *c)
{
    static const struct {
        const char *prefix;
        int base;
    } prefixes[] = {{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}};

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (str_starts(c->rest, str_of(prefixes[i].prefix))) {
            c->rest = str_skip(c->rest, 2);
            return prefixes[i].base;
        }
    }
    return 10;
}

static struct num read_calc_number(struct calc *c)
{
    auto_buf struct buf b = BUF_INIT(CALC_MAX_TEXT + 1);
    int base = take_base(c);

    if (base != 10)
        return based(c, base);
    bool is_ok = c->rest.p[0] == '.' || take_base_digits(c, 10, &b);
    size_t n_before = b.len;
    is_ok = is_ok && take_float_fraction(c, &b);
    if (!is_ok || is_name_part(c->rest) || !buf_cstr(&b))
        return syntax(c, "invalid decimal literal");
    if (b.len > n_before)
        return num_real(strtod(b.p, NULL));
    if (b.len > 1 && b.p[0] == '0' && strspn(b.p, "0") < b.len)
        return syntax(c, "leading zeros in decimal integer literals are not permitted; use an 0o "
                         "prefix for octal integers");
    return num_parse(c, b.p, 10);
}

/* ---- atoms ---- */

static struct num call_calc_function(struct calc *c, const struct calc_function *f)
{
    struct num args[CALC_MAX_ARGS];
    int n = 0;

    if (!take_sign(c, ")")) {
        do {
            if (n > 0 && take_sign(c, ")"))
                return calc_call(c, f, args, n);
            if (n == CALC_MAX_ARGS)
                return syntax(c, "too many arguments");
            args[n++] = comparison(c);
        } while (take_sign(c, ","));
        if (!take_sign(c, ")"))
            return syntax(c, "invalid syntax");
    }
    return calc_call(c, f, args, n);
}

static struct num name(struct calc *c)
{
    size_t n = 0;
    double d;

    while (n < c->rest.len && (is_name_part(str_skip(c->rest, n)) || ascii_is_digit(c->rest.p[n])))
        n++;
    struct str word = str_slice(c->rest, 0, n);
    c->rest = str_skip(c->rest, n);
    const struct calc_function *f = calc_function(word);
    if (str_is(word, "True") || str_is(word, "False"))
        return num_bool(c, word.p[0] == 'T');
    if (f) {
        struct num r = {.kind = NUM_TEXT};
        if (take_sign(c, "("))
            return call_calc_function(c, f);
        (void)snprintf(r.text, sizeof r.text, "<built-in function %s>", calc_function_name(f));
        return r;
    }
    return calc_constant(word, &d) ? num_real(d)
                                   : calc_fault(c, "name '" STR_FMT "' is not defined",
                                                STR_ARG(str_slice(word, 0, 64)));
}

static struct num atom(struct calc *c)
{
    skip_calc_space(c);
    char ch = c->rest.len > 0 ? c->rest.p[0] : 0;
    bool is_number =
        ascii_is_digit(ch) || (ch == '.' && c->rest.len > 1 && ascii_is_digit(c->rest.p[1]));
    struct num r;

    if (take_sign(c, "(")) {
        r = comparison(c);
        if (!c->is_syntax && !take_sign(c, ")"))
            return syntax(c, "invalid syntax");
    } else if (is_number) {
        r = read_calc_number(c);
    } else if (is_name_part(c->rest)) {
        r = name(c);
    } else {
        return syntax(c, "invalid syntax");
    }
    if (take_sign(c, "(")) {
        (void)calc_fault(c, "'%s' object is not callable", r.kind == NUM_REAL ? "float" : "int");
        (void)call_calc_function(c, NULL);
    }
    return r;
}

/* ---- operators ---- */

/* A power binds its left side more closely than a sign, its right side less. */
static struct num power(struct calc *c)
{
    struct num left = atom(c), right;

    if (!take_sign(c, "**") && !take_sign(c, "^"))
        return left;
    right = factor(c);
    return num_op(c, '^', &left, &right);
}

static struct num factor(struct calc *c)
{
    struct num r;

    if (c->is_syntax)
        return num_real(0);
    if (++c->depth > CALC_MAX_DEPTH)
        return syntax(c, "too many nested parentheses");
    if (take_sign(c, "-")) {
        r = factor(c);
        r = num_negate(c, &r);
    } else if (take_sign(c, "+")) {
        r = factor(c);
        r.is_bool = false;
    } else {
        r = power(c);
    }
    c->depth--;
    return r;
}

static char take_product_sign(struct calc *c)
{
    skip_calc_space(c);
    if (str_starts(c->rest, STR("**")))
        return 0;
    if (take_sign(c, "//"))
        return 'f';
    if (take_sign(c, "*") || take_sign(c, "×"))
        return '*';
    if (take_sign(c, "/") || take_sign(c, "÷"))
        return '/';
    return take_sign(c, "%") ? '%' : 0;
}

static struct num term(struct calc *c)
{
    struct num left = factor(c);

    for (char op; (op = take_product_sign(c));) {
        struct num right = factor(c);
        left = num_op(c, op, &left, &right);
    }
    return left;
}

static struct num read_calc_sum(struct calc *c)
{
    struct num left = term(c);

    for (;;) {
        char op = take_sign(c, "+") ? '+' : take_sign(c, "-") ? '-' : 0;
        if (!op)
            return left;
        struct num right = term(c);
        left = num_op(c, op, &left, &right);
    }
}

/* By the sign: which results of num_compare() make it true, as bits of result + 1. */
static unsigned take_calc_comparison(struct calc *c)
{
    static const struct {
        const char *sign;
        unsigned is_true;
    } signs[] = {{"<=", 3}, {"<", 1}, {">=", 6}, {">", 4}, {"==", 2}, {"!=", 13}};

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (take_sign(c, signs[i].sign))
            return signs[i].is_true;
    }
    return 0;
}

static struct num comparison(struct calc *c)
{
    struct num left = read_calc_sum(c), result = left;
    bool is_true = true;

    for (unsigned mask; (mask = take_calc_comparison(c));) {
        struct num right = read_calc_sum(c);
        if (c->has_fault)
            continue;
        is_true = is_true && (mask >> (unsigned)(num_compare(c, &left, &right) + 1) & 1);
        result = num_bool(c, is_true);
        left = right;
    }
    return result;
}

int calc_eval(struct str expression, struct buf *out, struct err *e)
{
    struct err own = ERR_INIT;
    struct calc c = {.all = expression, .rest = expression, .err = e ? e : &own};

    if (expression.len > CALC_MAX_TEXT)
        return err_set(e, -EINVAL, "expression is longer than %d bytes", CALC_MAX_TEXT);
    if (str_trim(expression).len == 0)
        return err_set(e, -EINVAL, "invalid syntax (<unknown>, line 0)");
    c.pool = BN_CTX_new();
    if (!c.pool)
        return err_set(e, -ENOMEM, "out of memory");
    BN_CTX_start(c.pool);
    struct num r = comparison(&c);
    skip_calc_space(&c);
    if (!c.is_syntax && c.rest.len > 0)
        (void)syntax(&c, c.rest.p[0] == ')' ? "unmatched ')'" : "invalid syntax");
    if (!c.has_fault)
        num_print(&c, &r, out);
    BN_CTX_end(c.pool);
    BN_CTX_free(c.pool);
    return c.has_fault ? -EINVAL : 0;
}
