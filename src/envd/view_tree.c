/* SPDX-License-Identifier: MIT */
/* The files of the views: see view.h. Nothing in here is ever read by us: a question about it would
 * come to ourselves. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "envd/view.h"
#include "runtime/proto.h"
#include "sys/io.h"

enum { PATH_LEN = 96 };

static const char *const names[VIEW_KINDS] = {
    [VIEW_MEMINFO] = "meminfo", [VIEW_CPUINFO] = "cpuinfo", [VIEW_STAT] = "stat",
    [VIEW_LOADAVG] = "loadavg", [VIEW_UPTIME] = "uptime",   [VIEW_ONLINE] = "cpu/online",
    [VIEW_CPUS] = "cpu",
};

/* Writes in place, because what is bound in cells is the inode; the end is cut last, so that nobody
 * ever finds nothing. */
static int put_view_file(int dir, const char *path, struct str text)
{
    auto_close int fd = openat(dir, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0444);

    if (fd < 0)
        return -errno;
    int r = io_write_all(fd, text.p, text.len);
    if (r == 0 && ftruncate(fd, (off_t)text.len) < 0)
        r = -errno;
    return r;
}

static int put_view_line(int dir, const char *path, const char *text)
{
    char line[64];

    (void)snprintf(line, sizeof line, "%s\n", text);
    return put_view_file(dir, path, str_of(line));
}

static int make_view_dir(int dir, const char *path)
{
    return mkdirat(dir, path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

/* ---- what all share ---- */

static const char *const dirs[] = {
    "common",
    "common/sys",
    "common/sys/block",
    "common/sys/bus",
    "common/sys/class",
    "common/sys/dev",
    "common/sys/dev/block",
    "common/sys/dev/char",
    "common/sys/devices",
    "common/sys/devices/system",
    "common/sys/devices/system/cpu",
    "common/sys/devices/topology",
    "common/sys/fs",
    "common/sys/fs/cgroup",
};

void view_tree_group_name(const struct cgroup *g, size_t tree, char *ret, size_t size)
{
    static const struct {
        unsigned can;
        const char *name;
    } parts[] = {{CGROUP_CAN_CPU, "cpu"},
                 {CGROUP_CAN_ACCOUNT_CPU, "cpuacct"},
                 {CGROUP_CAN_MEMORY, "memory"},
                 {CGROUP_CAN_PIDS, "pids"}};
    size_t len = 0;

    ret[0] = '\0';
    for (size_t i = 0; g->version == CGROUP_V1 && i < ARRAY_LEN(parts); i++)
        if (g->trees[tree].can & parts[i].can && len < size)
            len += (size_t)snprintf(ret + len, size - len, "%s%s", len ? "," : "", parts[i].name);
}

/* Version 1: a directory for each tree, and links for the controllers that share one. */
static int make_group_dirs(const struct view *v)
{
    for (size_t i = 0; i < v->cgroup->n_trees; i++) {
        char name[32], path[PATH_LEN];
        view_tree_group_name(v->cgroup, i, name, sizeof name);
        if (name[0] == '\0')
            continue;
        (void)snprintf(path, sizeof path, "common/sys/fs/cgroup/%s", name);
        int r = make_view_dir(v->dir_fd, path);
        if (r < 0)
            return r;
        struct str parts = str_of(name);
        while (str_chr(str_of(name), ',') >= 0 && parts.p) {
            struct str part = str_cut(&parts, ',');
            (void)snprintf(path, sizeof path, "common/sys/fs/cgroup/" STR_FMT, STR_ARG(part));
            (void)symlinkat(name, v->dir_fd, path);
        }
    }
    return 0;
}

/* Processor CPU is a core of its own, in one package with all others. */
static int make_topology(int dir, size_t cpu, const cpu_set_t *all)
{
    char path[PATH_LEN], number[16];
    cpu_set_t self;

    CPU_ZERO(&self);
    CPU_SET(cpu, &self);
    (void)snprintf(path, sizeof path, "common/sys/devices/topology/%zu", cpu);
    if (make_view_dir(dir, path) < 0)
        return -errno;
    auto_close int fd = openat(dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    (void)snprintf(number, sizeof number, "%zu", cpu);
    int r = fd < 0 ? -errno : put_view_line(fd, "core_id", number);
    if (r == 0)
        r = put_view_line(fd, "physical_package_id", "0");
    const struct {
        const char *name;
        const cpu_set_t *set;
        void (*write)(struct buf *b, const cpu_set_t *set);
    } sets[] = {
        {"thread_siblings", &self, view_text_mask},
        {"thread_siblings_list", &self, view_text_list},
        {"core_siblings", all, view_text_mask},
        {"core_siblings_list", all, view_text_list},
    };
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(sets); i++) {
        auto_buf struct buf text = BUF_INIT(4096);
        sets[i].write(&text, sets[i].set);
        (void)buf_add_char(&text, '\n');
        r = buf_ok(&text) ? put_view_file(fd, sets[i].name, buf_str(&text)) : -ENOMEM;
    }
    return r;
}

static int make_cpus(int dir)
{
    long n = sysconf(_SC_NPROCESSORS_CONF);
    cpu_set_t all;
    char possible[32];
    int r = 0;

    if (n < 1 || n > CPU_SETSIZE)
        n = CPU_SETSIZE;
    CPU_ZERO(&all);
    for (long i = 0; i < n; i++)
        CPU_SET((size_t)i, &all);
    for (long i = 0; r == 0 && i < n; i++)
        r = make_topology(dir, (size_t)i, &all);
    (void)snprintf(possible, sizeof possible, n > 1 ? "0-%ld" : "%ld", n - 1);
    return r < 0 ? r : put_view_line(dir, "common/possible", possible);
}

int view_tree_common(const struct view *v, struct err *e)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(dirs); i++)
        r = make_view_dir(v->dir_fd, dirs[i]);
    if (r == 0)
        r = make_group_dirs(v);
    if (r == 0)
        r = make_cpus(v->dir_fd);
    if (r == 0)
        r = put_view_file(v->dir_fd, "common/empty", STR(""));
    if (r == 0 && v->cgroup->version == CGROUP_V1)
        r = make_view_dir(v->dir_fd, "common/sys/fs/cgroup/cpuset");
    if (r == 0)
        r = put_view_line(v->dir_fd, "common/mems", "0");
    if (r == 0)
        r = put_view_line(v->dir_fd, "common/swaps",
                          "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority");
    return r < 0 ? err_sys(e, r, "views") : 0;
}

/* ---- slots ---- */

static void view_path_of(char *ret, const char *slot, enum view_kind kind)
{
    (void)snprintf(ret, PATH_LEN, "%s/%s", slot, names[kind]);
}

/* Files by another name. A cell has no processor that is off; and it may see how many processors
 * the machine has, because programs that count per processor go by the largest number. `cpuset` is
 * for version 1 only. */
static const struct {
    const char *name, *of;
    bool is_own; /* of the slot, not of all */
} links[] = {
    {"cpu/present", "cpu/online", true},
    {"cpu/possible", "possible", false},
    {"cpuset/cpuset.cpus", "cpu/online", true},
    {"cpuset/cpuset.effective_cpus", "cpu/online", true},
    {"cpuset/cpuset.mems", "mems", false},
    {"cpuset/cpuset.effective_mems", "mems", false},
};

static int make_view_links(int dir, const char *slot)
{
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        char from[PATH_LEN], to[PATH_LEN];
        (void)snprintf(from, sizeof from, "%s/%s", links[i].is_own ? slot : "common", links[i].of);
        (void)snprintf(to, sizeof to, "%s/%s", slot, links[i].name);
        if (linkat(dir, from, dir, to, 0) < 0)
            return -errno;
    }
    return 0;
}

int view_tree_slot(const struct view *v, const char *name, struct view_slot *ret, struct err *e)
{
    char path[PATH_LEN], cpuset[PATH_LEN];
    struct stat st;
    int r = make_view_dir(v->dir_fd, name);

    view_path_of(path, name, VIEW_CPUS);
    if (r == 0)
        r = make_view_dir(v->dir_fd, path);
    (void)snprintf(cpuset, sizeof cpuset, "%s/cpuset", name);
    if (r == 0)
        r = make_view_dir(v->dir_fd, cpuset);
    for (size_t i = 0; r == 0 && i < VIEW_KINDS; i++) {
        view_path_of(path, name, (enum view_kind)i);
        if (i != VIEW_CPUS)
            r = put_view_file(v->dir_fd, path, STR(""));
        if (r == 0 && fstatat(v->dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
            r = -errno;
        ret->inos[i] = st.st_ino;
    }
    if (r == 0)
        r = make_view_links(v->dir_fd, name);
    if (r == 0)
        r = view_tree_boot_id(v, name);
    return r < 0 ? err_sys(e, r, "views of '%s'", name) : 0;
}

int view_tree_write(const struct view *v, const char *name, enum view_kind kind, struct str text)
{
    char path[PATH_LEN];

    view_path_of(path, name, kind);
    return put_view_file(v->dir_fd, path, text);
}

int view_tree_boot_id(const struct view *v, const char *name)
{
    char path[PATH_LEN], id[ID_UUID_LEN + 1];

    id_uuid(id);
    (void)snprintf(path, sizeof path, "%s/boot_id", name);
    return put_view_line(v->dir_fd, path, id);
}

void view_tree_cpus(const struct view *v, const char *name, const cpu_set_t *was,
                    const cpu_set_t *now)
{
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        char path[PATH_LEN], link[PATH_LEN], target[PATH_LEN];
        bool is_listed = CPU_ISSET(i, was), is_wanted = CPU_ISSET(i, now);
        if (is_listed == is_wanted)
            continue;
        (void)snprintf(path, sizeof path, "%s/cpu/cpu%zu", name, i);
        (void)snprintf(link, sizeof link, "%s/cpu/cpu%zu/topology", name, i);
        (void)snprintf(target, sizeof target, "../../../topology/%zu", i);
        if (is_wanted && mkdirat(v->dir_fd, path, 0755) == 0)
            (void)symlinkat(target, v->dir_fd, link);
        if (!is_wanted && unlinkat(v->dir_fd, link, 0) == 0)
            (void)unlinkat(v->dir_fd, path, AT_REMOVEDIR);
    }
}
