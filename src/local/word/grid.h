/* SPDX-License-Identifier: MIT */
/* Tables as grids of cells. */
#pragma once

#include "local/word/word.h"

extern const char *const word_tcpr_order[], *const word_tblpr_order[];

size_t word_n_columns(const struct xml *table);
size_t word_n_cells(const struct xml *row);
/* The cell that covers ROW and COLUMN; NULL: there is none. */
struct xml *word_cell(const struct xml *table, int64_t row, int64_t column);
/* The one that is written in ROW there, be it a part of the one above. */
struct xml *word_cell_in(const struct xml *row, int64_t column);
struct xml *word_tcpr(struct word *w, struct xml *cell);
struct str word_cell_text(struct word *w, const struct xml *cell);
void word_set_cell_text(struct word *w, struct xml *cell, struct str text);
struct xml *word_add_table(struct word *w, int64_t rows, int64_t columns);
struct word_range {
    int64_t top, left, bottom, right;
};
bool word_merge(struct word *w, struct xml *table, const struct word_range *r);
