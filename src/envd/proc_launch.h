/* SPDX-License-Identifier: MIT */
/* From arguments to a running program: environment, search path, user, the child's own steps.
 * Internal to envd/proc.c. */
#pragma once

#include "base/arena.h"
#include "envd/proc.h"
#include "envd/user.h"

enum { LAUNCH_PATHS_MAX = 64, LAUNCH_DIRECT_MAX = 8, LAUNCH_PWD_MAX = 4096 + 8 };

/* What a shell that was asked for would execute, when it is known (plain.h, login.h): tried before
 * it. */
struct launch_direct {
    char **argv; /* NULL: not known */
    char **env;
    size_t n_env; /* behind them there is room for PWD and for a name */
    struct {
        const char *path;
        char *name; /* "_=" and the path; NULL: none */
    } tries[LAUNCH_DIRECT_MAX];
    size_t n_tries;
    char pwd[LAUNCH_PWD_MAX];
};

/* What the child needs, prepared by the parent, since the child shares its memory until exec. */
struct launch {
    const struct proc_args *args;
    struct user user;
    const char *paths[LAUNCH_PATHS_MAX];
    size_t n_paths;
    char **env;
    const char *cwd;
    struct launch_direct direct;
    int in_fd, out_fd, err_fd; /* the child's ends */
    volatile int error;        /* written by the child */
    const char *volatile what;
};

/* Fills in everything but the descriptors, from L->args. */
int launch_prepare(struct launch *l, struct arena *a, struct err *e);
/* Starts it: process id, or -errno with E filled. */
pid_t launch_start(struct launch *l, struct err *e);

/* The most files that a child may have open; before launch_raise_files(). */
void launch_limit_files(int64_t max);
/* Lets this process have as many descriptors as it may; what it starts has as many as before. */
void launch_raise_files(void);

/* How soon the OOM killer takes the first process of a cell, and what it starts. The difference, in
 * thousandths of the memory that is short, has commands go first: also when none of them uses much,
 * because what fills the memory is a file system. */
#define LAUNCH_OOM_SCORE_FIRST "100"
#define LAUNCH_OOM_SCORE       "500"
/* FD is the cell's limit of processes, open for reading: every user in it gets a limit of its own,
 * just below. The control group refuses a fork when all memory has been copied, which takes a
 * hundred times as long as the refusal by the user's limit, with that memory locked against
 * everybody who looks. One user alone meets its own limit first, several together that of the
 * group. */
enum { LAUNCH_PIDS_SPARE = 1 }; /* the first process */
void launch_keep_pids(int fd);
/* FD is this process's oom_score_adj, open for writing: what it starts gets LAUNCH_OOM_SCORE. */
void launch_keep_score(int fd);
