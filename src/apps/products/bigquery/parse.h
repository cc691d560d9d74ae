/* SPDX-License-Identifier: MIT */
/* Reading BigQuery's SQL. Failures stick in the parser: whoever gets NULL goes back. */
#pragma once

#include "apps/products/bigquery/tree.h"

/* ---- lex.c ---- */

/* -EINVAL with E, -ENOMEM. */
int bq_lex(struct bq_parser *p, struct str text);

/* ---- parse_statement.c ---- */

enum bq_statement_kind {
    BQ_S_SELECT,
    BQ_S_INSERT,
    BQ_S_UPDATE,
    BQ_S_DELETE,
    BQ_S_MERGE,
    BQ_S_CREATE_TABLE,
    BQ_S_DROP_TABLE,
    BQ_S_CREATE_VIEW,
    BQ_S_DROP_VIEW,
    BQ_S_TRUNCATE,
    BQ_S_CREATE_SCHEMA,
    BQ_S_DROP_SCHEMA
};

/* WHEN … THEN … of MERGE. */
struct bq_when {
    struct bq_when *next;
    enum { BQ_W_BOTH, BQ_W_SOURCE_ONLY, BQ_W_TARGET_ONLY, BQ_W_COUNT } of;
    enum { BQ_W_UPDATE, BQ_W_DELETE, BQ_W_INSERT } does;
    struct bq_expr *where; /* NULL: always */
    struct bq_expr *sets;
    struct bq_expr *columns, *row; /* row NULL: all of the source */
};

struct bq_statement {
    enum bq_statement_kind kind;
    struct bq_expr *table; /* a path */
    struct str alias;
    struct bq_query *query;
    struct str text;           /* of CREATE VIEW: the query's */
    struct bq_expr *columns;   /* of INSERT and CREATE VIEW: BQ_E_NAMEs */
    struct bq_expr *rows;      /* of INSERT: BQ_E_STRUCTs */
    struct bq_expr *sets;      /* of UPDATE: values with the column as alias */
    struct bq_from *from;      /* of UPDATE and MERGE */
    struct bq_expr *where;     /* of UPDATE, DELETE and MERGE */
    struct bq_when *whens;     /* of MERGE */
    const struct bq_type *row; /* of CREATE TABLE: a struct, or NULL */
    bool is_if_not_exists, is_if_exists, is_or_replace, is_cascade, is_temp;
};

bool bq_parse_statement(struct bq_parser *p, struct bq_statement *s);
/* A text that is one query, as views have it; NULL: failed. */
struct bq_query *bq_parse_text(struct bq_parser *p, struct str text);

/* ---- parse_script.c ---- */

enum bq_step_kind {
    BQ_P_STATEMENT,
    BQ_P_DECLARE,
    BQ_P_SET,
    BQ_P_IF,
    BQ_P_BLOCK,
    BQ_P_BEGIN, /* a transaction */
    BQ_P_COMMIT,
    BQ_P_ROLLBACK
};

struct bq_step {
    struct bq_step *next;
    enum bq_step_kind kind;
    unsigned line, column;
    struct bq_statement statement;
    struct bq_expr *names;      /* of DECLARE and SET */
    const struct bq_type *type; /* of DECLARE; NULL: the value's */
    struct bq_expr *value;      /* that they get, perhaps NULL; the condition of IF */
    struct bq_step *body;       /* of IF and of a block */
    struct bq_step *other;      /* of ELSE, and what a block does about a failure */
    bool is_list;               /* SET (a, b) = … */
    bool has_handler;           /* of a block */
};

/* A statement, or a script: what else there is than one BQ_P_STATEMENT. */
int bq_parse(struct bq_parser *p, struct str text, struct bq_step **ret);

/* ---- parse.c ---- */

struct bq_query *bq_parse_query(struct bq_parser *p);
/* Whether a query comes next, in however many brackets. */
bool bq_is_query(const struct bq_parser *p);
/* A table, a query or an array; and joins of them. */
struct bq_from *bq_parse_source(struct bq_parser *p);
struct bq_from *bq_parse_joins(struct bq_parser *p);
/* A table's name: dots may be in backticks, dashes in the project's part. */
struct bq_expr *bq_parse_path(struct bq_parser *p);
struct bq_expr *bq_parse_names(struct bq_parser *p, void (*skip)(struct bq_parser *p));

/* ---- parse_expr.c ---- */

struct bq_expr *bq_parse_expr(struct bq_parser *p);
/* Expressions with commas between them. */
struct bq_expr *bq_parse_list(struct bq_parser *p);
struct bq_sort *bq_parse_sorts(struct bq_parser *p);
const struct bq_type *bq_parse_type(struct bq_parser *p);

/* ---- parse_tools.c ---- */

const struct bq_token *bq_peek(const struct bq_parser *p);
/* The one N tokens further on. */
const struct bq_token *bq_peek_at(const struct bq_parser *p, size_t n);
bool bq_is_keyword(struct str word);
bool bq_is_word(const struct bq_token *t, const char *word);
bool bq_is_sign(const struct bq_token *t, const char *sign);
bool bq_take_word(struct bq_parser *p, const char *word);
bool bq_take_words(struct bq_parser *p, const char *first, const char *second);
bool bq_take_sign(struct bq_parser *p, const char *sign);
/* Fails when it is not there. */
bool bq_need_word(struct bq_parser *p, const char *word);
bool bq_need_sign(struct bq_parser *p, const char *sign);
/* A name that is no keyword; .p NULL when there is none. */
struct str bq_take_name(struct bq_parser *p);
struct str bq_need_name(struct bq_parser *p);
/* [AS] name; .p NULL: none. */
struct str bq_take_alias(struct bq_parser *p);
void *bq_unexpected(struct bq_parser *p, const char *expected);
/* Fails with "… at [line:column]" of the next token. */
void *bq_refuse(struct bq_parser *p, const char *why);
void *bq_no_memory(struct bq_parser *p);
struct bq_expr *bq_expr_new(struct bq_parser *p, enum bq_expr_kind kind);
/* The nesting gets deeper / is left again. */
bool bq_enter(struct bq_parser *p);
void bq_leave(struct bq_parser *p);
