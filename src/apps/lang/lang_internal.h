/* SPDX-License-Identifier: MIT */
/* For the languages: an expression under construction, and their functions for the table. */
#pragma once

#include "apps/lang/lang.h"
#include "base/buf.h"

/* Failures stick: the last step, lang_end, reports them. */
struct lang_out {
    struct arena *arena;
    struct buf sql;
    struct json *values;
    bool has_failed;
};

void lang_begin(struct lang_out *o, struct arena *a);
/* SQL of our own, never text of the query. */
void lang_sql(struct lang_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends a parameter of this value. */
void lang_text(struct lang_out *o, struct str value);
void lang_int(struct lang_out *o, int64_t value);
void lang_real(struct lang_out *o, double value);
/* Gives what was made and frees the rest. -E2BIG, -ENOMEM. */
int lang_end(struct lang_out *o, struct appdb_predicate *ret, struct err *e);
void lang_drop(struct lang_out *o);

/* Appends TEMPLATE, SQL of the app, with a parameter of VALUE for every '?' in it. */
void lang_template(struct lang_out *o, const char *template, struct str value);

/* Appends TEXT as a string of FTS5, which takes all of its characters for text; IS_PREFIX: as the
 * beginning of a word. */
void lang_phrase(struct buf *b, struct str text, bool is_prefix);

/* How many entries of its stack SQLite's parser needs for SQL, about; it has 100, and what stands
 * around an expression needs some. */
#define LANG_MAX_STACK 60
unsigned lang_stack(struct str sql);

/* Whether FTS5 would find a word in TEXT; a phrase of other characters finds nothing. */
bool lang_has_word(struct str text);

/* The expression NAME of CONFIG's /fields; "0", which is never true, when there is none. */
const char *lang_expression(const struct json *config, const char *name);

/* The column of a field by CONFIG's /fields, without regard to case; NULL when there is none. */
const char *lang_field(const struct json *config, struct str name);

/* drive.c: the `q` and the `orderBy` of Google Drive's files.list. CONFIG's /fields are
 * columns and, of what is not one, expressions with '?' for the value (fullText, parents, owners,
 * …). */
int lang_drive(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e);
int lang_drive_order(const struct json *config, struct str text, struct arena *a,
                     struct appdb_predicate *ret, struct err *e);

/* gmail.c: the search of Gmail; see there for CONFIG. */
int lang_gmail(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e);

/* slack.c: a search, and how well a match fits it. */
int lang_slack(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e);
int lang_slack_score(const struct json *config, struct str text, struct arena *a,
                     struct appdb_predicate *ret, struct err *e);

/* words.c: every word and every "phrase" occurs in one of CONFIG's /columns. */
int lang_words(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e);
/* airtable.c: formulas over the cells of records, and the fields to sort them by. */
int lang_airtable_formula(const struct json *config, struct str text, struct arena *a,
                          struct appdb_predicate *ret, struct err *e);
int lang_airtable_sort(const struct json *config, struct str text, struct arena *a,
                       struct appdb_predicate *ret, struct err *e);

/* github.c: GitHub's search, see there. */
int lang_github(const struct json *config, struct str text, struct arena *a,
                struct appdb_predicate *ret, struct err *e);
int lang_github_order(const struct json *config, struct str text, struct arena *a,
                      struct appdb_predicate *ret, struct err *e);

/* linear.c: Linear's filters, see there. */
int lang_linear(const struct json *config, struct str text, struct arena *a,
                struct appdb_predicate *ret, struct err *e);
/* logging.c: the filters of Cloud Logging, see there. */
int lang_logging(const struct json *config, struct str text, struct arena *a,
                 struct appdb_predicate *ret, struct err *e);
/* notion.c: filters of the pages of a database, and the properties to sort them by. */
int lang_notion_filter(const struct json *config, struct str text, struct arena *a,
                       struct appdb_predicate *ret, struct err *e);
int lang_notion_sort(const struct json *config, struct str text, struct arena *a,
                     struct appdb_predicate *ret, struct err *e);
/* odata.c: filters and orders of Microsoft Graph, see there. */
int lang_odata(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e);
int lang_odata_order(const struct json *config, struct str text, struct arena *a,
                     struct appdb_predicate *ret, struct err *e);
/* soql.c: the queries of Salesforce; the expression is the answer. */
int lang_soql(const struct json *config, struct str text, struct arena *a,
              struct appdb_predicate *ret, struct err *e);
