/* SPDX-License-Identifier: MIT */
/* Processors and shared memory of cells: see engine_fit.h. */
#include "runtime/engine_fit.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/engine_internal.h"
#include "runtime/kern.h"

enum { THREADS_MAX = 65536, MILLI = 1000 };

/* ---- processors ---- */

static int least_given(const struct engine_cpus *c, const cpu_set_t *taken)
{
    int best = -1;

    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &c->all) && !CPU_ISSET((size_t)i, taken) &&
            (best < 0 || c->given[i] < c->given[best]))
            best = i;
    return best;
}

/* N processors of ALL, those of which the least is GIVEN; all when there are no more. */
static void engine_cpus_choose(const struct engine_cpus *c, unsigned n, cpu_set_t *ret)
{
    CPU_ZERO(ret);
    for (int cpu; n > 0 && (cpu = least_given(c, ret)) >= 0; n--)
        CPU_SET((size_t)cpu, ret);
}

void engine_fit_open(struct engine_cpus *c)
{
    *c = (struct engine_cpus){0};
    if (sched_getaffinity(0, sizeof c->all, &c->all) < 0)
        CPU_ZERO(&c->all);
}

static unsigned n_wanted(const struct engine_cell *c)
{
    unsigned all = (unsigned)CPU_COUNT(&c->engine->cpus.all);
    uint32_t milli = c->info.spec.limits.cpu_milli;
    uint64_t n = ((uint64_t)milli + MILLI - 1) / MILLI;

    return n == 0 || n > all ? all : (unsigned)n;
}

static void count_processors(struct engine_cell *c, const cpu_set_t *set)
{
    struct engine_cpus *cpus = &c->engine->cpus;
    int n = CPU_COUNT(set);

    c->share.cpus = *set;
    c->share.milli = n > 0 ? c->info.spec.limits.cpu_milli / (uint32_t)n : 0;
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, set))
            cpus->given[i] += c->share.milli;
}

void engine_fit_done(struct engine_cell *c)
{
    for (size_t i = 0; c->share.milli > 0 && i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &c->share.cpus))
            c->engine->cpus.given[i] -= c->share.milli;
    c->share.milli = 0;
}

void engine_fit_found(struct engine_cell *c)
{
    cpu_set_t set;

    engine_fit_done(c);
    if (sched_getaffinity((pid_t)c->info.pid, sizeof set, &set) == 0)
        count_processors(c, &set);
}

/* Threads that begin meanwhile have it from those that began them. */
static void follow_threads(const struct engine_cell *c, const cpu_set_t *set)
{
    const struct cgroup *g = &c->spawner->cgroup;
    const char *file = g->version == CGROUP_V2 ? "cgroup.threads" : "tasks";
    static char text[THREADS_MAX];

    if (g->n_trees == 0 || cgroup_read(&g->trees[0], c->slot_name, file, text, sizeof text) < 0)
        return;
    struct str all = str_of(text);
    while (all.p) {
        int64_t tid;
        if (str_to_i64(str_cut(&all, '\n'), &tid) == 0 && tid > 1)
            (void)sched_setaffinity((pid_t)tid, sizeof *set, set);
    }
}

/* A host that refuses leaves the cell with all of them, as its quota does. */
static void fit_cpus(struct engine_cell *c, bool follow)
{
    const struct engine_cpus *cpus = &c->engine->cpus;
    unsigned n = n_wanted(c), n_had = (unsigned)CPU_COUNT(&c->share.cpus);
    cpu_set_t set = c->share.cpus;
    bool is_new = n_had == 0;

    engine_fit_done(c);
    if (n != n_had)
        engine_cpus_choose(cpus, n, &set);
    count_processors(c, &set);
    if (n == n_had || (is_new && CPU_EQUAL(&set, &cpus->all)) || CPU_COUNT(&set) == 0)
        return;
    (void)sched_setaffinity((pid_t)c->info.pid, sizeof set, &set);
    if (follow)
        follow_threads(c, &set);
}

/* ---- /dev/shm ---- */

/* Half of the memory, which is what a machine of that size would have. */
static void fit_shm(struct engine_cell *c)
{
    uint64_t bytes = c->info.spec.limits.memory_bytes / 2;
    char path[48], size[24];

    if (c->info.spec.disk.kind == DISK_TMPFS || c->shm_bytes == bytes)
        return;
    c->shm_bytes = bytes;
    (void)snprintf(path, sizeof path, "/proc/%u/root/dev/shm", c->info.pid);
    if (bytes > 0)
        (void)snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
    else
        (void)snprintf(size, sizeof size, "50%%");
    auto_close int fd = kern_fspick(path);
    if (fd >= 0 && kern_fsconfig(fd, "size", size) == 0)
        (void)kern_fscommand(fd, KERN_FSCONFIG_RECONFIGURE);
}

void engine_fit(struct engine_cell *c, bool follow)
{
    fit_cpus(c, follow);
    fit_shm(c);
}
