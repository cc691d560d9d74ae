/* SPDX-License-Identifier: MIT */
/* Addresses of cells: "A1", "B2:C9", and those in formulas. */
#pragma once

#include "base/arena.h"

enum { REF_ROWS_MAX = 1048576, REF_COLS_MAX = 16384 };

struct ref {
    unsigned row, col; /* from 1 */
};

struct range {
    unsigned row, col, row2, col2; /* both ends belong to it */
};

/* The cell that TEXT begins with: letters, then digits; "$" before either is skipped. How many
 * bytes it takes, 0 when there is none or it is beyond the last one. */
size_t ref_read(struct str text, struct ref *ret);
/* TEXT is a cell and nothing else. */
bool ref_parse(struct str text, struct ref *ret);
/* "A1:B2" or "A1", ends in any order. */
bool range_parse(struct str text, struct range *ret);
/* The column as letters with a NUL behind them. */
void ref_letters(unsigned col, char out[static 4]);
struct str ref_text(struct arena *a, struct ref r);
/* Always with a colon. */
struct str range_text(struct arena *a, struct range r);
/* As "Sheet"'s absolute range in a formula: 'My sheet'!$A$1:$B$2; one cell without a colon. */
struct str range_formula(struct arena *a, struct str sheet, struct range r);
bool range_has(struct range r, struct ref at);

/* FORMULA as it is when its cell is copied that far: relative references change, absolute ones
 * stay, what leaves the sheet is #REF!. .p is NULL when memory ran out. */
struct str formula_moved(struct arena *a, struct str formula, int64_t rows, int64_t cols);
