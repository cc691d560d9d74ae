/* SPDX-License-Identifier: MIT */
/* The process that runs the code of a context, on the loop's thread.
 *
 * Its program gets the text of its driver as descriptor 5, frames (frame.h) as descriptor 3 (bash:
 * as its input), and writes messages to descriptor 4, one JSON object a line:
 *     {"type": "ready"}                                      comes first
 *     {"type": "result", "main": bool, "data": {MIME: value}}
 *     {"type": "error", "name", "value", "traceback"}
 *     {"type": "done"}                                       the code has ended
 * Its output and errors are what the code writes; what comes before "ready" is dropped. A message
 * is handed over behind all text that was written before it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/json.h"
#include "loop/loop.h"

struct kernel;
struct language;
struct nursery;

enum {
    KERNEL_MESSAGE_MAX = 33 << 20, /* bytes of a message */
    KERNEL_MEMORY_MAX = 256 << 20, /* bytes that a message takes when it is read */
    KERNEL_INPUT_MAX = 64 << 20,   /* bytes that wait to be read by it */
    KERNEL_TEXT_MAX = 65536        /* bytes of text at a time */
};

struct kernel_ops {
    void (*on_ready)(struct kernel *k);
    void (*on_text)(struct kernel *k, bool is_err, struct str text);
    void (*on_message)(struct kernel *k, const struct json *message);
    /* It is gone; WHY is a phrase when it never ran, else NULL. The kernel can be freed. */
    void (*on_exit)(struct kernel *k, const char *why);
};

struct kernel {
    struct loop *loop;
    const struct kernel_ops *ops;
    void *ctx;
    struct nursery *nursery; /* it waits for its process there, or NULL */
    pid_t pid;               /* 0: not known yet */
    struct loop_io in, out, err, msg, exit;
    struct buf input, line;
    struct buf tails[2]; /* the beginning of a character, of output and errors */
    size_t sent;
    bool is_ready, is_held, is_over;
};

struct kernel_args {
    struct loop *loop;
    const struct language *language;
    struct nursery *nursery; /* of its language, if that has one */
    const struct kernel_ops *ops;
    void *ctx;
};
/* Starts a process. NULL with E filled; no callback comes before this returns. */
struct kernel *kernel_new(const struct kernel_args *args, struct err *e);
/* Ends the process with everything that it started; on_exit() is not called. NULL is allowed. */
void kernel_free(struct kernel *k);
/* Writes frames, sooner or later. -EMSGSIZE when too much waits, -ENOMEM. */
int kernel_send(struct kernel *k, struct str frames);
/* As Ctrl-C does, to all of its processes. */
void kernel_interrupt(struct kernel *k);
/* Reads nothing of it, so that it has to wait; and reads again. */
void kernel_hold(struct kernel *k, bool is_held);

/* ---- for nursery.c ---- */

/* Its process runs; or does not, and WHY says why not. */
void kernel_on_process(struct kernel *k, pid_t pid, const char *why);

/* ---- for both ---- */

enum { KERNEL_FDS = 6 };

/* Starts ARGV with FDS as descriptors 0…5 (-1: none), in a process group of its own. */
int kernel_spawn(const char *const *argv, const int fds[KERNEL_FDS], pid_t *ret);
/* A file without a name that holds TEXTS, to be read from its beginning. */
int kernel_open_text(const char *const *texts);
/* A descriptor that becomes readable when the process PID ends. */
int kernel_open_pid(pid_t pid);
