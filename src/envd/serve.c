/* SPDX-License-Identifier: MIT */
/* The service inside a cell: see serve.h. */
#include "envd/serve.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "envd/fs.h"
#include "envd/proc_launch.h"
#include "envd/serve_internal.h"

enum {
    CONNS_MAX = 4096,
    /* The daemon is the only client; it, not this side, gives up on slow peers. */
    IDLE_MS = 3600000,
    STALL_MS = 600000,
    WRITE_MS = 86400000,
};

static const struct {
    const char *path;
    enum http_method method;
    void (*handle)(struct serve *s, struct http_req *r);
} routes[] = {
    {"/run", HTTP_POST, serve_run},
    {"/claim", HTTP_POST, serve_claim},
    {"/mountpoints", HTTP_POST, serve_mountpoints},
    {"/fs/list", HTTP_GET, fs_list},
    {"/fs/upload", HTTP_POST, fs_upload},
    {"/fs/download", HTTP_GET, fs_download},
    {"/fs/download", HTTP_HEAD, fs_download},
    {"/fs/entry", HTTP_DELETE, fs_delete},
    {"/procs", HTTP_GET, serve_procs},
    {"/signal", HTTP_POST, serve_signal},
    {"/health", HTTP_GET, serve_health},
    {"/stats", HTTP_GET, serve_stats},
    {"/terminal", HTTP_GET, serve_terminal},
    {"/log", HTTP_GET, log_get},
    {"/update", HTTP_POST, serve_update},
    {"/halt", HTTP_POST, serve_halt},
};

static void on_serve_request(struct http_req *r, void *ctx)
{
    bool is_known = false;

    if (str_starts(r->head.path, STR(E2B_PREFIX "/"))) {
        r->head.path = str_skip(r->head.path, sizeof E2B_PREFIX - 1);
        e2b_request(ctx, r);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        if (!str_is(r->head.path, routes[i].path))
            continue;
        is_known = true;
        if (r->head.method != routes[i].method)
            continue;
        routes[i].handle(ctx, r);
        return;
    }
    if (is_known)
        serve_fail_text(r, 405, "method not allowed");
    else
        serve_fail_text(r, 404, "no such route");
}

static void on_serve_error(struct http_req *r, int status, const char *reason, void *ctx)
{
    (void)ctx;
    serve_fail_text(r, status, "%s", reason);
}

static void on_e2b_request(struct http_req *r, void *ctx)
{
    e2b_request(ctx, r);
}

static struct http_server *new_server(struct serve *s, http_handler *handler, struct str greeting,
                                      struct err *e)
{
    struct http_server_opts o = {
        .loop = s->loop,
        .handler = handler,
        .ctx = s,
        .on_error = on_serve_error,
        .max_conns = CONNS_MAX,
        .timeouts = {.idle_ms = IDLE_MS, .body_ms = STALL_MS, .write_ms = WRITE_MS},
        .max_arena = (size_t)3 * SERVE_BODY_MAX,
        .greeting = greeting,
    };

    return http_server_new(&o, e);
}

struct http_server *serve_listen_e2b(struct serve *s, int fd, struct err *e)
{
    struct http_server *h = new_server(s, on_e2b_request, STR_NULL, e);

    if (!h) {
        (void)close(fd);
        return NULL;
    }
    if (http_server_listen(h, fd, e) == 0)
        return h;
    http_server_free(h);
    return NULL;
}

int serve_start(struct serve *s, struct loop *l, int listen_fd, struct err *e)
{
    s->loop = l;
    s->started_ms = clock_mono_ms();
    launch_raise_files();
    proc_table_init(&s->procs, l);
    log_init(&s->log);
    e2b_watches_init(&s->watches, l);
    list_init(&s->uploads);
    s->http = new_server(s, on_serve_request, str_of(s->greeting), e);
    return s->http ? http_server_listen(s->http, listen_fd, e) : -ENOMEM;
}
