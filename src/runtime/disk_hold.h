/* SPDX-License-Identifier: MIT */
/* Keeps disks of cells from growing when the file system below them has no room for it.
 *
 * A disk is a sparse file: what a cell writes has to find room on the host when the kernel writes
 * it back, long after the cell got its success, and nobody is left to report the loss to
 * then. So the file system inside the disk has to say no before. ext4 has a number for blocks
 * that nobody may have (/sys/fs/ext4/DEVICE/reserved_clusters): with all of them held back a write
 * that needs a new block ends with ENOSPC at once; what was accepted before still gets its blocks,
 * files that have theirs can be read, written again and removed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Does so with all disks whose loop devices have a name of OWNER's spawners ("OWNER-…", see struct
 * disk_dirs), or lets them grow again. How many there are, or -errno with E filled when one of them
 * could not be determined. May take some milliseconds for thousands of them. */
int disk_hold(const char *owner, bool is_held, struct err *e);

/* Bytes that were written in those disks and have no blocks on the host yet: what has none in its
 * disk either, and what the kernel is just writing, wherever that goes. */
uint64_t disk_delayed(const char *owner);
