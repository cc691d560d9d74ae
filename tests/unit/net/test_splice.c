/* SPDX-License-Identifier: MIT */
/* Bulk data from a socket to a stream. */
#include "peer.h"

#include <signal.h>

#include "base/cleanup.h"
#include "net/splice.h"
#include "net/stream.h"

static struct loop *loop;
static struct stream *to;
static int from[2], peer; /* the test writes to from[1] and reads at peer */
static struct buf in;

static void on_close(struct stream *s, void *ctx, int reason)
{
    (void)s;
    (void)ctx;
    (void)reason;
    to = NULL;
}

static ssize_t on_data(struct stream *s, void *ctx, const char *p, size_t len)
{
    (void)s;
    (void)ctx;
    (void)p;
    return (ssize_t)len;
}

static const struct stream_ops ops = {.on_data = on_data, .on_close = on_close};

static int setup(void **state)
{
    int fds[2];

    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    loop = loop_new(NULL);
    peer_pair(from);
    peer_pair(fds);
    peer = fds[1];
    to = stream_new(fds[0], &(struct stream_opts){.loop = loop, .ops = &ops}, NULL);
    buf_init(&in, 64 << 20);
    return to ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    if (to)
        stream_close(to);
    (void)close(from[0]);
    if (from[1] >= 0)
        (void)close(from[1]);
    if (peer >= 0)
        (void)close(peer);
    buf_done(&in);
    loop_free(loop);
    return 0;
}

static void bytes_arrive_and_ends_are_told(void **state)
{
    (void)state;
    assert_int_equal(splice_to(to, from[0], 100), -EAGAIN);
    peer_send(loop, from[1], STR("hello"));
    assert_int_equal(splice_to(to, from[0], 3), 3);
    assert_int_equal(splice_to(to, from[0], 100), 2);
    assert_int_equal(stream_queued(to), 0);
    peer_expect(loop, peer, &in, "hello");
    (void)close(take_fd(from[1]));
    assert_int_equal(splice_to(to, from[0], 100), 0);
}

/* A receiver that is slow gets all of it, in order. */
static void what_is_not_taken_is_queued(void **state)
{
    static char chunk[65536];
    size_t sent = 0, moved = 0;
    ssize_t n = 0;

    (void)state;
    while (n != -EOPNOTSUPP) {
        for (size_t i = 0; i < sizeof chunk; i++)
            chunk[i] = (char)((sent + i) * 7 + ((sent + i) >> 8));
        ssize_t w = send(from[1], chunk, sizeof chunk, MSG_NOSIGNAL);
        sent += w > 0 ? (size_t)w : 0;
        n = splice_to(to, from[0], 1 << 20);
        moved += n > 0 ? (size_t)n : 0;
        assert_true(moved < (size_t)32 << 20);
    }
    assert_true(stream_queued(to) > 0);
    while (in.len < moved) {
        (void)peer_take(peer, &in);
        peer_settle(loop);
    }
    assert_int_equal(in.len, moved);
    for (size_t i = 0; i < moved; i++)
        assert_int_equal(in.p[i], (char)(i * 7 + (i >> 8)));
    assert_int_equal(stream_queued(to), 0);
}

static void a_receiver_that_is_gone_is_noticed_by_its_stream(void **state)
{
    (void)state;
    peer_send(loop, from[1], STR("hello"));
    (void)close(take_fd(peer));
    assert_int_equal(splice_to(to, from[0], 100), 5);
    peer_settle(loop);
    assert_null(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_arrive_and_ends_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_taken_is_queued, setup, teardown),
        cmocka_unit_test_setup_teardown(a_receiver_that_is_gone_is_noticed_by_its_stream, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
