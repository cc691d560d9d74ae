/* SPDX-License-Identifier: MIT */
/* The HTTP server: answers, bodies, and every failure on the way. */
#include "http_world.h"

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

/* After all of the request's memory is used up. */
static void answer_when_full(struct http_req *r, void *ctx)
{
    size_t n = 0;

    (void)ctx;
    while (arena_alloc(r->arena, 16))
        n++;
    assert_true(n <= world.opts.max_arena / 16);
    assert_int_equal(http_add_header(r, "X-Why", STR("full")), 0);
    http_reply(r, 503, "text/plain", STR("no memory"));
}

static void a_request_without_memory_is_answered(void **state)
{
    (void)state;
    world.opts.max_arena = 65536;
    restart_server();
    world.handler = answer_when_full;
    connect_client(0);
    for (int i = 0; i < 3; i++) {
        say(0, GET("/full"));
        struct str got = heard(0);
        assert_int_equal(status_of(got), 503);
        assert_true(holds(got, "\r\nX-Why: full\r\n"));
        assert_str(body_of(got), "no memory");
    }
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

static void a_slow_reader_holds_the_producer_back(void **state)
{
    (void)state;
    world.handler = start_pieces;
    connect_client(0);
    say(0, GET("/"));
    assert_in_range(world.n_pieces, 8, 64);
    pass_ms(1000);
    assert_in_range(world.n_pieces, 8, 64);
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
        WORLD_TEST(a_request_without_memory_is_answered),
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
#ifdef TIDEPOOL_FAULT
        WORLD_TEST(every_failure_leaves_the_server_working),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
