/* SPDX-License-Identifier: MIT */
/* Asking tidepool-local: one request into the cell of a local sandbox, and its answer. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

struct locals;
struct sandbox;

/* WHY is NULL when BODY is the answer (valid during the call), else a sentence for the client. */
typedef void local_answer_fn(void *ctx, struct str body, const char *why);

struct local_ask {
    struct locals *locals;
    struct sandbox *sandbox;
    struct arena *arena;     /* lives until the answer */
    struct str target, body; /* of a POST, in the arena or longer */
    bool may_repeat;         /* when the program dies under it */
    int *ret_status;         /* of the answer, 0: there was none; or NULL */
    local_answer_fn *fn;     /* exactly once, perhaps at once */
    void *ctx;
};

/* Resumes the sandbox if need be and waits for the program while it is started. The request counts
 * as use of the sandbox. */
void local_ask(const struct local_ask *q);
