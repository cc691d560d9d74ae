/* SPDX-License-Identifier: MIT */
/* The smallest server that there can be: what HTTP itself costs. Usage: hello ADDRESS [TEXT] */
#include <signal.h>
#include <stdio.h>

#include "loop/loop.h"
#include "net/http_server.h"

static void done(struct http_req *r, void *ctx)
{
    http_reply(r, 200, "text/plain", str_of(ctx));
}

static void hello(struct http_req *r, void *ctx)
{
    if (r->head.method == HTTP_POST)
        http_read_body(r, 1 << 20, done, ctx);
    else
        http_reply(r, 200, "text/plain", str_of(ctx));
}

static void stop(int signo, void *ctx)
{
    (void)signo;
    loop_stop(ctx);
}

int main(int argc, char **argv)
{
    static char text[] = "ok";
    struct err e = ERR_INIT;
    struct loop *l = loop_new(&e);
    struct http_server_opts opts = {
        .loop = l, .handler = hello, .ctx = argc > 2 ? argv[2] : text, .server_name = "hello"};
    struct http_server *s = l ? http_server_new(&opts, &e) : NULL;
    int fd = s ? http_listen(argc > 1 ? argv[1] : "127.0.0.1:0", false, &e) : -1;

    if (fd < 0 || http_server_listen(s, fd, &e) < 0) {
        (void)fprintf(stderr, "hello: %s\n", err_text(&e));
        return 1;
    }
    (void)printf("%d\n", http_listen_port(fd));
    (void)fflush(stdout);
    (void)loop_on_signal(l, SIGTERM, stop, l);
    (void)loop_run(l);
    http_server_free(s);
    loop_free(l);
    return 0;
}
