/* SPDX-License-Identifier: MIT */
/* Instances as of one moment, for a backup. Every occupied instance gets a copy of its databases as
 * the next operation of its queue, all at once: what was acknowledged before is in the copies, what
 * is asked for later comes behind. No instance waits for another one's copy to be asked; each waits
 * for its own. An instance that is released meanwhile is copied first. */
#pragma once

#include "base/err.h"
#include "base/map.h"

struct instances;

/* Where the copies are, beside the originals: apps/backup/instances/…, calls/… */
#define INSTANCES_SAVED "backup"

struct instances_saved {
    unsigned n;      /* that were copied */
    unsigned n_left; /* whose engine keeps no files: nothing of them is saved but their calls */
    /* The slots whose app cannot be loaded: nobody can write to their files, which are to be taken
     * as they are. id → anything. */
    struct map as_they_are;
};

/* Copies all; FN is called on the loop's thread, perhaps before this returns. *RESULT is FN's until
 * then and its owner's afterwards; E is NULL, or why it failed. */
typedef void instances_saved_fn(void *ctx, const struct err *e);
void instances_save(struct instances *set, struct instances_saved *result, instances_saved_fn *fn,
                    void *ctx);
