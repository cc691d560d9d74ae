/* SPDX-License-Identifier: MIT */
/* Cleaning up: files of ended cells, which may be many, are renamed to `.trash` at once and deleted
 * by a child process, which also unmounts their disks; and what an earlier spawner left behind when
 * it was killed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "envd/spawner.h"
#include "runtime/kern.h"

enum { DEPTH_MAX = 100, SWEEP_ROUNDS = 500, ROUND_US = 2000, CLEAN_MS = 5 };

/* ---- deleting ---- */

/* Where deleting is: TRASH is the directory that the child empties, or -1. */
struct sweep_place {
    int trash, dir, depth;
};

static bool remove_sweep_entry(const struct sweep_place *at, const char *name);

/* Empties the directory behind AT->dir (which is closed); true when something could be removed. */
static bool remove_content(const struct sweep_place *at)
{
    DIR *dir = fdopendir(at->dir);
    bool has_removed = false;

    if (!dir) {
        (void)close(at->dir);
        return false;
    }
    for (struct dirent *d; (d = readdir(dir));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            has_removed |= remove_sweep_entry(at, d->d_name);
    (void)closedir(dir);
    return has_removed;
}

/* A hostile cell may nest deeper than we recurse: what is too deep moves up into the trash itself,
 * for the next round. */
static bool move_up(const struct sweep_place *at, const char *name)
{
    char unique[17];

    if (at->trash < 0)
        return false;
    id_hex(unique, sizeof unique - 1);
    return renameat(at->dir, name, at->trash, unique) == 0;
}

static bool remove_sweep_entry(const struct sweep_place *at, const char *name)
{
    if (unlinkat(at->dir, name, 0) == 0)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    if (at->depth == DEPTH_MAX)
        return move_up(at, name);
    struct sweep_place below = {.trash = at->trash, .depth = at->depth + 1};
    below.dir = openat(at->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below.dir < 0)
        return false;
    (void)remove_content(&below);
    return unlinkat(at->dir, name, AT_REMOVEDIR) == 0;
}

bool sweep_below(int dir, const char *name)
{
    struct sweep_place at = {.trash = -1, .dir = dir, .depth = 0};

    return remove_sweep_entry(&at, name) || errno == ENOENT;
}

/* Rounds until nothing is left or nothing goes away any more. */
static void clean_trash(const struct spawner *s)
{
    auto_close int trash = openat(s->dirs.cells, ".trash", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool has_removed = trash >= 0;

    while (has_removed) {
        struct sweep_place top = {.trash = trash, .depth = 0};
        top.dir = openat(trash, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        has_removed = top.dir >= 0 && remove_content(&top);
    }
}

/* GO ends when the spawner has closed the disks: now this process is the last to do so. Whatever
 * else it has inherited it must not keep alive while it deletes. */
static _Noreturn void cleaner_main(const struct spawner *s, int go)
{
    char end;
    unsigned cells = (unsigned)s->dirs.cells;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)read(go, &end, 1);
    (void)kern_close_range(0, cells - 1);
    (void)kern_close_range(cells + 1, ~0U);
    clean_trash(s);
    _exit(0);
}

static void close_disks(struct spawner *s)
{
    while (s->n_used_disks > 0)
        (void)close(s->used_disks[--s->n_used_disks]);
}

static void start_cleaner(struct spawner *s)
{
    int go[2];

    if (s->cleaner_pid > 0)
        return; /* it is asked again when it ends */
    if (pipe2(go, O_CLOEXEC) < 0) {
        close_disks(s);
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(go[1]);
        cleaner_main(s, go[0]);
    }
    if (pid > 0)
        s->cleaner_pid = pid;
    close_disks(s);
    (void)close(go[0]);
    (void)close(go[1]);
}

static void on_clean(struct loop_timer *t)
{
    start_cleaner(container_of(t, struct spawner, clean));
}

/* A little later: what ends at about the same time shares one child. */
static void clean_soon(struct spawner *s)
{
    if (s->cleaner_pid == 0 && !s->clean.loop)
        (void)loop_timer_start(s->loop, &s->clean, CLEAN_MS, on_clean);
}

static bool has_trash(const struct spawner *s)
{
    struct stat st;

    /* A directory without subdirectories has two links (on the file systems that count). */
    return fstatat(s->dirs.cells, ".trash", &st, 0) == 0 && st.st_nlink != 2;
}

void sweep_cleaner_ended(struct spawner *s)
{
    s->cleaner_pid = 0;
    if (s->n_used_disks > 0 || has_trash(s))
        clean_soon(s);
}

void sweep_trash(struct spawner *s)
{
    if (has_trash(s))
        clean_soon(s);
}

void sweep_disk(struct spawner *s, int fd)
{
    if (s->n_used_disks == SPAWNER_DISKS_USED)
        close_disks(s);
    s->used_disks[s->n_used_disks++] = fd;
    clean_soon(s);
}

void sweep_slot(struct spawner *s, const char *slot)
{
    char to[64], unique[17];

    id_hex(unique, sizeof unique - 1);
    (void)snprintf(to, sizeof to, ".trash/%s", unique);
    if (renameat(s->dirs.cells, slot, s->dirs.cells, to) == 0)
        clean_soon(s);
}

/* ---- leftovers ---- */

/* "s" and digits. */
static bool is_slot(const char *name)
{
    return name[0] == 's' && name[1] != '\0' && strspn(name + 1, "0123456789") == strlen(name + 1);
}

static void kill_leftover(const char *name, void *ctx)
{
    struct spawner *s = ctx;

    if (is_slot(name))
        (void)cgroup_kill(&s->cgroup, name);
}

struct leftover {
    struct spawner *s;
    unsigned n;
};

static void remove_leftover(const char *name, void *ctx)
{
    struct leftover *l = ctx;

    if (is_slot(name) && cgroup_unmake(&l->s->cgroup, name) < 0)
        l->n++;
}

static void sweep_groups(struct spawner *s)
{
    for (int i = 0; i < SWEEP_ROUNDS; i++) {
        struct leftover l = {.s = s};
        cgroup_each(&s->cgroup, kill_leftover, s);
        cgroup_each(&s->cgroup, remove_leftover, &l);
        if (l.n == 0)
            return;
        (void)nanosleep(&(struct timespec){.tv_nsec = ROUND_US * 1000}, NULL);
    }
}

static void sweep_directories(struct spawner *s)
{
    int fd = openat(s->dirs.cells, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));)
        if (is_slot(d->d_name))
            sweep_slot(s, d->d_name);
    (void)closedir(dir);
    sweep_trash(s);
}

void sweep_leftovers(struct spawner *s)
{
    sweep_groups(s);
    sweep_directories(s);
}
