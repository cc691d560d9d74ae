/* SPDX-License-Identifier: MIT */
/* A workbook: cells with formulas that read each other, on several sheets. Formulas are calculated
 * after those that they read; those that read themselves, over however many others, are #REF!. A
 * formula whose value is an array fills the cells beside and below it, if these are blank. */
#pragma once

#include "apps/formula/formula.h"

enum {
    FORMULA_BOOK_MAX_CELLS = 1000000,
    FORMULA_BOOK_MAX_ROUNDS = 8, /* of arrays that fill cells which other formulas read */
    FORMULA_BOOK_MAX_NESTED = 8  /* formulas that INDIRECT and OFFSET find before their turn */
};
#define FORMULA_BOOK_STEPS    5000000u /* for a whole book */
#define FORMULA_BOOK_STEPS_OF 2000000u /* for one formula; past either it is #ERROR! */

struct formula_sheet {
    struct str title;
    uint32_t rows, cols; /* of the grid */
};

struct formula_cell {
    struct formula_place at;
    struct str formula;         /* "=A1+1"; p is NULL: a plain value */
    struct formula_value value; /* before: as it was last; then: as it is. Never an array */
    bool is_spilled;            /* filled by a formula: blank now, it is none any more */
    bool is_changed;            /* before: newly entered; then: other than before */
};

struct formula_book {
    const struct formula_sheet *sheets;
    size_t n_sheets;
    struct formula_cell *cells; /* each place once; come back in another order, and more of them */
    size_t n_cells;
    bool is_new; /* every formula is to be calculated, not only what reads changed cells */
    double now;
    uint64_t seed;       /* of random numbers: the same one, the same numbers */
    struct arena *arena; /* for values */
};

/* Calculates what has to be. -E2BIG: too many cells; -ENOMEM. */
int formula_book_calculate(struct formula_book *b);
