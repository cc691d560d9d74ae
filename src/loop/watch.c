/* SPDX-License-Identifier: MIT */
#include "loop/watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

struct loop_watch {
    struct loop *loop;
    void (*fn)(void *ctx, const struct loop_stall *s);
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock; /* for is_stopping and stalls */
    pthread_cond_t wake;
    bool is_stopping;
    struct loop_stalls stalls;

    /* Of the thread alone: the round that was seen last. */
    uint64_t round;
    int64_t cpu_us; /* of the loop's thread when the round was first seen */
    bool is_told;
};

/* CPU time of the loop's thread; 0 when it is gone. */
static int64_t cpu_us(const struct loop *l)
{
    struct timespec t;
    clockid_t id;

    if (pthread_getcpuclockid(loop_thread(l), &id) != 0 || clock_gettime(id, &t) < 0)
        return 0;
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static void note_stall(struct loop_watch *w, int64_t us, int64_t cpu, bool is_new)
{
    (void)pthread_mutex_lock(&w->lock);
    w->stalls.n += is_new;
    if (us > w->stalls.max_us)
        w->stalls.max_us = us;
    if (cpu > w->stalls.max_cpu_us)
        w->stalls.max_cpu_us = cpu;
    (void)pthread_mutex_unlock(&w->lock);
}

static void look_at_loop(struct loop_watch *w)
{
    struct loop_look now;

    loop_look(w->loop, &now);
    if (now.since_ms == 0)
        return;
    int64_t cpu = cpu_us(w->loop);
    if (now.round != w->round) {
        w->round = now.round;
        w->cpu_us = cpu;
        w->is_told = false;
        return;
    }
    int64_t ms = clock_mono_ms() - now.since_ms;
    bool is_new = ms >= LOOP_STALL_MS && !w->is_told;
    note_stall(w, ms * 1000, cpu - w->cpu_us, is_new);
    if (!is_new)
        return;
    w->is_told = true;
    const struct loop_stall s = {now.doing, ms, (cpu - w->cpu_us) / 1000};
    if (w->fn)
        w->fn(w->ctx, &s);
}

static void *run_watcher(void *arg)
{
    struct loop_watch *w = arg;
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    (void)pthread_mutex_lock(&w->lock);
    while (!w->is_stopping) {
        until.tv_nsec += LOOP_WATCH_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        if (pthread_cond_timedwait(&w->wake, &w->lock, &until) != ETIMEDOUT)
            continue;
        (void)pthread_mutex_unlock(&w->lock);
        look_at_loop(w);
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        (void)pthread_mutex_lock(&w->lock);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct loop_watch *loop_watch_start(struct loop *l,
                                    void (*fn)(void *ctx, const struct loop_stall *s), void *ctx,
                                    struct err *e)
{
    struct loop_watch *w = mem_zalloc(1, sizeof *w);
    pthread_condattr_t attr;

    if (!w) {
        (void)err_sys(e, -ENOMEM, "watch of the loop");
        return NULL;
    }
    w->loop = l;
    w->fn = fn;
    w->ctx = ctx;
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&w->wake, &attr);
    (void)pthread_condattr_destroy(&attr);
    int r = pthread_create(&w->thread, NULL, run_watcher, w);
    if (r == 0)
        return w;
    (void)err_sys(e, -r, "watch of the loop");
    free(w);
    return NULL;
}

void loop_watch_stop(struct loop_watch *w)
{
    if (!w)
        return;
    (void)pthread_mutex_lock(&w->lock);
    w->is_stopping = true;
    (void)pthread_cond_signal(&w->wake);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    (void)pthread_cond_destroy(&w->wake);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

struct loop_stalls loop_watch_stalls(struct loop_watch *w)
{
    (void)pthread_mutex_lock(&w->lock);
    struct loop_stalls s = w->stalls;
    (void)pthread_mutex_unlock(&w->lock);
    return s;
}
