/* SPDX-License-Identifier: MIT */
/* The HTTP server: answers, bodies, connections, limits and time. */
#include "http_world.h"

#include <netinet/in.h>
#include <stdio.h>

#include "base/fault.h"

/* ---- answers ---- */

static void one_connection_serves_many_requests(void **state)
{
    (void)state;
    world.handler = answer_path;
    connect_client(0);
    for (int i = 0; i < 100; i++) {
        say(0, GET("/one"));
        struct str got = heard(0);
        assert_int_equal(status_of(got), 200);
        assert_str(body_of(got), "/one");
    }
    assert_int_equal(world.n_done, 100);
    assert_int_equal(world.done_status, 200);
    assert_int_equal(world.done_bytes, 4);
    struct http_server_stats stats = http_server_stats(world.server);
    assert_int_equal(stats.accepted, 1);
    assert_int_equal(stats.active, 1);
    assert_int_equal(stats.requests, 100);
}

static void answer_with_headers(struct http_req *r, void *ctx)
{
    (void)ctx;
    assert_int_equal(http_add_header(r, "X-Bad", STR("a\r\nb")), -EINVAL);
    assert_int_equal(http_add_header(r, "X Bad", STR("a")), -EINVAL);
    assert_int_equal(http_add_header(r, "", STR("a")), -EINVAL);
    for (int i = 0; i < 60; i++)
        assert_int_equal(http_add_header(r, "X-Many", STR("0123456789")), 0);
    http_reply(r, 404, "text/plain", STR("no"));
}

static void the_head_of_an_answer(void **state)
{
    (void)state;
    world.opts.server_name = "tested";
    restart_server();
    world.handler = answer_with_headers;
    connect_client(0);
    say(0, "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\n\r\n");
    struct str got = heard(0);
    assert_true(str_starts(got, STR("HTTP/1.1 404 Not Found\r\n")));
    assert_true(holds(got, "\r\nDate: Thu, 01 Jan 1970 00:00:01 GMT\r\n"));
    assert_true(holds(got, "\r\nServer: tested\r\n"));
    assert_true(holds(got, "\r\nContent-Type: text/plain\r\n"));
    assert_true(holds(got, "\r\nContent-Length: 2\r\n"));
    assert_true(holds(got, "\r\nX-Request-Id: "));
    assert_false(holds(got, "mine") || holds(got, "X-Bad") || holds(got, "Connection:"));
    fake_us += 3600 * 1000000LL;
    turn();
    assert_true(hear(0)); /* the idle time is over */
    connect_client(1);
    say(1, GET("/"));
    assert_true(holds(heard(1), "\r\nDate: Thu, 01 Jan 1970 01:00:01 GMT\r\n"));
}

static void answer_status_of_path(struct http_req *r, void *ctx)
{
    uint64_t status = 500;

    (void)ctx;
    (void)str_to_u64(str_skip(r->head.path, 1), &status);
    http_reply(r, (int)status, "text/plain", STR("body"));
}

static void some_answers_have_no_body(void **state)
{
    (void)state;
    world.handler = answer_status_of_path;
    connect_client(0);
    say(0, "HEAD /200 HTTP/1.1\r\nHost: a\r\n\r\n");
    struct str got = heard(0);
    assert_true(holds(got, "Content-Length: 4\r\n"));
    assert_str(body_of(got), "");
    say(0, GET("/204"));
    got = heard(0);
    assert_false(holds(got, "Content-Length"));
    assert_str(body_of(got), "");
    say(0, GET("/304"));
    got = heard(0);
    assert_false(holds(got, "Content-Length"));
    assert_str(body_of(got), "");
    say(0, GET("/299"));
    assert_true(str_starts(heard(0), STR("HTTP/1.1 299 \r\n")));
}

static void stream_answer(struct http_req *r, void *ctx)
{
    (void)ctx;
    http_start(r, 200, "text/plain", -1);
    assert_int_equal(http_write(r, "hello ", 6), 0);
    assert_int_equal(http_write(r, "", 0), 0);
    assert_int_equal(http_write(r, "0123456789abcdef0", 17), 0);
    http_end(r);
}

static void streamed_answers_are_chunked(void **state)
{
    (void)state;
    world.handler = stream_answer;
    connect_client(0);
    say(0, GET("/"));
    struct str got = heard(0);
    assert_true(holds(got, "Transfer-Encoding: chunked\r\n"));
    assert_str(body_of(got), "6\r\nhello \r\n11\r\n0123456789abcdef0\r\n0\r\n\r\n");
    assert_int_equal(world.done_bytes, 23);
    say(0, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_str(body_of(heard(0)), "");
    assert_false(hear(0));
    say(0, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    got = heard(0);
    assert_true(holds(got, "Connection: close\r\n"));
    assert_str(body_of(got), "hello 0123456789abcdef0");
    assert_true(hear(0));
}

static int64_t announced;

static void stream_ten_bytes(struct http_req *r, void *ctx)
{
    (void)ctx;
    http_start(r, 200, "text/plain", announced);
    int result = http_write(r, "0123456789", 10);
    assert_int_equal(result, announced < 10 ? -EMSGSIZE : 0);
    http_end(r);
}

static void a_streamed_length_is_kept(void **state)
{
    (void)state;
    world.handler = stream_ten_bytes;
    connect_client(0);
    announced = 10;
    say(0, GET("/"));
    struct str got = heard(0);
    assert_true(holds(got, "Content-Length: 10\r\n"));
    assert_str(body_of(got), "0123456789");
    announced = 4;
    say(0, GET("/"));
    assert_str(body_of(heard(0)), "0123");
    assert_false(hear(0));
    announced = 11;
    say(0, GET("/"));
    assert_true(hear(0));
}

static void start_and_hold(struct http_req *r, void *ctx)
{
    http_start(r, 200, "text/event-stream", -1);
    hold(r, ctx);
}

static void the_head_of_a_stream_does_not_wait_for_its_body(void **state)
{
    (void)state;
    world.handler = start_and_hold;
    connect_client(0);
    say(0, GET("/"));
    assert_int_equal(status_of(heard(0)), 200);
    (void)http_write(world.held, "x", 1);
    assert_str(heard(0), "1\r\nx\r\n");
    http_end(take(world.held));
    assert_str(heard(0), "0\r\n\r\n");
}

static void an_aborted_answer_cannot_be_taken_for_complete(void **state)
{
    (void)state;
    world.handler = start_and_hold;
    connect_client(0);
    say(0, "GET / HTTP/1.0\r\n\r\n");
    (void)http_write(world.held, "part", 4);
    http_abort(take(world.held));
    turn();
    assert_true(hear(0));
    assert_int_equal(world.n_done, 1);
    assert_int_equal(http_server_stats(world.server).active, 0);
}

enum { PIECE = 32 * 1024, PIECES = 256 };

static int n_pieces;

static void make_pieces(struct http_req *r, void *ctx)
{
    static char piece[PIECE];

    while (n_pieces < PIECES && !http_is_full(r)) {
        memset(piece, 'a' + n_pieces % 26, sizeof piece);
        (void)http_write(r, piece, sizeof piece);
        n_pieces++;
    }
    world.n_drains += ctx != NULL;
    if (n_pieces == PIECES)
        http_end(r);
}

static void start_pieces(struct http_req *r, void *ctx)
{
    n_pieces = 0;
    http_start(r, 200, "text/plain", (int64_t)PIECE * PIECES);
    http_on_drain(r, make_pieces, &world);
    make_pieces(r, ctx);
}

static void a_slow_reader_holds_the_producer_back(void **state)
{
    (void)state;
    world.handler = start_pieces;
    connect_client(0);
    say(0, GET("/"));
    assert_in_range(n_pieces, 8, 64);
    pass_ms(1000);
    assert_in_range(n_pieces, 8, 64);
    struct str body = body_of(heard(0));
    assert_int_equal(body.len, (size_t)PIECE * PIECES);
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(body.p[i * PIECE + PIECE - 1], 'a' + (int)i % 26);
    assert_true(world.n_drains > 1);
    assert_int_equal(world.n_done, 1);
}

static void large_answers_are_queued_whole(void **state)
{
    static char large[3 << 20];

    (void)state;
    memset(large, 'x', sizeof large);
    world.handler = hold;
    connect_client(0);
    say(0, GET("/"));
    http_reply(take(world.held), 200, "text/plain", str_n(large, sizeof large));
    assert_int_equal(body_of(heard(0)).len, sizeof large);
    assert_false(hear(0));
}

/* ---- bodies ---- */

static void bodies_of_all_sizes_come_back(void **state)
{
    static const size_t sizes[] = {0, 1, 2047, 16384, 16385, 100000, 1 << 20};

    (void)state;
    world.handler = echo_body;
    connect_client(0);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct buf text auto_buf = BUF_INIT(2 << 20);
        (void)buf_printf(&text, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n",
                         sizes[i]);
        for (size_t n = 0; n < sizes[i]; n++)
            (void)buf_add_char(&text, (char)('a' + n % 26));
        for (size_t at = 0; at < text.len;) {
            ssize_t n = io_write(world.fds[0], text.p + at, text.len - at);
            at += n > 0 ? (size_t)n : 0;
            turn();
        }
        struct str body = body_of(heard(0));
        assert_int_equal(body.len, sizes[i]);
        assert_memory_equal(body.p, text.p + text.len - body.len, body.len);
    }
}

static int sink_data(struct http_req *r, void *ctx, const char *p, size_t len)
{
    (void)r;
    (void)ctx;
    (void)buf_add(&world.body, p, len);
    return 0;
}

static int sink_data_and_pause(struct http_req *r, void *ctx, const char *p, size_t len)
{
    http_body_pause(r);
    return sink_data(r, ctx, p, len);
}

static void sink_end(struct http_req *r, void *ctx)
{
    (void)ctx;
    world.held = NULL;
    http_reply(r, 200, "text/plain", STR("thanks"));
}

static const struct http_body_sink plain_sink = {sink_data, sink_end};
static const struct http_body_sink pausing_sink = {sink_data_and_pause, sink_end};
static const struct http_body_sink *sink = &plain_sink;

static void stream_body(struct http_req *r, void *ctx)
{
    hold(r, ctx);
    http_stream_body(r, 10 << 20, sink, NULL);
}

static void streamed_bodies_come_as_they_arrive(void **state)
{
    (void)state;
    sink = &plain_sink;
    world.handler = stream_body;
    connect_client(0);
    say(0, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
    assert_str(buf_str(&world.body), "hel");
    say(0, "lo\r\n1\r\n!\r\n");
    assert_str(buf_str(&world.body), "hello!");
    assert_int_equal(heard(0).len, 0);
    say(0, "0\r\n\r\n");
    assert_str(body_of(heard(0)), "thanks");
    say(0, "POST / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_str(body_of(heard(0)), "thanks");
}

static size_t push(size_t total)
{
    static char zeros[65536];
    size_t sent = 0;

    for (int idle = 0; sent < total && idle < 3;) {
        size_t n = total - sent < sizeof zeros ? total - sent : sizeof zeros;
        ssize_t r = io_write(world.fds[0], zeros, n);
        idle = r > 0 ? 0 : idle + 1;
        sent += r > 0 ? (size_t)r : 0;
        turn();
    }
    return sent;
}

static void a_paused_body_holds_the_peer_back(void **state)
{
    size_t total = 4 << 20, sent;

    (void)state;
    sink = &pausing_sink;
    world.handler = stream_body;
    connect_client(0);
    say(0, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4194304\r\n\r\n");
    sent = push(total);
    assert_true(sent < total);
    pass_ms(100000); /* a pause stops the clock */
    while (world.held) {
        http_body_resume(world.held);
        turn();
        sent += push(total - sent);
    }
    assert_int_equal(world.body.len, total);
    assert_str(body_of(heard(0)), "thanks");
}

static int refuse(struct http_req *r, void *ctx, const char *p, size_t len)
{
    (void)ctx;
    (void)p;
    (void)len;
    world.held = NULL;
    http_reply(r, 422, "text/plain", STR("no"));
    return -EINVAL;
}

static void a_refused_body_is_dropped_and_the_connection_stays(void **state)
{
    static const struct http_body_sink refusing_sink = {refuse, sink_end};

    (void)state;
    sink = &refusing_sink;
    world.handler = stream_body;
    connect_client(0);
    say(0, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
    assert_int_equal(status_of(heard(0)), 422);
    say(0, "56789" GET("/"));
    assert_int_equal(status_of(heard(0)), 200);
}

static void unread_bodies_are_dropped_within_a_limit(void **state)
{
    (void)state;
    world.opts.max_drop = 100;
    restart_server();
    world.handler = answer_path;
    connect_client(0);
    say(0, "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" GET("/2"));
    struct str got = heard(0);
    assert_true(holds(got, "/1HTTP/1.1 200 OK"));
    assert_str(str_skip(got, got.len - 2), "/2");
    say(0, "POST /3 HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n");
    assert_true(holds(heard(0), "Connection: close\r\n"));
    assert_true(hear(0));
    connect_client(1);
    say(1, "POST /4 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n");
    assert_false(holds(heard(1), "Connection: close\r\n"));
    char chunk[102];
    memset(chunk, 'x', 101);
    chunk[101] = '\0';
    say(1, chunk);
    assert_true(hear(1));
}

static void a_peer_that_is_told_no_may_finish_sending(void **state)
{
    (void)state;
    world.handler = answer_path;
    connect_client(0);
    say(0, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    assert_true(hear(0)); /* our side is closed */
    assert_true(holds(heard(0), "Connection: close\r\n"));
    assert_int_equal(push(500000), 500000); /* but not reset */
    assert_int_equal(http_server_stats(world.server).active, 1);
    pass_ms(2001);
    assert_int_equal(http_server_stats(world.server).active, 0);
}

static void continue_is_sent_when_the_body_is_wanted(void **state)
{
    const char *head =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";

    (void)state;
    world.handler = echo_body;
    connect_client(0);
    say(0, head);
    assert_str(heard(0), "HTTP/1.1 100 Continue\r\n\r\n");
    say(0, "hello");
    assert_str(body_of(heard(0)), "hello");
    world.handler = answer_path;
    say(0, head);
    struct str got = heard(0);
    assert_int_equal(status_of(got), 200);
    assert_true(holds(got, "Connection: close\r\n"));
    assert_true(hear(0));
    world.handler = hold;
    connect_client(1);
    say(1, head);
    assert_int_equal(heard(1).len, 0);
    http_read_body(take(world.held), 10, answer_body, NULL);
    assert_str(heard(1), "HTTP/1.1 100 Continue\r\n\r\n");
    say(1, "hello");
    assert_str(body_of(heard(1)), "hello");
}

static void a_body_may_be_asked_for_later(void **state)
{
    (void)state;
    world.handler = hold;
    connect_client(0);
    say(0, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    pass_ms(60000);
    http_read_body(take(world.held), 10, answer_body, NULL);
    turn();
    assert_str(body_of(heard(0)), "hello");
}

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
}

/* ---- faults ---- */

#ifdef TIDEPOOL_FAULT
static void echo_streamed(struct http_req *r, void *ctx)
{
    (void)ctx;
    (void)http_add_header(r, "X-Echo", STR("yes"));
    http_start(r, 200, "text/plain", -1);
    (void)http_write(r, r->body.p, r->body.len);
    http_end(r);
}

static void read_and_stream(struct http_req *r, void *ctx)
{
    http_read_body(r, 1 << 20, echo_streamed, ctx);
}

/* A conversation with every kind of step: partial heads, small and large bodies, both answers. */
static void converse(void)
{
    char large[20000];

    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    connect_client(0);
    world.handler = echo_body;
    say(0, "POST / HTTP/1.1\r\nHo");
    say(0, "st: a\r\nContent-Length: 5\r\n\r\nhello" GET("/2"));
    world.handler = read_and_stream;
    say(0, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 19999\r\n\r\n");
    say(0, large);
    say(0, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n");
    say(0, "BAD\r\n\r\n");
}

static void every_failure_leaves_the_server_working(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_COUNT; kind++) {
        bool fired = true;
        for (unsigned n = 1; fired; n++) {
            restart_server(); /* with no memory kept for reuse */
            fault_arm((enum fault_kind)kind, n);
            converse();
            fired = fault_fired((enum fault_kind)kind);
            fault_arm((enum fault_kind)kind, 0);
            hang_up(0);
            turn();
            assert_int_equal(http_server_stats(world.server).active, 0);
            connect_client(1);
            world.handler = answer_path;
            say(1, GET("/after"));
            assert_str(body_of(heard(1)), "/after");
            hang_up(1);
        }
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(one_connection_serves_many_requests),
        WORLD_TEST(the_head_of_an_answer),
        WORLD_TEST(some_answers_have_no_body),
        WORLD_TEST(streamed_answers_are_chunked),
        WORLD_TEST(a_streamed_length_is_kept),
        WORLD_TEST(the_head_of_a_stream_does_not_wait_for_its_body),
        WORLD_TEST(an_aborted_answer_cannot_be_taken_for_complete),
        WORLD_TEST(a_slow_reader_holds_the_producer_back),
        WORLD_TEST(large_answers_are_queued_whole),
        WORLD_TEST(bodies_of_all_sizes_come_back),
        WORLD_TEST(streamed_bodies_come_as_they_arrive),
        WORLD_TEST(a_paused_body_holds_the_peer_back),
        WORLD_TEST(a_refused_body_is_dropped_and_the_connection_stays),
        WORLD_TEST(unread_bodies_are_dropped_within_a_limit),
        WORLD_TEST(a_peer_that_is_told_no_may_finish_sending),
        WORLD_TEST(continue_is_sent_when_the_body_is_wanted),
        WORLD_TEST(a_body_may_be_asked_for_later),
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
#ifdef TIDEPOOL_FAULT
        WORLD_TEST(every_failure_leaves_the_server_working),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
