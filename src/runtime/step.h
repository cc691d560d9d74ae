/* SPDX-License-Identifier: MIT */
/* Work as a list of steps. Each step does one thing and may know how to undo it; when one fails,
 * the steps before it are undone backwards. A list that ran to its end is undone the same way when
 * its product is no longer wanted, so set-up and tear-down cannot drift apart. */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct step {
    const char *name;
    int (*run)(void *ctx, struct err *e); /* 0 or -errno; after a failure it left nothing behind */
    void (*undo)(void *ctx);              /* NULL: nothing to undo */
};

/* Runs STEPS[0..n). On failure undoes what ran and returns the step's error, its name in front. */
int step_run(const struct step *steps, size_t n, void *ctx, struct err *e);
/* Undoes the first N steps, last one first. */
void step_undo(const struct step *steps, size_t n, void *ctx);
