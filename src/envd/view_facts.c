/* SPDX-License-Identifier: MIT */
/* What is true of a cell at the moment, from its control groups and its first process. */
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "envd/view.h"
#include "runtime/proto.h"
#include "sys/io.h"

enum { STAT_MAX = 16384, CPUINFO_MAX = 8 << 20, TEXT_MAX = 8 << 20, TICK_US = 10000 };

/* ---- memory ---- */

static const struct {
    const char *v1, *v2;
} parts[VIEW_MEM_PARTS] = {
    [VIEW_MEM_ANON] = {"rss", "anon"},
    [VIEW_MEM_FILE] = {"cache", "file"},
    [VIEW_MEM_SHMEM] = {"shmem", "shmem"},
    [VIEW_MEM_MAPPED] = {"mapped_file", "file_mapped"},
    [VIEW_MEM_DIRTY] = {"dirty", "file_dirty"},
    [VIEW_MEM_WRITEBACK] = {"writeback", "file_writeback"},
    [VIEW_MEM_ACTIVE_ANON] = {"active_anon", "active_anon"},
    [VIEW_MEM_INACTIVE_ANON] = {"inactive_anon", "inactive_anon"},
    [VIEW_MEM_ACTIVE_FILE] = {"active_file", "active_file"},
    [VIEW_MEM_INACTIVE_FILE] = {"inactive_file", "inactive_file"},
    [VIEW_MEM_UNEVICTABLE] = {"unevictable", "unevictable"},
    [VIEW_MEM_SLAB_RECLAIMABLE] = {"", "slab_reclaimable"},
    [VIEW_MEM_SLAB_UNRECLAIMABLE] = {"", "slab_unreclaimable"},
    [VIEW_MEM_KERNEL_STACK] = {"", "kernel_stack"},
    [VIEW_MEM_PAGE_TABLES] = {"", "pagetables"},
};

static void note_part(struct view_facts *f, bool is_v2, struct str key, uint64_t bytes)
{
    for (size_t i = 0; i < VIEW_MEM_PARTS; i++)
        if (str_is(key, is_v2 ? parts[i].v2 : parts[i].v1))
            f->memory[i] = bytes;
}

/* As much as the machine has when there is no limit, or one that is beyond it. */
static uint64_t total_memory(uint64_t limit)
{
    struct sysinfo si;

    if (sysinfo(&si) < 0)
        return limit;
    uint64_t all = (uint64_t)si.totalram * si.mem_unit;
    return limit > 0 && limit < all ? limit : all;
}

static void read_memory(const struct cgroup_tree *t, const char *name, bool is_v2,
                        struct view_facts *f)
{
    char text[STAT_MAX];

    if (!(t->can & CGROUP_CAN_MEMORY))
        return;
    f->memory_total = total_memory(
        cgroup_read_u64(t, name, is_v2 ? "memory.max" : "memory.limit_in_bytes", NULL));
    f->memory_used =
        cgroup_read_u64(t, name, is_v2 ? "memory.current" : "memory.usage_in_bytes", NULL);
    if (cgroup_read(t, name, "memory.stat", text, sizeof text) < 0)
        return;
    struct str all = str_of(text);
    while (all.p) {
        struct str line = str_cut(&all, '\n');
        struct str key = str_cut(&line, ' ');
        uint64_t bytes;
        if (str_to_u64(line, &bytes) == 0)
            note_part(f, is_v2, key, bytes);
    }
}

/* ---- processors ---- */

static void read_start_time(const struct cgroup_tree *t, const char *name, bool is_v2,
                            struct view_facts *f)
{
    if (!(t->can & CGROUP_CAN_ACCOUNT_CPU))
        return;
    if (is_v2) {
        f->user_us = cgroup_read_u64(t, name, "cpu.stat", "user_usec");
        f->system_us = cgroup_read_u64(t, name, "cpu.stat", "system_usec");
        return;
    }
    f->user_us = cgroup_read_u64(t, name, "cpuacct.stat", "user") * TICK_US;
    f->system_us = cgroup_read_u64(t, name, "cpuacct.stat", "system") * TICK_US;
}

static void read_cell_procs(const struct cgroup_tree *t, const char *name, bool is_v2,
                            struct view_facts *f)
{
    (void)is_v2;
    if (t->can & CGROUP_CAN_PIDS)
        f->n_procs = (uint32_t)cgroup_read_u64(t, name, "pids.current", NULL);
}

/* What `nproc` says, too: the engine gives the first process of a cell as many as its limit is
 * worth, and all others have them from there. */
static void read_cpus(const struct view_slot *s, struct view_facts *f)
{
    if (sched_getaffinity(s->pid, sizeof f->cpus, &f->cpus) < 0 || CPU_COUNT(&f->cpus) == 0) {
        CPU_ZERO(&f->cpus);
        CPU_SET(0, &f->cpus);
    }
}

/* That of the machine, which is slow to read: once is enough. */
static struct str machine_cpuinfo(void)
{
    static struct buf text = BUF_INIT(CPUINFO_MAX);

    if (text.len == 0)
        (void)io_read_file("/proc/cpuinfo", &text, NULL);
    return buf_str(&text);
}

/* ---- time ---- */

static void find_load(struct view_facts *f, struct view_memory_of_cell *m)
{
    uint64_t cpu_us = f->user_us + f->system_us;

    if (f->up_us > m->load_us && cpu_us >= m->load_cpu_us) {
        view_text_load(m->load, cpu_us - m->load_cpu_us, (uint64_t)(f->up_us - m->load_us));
        m->load_us = f->up_us;
        m->load_cpu_us = cpu_us;
    }
    memcpy(f->load, m->load, sizeof f->load);
}

/* ---- all of it ---- */

typedef void read_fn(const struct cgroup_tree *t, const char *name, bool is_v2,
                     struct view_facts *f);

static read_fn *const needs[VIEW_KINDS][2] = {
    [VIEW_MEMINFO] = {read_memory},
    [VIEW_STAT] = {read_start_time, read_cell_procs},
    [VIEW_LOADAVG] = {read_start_time, read_cell_procs},
    [VIEW_UPTIME] = {read_start_time},
};

static void read_group_facts(const struct view *v, const char *name, enum view_kind kind,
                             struct view_facts *f)
{
    const struct cgroup *g = v->cgroup;

    f->memory_total = total_memory(0);
    for (size_t i = 0; i < g->n_trees; i++)
        for (size_t k = 0; k < ARRAY_LEN(needs[kind]) && needs[kind][k]; k++)
            needs[kind][k](&g->trees[i], name, g->version == CGROUP_V2, f);
}

void view_refresh(const struct view *v, uint32_t slot, enum view_kind kind,
                  struct view_memory_of_cell *m)
{
    const struct view_slot *s = &v->shared->slots[slot];
    struct view_facts f = {.up_us = view_now_us() - s->boot_us};
    auto_buf struct buf text = BUF_INIT(TEXT_MAX);
    char name[PROTO_SLOT_NAME_MAX];

    proto_slot_name(name, slot);
    if (!v->has_time_ns)
        f.up_us = view_now_us();
    f.boot_s = (clock_real_us() - f.up_us) / 1000000;
    read_cpus(s, &f);
    read_group_facts(v, name, kind, &f);
    if (kind == VIEW_LOADAVG)
        find_load(&f, m);
    if (kind == VIEW_CPUINFO)
        f.cpuinfo = machine_cpuinfo();
    if (kind == VIEW_ONLINE || kind == VIEW_CPUS) {
        view_tree_cpus(v, name, &m->cpus, &f.cpus);
        m->cpus = f.cpus;
    }
    view_text(&text, kind, &f);
    if (kind != VIEW_CPUS && buf_ok(&text))
        (void)view_tree_write(v, name, kind, buf_str(&text));
}
