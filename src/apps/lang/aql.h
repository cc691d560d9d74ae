/* SPDX-License-Identifier: MIT */
/* Atlassian's query languages, of which JQL and CQL are the dialects: clauses "field operator
 * operand" joined by AND, OR and NOT, then perhaps ORDER BY. A query is read into a tree
 * (aql_parse.c), from which SQL is made (aql_sql.c) by what app.json says of the fields:
 *
 *     "fields": {"status": {"is": "s.name = {v} COLLATE NOCASE", "in": "i.status IN ({f})",
 *                           "empty": "i.status IS NULL", "exists": "SELECT 1 FROM …{v}…",
 *                           "rank": "s.rank", "rank_of": "(SELECT …{v}…)", "sort": "s.rank",
 *                           "was": "…{v}…", "changed": "SELECT …"},
 *                "created": {"date": "i.created"}, "due": {"date": "i.due", "is_day": true},
 *                "points": {"number": "i.points"}, "summary": {"text": ["i.summary"]},
 *                "state": "status"},
 *     "functions": {"currentUser": "SELECT account_id FROM me", "membersOf": "… {1} …"},
 *     "order": "i.created DESC", "tie": "i.id DESC"
 *
 * {v} is a value of the query, {f} the rows of a function, {1} a function's argument. A field that
 * is a string is another name of that field. "missing" is said of values that "exists" does not
 * find. */
#pragma once

#include "apps/lang/lang_internal.h"

enum {
    AQL_MAX_TERMS = 500, /* clauses and values: SQLite's expressions are at most 1000 deep */
    AQL_MAX_DEPTH = 40,  /* of parentheses and NOT: SQLite's parser has room for 100 symbols */
    AQL_MAX_SORTS = 16,
    AQL_MAX_ARGS = 4 /* of a function */
};

/* ---- words ---- */

enum aql_token_kind {
    AQL_END,
    AQL_WORD,
    AQL_STRING, /* in quotes; the text is without them and without escapes */
    AQL_SIGN    /* = != < > <= >= ~ !~ ! ( ) , & && | || */
};

struct aql_token {
    enum aql_token_kind kind;
    struct str text;
    unsigned line, column; /* from 1 */
};

struct aql_lexer {
    struct str rest;
    unsigned line, column;
    struct arena *arena;
};

/* The next token; -EINVAL with E in JQL's words, -ENOMEM. */
int aql_next(struct aql_lexer *l, struct aql_token *ret, struct err *e);

/* ---- queries ---- */

enum aql_op {
    AQL_EQ,
    AQL_NE,
    AQL_LT,
    AQL_LE,
    AQL_GT,
    AQL_GE,
    AQL_MATCH,
    AQL_NOT_MATCH,
    AQL_IN,
    AQL_NOT_IN,
    AQL_IS,
    AQL_IS_NOT,
    AQL_WAS,
    AQL_WAS_NOT,
    AQL_WAS_IN,
    AQL_WAS_NOT_IN,
    AQL_CHANGED,
    AQL_OP_COUNT
};

enum aql_value_kind { AQL_TEXT, AQL_FUNCTION, AQL_LIST, AQL_EMPTY };

struct aql_value {
    enum aql_value_kind kind;
    struct str text;         /* of AQL_TEXT, the name of AQL_FUNCTION */
    struct aql_value *items; /* of AQL_LIST, the arguments of AQL_FUNCTION */
    size_t n;
};

/* What WAS and CHANGED say further: FROM, TO, BY, AFTER, BEFORE, ON, DURING. */
struct aql_predicate {
    struct str word;
    struct aql_value value;
    struct aql_predicate *next;
};

enum aql_node_kind { AQL_AND, AQL_OR, AQL_NOT, AQL_CLAUSE };

struct aql_node {
    enum aql_node_kind kind;
    struct aql_node *first, *next; /* children; of NOT one */
    struct str field;
    enum aql_op op;
    struct aql_value value;
    const struct aql_predicate *predicates;
};

struct aql_query {
    const struct aql_node *where; /* NULL: everything */
    struct aql_sort {
        struct str field;
        bool is_descending;
    } sorts[AQL_MAX_SORTS];
    size_t n_sorts;
};

/* Reads TEXT into A. -EINVAL: E says what is wrong as JQL does, -ENOMEM. */
int aql_parse(struct str text, struct arena *a, struct aql_query *ret, struct err *e);
/* "~", "not in"; for messages. */
const char *aql_op_name(enum aql_op op);

/* ---- SQL ---- */

/* The expression, the ORDER BY terms, and an expression that is the text of the first value which
 * the product does not know, else NULL. All as struct lang's compile. */
int aql_where(const struct json *config, struct str text, struct arena *a,
              struct appdb_predicate *ret, struct err *e);
int aql_order(const struct json *config, struct str text, struct arena *a,
              struct appdb_predicate *ret, struct err *e);
int aql_check(const struct json *config, struct str text, struct arena *a,
              struct appdb_predicate *ret, struct err *e);

/* aql_date.c: appends what VALUE means as SQL, "2026-01-12T14:05:00.000Z" or with IS_DAY the day
 * alone. -EINVAL when it is no date, without E. */
int aql_date(struct lang_out *o, const struct aql_value *value, bool is_day);
