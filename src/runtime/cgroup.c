/* SPDX-License-Identifier: MIT */
/* Control groups of cells: what both versions share. See cgroup.h. */
#include "runtime/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "runtime/kern.h"
#include "sys/io.h"

enum { PROC_FILE_MAX = 1 << 20, POLL_US = 200 };
enum { FREEZE_FIRST_MS = 8, FREEZE_LAST_MS = 256 }; /* 504 ms in all */

static const struct cgroup_ops *ops_of(const struct cgroup *g)
{
    return g->version == CGROUP_V1 ? &cgroup_v1_ops : &cgroup_v2_ops;
}

/* ---- files ---- */

static int open_cgroup_file(const struct cgroup_tree *t, const char *name, const char *file,
                            int flags)
{
    char path[CGROUP_NAME_MAX + 64];

    if (snprintf(path, sizeof path, "%s/%s", name, file) >= (int)sizeof path)
        return -ENAMETOOLONG;
    int fd = openat(t->fd, path, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int cgroup_write(const struct cgroup_tree *t, const char *name, const char *file, const char *value)
{
    auto_close int fd = open_cgroup_file(t, name, file, O_WRONLY);

    return fd < 0 ? fd : io_write_all(fd, value, strlen(value));
}

int cgroup_write_u64(const struct cgroup_tree *t, const char *name, const char *file, uint64_t v)
{
    char value[24];

    (void)snprintf(value, sizeof value, "%llu", (unsigned long long)v);
    return cgroup_write(t, name, file, value);
}

int cgroup_read(const struct cgroup_tree *t, const char *name, const char *file, char *ret,
                size_t len)
{
    auto_close int fd = open_cgroup_file(t, name, file, O_RDONLY);

    if (fd < 0)
        return fd;
    ssize_t n = io_read(fd, ret, len - 1);
    if (n < 0)
        return (int)n;
    ret[n] = '\0';
    return (int)n;
}

uint64_t cgroup_read_u64(const struct cgroup_tree *t, const char *name, const char *file,
                         const char *key)
{
    char text[4096];
    uint64_t v = 0;

    if (cgroup_read(t, name, file, text, sizeof text) < 0)
        return 0;
    struct str all = str_of(text);
    while (all.p) {
        struct str line = str_cut(&all, '\n');
        struct str word = key ? str_cut(&line, ' ') : STR_NULL;
        if (key && !str_is(word, key))
            continue;
        return str_to_u64(line, &v) == 0 ? v : 0;
    }
    return 0;
}

int cgroup_wait_for(const struct cgroup_tree *t, const char *name, const char *file,
                    const char *text, int wait_ms)
{
    int64_t end_us = clock_mono_us() + (int64_t)wait_ms * 1000;

    for (;;) {
        char now[256];
        int r = cgroup_read(t, name, file, now, sizeof now);
        if (r < 0)
            return r;
        if (str_find(str_of(now), str_of(text)) >= 0)
            return 0;
        if (clock_mono_us() > end_us)
            return -ETIMEDOUT;
        (void)nanosleep(&(struct timespec){.tv_nsec = POLL_US * 1000}, NULL);
    }
}

/* ---- finding the hierarchies ---- */

static const struct {
    const char *controller;
    unsigned can;
} controllers[] = {
    {"memory", CGROUP_CAN_MEMORY},  {"pids", CGROUP_CAN_PIDS},           {"cpu", CGROUP_CAN_CPU},
    {"freezer", CGROUP_CAN_FREEZE}, {"cpuacct", CGROUP_CAN_ACCOUNT_CPU},
};

/* What a list of controllers, separated by SEP, lets us do. */
static unsigned can_of(struct str list, char sep)
{
    unsigned can = 0;

    while (list.p) {
        struct str word = str_trim(str_cut(&list, sep));
        for (size_t i = 0; i < ARRAY_LEN(controllers); i++)
            if (str_is(word, controllers[i].controller))
                can |= controllers[i].can;
    }
    return can;
}

struct cgroup_entry {
    char mount[PATH_MAX];
    struct str root;    /* which group is mounted there: "/" unless in a cgroup namespace */
    struct str options; /* of the superblock: names the controllers of version 1 */
    enum cgroup_version version;
};

/* One line of mountinfo: id parent dev root mountpoint options … - type source superoptions. */
static bool parse_mount(struct str line, struct cgroup_entry *f)
{
    struct str fields[5];

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        fields[i] = str_cut(&line, ' ');
    ptrdiff_t dash = str_find(line, STR(" - "));
    if (dash < 0)
        return false;
    struct str rest = str_skip(line, (size_t)dash + 3);
    struct str type = str_cut(&rest, ' ');
    (void)str_cut(&rest, ' ');
    if (!str_is(type, "cgroup") && !str_is(type, "cgroup2"))
        return false;
    if (snprintf(f->mount, sizeof f->mount, STR_FMT, STR_ARG(fields[4])) >= (int)sizeof f->mount)
        return false;
    f->root = fields[3];
    f->options = rest;
    f->version = str_is(type, "cgroup2") ? CGROUP_V2 : CGROUP_V1;
    return true;
}

/* The own group of version 2: the line "0::/path" of SELF. */
static struct str find_own_group(const char *self)
{
    struct str all = str_of(self);

    while (all.p) {
        struct str line = str_cut(&all, '\n');
        if (str_starts(line, STR("0::/")))
            return str_skip(line, 3);
    }
    return STR("/");
}

static int make_dir_at(int fd, const char *name)
{
    return mkdirat(fd, name, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

/* A directory below FD, created when missing. */
static int open_dir_at(int fd, const char *name)
{
    int r = make_dir_at(fd, name);

    if (r < 0)
        return r;
    r = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return r < 0 ? -errno : r;
}

/* Gives the children of FD the controllers that FD has; those that are refused (processes in the
 * group, or taken by version 1) are simply not available below. */
static void enable_children(int fd)
{
    struct cgroup_tree t = {.fd = fd};
    static const char *const wanted[] = {"+memory", "+pids", "+cpu"};

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        (void)cgroup_write(&t, ".", "cgroup.subtree_control", wanted[i]);
}

/* Version 2 has no processes in inner groups: what lives in the own group moves to a leaf. */
static void vacate(int fd)
{
    struct cgroup_tree t = {.fd = fd};
    char pids[8192];

    if (cgroup_read(&t, ".", "cgroup.type", pids, sizeof pids) < 0)
        return; /* the root group has no type and may keep its processes */
    if (make_dir_at(fd, "supervisor") < 0 ||
        cgroup_read(&t, ".", "cgroup.procs", pids, sizeof pids) < 0)
        return;
    struct str all = str_of(pids);
    while (all.p) {
        char pid[16];
        struct str line = str_cut(&all, '\n');
        if (line.len == 0 || line.len >= sizeof pid)
            continue;
        (void)snprintf(pid, sizeof pid, STR_FMT, STR_ARG(line));
        (void)cgroup_write(&t, "supervisor", "cgroup.procs", pid);
    }
}

static unsigned can_of_v2(int fd)
{
    struct cgroup_tree t = {.fd = fd};
    char list[256];

    if (cgroup_read(&t, ".", "cgroup.subtree_control", list, sizeof list) < 0)
        return 0;
    unsigned can = can_of(str_trim(str_n(list, strcspn(list, "\n"))), ' ');
    return can | CGROUP_CAN_FREEZE | CGROUP_CAN_ACCOUNT_CPU;
}

/* Version 1 lets anyone have groups at the top; version 2 groups live below the own one, which a
 * service manager delegated. After vacate() the own one is the parent of `supervisor`. */
static struct str base_group(const char *self, const struct cgroup_entry *f)
{
    struct str group = f->version == CGROUP_V2 ? find_own_group(self) : STR("/");

    if (str_ends(group, STR("/supervisor")))
        group.len -= strlen("/supervisor");
    if (!str_is(f->root, "/") && str_starts(group, f->root))
        group = str_skip(group, f->root.len);
    return group;
}

/* All cells together weigh less than the service or anything else beside them, so what they compute
 * never comes before it; alone on the machine they still have all of it. Kernels may be built
 * without this. */
static void set_weight(int fd, enum cgroup_version version)
{
    struct cgroup_tree t = {.fd = fd};

    if (version == CGROUP_V2)
        (void)cgroup_write_u64(&t, ".", "cpu.weight", CGROUP_V2_WEIGHT);
    else
        (void)cgroup_write_u64(&t, ".", "cpu.shares", CGROUP_V1_SHARES);
}

/* Opens the instance's directory in the hierarchy of F. */
static int open_tree(struct cgroup *g, const struct cgroup_open_args *args,
                     const struct cgroup_entry *f, struct err *e)
{
    struct str group = base_group(args->self, f);
    char path[PATH_MAX];

    if (g->n_trees == CGROUP_HIERARCHIES)
        return 0;
    if (snprintf(path, sizeof path, "%s/" STR_FMT, f->mount, STR_ARG(group)) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "control group");
    auto_close int own = io_open(path, O_RDONLY | O_DIRECTORY, 0);
    if (own < 0)
        return err_sys(e, own, "control group '%s'", path);
    if (f->version == CGROUP_V2) {
        vacate(own);
        enable_children(own);
    }
    auto_close int ours = open_dir_at(own, "tidepool");
    if (ours < 0)
        return err_sys(e, ours, "control group '%s/tidepool'", path);
    set_weight(ours, f->version);
    if (f->version == CGROUP_V2)
        enable_children(ours);
    auto_close int instance = open_dir_at(ours, args->instance);
    if (instance < 0)
        return err_sys(e, instance, "control group '%s/tidepool/%s'", path, args->instance);
    if (f->version == CGROUP_V2)
        enable_children(instance);
    unsigned can = f->version == CGROUP_V2 ? can_of_v2(instance) : can_of(f->options, ',');
    g->can |= can;
    g->trees[g->n_trees++] = (struct cgroup_tree){.fd = take_fd(instance), .can = can};
    return 0;
}

enum cgroup_version cgroup_version_of(const char *mountinfo)
{
    bool has_v1 = false, has_v2 = false;
    struct str all = str_of(mountinfo);

    while (all.p) {
        struct cgroup_entry f;
        if (!parse_mount(str_cut(&all, '\n'), &f))
            continue;
        has_v2 |= f.version == CGROUP_V2;
        has_v1 |= f.version == CGROUP_V1 && (can_of(f.options, ',') & CGROUP_CAN_MEMORY);
    }
    if (has_v1)
        return CGROUP_V1;
    return has_v2 ? CGROUP_V2 : CGROUP_NONE;
}

int cgroup_open(struct cgroup *g, const struct cgroup_open_args *args, struct err *e)
{
    struct str all = str_of(args->mountinfo);
    unsigned seen = 0;

    *g = (struct cgroup){.version = args->want};
    if (g->version == CGROUP_NONE)
        g->version = cgroup_version_of(args->mountinfo);
    if (snprintf(g->instance, sizeof g->instance, "%s", args->instance) >= (int)sizeof g->instance)
        return err_sys(e, -ENAMETOOLONG, "instance '%s'", args->instance);
    while (all.p && g->version != CGROUP_NONE) {
        struct cgroup_entry f;
        if (!parse_mount(str_cut(&all, '\n'), &f) || f.version != g->version)
            continue;
        unsigned can = f.version == CGROUP_V1 ? can_of(f.options, ',') : CGROUP_CAN_FREEZE;
        if (can == 0 || seen & can)
            continue; /* nothing of ours, or the same hierarchy mounted twice */
        seen |= can;
        int r = open_tree(g, args, &f, e);
        if (r < 0) {
            cgroup_close(g);
            return r;
        }
    }
    if (g->n_trees == 0)
        g->version = CGROUP_NONE;
    return 0;
}

int cgroup_open_self(struct cgroup *g, const char *instance, enum cgroup_version want,
                     struct err *e)
{
    auto_buf struct buf mounts = BUF_INIT(PROC_FILE_MAX), self = BUF_INIT(PROC_FILE_MAX);
    int r = io_read_file("/proc/self/mountinfo", &mounts, e);

    if (r == 0)
        r = io_read_file("/proc/self/cgroup", &self, e);
    if (r < 0)
        return r;
    struct cgroup_open_args args = {.instance = instance,
                                    .mountinfo = buf_cstr(&mounts),
                                    .self = buf_cstr(&self),
                                    .want = want};
    if (!args.mountinfo || !args.self)
        return err_sys(e, -ENOMEM, "control groups");
    return cgroup_open(g, &args, e);
}

void cgroup_close(struct cgroup *g)
{
    for (size_t i = 0; i < g->n_trees; i++)
        (void)close(g->trees[i].fd);
    *g = (struct cgroup){.version = CGROUP_NONE};
}

void cgroup_remove(struct cgroup *g)
{
    for (size_t i = 0; i < g->n_trees; i++) {
        auto_close int ours = openat(g->trees[i].fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        auto_close int own = ours < 0 ? -1 : openat(ours, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (own < 0)
            continue;
        (void)unlinkat(ours, g->instance, AT_REMOVEDIR);
        (void)unlinkat(own, "tidepool", AT_REMOVEDIR); /* stays while others use it */
    }
    cgroup_close(g);
}

bool cgroup_can_limit(const struct cgroup *g, unsigned can, struct err *e)
{
    static const char *const reasons[] = {
        [CGROUP_NONE] = "no control groups are mounted; mount cgroup2 at /sys/fs/cgroup",
        [CGROUP_V1] = "its hierarchy of control groups (version 1) is not mounted; mount it below "
                      "/sys/fs/cgroup",
        [CGROUP_V2] = "the control group of sandboxes lacks the controller; enable it in its "
                      "parent groups (cgroup.subtree_control) and in the kernel (cgroup_disable= "
                      "on its command line)",
    };
    const char *name = "";

    if ((g->can & can) == can)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(controllers); i++)
        if (controllers[i].can == can)
            name = controllers[i].controller;
    (void)err_set(e, -EOPNOTSUPP, "this host cannot limit %s: %s", name, reasons[g->version]);
    return false;
}

/* ---- groups ---- */

/* What it takes to write it down: all processors together are no limit. */
static uint32_t cpu_limit_of(const struct cgroup_limits *l)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 && l->cpu_milli >= 1000 * (uint64_t)n ? 0 : l->cpu_milli;
}

struct cgroup_change {
    const struct cgroup_limits *was, *now;
};

/* Writes down what has changed and this tree can do. */
static int limit_tree(const struct cgroup_ops *ops, const struct cgroup_tree *t, const char *name,
                      struct cgroup_change c, struct err *e)
{
    uint32_t cpu = cpu_limit_of(c.now);
    int r = 0;

    if (t->can & CGROUP_CAN_MEMORY && c.now->memory_bytes != c.was->memory_bytes)
        r = ops->limit_memory(t, name, c.now->memory_bytes);
    if (r < 0)
        return err_sys(e, r, "memory limit");
    if (t->can & CGROUP_CAN_PIDS && c.now->pids != c.was->pids)
        r = ops->limit_pids(t, name, c.now->pids);
    if (r < 0)
        return err_sys(e, r, "process limit");
    if (t->can & CGROUP_CAN_CPU && cpu != cpu_limit_of(c.was))
        r = ops->limit_cpu(t, name, cpu);
    return r < 0 ? err_sys(e, r, "processor limit") : 0;
}

int cgroup_limit(const struct cgroup *g, const char *name, const struct cgroup_limits *was,
                 const struct cgroup_limits *limits, struct err *e)
{
    for (size_t i = 0; i < g->n_trees; i++) {
        int r = limit_tree(ops_of(g), &g->trees[i], name, (struct cgroup_change){was, limits}, e);
        if (r < 0)
            return err_ctx(e, r, "control group '%s'", name);
    }
    return 0;
}

int cgroup_make(const struct cgroup *g, const char *name, const struct cgroup_limits *limits,
                struct err *e)
{
    static const struct cgroup_limits none;

    for (size_t i = 0; i < g->n_trees; i++) {
        int r = make_dir_at(g->trees[i].fd, name);
        if (r < 0) {
            (void)cgroup_unmake(g, name);
            return err_sys(e, r, "control group '%s'", name);
        }
    }
    int r = cgroup_limit(g, name, &none, limits, e);
    if (r < 0)
        (void)cgroup_unmake(g, name);
    return r;
}

int cgroup_entries(const struct cgroup *g, const char *name, int ret[CGROUP_HIERARCHIES],
                   struct err *e)
{
    const char *entry = ops_of(g)->entry;

    for (size_t i = 0; i < g->n_trees; i++) {
        ret[i] = open_cgroup_file(&g->trees[i], name, entry ? entry : ".",
                                  entry ? O_WRONLY : O_RDONLY | O_DIRECTORY);
        if (ret[i] >= 0)
            continue;
        int r = ret[i];
        while (i-- > 0)
            (void)close(ret[i]);
        return err_sys(e, r, "control group '%s'", name);
    }
    return (int)g->n_trees;
}

static int set_frozen(const struct cgroup *g, const char *name, bool freeze, int wait_ms)
{
    int r = g->can & CGROUP_CAN_FREEZE ? 0 : -EOPNOTSUPP;

    for (size_t i = 0; r == 0 && i < g->n_trees; i++)
        r = ops_of(g)->freeze(&g->trees[i], name, freeze, wait_ms);
    return r;
}

int cgroup_try_freeze(const struct cgroup *g, const char *name, int wait_ms)
{
    return set_frozen(g, name, true, wait_ms);
}

/* A process that forks or executes at the wrong moment can leave a group of version 1 half frozen
 * for good; thawing it and trying again is what helps, each time for longer. */
int cgroup_freeze(const struct cgroup *g, const char *name, bool freeze, struct err *e)
{
    int r = -ETIMEDOUT;

    for (int wait_ms = FREEZE_FIRST_MS; r == -ETIMEDOUT && wait_ms <= FREEZE_LAST_MS;
         wait_ms *= 2) {
        r = set_frozen(g, name, freeze, wait_ms);
        if (r == -ETIMEDOUT && freeze)
            (void)set_frozen(g, name, false, 0);
    }
    return r < 0 ? err_sys(e, r, "%s '%s'", freeze ? "freeze" : "thaw", name) : 0;
}

int cgroup_usage(const struct cgroup *g, const char *name, struct cgroup_usage *ret, struct err *e)
{
    struct stat st;

    *ret = (struct cgroup_usage){0};
    if (g->n_trees == 0)
        return err_sys(e, -EOPNOTSUPP, "usage of '%s'", name);
    if (fstatat(g->trees[0].fd, name, &st, 0) < 0)
        return err_sys(e, -errno, "usage of '%s'", name);
    for (size_t i = 0; i < g->n_trees; i++)
        ops_of(g)->usage(&g->trees[i], name, ret);
    return 0;
}

int cgroup_open_pids(const struct cgroup *g, const char *name)
{
    for (size_t i = 0; i < g->n_trees; i++)
        if (g->trees[i].can & CGROUP_CAN_PIDS)
            return open_cgroup_file(&g->trees[i], name, "pids.max", O_RDONLY);
    return -ENOENT;
}

uint64_t cgroup_cache(const struct cgroup *g, const char *name)
{
    const char *key = g->version == CGROUP_V2 ? "file" : "cache";

    for (size_t i = 0; i < g->n_trees; i++)
        if (g->trees[i].can & CGROUP_CAN_MEMORY)
            return cgroup_read_u64(&g->trees[i], name, "memory.stat", key);
    return 0;
}

/* True when PID is in the group now. */
static bool is_listed_controller(const struct cgroup_tree *t, const char *name, int64_t pid)
{
    char pids[8192];
    int64_t other;

    if (cgroup_read(t, name, "cgroup.procs", pids, sizeof pids) <= 0)
        return false;
    struct str all = str_of(pids);
    while (all.p)
        if (str_to_i64(str_cut(&all, '\n'), &other) == 0 && other == pid)
            return true;
    return false;
}

/* Looks again when it holds the process, because the number may be somebody else's by then. Pid 1
 * and 0 ("not visible from here") are never ours. */
static bool kill_member(const struct cgroup_tree *t, const char *name, int64_t pid)
{
    if (pid <= 1 || pid > INT_MAX)
        return false;
    auto_close int fd = kern_pidfd_open((pid_t)pid);
    return fd >= 0 && is_listed_controller(t, name, pid) && kern_pidfd_kill(fd, SIGKILL) == 0;
}

/* Kills what `cgroup.procs` lists; processes that are born meanwhile are for the next round. */
static int kill_listed(const struct cgroup_tree *t, const char *name)
{
    char pids[8192];
    int hit = 0;

    if (cgroup_read(t, name, "cgroup.procs", pids, sizeof pids) <= 0)
        return 0;
    struct str all = str_of(pids);
    while (all.p) {
        int64_t pid;
        if (str_to_i64(str_cut(&all, '\n'), &pid) == 0 && kill_member(t, name, pid))
            hit = 1;
    }
    return hit;
}

void cgroup_wake(const struct cgroup *g, const char *name)
{
    for (size_t i = 0; g->version == CGROUP_V1 && i < g->n_trees; i++)
        if (g->trees[i].can & CGROUP_CAN_FREEZE)
            (void)cgroup_write(&g->trees[i], name, "freezer.state", "THAWED");
}

int cgroup_kill(const struct cgroup *g, const char *name)
{
    int hit = 0;

    for (size_t i = 0; i < g->n_trees; i++) {
        hit |= kill_listed(&g->trees[i], name);
        if (g->version == CGROUP_V2)
            (void)cgroup_write(&g->trees[i], name, "cgroup.kill", "1");
    }
    cgroup_wake(g, name);
    return hit;
}

int cgroup_unmake(const struct cgroup *g, const char *name)
{
    int r = 0;

    for (size_t i = 0; i < g->n_trees; i++)
        if (unlinkat(g->trees[i].fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
            r = -errno;
    return r;
}

void cgroup_each(const struct cgroup *g, void (*fn)(const char *name, void *ctx), void *ctx)
{
    for (size_t i = 0; i < g->n_trees; i++) {
        int fd = openat(g->trees[i].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        if (!dir)
            continue;
        for (struct dirent *d; (d = readdir(dir));)
            if (d->d_type == DT_DIR && d->d_name[0] != '.')
                fn(d->d_name, ctx);
        (void)closedir(dir);
    }
}
