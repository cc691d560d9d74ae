/* SPDX-License-Identifier: MIT */
/* The tree of a text in BigQuery's SQL, and reading one. Lists are linked by `next`. */
#pragma once

#include "apps/products/bigquery/bq.h"

/* ---- tokens ---- */

enum bq_token_kind {
    BQ_END,
    BQ_WORD,   /* a name or keyword */
    BQ_NAME,   /* in backticks */
    BQ_TEXT,   /* a string; the text is without quotes and escapes */
    BQ_BINARY, /* b'…' */
    BQ_INT,
    BQ_REAL,
    BQ_SIGN
};

struct bq_token {
    enum bq_token_kind kind;
    struct str text;
    size_t begin; /* in the whole text */
    unsigned line, column;
};

struct bq_parser {
    struct arena *arena;
    struct err *err;
    struct str text;
    struct bq_token *tokens; /* the last one is BQ_END */
    size_t n, at;
    unsigned depth;
    bool has_failed;
};

/* ---- expressions ---- */

enum bq_expr_kind {
    BQ_E_NULL,
    BQ_E_LITERAL, /* `text` of type `type` */
    BQ_E_PATH,    /* a.b.c: a list of BQ_E_NAMEs */
    BQ_E_NAME,
    BQ_E_STAR,   /* of COUNT(*) */
    BQ_E_UNARY,  /* `text` is "-", "~", "NOT" */
    BQ_E_BINARY, /* "+", "=", "AND", "LIKE", … */
    BQ_E_IS,     /* `text` is "NULL", "TRUE", "FALSE" */
    BQ_E_IN,     /* the first of the list in the others, or in `query` */
    BQ_E_IN_ARRAY,
    BQ_E_BETWEEN,
    BQ_E_CASE, /* [operand] WHEN, THEN, …, [ELSE] */
    BQ_E_CAST,
    BQ_E_EXTRACT,  /* `text` FROM the first [AT TIME ZONE the second] */
    BQ_E_INTERVAL, /* the first, `text` is the part */
    BQ_E_CALL,
    BQ_E_ARRAY,
    BQ_E_STRUCT, /* items may have an `alias` */
    BQ_E_QUERY,  /* `text` is "", "EXISTS" or "ARRAY" */
    BQ_E_INDEX,  /* `text` is "OFFSET", "ORDINAL", "SAFE_OFFSET", … */
    BQ_E_FIELD   /* `text` of the first */
};

struct bq_sort {
    struct bq_sort *next;
    struct bq_expr *expr;
    bool is_descending;
    const char *nulls; /* " NULLS FIRST", " NULLS LAST" or "" */
};

struct bq_window {
    struct bq_expr *partition;
    struct bq_sort *sorts;
    struct str frame; /* SQL */
};

struct bq_expr {
    struct bq_expr *next, *first;
    enum bq_expr_kind kind;
    struct str text, alias;
    const struct bq_type *type;
    struct bq_query *query;
    struct bq_window *over;
    struct bq_sort *sorts; /* of an aggregate */
    struct bq_expr *limit;
    bool is_not, is_distinct, ignores_nulls, is_safe, has_operand, has_else;
    unsigned line, column;
    unsigned height; /* of the chain of operators below it */
};

/* ---- queries ---- */

struct bq_item {
    struct bq_item *next;
    struct bq_expr *expr;    /* NULL: a star */
    struct bq_expr *of;      /* the path before ".*", or NULL */
    struct str alias;        /* .p NULL: none */
    struct bq_expr *except;  /* BQ_E_NAMEs */
    struct bq_expr *replace; /* with `alias` */
};

enum bq_from_kind { BQ_F_TABLE, BQ_F_QUERY, BQ_F_UNNEST, BQ_F_JOIN };

struct bq_from {
    enum bq_from_kind kind;
    struct bq_expr *expr; /* the table's path, or the array */
    struct str alias, offset;
    struct bq_query *query;
    struct bq_from *left, *right;
    const char *join; /* " JOIN ", " LEFT JOIN ", … */
    struct bq_expr *on, *with;
    unsigned line, column;
};

struct bq_select {
    bool is_distinct, is_struct;
    struct bq_item *items;
    struct bq_from *from;
    struct bq_expr *where, *groups, *having, *qualify;
};

struct bq_body {
    const char *op; /* " UNION ALL ", …; NULL: a select or `query` */
    struct bq_body *left, *right;
    struct bq_select *select;
    struct bq_query *query;
};

struct bq_cte {
    struct bq_cte *next;
    struct str name;
    struct bq_query *query;
};

struct bq_query {
    struct bq_cte *ctes;
    bool is_recursive;
    struct bq_body *body;
    struct bq_sort *sorts;
    struct bq_expr *limit, *offset;
};
