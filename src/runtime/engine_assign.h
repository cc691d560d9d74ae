/* SPDX-License-Identifier: MIT */
/* Cells that were created before somebody asked for them, by those who keep them ready. */
#pragma once

#include <stdint.h>

#include "runtime/engine.h"

/* Gives C, which was created under another label, to LABEL, with the limits of SPEC; its other
 * properties stay. -errno: it is of no use any more. */
int engine_cell_assign(struct engine_cell *c, const char *label, const struct cell_spec *spec,
                       struct err *e);
/* How many creates got a cell of the stock, and how many found none that fits. */
struct engine_stock_counts {
    uint64_t hits, misses;
};
struct engine_stock_counts engine_stock_counts(const struct engine *en);
/* Changes when cells of the default template are built from another root than before. */
uint64_t engine_root_stamp(const struct engine *en);
