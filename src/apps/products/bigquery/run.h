/* SPDX-License-Identifier: MIT */
/* Running statements: what run.c, change.c, merge.c and define.c have in common. Failures stick in
 * the generator. */
#pragma once

#include <sqlite3.h>

#include "apps/products/bigquery/gen.h"
#include "apps/products/bigquery/parse.h"

/* ---- run.c ---- */

/* NULL: failed. */
sqlite3_stmt *bq_sql_prepare(struct bq_gen *g, struct str sql);
/* Runs SQL, unless the run is dry, and gives how many rows it changed; -1: failed. */
int64_t bq_sql_change(struct bq_gen *g, struct str sql);
/* Ends a savepoint, with IS_UNDONE as if nothing had been done since it began. */
void bq_sql_undo(struct bq_gen *g, const char *savepoint, bool is_undone);
/* What SQLite or one of our functions says of a query that failed. */
void bq_sql_fail(struct bq_gen *g, int rc);
/* Runs one statement. */
void bq_run_statement(struct bq_gen *g, const struct bq_statement *s);
/* The first column of the first row; 0 when there is none. */
int64_t bq_sql_number(struct bq_gen *g, struct str sql);

/* ---- change.c ---- */

/* Which of the N values of an INSERT each field of the table gets; SIZE_MAX: none. */
struct bq_into {
    const struct bq_table *table;
    size_t n, map[BQ_MAX_COLUMNS];
};

/* COLUMNS are BQ_E_NAMEs; NULL: all of T's. */
bool bq_into_columns(struct bq_gen *g, const struct bq_expr *columns, const struct bq_table *t,
                     struct bq_into *ret);
/* SQL of a row: the values in the order of the fields. */
struct str bq_row_of(struct bq_gen *g, struct bq_sql *values, const struct bq_into *into);
/* The same of ROW, a BQ_E_STRUCT. */
struct str bq_row_of_list(struct bq_gen *g, const struct bq_expr *row, const struct bq_into *into,
                          const struct bq_scope *s);
/* Of "SET a = 1, …": ", '$[0]', 1, …" for json_set(). .p NULL: failed. */
struct str bq_gen_sets(struct bq_gen *g, const struct bq_expr *sets, const struct bq_table *t,
                       const struct bq_scope *s);
/* SQL of the rows of a query, for the table of INTO. */
struct str bq_rows_of_query(struct bq_gen *g, const struct bq_query *q, const struct bq_into *into);
/* Appends ROWS, a query with the column d. How many they are; -1: failed. */
int64_t bq_insert_rows(struct bq_gen *g, const struct bq_table *t, struct str rows);
void bq_fail_many(struct bq_gen *g);

void bq_run_insert(struct bq_gen *g, const struct bq_statement *s);
void bq_run_update(struct bq_gen *g, const struct bq_statement *s);
void bq_run_delete(struct bq_gen *g, const struct bq_statement *s);
void bq_run_truncate(struct bq_gen *g, const struct bq_statement *s);

/* ---- merge.c ---- */

void bq_run_merge(struct bq_gen *g, const struct bq_statement *s);

/* ---- script.c ---- */

void bq_run_script(struct bq_gen *g, const struct bq_step *steps);

/* ---- define.c ---- */

/* Drops the tables that were to live as long as the script. */
void bq_drop_temps(struct bq_gen *g);

void bq_run_create_table(struct bq_gen *g, const struct bq_statement *s);
void bq_run_create_view(struct bq_gen *g, const struct bq_statement *s);
/* DROP TABLE and DROP VIEW. */
void bq_run_drop_table(struct bq_gen *g, const struct bq_statement *s);
void bq_run_create_schema(struct bq_gen *g, const struct bq_statement *s);
void bq_run_drop_schema(struct bq_gen *g, const struct bq_statement *s);
