/* SPDX-License-Identifier: MIT */
/* Bulk data between sockets: see splice.h. */
#include "net/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fault.h"
#include "net/stream.h"

enum { PIPE_SIZE = 1 << 20, COPY = 65536 };

/* The thread's pipe; made at the first use. 0 when there is none. */
static _Thread_local int pipe_out, pipe_in;

static bool has_pipe(void)
{
    int fds[2];

    if (pipe_in > 0)
        return true;
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    /* More in one go; the default will do where that is not allowed. */
    (void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE);
    pipe_out = fds[0];
    pipe_in = fds[1];
    return true;
}

/* One splice(2): bytes or -errno. */
static ssize_t splice_bytes(int from, int to, size_t n)
{
    ssize_t r;

    do
        r = splice(from, NULL, to, NULL, n, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

/* What is still in the pipe goes the usual way, whatever becomes of TO. */
static void copy_rest(struct stream *to, size_t left)
{
    char bytes[COPY];

    while (left > 0) {
        ssize_t n = read(pipe_out, bytes, left < sizeof bytes ? left : sizeof bytes);
        if (n <= 0)
            break;
        (void)stream_write(to, bytes, (size_t)n);
        left -= (size_t)n;
    }
}

ssize_t splice_to(struct stream *to, int from, size_t max)
{
    if (stream_is_tls(to) || stream_queued(to) > 0 || fault_hit(FAULT_IO) || !has_pipe())
        return -EOPNOTSUPP;
    ssize_t n = splice_bytes(from, pipe_in, max < PIPE_SIZE ? max : PIPE_SIZE);
    if (n == -EINVAL)
        return -EOPNOTSUPP;
    if (n <= 0)
        return n;
    size_t left = (size_t)n;
    while (left > 0) {
        ssize_t sent = splice_bytes(pipe_out, stream_fd(to), left);
        if (sent <= 0)
            break;
        left -= (size_t)sent;
    }
    copy_rest(to, left);
    return n;
}
