/* SPDX-License-Identifier: MIT */
/* The first process of a cell: serves requests and reaps whatever ends. It is a fork of the
 * spawner, not a program of its own, so that its memory belongs to the host's user namespace. */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "envd/facts.h"
#include "envd/inside.h"
#include "envd/serve.h"

enum { SIGNALS = 64 };

#define SHOWN_NAME "tidepool-envd"

static struct serve serve;
static struct {
    char *p;
    size_t len;
} args; /* the program's arguments and, right behind them, its environment */

static void on_init_child(int signo, void *ctx)
{
    int status;

    (void)signo;
    (void)ctx;
    /* Signals merge: one may stand for many children. */
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        proc_reaped(&serve.procs, pid, status);
}

/* What the daemon's parents chose to ignore is no business of the cell's. By the raw call, because
 * the C library does not let go of signals that it uses itself. */
static void reset_signals(void)
{
    const uint64_t action[4] = {0}; /* the kernel's struct: default handler, no flags, no mask */

    for (int signo = 1; signo <= SIGNALS; signo++)
        (void)syscall(SYS_rt_sigaction, signo, action, NULL, sizeof(uint64_t));
}

/* The kernel lays both out as one piece of strings. */
static void note_string(const char *s)
{
    if (s == args.p + args.len)
        args.len += strlen(s) + 1;
}

void init_note_args(int argc, char **argv)
{
    args.p = argv[0];
    for (int i = 0; i < argc; i++)
        note_string(argv[i]);
    for (char **e = environ; *e; e++)
        note_string(*e);
}

/* A cell can read the arguments of its first process, which are the spawner's: paths of the host.
 * The environment goes for good measure; nothing here uses it. */
static void forget_args(void)
{
    static char *no_environ[] = {NULL};

    environ = no_environ;
    if (args.len < sizeof SHOWN_NAME)
        return;
    memset(args.p, 0, args.len);
    memcpy(args.p, SHOWN_NAME, sizeof SHOWN_NAME);
}

void init_main(int listen_fd, const struct cell_info *info)
{
    struct loop *l = loop_new(NULL);

    if (!l)
        _exit(1);
    facts_keep();
    (void)proto_greeting(serve.greeting, info->slot, info->generation);
    forget_args();
    forget_init(&serve.forget);
    reset_signals();
    (void)signal(SIGPIPE, SIG_IGN);
    if (loop_on_signal(l, SIGCHLD, on_init_child, NULL) < 0 ||
        serve_start(&serve, l, listen_fd, NULL) < 0)
        _exit(1);
    (void)loop_run(l);
    _exit(1);
}
