/* SPDX-License-Identifier: MIT */
/* What follows a cell's limits beside its control groups: how many processors its processes see,
 * and how large its /dev/shm is.
 *
 * A limit of 1.5 processors is two of them, by affinity, which every program asks that wants to
 * know how many threads to start. Each cell gets those that the fewest others were given, so that
 * none is crowded while others are idle. The affinity is a hint to the cell, not a wall: the quota
 * of its control group is. Internal header of src/runtime. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct engine_cell;

struct engine_cpus {
    cpu_set_t all;               /* what this process may use */
    uint32_t given[CPU_SETSIZE]; /* thousandths of each that cells were promised */
};

/* What a cell was given. */
struct engine_share {
    cpu_set_t cpus;
    uint32_t milli; /* of each; 0: nothing */
};

void engine_fit_open(struct engine_cpus *c);
/* Fits C to its limits; what runs in it already is FOLLOWed, not only its first process. */
void engine_fit(struct engine_cell *c, bool follow);
/* For a cell that was found alive: counts what it has. */
void engine_fit_found(struct engine_cell *c);
/* Gives back what C was given. */
void engine_fit_done(struct engine_cell *c);
