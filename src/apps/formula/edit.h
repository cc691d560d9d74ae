/* SPDX-License-Identifier: MIT */
/* Changes the text of a formula when the cells that it names move: everything but the names of
 * cells and sheets stays as it was written. What is no formula that can be read stays, too. */
#pragma once

#include <stdint.h>

#include "apps/formula/formula.h"

enum formula_edit_kind {
    FORMULA_EDIT_INSERT, /* N rows or columns of SHEET come before AT */
    FORMULA_EDIT_DELETE, /* N of them are gone from AT on */
    FORMULA_EDIT_RENAME, /* SHEET is called NAME */
    FORMULA_EDIT_DROP,   /* SHEET is gone */
    FORMULA_EDIT_SHIFT   /* the formula itself went ROWS down and COLUMNS to the right */
};

struct formula_edit {
    enum formula_edit_kind kind;
    struct str sheet;
    bool is_rows;
    uint32_t at, n;
    struct str name;
    int64_t rows, cols;
};

/* Appends TEXT, the formula of a cell of the sheet OWN, as it is behind EDIT. A cell that there is
 * not any more is "#REF!". */
void formula_edit(struct buf *out, struct str text, struct str own,
                  const struct formula_edit *edit);
