/* SPDX-License-Identifier: MIT */
/* Starting the programs of kernels: see kernel.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/interpreter/kernel.h"
#include "sys/io.h"

/* No descriptor may be at a number that another one is copied to before it. */
enum { FD_FREE = 16 };

static int move_descriptors_up(const int fds[KERNEL_FDS], int ret[KERNEL_FDS])
{
    for (int i = 0; i < KERNEL_FDS; i++) {
        ret[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD_CLOEXEC, FD_FREE);
        if (fds[i] >= 0 && ret[i] < 0)
            return -errno;
    }
    return 0;
}

static int add_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, reset;

    (void)sigemptyset(&none);
    (void)sigemptyset(&reset);
    (void)sigaddset(&reset, SIGPIPE);
    (void)sigaddset(&reset, SIGCHLD);
    (void)sigaddset(&reset, SIGINT);
    int e = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
    if (e == 0)
        e = posix_spawnattr_setpgroup(attr, 0);
    if (e == 0)
        e = posix_spawnattr_setsigmask(attr, &none);
    return e == 0 ? posix_spawnattr_setsigdefault(attr, &reset) : e;
}

static int spawn_with(const char *const *argv, const int fds[KERNEL_FDS], pid_t *ret)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;

    if (posix_spawn_file_actions_init(&files) != 0)
        return -ENOMEM;
    int e = posix_spawnattr_init(&attr);
    if (e == 0)
        e = add_attributes(&attr);
    for (int i = 0; e == 0 && i < KERNEL_FDS; i++)
        if (fds[i] >= 0)
            e = posix_spawn_file_actions_adddup2(&files, fds[i], i);
    if (e == 0)
        e = posix_spawnp(ret, argv[0], &files, &attr, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&files);
    return -e;
}

int kernel_spawn(const char *const *argv, const int fds[KERNEL_FDS], pid_t *ret)
{
    int moved[KERNEL_FDS] = {-1, -1, -1, -1, -1, -1};
    int r = move_descriptors_up(fds, moved);

    if (r == 0)
        r = spawn_with(argv, moved, ret);
    for (int i = 0; i < KERNEL_FDS; i++)
        if (moved[i] >= 0)
            (void)close(moved[i]);
    return r;
}

int kernel_open_text(const char *const *texts)
{
    auto_close int fd = memfd_create("driver", MFD_CLOEXEC);
    int r = fd < 0 ? -errno : 0;

    for (; r == 0 && *texts; texts++)
        r = io_write_all(fd, *texts, strlen(*texts));
    if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
        r = -errno;
    return r < 0 ? r : take_fd(fd);
}

int kernel_open_pid(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0U);

    return fd < 0 ? -errno : fd;
}
