/* SPDX-License-Identifier: MIT */
/* Stopping the processes of a cell, and letting them go on. */
#pragma once

#include <stdbool.h>

struct engine_cell;
struct err;

/* As cgroup_freeze(), which waits, and cgroup_try_freeze(), to stop its processes. */
int engine_cell_freeze(struct engine_cell *c, bool freeze, struct err *e);
int engine_cell_try_freeze(struct engine_cell *c, int wait_ms);
/* A whole processor for processes that are to stop: each has to run to get there. */
void engine_cell_boost(struct engine_cell *c, bool is_on);
/* It is stopped: requests that it has not answered end with -EHOSTDOWN. */
void engine_cell_end_calls(struct engine_cell *c, const char *why);
