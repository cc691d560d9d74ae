/* SPDX-License-Identifier: MIT */
/* Resets: a local sandbox gets a new cell under its old name, and what was unpacked into its
 * workspace is unpacked again. Its id, its URLs and the time that it has left stay.
 *
 *     written down → ended → made → unpacked → servers outside the cell → done
 *
 * What is written down (vault.h: ID.reset) is enough to go on from any step, so that a service that
 * dies in between finishes the reset when it starts again. */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct locals;
struct resets;
struct sandbox;

/* Finds the resets that were under way; they go on once the loop runs. NULL without memory. */
struct resets *resets_new(struct locals *l);
void resets_free(struct resets *s);
/* Whether that of the local sandbox ID is under way. */
bool resets_has(const struct resets *s, struct str id);

/* A server whose state is not in the cell is a row of the table in reset_hooks.c. SB runs, its
 * workspace is in place. DONE is called once, perhaps at once: WHY is NULL, or what went wrong. */
typedef void reset_done_fn(void *ctx, const char *why);
struct reset_hook {
    const char *server;
    void (*reset)(struct locals *l, struct sandbox *sb, reset_done_fn *done, void *ctx);
};
extern const struct reset_hook reset_hooks[];
extern const size_t reset_n_hooks;
