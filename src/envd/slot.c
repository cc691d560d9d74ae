/* SPDX-License-Identifier: MIT */
/* Slots: a number, a directory and group name, and a range of 64k host uids that no other living
 * cell on this machine has. Slots are reused, never freed; a range stays with its slot.
 *
 * Ranges are shared out among all spawners of the machine by record locks on one file, which the
 * kernel drops when a spawner dies and which cells, being forks, do not inherit. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "envd/own.h"
#include "envd/spawner.h"
#include "runtime/kern.h"
#include "sys/io.h"

static int lock_range(struct spawner *s, uint32_t *ret_range)
{
    while (s->next_uid_range < SPAWNER_SLOTS) {
        struct flock lock = {.l_type = F_WRLCK,
                             .l_whence = SEEK_SET,
                             .l_start = (off_t)s->next_uid_range,
                             .l_len = 1};
        uint32_t range = s->next_uid_range++;
        if (fcntl(s->uid_lock_fd, F_SETLK, &lock) == 0) {
            *ret_range = range;
            return 0;
        }
        if (errno != EAGAIN && errno != EACCES)
            return -errno;
    }
    return -EUSERS;
}

static int write_slot_map(pid_t pid, const char *file, uint32_t base)
{
    char path[48], line[48];

    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int len = snprintf(line, sizeof line, "0 %u %u\n", base, (unsigned)SPAWNER_UID_RANGE);
    auto_close int fd = io_open(path, O_WRONLY, 0);
    return fd < 0 ? fd : io_write_all(fd, line, (size_t)len);
}

int slot_write_maps(pid_t pid, uint32_t base)
{
    int r = write_slot_map(pid, "uid_map", base);

    return r < 0 ? r : write_slot_map(pid, "gid_map", base);
}

/* Not the library's, which would look for threads. The kernel takes whoever changes its uid for one
 * with something to hide, and closes its files below /proc, also to the child. */
static int change_euid(uint32_t uid)
{
    if (syscall(SYS_setresuid, -1, uid, -1) < 0)
        return -errno;
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? -errno : 0;
}

pid_t slot_clone(uint32_t base, struct kern_clone_args *args)
{
    int r = change_euid(base);

    if (r < 0)
        return r;
    pid_t pid = kern_clone3(args);
    if (pid != 0 && change_euid(0) < 0)
        _exit(1); /* nothing that it does next would be right */
    return pid;
}

/* A user namespace with this range, held by a descriptor only: a child is born in it, is given the
 * map, and dies. */
static int make_userns(uint32_t base)
{
    struct kern_clone_args args = {.flags = KERN_CLONE_NEWUSER, .exit_signal = SIGCHLD};
    char path[48];
    pid_t pid = slot_clone(base, &args);

    if (pid < 0)
        return pid;
    if (pid == 0)
        for (;;)
            (void)pause();
    int fd = slot_write_maps(pid, base);
    if (fd >= 0) {
        (void)snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
        fd = io_open(path, O_RDONLY, 0);
    }
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return fd;
}

static struct cell *slot_new(struct spawner *s, struct err *e)
{
    uint32_t range = 0;

    if (s->n_slots == SPAWNER_SLOTS) {
        (void)err_set(e, -ENOBUFS, "all %d slots are used", (int)SPAWNER_SLOTS);
        return NULL;
    }
    int r = lock_range(s, &range);
    if (r < 0) {
        (void)err_sys(e, r, "uid range");
        return NULL;
    }
    struct cell *c = mem_zalloc(1, sizeof *c);
    if (!c) {
        (void)err_sys(e, -ENOMEM, "slot");
        return NULL;
    }
    c->spawner = s;
    c->info.slot = s->n_slots;
    c->info.uid_base = SPAWNER_UID_FIRST + range * SPAWNER_UID_RANGE;
    proto_slot_name(c->name, c->info.slot);
    c->userns_fd = make_userns(c->info.uid_base);
    if (c->userns_fd < 0) {
        (void)err_sys(e, c->userns_fd, "user namespace");
        free(c);
        return NULL;
    }
    if (own_add_slot(c, e) < 0 || view_add_slot(c, e) < 0) {
        (void)close(c->userns_fd);
        free(c);
        return NULL;
    }
    s->slots[s->n_slots++] = c;
    return c;
}

struct cell *slot_add(struct spawner *s, struct err *e)
{
    struct cell *c = slot_new(s, e);

    if (!c)
        return NULL;
    c->netns_fd = c->pidfd = c->listen_fd = c->sync_fd = c->upper.fd = c->peer_fd = -1;
    s->free_slots[s->n_free++] = c->info.slot;
    return c;
}

/* Descriptors of the cell before are closed and -1, those made ahead are not. */
struct cell *slot_take(struct spawner *s, struct err *e)
{
    if (s->n_free == 0 && !slot_add(s, e))
        return NULL;
    struct cell *c = s->slots[s->free_slots[--s->n_free]];
    c->n_retries = 0;
    c->wait_status = 0;
    s->n_used++;
    return c;
}

void slot_give_back(struct cell *c)
{
    struct spawner *s = c->spawner;

    c->state = CELL_FREE;
    s->free_slots[s->n_free++] = c->info.slot;
    s->n_used--;
}

struct cell *slot_find(const struct spawner *s, uint32_t slot, uint64_t generation)
{
    if (slot >= s->n_slots || s->slots[slot]->state == CELL_FREE)
        return NULL;
    return s->slots[slot]->info.generation == generation ? s->slots[slot] : NULL;
}
