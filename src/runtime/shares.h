/* SPDX-License-Identifier: MIT */
/* What the kernel has a number of for the whole machine, and a cell gets a share of. Sized from the
 * host's figures when the spawner starts; `tidepool doctor` warns where they are low. */
#pragma once

#include <stdint.h>

/* In numbers that leave most of it to others; never so few that ordinary programs do not run. */
enum {
    SHARES_PTYS_MIN = 16,
    SHARES_PTYS_MAX = 256,
    SHARES_FILES_MIN = 1024,
    SHARES_FILES_MAX = 16384, /* open files of a process */
};

struct shares {
    int64_t files; /* fs.file-max */
    int64_t pids;  /* kernel.pid_max */
    int ptys;      /* terminals of a cell */
};

/* Reads the host's figures below PROC ("/proc"). */
void shares_read(struct shares *s, const char *proc);
/* How many files each process of a cell with PIDS processes (0: no limit) may have open, so that
 * all of them together leave a quarter of the machine's to others. */
int64_t shares_files(const struct shares *s, uint32_t pids);
