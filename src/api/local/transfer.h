/* SPDX-License-Identifier: MIT */
/* Files into and out of the cells of local sandboxes: a request to tidepool-local whose body is a
 * file, or whose answer becomes one. Neither is ever in memory as a whole. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct locals;
struct sandbox;
struct vault_use;

/* STATUS is the answer's; 0: there was none, and TEXT says why. TEXT is what was answered, unless
 * it went into the file, and valid during the call. */
typedef void transfer_fn(void *ctx, int status, struct str text);

struct transfer {
    struct locals *locals;
    struct sandbox *sandbox;
    struct arena *arena; /* lives until the end */
    struct str target;   /* of a POST; in the arena or longer */
    int body_fd;         /* taken over; -1: no body */
    uint64_t body_len;
    int answer_fd;         /* what gets an answer of status 200; taken over; -1: the callback */
    uint64_t max_answer;   /* bytes of that */
    struct vault_use *use; /* what they take; NULL: nothing */
    transfer_fn *fn;       /* exactly once */
    void *ctx;
};

/* Counts as use of the sandbox, which is resumed if need be. */
void transfer_start(const struct transfer *t);
