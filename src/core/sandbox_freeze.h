/* SPDX-License-Identifier: MIT */
/* Stopping the processes of sandboxes: what core/sandbox*.c share of it. */
#pragma once

#include "core/sandbox_internal.h"

/* Freezes a running one for REASON (SANDBOX_END_NONE: somebody asked) / lets a paused one go on,
 * and writes that down. FN may be NULL. 0 or -errno without a call. */
int sandbox_freeze(struct sandbox *sb, enum sandbox_end reason, sandbox_fn *fn, void *ctx);
int sandbox_thaw(struct sandbox *sb, const struct sandbox_resume *how, sandbox_fn *fn, void *ctx);
/* Its second half: the processes are stopped. And the end of what is not. */
int sandbox_note_frozen(struct sandbox *sb, enum sandbox_end reason, sandbox_fn *fn, void *ctx);
/* It could not be paused, which E says: it goes on, and when its time is up (REASON) that is tried
 * again in a moment. */
void sandbox_put_off(struct sandbox *sb, enum sandbox_end reason, const struct err *e);
void sandboxes_stop_freezings(struct sandboxes *set);
