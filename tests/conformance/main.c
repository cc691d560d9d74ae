/* SPDX-License-Identifier: MIT */
/* A server for the official conformance suite of MCP, and for tests of the engine from outside.
 * Usage: conformance_server ADDRESS [PAGE]. Prints its port. /mcp, and /sse with /messages. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/conformance/fixtures.h"
#include "loop/loop.h"
#include "net/http_server.h"

static void serve(struct http_req *r, void *ctx)
{
    const struct mcp_scope scope = {.owner = STR_INIT("test")};
    struct mcp_server *s = ctx;

    if (str_is(r->head.path, "/mcp") || str_is(r->head.path, "/mcp/"))
        mcp_http(s, r, &scope);
    else if (str_is(r->head.path, "/sse") && r->head.method == HTTP_GET)
        mcp_http_sse(s, r, &scope, STR("/messages"));
    else if (str_is(r->head.path, "/messages") && r->head.method == HTTP_POST)
        mcp_http_messages(s, r, &scope);
    else
        http_reply(r, 404, NULL, STR_NULL);
}

static void handle(struct http_req *r, void *ctx)
{
    http_read_body(r, 4 << 20, serve, ctx);
}

static void stop(int signo, void *ctx)
{
    (void)signo;
    loop_stop(ctx);
}

int main(int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct mcp_desc desc = conformance_desc();

    desc.page = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    desc.limits.max_sessions = 100;
    fixture_loop = loop_new(&e);
    struct mcp_server *m = fixture_loop ? mcp_server_new(fixture_loop, &desc, &e) : NULL;
    struct http_server_opts opts = {.loop = fixture_loop, .handler = handle, .ctx = m};
    struct http_server *s = m ? http_server_new(&opts, &e) : NULL;
    int fd = s ? http_listen(argc > 1 ? argv[1] : "127.0.0.1:0", false, &e) : -1;
    if (fd < 0 || http_server_listen(s, fd, &e) < 0) {
        (void)fprintf(stderr, "conformance_server: %s\n", err_text(&e));
        return 1;
    }
    (void)printf("%d\n", http_listen_port(fd));
    (void)fflush(stdout);
    (void)loop_on_signal(fixture_loop, SIGTERM, stop, fixture_loop);
    (void)loop_run(fixture_loop);
    mcp_server_free(m);
    /* Streams whose peer left are freed by a message. */
    (void)loop_run_once(fixture_loop, 0);
    http_server_free(s);
    loop_free(fixture_loop);
    return 0;
}
