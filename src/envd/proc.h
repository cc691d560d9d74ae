/* SPDX-License-Identifier: MIT */
/* Commands in a cell: start one, feed it, collect its output within bounds, report its end. Knows
 * no transport. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "loop/loop.h"

struct proc_args {
    const char *user, *cwd; /* NULL cwd: the user's home */
    char **argv;            /* NULL-terminated, not empty; the program is looked up in PATH */
    char **env;             /* "NAME=value", NULL-terminated; what a login has is added */
    struct str input;       /* all of stdin; copied */
    uint32_t timeout_ms;    /* 0: none; then the process group gets SIGKILL */
    size_t max_output;      /* of stdout and of stderr each; what is more is read and dropped */
};

struct proc;

struct proc_result {
    int status; /* as of waitpid(2) */
    bool is_timed_out, is_output_cut;
    struct str out, err;
};

typedef void proc_done_fn(void *ctx, const struct proc_result *r);

/* The processes of one loop. */
struct proc_table {
    struct loop *loop;
    struct list procs;
};

void proc_table_init(struct proc_table *t, struct loop *l);
/* Starts a command; FN is called once, when it has ended, unless it is forgotten before. Output
 * that its children write after its end is not waited for. */
int proc_start(struct proc_table *t, const struct proc_args *args, proc_done_fn *fn, void *ctx,
               struct proc **ret, struct err *e);
/* The requester went away: the command goes on, its end is not reported. */
void proc_forget(struct proc *p);
/* PID ended with STATUS; unknown ones are ignored. */
void proc_reaped(struct proc_table *t, pid_t pid, int status);
