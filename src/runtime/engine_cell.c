/* SPDX-License-Identifier: MIT */
/* One cell, seen from the daemon: the connection to its first process, commands, limits, ports. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "runtime/engine_internal.h"
#include "sys/io.h"

enum { OUT_MAX = 256 << 20, CHUNK = 65536 };

struct link_request {
    struct list node;
    uint32_t tag;
    engine_run_fn *fn; /* NULL: nobody waits for the answer */
    void *ctx;
};

/* ---- the connection ---- */

void link_fail(struct link *l, const struct err *e)
{
    for (struct list *node; (node = list_pop(&l->waiting));) {
        struct link_request *q = list_entry(node, struct link_request, node);
        if (q->fn)
            q->fn(q->ctx, NULL, e);
        free(q);
    }
}

static void link_close(struct link *l)
{
    int fd = l->io.fd;

    if (!l->io.loop)
        return;
    loop_io_stop(&l->io);
    (void)close(fd);
    buf_clear(&l->in);
    buf_clear(&l->out);
}

/* The cell keeps running; the next request connects again. */
static void link_break(struct link *l, int code)
{
    struct err e = ERR_INIT;

    link_close(l);
    (void)err_sys(&e, code, "the connection to the cell broke");
    link_fail(l, &e);
}

static int link_flush(struct link *l)
{
    while (buf_ok(&l->out) && l->out.len > 0) {
        ssize_t n = send(l->io.fd, l->out.p, l->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return loop_io_want(&l->io, EPOLLIN | EPOLLOUT);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            buf_consume(&l->out, (size_t)n);
    }
    return buf_ok(&l->out) ? loop_io_want(&l->io, EPOLLIN) : l->out.error;
}

static struct link_request *link_take(struct link *l, uint32_t tag)
{
    list_each(node, &l->waiting)
    {
        struct link_request *q = list_entry(node, struct link_request, node);
        if (q->tag != tag)
            continue;
        list_del(node);
        return q;
    }
    return NULL;
}

static int answer_done(struct link_request *q, struct wire_reader *r)
{
    struct engine_result result = {.status = (int)wire_get_u32(r)};
    uint32_t flags = wire_get_u32(r);

    result.out = wire_get_str(r);
    result.err = wire_get_str(r);
    result.is_timed_out = flags & PROTO_RUN_TIMED_OUT;
    result.is_output_cut = flags & PROTO_RUN_CUT_OUTPUT;
    if (wire_done(r) < 0)
        return -EBADMSG;
    q->fn(q->ctx, &result, NULL);
    return 0;
}

static int answer_error(struct link_request *q, struct wire_reader *r)
{
    struct err e = ERR_INIT;
    uint32_t code = wire_get_u32(r);
    struct str text = wire_get_str(r);

    if (wire_done(r) < 0 || code == 0 || code > 4095)
        return -EBADMSG;
    (void)err_set(&e, -(int)code, STR_FMT, STR_ARG(text));
    q->fn(q->ctx, NULL, &e);
    return 0;
}

/* One frame of a cell, which may be lying. */
static int link_answer(struct link *l, struct str frame)
{
    struct wire_reader r = {.left = frame};
    uint32_t kind = wire_get_u32(&r);
    auto_free struct link_request *q = link_take(l, wire_get_u32(&r));
    int code = 0;

    if (!q || r.is_bad)
        return -EBADMSG;
    if (q->fn && kind == PROTO_CELL_DONE)
        code = answer_done(q, &r);
    else if (q->fn && kind == PROTO_CELL_ERROR)
        code = answer_error(q, &r);
    else if (q->fn)
        code = -EBADMSG;
    if (code < 0) {
        struct err e = ERR_INIT;
        (void)err_set(&e, code, "the cell sent a malformed answer");
        q->fn(q->ctx, NULL, &e);
    }
    return code;
}

static int link_take_frames(struct link *l)
{
    while (l->io.loop) {
        struct wire_reader r = {.left = buf_str(&l->in)};
        uint32_t len = wire_get_u32(&r);
        if (r.is_bad)
            return 0;
        if (len > PROTO_FRAME_MAX || len < 8)
            return -EBADMSG;
        if (r.left.len < len)
            return 0;
        int code = link_answer(l, str_n(r.left.p, len));
        if (code < 0)
            return code;
        buf_consume(&l->in, (size_t)len + 4);
    }
    return 0;
}

static void on_link(struct loop_io *io, uint32_t events)
{
    struct link *l = container_of(io, struct link, io);
    int r = events & EPOLLOUT ? link_flush(l) : 0;

    if (r == 0 && events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        r = buf_reserve(&l->in, CHUNK);
        ssize_t n = r < 0 ? r : io_read(io->fd, l->in.p + l->in.len, l->in.cap - l->in.len);
        if (n > 0) {
            l->in.len += (size_t)n;
            r = link_take_frames(l);
        } else if (n != -EAGAIN) {
            r = n < 0 ? (int)n : -EPIPE;
        }
    }
    if (r < 0)
        link_break(l, r);
}

static int link_open(struct engine_cell *c, struct err *e)
{
    char path[PROTO_SLOT_NAME_MAX + 16];

    if (c->link.io.loop)
        return 0;
    (void)snprintf(path, sizeof path, "%s/envd.sock", c->slot_name);
    auto_close int fd = packet_connect_at(c->engine->cells_fd, path, SOCK_STREAM | SOCK_NONBLOCK);
    if (fd < 0)
        return err_sys(e, fd, "connect to cell '%s'", c->slot_name);
    int r = loop_io_start(c->engine->loop, &c->link.io, fd, EPOLLIN, on_link);
    if (r < 0)
        return err_sys(e, r, "watch cell '%s'", c->slot_name);
    (void)take_fd(fd);
    return 0;
}

/* Begins a request; the caller adds its fields and calls link_submit(). */
static struct link_request *link_begin(struct engine_cell *c, uint32_t kind, size_t *ret_at,
                                       struct err *e)
{
    struct link_request *q = mem_zalloc(1, sizeof *q);

    if (!q) {
        (void)err_sys(e, -ENOMEM, "request to cell");
        return NULL;
    }
    if (link_open(c, e) < 0) {
        free(q);
        return NULL;
    }
    q->tag = c->link.next_tag++;
    *ret_at = proto_frame_begin(&c->link.out, kind, q->tag);
    return q;
}

static int link_submit(struct engine_cell *c, struct link_request *q, size_t at, struct err *e)
{
    proto_frame_end(&c->link.out, at);
    list_append(&c->link.waiting, &q->node);
    int r = link_flush(&c->link);
    if (r == 0)
        return 0;
    /* The caller hears of it here, the others by their callbacks. */
    list_del(&q->node);
    free(q);
    link_break(&c->link, r);
    return err_sys(e, r, "request to cell '%s'", c->slot_name);
}

/* ---- cells ---- */

struct engine_cell *engine_cell_new(struct engine *en, const struct cell_info *info,
                                    struct packet *p, struct err *e)
{
    struct engine_cell *c = mem_zalloc(1, sizeof *c);

    if (!c) {
        (void)err_sys(e, -ENOMEM, "cell");
        return NULL;
    }
    list_init(&c->node);
    list_init(&c->link.waiting);
    buf_init(&c->link.in, PROTO_FRAME_MAX + CHUNK);
    buf_init(&c->link.out, OUT_MAX);
    c->link.next_tag = 1;
    c->engine = en;
    c->info = *info;
    proto_slot_name(c->slot_name, info->slot);
    c->pidfd = packet_take_fd(p, 0);
    c->netns_fd = packet_take_fd(p, 1);
    return c;
}

void engine_cell_free(struct engine_cell *c)
{
    if (!c)
        return;
    list_del(&c->node);
    link_break(&c->link, -ESHUTDOWN);
    buf_done(&c->link.in);
    buf_done(&c->link.out);
    close_p(&c->pidfd);
    close_p(&c->netns_fd);
    free(c);
}

const struct cell_info *engine_cell_info(const struct engine_cell *c)
{
    return &c->info;
}

int engine_cell_name(struct engine_cell *c, const char *label, const char *hostname, struct err *e)
{
    struct engine *en = c->engine;
    size_t at;
    struct link_request *q = link_begin(c, PROTO_CELL_HOSTNAME, &at, e);

    if (!q)
        return e->code;
    wire_put_str(&c->link.out, str_of(hostname));
    int r = link_submit(c, q, at, e);
    if (r < 0)
        return r;
    (void)snprintf(c->info.label, sizeof c->info.label, "%s", label);
    packet_begin(&en->out, PROTO_LABEL, 0);
    wire_put_u32(&en->out, c->info.slot);
    wire_put_u64(&en->out, c->info.generation);
    wire_put_str(&en->out, str_of(label));
    r = engine_send(en, NULL, 0);
    return r < 0 ? err_sys(e, r, "label cell '%s'", c->slot_name) : 0;
}

void engine_cell_kill(struct engine_cell *c)
{
    struct engine *en = c->engine;

    if (c->is_ending)
        return;
    c->is_ending = true;
    packet_begin(&en->out, PROTO_KILL, 0);
    wire_put_u32(&en->out, c->info.slot);
    wire_put_u64(&en->out, c->info.generation);
    (void)engine_send(en, NULL, 0);
}

int engine_cell_freeze(struct engine_cell *c, bool freeze, struct err *e)
{
    return cgroup_freeze(&c->engine->cgroup, c->slot_name, freeze, e);
}

int engine_cell_limit(struct engine_cell *c, const struct cgroup_limits *l, struct err *e)
{
    int r = cgroup_limit(&c->engine->cgroup, c->slot_name, l, e);

    if (r == 0)
        c->info.spec.limits = *l;
    return r;
}

int engine_cell_usage(const struct engine_cell *c, struct cgroup_usage *ret, struct err *e)
{
    return cgroup_usage(&c->engine->cgroup, c->slot_name, ret, e);
}

/* ---- ports ---- */

/* A socket that lives in the cell's network, though the caller does not. Never loses its way back:
 * a thread that cannot return would do all its later networking inside the cell. */
static int socket_inside(struct engine_cell *c, int family)
{
    if (setns(c->netns_fd, CLONE_NEWNET) < 0)
        return -errno;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int r = fd < 0 ? -errno : fd;
    if (setns(c->engine->home_netns_fd, CLONE_NEWNET) < 0)
        abort();
    return r;
}

static int connect_inside(struct engine_cell *c, const struct sockaddr *a, socklen_t len)
{
    auto_close int fd = socket_inside(c, a->sa_family);

    if (fd < 0)
        return fd;
    if (connect(fd, a, len) < 0 && errno != EINPROGRESS)
        return -errno;
    /* On loopback the answer is there at once, only not yet in the result of connect(). */
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0)
        return -error;
    return take_fd(fd);
}

int engine_cell_connect(struct engine_cell *c, uint16_t port)
{
    struct sockaddr_in a4 = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 a6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = connect_inside(c, (const struct sockaddr *)&a4, sizeof a4);

    return fd == -ECONNREFUSED ? connect_inside(c, (const struct sockaddr *)&a6, sizeof a6) : fd;
}

/* ---- commands ---- */

static void put_strings(struct buf *b, const char *const *list)
{
    uint32_t n = 0;

    while (list && list[n])
        n++;
    wire_put_u32(b, n);
    for (uint32_t i = 0; i < n; i++)
        wire_put_str(b, str_of(list[i]));
}

int engine_cell_run(struct engine_cell *c, const struct engine_run *run, engine_run_fn *fn,
                    void *ctx, struct err *e)
{
    size_t at;
    struct err ignored = ERR_INIT, *why = e ? e : &ignored;
    struct buf *out = &c->link.out;
    struct link_request *q = link_begin(c, PROTO_CELL_RUN, &at, why);

    if (!q)
        return why->code;
    wire_put_str(out, str_of(run->user ? run->user : ""));
    wire_put_str(out, str_of(run->cwd ? run->cwd : ""));
    wire_put_u32(out, run->timeout_ms);
    wire_put_u32(out, run->max_output ? run->max_output : PROTO_OUTPUT_MAX);
    put_strings(out, run->argv);
    put_strings(out, run->env);
    wire_put_str(out, run->input);
    q->fn = fn;
    q->ctx = ctx;
    return link_submit(c, q, at, why);
}
