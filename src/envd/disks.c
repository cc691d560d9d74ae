/* SPDX-License-Identifier: MIT */
/* Disk images, of which making and removing takes longer than all the rest of a cell: a loop device
 * and a mount. So some are made ahead of demand (which sizes are wanted is learned from what is
 * asked for), and a disk that its cell has hardly written to is emptied for the next one. No file,
 * name or attribute of the cell before is left then, and what was in its blocks cannot be read
 * through a file system. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/spawner.h"

static void drop_image(struct spawner *s, const struct disk_image *image)
{
    (void)close(image->file);
    sweep_disk(s, image->fd);
}

static void stock_drop(struct spawner *s, struct disk_stock *d)
{
    while (d->n > 0)
        drop_image(s, &d->images[--d->n]);
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

int disks_take(struct spawner *s, uint64_t bytes, struct disk_image *ret, struct err *e)
{
    struct disk_stock *d = stock_of(s, bytes);

    if (d->n == 0)
        return disk_mount_image(&s->dirs, bytes, ret, e);
    *ret = d->images[--d->n];
    return 0;
}

/* ---- used ones ---- */

/* What is worth being removed piece by piece, while the spawner does nothing else. Without a
 * journal ext4 does not use inodes again that were removed in the last minutes, and looks at each
 * of them whenever it needs one: after this number of uses a new disk is cheaper. */
enum { FILES_MAX = 200, USED_MAX = 8 << 20, TAKEN_MAX = 32 << 20, USES_MAX = 16 };

static bool is_little(const struct disk_image *image)
{
    struct statvfs inside;
    struct stat outside;

    return fstatvfs(image->fd, &inside) == 0 && inside.f_files - inside.f_ffree <= FILES_MAX &&
           (inside.f_blocks - inside.f_bfree) * inside.f_frsize <= USED_MAX &&
           fstat(image->file, &outside) == 0 && outside.st_blocks * 512 <= TAKEN_MAX;
}

/* All that a cell, or an overlay for it, has made. */
static bool empty(int fd)
{
    return sweep_below(fd, "root/u") && sweep_below(fd, "root/w/work") &&
           sweep_below(fd, "usr/u") && sweep_below(fd, "usr/w/work");
}

void disks_give_back(struct spawner *s, uint64_t bytes, struct disk_image image)
{
    struct disk_stock *d = stock_of(s, bytes);

    if (d->n < SPAWNER_DISKS_KEPT && ++image.n_uses < USES_MAX && is_little(&image) &&
        disk_mount_again(&s->dirs, &image) == 0 && empty(image.fd))
        d->images[d->n++] = image;
    else
        drop_image(s, &image);
}

/* ---- new ones ---- */

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
        if (d->n > SPAWNER_DISKS_AHEAD) {
            drop_image(s, &d->images[--d->n]);
            return true;
        }
        int r = disk_mount_image(&s->dirs, d->bytes, &d->images[d->n], NULL);
        if (r == -ENOENT) {
            /* Nobody has disks of this size any more: their image was removed. */
            stock_drop(s, d);
            continue;
        }
        if (r < 0)
            return false;
        touch(d->images[d->n++].fd);
        return true;
    }
    return false;
}
