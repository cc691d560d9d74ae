/* SPDX-License-Identifier: MIT */
/* Everything that a process started, found in /proc. */
#pragma once

#include <sys/types.h>

/* Kills PID, its process group, its session and all its descendants, those in sessions of their own
 * included. What was orphaned before and has left the session is not found. */
void proc_tree_kill(pid_t pid);
/* How many processes the cell has, this one included. */
unsigned proc_tree_count(void);
