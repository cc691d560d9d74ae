/* SPDX-License-Identifier: MIT */
/* The event loop: descriptors, timers, messages from other threads, signals. One loop belongs to
 * one thread; only loop_post() and loop_stop() may be called from others. All watchers are embedded
 * in the caller's objects and cost no allocation.
 *
 * A callback may stop or free any watcher, its own included: events that were already collected
 * for a stopped watcher are dropped. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"
#include "base/str.h"

struct loop;

/* ---- the loop itself ---- */

/* A loop, or NULL with E filled. */
struct loop *loop_new(struct err *e);
/* Watchers that are still started are forgotten, not freed. NULL is allowed. */
void loop_free(struct loop *l);
/* Runs until loop_stop(). Returns 0, or -errno when the kernel refuses to wait. */
int loop_run(struct loop *l);
/* Waits at most TIMEOUT_MS (-1: until something happens) and runs what is due: for tests. */
int loop_run_once(struct loop *l, int timeout_ms);
/* Makes loop_run() return after the current round. Any thread. */
void loop_stop(struct loop *l);
/* The time of this round, in ms of the monotonic clock: cheaper than asking the clock. */
int64_t loop_now_ms(const struct loop *l);
/* True on the thread that runs (or, before the first run, created) the loop. */
bool loop_is_mine(const struct loop *l);

/* ---- for whoever watches it (loop/watch.h) ---- */

enum { LOOP_DOING_MAX = 64 };

/* Says what the callback that runs does from here on, so that one that takes long can be named. The
 * beginning of both is kept. On the loop's thread; a few nanoseconds. */
void loop_doing(struct loop *l, struct str what, struct str detail);

struct loop_look {
    uint64_t round;
    int64_t since_ms; /* of the monotonic clock; 0: it waits */
    char doing[LOOP_DOING_MAX];
};

/* Any thread. */
void loop_look(const struct loop *l, struct loop_look *ret);
/* The one of loop_is_mine(). */
pthread_t loop_thread(const struct loop *l);

/* ---- descriptors ---- */

struct loop_io {
    struct loop *loop; /* NULL while stopped */
    int fd;
    uint32_t events;
    void (*fn)(struct loop_io *io, uint32_t events); /* EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR… */
};

/* Watches FD (level-triggered) for EVENTS; the descriptor stays the caller's. 0 or -errno. */
int loop_io_start(struct loop *l, struct loop_io *io, int fd, uint32_t events,
                  void (*fn)(struct loop_io *io, uint32_t events));
/* Changes what is watched for; free when nothing changes. */
int loop_io_want(struct loop_io *io, uint32_t events);
/* Stops watching; safe when already stopped. Call it before closing the descriptor. */
void loop_io_stop(struct loop_io *io);

/* ---- timers ---- */

struct loop_timer {
    struct loop *loop; /* NULL while stopped */
    size_t slot;       /* place in the heap */
    int64_t heap_ms;   /* the deadline that the heap knows; never later than due_ms */
    int64_t due_ms;
    void (*fn)(struct loop_timer *t);
};

/* Calls FN once, in DELAY_MS. On a running timer: moves its deadline, which costs nothing when it
 * only becomes later (idle timeouts that every byte pushes back). 0 or -ENOMEM. */
int loop_timer_start(struct loop *l, struct loop_timer *t, int64_t delay_ms,
                     void (*fn)(struct loop_timer *t));
void loop_timer_stop(struct loop_timer *t);

/* ---- messages ---- */

struct loop_msg {
    struct loop_msg *next;
    void (*fn)(struct loop_msg *m);
};

/* Queues M; FN runs on the loop's thread in the next round, in the order of posting. M must stay
 * valid until then and may be freed or posted again by FN. Any thread. */
void loop_post(struct loop *l, struct loop_msg *m, void (*fn)(struct loop_msg *m));
/* Takes M back, which was posted and has not run yet: for its owner, who goes before the loop runs
 * again. The loop's thread. */
void loop_unpost(struct loop *l, struct loop_msg *m);

/* ---- signals ---- */

/* Blocks SIGNO in this thread (call before other threads start) and calls FN on the loop for each.
 * One handler per signal and program. 0 or -errno. */
int loop_on_signal(struct loop *l, int signo, void (*fn)(int signo, void *ctx), void *ctx);
