/* SPDX-License-Identifier: MIT */
/* Looks after the free space of the state directory's file system, which the disks of sandboxes
 * have been promised more of than there is. When little more is left than a reserve, nothing new is
 * made any more, and disks do not grow (runtime/disk_hold.h): their writers get ENOSPC, instead of
 * data that is lost when the kernel writes it back. Ends and deletes go on.
 *
 * What counts as left is the free space without what was written in disks and has no blocks yet.
 * The next look comes before the fastest writer could have used up what lies above the reserve. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct core;
struct disk_guard;

/* Looks for the first time, and waits for that; sandboxes are open already. 0, or -errno with E
 * filled; *RET is to be freed either way. */
int disk_guard_new(struct core *c, struct disk_guard **ret, struct err *e);
void disk_guard_free(struct disk_guard *g);

/* 0, or -ENOSPC with E filled while nothing may be made; counts the refusal. G may be NULL. */
int disk_guard_check(struct disk_guard *g, struct err *e);
/* Sets its metrics. */
void disk_guard_sample(const struct disk_guard *g);
