/* SPDX-License-Identifier: MIT */
/* The other end of a connection in a test: plain system calls in straight lines, between which the
 * loop of the code under test is run. */
#pragma once

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../check.h"
#include "base/buf.h"
#include "base/clock.h"
#include "loop/loop.h"

/* A clock that stands still unless a test moves it. */
static int64_t peer_clock_us = 1000000;

static inline int64_t peer_clock(void)
{
    return peer_clock_us;
}

static inline void peer_stop_clock(void)
{
    static const struct clock_source source = {peer_clock, peer_clock};

    clock_set_source(&source);
}

/* Runs the loop until nothing happens any more. */
static inline void peer_settle(struct loop *l)
{
    for (int i = 0; i < 12; i++)
        assert_int_equal(loop_run_once(l, 0), 0);
}

/* Lets MS pass on the stopped clock. */
static inline void peer_wait(struct loop *l, int64_t ms)
{
    peer_clock_us += ms * 1000;
    peer_settle(l);
}

/* Two connected sockets: one for the code under test, one for the test, non-blocking. */
static inline void peer_pair(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
}

static inline int peer_accept(struct loop *l, int listener)
{
    for (int i = 0; i < 1000; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            return fd;
        (void)loop_run_once(l, 1);
    }
    fail_msg("no connection");
    return -1;
}

/* Sends everything, running the loop so that the other side reads. */
static inline void peer_send(struct loop *l, int fd, struct str s)
{
    for (int i = 0; s.len > 0; i++) {
        ssize_t n = send(fd, s.p, s.len, MSG_NOSIGNAL);
        assert_true(n > 0 || errno == EAGAIN);
        assert_true(i < 100000);
        s = str_skip(s, n > 0 ? (size_t)n : 0);
        (void)loop_run_once(l, 0);
    }
    peer_settle(l);
}

/* Appends what has arrived at FD. True at the end of the stream. */
static inline bool peer_take(int fd, struct buf *in)
{
    char chunk[65536];

    for (;;) {
        ssize_t n = recv(fd, chunk, sizeof chunk, 0);
        if (n <= 0)
            return n == 0 || errno != EAGAIN;
        assert_int_equal(buf_add(in, chunk, (size_t)n), 0);
    }
}

/* Reads until IN holds TEXT. */
static inline void peer_expect(struct loop *l, int fd, struct buf *in, const char *text)
{
    for (int i = 0; i < 2000; i++) {
        bool is_end = peer_take(fd, in);
        if (str_find(buf_str(in), str_of(text)) >= 0)
            return;
        if (is_end)
            break;
        (void)loop_run_once(l, 1);
    }
    fail_msg("'%s' did not arrive; got: %s", text, buf_cstr(in));
}

/* Reads until the other side closes. */
static inline void peer_expect_end(struct loop *l, int fd, struct buf *in)
{
    for (int i = 0; i < 2000; i++) {
        if (peer_take(fd, in))
            return;
        (void)loop_run_once(l, 1);
    }
    fail_msg("not closed");
}
