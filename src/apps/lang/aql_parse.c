/* SPDX-License-Identifier: MIT */
/* JQL and CQL as trees, by recursive descent. */
#include <errno.h>
#include <stdio.h>

#include "apps/lang/aql.h"

struct aql_parser {
    struct aql_lexer lexer;
    struct aql_token now;
    struct arena *arena;
    unsigned depth, n_terms;
    struct err *err;
};

#define OPERATORS                                                                                  \
    "The valid operators are '=', '!=', '<', '>', '<=', '>=', '~', '!~', 'IN', 'NOT IN', 'IS' "    \
    "and 'IS NOT'."

static const char *const op_names[] = {
    [AQL_EQ] = "=",
    [AQL_NE] = "!=",
    [AQL_LT] = "<",
    [AQL_LE] = "<=",
    [AQL_GT] = ">",
    [AQL_GE] = ">=",
    [AQL_MATCH] = "~",
    [AQL_NOT_MATCH] = "!~",
    [AQL_IN] = "in",
    [AQL_NOT_IN] = "not in",
    [AQL_IS] = "is",
    [AQL_IS_NOT] = "is not",
    [AQL_WAS] = "was",
    [AQL_WAS_NOT] = "was not",
    [AQL_WAS_IN] = "was in",
    [AQL_WAS_NOT_IN] = "was not in",
    [AQL_CHANGED] = "changed",
};

const char *aql_op_name(enum aql_op op)
{
    return op < AQL_OP_COUNT ? op_names[op] : "";
}

/* ---- tokens ---- */

static int step_token(struct aql_parser *p)
{
    return aql_next(&p->lexer, &p->now, p->err);
}

static bool is_keyword(const struct aql_parser *p, const char *word)
{
    return p->now.kind == AQL_WORD && str_iis(p->now.text, word);
}

static bool is_aql_sign(const struct aql_parser *p, const char *sign)
{
    return p->now.kind == AQL_SIGN && str_is(p->now.text, sign);
}

/* Words that are no values and no fields without quotes. */
static bool is_aql_reserved(struct str word)
{
    static const char *const words[] = {"and", "or",    "not", "in",      "is",
                                        "was", "order", "by",  "changed", "select"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_iis(word, words[i]))
            return true;
    }
    return false;
}

/* "Expecting WHAT but got 'x'. MORE (line 1, character 7)" */
static int unexpected(struct aql_parser *p, const char *what, const char *more)
{
    struct str got = str_slice(p->now.text, 0, 100);

    if (p->now.kind == AQL_END)
        return err_set(p->err, -EINVAL,
                       "Error in the JQL Query: Expecting %s before the end of the query.%s%s",
                       what, *more ? " " : "", more);
    return err_set(p->err, -EINVAL,
                   "Error in the JQL Query: Expecting %s but got '" STR_FMT
                   "'.%s%s (line %u, character %u)",
                   what, STR_ARG(got), *more ? " " : "", more, p->now.line, p->now.column);
}

static int reserved(struct aql_parser *p, const char *what)
{
    char more[100];

    (void)snprintf(more, sizeof more,
                   "You must surround '" STR_FMT "' in quotation marks to use it as a %s.",
                   STR_ARG(p->now.text), what);
    return unexpected(p,
                      strcmp(what, "field") == 0 ? "a field name"
                                                 : "either a value, list or "
                                                   "function",
                      more);
}

static int no_memory_for_aql(struct aql_parser *p)
{
    return err_set(p->err, -ENOMEM, "out of memory");
}

static int count_term(struct aql_parser *p)
{
    if (++p->n_terms <= AQL_MAX_TERMS)
        return 0;
    return err_set(p->err, -EINVAL, "The query has more than %d clauses and values.",
                   AQL_MAX_TERMS);
}

static int enter_nesting(struct aql_parser *p)
{
    if (++p->depth <= AQL_MAX_DEPTH)
        return 0;
    return err_set(p->err, -EINVAL, "The query is nested deeper than %d levels.", AQL_MAX_DEPTH);
}

/* ---- operands ---- */

static int parse_operand(struct aql_parser *p, struct aql_value *ret);

/* What stands between '(' and ')', which is the current sign. */
static int parse_aql_items(struct aql_parser *p, struct aql_value *ret, size_t max)
{
    size_t cap = 0;
    int r = step_token(p);

    while (r == 0 && !(is_aql_sign(p, ")") && ret->n == 0)) {
        struct aql_value *items = arena_grow(p->arena, ret->items, ret->n, &cap, sizeof *items);
        if (!items)
            return no_memory_for_aql(p);
        ret->items = items;
        if (ret->n == max)
            return unexpected(p, "')'", "");
        r = parse_operand(p, &ret->items[ret->n]);
        if (r < 0)
            return r;
        ret->n++;
        if (!is_aql_sign(p, ","))
            break;
        r = step_token(p);
    }
    if (r == 0 && !is_aql_sign(p, ")"))
        return unexpected(p, "')' or ','", "");
    return r == 0 ? step_token(p) : r;
}

static int parse_aql_list(struct aql_parser *p, struct aql_value *ret)
{
    ret->kind = AQL_LIST;
    int r = enter_nesting(p);
    if (r == 0)
        r = parse_aql_items(p, ret, AQL_MAX_TERMS);
    p->depth--;
    if (r == 0 && ret->n == 0)
        return err_set(p->err, -EINVAL,
                       "Error in the JQL Query: Expecting either a value, list or function but got "
                       "')'. (line %u, character %u)",
                       p->now.line, p->now.column);
    return r;
}

static int parse_operand(struct aql_parser *p, struct aql_value *ret)
{
    *ret = (struct aql_value){.text = p->now.text};
    if (is_aql_sign(p, "("))
        return parse_aql_list(p, ret);
    if (p->now.kind != AQL_WORD && p->now.kind != AQL_STRING)
        return unexpected(p, "either a value, list or function", "");
    int r = count_term(p);
    if (r < 0)
        return r;
    if (is_keyword(p, "empty") || is_keyword(p, "null"))
        ret->kind = AQL_EMPTY;
    else if (p->now.kind == AQL_WORD && is_aql_reserved(p->now.text))
        return reserved(p, "value");
    r = step_token(p);
    if (r < 0 || !is_aql_sign(p, "("))
        return r;
    ret->kind = AQL_FUNCTION;
    return parse_aql_items(p, ret, AQL_MAX_ARGS);
}

/* ---- operators ---- */

/* "not", "in" behind a word that was just taken. */
static bool accept_word(struct aql_parser *p, const char *word, int *r)
{
    if (*r < 0 || !is_keyword(p, word))
        return false;
    *r = step_token(p);
    return true;
}

static int parse_word_operator(struct aql_parser *p, enum aql_op *ret)
{
    int r = 0;

    if (accept_word(p, "in", &r)) {
        *ret = AQL_IN;
    } else if (accept_word(p, "is", &r)) {
        *ret = accept_word(p, "not", &r) ? AQL_IS_NOT : AQL_IS;
    } else if (accept_word(p, "changed", &r)) {
        *ret = AQL_CHANGED;
    } else if (accept_word(p, "was", &r)) {
        bool is_not = accept_word(p, "not", &r), is_in = accept_word(p, "in", &r);
        *ret = is_not ? (is_in ? AQL_WAS_NOT_IN : AQL_WAS_NOT) : is_in ? AQL_WAS_IN : AQL_WAS;
    } else if (accept_word(p, "not", &r)) {
        *ret = AQL_NOT_IN;
        if (r == 0 && !accept_word(p, "in", &r))
            return unexpected(p, "'IN'", "");
    } else {
        return unexpected(p, "operator", OPERATORS);
    }
    return r;
}

static int parse_operator(struct aql_parser *p, enum aql_op *ret)
{
    if (p->now.kind != AQL_SIGN)
        return parse_word_operator(p, ret);
    for (enum aql_op op = AQL_EQ; op <= AQL_NOT_MATCH; op++) {
        if (!str_is(p->now.text, op_names[op]))
            continue;
        *ret = op;
        return step_token(p);
    }
    return unexpected(p, "operator", OPERATORS);
}

/* FROM "Open" TO "Done" BY maya AFTER -7d */
static int parse_predicates(struct aql_parser *p, const struct aql_predicate **ret)
{
    static const char *const words[] = {"from", "to", "by", "after", "before", "on", "during"};
    struct aql_predicate *last = NULL;

    for (size_t i = 0; i < ARRAY_LEN(words);) {
        if (!is_keyword(p, words[i])) {
            i++;
            continue;
        }
        struct aql_predicate *new = arena_new(p->arena, struct aql_predicate);
        if (!new)
            return no_memory_for_aql(p);
        new->word = str_of(words[i]);
        int r = step_token(p);
        if (r == 0)
            r = parse_operand(p, &new->value);
        if (r < 0)
            return r;
        if (last)
            last->next = new;
        else
            *ret = new;
        last = new;
        i = 0;
    }
    return 0;
}

/* ---- clauses ---- */

static struct aql_node *new_aql_node(struct aql_parser *p, enum aql_node_kind kind)
{
    struct aql_node *n = arena_new(p->arena, struct aql_node);

    if (n)
        n->kind = kind;
    return n;
}

static int parse_clause(struct aql_parser *p, struct aql_node **ret)
{
    struct aql_node *n = new_aql_node(p, AQL_CLAUSE);

    if (!n)
        return no_memory_for_aql(p);
    if (p->now.kind != AQL_WORD && p->now.kind != AQL_STRING)
        return unexpected(p, "a field name", "");
    if (p->now.kind == AQL_WORD && is_aql_reserved(p->now.text))
        return reserved(p, "field");
    n->field = p->now.text;
    *ret = n;
    int r = count_term(p);
    if (r == 0)
        r = step_token(p);
    if (r == 0)
        r = parse_operator(p, &n->op);
    if (r == 0 && n->op != AQL_CHANGED)
        r = parse_operand(p, &n->value);
    if (r == 0 && n->op >= AQL_WAS)
        r = parse_predicates(p, &n->predicates);
    return r;
}

static int parse_joined(struct aql_parser *p, enum aql_node_kind kind, struct aql_node **ret);

static int parse_aql_not(struct aql_parser *p, struct aql_node **ret)
{
    struct aql_node *n = new_aql_node(p, AQL_NOT);
    int r = n ? step_token(p) : no_memory_for_aql(p);

    *ret = n;
    return r < 0 ? r : parse_joined(p, AQL_NOT, &n->first);
}

static int parse_aql_group(struct aql_parser *p, struct aql_node **ret)
{
    int r = step_token(p);

    if (r == 0)
        r = parse_joined(p, AQL_OR, ret);
    if (r == 0 && !is_aql_sign(p, ")"))
        return unexpected(p, "')'", "");
    return r == 0 ? step_token(p) : r;
}

static bool is_joiner(const struct aql_parser *p, enum aql_node_kind kind)
{
    if (kind == AQL_AND)
        return is_keyword(p, "and") || is_aql_sign(p, "&") || is_aql_sign(p, "&&");
    return is_keyword(p, "or") || is_aql_sign(p, "|") || is_aql_sign(p, "||");
}

/* What AND joins, for OR; what stands alone, for AND. */
static int parse_aql_part(struct aql_parser *p, enum aql_node_kind kind, struct aql_node **ret)
{
    if (kind == AQL_OR)
        return parse_joined(p, AQL_AND, ret);
    int r = enter_nesting(p);
    if (r < 0)
        return r;
    if (is_keyword(p, "not") || is_aql_sign(p, "!"))
        r = parse_aql_not(p, ret);
    else if (is_aql_sign(p, "("))
        r = parse_aql_group(p, ret);
    else
        r = parse_clause(p, ret);
    p->depth--;
    return r;
}

/* KIND AQL_NOT: one part alone. */
static int parse_joined(struct aql_parser *p, enum aql_node_kind kind, struct aql_node **ret)
{
    int r = parse_aql_part(p, kind, ret);

    if (r < 0 || kind == AQL_NOT || !is_joiner(p, kind))
        return r;
    struct aql_node *all = new_aql_node(p, kind), *last = *ret;
    if (!all)
        return no_memory_for_aql(p);
    all->first = *ret;
    *ret = all;
    while (r == 0 && is_joiner(p, kind)) {
        r = step_token(p);
        if (r == 0)
            r = parse_aql_part(p, kind, &last->next);
        if (r == 0)
            last = last->next;
    }
    return r;
}

/* ---- order ---- */

static int parse_sort(struct aql_parser *p, struct aql_query *q)
{
    if (p->now.kind != AQL_WORD && p->now.kind != AQL_STRING)
        return unexpected(p, "a field name", "");
    if (q->n_sorts == AQL_MAX_SORTS)
        return err_set(p->err, -EINVAL, "The query is sorted by more than %d fields.",
                       AQL_MAX_SORTS);
    struct aql_sort *s = &q->sorts[q->n_sorts++];
    s->field = p->now.text;
    int r = step_token(p);
    if (accept_word(p, "desc", &r))
        s->is_descending = true;
    else
        (void)accept_word(p, "asc", &r);
    return r;
}

static int parse_order(struct aql_parser *p, struct aql_query *q)
{
    int r = step_token(p);

    if (r == 0 && !accept_word(p, "by", &r))
        return unexpected(p, "'BY'", "");
    if (r == 0)
        r = parse_sort(p, q);
    while (r == 0 && is_aql_sign(p, ",")) {
        r = step_token(p);
        if (r == 0)
            r = parse_sort(p, q);
    }
    return r;
}

int aql_parse(struct str text, struct arena *a, struct aql_query *ret, struct err *e)
{
    struct aql_parser p = {.lexer = {text, 1, 1, a}, .arena = a, .err = e};
    struct aql_node *where = NULL;
    int r = step_token(&p);

    *ret = (struct aql_query){0};
    if (r == 0 && p.now.kind != AQL_END && !is_keyword(&p, "order"))
        r = parse_joined(&p, AQL_OR, &where);
    ret->where = where;
    if (r == 0 && is_keyword(&p, "order"))
        r = parse_order(&p, ret);
    if (r == 0 && p.now.kind != AQL_END)
        return unexpected(&p, ret->n_sorts ? "',' or the end of the query" : "either 'OR' or 'AND'",
                          "");
    return r;
}
