/* SPDX-License-Identifier: MIT */
/* The HTTP server: connections, time, draining, listeners. */
#include "http_world.h"

#include <netinet/in.h>
#include <stdio.h>

#include "base/fault.h"
#include "net/http_client.h"

/* ---- connections ---- */

static void pipelined_requests_wait_for_their_turn(void **state)
{
    (void)state;
    world.handler = hold;
    connect_client(0);
    say(0, GET("/1") GET("/2"));
    assert_int_equal(world.n_handled, 1);
    answer_held(201);
    turn();
    assert_int_equal(world.n_handled, 2);
    answer_held(202);
    struct str got = heard(0);
    assert_true(str_starts(got, STR("HTTP/1.1 201 ")) && holds(got, "heldHTTP/1.1 202 "));
}

static void more_pipelined_bytes_than_are_kept_are_not_lost(void **state)
{
    struct buf text auto_buf = BUF_INIT(1 << 20);

    (void)state;
    world.handler = hold;
    connect_client(0);
    for (int i = 0; i < 4000; i++)
        (void)buf_add_lit(&text, GET("/again"));
    assert_int_equal(io_write(world.fds[0], text.p, text.len), text.len);
    turn();
    world.handler = answer_path;
    answer_held(200);
    for (int i = 0; i < 50; i++)
        turn();
    (void)hear(0);
    assert_int_equal(world.n_handled, 4000);
    assert_int_equal(world.n_done, 4000);
}

static void hold_and_watch(struct http_req *r, void *ctx)
{
    r->on_abort = note_abort;
    hold(r, ctx);
}

static void a_peer_that_leaves_is_noticed(void **state)
{
    (void)state;
    world.handler = hold_and_watch;
    connect_client(0);
    say(0, GET("/"));
    hang_up(0);
    assert_int_equal(world.n_aborts, 1);
    assert_string_equal(world.held->peer, "unix");
    http_start(world.held, 200, "text/plain", -1);
    (void)http_write(world.held, "x", 1);
    turn();
    http_end(take(world.held));
    turn();
    assert_int_equal(world.n_aborts, 1);
    assert_int_equal(world.n_done, 1);
    assert_int_equal(http_server_stats(world.server).active, 0);
}

static void a_peer_that_only_stopped_sending_gets_its_answer(void **state)
{
    (void)state;
    world.handler = hold;
    connect_client(0);
    say(0, GET("/"));
    assert_int_equal(shutdown(world.fds[0], SHUT_WR), 0);
    turn();
    answer_held(200);
    assert_int_equal(status_of(heard(0)), 200);
    assert_true(hear(0));
}

static void a_peer_that_leaves_in_the_body(void **state)
{
    (void)state;
    world.handler = echo_body;
    connect_client(0);
    say(0, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe");
    hang_up(0);
    assert_int_equal(world.n_done, 1);
    sink = &plain_sink;
    world.handler = stream_body;
    connect_client(1);
    say(1, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe");
    world.held->on_abort = note_abort;
    hang_up(1);
    assert_int_equal(world.n_aborts, 1);
    assert_int_equal(world.held->fault, 400);
    answer_held(400);
    turn();
    assert_int_equal(world.n_done, 2);
    assert_int_equal(http_server_stats(world.server).active, 0);
}

static void more_connections_than_allowed_are_closed(void **state)
{
    (void)state;
    world.opts.max_conns = 2;
    restart_server();
    world.handler = answer_path;
    for (int i = 0; i < 3; i++)
        connect_client(i);
    assert_true(hear(2));
    assert_int_equal(http_server_stats(world.server).rejected, 1);
    hang_up(0);
    connect_client(0);
    say(0, GET("/"));
    assert_int_equal(status_of(heard(0)), 200);
}

static struct stream *upgraded;
static struct buf after_upgrade = BUF_INIT(1000);

static ssize_t upgraded_data(struct stream *s, void *ctx, const char *p, size_t len)
{
    (void)ctx;
    (void)buf_add(&after_upgrade, p, len);
    (void)stream_write(s, p, len);
    return (ssize_t)len;
}

static void upgraded_close(struct stream *s, void *ctx, int reason)
{
    (void)s;
    (void)ctx;
    (void)reason;
    upgraded = NULL;
}

static const struct stream_ops upgraded_ops = {.on_data = upgraded_data,
                                               .on_close = upgraded_close};

static void upgrade(struct http_req *r, void *ctx)
{
    assert_true(r->head.is_upgrade);
    (void)http_add_header(r, "Upgrade", STR("echo"));
    upgraded = http_upgrade(r, 101, &upgraded_ops, ctx);
    assert_non_null(upgraded);
}

static void an_upgrade_gives_the_stream_away_with_its_bytes(void **state)
{
    (void)state;
    world.handler = upgrade;
    connect_client(0);
    say(0, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly ");
    say(0, "late");
    struct str got = heard(0);
    assert_true(str_starts(got, STR("HTTP/1.1 101 Switching Protocols\r\n")));
    assert_true(holds(got, "\r\nConnection: Upgrade\r\n") && holds(got, "\r\nUpgrade: echo\r\n"));
    assert_str(body_of(got), "early late");
    assert_str(buf_str(&after_upgrade), "early late");
    assert_int_equal(world.n_done, 1);
    assert_int_equal(world.done_status, 101);
    assert_int_equal(http_server_stats(world.server).active, 0);
    pass_ms(1000000);
    assert_non_null(upgraded);
    hang_up(0);
    assert_null(upgraded);
    buf_done(&after_upgrade);
}

/* ---- time ---- */

static void an_idle_connection_is_closed(void **state)
{
    (void)state;
    world.handler = answer_path;
    connect_client(0);
    pass_ms(74999);
    say(0, GET("/"));
    pass_ms(74999);
    assert_false(hear(0));
    pass_ms(2);
    assert_true(hear(0));
    assert_int_equal(status_of(heard(0)), 200);
}

static void a_slow_head_is_answered_408(void **state)
{
    (void)state;
    world.handler = answer_path;
    connect_client(0);
    pass_ms(50000);
    say(0, "GET / HTTP/1.1\r\n");
    for (int i = 0; i < 9; i++) {
        pass_ms(1000);
        say(0, "X: y\r\n");
    }
    pass_ms(999);
    assert_false(hear(0));
    pass_ms(2);
    assert_true(hear(0));
    assert_int_equal(status_of(heard(0)), 408);
    assert_int_equal(world.n_handled, 0);
    pass_ms(2001);
    assert_int_equal(http_server_stats(world.server).active, 0);
}

static void a_slow_body_is_answered_408(void **state)
{
    (void)state;
    world.handler = echo_body;
    connect_client(0);
    say(0, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nh");
    pass_ms(29999);
    say(0, "e");
    pass_ms(29999);
    assert_false(hear(0));
    pass_ms(2);
    assert_int_equal(status_of(heard(0)), 408);
    sink = &plain_sink;
    world.handler = stream_body;
    connect_client(1);
    say(1, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nh");
    world.held->on_abort = note_abort;
    pass_ms(30001);
    assert_int_equal(world.n_aborts, 1);
    assert_int_equal(world.held->fault, 408);
    answer_held(408);
    assert_int_equal(status_of(heard(1)), 408);
    assert_true(hear(1));
}

static void a_handler_may_take_its_time(void **state)
{
    (void)state;
    world.handler = hold;
    connect_client(0);
    say(0, GET("/"));
    pass_ms(10000000);
    answer_held(200);
    assert_int_equal(status_of(heard(0)), 200);
}

static void a_reader_that_stands_still_is_reset(void **state)
{
    (void)state;
    world.handler = start_pieces;
    connect_client(0);
    say(0, GET("/"));
    pass_ms(30001);
    assert_int_equal(world.n_done, 1);
    assert_int_equal(http_server_stats(world.server).active, 0);
    assert_true(hear(0));
    assert_true(world.in[0].len < (size_t)PIECE * PIECES);
}

/* ---- the server ---- */

static int n_drained;

static void note_drained(void *ctx)
{
    (void)ctx;
    n_drained++;
}

static void draining_lets_requests_finish(void **state)
{
    (void)state;
    n_drained = 0;
    world.handler = hold;
    connect_client(0);
    connect_client(1);
    say(0, GET("/"));
    http_server_drain(world.server, 5000, note_drained, NULL);
    turn();
    assert_true(hear(1));
    assert_false(hear(0));
    assert_int_equal(n_drained, 0);
    connect_client(2);
    assert_true(hear(2));
    answer_held(200);
    assert_true(holds(heard(0), "Connection: close\r\n"));
    turn();
    assert_int_equal(n_drained, 1);
    pass_ms(10000);
    assert_int_equal(n_drained, 1);
}

static void draining_ends_with_its_grace(void **state)
{
    (void)state;
    n_drained = 0;
    world.handler = hold_and_watch;
    connect_client(0);
    say(0, GET("/"));
    http_server_drain(world.server, 5000, note_drained, NULL);
    pass_ms(4999);
    assert_int_equal(n_drained, 0);
    pass_ms(2);
    assert_int_equal(n_drained, 1);
    http_server_free(take(world.server));
    assert_int_equal(world.n_aborts, 1);
    assert_true(hear(0));
    answer_held(200); /* the request outlives its server */
}

static void shape_error(struct http_req *r, int status, const char *reason, void *ctx)
{
    (void)ctx;
    http_reply(r, status, "application/json",
               arena_printf(r->arena, "{\"code\":%d,\"text\":\"%s\"}", status, reason));
}

static void errors_have_the_shape_that_the_program_wants(void **state)
{
    (void)state;
    world.opts.on_error = shape_error;
    restart_server();
    world.handler = echo_body;
    connect_client(0);
    say(0, "GET / HTTP/3.0\r\n\r\n");
    assert_str(body_of(heard(0)), "{\"code\":505,\"text\":\"unsupported protocol version\"}");
    connect_client(1);
    say(1, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n");
    assert_true(holds(heard(1), "{\"code\":413,"));
    assert_int_equal(world.n_done, 2);
}

static int dial(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(io_set_nonblock(fd, true), 0);
    return fd;
}

static void listening_survives_a_lack_of_descriptors(void **state)
{
    int fd = http_listen("127.0.0.1:0", false, NULL);

    (void)state;
    assert_true(fd >= 0);
    int port = http_listen_port(fd);
    assert_true(port > 0);
    assert_int_equal(http_server_listen(world.server, fd, NULL), 0);
    world.handler = answer_path;
#ifdef TIDEPOOL_FAULT
    fault_arm(FAULT_IO, 1);
#endif
    world.fds[0] = dial(port);
    turn();
#ifdef TIDEPOOL_FAULT
    assert_true(fault_fired(FAULT_IO));
    assert_int_equal(http_server_stats(world.server).active, 0);
#endif
    pass_ms(101);
    assert_int_equal(http_server_stats(world.server).active, 1);
    say(0, GET("/tcp"));
    assert_str(body_of(heard(0)), "/tcp");
}

static void addresses(void **state)
{
    static const char *const bad[] = {
        "",       "127.0.0.1",      "127.0.0.1:x", "127.0.0.1:65536", "256.0.0.1:0",
        "[::1:0", "host.example:0", "unix:"};
    char path[64];
    struct err e = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_true(http_listen(bad[i], false, &e) < 0);
    auto_close int v4 = http_listen("localhost:0", true, NULL);
    (void)snprintf(path, sizeof path, "127.0.0.1:%d", http_listen_port(v4));
    auto_close int again = http_listen(path, true, NULL);
    assert_true(v4 >= 0 && again >= 0);
    assert_int_equal(http_listen(path, false, &e), -EADDRINUSE);
    (void)snprintf(path, sizeof path, "unix:/tmp/test_http_server.%d", (int)getpid());
    int first = http_listen(path, false, NULL);
    assert_true(first >= 0);
    assert_int_equal(http_listen(path, false, NULL), -EADDRINUSE);
    (void)close(first);
    auto_close int second = http_listen(path, false, NULL); /* nobody listens any more */
    assert_true(second >= 0);
    (void)unlink(path + 5);
    (void)snprintf(path, sizeof path, "unix:@test_http_server.%d", (int)getpid());
    auto_close int named = http_listen(path, false, NULL);
    auto_close int dialled = http_dial(path, false, NULL);
    assert_true(named >= 0 && dialled >= 0);
    assert_int_equal(http_listen(path, false, NULL), -EADDRINUSE);
    path[strlen(path) - 1] = '\0'; /* the whole name counts, and nothing behind it */
    assert_int_equal(http_dial(path, false, NULL), -ECONNREFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(pipelined_requests_wait_for_their_turn),
        WORLD_TEST(more_pipelined_bytes_than_are_kept_are_not_lost),
        WORLD_TEST(a_peer_that_leaves_is_noticed),
        WORLD_TEST(a_peer_that_only_stopped_sending_gets_its_answer),
        WORLD_TEST(a_peer_that_leaves_in_the_body),
        WORLD_TEST(more_connections_than_allowed_are_closed),
        WORLD_TEST(an_upgrade_gives_the_stream_away_with_its_bytes),
        WORLD_TEST(an_idle_connection_is_closed),
        WORLD_TEST(a_slow_head_is_answered_408),
        WORLD_TEST(a_slow_body_is_answered_408),
        WORLD_TEST(a_handler_may_take_its_time),
        WORLD_TEST(a_reader_that_stands_still_is_reset),
        WORLD_TEST(draining_lets_requests_finish),
        WORLD_TEST(draining_ends_with_its_grace),
        WORLD_TEST(errors_have_the_shape_that_the_program_wants),
        WORLD_TEST(listening_survives_a_lack_of_descriptors),
        WORLD_TEST(addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
