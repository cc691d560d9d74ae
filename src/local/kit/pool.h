/* SPDX-License-Identifier: MIT */
/* Threads for what blocks: each job has one to itself, those without work end. */
#pragma once

#include "base/list.h"

struct pool;

struct pool_job {
    struct list node;
    void (*run)(struct pool_job *j); /* on a thread of the pool; may free J */
};

/* At most MAX threads. NULL when memory ran out. A pool lives as long as the program. */
struct pool *pool_new(unsigned max);
/* Without a thread that has time J waits. -EAGAIN: there is none and none could be started. */
int pool_run(struct pool *p, struct pool_job *j);
