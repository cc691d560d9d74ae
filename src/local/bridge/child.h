/* SPDX-License-Identifier: MIT */
/* A program that is talked to in lines, over its input and output, on the loop's thread. What it
 * writes to its errors is kept as a log, the newest CHILD_LOG_MAX bytes of it, also when it has
 * ended. It may be started again then. */
#pragma once

#include <sys/types.h>

#include "base/buf.h"
#include "loop/loop.h"

enum {
    CHILD_LINE_MAX = 32 << 20,
    CHILD_INPUT_MAX = 64 << 20, /* bytes that wait to be read by it */
    CHILD_LOG_MAX = 64 << 10
};

struct child;
struct run;

struct child_ops {
    /* A line without its end; valid during the call. May end the child. */
    void (*on_line)(struct child *c, struct str line);
    /* It is gone and was waited for; WHY is a phrase: "ended with status 3". */
    void (*on_end)(struct child *c, const char *why);
};

struct child {
    struct loop *loop;
    const struct child_ops *ops;
    pid_t pid; /* 0: does not run */
    struct loop_io in, out, err;
    struct buf input, line;
    size_t sent; /* bytes of input that were written */
    struct {
        char *bytes; /* CHILD_LOG_MAX of them, once there are any */
        size_t at;   /* where the next one goes */
        bool is_full;
    } log;
};

void child_init(struct child *c, struct loop *loop, const struct child_ops *ops);
/* Starts a program; see run.h for its errors. */
int child_start(struct child *c, const struct run *r);
/* Writes TEXT and a line end, sooner or later. -EMSGSIZE when too much waits, -ENOMEM. */
int child_send(struct child *c, struct str text);
/* Ends it with everything that it started; on_end() is called before this returns. */
void child_end(struct child *c, const char *why);
/* Adds a line of ours to the log. */
void child_note(struct child *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends the log. */
void child_read_log(const struct child *c, struct buf *out);
