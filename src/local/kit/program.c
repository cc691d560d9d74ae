/* SPDX-License-Identifier: MIT */
#include "local/kit/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "sys/io.h"

enum { PIPE_IN, PIPE_OUT, PIPE_ERR, PIPE_COUNT };

/* Our ends; theirs are closed once the program runs. */
struct pipes {
    int ours[PIPE_COUNT], theirs[PIPE_COUNT];
};

static void close_pipe_end(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void close_all_ends(struct pipes *p)
{
    for (int i = 0; i < PIPE_COUNT; i++) {
        close_pipe_end(&p->ours[i]);
        close_pipe_end(&p->theirs[i]);
    }
}

static int open_pipes(struct pipes *p)
{
    for (int i = 0; i < PIPE_COUNT; i++)
        p->ours[i] = p->theirs[i] = -1;
    for (int i = 0; i < PIPE_COUNT; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0) {
            close_all_ends(p);
            return -ENFILE;
        }
        p->ours[i] = ends[i == PIPE_IN];
        p->theirs[i] = ends[i != PIPE_IN];
        (void)io_set_nonblock(p->ours[i], true);
    }
    return 0;
}

/* ---- starting ---- */

/* This process's environment with MORE behind it; of two with the same name the later is meant. */
static const char **make_program_env(const char *const *more)
{
    size_t n = 0, n_more = 0, k = 0;

    while (environ[n])
        n++;
    while (more && more[n_more])
        n_more++;
    const char **env = mem_zalloc(n + n_more + 1, sizeof *env);
    for (size_t i = 0; env && i < n; i++) {
        size_t len = strcspn(environ[i], "=") + 1;
        bool is_replaced = false;
        for (size_t j = 0; j < n_more; j++)
            is_replaced = is_replaced || strncmp(environ[i], more[j], len) == 0;
        if (!is_replaced)
            env[k++] = environ[i];
    }
    for (size_t j = 0; env && j < n_more; j++)
        env[k++] = more[j];
    return env;
}

static int spawn_program(const struct run *r, const struct pipes *p, const char **env, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;

    if (posix_spawn_file_actions_init(&files) != 0)
        return -ENOMEM;
    int e = posix_spawnattr_init(&attr);
    (void)sigemptyset(&none);
    for (int i = 0; e == 0 && i < PIPE_COUNT; i++)
        e = posix_spawn_file_actions_adddup2(&files, p->theirs[i], i);
    if (e == 0)
        e = posix_spawn_file_actions_addchdir_np(&files, r->cwd);
    if (e == 0)
        e = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                POSIX_SPAWN_SETSIGDEF);
    if (e == 0)
        e = posix_spawnattr_setpgroup(&attr, 0);
    if (e == 0)
        e = posix_spawnattr_setsigmask(&attr, &none);
    (void)sigaddset(&none, SIGPIPE);
    if (e == 0)
        e = posix_spawnattr_setsigdefault(&attr, &none);
    if (e == 0)
        e = posix_spawnp(pid, r->argv[0], &files, &attr, (char *const *)(uintptr_t)r->argv,
                         (char *const *)(uintptr_t)env);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&files);
    return -e;
}

/* ---- talking ---- */

static void feed(struct run *r, int *fd)
{
    ssize_t n = r->input.len > 0 ? io_write(*fd, r->input.p, r->input.len) : 0;

    if (n > 0)
        r->input = str_skip(r->input, (size_t)n);
    if (r->input.len == 0 || (n < 0 && n != -EAGAIN))
        close_pipe_end(fd);
}

static void drain(struct buf *b, int *fd)
{
    char bytes[16384];
    ssize_t n = io_read(*fd, bytes, sizeof bytes);

    if (n == -EAGAIN)
        return;
    if (n <= 0) {
        close_pipe_end(fd);
        return;
    }
    size_t room = b->max - b->len;
    (void)buf_add(b, bytes, (size_t)n < room ? (size_t)n : room);
}

/* Until both outputs are closed. False when the time is over. */
static bool talk(struct run *r, struct pipes *p, int64_t deadline_ms)
{
    while (p->ours[PIPE_OUT] >= 0 || p->ours[PIPE_ERR] >= 0) {
        struct pollfd polls[PIPE_COUNT];
        int64_t left_ms = deadline_ms - clock_mono_ms();
        for (int i = 0; i < PIPE_COUNT; i++)
            polls[i] = (struct pollfd){p->ours[i], i == PIPE_IN ? POLLOUT : POLLIN, 0};
        if (left_ms <= 0)
            return false;
        if (poll(polls, PIPE_COUNT, (int)(left_ms < 60000 ? left_ms : 60000)) <= 0)
            continue;
        if (polls[PIPE_IN].revents)
            feed(r, &p->ours[PIPE_IN]);
        if (polls[PIPE_OUT].revents)
            drain(&r->out, &p->ours[PIPE_OUT]);
        if (polls[PIPE_ERR].revents)
            drain(&r->err, &p->ours[PIPE_ERR]);
    }
    return true;
}

/* A program may close its outputs and go on. */
static bool wait_for_exit(pid_t pid, int64_t deadline_ms, int *status)
{
    int64_t pause_us = 200;

    for (;;) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got != 0)
            return true;
        if (clock_mono_ms() >= deadline_ms)
            return false;
        (void)usleep((useconds_t)pause_us);
        pause_us = pause_us < 20000 ? pause_us * 2 : pause_us;
    }
}

static int begin_program(const struct run *r, struct pipes *p, pid_t *pid)
{
    int code = open_pipes(p);

    if (code < 0)
        return code;
    const char **env = make_program_env(r->env);
    code = env ? spawn_program(r, p, env, pid) : -ENOMEM;
    free(env);
    for (int i = 0; i < PIPE_COUNT; i++)
        close_pipe_end(&p->theirs[i]);
    if (code < 0)
        close_all_ends(p);
    return code;
}

int run_start(const struct run *r, int ret_fds[3], pid_t *ret_pid)
{
    struct pipes p;
    int code = begin_program(r, &p, ret_pid);

    for (int i = 0; code == 0 && i < PIPE_COUNT; i++)
        ret_fds[i] = p.ours[i];
    return code;
}

int run_program(struct run *r)
{
    struct pipes p;
    pid_t pid;
    int status = 0;
    int64_t deadline_ms = clock_mono_ms() + r->timeout_ms;

    buf_init(&r->out, r->max_output);
    buf_init(&r->err, r->max_output);
    int code = begin_program(r, &p, &pid);
    if (code < 0)
        return code;
    r->is_timed_out = !talk(r, &p, deadline_ms) || !wait_for_exit(pid, deadline_ms, &status);
    /* What it left in the background would hold the files that it has open. */
    (void)kill(-pid, SIGKILL);
    if (r->is_timed_out)
        (void)waitpid(pid, &status, 0);
    r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    close_all_ends(&p);
    return 0;
}

void run_done(struct run *r)
{
    buf_done(&r->out);
    buf_done(&r->err);
}
