/* SPDX-License-Identifier: MIT */
/* Memory of a cell that outlives its processes: files of /dev/shm, and shared memory, queues and
 * semaphores of System V. A pause without memory keeps none of it, as a restart would not. */
#pragma once

#include <sys/types.h>

/* Which directory /dev/shm is when a cell begins: what is mounted there later is not touched.
 * Zeros: this process is not in a cell. */
struct forget_place {
    dev_t dev;
    ino_t ino;
};

void forget_init(struct forget_place *ret);
/* Removes all of it, or nothing for a PLACE of zeros. There must be no other process. */
void forget_shared(const struct forget_place *place);
