/* SPDX-License-Identifier: MIT */
#include "local/serve.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/mem.h"
#include "local/servers.h"
#include "net/http_server.h"

enum {
    STACK_BYTES = 256 << 10,
    IDLE_S = 10 /* a thread without work ends after this */
};

/* A call on its way: the loop's thread makes it, a thread of the pool runs it, the loop's thread
 * answers. */
struct job {
    struct loop_msg msg;
    struct list node;
    struct local_serve *serve;
    struct http_req *req;
    struct local_call call;
    struct buf out;
};

struct local_serve {
    struct loop *loop;
    const struct local *local;
    struct http_server *http;

    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct list queue; /* of jobs */
    unsigned n_threads, n_idle;
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

/* ---- threads ---- */

static struct job *next_job(struct local_serve *s)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_S;
    while (list_is_empty(&s->queue)) {
        s->n_idle++;
        int r = pthread_cond_timedwait(&s->has_work, &s->lock, &until);
        s->n_idle--;
        if (r == ETIMEDOUT && list_is_empty(&s->queue))
            return NULL;
    }
    struct job *j = list_entry(list_pop(&s->queue), struct job, node);
    return j;
}

static void *thread_main(void *ctx)
{
    struct local_serve *s = ctx;
    struct job *j;

    (void)pthread_mutex_lock(&s->lock);
    while ((j = next_job(s))) {
        (void)pthread_mutex_unlock(&s->lock);
        local_run(&j->call, &j->out);
        loop_post(s->loop, &j->msg, on_done);
        (void)pthread_mutex_lock(&s->lock);
    }
    s->n_threads--;
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

static bool add_thread(struct local_serve *s)
{
    pthread_attr_t attr;
    pthread_t thread;

    if (pthread_attr_init(&attr) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int r = pthread_create(&thread, &attr, thread_main, s);
    (void)pthread_attr_destroy(&attr);
    return r == 0;
}

/* Without a thread that has time the job waits; without any thread it is refused. */
static void start(struct local_serve *s, struct job *j)
{
    (void)pthread_mutex_lock(&s->lock);
    bool needs_thread = s->n_idle == 0 && s->n_threads < LOCAL_THREADS_MAX;
    if (needs_thread && add_thread(s))
        s->n_threads++;
    bool is_lost = s->n_threads == 0;
    if (!is_lost) {
        list_append(&s->queue, &j->node);
        (void)pthread_cond_signal(&s->has_work);
    }
    (void)pthread_mutex_unlock(&s->lock);
    if (is_lost) {
        refuse(j->req, 503, "no thread could be started");
        free_job(j);
    }
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
    if (j->call.tool && json_is(j->call.args, JSON_OBJECT)) {
        start(s, j);
        return;
    }
    refuse(r, j->call.tool ? 400 : 404, j->call.tool ? "malformed call" : "no such tool");
    free_job(j);
}

static void on_request(struct http_req *r, void *ctx)
{
    if (r->head.method != HTTP_POST)
        refuse(r, 405, "method not allowed");
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
    list_init(&s->queue);
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->has_work, NULL);
    s->http = http_server_new(&o, e);
    if (s->http && http_server_listen(s->http, listen_fd, e) == 0)
        return s;
    http_server_free(s->http);
    free(s);
    return NULL;
}
