/* SPDX-License-Identifier: MIT */
/* Cells and ranges as spreadsheets write them: "B7", "$A$1:C10", "A:C", "2:5", "A2:A", each perhaps
 * behind a sheet: "Budget!B7", "'Q1 plan'!A1:B2". Rows and columns count from 0 here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum {
    A1_MAX_ROWS = 10000000,
    A1_MAX_COLUMNS = 18278, /* A to ZZZ */
    A1_COLUMN_MAX = 4       /* bytes of a column's name with its NUL */
};
#define A1_OPEN UINT32_MAX /* an end that is the sheet's own */

/* Both corners belong to it. The first ones are never open. */
struct a1_range {
    uint32_t row0, col0, row1, col1;
};

/* "AB" is 27. -EINVAL: not one to three letters. */
int a1_column(struct str name, uint32_t *ret);
void a1_column_name(char out[A1_COLUMN_MAX], uint32_t col);

/* Takes the longest range (without a sheet) from the beginning of S: how many bytes it has, or 0
 * when there is none, also when the word goes on behind it ("A1B", "LOG10("). */
size_t a1_scan(struct str s, struct a1_range *ret);

/* All of TEXT. *ret_sheet has no quotes any more, and is STR_NULL when TEXT names none; a quoted
 * name is copied into A. What is no range but could be a
 * sheet's name is one, with is_all.
 * -EINVAL, -ENOMEM. */
struct a1_ref {
    struct str sheet;
    struct a1_range range;
    bool is_all; /* the whole sheet */
};
int a1_parse(struct arena *a, struct str text, struct a1_ref *ret);

/* Appends "B7" or "A1:C10"; an open end as the letters or numbers alone. */
void a1_write(struct buf *out, const struct a1_range *r);
/* Appends a sheet's name, in quotes where it needs them. */
void a1_write_sheet(struct buf *out, struct str name);
