/* SPDX-License-Identifier: MIT */
/* The spawner's side of the views: see view.h. */
#include "envd/view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/cleanup.h"
#include "envd/spawner.h"
#include "runtime/kern.h"
#include "runtime/step.h"
#include "sys/io.h"

enum { RESTART_MS = 500, VIEWER_NICE = 5 };

#define CPUSET_DIR "/sys/fs/cgroup/cpuset"

/* ---- what is needed of the host ---- */

void view_take_along(struct view *v, const struct cgroup *g)
{
    v->cgroup = g;
    for (size_t i = 0; i < g->n_trees; i++)
        v->group_fds[i] = kern_open_tree(g->trees[i].fd, "", KERN_TREE_CLONE | KERN_EMPTY_PATH);
    struct statfs fs;
    bool has_cpusets = g->version == CGROUP_V1 && statfs(CPUSET_DIR, &fs) == 0 &&
                       (uint64_t)fs.f_type == CGROUP_SUPER_MAGIC;
    v->cpuset_fd = has_cpusets ? kern_open_tree(AT_FDCWD, CPUSET_DIR, KERN_TREE_CLONE) : -ENOENT;
}

/* ---- mounts ---- */

static const struct kern_mount_attr locked = {
    .set = KERN_ATTR_RDONLY | KERN_ATTR_NOSUID | KERN_ATTR_NODEV | KERN_ATTR_NOEXEC,
    .propagation = KERN_PROPAGATION_PRIVATE,
};

static int mount_files(void *ctx, struct err *e)
{
    struct view *v = ctx;

    if (mkdir("/view", 0755) < 0 || mkdir("/look", 0755) < 0 || mkdir("/groups", 0755) < 0)
        return err_sys(e, -errno, "create directories");
    if (mount("tidepool", "/view", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "mode=755,size=512m,nr_inodes=0") < 0)
        return err_sys(e, -errno, "mount");
    v->dir_fd = io_open("/view", O_PATH | O_DIRECTORY, 0);
    return v->dir_fd < 0 ? err_sys(e, v->dir_fd, "open") : 0;
}

/* Cells bind from here, and a bind is as read-only as what it is made from. */
static int mount_look(void *ctx, struct err *e)
{
    auto_close int fd = kern_open_tree(AT_FDCWD, "/view", KERN_TREE_CLONE);
    int r = fd < 0 ? fd : kern_mount_setattr(fd, "", KERN_EMPTY_PATH, &locked);

    (void)ctx;
    if (r == 0)
        r = kern_attach(fd, AT_FDCWD, "/look");
    return r < 0 ? err_sys(e, r, "mount read-only") : 0;
}

static void attach_group(int fd, const char *path)
{
    if (fd < 0)
        return;
    if (kern_mount_setattr(fd, "", KERN_EMPTY_PATH, &locked) == 0 && mkdir(path, 0755) == 0)
        (void)kern_attach(fd, AT_FDCWD, path);
    (void)close(fd);
}

/* Cells can do without: then programs that ask the control groups find no limit there. */
static int mount_groups(void *ctx, struct err *e)
{
    struct view *v = ctx;

    (void)e;
    for (size_t i = 0; i < v->cgroup->n_trees; i++) {
        char path[24];
        (void)snprintf(path, sizeof path, "/groups/%zu", i);
        attach_group(v->group_fds[i], path);
    }
    attach_group(v->cpuset_fd, "/groups/cpuset");
    return 0;
}

static int make_common(void *ctx, struct err *e)
{
    return view_tree_common(ctx, e);
}

static int share_table(void *ctx, struct err *e)
{
    struct view *v = ctx;
    size_t size = sizeof *v->shared + SPAWNER_SLOTS * sizeof v->shared->slots[0];
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return err_sys(e, -errno, "table");
    v->shared = p;
    /* Cells are forks, too, and none of them has any business here. */
    (void)madvise(p, size, MADV_DONTFORK);
    return 0;
}

/* ---- the viewer ---- */

static void advise(struct view *v, int advice)
{
    (void)madvise(v->shared, sizeof *v->shared + SPAWNER_SLOTS * sizeof v->shared->slots[0],
                  advice);
}

static void viewer_child(struct spawner *s)
{
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_NAME, "tidepool-viewer");
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setpriority(PRIO_PROCESS, 0, VIEWER_NICE);
    viewer_main(&s->view);
    _exit(1);
}

static void start_viewer(struct spawner *s)
{
    struct view *v = &s->view;

    advise(v, MADV_DOFORK);
    v->viewer_pid = fork();
    if (v->viewer_pid == 0)
        viewer_child(s);
    advise(v, MADV_DONTFORK);
}

static void on_restart(struct loop_timer *t)
{
    start_viewer(container_of(t, struct spawner, view.restart));
}

void view_child_ended(struct spawner *s)
{
    struct view *v = &s->view;

    if (v->viewer_pid <= 0 || waitpid(v->viewer_pid, NULL, WNOHANG) != v->viewer_pid)
        return;
    v->viewer_pid = 0;
    if (!s->is_quitting)
        (void)loop_timer_start(s->loop, &v->restart, RESTART_MS, on_restart);
}

void view_close(struct spawner *s)
{
    struct view *v = &s->view;

    loop_timer_stop(&v->restart);
    if (v->viewer_pid <= 0)
        return;
    (void)kill(v->viewer_pid, SIGKILL);
    while (waitpid(v->viewer_pid, NULL, 0) < 0 && errno == EINTR)
        ;
    v->viewer_pid = 0;
}

int view_open(struct spawner *s, struct err *e)
{
    static const struct step steps[] = {
        {"mount", mount_files, NULL},           {"mount again", mount_look, NULL},
        {"control groups", mount_groups, NULL}, {"common files", make_common, NULL},
        {"table", share_table, NULL},
    };
    struct view *v = &s->view;

    v->dir_fd = -1;
    int r = step_run(steps, ARRAY_LEN(steps), v, e);
    if (r < 0)
        return err_ctx(e, r, "views");
    v->has_time_ns = access("/proc/self/ns/time_for_children", F_OK) == 0;
    v->is_live = viewer_can();
    if (v->is_live)
        start_viewer(s);
    return 0;
}

/* ---- slots and cells ---- */

int64_t view_now_us(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int view_add_slot(struct cell *c, struct err *e)
{
    struct view *v = &c->spawner->view;
    int r = view_tree_slot(v, c->name, &v->shared->slots[c->info.slot], e);

    if (r == 0)
        atomic_store_explicit(&v->shared->n_slots, c->info.slot + 1, memory_order_release);
    return r;
}

/* Without a viewer: everything, now. */
static void refresh_all(struct cell *c)
{
    static const struct view_memory_of_cell fresh;
    struct view_memory_of_cell m = fresh;

    for (size_t i = 0; i < VIEW_KINDS; i++)
        view_refresh(&c->spawner->view, c->info.slot, (enum view_kind)i, &m);
}

void view_start(struct cell *c)
{
    struct view *v = &c->spawner->view;
    struct view_slot *s = &v->shared->slots[c->info.slot];

    s->boot_us = c->boot_us;
    s->pid = (int32_t)c->info.pid;
    atomic_store_explicit(&s->generation, c->info.generation, memory_order_release);
    (void)view_tree_boot_id(v, c->name);
    view_changed(c);
}

void view_changed(struct cell *c)
{
    if (!c->spawner->view.is_live)
        refresh_all(c);
}
