/* SPDX-License-Identifier: MIT */
/* How much memory SQLite takes, for the limit on calls. SQLite counts by itself, under a lock that
 * every allocation takes; told to before its first use, it leaves that to us, and each thread
 * counts its own. */
#pragma once

#include <stdint.h>

/* Before anything else uses SQLite, else nothing changes. */
void memory_setup(void);
/* Bytes that this thread, or without memory_setup() all of them, took and did not give back. Only
 * the difference between two calls means something. */
int64_t memory_used(void);
