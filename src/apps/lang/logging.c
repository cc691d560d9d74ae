/* SPDX-License-Identifier: MIT */
/* The filters of Cloud Logging: severity>=ERROR AND (textPayload:"queue" OR jsonPayload.code=503).
 * NOT binds most, then OR, then AND; terms side by side are joined by AND; a value alone is looked
 * for everywhere. Texts are compared without regard to case.
 *
 * app.json /languages/logging: /fields has the columns of severity (its number), logName,
 * timestamp, textPayload, insertId, "resource.type", and as JSON of jsonPayload, "resource.labels";
 * `all` is what a value alone is looked for in. */
#include <errno.h>
#include <stdio.h>

#include "apps/lang/lang_internal.h"
#include "apps/products/bigquery/moment.h"
#include "apps/text/scan.h"
#include "base/ascii.h"
#include "base/cleanup.h"

/* What SQLite's limits on the depth of expressions leave room for. */
enum { MAX_TERMS = 100, MAX_DEPTH = 8 };

enum op { OP_HAS, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_MATCH, OP_NOT_MATCH, OP_NONE };

static const char *const signs[] = {":", "=", "!=", "<", "<=", ">", ">=", "=~", "!~"};

static const struct {
    const char *name;
    int level;
} severities[] = {
    {"DEFAULT", 0}, {"DEBUG", 100}, {"INFO", 200},     {"NOTICE", 300}, {"WARNING", 400},
    {"WARN", 400},  {"ERROR", 500}, {"CRITICAL", 600}, {"ALERT", 700},  {"EMERGENCY", 800},
};

struct log_parser {
    const struct json *config;
    struct lang_out out;
    struct str text, rest;
    int n_terms, depth;
    struct err *err;
};

/* ---- tokens ---- */

static void skip_comments(struct log_parser *p)
{
    for (;;) {
        scan_blanks(&p->rest);
        if (!str_starts(p->rest, STR("--")))
            return;
        ptrdiff_t end = str_chr(p->rest, '\n');
        p->rest = str_skip(p->rest, end < 0 ? p->rest.len : (size_t)end);
    }
}

static bool is_filter_word_char(char c)
{
    return ascii_is_alnum(c) || (unsigned char)c >= 0x80 || (c && strchr("_./-+@%*$#", c));
}

static struct str peek_filter_word(struct log_parser *p)
{
    skip_comments(p);
    return scan_peek(p->rest, is_filter_word_char);
}

static int fail_log_filter(struct log_parser *p)
{
    struct scan_position at = scan_position(p->text, p->text.len - p->rest.len);
    struct str word = peek_filter_word(p);

    if (word.len == 0)
        word = p->rest.len > 0 ? str_slice(p->rest, 0, 1) : STR("EOF");
    return err_set(p->err, -EINVAL,
                   "Unparseable filter: syntax error at line %zu, column %zu, token '" STR_FMT "'",
                   at.line, at.column, STR_ARG(str_slice(word, 0, 60)));
}

/* Operators are in capitals; "and" is a word to look for. */
static bool take_log_operator(struct log_parser *p, const char *word)
{
    skip_comments(p);
    return scan_keyword(&p->rest, is_filter_word_char, word);
}

static bool take_log_char(struct log_parser *p, char c)
{
    skip_comments(p);
    return scan_char(&p->rest, c);
}

static enum op take_op(struct log_parser *p)
{
    enum op found = OP_NONE;

    skip_comments(p);
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if (str_starts(p->rest, str_of(signs[i])) &&
            (found == OP_NONE || strlen(signs[i]) > strlen(signs[found])))
            found = (enum op)i;
    }
    if (found != OP_NONE)
        p->rest = str_skip(p->rest, strlen(signs[found]));
    return found;
}

static int take_log_quoted(struct log_parser *p, struct str *ret)
{
    int r = scan_quoted(&p->rest, SCAN_BACKSLASH_QUOTE, p->out.arena, ret);

    return r == -EINVAL ? fail_log_filter(p) : r;
}

static int take_log_value(struct log_parser *p, struct str *ret)
{
    skip_comments(p);
    if (p->rest.len > 0 && (p->rest.p[0] == '"' || p->rest.p[0] == '\''))
        return take_log_quoted(p, ret);
    *ret = peek_filter_word(p);
    if (ret->len == 0)
        return fail_log_filter(p);
    p->rest = str_skip(p->rest, ret->len);
    return 0;
}

static int emit_severity(struct log_parser *p, enum op op, struct str value)
{
    int64_t level = -1;

    if (str_to_i64(value, &level) < 0)
        level = -1;
    for (size_t i = 0; i < ARRAY_LEN(severities); i++) {
        if (str_iis(value, severities[i].name))
            level = severities[i].level;
    }
    if (level < 0)
        return err_set(p->err, -EINVAL,
                       "Unparseable filter: invalid enum value \"" STR_FMT
                       "\" for field 'severity'",
                       STR_ARG(str_slice(value, 0, 60)));
    lang_sql(&p->out, "%s %s ", lang_expression(p->config, "severity"),
             op == OP_HAS ? "=" : signs[op]);
    lang_int(&p->out, level);
    return 0;
}

static int emit_time(struct log_parser *p, enum op op, struct str value)
{
    struct buf b auto_buf = BUF_INIT(64);
    struct bq_moment m;

    if (bq_moment_read(value, &m) < 0 || !m.has_date || op == OP_HAS || op > OP_GE)
        return err_set(p->err, -EINVAL,
                       "Unparseable filter: timestamps must be in RFC3339 format: \"" STR_FMT "\"",
                       STR_ARG(str_slice(value, 0, 60)));
    (void)bq_moment_write(&b, BQ_TIMESTAMP, m.us);
    lang_sql(&p->out, "bq_cast('TIMESTAMP', %s, 'STRING', 1) %s ",
             lang_expression(p->config, "timestamp"), signs[op]);
    lang_text(&p->out, buf_str(&b));
    return 0;
}

/* A column, or an expression of one. */
static void emit_logging_text(struct log_parser *p, const char *column, enum op op,
                              struct str value)
{
    int64_t number;

    lang_sql(&p->out, op == OP_NE || op == OP_NOT_MATCH ? "NOT ifnull(" : "ifnull(");
    if (op == OP_HAS && str_is(value, "*")) {
        lang_sql(&p->out, "%s IS NOT NULL", column);
    } else if (op == OP_HAS) {
        lang_sql(&p->out, "instr(lower(%s), lower(", column);
        lang_text(&p->out, value);
        lang_sql(&p->out, ")) > 0");
    } else if (op == OP_MATCH || op == OP_NOT_MATCH) {
        lang_sql(&p->out, "bq_regexp(%s, ", column);
        lang_text(&p->out, value);
        lang_sql(&p->out, ")");
    } else if (str_to_i64(value, &number) == 0 && op != OP_EQ && op != OP_NE) {
        lang_sql(&p->out, "CAST(%s AS REAL) %s ", column, signs[op]);
        lang_int(&p->out, number);
    } else {
        lang_sql(&p->out, "lower(CAST(%s AS TEXT)) %s lower(", column,
                 op == OP_NE ? "=" : signs[op]);
        lang_text(&p->out, value);
        lang_sql(&p->out, ")");
    }
    lang_sql(&p->out, ", 0)");
}

/* jsonPayload.a.b: the column, and the path in it as '$."a"."b"'. */
static int emit_logging_member(struct log_parser *p, const char *column, struct str path,
                               enum op op, struct str value)
{
    struct buf b auto_buf = BUF_INIT(4096);
    struct buf sql auto_buf = BUF_INIT(8192);

    (void)buf_add_char(&b, '$');
    while (path.p && path.len > 0) {
        struct str name = str_cut(&path, '.');
        for (size_t i = 0; i < name.len; i++) {
            if (strchr("\"'\\", name.p[i]))
                return fail_log_filter(p);
        }
        (void)buf_printf(&b, ".\"" STR_FMT "\"", STR_ARG(name));
    }
    (void)buf_printf(&sql, "(%s ->> '" STR_FMT "')", column, STR_ARG(buf_str(&b)));
    if (!buf_ok(&sql) || !buf_cstr(&sql))
        return fail_log_filter(p);
    emit_logging_text(p, buf_cstr(&sql), op, value);
    return 0;
}

static int emit_log_comparison(struct log_parser *p, struct str field, enum op op, struct str value)
{
    static const char *const parents[] = {"jsonPayload.", "resource.labels."};

    if (str_iis(field, "severity"))
        return emit_severity(p, op, value);
    if (str_iis(field, "timestamp") || str_iis(field, "receiveTimestamp"))
        return emit_time(p, op, value);
    for (size_t i = 0; i < ARRAY_LEN(parents); i++) {
        size_t len = strlen(parents[i]);
        char name[32];
        if (field.len <= len || !str_ieq_bytes(field.p, parents[i], len))
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)len - 1, parents[i]);
        return emit_logging_member(p, lang_expression(p->config, name), str_skip(field, len), op,
                                   value);
    }
    const char *column = lang_field(p->config, field);
    emit_logging_text(p, column ? column : "NULL", op, value);
    return 0;
}

/* (A OR B) behind a sign */
static int read_values(struct log_parser *p, struct str field, enum op op)
{
    struct str value;
    int r;

    if (!take_log_char(p, '(')) {
        r = take_log_value(p, &value);
        return r < 0 ? r : emit_log_comparison(p, field, op, value);
    }
    lang_sql(&p->out, "(");
    for (;;) {
        r = take_log_value(p, &value);
        if (r == 0)
            r = emit_log_comparison(p, field, op, value);
        if (r < 0 || ++p->n_terms > MAX_TERMS)
            return r < 0 ? r : fail_log_filter(p);
        if (take_log_char(p, ')'))
            break;
        bool is_or = take_log_operator(p, "OR");
        if (!is_or)
            (void)take_log_operator(p, "AND");
        lang_sql(&p->out, is_or ? " OR " : " AND ");
    }
    lang_sql(&p->out, ")");
    return 0;
}

/* ---- terms ---- */

static int read_log_and(struct log_parser *p);

/* SEARCH("x"), log_id("x") */
static int read_call(struct log_parser *p, struct str name)
{
    struct str value;

    if (!take_log_char(p, '(') || take_log_value(p, &value) < 0)
        return p->err->code ? p->err->code : fail_log_filter(p);
    if (str_iis(name, "log_id")) {
        emit_logging_text(p, lang_expression(p->config, "log_id"), OP_EQ, value);
    } else if (str_iis(name, "SEARCH")) {
        if (take_log_char(p, ',') && take_log_value(p, &value) < 0)
            return p->err->code ? p->err->code : fail_log_filter(p);
        emit_logging_text(p, lang_expression(p->config, "all"), OP_HAS, value);
    } else {
        return fail_log_filter(p);
    }
    return take_log_char(p, ')') ? 0 : fail_log_filter(p);
}

static int read_log_term(struct log_parser *p)
{
    struct str word;

    if (++p->n_terms > MAX_TERMS)
        return err_set(p->err, -EINVAL, "Unparseable filter: too many terms");
    if (take_log_char(p, '(')) {
        if (++p->depth > MAX_DEPTH)
            return err_set(p->err, -EINVAL, "Unparseable filter: too many nested expressions");
        lang_sql(&p->out, "(");
        int r = read_log_and(p);
        lang_sql(&p->out, ")");
        p->depth--;
        return r < 0 ? r : take_log_char(p, ')') ? 0 : fail_log_filter(p);
    }
    int r = take_log_value(p, &word);
    if (r < 0)
        return r;
    if (p->rest.len > 0 && p->rest.p[0] == '(')
        return read_call(p, word);
    enum op op = take_op(p);
    if (op != OP_NONE)
        return read_values(p, word, op);
    emit_logging_text(p, lang_expression(p->config, "all"), OP_HAS, word);
    return 0;
}

static int read_not(struct log_parser *p)
{
    skip_comments(p);
    bool is_minus = p->rest.len > 1 && p->rest.p[0] == '-' && p->rest.p[1] != ' ';
    bool is_not = is_minus || take_log_operator(p, "NOT");

    if (is_minus)
        p->rest = str_skip(p->rest, 1);
    if (is_not)
        lang_sql(&p->out, "NOT (");
    int r = read_log_term(p);
    if (is_not)
        lang_sql(&p->out, ")");
    return r;
}

static int read_log_or(struct log_parser *p)
{
    lang_sql(&p->out, "(");
    int r = read_not(p);
    while (r == 0 && take_log_operator(p, "OR")) {
        lang_sql(&p->out, " OR ");
        r = read_not(p);
    }
    lang_sql(&p->out, ")");
    return r;
}

static int read_log_and(struct log_parser *p)
{
    int r = read_log_or(p);

    for (;;) {
        skip_comments(p);
        if (r < 0 || p->rest.len == 0 || p->rest.p[0] == ')')
            return r;
        (void)take_log_operator(p, "AND");
        lang_sql(&p->out, " AND ");
        r = read_log_or(p);
    }
}

int lang_logging(const struct json *config, struct str text, struct arena *a,
                 struct appdb_predicate *ret, struct err *e)
{
    struct err own = ERR_INIT;
    struct log_parser p = {.config = config, .text = text, .rest = text, .err = e ? e : &own};

    lang_begin(&p.out, a);
    skip_comments(&p);
    int r = 0;
    if (p.rest.len == 0)
        lang_sql(&p.out, "1");
    else
        r = read_log_and(&p);
    if (r == 0 && p.rest.len > 0)
        r = fail_log_filter(&p);
    if (r == 0)
        return lang_end(&p.out, ret, e);
    lang_drop(&p.out);
    return r;
}
