/* SPDX-License-Identifier: MIT */
/* The first process of a cell: serves requests and reaps whatever ends. It is a fork of the
 * spawner, not a program of its own, so that its memory belongs to the host's user namespace. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "envd/proc.h"
#include "envd/serve.h"
#include "envd/spawner.h"

static struct proc_table procs;

static void on_child(int signo, void *ctx)
{
    int status;

    (void)signo;
    (void)ctx;
    /* Signals merge: one may stand for many children. */
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        proc_reaped(&procs, pid, status);
}

void init_main(int listen_fd)
{
    struct loop *l = loop_new(NULL);

    if (!l)
        _exit(1);
    (void)signal(SIGPIPE, SIG_IGN);
    proc_table_init(&procs, l);
    if (loop_on_signal(l, SIGCHLD, on_child, NULL) < 0 ||
        serve_start(l, listen_fd, &procs, NULL) < 0)
        _exit(1);
    (void)loop_run(l);
    _exit(1);
}
