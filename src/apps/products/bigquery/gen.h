/* SPDX-License-Identifier: MIT */
/* Making SQL of a tree. Failures stick in the generator: whoever gets a .sql.p of NULL, or NULL,
 * goes back. Every source of rows has a name of its own in the SQL ("t3") and its columns are
 * "c0", "c1", …, so nothing of the query's own names is in it. */
#pragma once

#include "apps/products/bigquery/tree.h"

/* An expression. */
struct bq_sql {
    struct str sql; /* .p NULL: failed */
    const struct bq_type *type;
    bool is_literal; /* which becomes what is wanted: '2026-01-15' a DATE */
};

struct bq_column {
    struct str name, sql;
    const struct bq_type *type;
    bool is_hidden;             /* the other side of USING has it */
    const struct bq_expr *expr; /* of an item of SELECT */
};

struct bq_columns {
    struct bq_column *items;
    size_t n, cap;
};

/* A source of rows. */
struct bq_range {
    struct bq_range *next;
    struct str name;   /* its alias; "" when there is none */
    struct bq_sql row; /* what the alias alone means; .sql.p NULL: nothing */
    struct bq_columns columns;
};

struct bq_scope {
    const struct bq_scope *up;
    struct bq_range *ranges, **end;
    const struct bq_columns *aliases; /* of SELECT, where they may be used; else NULL */
    bool prefers_aliases;
    bool is_joined; /* its sources are looked at for each row of another */
};

/* What a query gives; its columns in the SQL are c0, c1, … */
struct bq_result {
    struct str sql;
    struct bq_columns columns;
};

struct bq_named {
    struct bq_named *next;
    struct str name, sql_name;
    struct bq_columns columns;
    bool is_open; /* recursive, and its columns are not known yet */
};

struct bq_table {
    int64_t n;
    struct str dataset, id;
    const struct bq_type *row;
    struct str view;          /* its query; .p NULL: a table */
    const struct json *names; /* of the view's columns, or NULL: those that the query gives them */
};

/* A variable of a script. */
struct bq_var {
    struct bq_var *next;
    struct str name;
    const struct bq_type *type;
    struct str sql; /* its value, as a literal */
};

#define BQ_TEMP " temp" /* the dataset of tables that live as long as the script */

/* A view whose query is being compiled. */
struct bq_view {
    const struct bq_view *up;
    int64_t n;
};

struct bq_gen {
    struct bq_run *run;
    struct arena *arena;
    struct err *err;
    bool has_failed;
    unsigned n_names, depth;
    struct bq_named *ctes;
    const struct bq_view *views; /* the innermost that is compiled */
    bool is_script;
    struct bq_var *vars, *temps;          /* temps: names of tables in BQ_TEMP */
    struct bq_table tables[BQ_MAX_DEPTH]; /* that are read */
    size_t n_tables;
};

/* ---- gen.c: what all share ---- */

/* Fails with "… at [line:column]" when E is not NULL. */
void bq_fail(struct bq_gen *g, const struct bq_expr *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, with the code and reason that BigQuery has for it. */
void bq_fail_as(struct bq_gen *g, int code, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
struct str bq_printf(struct bq_gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct bq_sql bq_made(struct bq_gen *g, const struct bq_type *type, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The variable of that name, or NULL. */
struct bq_var *bq_find_var(const struct bq_gen *g, struct str name);
/* S as a literal of SQLite. */
struct str bq_quote(struct bq_gen *g, struct str s);
bool bq_add_column(struct bq_gen *g, struct bq_columns *to, const struct bq_column *c);
/* SQL for VALUE as a member of JSON that is built. */
struct str bq_json_arg(struct bq_gen *g, const struct bq_sql *value);
/* VALUE as one of type T; fails where BigQuery does not convert by itself. */
bool bq_coerce(struct bq_gen *g, struct bq_sql *value, const struct bq_type *t);
/* The type of a column that has values of both; NULL: there is none. */
const struct bq_type *bq_common(const struct bq_type *a, const struct bq_type *b);
const struct bq_type *bq_array_of(struct bq_gen *g, const struct bq_type *item);

/* ---- gen_query.c ---- */

struct bq_result bq_gen_query(struct bq_gen *g, const struct bq_query *q,
                              const struct bq_scope *up);

/* ---- gen_from.c ---- */

/* The tables of F, which become ranges of S. */
struct str bq_gen_from(struct bq_gen *g, const struct bq_from *f, struct bq_scope *s);
/* Finds a table whose rows are to be changed, which those of a view cannot be. */
bool bq_find_target(struct bq_gen *g, const struct bq_expr *path, struct bq_table *ret);
/* The dataset and the table that a path names. */
bool bq_split_path(struct bq_gen *g, const struct bq_expr *path, struct str *dataset,
                   struct str *table);
/* A range of a table under ALIAS, with n and d of its rows besides: " (SELECT …) AS t1". */
struct str bq_gen_table(struct bq_gen *g, const struct bq_table *t, struct str alias,
                        struct bq_scope *s);

/* ---- gen_expr.c ---- */

struct bq_sql bq_gen_expr(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s);
/* " ORDER BY …" of a window or an aggregate. */
struct str bq_gen_sorts(struct bq_gen *g, const struct bq_sort *sorts, const struct bq_scope *s);

/* ---- calls.c ---- */

struct bq_sql bq_gen_call(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s);
/* Functions that need no parentheses: CURRENT_DATE. */
bool bq_is_bare_call(struct str name);
bool bq_is_aggregate(struct str name);
