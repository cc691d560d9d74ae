/* SPDX-License-Identifier: MIT */
/* All sandboxes of the service, from its start to its stop. */
#pragma once

#include "base/err.h"
#include "base/list.h"

struct core;
struct engine;
struct sandbox;
struct sandboxes;

/* Reads what the store has, finds the living cells, and brings both together: cells without a row
 * are killed, rows without a cell are recorded as lost, deadlines that have passed are enforced.
 * Without cells (switched off, or this host cannot) the set is there and empty, and refuses
 * creates; *E then says why, though the result is a set. NULL only without memory. */
struct sandboxes *sandboxes_open(struct core *c, struct err *e);
/* Starts nothing any more and lets go of the cells, which go on; when there is no sandbox but such
 * as are ending already, the spawner ends. Transactions under way still report. */
void sandboxes_stop(struct sandboxes *set);
void sandboxes_free(struct sandboxes *set);
/* NULL when there are none; E says why. */
struct engine *sandboxes_engine(const struct sandboxes *set, struct err *e);
unsigned sandboxes_n_live(const struct sandboxes *set);
/* Somebody whose FN is called for every sandbox whose end begins, when it is not known any more,
 * and ON_PAUSE when its processes are stopped; either may be NULL. */
struct sandbox_watch {
    struct list node;
    void (*fn)(void *ctx, struct sandbox *sb);
    void (*on_pause)(void *ctx, struct sandbox *sb);
    void *ctx;
};
void sandboxes_watch(struct sandboxes *set, struct sandbox_watch *w);
void sandboxes_unwatch(struct sandbox_watch *w);
/* Brings the sampled metrics up to date. */
void sandboxes_sample(struct sandboxes *set);
