/* SPDX-License-Identifier: MIT */
/* Threads that take connections: see io_threads.h. */
#include "cli/io_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"

struct io_thread {
    struct io_threads *all;
    struct loop *loop;
    struct http_server *server;
    pthread_t thread;
    bool is_running;
    struct loop_msg drain, drained;
};

struct io_threads {
    struct http_server *to;
    http_handler *handler;
    void (*on_error)(struct http_req *r, int status, const char *reason, void *ctx);
    void *ctx;
    int64_t grace_ms;
    struct loop *main;
    void (*done)(void *ctx);
    void *done_ctx;
    unsigned n_left; /* of a drain; main thread */
    unsigned n;
    struct io_thread items[];
};

/* ---- requests ---- */

static void on_io_thread_request(struct http_req *r, void *ctx)
{
    struct io_threads *t = ((struct io_thread *)ctx)->all;

    http_move(r, t->to, t->handler, t->ctx);
}

/* A fault that is found here is reported there, where its shape and the log entry are made. */
struct io_thread_fault {
    struct io_threads *all;
    int status;
    const char *reason;
};

static void tell_fault(struct http_req *r, void *ctx)
{
    const struct io_thread_fault *f = ctx;

    f->all->on_error(r, f->status, f->reason, f->all->ctx);
}

static void on_io_thread_error(struct http_req *r, int status, const char *reason, void *ctx)
{
    struct io_threads *t = ((struct io_thread *)ctx)->all;
    struct io_thread_fault *f = arena_new(r->arena, struct io_thread_fault);

    if (!f) {
        http_reply(r, status, NULL, STR_NULL);
        return;
    }
    *f = (struct io_thread_fault){t, status, reason};
    http_move(r, t->to, tell_fault, f);
}

/* ---- starting ---- */

static void *run_io_thread(void *arg)
{
    (void)loop_run(((struct io_thread *)arg)->loop);
    return NULL;
}

static int open_one(struct io_thread *t, const struct io_threads_args *args, struct err *e)
{
    struct http_server_opts opts = args->opts;

    t->loop = loop_new(e);
    if (!t->loop)
        return -ENOMEM;
    opts.loop = t->loop;
    opts.handler = on_io_thread_request;
    opts.on_error = on_io_thread_error;
    opts.on_done = NULL;
    opts.ctx = t;
    t->server = http_server_new(&opts, e);
    if (!t->server)
        return -ENOMEM;
    /* One socket in several loops: a wake-up too many costs less than a second queue, whose share
     * of the connections would wait behind a busy thread. */
    int fd = fcntl(args->listener, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(e, -errno, "share the listening socket");
    return http_server_listen(t->server, fd, e);
}

static int start_one(struct io_thread *t, struct err *e)
{
    int r = pthread_create(&t->thread, NULL, run_io_thread, t);

    if (r != 0)
        return err_sys(e, -r, "start an I/O thread");
    t->is_running = true;
    return 0;
}

/* Signals are for the main thread alone. */
static int start_all(struct io_threads *t, struct err *e)
{
    sigset_t all, old;
    int r = 0;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    for (unsigned i = 0; r == 0 && i < t->n; i++)
        r = start_one(&t->items[i], e);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r;
}

struct io_threads *io_threads_start(const struct io_threads_args *args, struct err *e)
{
    struct io_threads *t = mem_zalloc(1, sizeof *t + args->n * sizeof t->items[0]);
    int r = 0;

    if (!t) {
        (void)err_sys(e, -ENOMEM, "I/O threads");
        return NULL;
    }
    t->to = args->to;
    t->handler = args->handler;
    t->on_error = args->on_error;
    t->ctx = args->ctx;
    t->n = args->n;
    for (unsigned i = 0; r == 0 && i < t->n; i++) {
        t->items[i].all = t;
        r = open_one(&t->items[i], args, e);
    }
    if (r == 0)
        r = start_all(t, e);
    if (r < 0) {
        io_threads_free(t);
        return NULL;
    }
    return t;
}

/* ---- stopping ---- */

static void on_all_drained(struct loop_msg *m)
{
    struct io_threads *t = container_of(m, struct io_thread, drained)->all;

    if (--t->n_left == 0)
        t->done(t->done_ctx);
}

static void on_io_thread_drained(void *ctx)
{
    struct io_thread *t = ctx;

    loop_post(t->all->main, &t->drained, on_all_drained);
}

static void drain_one(struct loop_msg *m)
{
    struct io_thread *t = container_of(m, struct io_thread, drain);

    http_server_drain(t->server, t->all->grace_ms, on_io_thread_drained, t);
}

void io_threads_drain(struct io_threads *t, int64_t grace_ms, struct loop *loop,
                      void (*done)(void *ctx), void *ctx)
{
    t->grace_ms = grace_ms;
    t->main = loop;
    t->done = done;
    t->done_ctx = ctx;
    t->n_left = t->n;
    for (unsigned i = 0; i < t->n; i++)
        loop_post(t->items[i].loop, &t->items[i].drain, drain_one);
}

void io_threads_free(struct io_threads *t)
{
    if (!t)
        return;
    for (unsigned i = 0; i < t->n; i++) {
        struct io_thread *one = &t->items[i];
        if (one->is_running) {
            loop_stop(one->loop);
            (void)pthread_join(one->thread, NULL);
        }
        http_server_free(one->server);
        loop_free(one->loop);
    }
    free(t);
}
