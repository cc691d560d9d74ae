/* SPDX-License-Identifier: MIT */
#include "local/service/dispatch.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/bridge/bridge.h"
#include "local/kit/daemon_request.h"
#include "local/kit/pool.h"
#include "local/kit/servers.h"
#include "local/memory/memory.h"
#include "net/http_server.h"

enum {
    KEEP_JOBS = 4,          /* with their memory, between calls */
    KEEP_BYTES = 192 << 10, /* of the arena of each */
    KEEP_BUF = 64 << 10,    /* of each of its buffers */
    KEEP_MS = 5000,         /* after the last call */
    QUICK_US = 2000,
    QUICK_SLOTS = 64
};

/* A call on its way: the loop's thread makes it, a thread of the pool runs it, the loop's thread
 * answers. */
struct service_job {
    struct pool_job job;
    struct loop_msg msg;
    struct local_serve *serve;
    struct http_req *req;
    struct local_call call;
    struct buf out;
    int64_t took_us;
    bool was_slow;            /* the call of its tool before this one */
    struct service_job *next; /* of those that are kept */
};

/* How much time the last call of a tool took. */
struct quick {
    const struct local_tool *tool;
    int64_t us;
};

struct local_serve {
    struct loop *loop;
    const struct local *local;
    struct http_server *http;
    struct pool *pool;
    struct bridges *bridges;
    struct service_job *kept;
    unsigned n_kept;
    struct loop_timer idle;
    struct quick quick[QUICK_SLOTS];
};

/* ---- answers ---- */

static void refuse_call(struct http_req *r, int status, const char *text)
{
    http_reply(r, status, "text/plain", str_of(text));
}

/* ---- jobs: their memory is used again, because asking the kernel for it takes longer than most
 * calls ---- */

static void free_service_job(struct service_job *j)
{
    buf_done(&j->out);
    buf_done(&j->call.content);
    for (size_t i = 0; i < LOCAL_BUFS; i++)
        buf_done(&j->call.bufs[i]);
    arena_done(&j->call.arena);
    free(j);
}

static void on_service_idle(struct loop_timer *t)
{
    struct local_serve *s = container_of(t, struct local_serve, idle);

    while (s->kept) {
        struct service_job *j = s->kept;
        s->kept = j->next;
        free_service_job(j);
    }
    s->n_kept = 0;
    memory_rest();
}

static void recycle_buf(struct buf *b)
{
    if (b->cap > KEEP_BUF)
        buf_done(b);
    else
        buf_clear(b);
}

static void keep_job(struct service_job *j)
{
    struct local_serve *s = j->serve;

    if (s->n_kept == KEEP_JOBS ||
        loop_timer_start(s->loop, &s->idle, KEEP_MS, on_service_idle) < 0) {
        free_service_job(j);
        return;
    }
    recycle_buf(&j->out);
    recycle_buf(&j->call.content);
    for (size_t i = 0; i < LOCAL_BUFS; i++)
        recycle_buf(&j->call.bufs[i]);
    arena_recycle(&j->call.arena, KEEP_BYTES);
    j->next = s->kept;
    s->kept = j;
    s->n_kept++;
}

static struct service_job *new_job(struct local_serve *s)
{
    struct service_job *j = s->kept;

    if (j) {
        s->kept = j->next;
        s->n_kept--;
        struct local_call call = {.content = j->call.content, .arena = j->call.arena};
        memcpy(call.bufs, j->call.bufs, sizeof call.bufs);
        j->call = call;
        return j;
    }
    j = mem_zalloc(1, sizeof *j);
    if (j) {
        j->serve = s;
        buf_init(&j->out, LOCAL_ANSWER_MAX);
        buf_init(&j->call.content, LOCAL_ANSWER_MAX);
        arena_init(&j->call.arena, 4 * (size_t)LOCAL_BODY_MAX);
    }
    return j;
}

/* ---- running ---- */

static struct quick *quick_of(struct local_serve *s, const struct local_tool *t)
{
    return &s->quick[((uintptr_t)t / sizeof *t) % QUICK_SLOTS];
}

static void finish_tool_job(struct service_job *j)
{
    struct quick *q = quick_of(j->serve, j->call.tool);

    *q = (struct quick){j->call.tool, j->took_us};
    if (buf_ok(&j->out))
        http_reply(j->req, 200, "application/json", buf_str(&j->out));
    else
        refuse_call(j->req, 500, "out of memory");
    keep_job(j);
}

static void on_tool_done(struct loop_msg *m)
{
    finish_tool_job(container_of(m, struct service_job, msg));
}

/* On a busy machine every call takes long, and would take longer with a thread that has to wait for
 * its turn: after a call that took long it is the processor's time that counts, which the kernel
 * has to be asked for. */
static int64_t now_us(const struct service_job *j)
{
    struct timespec t = {0};

    (void)clock_gettime(j->was_slow ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void work_on_tool(struct service_job *j)
{
    int64_t begin_us = now_us(j);

    local_run(&j->call, &j->out);
    j->took_us = now_us(j) - begin_us;
}

static void run_tool_job(struct pool_job *pj)
{
    struct service_job *j = container_of(pj, struct service_job, job);

    work_on_tool(j);
    loop_post(j->serve->loop, &j->msg, on_tool_done);
}

/* Waking a thread takes longer than most calls of the tools that wait for nothing but files: one
 * whose last call was short is run here. */
static bool is_quick(struct local_serve *s, const struct local_server *server,
                     const struct local_tool *t)
{
    const struct quick *q = quick_of(s, t);

    return (server == &filesystem_server || server == &memory_server) && q->tool == t &&
           q->us < QUICK_US;
}

static void start_tool_job(struct local_serve *s, struct service_job *j,
                           const struct local_server *server)
{
    const struct quick *q = quick_of(s, j->call.tool);

    j->was_slow = q->tool == j->call.tool && q->us >= QUICK_US;
    if (is_quick(s, server, j->call.tool)) {
        work_on_tool(j);
        finish_tool_job(j);
        return;
    }
    j->job.run = run_tool_job;
    if (pool_run(s->pool, &j->job) == 0)
        return;
    refuse_call(j->req, 503, "no thread could be started");
    free_service_job(j);
}

/* ---- requests ---- */

static void on_call_body(struct http_req *r, void *ctx)
{
    struct local_serve *s = ctx;
    struct service_job *j = new_job(s);
    struct str tool = str_skip(r->head.path, 1), name = str_cut(&tool, '/');
    const struct local_server *server = local_server(name);

    if (!j) {
        refuse_call(r, 500, "out of memory");
        return;
    }
    j->req = r;
    const struct json *body = json_parse(&j->call.arena, r->body, NULL, NULL);
    j->call.local = s->local;
    j->call.tool = server && tool.p ? local_tool(server, tool) : NULL;
    j->call.args = json_get(body, "args");
    j->call.headers = json_get(body, "headers");
    j->call.benchmark = json_str(json_get(body, "benchmark"), STR(""));
    j->call.email = json_str(json_get(body, "email"), STR(""));
    if (j->call.tool && json_is(j->call.args, JSON_OBJECT)) {
        start_tool_job(s, j, server);
        return;
    }
    refuse_call(r, j->call.tool ? 400 : 404, j->call.tool ? "malformed call" : "no such tool");
    keep_job(j);
}

static void on_local_request(struct http_req *r, void *ctx)
{
    struct local_serve *s = ctx;
    bool is_tool = !str_starts(r->head.path, STR("/_"));
    const struct request_row *row = is_tool ? NULL : request_row(r->head.path);

    if (bridges_serve(s->bridges, r))
        return;
    if (r->head.method != HTTP_POST)
        refuse_call(r, 405, "method not allowed");
    else if (row)
        request_start(r, s->pool, s->local, row);
    else if (!is_tool)
        refuse_call(r, 404, "no such request");
    else
        http_read_body(r, LOCAL_BODY_MAX, on_call_body, ctx);
}

struct local_serve *local_serve_new(struct loop *loop, const struct local *local, int listen_fd,
                                    struct err *e)
{
    struct local_serve *s = mem_zalloc(1, sizeof *s);
    struct http_server_opts o = {
        .loop = loop,
        .handler = on_local_request,
        .ctx = s,
        .limits = {.max_head = 160 << 10, .max_target = 96 << 10, .max_headers = 100},
        .max_conns = 256,
        .max_arena = 2 * (size_t)LOCAL_BODY_MAX,
    };

    if (!s) {
        (void)close(listen_fd);
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    s->loop = loop;
    s->local = local;
    s->pool = pool_new(LOCAL_THREADS_MAX);
    s->bridges = bridges_new(loop, local);
    s->http = s->pool && s->bridges ? http_server_new(&o, e) : NULL;
    if (s->http && http_server_listen(s->http, listen_fd, e) == 0)
        return s;
    http_server_free(s->http);
    free(s->bridges);
    free(s->pool);
    free(s);
    return NULL;
}

int local_serve_also(struct local_serve *s, int listen_fd, struct err *e)
{
    return http_server_listen(s->http, listen_fd, e);
}
