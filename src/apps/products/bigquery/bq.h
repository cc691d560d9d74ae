/* SPDX-License-Identifier: MIT */
/* BigQuery's SQL on SQLite. A text is read into a tree (lex.c, parse*.c), from which SQL is made
 * (gen*.c, calls.c) that can name nothing but the tables of BigQuery: text of the query reaches
 * SQLite only as a quoted literal.
 *
 * A table of BigQuery is a row of bq_table (n, dataset, id, fields) and its rows are rows of bq_row
 * (t, n, d), where d is a JSON array in the order of the fields. A view is one with a view_query,
 * perhaps with view_columns, the names of its columns as a JSON array. Values are what SQLite has
 * for them; a BOOL is 0 or 1, a DATE "2026-01-15", a DATETIME "2026-01-15T09:00:00", a TIMESTAMP
 * "2026-01-15 09:00:00+00", a TIME "09:00:00", with ".123456" where there is a fraction, so that
 * they sort as texts do; NUMERIC is a number; BYTES are base64; ARRAY, STRUCT and JSON are JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum {
    BQ_MAX_TOKENS = 20000,
    BQ_MAX_DEPTH = 40, /* of what is nested in a query */
    BQ_MAX_COLUMNS = 1000,
    BQ_MAX_STEPS = 1000 /* of a script that are run */
};

/* ---- types ---- */

enum bq_kind {
    BQ_ANY, /* of NULL, and where it is not known */
    BQ_INT64,
    BQ_FLOAT64,
    BQ_NUMERIC,
    BQ_BOOL,
    BQ_STRING,
    BQ_BYTES,
    BQ_DATE,
    BQ_DATETIME,
    BQ_TIME,
    BQ_TIMESTAMP,
    BQ_JSON,
    BQ_ARRAY,
    BQ_STRUCT,
    BQ_KIND_COUNT
};

struct bq_type {
    enum bq_kind kind;
    const struct bq_type *item;    /* of an array */
    const struct bq_field *fields; /* of a struct */
    size_t n;
};

struct bq_field {
    struct str name;
    const struct bq_type *type;
};

extern const struct bq_type bq_scalars[BQ_KIND_COUNT];
/* "INT64"; of INTEGER, FLOAT, BOOLEAN, RECORD, … too. BQ_KIND_COUNT: no such type. */
enum bq_kind bq_kind_of(struct str name);
const char *bq_kind_name(enum bq_kind kind);
/* "ARRAY<STRUCT<a INT64>>", in A. */
struct str bq_type_text(struct arena *a, const struct bq_type *t);
/* The type of a field as schemas say it: {"name", "type", "mode", "fields"}. NULL without memory,
 * and for no such type. */
const struct bq_type *bq_type_of_field(struct arena *a, const struct json *field);
/* The schema's field of a type, as JSON. */
void bq_put_field(struct jw *w, struct str name, const struct bq_type *t);

/* ---- running ---- */

struct sqlite3;

struct bq_run {
    struct sqlite3 *db;
    struct arena *arena;
    struct str project;
    struct str allowed; /* datasets: "a,b*"; empty: all */
    int64_t now_us;
    bool is_dry;
    int64_t max_rows; /* of the answer */

    /* What came of it. */
    struct buf text;     /* rows as Python's repr of a dict, one a line */
    int64_t n_rows;      /* of the result, or how many a change concerns */
    int64_t n_returned;  /* lines of `text` and those that follow them */
    int64_t n_bytes;     /* that the tables have */
    const char *kind;    /* "SELECT", "INSERT", … */
    const char *reason;  /* of a failure: "invalidQuery", "notFound", … */
    int code;            /* of a failure: 400, 404, 409 */
    bool has_hit_limits; /* SQLite gave up: too many steps, too long, too much memory */
};

enum { BQ_SHOWN_ROWS = 5 };

/* Runs TEXT, a statement or a script, of which the last SELECT has the rows. -EINVAL: E says why as
 * BigQuery does; what was changed has to be rolled back. */
int bq_run(struct bq_run *q, struct str text, struct err *e);

/* Appends the schema of a view with QUERY: a JSON array of fields. NAMES are those of its columns,
 * as a JSON array of texts; NULL: those that the query gives them. -EINVAL with E. */
int bq_view_fields(struct bq_run *q, struct str query, const struct json *names, struct buf *out,
                   struct err *e);

/* Whether LIST ("a,b*"; empty: all) has NAME. */
bool bq_is_allowed(struct str list, struct str name);

/* Appends VALUE of a type as Python prints it. */
void bq_repr(struct buf *out, const struct json *value, const struct bq_type *type);

/* The fields that a CSV file says it has, as a JSON array of schema fields, and its rows as a JSON
 * array of arrays. HAS_HEADER: the first line has the names. -EINVAL with E. */
int bq_read_csv(struct str csv, bool has_header, const struct json *fields, struct buf *ret_fields,
                struct buf *ret_rows, struct err *e);
