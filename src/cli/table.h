/* SPDX-License-Identifier: MIT */
/* Tables for people: columns as wide as what is in them, cut to the width of the terminal. What is
 * not printable is shown as '?', so that no cell can steer the terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#define TABLE_COLS_MAX 12
#define TABLE_ROWS_MAX 100000

struct table_col {
    const char *title;
    bool is_right;   /* figures */
    bool may_shrink; /* when the terminal is too narrow */
};

struct table {
    struct arena *arena;
    const struct table_col *cols;
    size_t n_cols;
    struct str *cells; /* row by row */
    size_t n_cells, cap;
    int error; /* 0 or -errno of an addition */
};

/* A table without rows; everything that is added is copied to A. */
struct table table_new(struct arena *a, const struct table_col *cols, size_t n_cols);
/* The next cell, row by row; an empty one is shown as "-". */
void table_add(struct table *t, struct str cell);
void table_addf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends the titles and all whole rows, no line wider than WIDTH (0: any). 0 or -errno. */
int table_write(const struct table *t, size_t width, struct buf *out);

/* Columns that TEXT takes on a terminal. */
size_t table_width(struct str text);
/* Appends TEXT in exactly WIDTH columns when it is cut ("…" at the end), else in as many as it has.
 * Control characters and what is no UTF-8 become '?'. */
int table_put_text(struct buf *out, struct str text, size_t width);
