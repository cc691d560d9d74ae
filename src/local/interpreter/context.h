/* SPDX-License-Identifier: MIT */
/* Contexts: places where code runs and leaves its state, one execution after another. The process
 * of a context is started by its first execution, and again by the next one when it has ended. On
 * the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/id.h"
#include "base/json.h"
#include "base/list.h"
#include "base/str.h"
#include "net/http_req.h"

struct context;
struct kernel;
struct language;
struct loop;
struct nursery;

struct contexts {
    struct loop *loop;
    struct nursery *nursery;
    struct list all; /* oldest first */
    size_t n;
    char *cwd;                   /* of those that nobody gave one */
    char **owned;                /* "NAME=value": what was adopted; NULL-terminated, or NULL */
    void (*on_ready)(void *ctx); /* of the first process; may be NULL */
    void *ready_ctx;
};

struct context {
    struct list node;
    struct contexts *set;
    char id[ID_UUID_LEN + 1];
    const struct language *language;
    char *cwd;
    bool is_default;       /* the one of its language */
    struct kernel *kernel; /* or NULL */
    int64_t n_executions;
    struct list queue; /* struct execution; the first one runs when IS_RUNNING */
    size_t n_queued;
    bool is_running;
};

/* Makes the set with the contexts that are there from the beginning on. 0 or -errno. */
int contexts_init(struct contexts *set, struct loop *loop, struct err *e);
void contexts_done(struct contexts *set);
/* A context; CWD empty: the default one. NULL with E filled: -ENOENT the language or the directory
 * cannot be used here, -EMFILE there are too many. */
struct context *context_new(struct contexts *set, const struct language *l, struct str cwd,
                            struct err *e);
struct context *context_find(const struct contexts *set, struct str id);
/* The default one of L, made if need be; as context_new(). */
struct context *context_of_language(struct contexts *set, const struct language *l, struct err *e);
/* Ends it with what runs in it; its executions end with an error. */
void context_free(struct context *c);
/* Ends its process: what runs ends with an error, what waits goes on in a new one. */
void context_restart(struct context *c);
/* Starts its process, if it has none. 0, or -errno with E filled. */
int context_warm(struct context *c, struct err *e);

/* Runs CODE, with the variables ENV (an object of strings, or NULL) set meanwhile, and answers R by
 * its events. R belongs to the context from here on, and what CODE and ENV point to lives in it.
 * -EBUSY when too many wait, -ENOMEM; then nothing was answered. */
int context_execute(struct context *c, struct http_req *r, struct str code, const struct json *env);
/* All processes, and those to come, get these variables. 0 or -ENOMEM. */
int contexts_adopt(struct contexts *set, const struct json *env);

/* {"id", "language", "cwd"} */
void context_write(struct jw *w, const struct context *c);
