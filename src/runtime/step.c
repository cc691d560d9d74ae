/* SPDX-License-Identifier: MIT */
/* Work as a list of steps: see step.h. */
#include "runtime/step.h"

void step_undo(const struct step *steps, size_t n, void *ctx)
{
    while (n-- > 0)
        if (steps[n].undo)
            steps[n].undo(ctx);
}

int step_run(const struct step *steps, size_t n, void *ctx, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        int r = steps[i].run(ctx, e);
        if (r < 0) {
            step_undo(steps, i, ctx);
            return err_ctx(e, r, "%s", steps[i].name);
        }
    }
    return 0;
}
