/* SPDX-License-Identifier: MIT */
/* For the files of this folder: the functions that scripts have besides SQLite's own, as tables. A
 * family of functions is a file NAME.c with a table, which functions.c lists. */
#pragma once

#include "apps/db/db_internal.h"
#include "base/buf.h"

struct sql_function {
    const char *name;  /* NULL ends a table */
    int n_args, flags; /* n_args -1: any number */
    void (*fn)(sqlite3_context *x, int n, sqlite3_value **v);
};

/* All of them: table number I, or NULL past the end. */
const struct sql_function *functions_table(size_t i);

/* Of functions_*.c; see there for what the functions are. */
extern const struct sql_function functions_a1[];
extern const struct sql_function functions_airtable[];
extern const struct sql_function functions_bigquery_query[];
extern const struct sql_function functions_bigquery_regex[];
extern const struct sql_function functions_bigquery_row[];
extern const struct sql_function functions_bigquery_text[];
extern const struct sql_function functions_bigquery_time[];
extern const struct sql_function functions_bigquery_value[];
extern const struct sql_function functions_calc[];
extern const struct sql_function functions_csv[];
extern const struct sql_function functions_diff[];
extern const struct sql_function functions_dropbox[];
extern const struct sql_function functions_formula[];
extern const struct sql_function functions_git[];
extern const struct sql_function functions_github[];
extern const struct sql_function functions_json[];
extern const struct sql_function functions_mail[];
extern const struct sql_function functions_markup[];
extern const struct sql_function functions_notion[];
extern const struct sql_function functions_patch[];
extern const struct sql_function functions_printf[];
extern const struct sql_function functions_search[];
extern const struct sql_function functions_sheets[];
extern const struct sql_function functions_slack[];
extern const struct sql_function functions_sqlite[];
extern const struct sql_function functions_time[];
extern const struct sql_function functions_tree[];

/* Of the call under way. */
struct appdb *fn_db(sqlite3_context *x);
/* Every call of a function is charged with the bytes of its arguments. A function whose time is not
 * in proportion to them charges what it does beyond, as it goes: UNITS of about a byte looked at
 * each. False: the call's budget is used up, the function has failed with that, and returns. */
bool fn_spend(sqlite3_context *x, int64_t units);
/* The same for a search by regex_search() or regex_find(): *STEPS is what it may take. Afterwards
 * fn_spent() with what is left of it, as fn_spend(). */
uint64_t fn_steps(sqlite3_context *x);
bool fn_spent(sqlite3_context *x, uint64_t given, uint64_t left);
/* "" for NULL; until the value's next conversion. */
struct str fn_text(sqlite3_value *v);
/* The result of the function; an error when B failed. */
void fn_give(sqlite3_context *x, const struct buf *b);
/* As JSON: json_object() and the like take it so, not as text. Needs the flag SQLITE_SUBTYPE. */
void fn_give_json(sqlite3_context *x, const struct buf *b);
