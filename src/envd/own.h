/* SPDX-License-Identifier: MIT */
/* What each slot has of its own below /own, for its cells to bind:
 *
 *     /own/SLOT/dev     device nodes, links, and places for /dev/pts and /dev/shm
 *     /own/SLOT/empty   an empty directory, laid over what cells must not see
 *
 * All cells could share one of each, and would then share the locks on it and see in inotify what
 * others do with it. Made once for a slot: a cell leaves nothing on what it can only read, and its
 * locks and watches end with its processes. */
#pragma once

#include "base/err.h"

struct cell;

/* A step of world_enter(): mounts /own, and read-only again /give. */
int own_open(void *ctx, struct err *e);
/* Makes that of a new slot, for its cells to bind from /give/SLOT. */
int own_add_slot(const struct cell *c, struct err *e);
