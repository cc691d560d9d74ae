/* SPDX-License-Identifier: MIT */
/* The host's side of a cell's life: a list of steps that prepare, fork and release it, and the same
 * list backwards when it ends.
 *
 *     FREE → STARTING → READY → ENDING → CLEANING → FREE
 *
 * STARTING ends with the report of the new process, ENDING when the kernel says that the first
 * process (and so every process of its pid namespace) is gone. */
#include "envd/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "envd/inside.h"
#include "envd/layout.h"
#include "envd/proc_launch.h"
#include "envd/spawner.h"
#include "runtime/kern.h"
#include "runtime/step.h"
#include "sys/io.h"

enum { START_MAX_MS = 10000, RETRY_MS = 2, RETRY_SLOW_MS = 1000, RETRIES_FAST = 100 };

#define OOM_SCORE LAUNCH_OOM_SCORE_FIRST

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* ---- steps ---- */

/* A new listener is a new generation: nobody who knows the socket of an earlier cell reaches it. */
static int make_cell_listener(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    char name[PROTO_SOCKET_NAME_MAX];

    c->info.generation = c->spawner->next_generation++;
    proto_socket_name(name, c->info.slot, c->info.generation);
    c->listen_fd = packet_listen_at(c->spawner->sock_fd, name, SOCK_STREAM);
    return c->listen_fd < 0 ? err_sys(e, c->listen_fd, "listen on '%s'", name) : 0;
}

static void undo_listener(void *ctx)
{
    struct cell *c = ctx;
    char name[PROTO_SOCKET_NAME_MAX];

    proto_socket_name(name, c->info.slot, c->info.generation);
    (void)unlinkat(c->spawner->sock_fd, name, 0);
    close_fd(&c->listen_fd);
}

static int make_group(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    int r = cgroup_make(&c->spawner->cgroup, c->name, &c->info.spec.limits, e);

    if (r < 0)
        return r;
    c->n_entries = cgroup_entries(&c->spawner->cgroup, c->name, c->entry_fds, e);
    if (c->n_entries >= 0)
        return 0;
    r = c->n_entries;
    c->n_entries = 0;
    (void)cgroup_unmake(&c->spawner->cgroup, c->name);
    return r;
}

static void close_entries(struct cell *c)
{
    while (c->n_entries > 0)
        (void)close(c->entry_fds[--c->n_entries]);
}

/* May be too early: the end of a cell tries again until the group is away. */
static void undo_group(void *ctx)
{
    struct cell *c = ctx;

    close_entries(c);
    (void)cgroup_unmake(&c->spawner->cgroup, c->name);
}

static int open_upper_dir(struct cell *c, struct err *e)
{
    char path[PROTO_SLOT_NAME_MAX + 16];

    (void)snprintf(path, sizeof path, "/cells/%s", c->name);
    if (mkdir(path, 0700) < 0)
        return err_sys(e, -errno, "create '%s'", path);
    /* Its parent stays closed to everybody, the home itself becomes the root of a cell. */
    (void)snprintf(path, sizeof path, "/cells/%s/data", c->name);
    if (mkdir(path, 0755) < 0)
        return err_sys(e, -errno, "create '%s'", path);
    int fd = kern_open_tree(AT_FDCWD, path, KERN_TREE_CLONE);
    return fd < 0 ? err_sys(e, fd, "clone '%s'", path) : fd;
}

/* The last user of an image unmounts it, which takes longer than the rest of a cell's end: it is
 * held here until then. */
static void undo_upper(void *ctx)
{
    struct cell *c = ctx;

    if (c->info.spec.disk.kind == DISK_IMAGE && c->upper.fd >= 0) {
        disks_give_back(c->spawner, c->info.spec.disk.bytes, c->upper);
        c->upper.fd = -1;
    }
    close_fd(&c->upper.fd);
    if (c->info.spec.disk.kind == DISK_DIR)
        sweep_slot(c->spawner, c->name);
}

static int make_upper(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    const struct disk_spec *disk = &c->info.spec.disk;

    if (disk->kind == DISK_TMPFS)
        return 0;
    int r = disk->kind == DISK_DIR ? c->upper.fd = open_upper_dir(c, e)
                                   : disks_take(c->spawner, disk->bytes, &c->upper, e);
    if (r >= 0) {
        r = layout_upper(c->upper.fd, c->info.uid_base, c->tmpl->spec.has_usr);
        if (r == 0)
            return 0;
        (void)err_sys(e, r, "prepare upper layer");
    }
    undo_upper(c);
    return r;
}

static void close_layers(void *ctx)
{
    struct cell *c = ctx;

    while (c->n_layers > 0)
        (void)close(c->layer_fds[--c->n_layers]);
}

/* A copy of every layer's mount that shows its files as owned by this cell's uids. */
static int clone_layers(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    struct kern_mount_attr attr = {.set = KERN_ATTR_IDMAP, .userns_fd = (uint64_t)c->userns_fd};

    for (uint32_t i = 0; i < c->tmpl->spec.n_layers; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "/tpl/%u.%u", c->tmpl->index, (unsigned)i);
        int fd = kern_open_tree(AT_FDCWD, path, KERN_TREE_CLONE);
        int r = fd;
        if (fd >= 0) {
            c->layer_fds[c->n_layers++] = fd;
            r = kern_mount_setattr(fd, "", KERN_EMPTY_PATH, &attr);
        }
        if (r < 0) {
            close_layers(c);
            return err_sys(e, r, "layer %u", (unsigned)i);
        }
    }
    return 0;
}

static int take_netns(void *ctx, struct err *e)
{
    struct cell *c = ctx;

    c->netns_fd = netns_take(c->spawner, e);
    return c->netns_fd < 0 ? c->netns_fd : 0;
}

/* That of a cell which lived is kept until the daemon knows of the end, and has let go of it. */
static void undo_netns(void *ctx)
{
    struct cell *c = ctx;

    if (c->state != CELL_CLEANING)
        close_fd(&c->netns_fd);
}

static int make_sync(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(e, -errno, "socketpair");
    c->sync_fd = pair[0];
    c->peer_fd = pair[1];
    return 0;
}

static void undo_sync(void *ctx)
{
    struct cell *c = ctx;

    loop_io_stop(&c->sync_io);
    close_fd(&c->sync_fd);
    close_fd(&c->peer_fd);
}

/* Born in the network namespace that the spawner enters for the moment of the fork; with version 2,
 * also in its control group. */
static int fork_cell(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    struct spawner *s = c->spawner;
    bool is_v2 = s->cgroup.version == CGROUP_V2;
    struct kern_clone_args args = {
        .flags = KERN_CLONE_NEWUSER | KERN_CLONE_NEWPID | KERN_CLONE_NEWNS | KERN_CLONE_NEWIPC |
                 KERN_CLONE_NEWUTS | KERN_CLONE_PIDFD,
        .pidfd = (uint64_t)(uintptr_t)&c->pidfd,
        .exit_signal = SIGCHLD,
    };

    if (is_v2) {
        args.flags |= KERN_CLONE_INTO_CGROUP | KERN_CLONE_NEWCGROUP;
        args.cgroup = (uint64_t)c->entry_fds[0];
    }
    if (setns(c->netns_fd, CLONE_NEWNET) < 0)
        return err_sys(e, -errno, "enter network namespace");
    pid_t pid = slot_clone(c->info.uid_base, &args);
    if (pid == 0)
        inside_main(c);
    if (setns(s->home_netns_fd, CLONE_NEWNET) < 0)
        _exit(1); /* in a cell's network for good: nothing that it does next would be right */
    if (pid < 0)
        return err_sys(e, pid, "clone3");
    c->info.pid = (uint32_t)pid;
    return 0;
}

/* Only for a build that fails after the fork; a living cell ends through end_process(). */
static void undo_fork(void *ctx)
{
    struct cell *c = ctx;

    if (c->pidfd < 0)
        return;
    loop_io_stop(&c->pid_io);
    if (c->info.pid > 0) {
        (void)kern_pidfd_kill(c->pidfd, SIGKILL);
        while (waitpid((pid_t)c->info.pid, NULL, __WALL) < 0 && errno == EINTR)
            ;
    }
    close_fd(&c->pidfd);
}

/* When the whole machine runs out of memory, cells go before the host's own programs, and in a cell
 * commands go before the first process (LAUNCH_OOM_SCORE). Written from here, where it becomes the
 * least that the cell may choose, too (with CAP_SYS_RESOURCE). */
static int set_oom_score(pid_t pid)
{
    char path[40];

    (void)snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    auto_close int fd = io_open(path, O_WRONLY, 0);
    return fd < 0 ? fd : io_write_all(fd, OOM_SCORE, sizeof OOM_SCORE - 1);
}

static int release_cell(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    int r = slot_write_maps((pid_t)c->info.pid, c->info.uid_base);

    if (r < 0)
        return err_sys(e, r, "uid map");
    view_start(c);
    r = set_oom_score((pid_t)c->info.pid);
    if (r < 0)
        return err_sys(e, r, "oom_score_adj");
    r = io_write_all(c->sync_fd, "g", 1);
    if (r < 0)
        return err_sys(e, r, "go");
    /* The new process holds its own copies now. */
    close_entries(c);
    close_layers(c);
    if (c->info.spec.disk.kind != DISK_IMAGE)
        close_fd(&c->upper.fd);
    close_fd(&c->listen_fd);
    close_fd(&c->peer_fd);
    return 0;
}

static void on_report(struct loop_io *io, uint32_t events);
static void on_exit_of_cell(struct loop_io *io, uint32_t events);
static void on_start_deadline(struct loop_timer *t);

static int watch_cell(void *ctx, struct err *e)
{
    struct cell *c = ctx;
    struct loop *l = c->spawner->loop;
    int r = loop_io_start(l, &c->pid_io, c->pidfd, EPOLLIN, on_exit_of_cell);

    if (r == 0)
        r = loop_io_start(l, &c->sync_io, c->sync_fd, EPOLLIN, on_report);
    if (r == 0)
        r = loop_timer_start(l, &c->timer, START_MAX_MS, on_start_deadline);
    return r < 0 ? err_sys(e, r, "watch") : 0;
}

static void undo_watch(void *ctx)
{
    struct cell *c = ctx;

    loop_timer_stop(&c->timer);
    loop_io_stop(&c->sync_io);
    loop_io_stop(&c->pid_io);
}

/* The first ones need to know nothing about the cell: they are done ahead when there is time. */
enum { N_AHEAD = 2 };

static const struct step steps[] = {
    {"control socket", make_cell_listener, undo_listener},
    {"control group", make_group, undo_group},
    {"upper layer", make_upper, undo_upper},
    {"lower layers", clone_layers, close_layers},
    {"network", take_netns, undo_netns},
    {"handshake", make_sync, undo_sync},
    {"fork", fork_cell, undo_fork},
    {"release", release_cell, NULL},
    {"watch", watch_cell, undo_watch},
};

/* ---- life ---- */

bool cell_prepare_one(struct spawner *s)
{
    while (s->n_slots < SPAWNER_SLOTS_AHEAD)
        if (!slot_add(s, NULL))
            return false;
    for (uint32_t i = 0; i < SPAWNER_SLOTS_AHEAD && i < s->n_free; i++) {
        struct cell *c = s->slots[s->free_slots[s->n_free - 1 - i]];
        if (c->n_ahead > 0)
            continue;
        c->info.spec = (struct cell_spec){0};
        if (step_run(steps, N_AHEAD, c, NULL) < 0)
            return false;
        c->n_ahead = N_AHEAD;
        return true;
    }
    return false;
}

void cell_unprepare_all(struct spawner *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++)
        step_undo(steps, take(s->slots[i]->n_ahead), s->slots[i]);
}

static void start_info(struct cell *c, const struct cell_spec *spec)
{
    c->info.created_us = clock_real_us();
    c->boot_us = view_now_us();
    c->info.is_ready = false;
    c->info.label[0] = '\0';
    c->info.pid = 0;
    c->info.spec = *spec;
}

/* All steps, or those that are left with the limits that were not known before. */
static int build_cell_parts(struct cell *c, struct err *e)
{
    static const struct cgroup_limits none;
    size_t n_done = take(c->n_ahead);
    int r = n_done ? cgroup_limit(&c->spawner->cgroup, c->name, &none, &c->info.spec.limits, e) : 0;

    if (r == 0)
        r = step_run(steps + n_done, ARRAY_LEN(steps) - n_done, c, e);
    if (r < 0)
        step_undo(steps, n_done, c);
    return r;
}

void cell_create(struct spawner *s, const struct cell_spec *spec, uint64_t client_id, uint32_t tag)
{
    struct cell nobody = {.spawner = s, .client_id = client_id, .tag = tag};
    struct err e = ERR_INIT;
    const struct spawner_template *tmpl = world_find_template(s, spec->template_name);

    if (!tmpl)
        (void)err_set(&e, -ENOENT, "no template '%s'", spec->template_name);
    struct cell *c = tmpl ? slot_take(s, &e) : NULL;
    if (!c) {
        spawner_reply_error(&nobody, &e);
        return;
    }
    c->client_id = client_id;
    c->tag = tag;
    c->tmpl = tmpl;
    start_info(c, spec);
    if (build_cell_parts(c, &e) == 0) {
        c->state = CELL_STARTING;
        return;
    }
    spawner_reply_error(c, &e);
    slot_give_back(c);
}

int cell_open_upper(const struct cell *c, struct err *e)
{
    char path[PROTO_SLOT_NAME_MAX + 16];
    int fd = -EOPNOTSUPP;

    if (c->info.spec.disk.kind == DISK_TMPFS)
        return err_set(e, fd,
                       "the disk of this sandbox is in its memory (cells.disk_kind=tmpfs), "
                       "where it cannot be read from outside");
    if (c->info.spec.disk.kind == DISK_IMAGE) {
        fd = openat(c->upper.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fd = fd < 0 ? -errno : fd;
    } else {
        (void)snprintf(path, sizeof path, "/cells/%s/data", c->name);
        fd = io_open(path, O_RDONLY | O_DIRECTORY, 0);
    }
    return fd < 0 ? err_sys(e, fd, "upper layer") : fd;
}

void cell_kill(struct cell *c)
{
    if (c->state != CELL_STARTING && c->state != CELL_READY)
        return;
    c->state = CELL_ENDING;
    (void)kern_pidfd_kill(c->pidfd, SIGKILL);
    cgroup_wake(&c->spawner->cgroup, c->name);
}

static void fail_cell_start(struct cell *c, const struct err *e)
{
    spawner_reply_error(c, e);
    cell_kill(c);
}

static void on_start_deadline(struct loop_timer *t)
{
    struct cell *c = container_of(t, struct cell, timer);
    struct err e = ERR_INIT;

    (void)err_set(&e, -ETIMEDOUT, "the cell did not start within %d ms", (int)START_MAX_MS);
    fail_cell_start(c, &e);
}

static void on_report(struct loop_io *io, uint32_t events)
{
    struct cell *c = container_of(io, struct cell, sync_io);
    struct err e = ERR_INIT;
    ssize_t n = recv(c->sync_fd, &e, sizeof e, MSG_DONTWAIT);

    (void)events;
    loop_timer_stop(&c->timer);
    loop_io_stop(&c->sync_io);
    close_fd(&c->sync_fd);
    if (c->state != CELL_STARTING)
        return;
    if (n != (ssize_t)sizeof e)
        (void)err_set(&e, -EIO, "the cell died while it was built");
    e.text[sizeof e.text - 1] = '\0';
    if (e.code < 0) {
        fail_cell_start(c, &e);
        return;
    }
    c->state = CELL_READY;
    c->info.is_ready = true;
    spawner_reply_cell(c);
}

static void on_cell_retry(struct loop_timer *t);

/* The second half of the end: everything but the group is away. */
static void finish_cell(struct cell *c)
{
    struct spawner *s = c->spawner;
    int r = cgroup_unmake(&s->cgroup, c->name);

    if (r < 0) {
        /* Its last process is dead but not yet out of the books, or something was put into the
         * group from outside, which has no business there. */
        if (c->n_retries++ > RETRIES_FAST)
            (void)cgroup_kill(&s->cgroup, c->name);
        int64_t delay = c->n_retries > RETRIES_FAST ? RETRY_SLOW_MS : RETRY_MS;
        if (loop_timer_start(s->loop, &c->timer, delay, on_cell_retry) == 0)
            return;
    }
    spawner_tell_gone(c);
    netns_give_back(s, take_fd(c->netns_fd));
    slot_give_back(c);
    spawner_work_ahead(s);
    if (s->is_quitting && s->n_used == 0)
        loop_stop(s->loop);
}

static void on_cell_retry(struct loop_timer *t)
{
    finish_cell(container_of(t, struct cell, timer));
}

static void on_exit_of_cell(struct loop_io *io, uint32_t events)
{
    struct cell *c = container_of(io, struct cell, pid_io);
    int status = 0;

    (void)events;
    pid_t pid = waitpid((pid_t)c->info.pid, &status, __WALL | WNOHANG);
    if (pid == 0 || (pid < 0 && errno == EINTR))
        return;
    if (c->state == CELL_STARTING) {
        struct err e = ERR_INIT;
        (void)err_set(&e, -EIO, "the cell died while it was built (status %d)", status);
        spawner_reply_error(c, &e);
    }
    c->wait_status = status;
    c->state = CELL_CLEANING;
    c->info.pid = 0; /* reaped: the number may be somebody else's from here on */
    step_undo(steps, ARRAY_LEN(steps), c);
    finish_cell(c);
}
