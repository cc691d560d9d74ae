/* SPDX-License-Identifier: MIT */
/* An execution: a request for code to run, and its events on their way to the client. Who leaves
 * before the end interrupts the code; when that does not help, its process is ended. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/list.h"
#include "loop/loop.h"
#include "net/http_req.h"

struct context;

struct execution {
    struct list node; /* of its context's queue */
    struct context *context;
    struct loop *loop;
    struct http_req *req; /* NULL: nobody waits for it any more */
    struct str code;      /* in the request, as ENV is */
    const struct json *env;
    struct buf out;          /* of one event */
    struct loop_timer timer; /* to the next keepalive; without a request to the next interrupt */
    unsigned n_interrupts;
};

struct execution *execution_new(struct context *c, struct http_req *r, struct str code,
                                const struct json *env);
/* Begins the answer. */
void execution_begin(struct execution *x);
/* Ends the answer and frees X. */
void execution_end(struct execution *x);

void execution_put_count(struct execution *x, int64_t n);
void execution_put_text(struct execution *x, bool is_err, struct str text);
void execution_put_result(struct execution *x, const struct json *bundle, bool is_main);
void execution_put_error(struct execution *x, struct str name, struct str value,
                         struct str traceback);

/* ---- for execution.c, in context.c ---- */

/* The client of X is gone: forgets X if it waits, interrupts it if it runs. */
void context_on_gone(struct execution *x);
/* Interrupts what runs; or ends its process, which loses the state of the context. */
void context_interrupt(struct context *c);
void context_give_up(struct context *c);
/* Reads nothing of the process that runs X while its client does not take what there is. */
void context_hold(struct execution *x, bool is_held);
