/* SPDX-License-Identifier: MIT */
/* For the functions that BigQuery's SQL is made of in SQLite (fn_*.c). */
#pragma once

#include "apps/functions/functions.h"
#include "apps/products/bigquery/bq.h"
#include "apps/products/bigquery/moment.h"

/* A failure of the query, worded as BigQuery does. */
void bq_fn_fail(sqlite3_context *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* True when one of the N values is NULL: so is the result. */
bool bq_fn_has_null(int n, sqlite3_value **v);
/* Gives US as a value of KIND. */
void bq_fn_give_moment(sqlite3_context *x, enum bq_kind kind, int64_t us);

enum { BQ_FN_ARENA = 64 << 20 };
