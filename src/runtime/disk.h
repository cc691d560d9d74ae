/* SPDX-License-Identifier: MIT */
/* Where a cell's own files go (the upper layer) and what bounds them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum disk_kind {
    DISK_DIR,   /* a directory of the state directory: nothing bounds it */
    DISK_TMPFS, /* memory of the cell, with a size */
    DISK_IMAGE, /* a sparse ext4 image on a loop device, with a size */
    DISK_COUNT
};

struct disk_spec {
    uint32_t kind;
    uint64_t bytes; /* 0: no limit (DISK_DIR only) */
};

enum { DISK_MIN_BYTES = 16 << 20 };

/* Sizes that disks have: every size costs an image and disks made ahead, so there are few. The
 * least of them that has BYTES, or 0 when that is more than the largest. */
uint64_t disk_round(uint64_t bytes);

/* True when this host can keep a cell to S; else E says why not. Unbounded directories are always
 * possible; a limit on one is refused, since nothing here would enforce it. STATE is the state
 * directory. */
bool disk_can(const struct disk_spec *s, const char *state, struct err *e);

/* Makes sure that an empty image of this size is in STATE/cells/.images; runs mkfs.ext4 the first
 * time, and waits for it. */
int disk_prepare(const struct disk_spec *s, const char *state, struct err *e);
/* Removes all images from there but those of the N sizes in KEEP, and what was left half made. Not
 * while another thread makes one. */
void disk_sweep(const char *state, const uint64_t *keep, size_t n);

/* The spawner's side. CELLS is the cells directory, IMAGES the one that has the empty images, which
 * spawners of one build share, DEV the host's /dev, OWNER a name that shows at the loop devices. */
struct disk_dirs {
    int cells, images, dev;
    const char *owner;
};
/* A mounted image. */
struct disk_image {
    int fd;   /* a mount that is attached nowhere, or was; -1: none */
    int file; /* the image itself */
    int loop; /* the number of its device */
    unsigned n_uses;
};
/* Copies the empty image and mounts the copy, which has no name: file and loop device go with the
 * last use of the mount, whoever dies. */
int disk_mount_image(const struct disk_dirs *d, uint64_t bytes, struct disk_image *ret,
                     struct err *e);
/* Mounts the file system of IMAGE once more in place of the first mount, which a cell had, and
 * which cannot be attached anywhere again. */
int disk_mount_again(const struct disk_dirs *d, struct disk_image *image);

/* ---- for volumes (runtime/volume.h) ---- */

/* Runs mkfs.ext4 with these arguments, NULL-terminated, and waits: 0, -EIO when it fails. */
int disk_run_mkfs(const char *const *argv);
/* Opens the loop device NR: descriptor or -errno. */
int disk_open_loop(const struct disk_dirs *d, int nr);
/* A free loop device with FILE behind it, which frees itself with its last user; its number in
 * *RET_NR. Descriptor or -errno. */
int disk_attach_loop(const struct disk_dirs *d, int file, int *ret_nr);
/* Mounts the ext4 at the loop device NR with these options, NULL-terminated, attached nowhere.
 * Descriptor or -errno. */
int disk_mount_loop(const struct disk_dirs *d, int loop, const char *const *flags);
/* Has the file system at the loop device NR read its maps of free blocks, where the kernel needs
 * that. */
void disk_load_maps(int loop);
