/* SPDX-License-Identifier: MIT */
/* A program as a contestant: started, waited for and timed. */
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

extern char **environ;

/* Microseconds until ARGV (NULL-terminated) has ended well, or -1. */
static inline int64_t run_program(const char *const *argv)
{
    int64_t start_us = clock_mono_us();
    posix_spawn_file_actions_t files;
    int status = -1, ends[2];
    pid_t pid;

    /* A pipe for the input: some runtimes change the owner of what they are given, and /dev/null of
     * the host must never be that. */
    if (pipe2(ends, O_CLOEXEC) < 0 || posix_spawn_file_actions_init(&files) != 0)
        return -1;
    for (int fd = 0; fd <= 2; fd++)
        (void)posix_spawn_file_actions_adddup2(&files, ends[fd ? 1 : 0], fd);
    int r = posix_spawnp(&pid, argv[0], &files, NULL, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)close(ends[1]);
    if (r == 0)
        (void)waitpid(pid, &status, 0);
    (void)close(ends[0]);
    return status == 0 ? clock_mono_us() - start_us : -1;
}
