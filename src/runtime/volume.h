/* SPDX-License-Identifier: MIT */
/* Volumes: file systems with a size of their own that outlive cells, and that several cells may
 * have mounted at once. One is the file PATH.img, an ext4 at a loop device while somebody uses it,
 * or where the host has no loop devices the directory PATH, which nothing bounds.
 *
 * Files keep the uids that they have inside cells (0 to 65535): a cell gets a mount that maps them
 * to its own. Everything here blocks: for worker threads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct volume_place {
    const char *path;  /* without ".img" */
    const char *owner; /* the engine's: the guard of the disk finds its loop devices by it */
    const char *id;    /* names the loop device, together with the owner; unique */
};

/* Makes an empty one: an image of BYTES, or a directory when that is 0. Everybody in cells may
 * write into its root. Nothing is left of one that fails. */
int volume_make(const struct volume_place *p, uint64_t bytes, struct err *e);
/* Removes its files, also while it is mounted. 0 also when it is not there. */
int volume_remove(const struct volume_place *p, struct err *e);

/* A mount of it that is attached nowhere: a descriptor to be used as a directory, or -errno with E
 * filled. One caller at a time, whatever the volume: two loop devices for one file would destroy
 * it. */
int volume_open(const struct volume_place *p, struct err *e);

/* Where a volume is attached: the namespaces of a cell, and an existing directory in it. */
struct volume_target {
    int user_ns, mount_ns;
    const char *path;
};
/* Attaches TREE, which volume_open() returned and which can be used for nothing else afterwards. */
int volume_attach(int tree, const struct volume_target *t, struct err *e);
