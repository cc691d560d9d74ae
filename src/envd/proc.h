/* SPDX-License-Identifier: MIT */
/* Processes in a cell: start one with pipes or a terminal, feed it, keep its output as numbered
 * chunks (envd/proc_ring.h), report its end to those who watch. Knows no transport. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "envd/proc_ring.h"
#include "loop/loop.h"

enum { PROC_MAX = 2048, PROC_KEPT_MAX = 256, PROC_INPUT_MAX = 32 << 20, PROC_ARGS_MAX = 4096 };

struct proc_args {
    const char *user, *cwd; /* NULL cwd: the user's home */
    char **argv;            /* NULL-terminated, not empty; the program is looked up in PATH */
    char **env;             /* "NAME=value", NULL-terminated; what a login has is added */
    char **base_env;        /* the same, with less weight; may be NULL */
    struct str input;       /* the beginning of stdin; copied */
    bool keeps_input;       /* stdin stays open for proc_write(); else it ends after INPUT */
    bool is_merged;         /* one pipe for stdout and stderr, which keeps their order */
    bool has_pty;           /* a terminal for all three, of this size */
    uint16_t cols, rows;
    bool has_bare_env;   /* of what a login has only PATH, HOME, USER and LOGNAME */
    bool says_no_exec;   /* a program that cannot be executed is no failure to start, but one that
                            says so on stderr and ends with 127 or 126, as under a shell */
    bool waits_for_eof;  /* its end is reported when nobody has its output open any more, unless it
                            was  killed from here */
    bool dies_alone;     /* when its time is over only it gets SIGKILL, not what it started */
    uint32_t timeout_ms; /* 0: none; then everything that it started gets SIGKILL. Time in which the
                            cell is paused does not count */
    void *owner;         /* somebody's facts about it, see proc_owner() */
    void (*free_owner)(void *owner); /* called when the process is freed, if there is an owner */
    uint32_t keep_ms;  /* how long the end and the output are kept for later watchers */
    size_t ring_bytes; /* how much output is kept for them; 0: only what watchers have to read */
};

struct proc;

struct proc_end {
    int status; /* as of waitpid(2) */
    bool is_timed_out;
};

/* Somebody who reads along. FN is called when there is output to read or when the process has
 * ended; it may stop the watch. */
struct proc_watch {
    struct ring_reader reader;
    struct proc *proc; /* NULL: not started */
    void (*fn)(struct proc_watch *w);
};

/* Somebody who waits until input was taken. FN is called once, with 0 or -EPIPE. */
struct proc_input {
    struct list node;
    uint64_t upto;
    void (*fn)(struct proc_input *in, int result);
};

/* The processes of one loop. */
struct proc_table {
    struct loop *loop;
    struct list procs;
    unsigned n_procs, n_kept; /* that run; that have ended and are kept */
    uint64_t n_started;
};

void proc_table_init(struct proc_table *t, struct loop *l);
/* PID ended with STATUS; strangers are ignored. */
void proc_reaped(struct proc_table *t, pid_t pid, int status);

/* Starts a process. It is freed when it has ended, its time of keeping is over and nobody watches:
 * watch it before the loop goes on. Output that its children write after its end is not waited for.
 * NULL with E filled: the code is -ENOENT when the user, the directory or the program is not
 * there. */
struct proc *proc_start(struct proc_table *t, const struct proc_args *args, struct err *e);
/* The one with this process id, also when it has ended and is kept (one that runs comes first); or
 * NULL. */
struct proc *proc_find(struct proc_table *t, pid_t pid);
/* All of them, oldest first; NULL at the end. */
struct proc *proc_first(struct proc_table *t);
struct proc *proc_next(struct proc *p);

/* Reads from chunk FROM on (1: all that is kept). FN must be set. It is called in the next round
 * when there is something already. */
void proc_watch_start(struct proc *p, struct proc_watch *w, uint64_t from);
/* Safe to repeat. The process may be gone afterwards. */
void proc_watch_stop(struct proc_watch *w);
/* The next chunk, valid until the next call here; NULL when there is none (yet). */
const struct ring_chunk *proc_watch_read(struct proc_watch *w);

/* How it ended, or NULL while it runs; output is complete then. */
const struct proc_end *proc_end(const struct proc *p);
pid_t proc_pid(const struct proc *p);
/* What it was started as: argv[0]. */
const char *proc_name(const struct proc *p);
int64_t proc_started_us(const struct proc *p); /* since 1970 */
void *proc_owner(const struct proc *p);
/* Forgets that an ended process was to be kept: it is freed when nobody watches. */
void proc_drop(struct proc *p);
/* Keeps no output any more but what watchers still have to read. */
void proc_drop_output(struct proc *p);
/* The number of the chunk that is BYTES of output before chunk SEQ, or of the oldest one. */
uint64_t proc_seq_before(const struct proc *p, uint64_t seq, size_t bytes);

/* Queues input: 0; -EPIPE when stdin is closed; -ENOBUFS when more than PROC_INPUT_MAX waits. */
int proc_write(struct proc *p, struct str data);
/* Calls IN->fn when everything queued so far was taken or cannot be: in a later round. */
void proc_input_wait(struct proc *p, struct proc_input *in);
void proc_input_cancel(struct proc_input *in);
/* Bytes of input that the process has not taken yet. */
size_t proc_unread(const struct proc *p);
/* Ends stdin when everything queued is written. */
void proc_close_input(struct proc *p);
int proc_resize(struct proc *p, uint16_t cols, uint16_t rows);
/* Closes its terminal or pipes on this side: a terminal's session gets SIGHUP. */
void proc_hang_up(struct proc *p);
/* Sends SIGNO to its process group. 0 or -errno. */
int proc_signal(struct proc *p, int signo);
/* Sends SIGNO to it alone. SIGKILL and SIGTERM end the waiting for its output's end. 0 or -errno.
 */
int proc_signal_alone(struct proc *p, int signo);
/* SIGKILL for it, its descendants and everything of its session. */
void proc_kill_all(struct proc *p);
