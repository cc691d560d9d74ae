/* SPDX-License-Identifier: MIT */
#include "local/kit/pool.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/mem.h"

enum {
    STACK_BYTES = 256 << 10,
    IDLE_S = 10 /* a thread without work ends after this */
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct list queue; /* of jobs */
    unsigned n_threads, n_idle, max;
};

static struct pool_job *next_job(struct pool *p)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_S;
    while (list_is_empty(&p->queue)) {
        p->n_idle++;
        int r = pthread_cond_timedwait(&p->has_work, &p->lock, &until);
        p->n_idle--;
        if (r == ETIMEDOUT && list_is_empty(&p->queue))
            return NULL;
    }
    return list_entry(list_pop(&p->queue), struct pool_job, node);
}

static void *run_pool_thread(void *ctx)
{
    struct pool *p = ctx;
    struct pool_job *j;

    (void)pthread_mutex_lock(&p->lock);
    while ((j = next_job(p))) {
        (void)pthread_mutex_unlock(&p->lock);
        j->run(j);
        (void)pthread_mutex_lock(&p->lock);
    }
    p->n_threads--;
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

static bool add_thread(struct pool *p)
{
    pthread_attr_t attr;
    pthread_t thread;

    if (pthread_attr_init(&attr) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int r = pthread_create(&thread, &attr, run_pool_thread, p);
    (void)pthread_attr_destroy(&attr);
    return r == 0;
}

struct pool *pool_new(unsigned max)
{
    struct pool *p = mem_zalloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->max = max;
    list_init(&p->queue);
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->has_work, NULL);
    return p;
}

int pool_run(struct pool *p, struct pool_job *j)
{
    (void)pthread_mutex_lock(&p->lock);
    /* Those that idle may all have been woken for jobs that still wait. */
    size_t n_waiting = 0;
    list_each(it, &p->queue) n_waiting++;
    bool needs_thread = p->n_idle <= n_waiting && p->n_threads < p->max;
    if (needs_thread && add_thread(p))
        p->n_threads++;
    bool is_lost = p->n_threads == 0;
    if (!is_lost)
        list_append(&p->queue, &j->node);
    (void)pthread_mutex_unlock(&p->lock);
    /* Behind the lock, which the one that wakes up takes at once. */
    if (!is_lost)
        (void)pthread_cond_signal(&p->has_work);
    return is_lost ? -EAGAIN : 0;
}
