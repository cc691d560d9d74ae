/* SPDX-License-Identifier: MIT */
/* The local tar of a copy: see cp.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cp.h"

/* The child gets END as its descriptor TO, and signals as any program expects them. */
static int spawn_tar(pid_t *ret, const char *const argv[], int end, int to)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, pipes;

    (void)sigemptyset(&none);
    (void)sigemptyset(&pipes);
    (void)sigaddset(&pipes, SIGPIPE);
    int r = posix_spawn_file_actions_init(&actions);
    if (r != 0)
        return -r;
    r = posix_spawnattr_init(&attr);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, end, to);
    if (r == 0)
        r = posix_spawnattr_setsigmask(&attr, &none);
    if (r == 0)
        r = posix_spawnattr_setsigdefault(&attr, &pipes);
    if (r == 0)
        r = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (r == 0)
        r = posix_spawnp(ret, argv[0], &actions, &attr, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

int cp_tar_start(struct cp *c, const char *const argv[], bool is_reader, struct err *e)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(e, -errno, "pipe");
    auto_close int theirs = ends[is_reader ? 1 : 0];
    c->fd = ends[is_reader ? 0 : 1];
    int r = spawn_tar(&c->tar, argv, theirs, is_reader ? STDOUT_FILENO : STDIN_FILENO);
    if (r < 0) {
        c->tar = 0;
        return err_sys(e, r, "copying a directory requires the program '%s'", argv[0]);
    }
    return 0;
}

int cp_tar_wait(struct cp *c, struct err *e)
{
    int status = 0;

    close_p(&c->fd);
    c->fd = -1;
    while (waitpid(c->tar, &status, 0) < 0 && errno == EINTR)
        ;
    c->tar = 0;
    /* 1: files changed while they were read. */
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
        return 0;
    return err_set(e, -EIO, "tar failed");
}
