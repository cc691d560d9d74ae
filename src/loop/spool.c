/* SPDX-License-Identifier: MIT */
#include "loop/spool.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "loop/work.h"
#include "sys/io.h"

enum {
    JOB_BYTES = 256 << 10, /* worth a thread's while */
    FULL_BYTES = 1 << 20,
    GATHER_MAX = 8 << 20, /* what comes at once may pass FULL_BYTES */
    PIECE_BYTES = 512 << 10
};

/* ---- writing ---- */

struct spool {
    struct work work;
    struct work_pool *pool;
    struct loop *loop;
    int fd;
    int error;
    uint64_t size;
    struct buf gathering, writing; /* the latter is the thread's while is_busy */
    bool is_busy, is_dropped;
    spool_fn *end; /* it is ending */
    void *end_ctx;
    void (*room)(void *ctx);
    void *room_ctx;
};

struct spool *spool_new(struct work_pool *pool, struct loop *loop, int fd)
{
    struct spool *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        (void)close(fd);
        return NULL;
    }
    s->pool = pool;
    s->loop = loop;
    s->fd = fd;
    buf_init(&s->gathering, GATHER_MAX);
    buf_init(&s->writing, GATHER_MAX);
    return s;
}

static void spool_free(struct spool *s)
{
    (void)close(s->fd);
    buf_done(&s->gathering);
    buf_done(&s->writing);
    free(s);
}

static void write_all(struct work *w)
{
    struct spool *s = container_of(w, struct spool, work);
    int r = io_write_all(s->fd, s->writing.p, s->writing.len);

    buf_clear(&s->writing);
    if (r < 0)
        s->error = r;
}

static void go_on_spooling(struct spool *s);

static void on_piece_written(struct work *w)
{
    struct spool *s = container_of(w, struct spool, work);

    s->is_busy = false;
    go_on_spooling(s);
}

static void start_spool(struct spool *s)
{
    struct buf empty = s->writing;

    s->writing = s->gathering;
    s->gathering = empty;
    s->work.run = write_all;
    s->work.done = on_piece_written;
    int r = work_submit(s->pool, s->loop, &s->work);
    s->is_busy = r == 0;
    if (r < 0)
        s->error = r;
}

/* No thread is at it: what is next? */
static void go_on_spooling(struct spool *s)
{
    if (s->is_dropped) {
        spool_free(s);
        return;
    }
    bool is_worth_it = s->gathering.len >= JOB_BYTES || (s->end && s->gathering.len > 0);
    if (s->error == 0 && is_worth_it)
        start_spool(s);
    if (s->end && !s->is_busy) {
        spool_fn *fn = s->end;
        void *ctx = s->end_ctx;
        int r = s->error;
        spool_free(s);
        fn(ctx, r);
        return;
    }
    /* After a failure as well: the next bytes are what learns of it. */
    if (s->room && (s->error < 0 || !spool_is_full(s))) {
        void (*fn)(void *) = take(s->room);
        fn(s->room_ctx);
    }
}

int spool_write(struct spool *s, const void *p, size_t len)
{
    int r = s->is_busy ? 0 : s->error; /* while a thread works it is the thread's */

    if (r == 0)
        r = buf_add(&s->gathering, p, len);
    s->size += len;
    if (r == 0 && !s->is_busy && s->gathering.len >= JOB_BYTES)
        start_spool(s);
    return r;
}

bool spool_is_full(const struct spool *s)
{
    return s->gathering.len >= FULL_BYTES;
}

void spool_on_room(struct spool *s, void (*fn)(void *ctx), void *ctx)
{
    s->room = fn;
    s->room_ctx = ctx;
}

uint64_t spool_size(const struct spool *s)
{
    return s->size;
}

static void nothing(struct work *w)
{
    (void)w;
}

void spool_end(struct spool *s, spool_fn *fn, void *ctx)
{
    s->end = fn;
    s->end_ctx = ctx;
    if (s->is_busy)
        return;
    /* Never a callback before this returns. */
    s->work.run = s->gathering.len > 0 ? write_all : nothing;
    s->work.done = on_piece_written;
    struct buf empty = s->writing;
    s->writing = s->gathering;
    s->gathering = empty;
    s->is_busy = work_submit(s->pool, s->loop, &s->work) == 0;
    if (!s->is_busy) {
        s->error = -EBUSY;
        go_on_spooling(s);
    }
}

void spool_drop(struct spool *s)
{
    if (!s)
        return;
    s->is_dropped = true;
    if (!s->is_busy)
        spool_free(s);
}

/* ---- reading ---- */

struct spool_reader {
    struct work work;
    struct work_pool *pool;
    struct loop *loop;
    int fd;
    uint64_t at, left;
    ssize_t n; /* of the last piece, or -errno */
    spool_piece_fn *fn;
    void *ctx;
    bool is_busy, is_freed;
    char piece[PIECE_BYTES];
};

struct spool_reader *spool_reader_new(struct work_pool *pool, struct loop *loop, int fd,
                                      uint64_t at, uint64_t len)
{
    struct spool_reader *r = mem_alloc(sizeof *r);

    if (!r) {
        (void)close(fd);
        return NULL;
    }
    memset(r, 0, offsetof(struct spool_reader, piece));
    r->pool = pool;
    r->loop = loop;
    r->fd = fd;
    r->at = at;
    r->left = len;
    return r;
}

static void read_spool_piece(struct work *w)
{
    struct spool_reader *r = container_of(w, struct spool_reader, work);
    size_t want = r->left < PIECE_BYTES ? (size_t)r->left : PIECE_BYTES;
    ssize_t n = want > 0 ? pread(r->fd, r->piece, want, (off_t)r->at) : 0;

    r->n = n < 0 ? -errno : n;
    if (n == 0 && want > 0)
        r->n = -EIO;
}

static void on_piece_read(struct work *w)
{
    struct spool_reader *r = container_of(w, struct spool_reader, work);

    r->is_busy = false;
    if (r->is_freed) {
        spool_reader_free(r);
        return;
    }
    size_t n = r->n > 0 ? (size_t)r->n : 0;
    r->at += n;
    r->left -= n;
    r->fn(r->ctx, str_n(r->piece, n), r->n < 0 ? (int)r->n : 0);
}

void spool_read(struct spool_reader *r, spool_piece_fn *fn, void *ctx)
{
    r->fn = fn;
    r->ctx = ctx;
    r->work.run = read_spool_piece;
    r->work.done = on_piece_read;
    int c = work_submit(r->pool, r->loop, &r->work);
    r->is_busy = c == 0;
    if (c < 0)
        fn(ctx, STR(""), c);
}

void spool_reader_free(struct spool_reader *r)
{
    if (!r)
        return;
    r->is_freed = true;
    if (r->is_busy)
        return;
    (void)close(r->fd);
    free(r);
}
