/* SPDX-License-Identifier: MIT */
/* The cell's side of its birth: from the fork, in new namespaces but still seeing the spawner's
 * small root, to the first process of a finished cell. Nothing is undone here: when a step fails,
 * the process reports it and ends, and everything that it made goes with its namespaces. */
#include "envd/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/facts.h"
#include "envd/hostname.h"
#include "envd/layout.h"
#include "envd/oldroot.h"
#include "envd/proc_launch.h"
#include "envd/spawner.h"
#include "runtime/kern.h"
#include "runtime/step.h"
#include "sys/io.h"

enum { INODE_PER_BYTES = 8192 };

/* ---- identity ---- */

static int wait_for_go(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    char go;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)close(c->sync_fd);
    ssize_t n = io_read(c->peer_fd, &go, 1);
    if (n != 1)
        return err_sys(e, -ECANCELED, "go");
    /* Once it is the cell's root it may not open these any more. */
    c->pids_fd = cgroup_open_pids(&c->spawner->cgroup, c->name);
    c->score_fd = io_open("/proc/self/oom_score_adj", O_WRONLY, 0);
    return c->score_fd < 0 ? err_sys(e, c->score_fd, "oom_score_adj") : 0;
}

/* Version 1: a process that enters a group by itself does not wait for anybody. */
static int enter_groups(void *ctx, struct err *e)
{
    struct cell *c = ctx;

    if (c->spawner->cgroup.version != CGROUP_V1)
        return 0;
    for (int i = 0; i < c->n_entries; i++) {
        int r = io_write_all(c->entry_fds[i], "0", 1);
        if (r < 0)
            return err_sys(e, r, "enter control group");
    }
    return unshare(CLONE_NEWCGROUP) < 0 ? err_sys(e, -errno, "cgroup namespace") : 0;
}

static int become_root(void *ctx, struct err *e)
{
    (void)ctx;
    if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
        return err_sys(e, -errno, "become root of the cell");
    /* The change of uid cleared it. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)umask(022);
    return 0;
}

/* ---- file systems ---- */

struct option {
    const char *key, *value; /* NULL value: a flag */
};

/* Mounts a new file system of TYPE at PATH. */
static int mount_new(const char *type, const struct option *options, unsigned attrs,
                     const char *path, struct err *e)
{
    auto_close int fs = kern_fsopen(type);

    if (fs < 0)
        return err_sys(e, fs, "open %s", type);
    for (; options->key; options++) {
        int r = kern_fsconfig(fs, options->key, options->value);
        if (r < 0)
            return err_sys(e, r, "%s option '%s'", type, options->key);
    }
    int r = kern_fscommand(fs, KERN_FSCONFIG_CREATE);
    if (r < 0)
        return err_sys(e, r, "create %s", type);
    auto_close int fd = kern_fsmount(fs, attrs);
    if (fd < 0)
        return err_sys(e, fd, "mount %s", type);
    r = kern_attach(fd, AT_FDCWD, path);
    return r < 0 ? err_sys(e, r, "attach %s at '%s'", type, path) : 0;
}

/* Binds FROM to TO. */
static int bind_to(const char *from, const char *to)
{
    return mount(from, to, NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

static int attach_upper(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    char size[24], inodes[24];
    uint64_t bytes = c->info.spec.disk.bytes;

    if (c->upper.fd >= 0) {
        int r = kern_attach(c->upper.fd, AT_FDCWD, "/up");
        return r < 0 ? err_sys(e, r, "attach upper layer") : 0;
    }
    (void)snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
    (void)snprintf(inodes, sizeof inodes, "%llu", (unsigned long long)bytes / INODE_PER_BYTES);
    const struct option options[] = {
        {"size", size}, {"nr_inodes", inodes}, {"mode", "755"}, {NULL, NULL}};
    int r = mount_new("tmpfs", options, 0, "/up", e);
    if (r < 0)
        return r;
    auto_close int fd = io_open("/up", O_RDONLY | O_DIRECTORY, 0);
    r = fd < 0 ? fd : layout_upper(fd, 0, c->tmpl->spec.has_usr);
    return r < 0 ? err_sys(e, r, "prepare upper layer") : 0;
}

static int attach_slot_layers(void *ctx, struct err *e)
{
    struct cell *c = ctx;

    for (uint32_t i = 0; i < c->n_layers; i++) {
        char path[8];
        (void)snprintf(path, sizeof path, "/l/%c", layout_layer_name(i));
        int r = kern_attach(c->layer_fds[i], AT_FDCWD, path);
        if (r < 0)
            return err_sys(e, r, "attach layer %u", (unsigned)i);
    }
    return 0;
}

/* `userxattr`: the only kind that a user namespace may have. `volatile`: never sync, the upper
 * layer does not survive the cell. LOWER is relative to /l. */
static int mount_overlay(struct cell *c, const char *lower, const char *home, const char *path,
                         struct err *e)
{
    char upper[24], work[24];

    (void)snprintf(upper, sizeof upper, "/up/%s/u", home);
    (void)snprintf(work, sizeof work, "/up/%s/w", home);
    /* Memory has nothing to sync anyway. */
    bool is_tmpfs = c->info.spec.disk.kind == DISK_TMPFS;
    const struct option options[] = {
        {"lowerdir", lower},
        {"upperdir", upper},
        {"workdir", work},
        {"userxattr", NULL},
        {is_tmpfs ? NULL : "volatile", NULL},
        {NULL, NULL},
    };
    unsigned attrs = KERN_ATTR_NODEV | (c->tmpl->spec.no_new_privs ? KERN_ATTR_NOSUID : 0U);
    if (chdir("/l") < 0)
        return err_sys(e, -errno, "enter the layers");
    return mount_new("overlay", options, attrs, path, e);
}

static const char *hostname_of(const struct cell *c)
{
    return c->info.spec.hostname[0] ? c->info.spec.hostname : "cell";
}

static void write_slot_facts(const struct cell *c, const char *root)
{
    char hostname[HOSTNAME_MAX];

    hostname_clean(hostname, hostname_of(c));
    facts_write(root, &(struct facts){.hostname = hostname, .template_id = c->tmpl->spec.name});
}

/* A layer that was a sandbox's has the workspace of that one. */
static bool has_workspace(const struct cell *c)
{
    for (uint32_t i = 0; i + 2 < c->n_layers; i++) {
        char path[16];
        (void)snprintf(path, sizeof path, "/l/%c/data", layout_layer_name(i));
        if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}

/* What every cell has of its own: the workspace, and the facts about it, for which a claim finds
 * the files. Made before there is an overlay, which takes several times as long for each. */
static void furnish_upper(const struct cell *c)
{
    static const char *const dirs[] = {"/up/root/u/etc", "/up/root/u/run"};

    if (!has_workspace(c) && mkdir("/up/root/u/data", 0777) == 0)
        (void)chmod("/up/root/u/data", 0777);
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        (void)mkdir(dirs[i], 0755);
    write_slot_facts(c, "/up/root/u");
}

/* Names are looked up through the service, whatever the image says. */
static void write_resolver(int root)
{
    static const char text[] = "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n";

    (void)unlinkat(root, "etc/resolv.conf", 0);
    auto_close int fd =
        openat(root, "etc/resolv.conf", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd >= 0)
        (void)io_write_all(fd, text, sizeof text - 1);
}

/* The same for a root that may hold anything, and nothing of ours: what it has stays, and a link in
 * the place of a directory is not followed. */
static int furnish_root(const struct cell *c, struct err *e)
{
    static const struct {
        const char *name;
        mode_t mode;
        bool is_needed; /* something is mounted there */
    } dirs[] = {{"dev", 0755, true},   {"proc", 0755, true}, {"data", 0777, false},
                {"tmp", 01777, false}, {"etc", 0755, false}, {"run", 0755, false}};
    auto_close int root = io_open("/new", O_RDONLY | O_DIRECTORY, 0);
    bool has_all = root >= 0;

    for (size_t i = 0; root >= 0 && i < ARRAY_LEN(dirs); i++) {
        struct stat st;
        if (mkdirat(root, dirs[i].name, dirs[i].mode) == 0)
            (void)fchmodat(root, dirs[i].name, dirs[i].mode, 0);
        bool is_dir =
            fstatat(root, dirs[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
        if (!is_dir && dirs[i].is_needed)
            return err_set(e, -ENOTDIR, "/%s of the image is not a directory", dirs[i].name);
        has_all = has_all && is_dir;
    }
    if (has_all) {
        write_slot_facts(c, "/new");
        write_resolver(root);
    }
    return root < 0 ? err_sys(e, root, "open the root") : 0;
}

static int mount_root(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    char lower[PROTO_LAYERS_MAX * 2] = "";
    bool has_usr = c->tmpl->spec.has_usr;
    uint32_t n = c->n_layers - (has_usr ? 1U : 0U);
    size_t len = 0;

    if (has_usr)
        furnish_upper(c);
    for (uint32_t i = 0; i < n; i++)
        len += (size_t)snprintf(lower + len, sizeof lower - len, "%s%c", i ? ":" : "",
                                layout_layer_name(i));
    int r = mount_overlay(c, lower, "root", "/new", e);
    return r < 0 || has_usr ? r : furnish_root(c, e);
}

/* What a template has of /usr lies over the host's. */
static int mount_usr(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    char lower[PROTO_LAYERS_USR_MAX * 6 + 2] = "";
    uint32_t last = c->n_layers - 1;
    size_t len = 0;

    if (!c->tmpl->spec.has_usr)
        return 0;
    for (uint32_t i = 0; i < last; i++) {
        char path[16];
        (void)snprintf(path, sizeof path, "/l/%c/usr", layout_layer_name(i));
        if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            len += (size_t)snprintf(lower + len, sizeof lower - len, "%s:", path + strlen("/l/"));
    }
    (void)snprintf(lower + len, sizeof lower - len, "%c", layout_layer_name(last));
    return mount_overlay(c, lower, "usr", "/new/usr", e);
}

static int mount_dev(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    char ptys[8], dev[PROTO_SLOT_NAME_MAX + 16];

    (void)snprintf(ptys, sizeof ptys, "%d", c->spawner->shares.ptys);
    (void)snprintf(dev, sizeof dev, "/give/%s/dev", c->name);
    int r = bind_to(dev, "/new/dev");
    if (r < 0)
        return err_sys(e, r, "/dev");
    /* `max` keeps one cell from taking all of the machine's. */
    const struct option options[] = {{"newinstance", NULL}, {"ptmxmode", "666"}, {"mode", "620"},
                                     {"gid", "5"},          {"max", ptys},       {NULL, NULL}};
    return mount_new("devpts", options, KERN_ATTR_NOSUID | KERN_ATTR_NOEXEC, "/new/dev/pts", e);
}

/* Shared memory comes out of the upper layer when that is memory anyway: every file system of its
 * own costs each control group of the machine a few bytes. */
static int mount_shm(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    char size[24];

    if (c->info.spec.disk.kind == DISK_TMPFS) {
        if (mkdir("/up/shm", 0700) < 0 || chmod("/up/shm", 01777) < 0)
            return err_sys(e, -errno, "create /dev/shm");
        int r = bind_to("/up/shm", "/new/dev/shm");
        return r < 0 ? err_sys(e, r, "/dev/shm") : 0;
    }
    /* Half of the memory, which is what a machine of that size would have; the engine keeps it so
     * when the limit changes. */
    uint64_t bytes = c->info.spec.limits.memory_bytes / 2;
    (void)snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
    const struct option options[] = {
        {"mode", "1777"}, {bytes > 0 ? "size" : NULL, size}, {NULL, NULL}};
    return mount_new("tmpfs", options, KERN_ATTR_NOSUID | KERN_ATTR_NODEV, "/new/dev/shm", e);
}

/* What a cell must not see or touch below /proc. Most is closed by its uids alone; this is the
 * second wall. Entries that this kernel does not have are skipped. */
static const struct {
    const char *path;
    bool is_dir;
} masks[] = {
    {"/new/proc/kcore", false},      {"/new/proc/keys", false},
    {"/new/proc/key-users", false},  {"/new/proc/kmsg", false},
    {"/new/proc/kallsyms", false},   {"/new/proc/kpagecount", false},
    {"/new/proc/kpageflags", false}, {"/new/proc/sysrq-trigger", false},
    {"/new/proc/timer_list", false}, {"/new/proc/vmallocinfo", false},
    {"/new/proc/acpi", true},        {"/new/proc/bus", true},
    {"/new/proc/driver", true},      {"/new/proc/fs", true},
    {"/new/proc/irq", true},         {"/new/proc/scsi", true},
};

static int mount_own_proc(void *ctx, struct err *e)
{
    static const struct option none = {NULL, NULL};
    struct kern_mount_attr read_only = {.set = KERN_ATTR_RDONLY};
    unsigned attrs = KERN_ATTR_NOSUID | KERN_ATTR_NODEV | KERN_ATTR_NOEXEC;
    struct cell *c = ctx;
    char empty[PROTO_SLOT_NAME_MAX + 16];

    (void)snprintf(empty, sizeof empty, "/give/%s/empty", c->name);
    int r = mount_new("proc", &none, attrs, "/new/proc", e);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
        r = bind_to(masks[i].is_dir ? empty : "/t/mask/file", masks[i].path);
        if (r < 0 && r != -ENOENT)
            return err_sys(e, r, "mask '%s'", masks[i].path + strlen("/new"));
    }
    auto_close int fd = kern_open_tree(AT_FDCWD, "/new/proc/sys", KERN_TREE_CLONE);
    r = fd < 0 ? fd : kern_mount_setattr(fd, "", KERN_EMPTY_PATH, &read_only);
    if (r == 0)
        r = kern_attach(fd, AT_FDCWD, "/new/proc/sys");
    return r < 0 ? err_sys(e, r, "/proc/sys") : 0;
}

static int pivot_into_slot(void *ctx, struct err *e)
{
    (void)ctx;
    if (chdir("/new") < 0)
        return err_sys(e, -errno, "enter new root");
    int r = kern_pivot_root(".", ".");
    if (r == 0)
        r = oldroot_leave();
    if (r == 0 && chdir("/") < 0)
        r = -errno;
    return r < 0 ? err_sys(e, r, "pivot_root") : 0;
}

/* ---- last things ---- */

static int set_hostname(void *ctx, struct err *e)
{
    int r = hostname_set(hostname_of(ctx));

    return r < 0 ? err_sys(e, r, "hostname") : 0;
}

/* Descriptors 0, 1 and 2 become the cell's own /dev/null, 3 the listener, 4 the process's score for
 * the OOM killer, 5 the report; every other one belongs to the spawner and goes. */
enum { FD_LISTEN = 3, FD_SCORE, FD_PIDS, FD_REPORT, FD_HIGH = 16 };

static int arrange_descriptors(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    int listener = fcntl(c->listen_fd, F_DUPFD_CLOEXEC, FD_HIGH);
    int report = fcntl(c->peer_fd, F_DUPFD_CLOEXEC, FD_HIGH);
    int score = fcntl(c->score_fd, F_DUPFD_CLOEXEC, FD_HIGH);
    int pids = fcntl(c->pids_fd, F_DUPFD_CLOEXEC, FD_HIGH);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (listener < 0 || report < 0 || score < 0 || null < 0)
        return err_sys(e, -errno, "descriptors");
    for (int fd = 0; fd <= 2; fd++)
        if (null != fd && dup2(null, fd) < 0)
            return err_sys(e, -errno, "descriptors");
    if (dup3(listener, FD_LISTEN, O_CLOEXEC) < 0 || dup3(score, FD_SCORE, O_CLOEXEC) < 0 ||
        dup3(pids < 0 ? null : pids, FD_PIDS, O_CLOEXEC) < 0 ||
        dup3(report, FD_REPORT, O_CLOEXEC) < 0)
        return err_sys(e, -errno, "descriptors");
    c->peer_fd = FD_REPORT;
    int r = kern_close_range(FD_REPORT + 1, ~0U);
    return r < 0 ? err_sys(e, r, "close descriptors") : 0;
}

static int confine_step(void *ctx, struct err *e)
{
    return confine(ctx, e);
}

static const struct step steps[] = {
    {"wait", wait_for_go, NULL},
    {"control groups", enter_groups, NULL},
    {"time", view_enter_time, NULL},
    {"identity", become_root, NULL},
    {"upper layer", attach_upper, NULL},
    {"lower layers", attach_slot_layers, NULL},
    {"root", mount_root, NULL},
    {"/usr", mount_usr, NULL},
    {"/dev", mount_dev, NULL},
    {"/dev/shm", mount_shm, NULL},
    {"/proc", mount_own_proc, NULL},
    {"views", view_mount, NULL},
    {"new root", pivot_into_slot, NULL},
    {"hostname", set_hostname, NULL},
    {"descriptors", arrange_descriptors, NULL},
    {"confinement", confine_step, NULL},
};

void inside_main(struct cell *c)
{
    struct err e = ERR_INIT;
    int r = step_run(steps, ARRAY_LEN(steps), c, &e);

    /* Without a listener for the report the spawner is dead, and so is the cell. */
    if (send(c->peer_fd, &e, sizeof e, MSG_NOSIGNAL) < 0 || r < 0)
        _exit(1);
    (void)close(c->peer_fd);
    launch_keep_score(FD_SCORE);
    launch_keep_pids(FD_PIDS);
    init_main(FD_LISTEN, &c->info);
}
