/* SPDX-License-Identifier: MIT */
/* The store: a queue, one writer thread, and the way back to the loops. See store.h. */
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "store/group.h"

enum {
    MAX_QUEUED = 65536,
    KEEP_EVENTS = 1000000,
    GROUP_MAX = 1024, /* transactions in one commit: bounds the wait of the first one */
    QUIET_MS = 10,    /* without transactions: time for chores */
    PUT_OFF_MS = 20,  /* how long a transaction that nobody waits for is put off */
    FOREVER = -1,
};

struct store {
    pthread_t writer;
    struct group group; /* the writer's */

    pthread_mutex_t lock; /* for everything below */
    pthread_cond_t wake;  /* the writer: there is work, or the end */
    pthread_cond_t ran;   /* store_run(): a transaction is done */
    struct store_tx *first, **last;
    size_t n_queued, max_queued, n_awaited; /* awaited: of the queued ones */
    bool is_ending;
    struct store_stats stats;
};

/* ---- completions ---- */

/* The messages of transactions that end on the same loop, one behind the other, are one message. */
static void finish_transactions(struct loop_msg *m)
{
    struct store_tx *tx = container_of(m, struct store_tx, msg);

    while (tx) {
        struct store_tx *next = tx->next;
        tx->done(tx, tx->result, tx->ctx);
        store_tx_free(tx);
        tx = next;
    }
}

/* Wakes whoever waits in store_run(). */
static void finish_waiter(struct store *s, struct store_tx *tx)
{
    (void)pthread_mutex_lock(&s->lock);
    tx->is_done = true;
    (void)pthread_cond_broadcast(&s->ran);
    (void)pthread_mutex_unlock(&s->lock);
}

static void post_results(struct store *s, struct store_tx *tx)
{
    while (tx) {
        struct store_tx *head = tx, *tail = tx;
        while (tail->next && tail->next->loop == head->loop && head->loop)
            tail = tail->next;
        tx = tail->next;
        tail->next = NULL;
        if (head->loop)
            loop_post(head->loop, &head->msg, finish_transactions);
        else
            finish_waiter(s, head);
    }
}

/* ---- the writer ---- */

/* Cuts at most GROUP_MAX transactions off the queue; with the lock held. */
static struct store_tx *take_group(struct store *s, size_t *ret_n)
{
    struct store_tx *first = s->first, **end = &s->first;
    size_t n = 0;

    while (*end && n < GROUP_MAX) {
        s->n_awaited -= !(*end)->may_wait;
        end = &(*end)->next;
        n++;
    }
    s->first = *end;
    if (!s->first)
        s->last = &s->first;
    if (n > 0)
        *end = NULL;
    s->n_queued -= n;
    *ret_n = n;
    return n > 0 ? first : NULL;
}

/* Waits until *N is not 0, but not beyond WAIT_MS; FOREVER: until the store ends. With the lock
 * held. */
static void wait_for_count(struct store *s, const size_t *n, int wait_ms)
{
    struct timespec end;
    int r = wait_ms == 0 ? ETIMEDOUT : 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += wait_ms * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
    while (r != ETIMEDOUT && *n == 0 && !s->is_ending)
        r = wait_ms == FOREVER ? pthread_cond_wait(&s->wake, &s->lock)
                               : pthread_cond_clockwait(&s->wake, &s->lock, CLOCK_MONOTONIC, &end);
}

/* The next group; NULL when there is none. */
static struct store_tx *next_group(struct store *s, int wait_ms, size_t *ret_n)
{
    (void)pthread_mutex_lock(&s->lock);
    wait_for_count(s, &s->n_queued, wait_ms);
    if (s->n_queued > 0)
        wait_for_count(s, &s->n_awaited, PUT_OFF_MS);
    struct store_tx *txs = take_group(s, ret_n);
    (void)pthread_mutex_unlock(&s->lock);
    return txs;
}

static void count_transactions(struct store *s, const struct store_tx *txs)
{
    (void)pthread_mutex_lock(&s->lock);
    s->stats.commits = s->group.commits;
    s->stats.is_unsynced = s->group.is_unsynced;
    s->stats.last_event = s->group.head.seq;
    for (; txs; txs = txs->next) {
        s->stats.transactions += txs->result == 0;
        s->stats.failures += txs->result < 0;
    }
    (void)pthread_mutex_unlock(&s->lock);
}

static bool is_ending(struct store *s)
{
    (void)pthread_mutex_lock(&s->lock);
    bool ending = s->is_ending && !s->first;
    (void)pthread_mutex_unlock(&s->lock);
    return ending;
}

/* Not the program's clock, which tests set from their own thread. */
static int64_t monotonic_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static int shorter(int a_ms, int b_ms)
{
    return a_ms == FOREVER || (b_ms != FOREVER && b_ms < a_ms) ? b_ms : a_ms;
}

/* How long until what was committed at SINCE_MS has to be on the disk. */
static int sync_in_ms(const struct store *s, int64_t since_ms)
{
    int64_t left_ms = since_ms + STORE_SYNC_MS - monotonic_ms();

    return !s->group.is_unsynced ? FOREVER : left_ms > 0 ? (int)left_ms : 0;
}

static void apply_transactions(struct store *s, struct store_tx *txs, size_t n)
{
    group_apply(&s->group, txs, n);
    count_transactions(s, txs);
    post_results(s, txs);
}

static void sync_all(struct store *s)
{
    group_sync(&s->group);
    count_transactions(s, NULL);
}

/* Old events are removed between groups, and while nobody waits; so is the log tidied. */
static void *writer(void *arg)
{
    struct store *s = arg;
    bool prune_more = group_prune(&s->group);
    int64_t since_ms = 0;

    while (!is_ending(s)) {
        size_t n;
        bool was_unsynced = s->group.is_unsynced;
        enum store_chores chores = s->group.driver->chores(s->group.db);
        int wait_ms = prune_more ? 0 : chores == STORE_CHORES_NONE ? FOREVER : QUIET_MS;
        struct store_tx *txs = next_group(s, shorter(wait_ms, sync_in_ms(s, since_ms)), &n);
        if (txs)
            apply_transactions(s, txs, n);
        if (s->group.is_unsynced && !was_unsynced) {
            since_ms = monotonic_ms();
        } else if (sync_in_ms(s, since_ms) == 0) {
            sync_all(s);
            since_ms = monotonic_ms();
        }
        if (chores == STORE_CHORES_DUE || (chores == STORE_CHORES_SOME && !txs))
            s->group.driver->tidy(s->group.db);
        prune_more = group_prune(&s->group);
    }
    return NULL;
}

/* ---- submitting ---- */

static int enqueue_tx(struct store *s, struct store_tx *tx)
{
    bool has_news = false;
    int r = -EBUSY;

    (void)pthread_mutex_lock(&s->lock);
    assert(!s->is_ending);
    if (s->n_queued < s->max_queued) {
        tx->next = NULL;
        *s->last = tx;
        s->last = &tx->next;
        s->n_awaited += !tx->may_wait;
        has_news = s->n_queued++ == 0 || (!tx->may_wait && s->n_awaited == 1);
        r = 0;
    }
    (void)pthread_mutex_unlock(&s->lock);
    /* Not before: the writer would wake only to wait for the lock. */
    if (has_news)
        (void)pthread_cond_signal(&s->wake);
    return r;
}

int store_submit(struct store *s, struct store_tx *tx, struct loop *loop, store_done *done,
                 void *ctx)
{
    if (!tx)
        return -ENOMEM;
    tx->loop = loop;
    tx->done = done;
    tx->ctx = ctx;
    int r = tx->error ? tx->error : enqueue_tx(s, tx);
    if (r < 0)
        store_tx_free(tx);
    return r;
}

int store_run(struct store *s, struct store_tx *tx, struct err *e)
{
    int r = !tx ? -ENOMEM : tx->error ? tx->error : 0;

    if (r == 0) {
        tx->loop = NULL;
        tx->is_done = false;
        r = enqueue_tx(s, tx);
    }
    if (r < 0)
        return err_sys(e, r, "store");
    (void)pthread_mutex_lock(&s->lock);
    while (!tx->is_done)
        (void)pthread_cond_wait(&s->ran, &s->lock);
    (void)pthread_mutex_unlock(&s->lock);
    return tx->result < 0 ? err_sys(e, tx->result, "store") : 0;
}

struct store_stats store_stats(struct store *s)
{
    (void)pthread_mutex_lock(&s->lock);
    struct store_stats stats = s->stats;
    stats.queued = s->n_queued;
    (void)pthread_mutex_unlock(&s->lock);
    return stats;
}

/* ---- opening and closing ---- */

static void store_done_with(struct store *s)
{
    if (s->group.db)
        s->group.driver->close(s->group.db);
    (void)pthread_cond_destroy(&s->ran);
    (void)pthread_cond_destroy(&s->wake);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

static int start_writer(struct store *s, struct err *e)
{
    sigset_t all, old;

    /* Signals are for the loop's thread alone. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = pthread_create(&s->writer, NULL, writer, s);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r == 0 ? 0 : err_sys(e, -r, "start the store's writer");
}

static int open_database(struct store *s, const struct store_opts *opts, struct err *e)
{
    s->group.driver = &store_driver_sqlite;
    s->group.keep_events = opts->is_read_only  ? -1
                           : opts->keep_events ? opts->keep_events
                                               : KEEP_EVENTS;
    s->group.keep_account_events = opts->keep_account_events;
    s->group.db = s->group.driver->open(opts, e);
    if (!s->group.db)
        return -1;
    int r = group_load(&s->group, e);
    s->stats.last_event = s->group.head.seq;
    return r;
}

struct store *store_open(const struct store_opts *opts, struct err *e)
{
    struct store *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        (void)err_sys(e, -ENOMEM, "store");
        return NULL;
    }
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->wake, NULL);
    (void)pthread_cond_init(&s->ran, NULL);
    s->last = &s->first;
    s->max_queued = opts->max_queued ? opts->max_queued : MAX_QUEUED;
    if (open_database(s, opts, e) < 0 || start_writer(s, e) < 0) {
        store_done_with(s);
        return NULL;
    }
    return s;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    (void)pthread_mutex_lock(&s->lock);
    s->is_ending = true;
    (void)pthread_cond_signal(&s->wake);
    (void)pthread_mutex_unlock(&s->lock);
    (void)pthread_join(s->writer, NULL);
    store_done_with(s);
}
