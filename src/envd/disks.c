/* SPDX-License-Identifier: MIT */
/* Disk images made ahead of demand: a loop device and a mount take longer than all the rest of a
 * cell. Which sizes are wanted is learned from what is asked for. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/spawner.h"

static void stock_drop(struct spawner *s, struct disk_stock *d)
{
    while (d->n > 0)
        sweep_disk(s, d->fds[--d->n]);
    d->bytes = 0;
}

/* The stock of this size, which comes first from now on. */
static struct disk_stock *stock_of(struct spawner *s, uint64_t bytes)
{
    size_t at = 0;

    while (at < SPAWNER_DISK_SIZES - 1 && s->disks[at].bytes != bytes)
        at++;
    struct disk_stock found = s->disks[at];
    if (found.bytes != bytes) {
        stock_drop(s, &found);
        found.bytes = bytes;
    }
    memmove(s->disks + 1, s->disks, at * sizeof *s->disks);
    s->disks[0] = found;
    return &s->disks[0];
}

int disks_take(struct spawner *s, uint64_t bytes, struct err *e)
{
    struct disk_stock *d = stock_of(s, bytes);

    return d->n > 0 ? d->fds[--d->n] : disk_mount_image(&s->dirs, bytes, e);
}

/* The first new directory has the file system read what the next ones find in memory. */
static void touch(int fd)
{
    if (mkdirat(fd, "root/w/x", 0700) == 0)
        (void)unlinkat(fd, "root/w/x", AT_REMOVEDIR);
}

bool disks_refill(struct spawner *s)
{
    for (size_t i = 0; i < SPAWNER_DISK_SIZES; i++) {
        struct disk_stock *d = &s->disks[i];
        if (d->bytes == 0 || d->n == SPAWNER_DISKS_AHEAD)
            continue;
        int fd = disk_mount_image(&s->dirs, d->bytes, NULL);
        if (fd < 0)
            return false;
        touch(fd);
        d->fds[d->n++] = fd;
        return true;
    }
    return false;
}
