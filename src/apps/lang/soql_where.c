/* SPDX-License-Identifier: MIT */
/* SOQL: conditions and orders. A condition is true or false, never unknown: what compares a field
 * without a value is false. Texts are alike without regard to case. */
#include <errno.h>
#include <stdlib.h>

#include "apps/calendar/civil.h"
#include "apps/lang/soql.h"

enum { MAX_DEPTH = 6, MAX_LIST = 500, MAX_TERMS = 100 };

enum value_kind {
    VALUE_NULL,
    VALUE_TEXT,
    VALUE_NUMBER,
    VALUE_BOOL,
    VALUE_DATE,
    VALUE_TIME,
    VALUE_DAYS
};

struct soql_value {
    enum value_kind kind;
    struct str text, days[3];
    double number;
    bool is_true;
};

struct comparison {
    const struct soql_scope *scope;
    struct soql_operand operand;
    struct str op; /* =, !=, <, <=, >, >=, LIKE */
};

/* ---- values ---- */

static int read_literal(struct soql *q, struct soql_value *ret)
{
    struct civil_text t;
    char *end;

    if (str_chr(str_skip(q->token.text, 1), '-') >= 0) {
        if (civil_read(q->token.text, &t) < 0 || (!t.is_date && !t.has_offset))
            return soql_unexpected(q);
        *ret =
            (struct soql_value){.kind = t.is_date ? VALUE_DATE : VALUE_TIME, .text = q->token.text};
        return soql_next(q);
    }
    const char *text = arena_str(q->out.arena, q->token.text).p;
    ret->kind = VALUE_NUMBER;
    ret->number = text ? strtod(text, &end) : 0;
    if (!text || *end)
        return soql_unexpected(q);
    return soql_next(q);
}

static int read_soql_value(struct soql *q, bool is_pattern, struct soql_value *ret)
{
    int r;

    *ret = (struct soql_value){.kind = VALUE_NULL};
    if (q->token.kind == SOQL_LITERAL)
        return read_literal(q, ret);
    if (q->token.kind == SOQL_STRING) {
        ret->kind = VALUE_TEXT;
        ret->text = soql_unescape(q, q->token.text, is_pattern);
    } else if (soql_is(q, "TRUE") || soql_is(q, "FALSE")) {
        ret->kind = VALUE_BOOL;
        ret->is_true = soql_is(q, "TRUE");
    } else if (!soql_is(q, "NULL")) {
        if ((r = soql_days(q, q->token, ret->days)) < 0)
            return r;
        if (r == 0)
            return soql_unexpected(q);
        ret->kind = VALUE_DAYS;
    }
    return soql_next(q);
}

/* ---- comparisons ---- */

/* Whether a field of TYPE can be compared with a value of KIND. */
static int check_kind(struct soql *q, const struct soql_operand *o, enum soql_type type,
                      enum value_kind kind)
{
    static const struct {
        const char *name;
        unsigned kinds; /* besides null */
    } rules[] = {
        [SOQL_TEXT] = {"string and should be enclosed in quotes", 1U << VALUE_TEXT},
        [SOQL_LONG] = {"string and should be enclosed in quotes", 0},
        [SOQL_NUMBER] = {"double and should not be enclosed in quotes", 1U << VALUE_NUMBER},
        [SOQL_BOOL] = {"boolean and should not be enclosed in quotes", 1U << VALUE_BOOL},
        [SOQL_DATE] = {"date and should not be enclosed in quotes",
                       1U << VALUE_DATE | 1U << VALUE_DAYS},
        [SOQL_TIME] = {"dateTime and should not be enclosed in quotes",
                       1U << VALUE_TIME | 1U << VALUE_DAYS},
    };

    if (type == SOQL_LONG)
        return soql_fail(q, o->at, "INVALID_FIELD",
                         "field '" STR_FMT "' can not be filtered in a query call",
                         STR_ARG(o->path));
    if (kind != VALUE_NULL && !(rules[type].kinds & 1U << kind))
        return soql_fail(q, o->at, "INVALID_FIELD",
                         "value of filter criterion for field '" STR_FMT "' must be of type %s",
                         STR_ARG(o->path), rules[type].name);
    return 0;
}

/* A stretch of days. */
static int emit_days(struct soql *q, const struct comparison *c, const struct soql_value *v)
{
    bool is_equal = str_is(c->op, "="), is_other = str_is(c->op, "!=");
    /* The bound and how the day is compared with it; "=" is both ">=" and "<" of the next. */
    bool is_last = str_is(c->op, "<=") || str_is(c->op, ">");
    const char *op = str_is(c->op, "<") || str_is(c->op, "<=") ? "<" : ">=";
    int r;

    if (q->stack + SOQL_STACK_DAYS > SOQL_STACK_MAX)
        return soql_too_complicated(q, c->operand.at);
    lang_sql(&q->out, "%sifnull(substr(", is_other ? "NOT " : "");
    if ((r = soql_emit(q, c->scope, &c->operand, NULL)) < 0)
        return r;
    if (is_equal || is_other)
        lang_sql(&q->out, ", 1, 10) BETWEEN " STR_FMT " AND " STR_FMT ", 0)", STR_ARG(v->days[0]),
                 STR_ARG(v->days[1]));
    else
        lang_sql(&q->out, ", 1, 10) %s " STR_FMT ", 0)", op, STR_ARG(v->days[is_last ? 2 : 0]));
    return 0;
}

/* The operand as it is compared with a value of KIND. */
static int emit_side(struct soql *q, const struct comparison *c, enum value_kind kind)
{
    int r;

    if (kind == VALUE_TIME)
        lang_sql(&q->out, "time_read(");
    else if (kind == VALUE_DATE)
        lang_sql(&q->out, "substr(");
    if ((r = soql_emit(q, c->scope, &c->operand, NULL)) < 0)
        return r;
    if (kind == VALUE_TIME)
        lang_sql(&q->out, ", 'UTC')");
    else if (kind == VALUE_DATE)
        lang_sql(&q->out, ", 1, 10)");
    else if (kind == VALUE_TEXT)
        lang_sql(&q->out, " COLLATE NOCASE");
    return 0;
}

static void emit_soql_value(struct soql *q, const struct soql_value *v)
{
    if (v->kind == VALUE_NUMBER) {
        lang_real(&q->out, v->number);
    } else if (v->kind == VALUE_BOOL) {
        lang_sql(&q->out, "%d", v->is_true);
    } else if (v->kind == VALUE_NULL) {
        lang_sql(&q->out, "NULL");
    } else {
        lang_sql(&q->out, v->kind == VALUE_TIME ? "time_read(" : "");
        lang_text(&q->out, v->text);
        lang_sql(&q->out, v->kind == VALUE_TIME ? ", 'UTC')" : "");
    }
}

static int emit_soql_comparison(struct soql *q, const struct comparison *c,
                                const struct soql_value *v)
{
    bool is_other = str_is(c->op, "!="), is_like = str_iis(c->op, "LIKE");
    int r;

    if (v->kind == VALUE_DAYS)
        return emit_days(q, c, v);
    lang_sql(&q->out, "ifnull(");
    if ((r = emit_side(q, c, v->kind)) < 0)
        return r;
    if (is_like)
        lang_sql(&q->out, " LIKE ");
    else if (is_other)
        lang_sql(&q->out, " IS NOT ");
    else if (str_is(c->op, "=") && v->kind == VALUE_NULL)
        lang_sql(&q->out, " IS ");
    else
        lang_sql(&q->out, " " STR_FMT " ", STR_ARG(c->op));
    emit_soql_value(q, v);
    lang_sql(&q->out, is_like ? " ESCAPE '\\', 0)" : ", 0)");
    return 0;
}

/* The type of the operand, without its SQL. */
static int type_of_operand(struct soql *q, const struct comparison *c, enum soql_type *ret)
{
    size_t len = q->out.sql.len;
    int r = soql_emit(q, c->scope, &c->operand, ret);

    if (r == 0 && buf_ok(&q->out.sql))
        q->out.sql.len = len;
    return r;
}

/* IN (…), behind the parenthesis. */
static int in_list(struct soql *q, const struct comparison *c, bool is_not)
{
    struct soql_value v;
    enum soql_type type;
    int r = type_of_operand(q, c, &type);

    if (r < 0)
        return r;
    lang_sql(&q->out, "%sifnull(", is_not ? "NOT " : "");
    if (soql_is(q, "SELECT")) {
        if ((r = emit_side(q, c, VALUE_NULL)) < 0)
            return r;
        lang_sql(&q->out, " IN (");
        if ((r = soql_values(q)) < 0)
            return r;
        lang_sql(&q->out, "), 0)");
        return soql_need(q, ")");
    }
    for (int i = 0; i < MAX_LIST; i++) {
        if ((r = read_soql_value(q, false, &v)) < 0 ||
            (r = check_kind(q, &c->operand, type, v.kind)) < 0)
            return r;
        if (v.kind == VALUE_DAYS)
            return soql_unexpected(q);
        if (i == 0) {
            if ((r = emit_side(q, c, v.kind)) < 0)
                return r;
            lang_sql(&q->out, " IN (");
        }
        emit_soql_value(q, &v);
        if ((r = soql_take(q, ",")) < 0)
            return r;
        if (r == 0) {
            lang_sql(&q->out, "), 0)");
            return soql_need(q, ")");
        }
        lang_sql(&q->out, ", ");
    }
    return soql_unexpected(q);
}

static int read_operator(struct soql *q, struct str *ret)
{
    static const char *const ops[] = {"=", "!=", "<>", "<", "<=", ">", ">=", "LIKE"};

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        if (!soql_is(q, ops[i]))
            continue;
        *ret = str_of(i == 2 ? "!=" : ops[i]);
        return soql_next(q);
    }
    return soql_unexpected(q);
}

/* Only texts are like others, and nothing is less than null. */
static int check_operator(struct soql *q, const struct comparison *c, enum value_kind kind)
{
    bool is_order = str_chr(c->op, '<') >= 0 || str_chr(c->op, '>') >= 0;
    bool is_plain = kind == VALUE_NULL || kind == VALUE_BOOL;

    if ((!str_is(c->op, "LIKE") || kind == VALUE_TEXT) && !(is_order && is_plain))
        return 0;
    return soql_fail(q, c->operand.at, "INVALID_QUERY_FILTER_OPERATOR",
                     "invalid operator " STR_FMT " on field '" STR_FMT "'", STR_ARG(c->op),
                     STR_ARG(c->operand.path));
}

static int read_soql_comparison(struct soql *q, const struct soql_scope *s)
{
    struct comparison c = {.scope = s};
    struct soql_value v;
    enum soql_type type;
    int r, is_not;

    if (++q->n_terms > MAX_TERMS)
        return soql_fail(q, q->token.at, "MALFORMED_QUERY", "the query has too many conditions");
    if (soql_operand(q, &c.operand) < 0 || (is_not = soql_take(q, "NOT")) < 0)
        return -EINVAL;
    if (is_not || soql_is(q, "IN")) {
        if ((r = soql_need(q, "IN")) < 0 || (r = soql_need(q, "(")) < 0)
            return r;
        return in_list(q, &c, is_not);
    }
    if ((r = read_operator(q, &c.op)) < 0 ||
        (r = read_soql_value(q, str_is(c.op, "LIKE"), &v)) < 0 ||
        (r = type_of_operand(q, &c, &type)) < 0)
        return r;
    if ((r = check_operator(q, &c, v.kind)) < 0 ||
        (r = check_kind(q, &c.operand, type, v.kind)) < 0)
        return r;
    return emit_soql_comparison(q, &c, &v);
}

/* ---- conditions ---- */

static int unary(struct soql *q, const struct soql_scope *s)
{
    int r = soql_take(q, "NOT");

    if (r < 0)
        return r;
    if (r > 0)
        lang_sql(&q->out, "NOT ");
    if ((r = soql_take(q, "(")) <= 0)
        return r < 0 ? r : read_soql_comparison(q, s);
    r = soql_condition(q, s);
    return r < 0 ? r : soql_need(q, ")");
}

/* AND and OR do not mix without parentheses. */
int soql_condition(struct soql *q, const struct soql_scope *s)
{
    bool is_and, is_or;
    int r;

    if (++q->depth > MAX_DEPTH)
        return soql_fail(q, q->token.at, "MALFORMED_QUERY", "the query is nested too deeply");
    q->stack += SOQL_STACK_CONDITION;
    lang_sql(&q->out, "(");
    if ((r = unary(q, s)) < 0)
        return r;
    is_and = soql_is(q, "AND");
    is_or = soql_is(q, "OR");
    while ((is_and && soql_is(q, "AND")) || (is_or && soql_is(q, "OR"))) {
        lang_sql(&q->out, is_and ? " AND " : " OR ");
        if ((r = soql_next(q)) < 0 || (r = unary(q, s)) < 0)
            return r;
    }
    if (soql_is(q, "AND") || soql_is(q, "OR"))
        return soql_unexpected(q);
    lang_sql(&q->out, ")");
    q->stack -= SOQL_STACK_CONDITION;
    q->depth--;
    return 0;
}

/* One term, and whether nothing goes before nothing. */
static int order_term(struct soql *q, const struct soql_scope *s)
{
    struct soql_operand o;
    enum soql_type type;
    int r;

    if ((r = soql_operand(q, &o)) < 0 || (r = soql_emit(q, s, &o, &type)) < 0)
        return r;
    if (type == SOQL_LONG)
        return soql_fail(q, o.at, "MALFORMED_QUERY",
                         "field '" STR_FMT "' can not be sorted in a query call", STR_ARG(o.path));
    if (type == SOQL_TEXT)
        lang_sql(&q->out, " COLLATE NOCASE");
    if (soql_is(q, "ASC") || soql_is(q, "DESC")) {
        lang_sql(&q->out, soql_is(q, "DESC") ? " DESC" : "");
        if ((r = soql_next(q)) < 0)
            return r;
    }
    if ((r = soql_take(q, "NULLS")) <= 0)
        return r;
    if (!soql_is(q, "FIRST") && !soql_is(q, "LAST"))
        return soql_unexpected(q);
    lang_sql(&q->out, soql_is(q, "FIRST") ? " NULLS FIRST" : " NULLS LAST");
    return soql_next(q);
}

int soql_order(struct soql *q, const struct soql_scope *s)
{
    int r;

    lang_sql(&q->out, " ORDER BY ");
    while ((r = order_term(q, s)) == 0) {
        if ((r = soql_take(q, ",")) <= 0)
            return r;
        lang_sql(&q->out, ", ");
    }
    return r;
}
