/* SPDX-License-Identifier: MIT */
/* See own.h. */
#include "envd/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/cell.h"
#include "runtime/kern.h"
#include "sys/io.h"

/* Cells bind from /give, and a bind is as read-only as what it is made from. */
int own_open(void *ctx, struct err *e)
{
    static const struct kern_mount_attr read_only = {.set = KERN_ATTR_RDONLY | KERN_ATTR_NOSUID |
                                                            KERN_ATTR_NOEXEC,
                                                     .propagation = KERN_PROPAGATION_PRIVATE};

    (void)ctx;
    if (mount("tidepool", "own", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=1m,nr_inodes=0") <
        0)
        return err_sys(e, -errno, "mount");
    auto_close int fd = kern_open_tree(AT_FDCWD, "own", KERN_TREE_CLONE);
    int r = fd < 0 ? fd : kern_mount_setattr(fd, "", KERN_EMPTY_PATH, &read_only);
    if (r == 0)
        r = kern_attach(fd, AT_FDCWD, "give");
    return r < 0 ? err_sys(e, r, "mount read-only") : 0;
}

static const char *const dirs[] = {"", "empty", "dev", "dev/pts", "dev/shm"};

static const struct {
    const char *name;
    unsigned major, minor;
} devices[] = {
    {"dev/null", 1, 3},   {"dev/zero", 1, 5},    {"dev/full", 1, 7},
    {"dev/random", 1, 8}, {"dev/urandom", 1, 9}, {"dev/tty", 5, 0},
};

static const struct {
    const char *name, *target;
} links[] = {
    {"dev/fd", "/proc/self/fd"},       {"dev/stdin", "/proc/self/fd/0"},
    {"dev/stdout", "/proc/self/fd/1"}, {"dev/stderr", "/proc/self/fd/2"},
    {"dev/ptmx", "pts/ptmx"},
};

enum { PATH_LEN = 48 };

/* PATH is there (R is 0) or not (negative errno); it belongs to the cell's root. */
static int hand_over_slot(const char *path, int r, uint32_t uid)
{
    if (r < 0 && errno != EEXIST)
        return -errno;
    return lchown(path, uid, uid) < 0 ? -errno : 0;
}

static int fill_owned_slot(const char *slot, uint32_t uid)
{
    char path[PATH_LEN];
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(dirs); i++) {
        (void)snprintf(path, sizeof path, "/own/%s/%s", slot, dirs[i]);
        r = hand_over_slot(path, mkdir(path, 0755), uid);
    }
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(devices); i++) {
        dev_t dev = makedev(devices[i].major, devices[i].minor);
        (void)snprintf(path, sizeof path, "/own/%s/%s", slot, devices[i].name);
        r = hand_over_slot(path, mknod(path, S_IFCHR | 0666, dev), uid);
    }
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(links); i++) {
        (void)snprintf(path, sizeof path, "/own/%s/%s", slot, links[i].name);
        r = hand_over_slot(path, symlink(links[i].target, path), uid);
    }
    return r;
}

int own_add_slot(const struct cell *c, struct err *e)
{
    mode_t mask = umask(0);
    int r = fill_owned_slot(c->name, c->info.uid_base);

    (void)umask(mask);
    return r < 0 ? err_sys(e, r, "devices of '%s'", c->name) : 0;
}
