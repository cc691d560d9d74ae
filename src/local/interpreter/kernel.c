/* SPDX-License-Identifier: MIT */
#include "local/interpreter/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/interpreter/event.h"
#include "local/interpreter/language.h"
#include "local/interpreter/nursery.h"
#include "sys/io.h"

enum {
    AT_ONCE = 16, /* pieces of text that are read before a message: more than a pipe holds */
    TAIL_MAX = 4
};

enum end { END_IN, END_OUT, END_ERR, END_MSG, END_COUNT };

static void close_end(struct loop_io *io)
{
    loop_io_stop(io);
    if (io->fd >= 0)
        (void)close(io->fd);
    io->fd = -1;
}

static void close_ends(struct kernel *k)
{
    struct loop_io *const all[] = {&k->in, &k->out, &k->err, &k->msg, &k->exit};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        close_end(all[i]);
}

void kernel_free(struct kernel *k)
{
    if (!k)
        return;
    k->is_over = true;
    if (k->nursery)
        nursery_forget(k->nursery, k);
    if (k->pid > 0)
        (void)kill(-k->pid, SIGKILL);
    close_ends(k);
    buf_done(&k->input);
    buf_done(&k->line);
    buf_done(&k->tails[0]);
    buf_done(&k->tails[1]);
    free(k);
}

/* ---- text ---- */

static void hand_over_text(struct kernel *k, bool is_err, struct str text)
{
    if (k->is_ready && text.len > 0)
        k->ops->on_text(k, is_err, text);
}

/* Text with what was left of the last piece in front of it; what is not a whole character stays. */
static void take_text(struct kernel *k, bool is_err, char *bytes, size_t n)
{
    struct buf *tail = &k->tails[is_err];
    size_t had = tail->len;

    /* The caller left TAIL_MAX bytes of room in front. */
    memcpy(bytes - had, tail->p ? tail->p : "", had);
    struct str text = {bytes - had, n + had};
    buf_clear(tail);
    size_t whole = event_whole(text);
    (void)buf_add_str(tail, str_skip(text, whole));
    hand_over_text(k, is_err, str_slice(text, 0, whole));
}

/* One piece: false when there is none now. */
static bool read_text(struct kernel *k, bool is_err)
{
    struct loop_io *io = is_err ? &k->err : &k->out;
    char bytes[TAIL_MAX + KERNEL_TEXT_MAX];
    ssize_t n = io->fd < 0 ? -EAGAIN : io_read(io->fd, bytes + TAIL_MAX, KERNEL_TEXT_MAX);

    if (n > 0)
        take_text(k, is_err, bytes + TAIL_MAX, (size_t)n);
    else if (n != -EAGAIN)
        close_end(io);
    return n > 0;
}

/* All text that was written before now. */
static void read_all_text(struct kernel *k)
{
    for (int is_err = 0; is_err < 2; is_err++)
        for (int i = 0; i < AT_ONCE && read_text(k, is_err); i++)
            ;
}

static void hand_over_tails(struct kernel *k)
{
    for (int is_err = 0; is_err < 2; is_err++) {
        struct buf *tail = &k->tails[is_err];
        char bytes[TAIL_MAX];
        size_t n = tail->len;
        memcpy(bytes, tail->p ? tail->p : "", n);
        buf_clear(tail);
        hand_over_text(k, is_err, str_n(bytes, n));
    }
}

static void on_out(struct loop_io *io, uint32_t events)
{
    (void)events;
    (void)read_text(container_of(io, struct kernel, out), false);
}

static void on_err(struct loop_io *io, uint32_t events)
{
    (void)events;
    (void)read_text(container_of(io, struct kernel, err), true);
}

/* ---- messages ---- */

static const struct json *make_too_large(struct arena *a)
{
    return json_parse(a,
                      STR("{\"type\":\"error\",\"name\":\"ResultTooLarge\",\"value\":\"a result is "
                          "malformed, or larger than can be shown\",\"traceback\":\"\"}"),
                      NULL, NULL);
}

static void on_in(struct loop_io *io, uint32_t events);

static void take_message(struct kernel *k, struct str line)
{
    struct arena arena auto_arena, small auto_arena;

    arena_init(&arena, KERNEL_MEMORY_MAX);
    arena_init(&small, 64 << 10);
    const struct json *message = json_parse(&arena, line, NULL, NULL);
    if (!json_is(message, JSON_OBJECT))
        message = make_too_large(&small);
    struct str type = json_str(json_get(message, "type"), STR(""));
    read_all_text(k);
    if (str_is(type, "ready")) {
        buf_clear(&k->tails[0]);
        buf_clear(&k->tails[1]);
        k->is_ready = true;
        k->ops->on_ready(k);
        if (k->input.len > 0)
            on_in(&k->in, EPOLLOUT);
        return;
    }
    if (str_is(type, "done"))
        hand_over_tails(k);
    k->ops->on_message(k, message);
}

/* The whole lines; what is left stays. A message may lead to the end of the kernel. */
static void take_kernel_lines(struct kernel *k)
{
    struct buf got = k->line;
    struct str rest = buf_str(&got);
    const char *end;

    buf_init(&k->line, KERNEL_MESSAGE_MAX);
    while (rest.len > 0 && (end = memchr(rest.p, '\n', rest.len))) {
        struct str line = {rest.p, (size_t)(end - rest.p)};
        rest = str_skip(rest, line.len + 1);
        take_message(k, line);
    }
    (void)buf_add_str(&k->line, rest);
    buf_done(&got);
}

/* False when nothing waits. */
static bool read_messages(struct kernel *k)
{
    char bytes[KERNEL_TEXT_MAX];
    ssize_t n = k->msg.fd < 0 ? -EAGAIN : io_read(k->msg.fd, bytes, sizeof bytes);

    if (n == -EAGAIN)
        return false;
    if (n <= 0) {
        close_end(&k->msg);
        return false;
    }
    bool has_end = memchr(bytes, '\n', (size_t)n) != NULL;
    if (buf_add(&k->line, bytes, (size_t)n) < 0) { /* not a driver of ours */
        (void)kill(-k->pid, SIGKILL);
        close_end(&k->msg);
    } else if (has_end)
        take_kernel_lines(k);
    return true;
}

static void on_messages(struct loop_io *io, uint32_t events)
{
    (void)events;
    (void)read_messages(container_of(io, struct kernel, msg));
}

/* ---- its end ---- */

static void end_kernel(struct kernel *k, const char *why)
{
    if (k->is_over)
        return;
    k->is_over = true;
    close_ends(k);
    k->ops->on_exit(k, why);
}

static void on_process_exit(struct loop_io *io, uint32_t events)
{
    struct kernel *k = container_of(io, struct kernel, exit);

    (void)events;
    loop_io_stop(io);
    for (int i = 0; i < AT_ONCE && read_messages(k); i++)
        ;
    read_all_text(k);
    end_kernel(k, k->is_ready ? NULL : "it ended at its start");
}

static int watch_process(struct kernel *k, pid_t pid)
{
    int fd = kernel_open_pid(pid);
    int r = fd < 0 ? fd : loop_io_start(k->loop, &k->exit, fd, EPOLLIN, on_process_exit);

    k->exit.fd = fd;
    k->pid = fd < 0 ? 0 : pid;
    return r;
}

void kernel_on_process(struct kernel *k, pid_t pid, const char *why)
{
    k->nursery = NULL;
    if (pid <= 0)
        end_kernel(k, why);
    else if (watch_process(k, pid) < 0)
        end_kernel(k, "it ended at its start");
}

/* ---- what it gets ---- */

static void on_in(struct loop_io *io, uint32_t events)
{
    struct kernel *k = container_of(io, struct kernel, in);
    ssize_t n = io_write(io->fd, k->input.p + k->sent, k->input.len - k->sent);

    (void)events;
    if (n > 0)
        k->sent += (size_t)n;
    if (k->sent < k->input.len && (n >= 0 || n == -EAGAIN)) {
        if (!io->loop)
            (void)loop_io_start(k->loop, io, io->fd, EPOLLOUT, on_in);
        return;
    }
    /* All was written; or nobody reads, and the end of the process follows. */
    loop_io_stop(io);
    buf_done(&k->input);
    k->sent = 0;
}

int kernel_send(struct kernel *k, struct str frames)
{
    bool is_first = k->input.len == 0;

    if (k->in.fd < 0)
        return -EPIPE;
    if (k->input.len + frames.len > KERNEL_INPUT_MAX)
        return -EMSGSIZE;
    if (buf_reserve(&k->input, frames.len) < 0)
        return -ENOMEM;
    (void)buf_add_str(&k->input, frames);
    /* Before it is ready its output is nobody's: code must not run yet. */
    if (is_first && frames.len > 0 && k->is_ready)
        on_in(&k->in, EPOLLOUT);
    return 0;
}

void kernel_interrupt(struct kernel *k)
{
    if (k->pid > 0)
        (void)kill(-k->pid, SIGINT);
}

void kernel_hold(struct kernel *k, bool is_held)
{
    struct loop_io *const all[] = {&k->out, &k->err, &k->msg};

    if (k->is_held == is_held)
        return;
    k->is_held = is_held;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i]->fd >= 0)
            (void)loop_io_want(all[i], is_held ? 0 : EPOLLIN);
}

/* ---- its beginning ---- */

static int open_ends(int ours[END_COUNT], int theirs[END_COUNT])
{
    for (int i = 0; i < END_COUNT; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
            return -errno;
        ours[i] = ends[i == END_IN];
        theirs[i] = ends[i != END_IN];
        (void)io_set_nonblock(ours[i], true);
    }
    return 0;
}

static int spawn_kernel(struct kernel *k, const struct language *l, const int fds[END_COUNT])
{
    auto_close int text = kernel_open_text(l->drivers);
    auto_close int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool is_bash = l->style == FRAME_BASH;
    pid_t pid;

    if (text < 0 || null < 0)
        return -EIO;
    const int all[KERNEL_FDS] = {is_bash ? fds[END_IN] : null, fds[END_OUT], fds[END_ERR],
                                 is_bash ? -1 : fds[END_IN],   fds[END_MSG], text};
    int r = kernel_spawn(l->argv, all, &pid);
    return r < 0 ? r : watch_process(k, pid);
}

static int watch_ends(struct kernel *k)
{
    int r = loop_io_start(k->loop, &k->out, k->out.fd, EPOLLIN, on_out);

    if (r == 0)
        r = loop_io_start(k->loop, &k->err, k->err.fd, EPOLLIN, on_err);
    return r == 0 ? loop_io_start(k->loop, &k->msg, k->msg.fd, EPOLLIN, on_messages) : r;
}

static int start_kernel(struct kernel *k, const struct kernel_args *args)
{
    const struct language *l = args->language;
    int ours[END_COUNT] = {-1, -1, -1, -1}, theirs[END_COUNT] = {-1, -1, -1, -1};
    int r = open_ends(ours, theirs);

    k->in.fd = ours[END_IN];
    k->out.fd = ours[END_OUT];
    k->err.fd = ours[END_ERR];
    k->msg.fd = ours[END_MSG];
    if (r == 0)
        r = watch_ends(k);
    if (r == 0 && l->is_forked) {
        r = nursery_ask(args->nursery, k, theirs);
        k->nursery = r == 0 ? args->nursery : NULL;
    } else if (r == 0)
        r = spawn_kernel(k, l, theirs);
    for (int i = 0; i < END_COUNT; i++)
        if (theirs[i] >= 0)
            (void)close(theirs[i]);
    return r;
}

struct kernel *kernel_new(const struct kernel_args *args, struct err *e)
{
    const struct language *l = args->language;
    int r = language_check(l, e);
    struct kernel *k = r == 0 ? mem_zalloc(1, sizeof *k) : NULL;

    if (!k) {
        if (r == 0)
            (void)err_sys(e, -ENOMEM, "%s", l->name);
        return NULL;
    }
    k->loop = args->loop;
    k->ops = args->ops;
    k->ctx = args->ctx;
    k->in.fd = k->out.fd = k->err.fd = k->msg.fd = k->exit.fd = -1;
    buf_init(&k->input, KERNEL_INPUT_MAX);
    buf_init(&k->line, KERNEL_MESSAGE_MAX);
    buf_init(&k->tails[0], TAIL_MAX);
    buf_init(&k->tails[1], TAIL_MAX);
    r = start_kernel(k, args);
    if (r == 0)
        return k;
    (void)err_sys(e, r, "%s cannot be started", l->argv[0]);
    kernel_free(k);
    return NULL;
}
