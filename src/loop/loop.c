/* SPDX-License-Identifier: MIT */
/* The event loop: see loop.h.
 *
 * Stopped watchers and collected events: epoll hands out pointers to watchers, and a callback may
 * free a watcher whose event is still in the batch. loop_io_stop() therefore clears the rest of
 * the current batch of that pointer. */
#include "loop/loop.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
    BATCH = 256,
    TIMERS_US = 5000 /* for timers in one round; those that are left are first in the next */
};

struct signal_slot {
    void (*fn)(int signo, void *ctx);
    void *ctx;
};

struct loop {
    int epoll_fd;
    pthread_t thread;
    int64_t now_ms;

    struct epoll_event batch[BATCH];
    int batch_len, batch_at;

    struct loop_timer **heap;
    size_t n_timers, cap_timers;

    struct loop_io wake;           /* eventfd: messages are waiting */
    _Atomic(struct loop_msg *) in; /* newest first; any thread */
    atomic_bool is_stopping;

    /* For loop_look(): written by the loop's thread, one value at a time. What is being done is of
     * words, and of the round that it was said in. */
    _Atomic uint64_t round, doing_round;
    _Atomic int64_t since_ms;
    _Atomic uint64_t doing[LOOP_DOING_MAX / sizeof(uint64_t)];

    struct loop_io signals;
    sigset_t signal_set;
    struct signal_slot signal_slots[NSIG];
};

/* ---- timers: a binary heap by heap_ms ---- */

static void heap_put(struct loop *l, size_t slot, struct loop_timer *t)
{
    l->heap[slot] = t;
    t->slot = slot;
}

static void heap_up(struct loop *l, size_t slot, struct loop_timer *t)
{
    while (slot > 0) {
        size_t parent = (slot - 1) / 2;
        if (l->heap[parent]->heap_ms <= t->heap_ms)
            break;
        heap_put(l, slot, l->heap[parent]);
        slot = parent;
    }
    heap_put(l, slot, t);
}

static void heap_down(struct loop *l, size_t slot, struct loop_timer *t)
{
    for (;;) {
        size_t child = 2 * slot + 1;
        if (child >= l->n_timers)
            break;
        if (child + 1 < l->n_timers && l->heap[child + 1]->heap_ms < l->heap[child]->heap_ms)
            child++;
        if (l->heap[child]->heap_ms >= t->heap_ms)
            break;
        heap_put(l, slot, l->heap[child]);
        slot = child;
    }
    heap_put(l, slot, t);
}

static void heap_remove(struct loop *l, struct loop_timer *t)
{
    struct loop_timer *last = l->heap[--l->n_timers];

    if (last == t)
        return;
    size_t slot = t->slot;
    if (slot > 0 && l->heap[(slot - 1) / 2]->heap_ms > last->heap_ms)
        heap_up(l, slot, last);
    else
        heap_down(l, slot, last);
}

static int heap_grow(struct loop *l)
{
    if (l->n_timers < l->cap_timers)
        return 0;
    size_t cap = l->cap_timers ? l->cap_timers * 2 : 64;
    struct loop_timer **heap = mem_realloc(l->heap, cap * sizeof *heap);
    if (!heap)
        return -ENOMEM;
    l->heap = heap;
    l->cap_timers = cap;
    return 0;
}

int loop_timer_start(struct loop *l, struct loop_timer *t, int64_t delay_ms,
                     void (*fn)(struct loop_timer *t))
{
    int64_t due = l->now_ms + (delay_ms > 0 ? delay_ms : 0);

    t->fn = fn;
    if (t->loop) {
        assert(t->loop == l);
        t->due_ms = due;
        if (due < t->heap_ms) {
            t->heap_ms = due;
            heap_up(l, t->slot, t);
        }
        return 0;
    }
    int r = heap_grow(l);
    if (r < 0)
        return r;
    t->loop = l;
    t->due_ms = t->heap_ms = due;
    heap_up(l, l->n_timers++, t);
    return 0;
}

void loop_timer_stop(struct loop_timer *t)
{
    if (!t->loop)
        return;
    heap_remove(t->loop, t);
    t->loop = NULL;
}

/* Runs what is due, for a while: timers may start others that are due at once, and descriptors have
 * their turn between. A timer whose deadline was moved back goes down the heap instead. */
static void run_timers(struct loop *l)
{
    int64_t until_us = clock_mono_us() + TIMERS_US;

    while (l->n_timers > 0 && l->heap[0]->heap_ms <= l->now_ms && clock_mono_us() < until_us) {
        struct loop_timer *t = l->heap[0];
        if (t->due_ms > l->now_ms) {
            t->heap_ms = t->due_ms;
            heap_down(l, 0, t);
            continue;
        }
        loop_timer_stop(t);
        t->fn(t);
    }
}

/* ---- descriptors ---- */

int loop_io_start(struct loop *l, struct loop_io *io, int fd, uint32_t events,
                  void (*fn)(struct loop_io *io, uint32_t events))
{
    struct epoll_event ev = {.events = events, .data.ptr = io};

    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
        return -errno;
    *io = (struct loop_io){.loop = l, .fd = fd, .events = events, .fn = fn};
    return 0;
}

int loop_io_want(struct loop_io *io, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.ptr = io};

    if (io->events == events)
        return 0;
    if (epoll_ctl(io->loop->epoll_fd, EPOLL_CTL_MOD, io->fd, &ev) < 0)
        return -errno;
    io->events = events;
    return 0;
}

void loop_io_stop(struct loop_io *io)
{
    struct loop *l = io->loop;

    if (!l)
        return;
    (void)epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, io->fd, NULL);
    for (int i = l->batch_at; i < l->batch_len; i++)
        if (l->batch[i].data.ptr == io)
            l->batch[i].data.ptr = NULL;
    io->loop = NULL;
}

/* ---- messages ---- */

void loop_post(struct loop *l, struct loop_msg *m, void (*fn)(struct loop_msg *m))
{
    struct loop_msg *head = atomic_load_explicit(&l->in, memory_order_relaxed);

    m->fn = fn;
    do
        m->next = head;
    while (!atomic_compare_exchange_weak_explicit(&l->in, &head, m, memory_order_release,
                                                  memory_order_relaxed));
    /* Whoever filled the empty queue wakes the loop. */
    if (!head)
        (void)!write(l->wake.fd, &(uint64_t){1}, sizeof(uint64_t));
}

void loop_unpost(struct loop *l, struct loop_msg *m)
{
    struct loop_msg *rest = NULL, *none;

    /* The queue is taken as a whole, newest first, and put back without M before anything that was
     * posted meanwhile; again, where something was posted in between. */
    do {
        struct loop_msg *all = atomic_exchange_explicit(&l->in, NULL, memory_order_acquire);
        struct loop_msg **end = &all;
        while (*end) {
            if (*end == m)
                *end = m->next;
            else
                end = &(*end)->next;
        }
        *end = rest;
        rest = all;
        none = NULL;
    } while (rest && !atomic_compare_exchange_strong_explicit(
                         &l->in, &none, rest, memory_order_release, memory_order_relaxed));
}

static void run_messages(struct loop *l)
{
    struct loop_msg *newest = atomic_exchange_explicit(&l->in, NULL, memory_order_acquire);
    struct loop_msg *oldest = NULL;

    while (newest) {
        struct loop_msg *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct loop_msg *m = oldest;
        oldest = m->next;
        m->fn(m);
    }
}

static void on_wake(struct loop_io *io, uint32_t events)
{
    uint64_t count;

    (void)events;
    (void)!read(io->fd, &count, sizeof count);
    run_messages(container_of(io, struct loop, wake));
}

/* ---- signals ---- */

static void on_loop_signal(struct loop_io *io, uint32_t events)
{
    struct loop *l = container_of(io, struct loop, signals);
    struct signalfd_siginfo info;

    (void)events;
    if (read(io->fd, &info, sizeof info) != (ssize_t)sizeof info || info.ssi_signo >= NSIG)
        return;
    const struct signal_slot *slot = &l->signal_slots[info.ssi_signo];
    if (slot->fn)
        slot->fn((int)info.ssi_signo, slot->ctx);
}

int loop_on_signal(struct loop *l, int signo, void (*fn)(int signo, void *ctx), void *ctx)
{
    (void)sigaddset(&l->signal_set, signo);
    int r = pthread_sigmask(SIG_BLOCK, &l->signal_set, NULL);
    if (r != 0)
        return -r;
    l->signal_slots[signo] = (struct signal_slot){fn, ctx};
    int fd =
        signalfd(l->signals.loop ? l->signals.fd : -1, &l->signal_set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    if (l->signals.loop)
        return 0;
    r = loop_io_start(l, &l->signals, fd, EPOLLIN, on_loop_signal);
    if (r < 0)
        (void)close(fd);
    return r;
}

/* ---- the loop itself ---- */

struct loop *loop_new(struct err *e)
{
    struct loop *l = mem_zalloc(1, sizeof *l);

    if (!l) {
        (void)err_sys(e, -ENOMEM, "event loop");
        return NULL;
    }
    l->thread = pthread_self();
    l->now_ms = clock_mono_ms();
    (void)sigemptyset(&l->signal_set);
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = l->epoll_fd < 0 || fd < 0 ? -errno : loop_io_start(l, &l->wake, fd, EPOLLIN, on_wake);
    if (r < 0) {
        (void)err_sys(e, r, "event loop");
        l->wake.fd = fd;
        loop_free(l);
        return NULL;
    }
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    if (l->wake.fd >= 0)
        (void)close(l->wake.fd);
    if (l->signals.loop)
        (void)close(l->signals.fd);
    if (l->epoll_fd >= 0)
        (void)close(l->epoll_fd);
    free(l->heap);
    free(l);
}

static int wait_ms(struct loop *l, int timeout_ms)
{
    if (l->n_timers == 0)
        return timeout_ms;
    int64_t left = l->heap[0]->heap_ms - clock_mono_ms();
    if (left < 0)
        left = 0;
    if (left > INT32_MAX)
        left = INT32_MAX;
    return timeout_ms < 0 || left < timeout_ms ? (int)left : timeout_ms;
}

/* ---- looking at it ---- */

#define set_relaxed(to, value) atomic_store_explicit(to, value, memory_order_relaxed)
#define get_relaxed(from)      atomic_load_explicit(from, memory_order_relaxed)

void loop_doing(struct loop *l, struct str what, struct str detail)
{
    uint64_t words[LOOP_DOING_MAX / sizeof(uint64_t)] = {0};
    char *text = (char *)words;
    size_t n = what.len < LOOP_DOING_MAX - 1 ? what.len : LOOP_DOING_MAX - 1;

    if (n > 0)
        (void)memcpy(text, what.p, n);
    if (n > 0 && detail.len > 0 && n < LOOP_DOING_MAX - 2)
        text[n++] = ' ';
    size_t left = LOOP_DOING_MAX - 1 - n;
    if (detail.len > 0)
        (void)memcpy(text + n, detail.p, detail.len < left ? detail.len : left);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        set_relaxed(&l->doing[i], words[i]);
    set_relaxed(&l->doing_round, get_relaxed(&l->round));
}

void loop_look(const struct loop *l, struct loop_look *ret)
{
    uint64_t words[LOOP_DOING_MAX / sizeof(uint64_t)] = {0};

    ret->round = get_relaxed(&l->round);
    ret->since_ms = get_relaxed(&l->since_ms);
    for (size_t i = 0; get_relaxed(&l->doing_round) == ret->round && i < ARRAY_LEN(words); i++)
        words[i] = get_relaxed(&l->doing[i]);
    (void)memcpy(ret->doing, words, sizeof ret->doing);
}

pthread_t loop_thread(const struct loop *l)
{
    return l->thread;
}

int loop_run_once(struct loop *l, int timeout_ms)
{
    set_relaxed(&l->since_ms, 0);
    int n = epoll_wait(l->epoll_fd, l->batch, BATCH, wait_ms(l, timeout_ms));

    if (n < 0 && errno != EINTR)
        return -errno;
    l->now_ms = clock_mono_ms();
    set_relaxed(&l->round, get_relaxed(&l->round) + 1);
    set_relaxed(&l->since_ms, l->now_ms);
    l->batch_len = n < 0 ? 0 : n;
    for (l->batch_at = 0; l->batch_at < l->batch_len;) {
        struct epoll_event *ev = &l->batch[l->batch_at++];
        struct loop_io *io = ev->data.ptr;
        if (io)
            io->fn(io, ev->events);
    }
    l->batch_len = l->batch_at = 0;
    run_timers(l);
    return 0;
}

int loop_run(struct loop *l)
{
    /* Who watches may look at it meanwhile. */
    if (!loop_is_mine(l))
        l->thread = pthread_self();
    while (!atomic_load(&l->is_stopping)) {
        int r = loop_run_once(l, -1);
        if (r < 0)
            return r;
    }
    atomic_store(&l->is_stopping, false);
    return 0;
}

void loop_stop(struct loop *l)
{
    atomic_store(&l->is_stopping, true);
    (void)!write(l->wake.fd, &(uint64_t){1}, sizeof(uint64_t));
}

int64_t loop_now_ms(const struct loop *l)
{
    return l->now_ms;
}

bool loop_is_mine(const struct loop *l)
{
    return pthread_equal(l->thread, pthread_self());
}
