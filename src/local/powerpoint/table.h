/* SPDX-License-Identifier: MIT */
/* Tables on slides. */
#pragma once

#include "local/powerpoint/shape.h"

enum { TABLE_SIDE_MAX = 200, TABLE_CELLS_MAX = 10000 };

/* a:tbl of a shape, or NULL when it is no table. */
struct xml *table_of(const struct xml *shape);
/* A table of empty cells, all of the same size. */
struct xml *table_add(struct slide *s, const struct box *box, size_t rows, size_t cols);
size_t table_rows(const struct xml *table);
size_t table_cols(const struct xml *table);
struct xml *table_cell(const struct xml *table, size_t row, size_t col);

void table_cell_fill(struct xml_doc *doc, struct xml *cell, const char *rgb);
void table_cell_border(struct xml_doc *doc, struct xml *cell, const char *rgb);
void table_cell_anchor(struct xml_doc *doc, struct xml *cell, const char *anchor);
