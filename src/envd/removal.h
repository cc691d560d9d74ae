/* SPDX-License-Identifier: MIT */
/* Removing a directory with all that is in it: by the cell's own rm, beside other requests, because
 * it may take long. */
#pragma once

#include "base/err.h"

struct proc_table;
struct removal;

/* Begins to remove PATH, which must stay valid. DONE is called later: with NULL when nothing is
 * left of it, else with what rm said; the removal is gone then. NULL with E filled when it cannot
 * begin.
 */
struct removal *removal_start(struct proc_table *procs, const char *path,
                              void (*done)(void *ctx, const char *error), void *ctx, struct err *e);
/* Lets it go on without anybody waiting. */
void removal_drop(struct removal *r);
