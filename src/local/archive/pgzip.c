/* SPDX-License-Identifier: MIT */
#include "local/archive/pgzip.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/mem.h"

enum { THREADS_MAX = 8, SLOTS_MAX = 2 * THREADS_MAX, STACK_BYTES = 128 << 10 };

enum slot_state { SLOT_FREE, SLOT_FULL, SLOT_BUSY, SLOT_DONE };

/* A piece on its way. In the order of the stream, slots are used again and again. */
struct pgzip_slot {
    enum slot_state state;
    bool is_last;
    size_t dict, len;
    uint32_t crc;
    int error;
    struct buf out;
    unsigned char *bytes; /* the last ones of the piece before, then the piece */
};

struct pgzip {
    deflate_sink *sink;
    void *ctx;
    struct deflate_work *work; /* of the caller's thread */
    uint32_t crc;
    uint64_t size;
    int error;
    size_t n_slots, filling, oldest; /* oldest: not yet handed on */
    struct pgzip_slot slots[SLOTS_MAX];

    pthread_t threads[THREADS_MAX];
    unsigned n_threads;
    pthread_mutex_t lock; /* guards states */
    pthread_cond_t has_changed;
    size_t next; /* to be compressed */
    bool is_over;
};

static void compress_slot(struct pgzip_slot *s, struct deflate_work *w)
{
    s->crc = crc32_add(0, s->bytes + s->dict, s->len);
    const struct deflate_piece piece = {s->bytes + s->dict, s->len, s->dict, s->is_last};
    s->error = deflate_piece(w, &piece, &s->out);
}

static void *compress_slots(void *ctx)
{
    struct pgzip *g = ctx;
    struct deflate_work *w = deflate_work_new();

    (void)pthread_mutex_lock(&g->lock);
    while (w && !g->is_over) {
        struct pgzip_slot *s = &g->slots[g->next % g->n_slots];
        if (s->state != SLOT_FULL) {
            (void)pthread_cond_wait(&g->has_changed, &g->lock);
            continue;
        }
        g->next++;
        s->state = SLOT_BUSY;
        (void)pthread_mutex_unlock(&g->lock);
        compress_slot(s, w);
        (void)pthread_mutex_lock(&g->lock);
        s->state = SLOT_DONE;
        (void)pthread_cond_broadcast(&g->has_changed);
    }
    (void)pthread_mutex_unlock(&g->lock);
    deflate_work_free(w);
    return NULL;
}

static unsigned n_processors(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

static void start_threads(struct pgzip *g)
{
    pthread_attr_t attr;
    unsigned n = n_processors();

    if (n < 2 || pthread_attr_init(&attr) != 0)
        return;
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (g->n_threads < n &&
           pthread_create(&g->threads[g->n_threads], &attr, compress_slots, g) == 0)
        g->n_threads++;
    (void)pthread_attr_destroy(&attr);
}

struct pgzip *pgzip_new(deflate_sink *sink, void *ctx)
{
    struct pgzip *g = mem_zalloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->sink = sink;
    g->ctx = ctx;
    g->n_slots = 2 * (size_t)n_processors();
    (void)pthread_mutex_init(&g->lock, NULL);
    (void)pthread_cond_init(&g->has_changed, NULL);
    for (size_t i = 0; i < g->n_slots; i++)
        buf_init(&g->slots[i].out, 2 * (size_t)DEFLATE_PIECE);
    g->work = deflate_work_new();
    g->slots[0].bytes = mem_alloc(DEFLATE_WINDOW + DEFLATE_PIECE);
    if (g->work && g->slots[0].bytes)
        return g;
    pgzip_free(g);
    return NULL;
}

void pgzip_free(struct pgzip *g)
{
    if (!g)
        return;
    (void)pthread_mutex_lock(&g->lock);
    g->is_over = true;
    (void)pthread_cond_broadcast(&g->has_changed);
    (void)pthread_mutex_unlock(&g->lock);
    for (unsigned i = 0; i < g->n_threads; i++)
        (void)pthread_join(g->threads[i], NULL);
    for (size_t i = 0; i < g->n_slots; i++) {
        buf_done(&g->slots[i].out);
        free(g->slots[i].bytes);
    }
    deflate_work_free(g->work);
    (void)pthread_cond_destroy(&g->has_changed);
    (void)pthread_mutex_destroy(&g->lock);
    free(g);
}

/* Waits until S is compressed; does it here when no thread has begun to. */
static void await_slot(struct pgzip *g, struct pgzip_slot *s)
{
    (void)pthread_mutex_lock(&g->lock);
    bool is_mine = s->state == SLOT_FULL && g->next == g->oldest;
    if (is_mine) {
        g->next++;
        s->state = SLOT_BUSY;
    }
    while (!is_mine && s->state != SLOT_DONE)
        (void)pthread_cond_wait(&g->has_changed, &g->lock);
    (void)pthread_mutex_unlock(&g->lock);
    if (is_mine)
        compress_slot(s, g->work);
}

/* Hands the oldest piece on. */
static void hand_on(struct pgzip *g)
{
    struct pgzip_slot *s = &g->slots[g->oldest % g->n_slots];
    auto_buf struct buf head = BUF_INIT(64);

    await_slot(g, s);
    g->oldest++;
    if (g->error == 0)
        g->error = s->error;
    if (g->error == 0 && g->size == 0) {
        g->error = deflate_gzip_head(&head);
        if (g->error == 0)
            g->error = g->sink(g->ctx, head.p, head.len);
    }
    g->crc = crc32_join(g->crc, s->crc, s->len);
    g->size += s->len;
    if (g->error == 0 && s->is_last)
        g->error = deflate_gzip_tail(&s->out, g->crc, g->size);
    if (g->error == 0)
        g->error = g->sink(g->ctx, s->out.p, s->out.len);
    buf_clear(&s->out);
    (void)pthread_mutex_lock(&g->lock);
    s->state = SLOT_FREE;
    (void)pthread_mutex_unlock(&g->lock);
}

/* Gives the piece that is being filled to the threads and begins the next. */
static void turn_over(struct pgzip *g, bool is_last)
{
    struct pgzip_slot *s = &g->slots[g->filling % g->n_slots];

    (void)pthread_mutex_lock(&g->lock);
    s->is_last = is_last;
    s->state = SLOT_FULL;
    (void)pthread_cond_broadcast(&g->has_changed);
    (void)pthread_mutex_unlock(&g->lock);
    g->filling++;
    if (is_last)
        return;
    if (g->n_threads == 0)
        start_threads(g);
    if (g->filling - g->oldest == g->n_slots)
        hand_on(g);
    struct pgzip_slot *t = &g->slots[g->filling % g->n_slots];
    if (!t->bytes)
        t->bytes = mem_alloc(DEFLATE_WINDOW + DEFLATE_PIECE);
    if (!t->bytes) {
        g->error = -ENOMEM;
        return;
    }
    size_t all = s->dict + s->len;
    t->dict = all < DEFLATE_WINDOW ? all : DEFLATE_WINDOW;
    t->len = 0;
    memcpy(t->bytes, s->bytes + all - t->dict, t->dict);
}

int pgzip_feed(struct pgzip *g, const void *p, size_t len)
{
    const char *at = p;

    while (g->error == 0 && len > 0) {
        struct pgzip_slot *s = &g->slots[g->filling % g->n_slots];
        size_t room = DEFLATE_PIECE - s->len, n = len < room ? len : room;
        memcpy(s->bytes + s->dict + s->len, at, n);
        s->len += n;
        at += n;
        len -= n;
        if (s->len == DEFLATE_PIECE)
            turn_over(g, false);
    }
    return g->error;
}

int pgzip_finish(struct pgzip *g)
{
    if (g->error == 0)
        turn_over(g, true);
    while (g->error == 0 && g->oldest < g->filling)
        hand_on(g);
    return g->error;
}
