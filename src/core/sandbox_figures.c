/* SPDX-License-Identifier: MIT */
/* The figures of sandboxes: see sandbox_figures.h. */
#include "core/sandbox_figures.h"

#include "base/clock.h"
#include "core/core.h"
#include "core/event.h"
#include "core/metrics.h"
#include "core/sandbox_internal.h"
#include "runtime/engine.h"

enum { RATE_US = 500000 };

/* The use of processors is a difference between two looks. */
static void rate_cpu(struct sandbox_figures *f)
{
    int64_t passed_us = f->sampled_us - f->rated_us;

    if (passed_us < RATE_US)
        return;
    if (f->rated_us > 0)
        f->cpu_milli = (uint32_t)((f->usage.cpu_us - f->rated_cpu_us) * 1000 / (uint64_t)passed_us);
    f->rated_us = f->sampled_us;
    f->rated_cpu_us = f->usage.cpu_us;
}

void sandbox_look(struct sandbox *sb)
{
    struct cgroup_usage u = {0};
    uint64_t before = sb->figures.usage.oom_kills;

    if (!sandbox_cell(sb) || engine_cell_usage(sb->cell, &u, NULL) < 0)
        return;
    sb->figures.usage = u;
    sb->figures.sampled_us = clock_mono_us();
    rate_cpu(&sb->figures);
    if (u.oom_kills <= before)
        return;
    metrics_add(sb->set->core->metrics, METRIC_SANDBOX_OOM_KILLS, (int64_t)(u.oom_kills - before));
    struct store_tx *tx = store_tx_new();
    event_add(tx, EVENT_SANDBOX_OOM_KILLED, str_of(sb->account), str_of(sb->name),
              "Sandbox %s reached its memory limit of " STR_FMT ", a process was killed", sb->name,
              STR_ARG(sb->spec.memory_limit));
    (void)sandbox_submit(sb, tx, NULL, NULL);
}
