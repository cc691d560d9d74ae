/* SPDX-License-Identifier: MIT */
/* How much memory SQLite takes, for the limit on calls. SQLite counts by itself, under a lock that
 * every allocation takes; if asked before its first use, it leaves that to us, and each thread
 * counts its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Before anything else uses SQLite, else nothing changes. */
void memory_setup(void);
/* Bytes that this thread, or without memory_setup() all of them, took and did not give back. Only
 * the difference between two calls means something. */
int64_t memory_used(void);
/* Asks FN before SQLite takes BYTES more on this thread, when these are many; false: there is no
 * more memory. NULL: nobody is asked. Without memory_setup() nobody is. */
void memory_ask(bool (*fn)(void *ctx, int64_t bytes), void *ctx);
