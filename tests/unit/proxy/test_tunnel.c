/* SPDX-License-Identifier: MIT */
/* Tunnels over socket pairs: bytes, ends, resets, backpressure, memory. */
#include "../net/peer.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "proxy/tunnel.h"

static struct loop *loop;
static int ends[2]; /* the test's ends */
static int n_done;
static struct tunnel *tunnel;

static void on_done(void *ctx)
{
    n_done++;
    if (ctx == &tunnel)
        tunnel = NULL;
}

static ssize_t no_data(struct stream *s, void *ctx, const char *p, size_t len)
{
    (void)s;
    (void)ctx;
    (void)p;
    (void)len;
    return 0;
}

static const struct stream_ops no_ops = {.on_data = no_data};

static struct stream *new_stream(int *ret_end)
{
    const struct stream_opts opts = {.loop = loop, .ops = &no_ops, .high_mark = 65536};
    int fds[2];

    peer_pair(fds);
    *ret_end = fds[1];
    struct stream *s = stream_new(fds[0], &opts, NULL);
    assert_non_null(s);
    return s;
}

static int setup(void **state)
{
    (void)state;
    peer_stop_clock();
    loop = loop_new(NULL);
    n_done = 0;
    struct stream *a = new_stream(&ends[0]), *b = new_stream(&ends[1]);
    tunnel = tunnel_open(a, b, on_done, &tunnel);
    return tunnel ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    if (tunnel)
        tunnel_close(tunnel);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            (void)close(ends[i]);
    loop_free(loop);
    clock_set_source(NULL);
    return 0;
}

static void bytes_go_both_ways(void **state)
{
    struct buf in auto_buf = BUF_INIT(65536);

    (void)state;
    peer_send(loop, ends[0], STR("ping"));
    peer_expect(loop, ends[1], &in, "ping");
    buf_clear(&in);
    peer_send(loop, ends[1], STR("pong"));
    peer_expect(loop, ends[0], &in, "pong");
    assert_int_equal(n_done, 0);
}

static void an_end_is_passed_on_and_the_other_way_stays_open(void **state)
{
    struct buf in auto_buf = BUF_INIT(65536);

    (void)state;
    peer_send(loop, ends[0], STR("question"));
    (void)shutdown(ends[0], SHUT_WR);
    peer_settle(loop);
    peer_expect_end(loop, ends[1], &in);
    assert_string_equal(buf_cstr(&in), "question");
    buf_clear(&in);
    peer_send(loop, ends[1], STR("answer"));
    peer_expect(loop, ends[0], &in, "answer");
    assert_int_equal(n_done, 0);
    (void)close(take_fd(ends[1]));
    peer_settle(loop);
    peer_expect_end(loop, ends[0], &in);
    peer_settle(loop);
    assert_int_equal(n_done, 1);
}

static void a_silent_half_is_closed_after_a_while(void **state)
{
    struct buf in auto_buf = BUF_INIT(65536);

    (void)state;
    (void)shutdown(ends[0], SHUT_WR);
    peer_settle(loop);
    peer_wait(loop, TUNNEL_HALF_MS - 1000);
    peer_send(loop, ends[1], STR("still here"));
    peer_wait(loop, TUNNEL_HALF_MS - 1000);
    assert_int_equal(n_done, 0);
    peer_wait(loop, 2000);
    assert_int_equal(n_done, 1);
    assert_true(peer_take(ends[1], &in));
}

/* Writes until nothing is taken any more; returns how much was. */
static size_t fill(int fd)
{
    char chunk[16384];
    size_t total = 0;
    int refusals = 0;

    memset(chunk, 'x', sizeof chunk);
    while (refusals < 5) {
        ssize_t n = send(fd, chunk, sizeof chunk, MSG_NOSIGNAL);
        refusals = n > 0 ? 0 : refusals + 1;
        total += n > 0 ? (size_t)n : 0;
        peer_settle(loop);
        assert_true(total < (size_t)64 << 20);
    }
    return total;
}

static void a_reader_that_waits_holds_the_writer(void **state)
{
    struct buf in auto_buf = BUF_INIT(64 << 20);

    (void)state;
    size_t sent = fill(ends[0]);
    assert_true(sent < (size_t)4 << 20);
    for (int i = 0; i < 1000 && in.len < sent; i++) {
        (void)peer_take(ends[1], &in);
        peer_settle(loop);
    }
    assert_int_equal(in.len, sent);
    /* And it goes on. */
    peer_send(loop, ends[0], STR("more"));
    peer_expect(loop, ends[1], &in, "more");
}

static void bytes_before_an_end_arrive(void **state)
{
    struct buf in auto_buf = BUF_INIT(64 << 20);

    (void)state;
    size_t sent = fill(ends[0]);
    (void)close(take_fd(ends[0]));
    peer_settle(loop);
    for (int i = 0; i < 1000 && !peer_take(ends[1], &in); i++)
        peer_settle(loop);
    assert_int_equal(in.len, sent);
    (void)close(take_fd(ends[1]));
    peer_settle(loop);
    assert_int_equal(n_done, 1);
}

static void a_reset_is_passed_on(void **state)
{
    struct buf in auto_buf = BUF_INIT(65536);

    (void)state;
    /* A socket that is closed with unread bytes is reset. */
    peer_send(loop, ends[1], STR("unread"));
    (void)close(take_fd(ends[0]));
    peer_settle(loop);
    assert_true(peer_take(ends[1], &in));
    peer_settle(loop);
    assert_int_equal(n_done, 1);
}

static void closing_ends_both(void **state)
{
    struct buf in auto_buf = BUF_INIT(64 << 20);

    (void)state;
    (void)fill(ends[0]);
    tunnel_close(tunnel);
    assert_int_equal(n_done, 1);
    for (int i = 0; i < 2; i++)
        assert_true(peer_take(ends[i], &in));
}

#ifdef TIDEPOOL_FAULT
static void without_memory_both_are_closed(void **state)
{
    struct buf in auto_buf = BUF_INIT(65536);
    int other[2];

    (void)state;
    struct stream *a = new_stream(&other[0]), *b = new_stream(&other[1]);
    fault_arm(FAULT_ALLOC, 1);
    assert_null(tunnel_open(a, b, on_done, NULL));
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(n_done, 0);
    for (int i = 0; i < 2; i++) {
        assert_true(peer_take(other[i], &in));
        (void)close(other[i]);
    }
}
#endif

/* Whatever fails, the tunnel ends and says so once. */
static void every_fault_ends_the_tunnel(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        for (unsigned nth = 1; nth < 40; nth++) {
            int other[2];
            struct stream *a = new_stream(&other[0]), *b = new_stream(&other[1]);
            int n_before = n_done;
            fault_arm((enum fault_kind)kind, nth);
            struct tunnel *t = tunnel_open(a, b, on_done, NULL);
            (void)!send(other[0], "ping", 4, MSG_NOSIGNAL);
            peer_settle(loop);
            (void)!send(other[1], "pong", 4, MSG_NOSIGNAL);
            peer_settle(loop);
            fault_arm((enum fault_kind)kind, 0);
            (void)close(other[0]);
            peer_settle(loop);
            (void)close(other[1]);
            peer_settle(loop);
            assert_int_equal(n_done, n_before + (t ? 1 : 0));
        }
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_go_both_ways),
        TEST(an_end_is_passed_on_and_the_other_way_stays_open),
        TEST(a_silent_half_is_closed_after_a_while),
        TEST(a_reader_that_waits_holds_the_writer),
        TEST(bytes_before_an_end_arrive),
        TEST(a_reset_is_passed_on),
        TEST(closing_ends_both),
#ifdef TIDEPOOL_FAULT
        TEST(without_memory_both_are_closed),
#endif
        TEST(every_fault_ends_the_tunnel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
