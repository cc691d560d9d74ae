/* SPDX-License-Identifier: MIT */
/* Byte streams: reading, writing, closing, moving between threads. */
#include "../check.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "net/stream.h"
#include "sys/io.h"

/* One end is a stream, the other a plain descriptor. */
struct side {
    struct loop *loop;
    struct stream *stream; /* NULL once closed */
    int fd;
    struct buf got;
    size_t use_at_most; /* per on_data(); 0: all */
    size_t offered;     /* bytes in the last on_data() */
    int n_data, n_drain, n_eof, n_timeout, n_close, reason;
    void (*act)(struct side *s); /* called by on_data() */
};

static ssize_t on_data(struct stream *stream, void *ctx, const char *p, size_t len)
{
    struct side *s = ctx;
    size_t used = s->use_at_most && s->use_at_most < len ? s->use_at_most : len;

    (void)stream;
    s->n_data++;
    s->offered = len;
    if (s->act)
        s->act(s);
    (void)buf_add(&s->got, p, used);
    return (ssize_t)used;
}

static void on_drain(struct stream *stream, void *ctx)
{
    (void)stream;
    ((struct side *)ctx)->n_drain++;
}

static void on_eof(struct stream *stream, void *ctx)
{
    (void)stream;
    ((struct side *)ctx)->n_eof++;
}

static void on_close(struct stream *stream, void *ctx, int reason)
{
    struct side *s = ctx;

    assert_ptr_equal(stream, s->stream);
    s->n_close++;
    s->reason = reason;
    s->stream = NULL;
}

static void on_timeout(struct stream *stream, void *ctx)
{
    (void)stream;
    ((struct side *)ctx)->n_timeout++;
}

static const struct stream_ops ops = {
    .on_data = on_data,
    .on_drain = on_drain,
    .on_eof = on_eof,
    .on_close = on_close,
    .on_timeout = on_timeout,
};

static int64_t fake_us;

static int64_t fake_clock(void)
{
    return fake_us;
}

static const struct clock_source fake_source = {fake_clock, fake_clock};

static void open_with(struct side *s, struct stream_opts opts)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    opts.loop = s->loop;
    opts.ops = &ops;
    opts.ctx = s;
    s->fd = fds[1];
    s->stream = stream_new(fds[0], &opts, NULL);
    assert_non_null(s->stream);
    buf_init(&s->got, 64 << 20);
}

static int setup(void **state)
{
    struct side *s = calloc(1, sizeof *s);

    if (!s)
        return -1;
    fake_us = 1000000;
    clock_set_source(&fake_source);
    s->loop = loop_new(NULL);
    open_with(s, (struct stream_opts){.write_ms = 500});
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct side *s = *state;

    if (s->stream)
        stream_close(s->stream);
    assert_int_equal(s->n_close, 1);
    if (s->fd >= 0)
        (void)close(s->fd);
    buf_done(&s->got);
    loop_free(s->loop);
    free(s);
    clock_set_source(NULL);
    return 0;
}

static void turn(struct side *s)
{
    for (int i = 0; i < 4; i++)
        assert_int_equal(loop_run_once(s->loop, 0), 0);
}

static void pass_ms(struct side *s, int64_t ms)
{
    fake_us += ms * 1000;
    turn(s);
}

static void say(struct side *s, const char *text)
{
    assert_int_equal(write(s->fd, text, strlen(text)), (ssize_t)strlen(text));
    turn(s);
}

/* Reads all that the stream has sent; true at its end. */
static bool hear(struct side *s, struct buf *out)
{
    for (;;) {
        char chunk[65536];
        ssize_t n = io_read(s->fd, chunk, sizeof chunk);
        if (n == -EAGAIN)
            return false;
        if (n <= 0)
            return true;
        (void)buf_add(out, chunk, (size_t)n);
        turn(s);
    }
}

/* ---- reading ---- */

static void bytes_arrive(void **state)
{
    struct side *s = *state;

    say(s, "hello ");
    say(s, "world");
    assert_str(buf_str(&s->got), "hello world");
    assert_int_equal(s->n_data, 2);
}

static void unused_bytes_are_offered_again_with_more(void **state)
{
    struct side *s = *state;

    s->use_at_most = 2;
    say(s, "abcde");
    assert_str(buf_str(&s->got), "ab");
    say(s, "f");
    assert_int_equal(s->offered, 4);
    assert_str(buf_str(&s->got), "abcd");
    s->use_at_most = 0;
    say(s, "g");
    assert_str(buf_str(&s->got), "abcdefg");
}

static ssize_t use_none(struct stream *stream, void *ctx, const char *p, size_t len)
{
    (void)stream;
    (void)p;
    ((struct side *)ctx)->offered = len;
    return 0;
}

static const struct stream_ops greedy_ops = {.on_data = use_none, .on_close = on_close};

static void more_than_may_be_left_closes(void **state)
{
    struct side *s = *state;
    char big[65536] = {0};

    stream_set_ops(s->stream, &greedy_ops, s);
    assert_int_equal(write(s->fd, big, sizeof big - 1), sizeof big - 1);
    turn(s);
    assert_int_equal(s->n_close, 0);
    assert_int_equal(s->offered, sizeof big - 1);
    assert_int_equal(write(s->fd, big, 2), 2);
    turn(s);
    assert_int_equal(s->reason, -EMSGSIZE);
}

static void a_paused_stream_reads_nothing(void **state)
{
    struct side *s = *state;

    stream_pause(s->stream);
    say(s, "later");
    assert_int_equal(s->n_data, 0);
    stream_resume(s->stream);
    turn(s);
    assert_str(buf_str(&s->got), "later");
}

static void pause_now(struct side *s)
{
    stream_pause(s->stream);
}

static void pausing_in_a_callback_keeps_the_rest(void **state)
{
    struct side *s = *state;

    s->act = pause_now;
    s->use_at_most = 1;
    say(s, "abc");
    say(s, "d");
    assert_int_equal(s->n_data, 1);
    s->act = NULL;
    s->use_at_most = 0;
    stream_resume(s->stream);
    turn(s);
    assert_str(buf_str(&s->got), "abcd");
}

static void the_end_is_told_and_writing_goes_on(void **state)
{
    struct side *s = *state;
    struct buf out auto_buf = BUF_INIT(100);

    say(s, "x");
    assert_int_equal(shutdown(s->fd, SHUT_WR), 0);
    turn(s);
    assert_int_equal(s->n_eof, 1);
    assert_int_equal(stream_write(s->stream, "still here", 10), 0);
    assert_false(hear(s, &out));
    assert_str(buf_str(&out), "still here");
    turn(s);
    assert_int_equal(s->n_eof, 1);
    stream_shutdown(s->stream);
    assert_true(hear(s, &out));
}

static void a_peer_that_leaves_while_paused_is_found_on_resume(void **state)
{
    struct side *s = *state;

    stream_pause(s->stream);
    say(s, "last words");
    (void)close(take_fd(s->fd));
    turn(s);
    assert_int_equal(s->n_close, 0);
    stream_resume(s->stream);
    turn(s);
    assert_str(buf_str(&s->got), "last words");
    assert_int_equal(s->n_eof, 1);
}

/* ---- writing ---- */

static void fill(struct side *s, size_t len, struct buf *sent)
{
    char chunk[4096];

    for (size_t at = 0; at < len; at += sizeof chunk) {
        memset(chunk, (int)('a' + at / sizeof chunk % 26), sizeof chunk);
        assert_int_equal(stream_write(s->stream, chunk, sizeof chunk), 0);
        (void)buf_add(sent, chunk, sizeof chunk);
    }
}

static void what_the_socket_does_not_take_is_queued_and_drains(void **state)
{
    struct side *s = *state;
    struct buf sent auto_buf = BUF_INIT(8 << 20), out auto_buf = BUF_INIT(8 << 20);

    fill(s, 4 << 20, &sent);
    assert_true(stream_is_full(s->stream));
    assert_true(stream_queued(s->stream) > 0);
    turn(s);
    assert_int_equal(s->n_drain, 0);
    assert_false(hear(s, &out));
    assert_int_equal(stream_queued(s->stream), 0);
    assert_int_equal(s->n_drain, 1);
    assert_int_equal(out.len, sent.len);
    assert_memory_equal(out.p, sent.p, sent.len);
}

static void closing_after_flush_sends_everything(void **state)
{
    struct side *s = *state;
    struct buf sent auto_buf = BUF_INIT(8 << 20), out auto_buf = BUF_INIT(8 << 20);

    fill(s, 2 << 20, &sent);
    stream_close_after_flush(s->stream);
    assert_int_equal(stream_write(s->stream, "x", 1), -EPIPE);
    assert_int_equal(s->n_close, 0);
    assert_true(hear(s, &out));
    assert_int_equal(s->n_close, 1);
    assert_int_equal(s->reason, 0);
    assert_int_equal(out.len, sent.len);
}

static void corked_writes_go_out_together(void **state)
{
    struct side *s = *state;
    struct buf out auto_buf = BUF_INIT(100);

    stream_cork(s->stream);
    stream_cork(s->stream);
    (void)stream_write(s->stream, "a", 1);
    (void)stream_write(s->stream, "b", 1);
    stream_uncork(s->stream);
    (void)hear(s, &out);
    assert_int_equal(out.len, 0);
    stream_uncork(s->stream);
    (void)hear(s, &out);
    assert_str(buf_str(&out), "ab");
    assert_int_equal(stream_queued(s->stream), 0);
}

static void writing_to_a_peer_that_left_closes_in_the_next_round(void **state)
{
    struct side *s = *state;

    (void)close(take_fd(s->fd));
    assert_int_equal(stream_write(s->stream, "x", 1), -EPIPE);
    assert_int_equal(s->n_close, 0);
    assert_int_equal(stream_write(s->stream, "x", 1), -EPIPE);
    turn(s);
    assert_int_equal(s->n_close, 1);
    assert_int_equal(s->reason, -EPIPE);
}

static void output_that_stands_still_is_reset(void **state)
{
    struct side *s = *state;
    struct buf sent auto_buf = BUF_INIT(8 << 20);
    char chunk[65536];

    fill(s, 2 << 20, &sent);
    pass_ms(s, 499);
    while (io_read(s->fd, chunk, sizeof chunk) > 0)
        ;
    turn(s);
    pass_ms(s, 499);
    assert_int_equal(s->n_close, 0);
    pass_ms(s, 2);
    assert_int_equal(s->n_close, 1);
    assert_int_equal(s->reason, -ETIMEDOUT);
}

/* ---- time and closing ---- */

static void timeouts_fire_once_and_can_be_pushed_back(void **state)
{
    struct side *s = *state;

    stream_set_timeout(s->stream, 100);
    pass_ms(s, 60);
    stream_set_timeout(s->stream, 100);
    pass_ms(s, 60);
    assert_int_equal(s->n_timeout, 0);
    pass_ms(s, 41);
    assert_int_equal(s->n_timeout, 1);
    pass_ms(s, 1000);
    assert_int_equal(s->n_timeout, 1);
    stream_set_timeout(s->stream, 100);
    stream_set_timeout(s->stream, 0);
    pass_ms(s, 1000);
    assert_int_equal(s->n_timeout, 1);
}

static void close_now(struct side *s)
{
    stream_close(s->stream);
    assert_int_equal(s->n_close, 0);
}

static void closing_in_a_callback_waits_for_its_end(void **state)
{
    struct side *s = *state;

    s->act = close_now;
    say(s, "x");
    assert_int_equal(s->n_close, 1);
    assert_int_equal(s->reason, 0);
}

static void a_stream_without_on_eof_closes(void **state)
{
    static const struct stream_ops plain = {.on_data = on_data, .on_close = on_close};
    struct side *s = *state;

    stream_set_ops(s->stream, &plain, s);
    (void)close(take_fd(s->fd));
    turn(s);
    assert_int_equal(s->n_close, 1);
}

static void new_ops_get_the_kept_bytes(void **state)
{
    struct side *s = *state;

    s->use_at_most = 1;
    say(s, "abc");
    s->use_at_most = 0;
    stream_set_ops(s->stream, &ops, s);
    turn(s);
    assert_str(buf_str(&s->got), "abc");
}

static void facts(void **state)
{
    struct side *s = *state;

    assert_string_equal(stream_peer(s->stream), "unix");
    assert_ptr_equal(stream_loop(s->stream), s->loop);
    assert_false(stream_is_tls(s->stream));
    assert_true(stream_is_ready(s->stream));
    assert_true(stream_fd(s->stream) >= 0);
}

/* ---- moving ---- */

struct mover {
    struct side *side;
    struct loop *there;
    pthread_t thread;
    bool has_arrived;
};

static struct mover mover;

static void close_there(struct stream *stream, void *ctx, int reason)
{
    on_close(stream, ctx, reason);
    loop_stop(mover.there);
}

static const struct stream_ops there_ops = {.on_data = on_data, .on_close = close_there};

static void arrived(struct stream *stream, void *ctx)
{
    (void)ctx;
    assert_true(loop_is_mine(mover.there));
    assert_ptr_equal(stream_loop(stream), mover.there);
    mover.has_arrived = true;
    stream_set_ops(stream, &there_ops, mover.side);
    assert_int_equal(stream_write(stream, "I am there", 10), 0);
}

static void *run_there(void *arg)
{
    (void)arg;
    assert_int_equal(loop_run(mover.there), 0);
    return NULL;
}

static void move_now(struct side *s)
{
    s->act = NULL;
    stream_move(s->stream, mover.there, arrived);
}

/* Reads TEXT from the stream that moved. */
static void expect_text(int fd, const char *text)
{
    char got[64];
    size_t len = 0;

    (void)io_set_nonblock(fd, false);
    while (len < strlen(text)) {
        ssize_t n = io_read(fd, got + len, sizeof got - len);
        assert_true(n > 0);
        len += (size_t)n;
    }
    assert_memory_equal(got, text, len);
}

static void move_and_talk(struct side *s)
{
    clock_set_source(NULL);
    turn(s); /* the loop learns the real time */
    mover = (struct mover){.side = s, .there = loop_new(NULL)};
    assert_int_equal(pthread_create(&mover.thread, NULL, run_there, NULL), 0);
    stream_set_timeout(s->stream, 60000);
    s->use_at_most = 3;
    s->act = move_now;
    say(s, "abcdef");
    expect_text(s->fd, "I am there");
    assert_int_equal(write(s->fd, "ghi", 3), 3);
    (void)close(take_fd(s->fd));
    (void)pthread_join(mover.thread, NULL);
    assert_true(mover.has_arrived);
    assert_int_equal(s->n_close, 1);
    loop_free(mover.there);
}

static void a_stream_moves_to_another_thread_with_its_bytes(void **state)
{
    struct side *s = *state;

    move_and_talk(s);
    assert_memory_equal(s->got.p, "abcdef", 6);
}

/* ---- faults ---- */

#ifdef TIDEPOOL_FAULT
static void exchange(struct side *s)
{
    struct buf out auto_buf = BUF_INIT(8 << 20);
    char chunk[4096] = {0};

    s->use_at_most = 1;
    if (write(s->fd, "abc", 3) == 3)
        turn(s);
    for (int i = 0; s->stream && i < 300; i++)
        (void)stream_write(s->stream, chunk, sizeof chunk);
    turn(s);
    fault_arm(FAULT_IO, 0);
    (void)hear(s, &out);
    if (s->stream)
        stream_close(s->stream);
}

static void every_failure_ends_in_one_close(void **state)
{
    struct side *first = *state;

    for (int kind = 0; kind < FAULT_COUNT; kind++) {
        bool fired = true;
        for (unsigned n = 1; fired; n++) {
            struct side s = {.loop = first->loop};
            open_with(&s, (struct stream_opts){.write_ms = 500});
            fault_arm((enum fault_kind)kind, n);
            exchange(&s);
            fired = fault_fired((enum fault_kind)kind) && n < 1000;
            fault_arm((enum fault_kind)kind, 0);
            assert_int_equal(s.n_close, 1);
            (void)close(s.fd);
            buf_done(&s.got);
        }
    }
}
#endif

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_arrive),
        TEST(unused_bytes_are_offered_again_with_more),
        TEST(more_than_may_be_left_closes),
        TEST(a_paused_stream_reads_nothing),
        TEST(pausing_in_a_callback_keeps_the_rest),
        TEST(the_end_is_told_and_writing_goes_on),
        TEST(a_peer_that_leaves_while_paused_is_found_on_resume),
        TEST(what_the_socket_does_not_take_is_queued_and_drains),
        TEST(closing_after_flush_sends_everything),
        TEST(corked_writes_go_out_together),
        TEST(writing_to_a_peer_that_left_closes_in_the_next_round),
        TEST(output_that_stands_still_is_reset),
        TEST(timeouts_fire_once_and_can_be_pushed_back),
        TEST(closing_in_a_callback_waits_for_its_end),
        TEST(a_stream_without_on_eof_closes),
        TEST(new_ops_get_the_kept_bytes),
        TEST(facts),
        TEST(a_stream_moves_to_another_thread_with_its_bytes),
#ifdef TIDEPOOL_FAULT
        TEST(every_failure_ends_in_one_close),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
