/* SPDX-License-Identifier: MIT */
/* Programs that tools run: to their end, within limits. */
#pragma once

#include <sys/types.h>

#include "local/local.h"

struct run {
    const char *const *argv; /* found by PATH */
    const char *cwd;
    const char *const *env; /* "NAME=value" besides what this process has; NULL: nothing */
    struct str input;
    int64_t timeout_ms;
    size_t max_output; /* bytes of each of the two that are kept; the rest is read and dropped */

    /* What came of it. */
    struct buf out, err;
    int status; /* 128 + N: ended by signal N */
    bool is_timed_out;
};

/* Runs the program; whatever it started is ended with it when the time is over. 0, or -errno when
 * it could not be started: -ENOENT there is no such program. */
int run_program(struct run *r);
void run_done(struct run *r);

/* Starts R's program and returns at once: ret_fds are our ends of its input, output and errors,
 * which do not block; it leads a process group of its own. 0, or -errno as above. */
int run_start(const struct run *r, int ret_fds[3], pid_t *ret_pid);
