/* SPDX-License-Identifier: MIT */
/* What can be done with the content of an instance. Operations of one instance are done one after
 * another, in the order in which they came; those of different ones at the same time. */
#pragma once

#include "apps/engine/call.h"
#include "base/list.h"
#include "loop/work.h"

struct instance;

enum instance_do {
    INSTANCE_CALL,      /* of the tool NAME with ARGS; gives `answer` */
    INSTANCE_RESET,     /* back to the template */
    INSTANCE_IMPORT,    /* of the records ARGS; gives {"type": count} */
    INSTANCE_EXPORT,    /* gives the dump's data */
    INSTANCE_DIFF,      /* gives what apps/engine/engine.h says; since the last import, with NAME
                           "initial"      since the template */
    INSTANCE_VERIFY,    /* of the checks ARGS, see apps/engine/engine.h; gives an array */
    INSTANCE_SNAPSHOT,  /* kept under NAME until the lease ends */
    INSTANCE_RESTORE,   /* of the snapshot NAME; -ENOENT when there is none */
    INSTANCE_SNAPSHOTS, /* gives the names, an array */
    INSTANCE_CALLS,     /* gives the calls of this lease, an array of at most `limit`, oldest first,
                           from number `after` + 1 on */
    INSTANCE_DO_COUNT
};

enum {
    INSTANCE_SNAPSHOT_NAME_MAX = 64, /* letters, digits, "._-", no '.' first */
    INSTANCE_MAX_SNAPSHOTS = 16,
    INSTANCE_MAX_CALLS = 10000,      /* that are kept, the newest */
    INSTANCE_CALL_TEXT_MAX = 8 << 10 /* bytes of arguments and of the result of a kept call */
};

/* Something that is done with an instance, from the request to its answer: the queue, the worker
 * and the database all get this one struct. Made by the caller; it and all that it points to must
 * stay until done(), which is called exactly once, also when the lease ends before (-ENOENT).
 * done() may free it. */
struct instance_op {
    enum instance_do what;
    struct str name;
    struct json *args;
    struct arena *arena; /* what comes of it is made in it; nobody else uses it meanwhile */
    int64_t after, limit;
    void (*done)(struct instance_op *op, const struct err *e);
    void *ctx; /* the caller's */

    /* What came of it. */
    struct app_answer answer;
    struct str text;
    int64_t n_passed, n_failed; /* of a verify */

    /* Of instance_op.c and instance_content.c. */
    struct arena own_arena;    /* of instance_op_new() */
    bool is_brief;             /* it is tried on the loop's thread: -EAGAIN when it takes long */
    struct str key;            /* under which its answer may be kept; .p NULL: it may not */
    struct instance **targets; /* of a fork */
    size_t n_targets;
    struct list node;
    struct work work;
    struct instance *in;
    struct err err;
    int64_t begun_us;
};

/* Errors: -ENOENT not occupied; -EBUSY too many wait; -EINVAL, -EOPNOTSUPP, -E2BIG, -ETIME as
 * apps/engine/engine.h says; -ENOSPC. An unknown tool is an answer, not an error. */
void instance_do(struct instance *in, struct instance_op *op);

/* One for a caller that keeps nothing but CTX meanwhile: the arena is its own, of ANSWER_MAX bytes
 * at most. The rest is zero. NULL without memory. */
struct instance_op *instance_op_new(enum instance_do what, void *ctx, size_t answer_max);
void instance_op_free(struct instance_op *op);
