/* SPDX-License-Identifier: MIT */
#include "local/bridge/child.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/kit/program.h"
#include "sys/io.h"

enum { READ_BYTES = 65536, WHY_MAX = 160 };

/* ---- the log ---- */

static void log_add(struct child *c, const char *p, size_t len)
{
    if (!c->log.bytes)
        c->log.bytes = mem_alloc(CHILD_LOG_MAX);
    for (size_t i = 0; c->log.bytes && i < len; i++) {
        c->log.bytes[c->log.at] = p[i];
        c->log.at = (c->log.at + 1) % CHILD_LOG_MAX;
        c->log.is_full = c->log.is_full || c->log.at == 0;
    }
}

void child_note(struct child *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n > 0)
        log_add(c, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    log_add(c, "\n", 1);
}

void child_read_log(const struct child *c, struct buf *out)
{
    if (c->log.is_full)
        (void)buf_add(out, c->log.bytes + c->log.at, CHILD_LOG_MAX - c->log.at);
    if (c->log.bytes)
        (void)buf_add(out, c->log.bytes, c->log.at);
}

/* ---- the end ---- */

static void stop(struct loop_io *io)
{
    int fd = io->fd;

    loop_io_stop(io);
    if (fd >= 0)
        (void)close(fd);
    io->fd = -1;
}

static void reap(struct child *c, char why[WHY_MAX])
{
    int status = 0;

    /* One that has closed its output is of no use, whether or not it goes on. */
    (void)kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        (void)snprintf(why, WHY_MAX, "was ended by signal %d", WTERMSIG(status));
    else
        (void)snprintf(why, WHY_MAX, "ended with status %d", WEXITSTATUS(status));
}

void child_end(struct child *c, const char *why)
{
    char text[WHY_MAX];

    if (c->pid == 0)
        return;
    reap(c, text);
    c->pid = 0;
    stop(&c->in);
    stop(&c->out);
    stop(&c->err);
    buf_done(&c->input);
    buf_done(&c->line);
    c->sent = 0;
    child_note(c, "[%s]", why ? why : text);
    c->ops->on_end(c, why ? why : text);
}

/* ---- its output ---- */

/* Hands over the whole lines; the rest stays. */
static void hand_over_lines(struct child *c)
{
    struct buf got = c->line;
    struct str rest = buf_str(&got);
    const char *end;
    pid_t pid = c->pid;

    buf_init(&c->line, CHILD_LINE_MAX);
    while (c->pid == pid && rest.len > 0 && (end = memchr(rest.p, '\n', rest.len))) {
        struct str line = {rest.p, (size_t)(end - rest.p)};
        rest = str_skip(rest, line.len + 1);
        if (line.len > 0 && line.p[line.len - 1] == '\r')
            line.len--;
        if (line.len > 0)
            c->ops->on_line(c, line);
    }
    if (c->pid == pid && rest.len > 0)
        (void)buf_add_str(&c->line, rest);
    buf_done(&got);
}

static void on_child_output(struct loop_io *io, uint32_t events)
{
    struct child *c = container_of(io, struct child, out);
    char bytes[READ_BYTES];
    ssize_t n = io_read(io->fd, bytes, sizeof bytes);

    (void)events;
    if (n == -EAGAIN)
        return;
    if (n <= 0) {
        child_end(c, NULL);
        return;
    }
    bool has_end = memchr(bytes, '\n', (size_t)n) != NULL;
    if (buf_add(&c->line, bytes, (size_t)n) < 0)
        child_end(c, "sent a line that is longer than 32 MiB");
    else if (has_end)
        hand_over_lines(c);
}

static void on_errors(struct loop_io *io, uint32_t events)
{
    struct child *c = container_of(io, struct child, err);
    char bytes[4096];
    ssize_t n = io_read(io->fd, bytes, sizeof bytes);

    (void)events;
    if (n > 0)
        log_add(c, bytes, (size_t)n);
    else if (n != -EAGAIN)
        stop(io);
}

/* ---- its input ---- */

static void on_child_input(struct loop_io *io, uint32_t events)
{
    struct child *c = container_of(io, struct child, in);
    ssize_t n = io_write(io->fd, c->input.p + c->sent, c->input.len - c->sent);

    (void)events;
    if (n > 0)
        c->sent += (size_t)n;
    if (c->sent < c->input.len && (n >= 0 || n == -EAGAIN)) {
        if (!io->loop)
            (void)loop_io_start(c->loop, io, io->fd, EPOLLOUT, on_child_input);
        return;
    }
    /* All was written; or nobody reads, and the end of its output will follow. */
    loop_io_stop(io);
    buf_done(&c->input);
    buf_init(&c->input, CHILD_INPUT_MAX);
    c->sent = 0;
}

int child_send(struct child *c, struct str text)
{
    bool is_first = c->input.len == 0;

    if (c->input.len + text.len + 1 > CHILD_INPUT_MAX)
        return -EMSGSIZE;
    if (buf_reserve(&c->input, text.len + 1) < 0)
        return -ENOMEM;
    (void)buf_add_str(&c->input, text);
    (void)buf_add_char(&c->input, '\n');
    if (is_first)
        on_child_input(&c->in, EPOLLOUT);
    return 0;
}

/* ---- the beginning ---- */

void child_init(struct child *c, struct loop *loop, const struct child_ops *ops)
{
    *c = (struct child){.loop = loop, .ops = ops};
    c->in.fd = c->out.fd = c->err.fd = -1;
}

int child_start(struct child *c, const struct run *r)
{
    int fds[3], code = run_start(r, fds, &c->pid);

    if (code < 0) {
        c->pid = 0;
        return code;
    }
    buf_init(&c->input, CHILD_INPUT_MAX);
    buf_init(&c->line, CHILD_LINE_MAX);
    child_note(c, "[started '%s' as process %d]", r->argv[0], (int)c->pid);
    c->in.fd = fds[0];
    c->err.fd = fds[2];
    code = loop_io_start(c->loop, &c->out, fds[1], EPOLLIN, on_child_output);
    c->out.fd = fds[1];
    if (code == 0)
        code = loop_io_start(c->loop, &c->err, fds[2], EPOLLIN, on_errors);
    if (code < 0)
        child_end(c, "cannot be watched");
    return code;
}
