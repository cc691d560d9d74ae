/* SPDX-License-Identifier: MIT */
/* How soon the kernel's OOM killer takes a process. */
#pragma once

/* Whose death would be everybody's is the last to go; needs root. */
#define OOM_LAST  (-1000)
#define OOM_USUAL 0

/* Sets it for this process, and what it starts from now on: 0 or -errno. By system calls alone, so
 * that a forked child may call it. */
int oom_set(int score);
