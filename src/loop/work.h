/* SPDX-License-Identifier: MIT */
/* Threads for what blocks. A job's run() is called on one of the pool's threads, then its done() on
 * the thread of the loop that submitted it. Core state is never touched in run(). */
#pragma once

#include "base/err.h"
#include "base/list.h"
#include "loop/loop.h"

struct work_pool;

struct work {
    struct list node;
    struct loop_msg msg;
    struct loop *loop;
    void (*run)(struct work *w);  /* on a worker thread */
    void (*done)(struct work *w); /* on the loop's thread; may free W */
};

/* Starts N threads; at most MAX_QUEUED jobs wait. NULL with E filled on failure. */
struct work_pool *work_pool_new(unsigned n, unsigned max_queued, struct err *e);
/* Waits until every submitted job has run (their done() may still be in the loop's queue). */
void work_pool_free(struct work_pool *p);
/* Queues W. 0, or -EBUSY when too many jobs wait: then nothing was queued. */
int work_submit(struct work_pool *p, struct loop *l, struct work *w);
