/* SPDX-License-Identifier: MIT */
/* Templates of cells other than the default one, and the upper layers that new ones are made from.
 * core/root.h has the whole of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct engine;
struct engine_cell;
struct packet;
struct spawner_link;

/* What engine_options.find_root says of a name: 0, or -ENOENT. A template never changes while it
 * has this name. */
struct engine_root {
    const char *const *layers; /* directories, top one first; valid until the loop goes on */
    size_t n_layers;
    bool is_on_default; /* they lie on the default template, as it is now */
};

/* The home of the cell's upper layer: `root/u` has what it changed below /, `usr/u` what below /usr
 * when its template is on the default one, all owned by uids above engine_cell_info()->uid_base.
 * FN gets a directory's descriptor, which is its own, or -errno with the reason. Returns -errno,
 * without a call, when nobody can be asked. */
typedef void engine_upper_fn(void *ctx, int fd, const struct err *e);
int engine_cell_upper(struct engine_cell *c, engine_upper_fn *fn, void *ctx, struct err *e);
/* Nobody waits for CTX any more. */
void engine_cell_upper_forget(struct engine *en, const void *ctx);

/* ---- for the engine ---- */

/* Has S know the template NAME before it is asked for a cell of it. */
int engine_root_tell(struct spawner_link *s, const char *name);
/* The answer to engine_cell_upper() in P, if it is one. */
bool engine_root_answer(struct engine *en, struct packet *p);
/* S has gone: who waits for it learns that; NULL: nobody is notified. */
void engine_root_fail(struct engine *en, const struct spawner_link *s);
