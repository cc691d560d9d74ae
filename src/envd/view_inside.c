/* SPDX-License-Identifier: MIT */
/* The views, in the new process of a cell: see view.h. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/spawner.h"
#include "sys/io.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

enum { PATH_LEN = 96 };

/* ---- time ---- */

/* The offset of CLOCK_BOOTTIME makes /proc/uptime, the boot time and the start times of processes
 * agree; programs work out one from the others. This process goes in, too, not only its children,
 * because the kernel refuses vfork() between two. */
static int enter_namespaces(const struct cell *c)
{
    char offset[48];

    if (unshare(CLONE_NEWTIME) < 0)
        return -errno;
    int len =
        snprintf(offset, sizeof offset, "boottime %lld %lld\n",
                 (long long)(-c->boot_us / 1000000) - (c->boot_us % 1000000 ? 1 : 0),
                 (long long)(c->boot_us % 1000000 ? 1000000 - c->boot_us % 1000000 : 0) * 1000);
    auto_close int offsets = io_open("/proc/self/timens_offsets", O_WRONLY, 0);
    int r = offsets < 0 ? offsets : io_write_all(offsets, offset, (size_t)len);
    if (r < 0)
        return r;
    auto_close int ns = io_open("/proc/self/ns/time_for_children", O_RDONLY, 0);
    if (ns < 0)
        return ns;
    return setns(ns, CLONE_NEWTIME) < 0 ? -errno : 0;
}

int view_enter_time(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    int r = c->spawner->view.has_time_ns ? enter_namespaces(c) : 0;

    return r < 0 ? err_sys(e, r, "time namespace") : 0;
}

/* ---- mounts ---- */

/* What is missing in this root, or in this kernel, is left out. */
static int bind_view(const char *from, const char *to, struct err *e)
{
    if (mount(from, to, NULL, MS_BIND, NULL) == 0 || errno == ENOENT || errno == ENOTDIR)
        return 0;
    return err_sys(e, -errno, "bind '%s'", to + strlen("/new"));
}

static const struct {
    const char *from, *to;
    bool is_own; /* of the slot, not of all */
} views[] = {
    {"meminfo", "proc/meminfo", true},
    {"cpuinfo", "proc/cpuinfo", true},
    {"stat", "proc/stat", true},
    {"loadavg", "proc/loadavg", true},
    {"uptime", "proc/uptime", true},
    {"boot_id", "proc/sys/kernel/random/boot_id", true},
    {"swaps", "proc/swaps", false},
    {"empty", "proc/diskstats", false},
    {"sys", "sys", false},
    {"cpu", "sys/devices/system/cpu", true},
};

/* A cell has no group of its own in this hierarchy, but Java takes version 1 for incomplete, and
 * its limits for none, unless it is mounted. What is mounted is covered at once. */
static int bind_cpuset(const struct cell *c, struct err *e)
{
    char from[PATH_LEN];
    int r = bind_view("/groups/cpuset", "/new/sys/fs/cgroup/cpuset", e);

    (void)snprintf(from, sizeof from, "/look/%s/cpuset", c->name);
    return r < 0 ? r : bind_view(from, "/new/sys/fs/cgroup/cpuset", e);
}

/* The cell's own groups: one with version 2, one for each controller with version 1. */
static int bind_groups(const struct cell *c, struct err *e)
{
    const struct cgroup *g = &c->spawner->cgroup;
    int r = 0;

    for (size_t i = 0; r == 0 && i < g->n_trees; i++) {
        char from[PATH_LEN], to[PATH_LEN], name[32];
        view_tree_group_name(g, i, name, sizeof name);
        if (g->version == CGROUP_V1 && name[0] == '\0')
            continue;
        (void)snprintf(from, sizeof from, "/groups/%zu/%s", i, c->name);
        (void)snprintf(to, sizeof to, "/new/sys/fs/cgroup/%s", name);
        r = bind_view(from, to, e);
    }
    return r == 0 && g->version == CGROUP_V1 ? bind_cpuset(c, e) : r;
}

int view_mount(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(views); i++) {
        char from[PATH_LEN], to[PATH_LEN];
        (void)snprintf(from, sizeof from, "/look/%s/%s", views[i].is_own ? c->name : "common",
                       views[i].from);
        (void)snprintf(to, sizeof to, "/new/%s", views[i].to);
        r = bind_view(from, to, e);
    }
    return r < 0 ? r : bind_groups(c, e);
}
