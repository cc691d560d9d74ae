/* SPDX-License-Identifier: MIT */
#include "local/kit/daemon_request.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "local/kit/pool.h"
#include "loop/loop.h"
#include "net/http_server.h"

enum {
    QUEUE_BYTES = 512 << 10, /* in each direction; then the other side waits */
    QUEUE_MAX = 4 << 20,     /* what arrives at once may pass that */
    ARENA_MAX = 256 << 20,
    FAULT_TEXT_MAX = 2000
};

/* The loop's thread owns the request, a thread of the pool runs the row. Between them are two
 * queues of bytes; what one side has taken out of a queue is its own. */
struct daemon_job {
    struct request q;
    struct pool_job job;
    struct loop *loop;
    const struct request_row *row;

    /* The loop's thread. */
    struct http_req *req;
    struct buf sending;
    bool has_begun;

    /* The row's thread. */
    struct buf reading;
    size_t n_read;

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t has_moved;
    struct loop_msg msg;
    bool is_posted;
    struct buf in, out;
    int in_end; /* 0: more may come; 1: complete; -errno */
    bool is_held, is_gone;
    bool is_done;
    const char *type; /* of an answer that is not streamed; else NULL */
    int status;       /* of a refusal; else 0 */
};

/* ---- the loop's thread ---- */

static void free_daemon_job(struct daemon_job *j)
{
    buf_done(&j->in);
    buf_done(&j->out);
    buf_done(&j->reading);
    buf_done(&j->sending);
    arena_done(&j->q.arena);
    (void)pthread_cond_destroy(&j->has_moved);
    (void)pthread_mutex_destroy(&j->lock);
    free(j);
}

static void finish_request_job(struct daemon_job *j)
{
    struct http_req *r = j->req;

    if (j->has_begun && j->status)
        http_abort(r);
    else if (j->has_begun)
        http_end(r);
    else if (j->status)
        http_reply(r, j->status, "text/plain", buf_str(&j->out));
    else
        http_reply(r, 200, j->type ? j->type : "application/octet-stream", buf_str(&j->out));
    free_daemon_job(j);
}

/* Swaps what waits for sending out of the queue; true when nothing can follow it. */
static bool take_output(struct daemon_job *j)
{
    struct buf empty = j->sending;
    bool is_whole = j->type || j->status;

    buf_clear(&j->sending);
    if (is_whole || (j->has_begun && http_is_full(j->req) && !j->is_gone))
        return is_whole && j->is_done;
    buf_clear(&empty);
    j->sending = j->out;
    j->out = empty;
    (void)pthread_cond_signal(&j->has_moved);
    return j->is_done;
}

static void on_request_drain(struct http_req *r, void *ctx);

static void send_daemon_output(struct daemon_job *j)
{
    if (j->sending.len == 0)
        return;
    if (!j->has_begun)
        http_start(j->req, 200, "application/octet-stream", -1);
    j->has_begun = true;
    (void)http_write(j->req, j->sending.p, j->sending.len);
}

/* Lets both directions go on as far as they can. */
static void move_on(struct daemon_job *j)
{
    (void)pthread_mutex_lock(&j->lock);
    bool wants_more = j->is_held && j->in.len < QUEUE_BYTES / 2 && !j->is_done;
    if (wants_more)
        j->is_held = false;
    bool is_last = take_output(j);
    (void)pthread_mutex_unlock(&j->lock);

    if (wants_more)
        http_body_resume(j->req);
    send_daemon_output(j);
    if (is_last)
        finish_request_job(j);
    else if (j->has_begun && http_is_full(j->req) && !j->is_gone)
        http_on_drain(j->req, on_request_drain, j);
}

static void on_request_drain(struct http_req *r, void *ctx)
{
    (void)r;
    move_on(ctx);
}

static void on_request_message(struct loop_msg *m)
{
    struct daemon_job *j = container_of(m, struct daemon_job, msg);

    (void)pthread_mutex_lock(&j->lock);
    j->is_posted = false;
    (void)pthread_mutex_unlock(&j->lock);
    move_on(j);
}

/* Under the lock. */
static void post_request_job(struct daemon_job *j)
{
    if (j->is_posted)
        return;
    j->is_posted = true;
    loop_post(j->loop, &j->msg, on_request_message);
}

static int on_request_piece(struct http_req *r, void *ctx, const char *p, size_t len)
{
    struct daemon_job *j = ctx;

    (void)pthread_mutex_lock(&j->lock);
    int code = buf_add(&j->in, p, len);
    if (code < 0)
        j->in_end = -EBADMSG;
    j->is_held = code == 0 && j->in.len >= QUEUE_BYTES;
    bool hold = j->is_held;
    (void)pthread_cond_signal(&j->has_moved);
    (void)pthread_mutex_unlock(&j->lock);
    if (hold)
        http_body_pause(r);
    return code;
}

static void end_input(struct daemon_job *j, int how, bool is_gone)
{
    (void)pthread_mutex_lock(&j->lock);
    if (j->in_end == 0)
        j->in_end = how;
    j->is_gone = is_gone;
    if (is_gone)
        post_request_job(j); /* nothing waits for room any more */
    (void)pthread_cond_signal(&j->has_moved);
    (void)pthread_mutex_unlock(&j->lock);
}

static void on_request_complete(struct http_req *r, void *ctx)
{
    (void)r;
    end_input(ctx, 1, false);
}

static void on_request_gone(struct http_req *r)
{
    end_input(r->abort_ctx, r->fault ? -EBADMSG : -EPIPE, !r->fault);
}

static void run_request_job(struct pool_job *pj);

void request_start(struct http_req *r, struct pool *pool, const struct local *local,
                   const struct request_row *row)
{
    static const struct http_body_sink sink = {.on_data = on_request_piece,
                                               .on_end = on_request_complete};
    struct daemon_job *j = mem_zalloc(1, sizeof *j);

    if (!j) {
        http_reply(r, 500, "text/plain", STR("out of memory"));
        return;
    }
    j->q.local = local;
    arena_init(&j->q.arena, ARENA_MAX);
    j->q.query = arena_str(&j->q.arena, r->head.query);
    j->job.run = run_request_job;
    j->loop = r->loop;
    j->row = row;
    j->req = r;
    buf_init(&j->in, QUEUE_MAX);
    buf_init(&j->reading, QUEUE_MAX);
    buf_init(&j->out, QUEUE_MAX);
    buf_init(&j->sending, QUEUE_MAX);
    (void)pthread_mutex_init(&j->lock, NULL);
    (void)pthread_cond_init(&j->has_moved, NULL);
    if (pool_run(pool, &j->job) < 0) {
        http_reply(r, 503, "text/plain", STR("no thread could be started"));
        free_daemon_job(j);
        return;
    }
    r->on_abort = on_request_gone;
    r->abort_ctx = j;
    http_stream_body(r, UINT64_MAX, &sink, j);
}

/* ---- the row's thread ---- */

static struct daemon_job *daemon_job_of(struct request *q)
{
    return container_of(q, struct daemon_job, q);
}

static void run_request_job(struct pool_job *pj)
{
    struct daemon_job *j = container_of(pj, struct daemon_job, job);

    j->row->run(&j->q);
    (void)pthread_mutex_lock(&j->lock);
    j->is_done = true;
    post_request_job(j);
    (void)pthread_mutex_unlock(&j->lock);
}

struct str request_param(struct request *q, const char *name)
{
    struct str v = http_query_get(&q->arena, q->query, name);

    return v.p ? v : STR("");
}

/* Exchanges what was read for what has arrived: 1, or 0 and -errno at the end. */
static int fill_request_input(struct daemon_job *j)
{
    (void)pthread_mutex_lock(&j->lock);
    while (j->in.len == 0 && j->in_end == 0)
        (void)pthread_cond_wait(&j->has_moved, &j->lock);
    int r = j->in.len > 0 ? 1 : j->in_end == 1 ? 0 : j->in_end;
    if (r > 0) {
        struct buf empty = j->reading;
        buf_clear(&empty);
        j->reading = j->in;
        j->in = empty;
        j->n_read = 0;
        if (j->is_held)
            post_request_job(j);
    }
    (void)pthread_mutex_unlock(&j->lock);
    return r;
}

ssize_t request_read(struct request *q, void *p, size_t n)
{
    struct daemon_job *j = daemon_job_of(q);

    if (j->n_read == j->reading.len) {
        int r = fill_request_input(j);
        if (r <= 0)
            return r;
    }
    size_t left = j->reading.len - j->n_read, len = n < left ? n : left;
    memcpy(p, j->reading.p + j->n_read, len);
    j->n_read += len;
    return (ssize_t)len;
}

int request_read_all(struct request *q, size_t max, struct str *ret)
{
    auto_buf struct buf b = BUF_INIT(max);
    char piece[16384];
    ssize_t n;

    while ((n = request_read(q, piece, sizeof piece)) > 0) {
        if (buf_add(&b, piece, (size_t)n) < 0)
            return b.error == -ENOMEM ? -ENOMEM : -EFBIG;
    }
    if (n < 0)
        return (int)n;
    *ret = arena_str(&q->arena, buf_str(&b));
    return ret->p ? 0 : -ENOMEM;
}

int request_write(struct request *q, const void *p, size_t n)
{
    struct daemon_job *j = daemon_job_of(q);
    const char *at = p;
    bool is_gone;

    (void)pthread_mutex_lock(&j->lock);
    do {
        while (j->out.len >= QUEUE_BYTES && !j->is_gone)
            (void)pthread_cond_wait(&j->has_moved, &j->lock);
        is_gone = j->is_gone;
        size_t len = n < QUEUE_BYTES ? n : QUEUE_BYTES;
        if (is_gone || buf_add(&j->out, at, len) < 0)
            break;
        post_request_job(j);
        at += len;
        n -= len;
    } while (n > 0);
    int r = is_gone ? -EPIPE : j->out.error;
    (void)pthread_mutex_unlock(&j->lock);
    return r;
}

void request_reply(struct request *q, const char *content_type, struct str body)
{
    struct daemon_job *j = daemon_job_of(q);

    (void)pthread_mutex_lock(&j->lock);
    j->type = content_type;
    j->out.max = body.len > QUEUE_MAX ? body.len : QUEUE_MAX;
    buf_clear(&j->out);
    if (buf_add_str(&j->out, body) < 0)
        j->status = 500;
    (void)pthread_mutex_unlock(&j->lock);
}

void request_fail(struct request *q, int status, const char *fmt, ...)
{
    struct daemon_job *j = daemon_job_of(q);
    char text[FAULT_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)pthread_mutex_lock(&j->lock);
    j->status = status;
    buf_clear(&j->out);
    (void)buf_add_str(&j->out, str_of(text));
    (void)pthread_mutex_unlock(&j->lock);
}
