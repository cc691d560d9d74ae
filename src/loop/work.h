/* SPDX-License-Identifier: MIT */
/* Threads for what blocks. A job's run() is called on one of the pool's threads, then its done() on
 * the thread of the loop that submitted it. Core state is never touched in run().
 *
 * Jobs are taken in turn by whose they are (docs/adr/0021). One owner's may have all N threads, and
 * never those that the pool keeps in reserve: they take the first job of an owner who has none
 * under way. A job that runs for longer than `max_ms` does not count any more: another thread is
 * started in its place, and its own ends with it. Its owner has one job less at a time as long as
 * it lasts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "loop/loop.h"

struct work_pool;

struct work {
    struct list node;
    struct loop_msg msg;
    struct loop *loop;
    struct str owner;             /* stays until done(); {0} is an owner like any other */
    void (*run)(struct work *w);  /* on a worker thread */
    void (*done)(struct work *w); /* on the loop's thread; may free W */
    bool is_dropped;              /* for done(): run() was not called, because the pool ends */
};

struct work_opts {
    unsigned n;          /* threads */
    unsigned n_reserve;  /* more of them, started when they are needed */
    unsigned n_overdue;  /* jobs that are replaced at most */
    unsigned max_queued; /* jobs that wait */
    int64_t max_ms;      /* of a job, see above; 0: any */
};

struct work_stats {
    unsigned queued, running, overdue;
};

/* Starts O's threads. NULL with E filled on failure. */
struct work_pool *work_pool_make(const struct work_opts *o, struct err *e);
/* The same with N threads and nothing in reserve. */
struct work_pool *work_pool_new(unsigned n, unsigned max_queued, struct err *e);
/* Waits until every submitted job has run (their done() may still be in the loop's queue). */
void work_pool_free(struct work_pool *p);
/* Ends the pool in time: jobs have MS to run; then those that wait are dropped, HURRY (may be NULL)
 * is called to end those that run, and these have HURRY_MS. Returns how many still run: when that
 * is not 0, the pool and all that they use has to stay until the process ends. Nothing is submitted
 * any more. */
unsigned work_pool_end(struct work_pool *p, int64_t ms, int64_t hurry_ms, void (*hurry)(void));
/* Queues W. 0, -EBUSY when too many jobs wait (the last quarter of the queue is for owners who have
 * few there), -ENOMEM: then nothing was queued. */
int work_submit(struct work_pool *p, struct loop *l, struct work *w);
/* Takes back W, which has run on a pool that was freed since: its done() is not called. */
static inline void work_take_back(struct work *w)
{
    loop_unpost(w->loop, &w->msg);
}
/* Notices jobs that are overdue, and gives their threads' places to others. To be called now and
 * then. */
void work_pool_look(struct work_pool *p);
struct work_stats work_pool_stats(struct work_pool *p);
