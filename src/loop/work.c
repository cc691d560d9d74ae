/* SPDX-License-Identifier: MIT */
/* Threads for what blocks: see work.h. */
#include "loop/work.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

/* MODEST_PART: of a full queue, for owners who have few jobs in it. */
enum { OWNERS_MAX = 1 << 20, QUEUE_PARTS = 4, MODEST_PART = 64 };

/* An owner with jobs that wait or run. */
struct turn {
    struct list node;  /* in the pool's round, while jobs wait */
    struct list queue; /* struct work */
    unsigned n_queued, n_running;
    struct str owner; /* of the job that made it; the map has its own copy */
    char name[];
};

struct worker {
    struct list node;
    struct work_pool *pool;
    pthread_t id;
    struct turn *turn; /* of the job that it runs; NULL: none */
    int64_t since_ms;  /* when that began */
    bool is_overdue;   /* another one has its place */
    bool is_over;      /* it can be joined */
};

struct work_pool {
    struct work_opts opts;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* for workers */
    pthread_cond_t idle; /* for who ends the pool */
    struct map turns;    /* by owner */
    struct list round;   /* struct turn with jobs; the next one comes first */
    struct list workers;
    unsigned n_queued, n_running, n_overdue; /* of jobs; those that are overdue run no more */
    unsigned n_workers, n_waiting;           /* of threads: in place, without a job */
    bool is_ending;                          /* when nothing is queued any more */
};

/* ---- whose turn it is ---- */

static struct turn *turn_of(struct work_pool *p, struct str owner)
{
    struct turn *t = map_get(&p->turns, owner);

    if (t)
        return t;
    t = mem_zalloc(1, sizeof *t + owner.len);
    if (!t)
        return NULL;
    list_init(&t->queue);
    list_init(&t->node);
    for (size_t i = 0; i < owner.len; i++)
        t->name[i] = owner.p[i];
    t->owner = str_n(t->name, owner.len);
    if (map_put(&p->turns, t->owner, t, NULL) == 0)
        return t;
    free(t);
    return NULL;
}

static void forget_idle(struct work_pool *p, struct turn *t)
{
    if (t->n_queued > 0 || t->n_running > 0)
        return;
    (void)map_del(&p->turns, t->owner);
    free(t);
}

/* The reserve is for those who have nothing under way. */
static bool may_run(const struct work_pool *p, const struct turn *t)
{
    const struct work_opts *o = &p->opts;

    if (t->n_running >= o->n || p->n_running >= o->n + o->n_reserve)
        return false;
    return p->n_running < o->n || t->n_running == 0;
}

static struct turn *next_turn(const struct work_pool *p)
{
    list_each(node, &p->round)
    {
        struct turn *t = list_entry(node, struct turn, node);
        if (may_run(p, t))
            return t;
    }
    return NULL;
}

/* The first job of T, which goes to the end of the round. */
static struct work *pop_job(struct work_pool *p, struct turn *t)
{
    struct work *w = list_entry(list_pop(&t->queue), struct work, node);

    p->n_queued--;
    t->n_queued--;
    list_del(&t->node);
    if (t->n_queued > 0)
        list_append(&p->round, &t->node);
    return w;
}

/* ---- workers ---- */

static void finish_job(struct loop_msg *m)
{
    struct work *w = container_of(m, struct work, msg);

    w->done(w);
}

static void *worker(void *arg);

/* Under the lock. Signals are for the loop's thread alone. */
static int start_worker(struct work_pool *p)
{
    struct worker *k = mem_zalloc(1, sizeof *k);
    sigset_t all, old;

    if (!k)
        return -ENOMEM;
    k->pool = p;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = pthread_create(&k->id, NULL, worker, k);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r != 0) {
        free(k);
        return -r;
    }
    p->n_workers++;
    list_append(&p->workers, &k->node);
    return 0;
}

/* A thread for what can run now. Without one in reserve it waits for the next that is free. */
static void call_worker(struct work_pool *p)
{
    if (p->n_waiting > 0)
        (void)pthread_cond_signal(&p->wake);
    else if (p->n_workers < p->opts.n + p->opts.n_reserve)
        (void)start_worker(p);
}

/* The next job, or NULL when the thread is to end. */
static struct work *begin_job(struct worker *k)
{
    struct work_pool *p = k->pool;
    struct turn *t;

    p->n_waiting++;
    while (!(t = next_turn(p)) && !(p->is_ending && p->n_queued == 0))
        (void)pthread_cond_wait(&p->wake, &p->lock);
    p->n_waiting--;
    if (!t)
        return NULL;
    t->n_running++;
    p->n_running++;
    k->turn = t;
    k->since_ms = clock_mono_ms();
    struct work *w = pop_job(p, t);
    /* Who submitted two may have woken the same thread twice. */
    if (p->n_queued > 0 && next_turn(p))
        call_worker(p);
    return w;
}

static void end_work_job(struct worker *k)
{
    struct work_pool *p = k->pool;

    k->turn->n_running--;
    if (k->is_overdue)
        p->n_overdue--;
    else
        p->n_running--;
    forget_idle(p, k->turn);
    k->turn = NULL;
    /* Its owner may have a job that was held back. */
    if (k->is_overdue && next_turn(p))
        (void)pthread_cond_signal(&p->wake);
    if (p->n_queued == 0)
        (void)pthread_cond_broadcast(&p->idle);
}

static void *worker(void *arg)
{
    struct worker *k = arg;
    struct work_pool *p = k->pool;
    struct work *w;

    (void)pthread_mutex_lock(&p->lock);
    while (!k->is_overdue && (w = begin_job(k))) {
        (void)pthread_mutex_unlock(&p->lock);
        w->run(w);
        (void)pthread_mutex_lock(&p->lock);
        /* Under the lock: whoever hears of it finds its place free. */
        loop_post(w->loop, &w->msg, finish_job);
        end_work_job(k);
    }
    if (!k->is_overdue)
        p->n_workers--;
    k->is_over = true;
    /* What it could not take, another one may: all end together. */
    if (p->is_ending)
        (void)pthread_cond_broadcast(&p->wake);
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Under the lock: those that are over go. */
static void join_over(struct work_pool *p)
{
    list_each(node, &p->workers)
    {
        struct worker *k = list_entry(node, struct worker, node);
        if (!k->is_over)
            continue;
        list_del(node);
        (void)pthread_join(k->id, NULL);
        free(k);
    }
}

void work_pool_look(struct work_pool *p)
{
    int64_t before_ms = clock_mono_ms() - p->opts.max_ms;

    (void)pthread_mutex_lock(&p->lock);
    join_over(p);
    list_each(node, &p->workers)
    {
        struct worker *k = list_entry(node, struct worker, node);
        if (!k->turn || k->is_overdue || k->since_ms > before_ms || p->opts.max_ms == 0 ||
            p->n_overdue == p->opts.n_overdue)
            continue;
        k->is_overdue = true;
        p->n_overdue++;
        p->n_running--;
        p->n_workers--;
        if (next_turn(p))
            call_worker(p);
    }
    while (p->n_workers < p->opts.n && start_worker(p) == 0)
        ;
    (void)pthread_mutex_unlock(&p->lock);
}

/* ---- the pool ---- */

struct work_pool *work_pool_make(const struct work_opts *o, struct err *e)
{
    struct work_pool *p = mem_zalloc(1, sizeof *p);
    pthread_condattr_t attr;
    int r = 0;

    if (!p) {
        (void)err_sys(e, -ENOMEM, "worker threads");
        return NULL;
    }
    p->opts = *o;
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->wake, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&p->idle, &attr);
    (void)pthread_condattr_destroy(&attr);
    map_init(&p->turns, OWNERS_MAX);
    list_init(&p->round);
    list_init(&p->workers);
    (void)pthread_mutex_lock(&p->lock);
    while (r == 0 && p->n_workers < o->n)
        r = start_worker(p);
    unsigned n = p->n_workers;
    (void)pthread_mutex_unlock(&p->lock);
    if (r == 0)
        return p;
    (void)err_sys(e, r, "start worker thread %u", n);
    work_pool_free(p);
    return NULL;
}

struct work_pool *work_pool_new(unsigned n, unsigned max_queued, struct err *e)
{
    const struct work_opts o = {.n = n, .max_queued = max_queued};

    return work_pool_make(&o, e);
}

void work_pool_free(struct work_pool *p)
{
    if (!p)
        return;
    (void)pthread_mutex_lock(&p->lock);
    p->is_ending = true;
    (void)pthread_cond_broadcast(&p->wake);
    (void)pthread_mutex_unlock(&p->lock);
    list_each(node, &p->workers)
    {
        struct worker *k = list_entry(node, struct worker, node);
        (void)pthread_join(k->id, NULL);
        free(k);
    }
    map_done(&p->turns);
    (void)pthread_cond_destroy(&p->wake);
    (void)pthread_cond_destroy(&p->idle);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

/* Under the lock: until nothing is to be done, or for MS. */
static bool wait_idle(struct work_pool *p, int64_t ms)
{
    int64_t until_ms = clock_mono_ms() + ms;
    const struct timespec until = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    int r = 0;

    while (r == 0 && p->n_queued + p->n_running + p->n_overdue > 0)
        r = pthread_cond_timedwait(&p->idle, &p->lock, &until);
    return p->n_queued + p->n_running + p->n_overdue == 0;
}

static void drop_queued(struct work_pool *p)
{
    while (!list_is_empty(&p->round)) {
        struct turn *t = list_entry(p->round.next, struct turn, node);
        struct work *w = pop_job(p, t);
        forget_idle(p, t);
        w->is_dropped = true;
        loop_post(w->loop, &w->msg, finish_job);
    }
}

unsigned work_pool_end(struct work_pool *p, int64_t ms, int64_t hurry_ms, void (*hurry)(void))
{
    (void)pthread_mutex_lock(&p->lock);
    bool is_idle = wait_idle(p, ms);
    if (!is_idle) {
        drop_queued(p);
        if (hurry)
            hurry();
        is_idle = wait_idle(p, hurry_ms);
    }
    unsigned n = p->n_running + p->n_overdue;
    (void)pthread_mutex_unlock(&p->lock);
    if (is_idle)
        work_pool_free(p);
    return n;
}

/* The last part of the queue is for those who have little in it, so that one owner alone cannot
 * fill it. Jobs without an owner are the service's own. */
static bool has_queue_place(const struct work_pool *p, const struct turn *t, bool is_owned)
{
    unsigned max = p->opts.max_queued, most = max - max / QUEUE_PARTS;

    return p->n_queued < (is_owned && t->n_queued > max / MODEST_PART ? most : max);
}

static int submit_job(struct work_pool *p, struct work *w)
{
    if (p->n_queued >= p->opts.max_queued)
        return -EBUSY;
    struct turn *t = turn_of(p, w->owner.p ? w->owner : STR(""));
    if (!t)
        return -ENOMEM;
    if (!has_queue_place(p, t, w->owner.len > 0))
        return -EBUSY;
    list_append(&t->queue, &w->node);
    p->n_queued++;
    if (t->n_queued++ == 0)
        list_append(&p->round, &t->node);
    if (may_run(p, t))
        call_worker(p);
    return 0;
}

int work_submit(struct work_pool *p, struct loop *l, struct work *w)
{
    w->loop = l;
    w->is_dropped = false;
    (void)pthread_mutex_lock(&p->lock);
    int r = submit_job(p, w);
    (void)pthread_mutex_unlock(&p->lock);
    return r;
}

struct work_stats work_pool_stats(struct work_pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    const struct work_stats s = {
        .queued = p->n_queued, .running = p->n_running + p->n_overdue, .overdue = p->n_overdue};
    (void)pthread_mutex_unlock(&p->lock);
    return s;
}
