/* SPDX-License-Identifier: MIT */
/* tidepool-envd: the spawner of cells, which becomes the first process of each.
 *
 *     tidepool-envd spawn --socket PATH --state DIR --instance NAME [--images DIR] [--cgroup v1|v2]
 *
 * starts it in the background and returns when it listens; with PROTO_EXIT_BUSY when another one
 * uses DIR. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/inside.h"
#include "envd/spawner.h"
#include "sys/oom.h"

static struct spawner spawner;

static int print_usage(void)
{
    (void)fprintf(stderr, "usage: tidepool-envd spawn --socket PATH --state DIR --instance NAME "
                          "[--images DIR] [--cgroup v1|v2]\n"
                          "       tidepool-envd --version\n");
    return 2;
}

static int parse_options(int argc, char **argv, struct spawner_options *o)
{
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--socket") == 0)
            o->socket = argv[i + 1];
        else if (strcmp(argv[i], "--state") == 0)
            o->state = argv[i + 1];
        else if (strcmp(argv[i], "--instance") == 0)
            o->instance = argv[i + 1];
        else if (strcmp(argv[i], "--images") == 0)
            o->images = argv[i + 1];
        else if (strcmp(argv[i], "--cgroup") == 0)
            o->cgroup = strcmp(argv[i + 1], "v2") == 0 ? CGROUP_V2 : CGROUP_V1;
        else
            return -EINVAL;
    }
    return argc % 2 == 0 && o->socket && o->state && o->instance ? 0 : -EINVAL;
}

/* Away from the daemon: own session, no terminal, no descriptor of its. */
static void detach(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)setsid();
    (void)chdir("/");
    (void)umask(022);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        (void)dup2(null, fd);
    if (null > 2)
        (void)close(null);
}

/* In the background process. FD reports to the foreground one how it went. */
static int run_in_background(const struct spawner_options *o, int fd)
{
    struct err e = ERR_INIT;

    detach();
    /* All of its cells die with it; they get scores of their own (cell.c). */
    (void)oom_set(OOM_LAST);
    int r = spawner_open(&spawner, o, &e);
    (void)!write(fd, &e, sizeof e);
    (void)close(fd);
    if (r < 0)
        return 1;
    (void)loop_run(spawner.loop);
    spawner_close(&spawner);
    return 0;
}

static int spawn_spawner(const struct spawner_options *o)
{
    struct err e = ERR_INIT;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return 1;
    pid_t pid = fork();
    if (pid == 0)
        return run_in_background(o, ends[1]);
    (void)close(ends[1]);
    if (pid < 0 || read(ends[0], &e, sizeof e) != (ssize_t)sizeof e)
        (void)err_set(&e, -EIO, "the spawner died");
    if (e.code == 0)
        return 0;
    (void)fprintf(stderr, "tidepool-envd: %s\n", err_text(&e));
    return e.code == -EBUSY ? PROTO_EXIT_BUSY : 1;
}

int main(int argc, char **argv)
{
    struct spawner_options o = {0};

    init_note_args(argc, argv);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        (void)printf("tidepool-envd %s\n", TIDEPOOL_VERSION);
        return 0;
    }
    if (argc < 2 || strcmp(argv[1], "spawn") != 0 || parse_options(argc, argv, &o) < 0)
        return print_usage();
    return spawn_spawner(&o);
}
