/* SPDX-License-Identifier: MIT */
#include "local/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/bridge/bridge.h"
#include "local/pool.h"
#include "local/request.h"
#include "local/servers.h"
#include "net/http_server.h"

/* A call on its way: the loop's thread makes it, a thread of the pool runs it, the loop's thread
 * answers. */
struct job {
    struct pool_job job;
    struct loop_msg msg;
    struct local_serve *serve;
    struct http_req *req;
    struct local_call call;
    struct buf out;
};

struct local_serve {
    struct loop *loop;
    const struct local *local;
    struct http_server *http;
    struct pool *pool;
    struct bridges *bridges;
};

/* ---- answers ---- */

static void refuse(struct http_req *r, int status, const char *text)
{
    http_reply(r, status, "text/plain", str_of(text));
}

static void free_job(struct job *j)
{
    buf_done(&j->out);
    buf_done(&j->call.content);
    arena_done(&j->call.arena);
    free(j);
}

static void on_done(struct loop_msg *m)
{
    struct job *j = container_of(m, struct job, msg);

    if (buf_ok(&j->out))
        http_reply(j->req, 200, "application/json", buf_str(&j->out));
    else
        refuse(j->req, 500, "out of memory");
    free_job(j);
}

static void run(struct pool_job *pj)
{
    struct job *j = container_of(pj, struct job, job);

    local_run(&j->call, &j->out);
    loop_post(j->serve->loop, &j->msg, on_done);
}

static void start(struct local_serve *s, struct job *j)
{
    j->job.run = run;
    if (pool_run(s->pool, &j->job) == 0)
        return;
    refuse(j->req, 503, "no thread could be started");
    free_job(j);
}

/* ---- requests ---- */

static const struct local_tool *tool_of(const struct http_req *r)
{
    struct str path = str_skip(r->head.path, 1);
    struct str name = str_cut(&path, '/');
    const struct local_server *server = local_server(name);

    return server && path.p ? local_tool(server, path) : NULL;
}

static void on_body(struct http_req *r, void *ctx)
{
    struct local_serve *s = ctx;
    struct job *j = mem_zalloc(1, sizeof *j);

    if (!j) {
        refuse(r, 500, "out of memory");
        return;
    }
    j->serve = s;
    j->req = r;
    buf_init(&j->out, LOCAL_ANSWER_MAX);
    buf_init(&j->call.content, LOCAL_ANSWER_MAX);
    arena_init(&j->call.arena, 4 * (size_t)LOCAL_BODY_MAX);
    const struct json *body = json_parse(&j->call.arena, r->body, NULL, NULL);
    j->call.local = s->local;
    j->call.tool = tool_of(r);
    j->call.args = json_get(body, "args");
    j->call.headers = json_get(body, "headers");
    j->call.benchmark = json_str(json_get(body, "benchmark"), STR(""));
    j->call.email = json_str(json_get(body, "email"), STR(""));
    if (j->call.tool && json_is(j->call.args, JSON_OBJECT)) {
        start(s, j);
        return;
    }
    refuse(r, j->call.tool ? 400 : 404, j->call.tool ? "malformed call" : "no such tool");
    free_job(j);
}

static void on_request(struct http_req *r, void *ctx)
{
    struct local_serve *s = ctx;
    bool is_tool = !str_starts(r->head.path, STR("/_"));
    const struct request_row *row = is_tool ? NULL : request_row(r->head.path);

    if (bridges_serve(s->bridges, r))
        return;
    if (r->head.method != HTTP_POST)
        refuse(r, 405, "method not allowed");
    else if (row)
        request_start(r, s->pool, s->local, row);
    else if (!is_tool)
        refuse(r, 404, "no such request");
    else
        http_read_body(r, LOCAL_BODY_MAX, on_body, ctx);
}

struct local_serve *local_serve_new(struct loop *loop, const struct local *local, int listen_fd,
                                    struct err *e)
{
    struct local_serve *s = mem_zalloc(1, sizeof *s);
    struct http_server_opts o = {
        .loop = loop,
        .handler = on_request,
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
