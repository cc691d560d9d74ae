/* SPDX-License-Identifier: MIT */
/* Requests to a cell: see serve.h. */
#include "envd/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "runtime/proto.h"
#include "sys/io.h"

enum { CONNS_MAX = 64, CHUNK = 16384, ARENA_MAX = 24 << 20, OUT_MAX = 64 << 20 };

struct server {
    struct loop_io io;
    struct proc_table *procs;
    unsigned n_conns;
};

struct conn {
    struct loop_io io;
    struct server *server;
    struct buf in, out;
    struct list runs;
};

/* A command that a connection waits for. */
struct run {
    struct list node;
    struct conn *conn;
    struct proc *proc;
    uint32_t tag;
};

static struct server server;

static void conn_free(struct conn *c)
{
    list_each(node, &c->runs)
    {
        struct run *r = list_entry(node, struct run, node);
        proc_forget(r->proc);
        free(r);
    }
    int fd = c->io.fd;
    loop_io_stop(&c->io);
    (void)close(fd);
    buf_done(&c->in);
    buf_done(&c->out);
    c->server->n_conns--;
    free(c);
}

/* ---- answers ---- */

/* Sends what it can; the loop sends the rest. -errno when the connection is broken. */
static int flush(struct conn *c)
{
    while (buf_ok(&c->out) && c->out.len > 0) {
        ssize_t n = send(c->io.fd, c->out.p, c->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return loop_io_want(&c->io, EPOLLIN | EPOLLOUT);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            buf_consume(&c->out, (size_t)n);
    }
    return buf_ok(&c->out) ? loop_io_want(&c->io, EPOLLIN) : c->out.error;
}

static void answer_ok(struct conn *c, uint32_t tag)
{
    size_t at = proto_frame_begin(&c->out, PROTO_CELL_OK, tag);

    proto_frame_end(&c->out, at);
}

static void answer_error(struct conn *c, uint32_t tag, const struct err *e)
{
    size_t at = proto_frame_begin(&c->out, PROTO_CELL_ERROR, tag);

    wire_put_u32(&c->out, (uint32_t)-e->code);
    wire_put_str(&c->out, str_of(err_text(e)));
    proto_frame_end(&c->out, at);
}

static void on_done(void *ctx, const struct proc_result *r)
{
    struct run *run = ctx;
    struct conn *c = run->conn;
    size_t at = proto_frame_begin(&c->out, PROTO_CELL_DONE, run->tag);

    wire_put_u32(&c->out, (uint32_t)r->status);
    wire_put_u32(&c->out, (r->is_timed_out ? PROTO_RUN_TIMED_OUT : 0U) |
                              (r->is_output_cut ? PROTO_RUN_CUT_OUTPUT : 0U));
    wire_put_str(&c->out, r->out);
    wire_put_str(&c->out, r->err);
    proto_frame_end(&c->out, at);
    list_del(&run->node);
    free(run);
    /* A broken connection is noticed by its own event. */
    (void)flush(c);
}

/* ---- requests ---- */

static int set_hostname(struct conn *c, uint32_t tag, struct wire_reader *r, struct err *e)
{
    char name[PROTO_NAME_MAX];

    proto_get_name(r, name, sizeof name);
    if (wire_done(r) < 0)
        return err_sys(e, -EBADMSG, "hostname");
    if (sethostname(name, strlen(name)) < 0)
        return err_sys(e, -errno, "hostname");
    answer_ok(c, tag);
    return 0;
}

/* A list of strings as argv-like array. */
static char **get_strings(struct wire_reader *r, struct arena *a)
{
    uint32_t n = wire_get_u32(r);

    if (r->is_bad || n > PROTO_ARGS_MAX)
        return NULL;
    char **list = arena_zalloc(a, (size_t)n + 1, sizeof *list);
    for (uint32_t i = 0; list && i < n; i++) {
        struct str s = wire_get_str(r);
        if (r->is_bad || str_chr(s, '\0') >= 0)
            return NULL;
        list[i] = (char *)(uintptr_t)arena_str(a, s).p;
        if (!list[i])
            return NULL;
    }
    return list;
}

static int get_args(struct wire_reader *r, struct arena *a, struct proc_args *ret)
{
    const char *user = arena_str(a, wire_get_str(r)).p;
    const char *cwd = arena_str(a, wire_get_str(r)).p;
    uint32_t timeout_ms = wire_get_u32(r), max_output = wire_get_u32(r);
    char **argv = get_strings(r, a), **env = get_strings(r, a);
    struct str input = wire_get_str(r);

    if (wire_done(r) < 0 || !user || !cwd || !argv || !argv[0] || !env)
        return -EBADMSG;
    *ret = (struct proc_args){.user = *user ? user : "root",
                              .cwd = *cwd ? cwd : NULL,
                              .argv = argv,
                              .env = env,
                              .input = input,
                              .timeout_ms = timeout_ms,
                              .max_output =
                                  max_output < PROTO_OUTPUT_MAX ? max_output : PROTO_OUTPUT_MAX};
    return 0;
}

static int start_run(struct conn *c, uint32_t tag, struct wire_reader *r, struct err *e)
{
    auto_arena struct arena a;
    struct proc_args args;

    arena_init(&a, ARENA_MAX);
    if (get_args(r, &a, &args) < 0)
        return err_sys(e, -EBADMSG, "run");
    struct run *run = mem_zalloc(1, sizeof *run);
    if (!run)
        return err_sys(e, -ENOMEM, "run");
    run->conn = c;
    run->tag = tag;
    int code = proc_start(c->server->procs, &args, on_done, run, &run->proc, e);
    if (code < 0)
        free(run);
    else
        list_append(&c->runs, &run->node);
    return code;
}

static int ping(struct conn *c, uint32_t tag, struct wire_reader *r, struct err *e)
{
    (void)r;
    (void)e;
    answer_ok(c, tag);
    return 0;
}

static const struct {
    uint32_t kind;
    int (*handle)(struct conn *c, uint32_t tag, struct wire_reader *r, struct err *e);
} requests[] = {
    {PROTO_CELL_PING, ping},
    {PROTO_CELL_HOSTNAME, set_hostname},
    {PROTO_CELL_RUN, start_run},
};

static void dispatch(struct conn *c, struct str frame)
{
    struct wire_reader r = {.left = frame};
    uint32_t kind = wire_get_u32(&r), tag = wire_get_u32(&r);
    struct err e = ERR_INIT;
    int code = err_set(&e, -ENOSYS, "unknown request %u", (unsigned)kind);

    for (size_t i = 0; i < ARRAY_LEN(requests); i++)
        if (requests[i].kind == kind)
            code = requests[i].handle(c, tag, &r, &e);
    if (code < 0)
        answer_error(c, tag, &e);
}

/* ---- connections ---- */

/* Handles every whole frame. -EBADMSG when the peer does not speak our language. */
static int take_frames(struct conn *c)
{
    for (;;) {
        struct wire_reader r = {.left = buf_str(&c->in)};
        uint32_t len = wire_get_u32(&r);
        if (r.is_bad)
            return 0;
        if (len > PROTO_FRAME_MAX || len < 8)
            return -EBADMSG;
        if (r.left.len < len)
            return 0;
        dispatch(c, str_n(r.left.p, len));
        buf_consume(&c->in, (size_t)len + 4);
    }
}

static int receive(struct conn *c)
{
    int r = buf_reserve(&c->in, CHUNK);

    if (r < 0)
        return r;
    ssize_t n = io_read(c->io.fd, c->in.p + c->in.len, c->in.cap - c->in.len);
    if (n == -EAGAIN)
        return 0;
    if (n <= 0)
        return n < 0 ? (int)n : -EPIPE;
    c->in.len += (size_t)n;
    return take_frames(c);
}

static void on_conn(struct loop_io *io, uint32_t events)
{
    struct conn *c = container_of(io, struct conn, io);
    int r = events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? receive(c) : 0;

    if (r == 0)
        r = flush(c);
    if (r < 0)
        conn_free(c);
}

static void on_connection(struct loop_io *io, uint32_t events)
{
    struct server *s = container_of(io, struct server, io);
    auto_close int fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0 || s->n_conns == CONNS_MAX)
        return;
    struct conn *c = mem_zalloc(1, sizeof *c);
    if (!c)
        return;
    list_init(&c->runs);
    c->server = s;
    buf_init(&c->in, PROTO_FRAME_MAX + CHUNK);
    buf_init(&c->out, OUT_MAX);
    if (loop_io_start(io->loop, &c->io, fd, EPOLLIN, on_conn) < 0) {
        free(c);
        return;
    }
    s->n_conns++;
    (void)take_fd(fd);
}

int serve_start(struct loop *l, int listen_fd, struct proc_table *procs, struct err *e)
{
    server.procs = procs;
    int r = loop_io_start(l, &server.io, listen_fd, EPOLLIN, on_connection);
    return r < 0 ? err_sys(e, r, "listen") : 0;
}
