/* SPDX-License-Identifier: MIT */
/* Control groups, version 1: the files of each controller. A hierarchy may carry several. */
#include <errno.h>
#include <stdio.h>

#include "runtime/cgroup.h"

enum { CPU_PERIOD_US = 100000 };

/* Buffers of sockets are no memory to version 1, and would be without limit up to that of the whole
 * machine. Kernels may be built without this. */
static void limit_sockets(const struct cgroup_tree *t, const char *name, uint64_t memory_bytes)
{
    static const char file[] = "memory.kmem.tcp.limit_in_bytes";

    if (memory_bytes > 0)
        (void)cgroup_write_u64(t, name, file, memory_bytes / CGROUP_V1_SOCKETS_PART);
    else
        (void)cgroup_write(t, name, file, "-1");
}

/* Memory plus swap may never be below memory, so one of the two has to move first, depending on
 * the direction; a second try of the first is the simplest correct order. */
static int limit_v1_memory(const struct cgroup_tree *t, const char *name, uint64_t bytes)
{
    char value[24] = "-1";

    if (bytes > 0)
        (void)snprintf(value, sizeof value, "%llu", (unsigned long long)bytes);
    int r = cgroup_write(t, name, "memory.limit_in_bytes", value);
    int swap = cgroup_write(t, name, "memory.memsw.limit_in_bytes", value);
    if (r < 0)
        r = cgroup_write(t, name, "memory.limit_in_bytes", value);
    /* No swap accounting: the memory limit alone has to do. */
    if (swap < 0 && swap != -ENOENT && r == 0)
        r = cgroup_write(t, name, "memory.memsw.limit_in_bytes", value);
    limit_sockets(t, name, bytes);
    return r;
}

static int limit_v1_cpu(const struct cgroup_tree *t, const char *name, uint32_t milli)
{
    if (milli == 0)
        return cgroup_write(t, name, "cpu.cfs_quota_us", "-1");
    return cgroup_write_u64(t, name, "cpu.cfs_quota_us", (uint64_t)milli * CPU_PERIOD_US / 1000);
}

static int limit_v1_pids(const struct cgroup_tree *t, const char *name, uint32_t pids)
{
    return pids == 0 ? cgroup_write(t, name, "pids.max", "max")
                     : cgroup_write_u64(t, name, "pids.max", pids);
}

static int freeze_v1(const struct cgroup_tree *t, const char *name, bool on, int wait_ms)
{
    const char *want = on ? "FROZEN" : "THAWED";

    if (!(t->can & CGROUP_CAN_FREEZE))
        return 0;
    int r = cgroup_write(t, name, "freezer.state", want);
    return r < 0 ? r : cgroup_wait_for(t, name, "freezer.state", want, wait_ms);
}

static void read_v1_usage(const struct cgroup_tree *t, const char *name, struct cgroup_usage *u)
{
    if (t->can & CGROUP_CAN_MEMORY) {
        u->memory_bytes = cgroup_read_u64(t, name, "memory.usage_in_bytes", NULL);
        u->memory_peak_bytes = cgroup_read_u64(t, name, "memory.max_usage_in_bytes", NULL);
        u->memory_limit_bytes = cgroup_read_u64(t, name, "memory.limit_in_bytes", NULL);
        u->oom_kills = cgroup_read_u64(t, name, "memory.oom_control", "oom_kill");
    }
    if (t->can & CGROUP_CAN_ACCOUNT_CPU)
        u->cpu_us = cgroup_read_u64(t, name, "cpuacct.usage", NULL) / 1000;
    if (t->can & CGROUP_CAN_PIDS)
        u->pids = (uint32_t)cgroup_read_u64(t, name, "pids.current", NULL);
}

const struct cgroup_ops cgroup_v1_ops = {
    .limit_memory = limit_v1_memory,
    .limit_pids = limit_v1_pids,
    .limit_cpu = limit_v1_cpu,
    .freeze = freeze_v1,
    .usage = read_v1_usage,
    .entry = "tasks",
};
