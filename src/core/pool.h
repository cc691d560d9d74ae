/* SPDX-License-Identifier: MIT */
/* Pools: sandboxes of a template that are started before somebody asks for one.
 *
 * A member is a cell with everything that its template starts before a hand-out: its main process
 * (`warmupCmd`), and its open port (`probePort`). Nobody owns it and nothing of it is stored: a
 * restart begins with empty pools. Who creates a sandbox of the template, and does not ask for
 * another main process, disk or image, gets the oldest member that is ready, under its own name and
 * with its own environment and limits; without one the sandbox is built on demand. A pool is filled
 * again at once, a few members at a time; when that fails it is tried again, less and less often.
 * A pool that is kept on demand is empty until the first sandbox of its template was asked for, and
 * again when nobody has asked for one in POOL_DEMAND_MS.
 * Members of a template that was changed, or whose root was replaced because the host's programs
 * changed, are ended.
 *
 * Everything belongs to the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct core;
struct engine_cell;
struct pools;
struct sandbox;
struct template;

/* Fills the pools of C's templates, when C has cells. NULL without memory. */
struct pools *pools_open(struct core *c, struct err *e);
/* Ends all members. */
void pools_stop(struct pools *p);
void pools_free(struct pools *p);

/* Gives SB the cell of a member; false when there is none that fits. */
bool pools_take(struct pools *p, struct sandbox *sb);
/* A cell is gone. */
void pools_on_gone(struct pools *p, const struct engine_cell *c);

enum { POOL_DEMAND_MS = 15 * 60 * 1000 };

struct pool_info {
    const struct template *template;
    unsigned n_ready, n_building;
    uint64_t hits, misses; /* creates that got a member, and that found none */
    uint64_t n_filled;     /* members that became ready */
    int64_t fill_us;       /* the time that the last one took */
    const char *fault;     /* why the last one could not be made; NULL: it could */
};

/* Pool number I, by name; false past the end. */
bool pools_at(const struct pools *p, size_t i, struct pool_info *ret);
/* Number I of the members of the pool of NAME, oldest first; NULL past the end. */
const struct sandbox *pools_member(const struct pools *p, struct str name, size_t i);
/* Ends all members of the pool of NAME, which is filled again. The number of them, or -ENOENT. */
int pools_drain(struct pools *p, struct str name);
/* Brings the sampled metrics up to date. */
void pools_sample(const struct pools *p);
