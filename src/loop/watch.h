/* SPDX-License-Identifier: MIT */
/* Watches a loop from a thread of its own: a loop that does not turn holds up everybody. What is
 * measured is how long a round takes, by the clock and in CPU time of the loop's thread; the latter
 * says the same on a busy machine, where the former also counts the wait for a processor. Both miss
 * up to LOOP_WATCH_MS, between two looks. */
#pragma once

#include <stdint.h>

#include "loop/loop.h"

enum {
    LOOP_WATCH_MS = 20, /* between two looks */
    LOOP_STALL_MS = 100 /* a round that takes longer is a stall */
};

struct loop_watch;

/* A stall, while it lasts; WHAT as in loop_doing(), "" when nothing was said. */
struct loop_stall {
    const char *what;
    int64_t ms, cpu_ms;
};

struct loop_stalls {
    int64_t n;      /* stalls so far */
    int64_t max_us; /* of the longest round that was seen, by the clock */
    int64_t max_cpu_us;
};

/* Begins to watch L, which must outlive it. FN (may be NULL) is called once for each stall, on the
 * thread of the watch. NULL with E filled. */
struct loop_watch *loop_watch_start(struct loop *l,
                                    void (*fn)(void *ctx, const struct loop_stall *s), void *ctx,
                                    struct err *e);
/* NULL is allowed. */
void loop_watch_stop(struct loop_watch *w);
/* Any thread. */
struct loop_stalls loop_watch_stalls(struct loop_watch *w);
