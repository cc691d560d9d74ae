/* SPDX-License-Identifier: MIT */
/* The steps of a build, each a command in its sandbox: see build.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct build_run;
struct json;

/* Runs STEP; build_step_done() follows. */
void build_step_run(struct build_run *run, const struct json *step);
/* Starts the start command and waits for the ready command; build_start_done() follows. */
void build_start_run(struct build_run *run);
/* The line that a step begins with in the log: "[1/3] RUN make". */
void build_step_log(struct build_run *run, size_t i, bool is_cached);

/* ---- build_run.c ---- */

/* E is NULL on success. */
void build_step_done(struct build_run *run, const struct err *e);
void build_start_done(struct build_run *run, const struct err *e);
