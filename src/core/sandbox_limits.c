/* SPDX-License-Identifier: MIT */
/* Limits that this host cannot keep: see sandbox_limits.h. */
#include "core/sandbox_limits.h"

#include "base/cleanup.h"
#include "core/config.h"
#include "core/core.h"
#include "core/metrics.h"
#include "core/quantity.h"
#include "core/sandbox_internal.h"
#include "runtime/engine.h"

const char *const sandbox_limit_names[SANDBOX_LIMIT_COUNT] = {
    [SANDBOX_LIMIT_MEMORY] = "memory",
    [SANDBOX_LIMIT_PIDS] = "pids",
    [SANDBOX_LIMIT_CPU] = "cpu",
    [SANDBOX_LIMIT_DISK] = "disk",
};

/* A quantity that is none is refused elsewhere. */
static bool is_set(const char *quantity)
{
    uint64_t milli;

    return quantity_milli(str_of(quantity), &milli) < 0 || milli > 0;
}

void sandboxes_find_lacks(struct sandboxes *set)
{
    const struct config *config = set->core->config;
    const struct {
        enum sandbox_limit limit;
        unsigned can;
        bool is_wanted;
    } rows[] = {
        {SANDBOX_LIMIT_MEMORY, CGROUP_CAN_MEMORY, is_set(config->cells.memory_limit)},
        {SANDBOX_LIMIT_PIDS, CGROUP_CAN_PIDS, config->cells.pids > 0},
        {SANDBOX_LIMIT_CPU, CGROUP_CAN_CPU, is_set(config->cells.cpu_limit)},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].is_wanted)
            (void)engine_can_limit(set->engine, rows[i].can, &set->lacks[rows[i].limit]);
    for (unsigned i = 0; i < SANDBOX_LIMIT_COUNT; i++)
        metrics_set_unenforced(set->core->metrics, i, set->lacks[i].code < 0);
}

const struct err *sandboxes_lack(const struct sandboxes *set, enum sandbox_limit limit)
{
    return set->lacks[limit].code < 0 ? &set->lacks[limit] : NULL;
}

int sandboxes_put_lacks(const struct sandboxes *set, struct buf *out)
{
    for (unsigned i = 0; i < SANDBOX_LIMIT_COUNT; i++)
        if (set->lacks[i].code < 0)
            (void)buf_printf(out, "%s%s", out->len > 0 ? "; " : "", err_text(&set->lacks[i]));
    return out->error;
}
