/* SPDX-License-Identifier: MIT */
/* The HTTP server as a whole: listeners, limits, draining. See http_server.h. */
#include "net/http_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/mem.h"
#include "net/http_internal.h"
#include "sys/io.h"

enum {
    MAX_FREE = 64, /* requests kept for reuse */
    ACCEPTS = 64,  /* connections taken in one round */
    ACCEPT_RETRY_MS = 100,
    MAX_ARENA = 64 << 20,
    MAX_DROP = 256 << 10,
};

/* ---- requests for reuse ---- */

struct http_xchg *http_xchg_take(struct http_server *s)
{
    struct http_xchg *x = s->free_list;

    if (x) {
        s->free_list = x->next_free;
        s->n_free--;
        struct arena arena = x->arena;
        *x = (struct http_xchg){.arena = arena};
    } else {
        x = mem_zalloc(1, sizeof *x);
        if (!x)
            return NULL;
        arena_init(&x->arena, s->opts.max_arena);
    }
    x->req.arena = &x->arena;
    return x;
}

void http_xchg_put(struct http_server *s, struct http_xchg *x)
{
    buf_done(&x->body);
    if (s && s->n_free < MAX_FREE) {
        arena_reset(&x->arena);
        x->arena.max = s->opts.max_arena;
        x->next_free = s->free_list;
        s->free_list = x;
        s->n_free++;
        return;
    }
    arena_done(&x->arena);
    free(x);
}

static void free_pool(struct http_server *s)
{
    while (s->free_list) {
        struct http_xchg *x = s->free_list;
        s->free_list = x->next_free;
        arena_done(&x->arena);
        free(x);
    }
    s->n_free = 0;
}

/* ---- headers of every answer ---- */

struct str http_server_common(struct http_server *s)
{
    int64_t now = loop_now_ms(s->opts.loop);

    if (now >= s->common_until_ms) {
        const char *name = s->opts.server_name;
        char date[CLOCK_RFC3339_MAX];
        int64_t real_us = clock_real_us();
        clock_http_date(date, real_us);
        int n = snprintf(s->common, sizeof s->common, "Date: %s\r\n%s%.64s%s", date,
                         name ? "Server: " : "", name ? name : "", name ? "\r\n" : "");
        s->common_len = (size_t)n;
        s->common_until_ms = now + 1000 - real_us / 1000 % 1000;
    }
    return str_n(s->common, s->common_len);
}

/* ---- listeners ---- */

void http_server_adopt(struct http_server *s, int fd)
{
    if (s->is_draining || (s->opts.max_conns && s->stats.active >= s->opts.max_conns)) {
        s->stats.rejected++;
        (void)close(fd);
        return;
    }
    (void)io_set_nonblock(fd, true);
    /* Fails on Unix sockets, which have nothing to delay. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (http_conn_new(s, fd) < 0)
        s->stats.rejected++;
}

static void on_acceptable(struct loop_io *io, uint32_t events);

static void retry_accept(struct loop_timer *t)
{
    struct http_listener *l = container_of(t, struct http_listener, retry);

    (void)loop_io_want(&l->io, EPOLLIN);
}

/* Without descriptors or memory the connection stays in the kernel's queue and epoll goes on
 * reporting it: look away for a moment. */
static void rest_listener(struct http_listener *l)
{
    if (loop_timer_start(l->server->opts.loop, &l->retry, ACCEPT_RETRY_MS, retry_accept) == 0)
        (void)loop_io_want(&l->io, 0);
}

static int accept_one(struct http_listener *l)
{
    struct http_server *s = l->server;
    int fd;

    if (fault_hit(FAULT_IO))
        return -EMFILE;
    fd = accept4(l->io.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return -errno;
    if (s->opts.max_conns && s->stats.active >= s->opts.max_conns) {
        s->stats.rejected++;
        (void)close(fd);
        return 0;
    }
    if (http_conn_new(s, fd) < 0)
        s->stats.rejected++;
    return 0;
}

static void on_acceptable(struct loop_io *io, uint32_t events)
{
    struct http_listener *l = container_of(io, struct http_listener, io);

    (void)events;
    for (int i = 0; i < ACCEPTS; i++) {
        int r = accept_one(l);
        if (r == -EMFILE || r == -ENFILE || r == -ENOBUFS || r == -ENOMEM)
            rest_listener(l);
        /* Anything else but "no more" is the fault of one connection that is gone already. */
        if (r < 0 && r != -ECONNABORTED && r != -EINTR)
            return;
    }
}

int http_server_listen(struct http_server *s, int fd, struct err *e)
{
    auto_close int owned = fd;
    auto_free struct http_listener *l = mem_zalloc(1, sizeof *l);

    if (!l)
        return err_sys(e, -ENOMEM, "listen");
    l->server = s;
    /* Accepted connections inherit it. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    int r = io_set_nonblock(fd, true);
    if (r == 0)
        r = loop_io_start(s->opts.loop, &l->io, fd, EPOLLIN, on_acceptable);
    if (r < 0)
        return err_sys(e, r, "listen");
    list_append(&s->listeners, &l->node);
    (void)take_fd(owned);
    (void)take(l);
    return 0;
}

static void stop_listening(struct http_server *s)
{
    struct list *node;

    while ((node = list_pop(&s->listeners))) {
        struct http_listener *l = list_entry(node, struct http_listener, node);
        loop_timer_stop(&l->retry);
        loop_io_stop(&l->io);
        (void)close(l->io.fd);
        free(l);
    }
}

/* ---- the server ---- */

static void set_defaults(struct http_server_opts *o)
{
    const struct http_limits limits = HTTP_LIMITS_DEFAULT;
    const struct http_timeouts timeouts = HTTP_TIMEOUTS_DEFAULT;
    struct http_timeouts *t = &o->timeouts;

    o->limits.max_head = o->limits.max_head ? o->limits.max_head : limits.max_head;
    o->limits.max_target = o->limits.max_target ? o->limits.max_target : limits.max_target;
    o->limits.max_headers = o->limits.max_headers ? o->limits.max_headers : limits.max_headers;
    t->head_ms = t->head_ms ? t->head_ms : timeouts.head_ms;
    t->body_ms = t->body_ms ? t->body_ms : timeouts.body_ms;
    t->idle_ms = t->idle_ms ? t->idle_ms : timeouts.idle_ms;
    t->write_ms = t->write_ms ? t->write_ms : timeouts.write_ms;
    o->max_arena = o->max_arena ? o->max_arena : MAX_ARENA;
    o->max_drop = o->max_drop ? o->max_drop : MAX_DROP;
}

struct http_server *http_server_new(const struct http_server_opts *opts, struct err *e)
{
    struct http_server *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        (void)err_sys(e, -ENOMEM, "HTTP server");
        return NULL;
    }
    s->opts = *opts;
    set_defaults(&s->opts);
    list_init(&s->conns);
    list_init(&s->listeners);
    id_random(&s->id_prefix, sizeof s->id_prefix);
    return s;
}

static bool has_no_connections(struct http_server *s)
{
    return s->stats.active == 0 && atomic_load(&s->n_arriving) == 0;
}

static void finish_drain(struct http_server *s)
{
    void (*fn)(void *ctx) = take(s->drained);

    loop_timer_stop(&s->grace);
    if (fn)
        fn(s->drained_ctx);
}

static void on_grace_over(struct loop_timer *t)
{
    finish_drain(container_of(t, struct http_server, grace));
}

void http_server_left(struct http_server *s)
{
    /* In the next round: the caller is deep inside a connection, and DONE may free the server.
     */
    if (s->is_draining && s->drained && has_no_connections(s))
        (void)loop_timer_start(s->opts.loop, &s->grace, 0, on_grace_over);
}

void http_server_drain(struct http_server *s, int64_t grace_ms, void (*done)(void *ctx), void *ctx)
{
    s->is_draining = true;
    s->drained = done;
    s->drained_ctx = ctx;
    stop_listening(s);
    list_each(node, &s->conns)
    {
        struct http_conn *c = list_entry(node, struct http_conn, node);
        if (http_conn_is_idle(c))
            stream_close(c->stream);
    }
    if (loop_timer_start(s->opts.loop, &s->grace, has_no_connections(s) ? 0 : grace_ms,
                         on_grace_over) < 0)
        finish_drain(s);
}

void http_server_free(struct http_server *s)
{
    struct list *node;

    if (!s)
        return;
    stop_listening(s);
    loop_timer_stop(&s->grace);
    s->drained = NULL;
    /* Requests that no handler works on end here, with their hook; the others lose their server. */
    list_each(it, &s->conns)
    {
        struct stream *stream = list_entry(it, struct http_conn, node)->stream;
        if (stream)
            stream_close(stream);
    }
    while ((node = list_pop(&s->conns)))
        http_conn_orphan(list_entry(node, struct http_conn, node));
    free_pool(s);
    free(s);
}

struct http_server_stats http_server_stats(const struct http_server *s)
{
    return s->stats;
}
