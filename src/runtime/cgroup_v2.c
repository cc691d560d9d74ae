/* SPDX-License-Identifier: MIT */
/* Control groups, version 2: the files of the one hierarchy. */
#include <errno.h>
#include <stdio.h>

#include "runtime/cgroup.h"

enum { CPU_PERIOD_US = 100000 };

static int limit_number(const struct cgroup_tree *t, const char *name, const char *file, uint64_t v)
{
    return v == 0 ? cgroup_write(t, name, file, "max") : cgroup_write_u64(t, name, file, v);
}

static int limit_v2_memory(const struct cgroup_tree *t, const char *name, uint64_t bytes)
{
    int r = limit_number(t, name, "memory.max", bytes);

    if (r < 0)
        return r;
    /* Without swap in the kernel the file is missing and there is nothing to limit. */
    r = cgroup_write(t, name, "memory.swap.max", bytes ? "0" : "max");
    return r == -ENOENT ? 0 : r;
}

static int limit_v2_pids(const struct cgroup_tree *t, const char *name, uint32_t pids)
{
    return limit_number(t, name, "pids.max", pids);
}

static int limit_v2_cpu(const struct cgroup_tree *t, const char *name, uint32_t milli)
{
    char value[32];

    if (milli == 0)
        return cgroup_write(t, name, "cpu.max", "max");
    (void)snprintf(value, sizeof value, "%llu %d", (unsigned long long)milli * CPU_PERIOD_US / 1000,
                   CPU_PERIOD_US);
    return cgroup_write(t, name, "cpu.max", value);
}

/* What is let go needs not be waited for. */
static int freeze_v2(const struct cgroup_tree *t, const char *name, bool on, int wait_ms)
{
    int r = cgroup_write(t, name, "cgroup.freeze", on ? "1" : "0");

    return r < 0 || !on ? r : cgroup_wait_for(t, name, "cgroup.events", "frozen 1", wait_ms);
}

static void read_v2_usage(const struct cgroup_tree *t, const char *name, struct cgroup_usage *u)
{
    if (t->can & CGROUP_CAN_MEMORY) {
        u->memory_bytes = cgroup_read_u64(t, name, "memory.current", NULL);
        u->memory_peak_bytes = cgroup_read_u64(t, name, "memory.peak", NULL);
        u->memory_limit_bytes = cgroup_read_u64(t, name, "memory.max", NULL);
        u->oom_kills = cgroup_read_u64(t, name, "memory.events", "oom_kill");
    }
    u->cpu_us = cgroup_read_u64(t, name, "cpu.stat", "usage_usec");
    if (t->can & CGROUP_CAN_PIDS)
        u->pids = (uint32_t)cgroup_read_u64(t, name, "pids.current", NULL);
}

const struct cgroup_ops cgroup_v2_ops = {
    .limit_memory = limit_v2_memory,
    .limit_pids = limit_v2_pids,
    .limit_cpu = limit_v2_cpu,
    .freeze = freeze_v2,
    .usage = read_v2_usage,
};
