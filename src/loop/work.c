/* SPDX-License-Identifier: MIT */
/* Threads for what blocks: see work.h. */
#include "loop/work.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/mem.h"

struct work_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct list queue;
    unsigned n_queued, max_queued, n_threads;
    bool is_ending;
    pthread_t threads[];
};

static void finish(struct loop_msg *m)
{
    struct work *w = container_of(m, struct work, msg);

    w->done(w);
}

static struct work *next_job(struct work_pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    while (list_is_empty(&p->queue) && !p->is_ending)
        (void)pthread_cond_wait(&p->wake, &p->lock);
    struct list *node = list_pop(&p->queue);
    p->n_queued -= node ? 1 : 0;
    (void)pthread_mutex_unlock(&p->lock);
    return node ? list_entry(node, struct work, node) : NULL;
}

static void *worker(void *arg)
{
    struct work *w;

    while ((w = next_job(arg))) {
        w->run(w);
        loop_post(w->loop, &w->msg, finish);
    }
    return NULL;
}

struct work_pool *work_pool_new(unsigned n, unsigned max_queued, struct err *e)
{
    struct work_pool *p = mem_zalloc(1, sizeof *p + n * sizeof p->threads[0]);
    sigset_t all, old;

    if (!p) {
        (void)err_sys(e, -ENOMEM, "worker threads");
        return NULL;
    }
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->wake, NULL);
    list_init(&p->queue);
    p->max_queued = max_queued;
    /* Signals are for the loop's thread alone. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = 0;
    while (r == 0 && p->n_threads < n) {
        r = pthread_create(&p->threads[p->n_threads], NULL, worker, p);
        p->n_threads += r == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r != 0) {
        (void)err_sys(e, -r, "start worker thread %u", p->n_threads);
        work_pool_free(p);
        return NULL;
    }
    return p;
}

void work_pool_free(struct work_pool *p)
{
    if (!p)
        return;
    (void)pthread_mutex_lock(&p->lock);
    p->is_ending = true;
    (void)pthread_cond_broadcast(&p->wake);
    (void)pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->n_threads; i++)
        (void)pthread_join(p->threads[i], NULL);
    (void)pthread_cond_destroy(&p->wake);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

int work_submit(struct work_pool *p, struct loop *l, struct work *w)
{
    int r = -EBUSY;

    w->loop = l;
    (void)pthread_mutex_lock(&p->lock);
    if (p->n_queued < p->max_queued) {
        list_append(&p->queue, &w->node);
        p->n_queued++;
        (void)pthread_cond_signal(&p->wake);
        r = 0;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return r;
}
