/* SPDX-License-Identifier: MIT */
/* Answers that a database gave, for core/instance*.c. Until it changes, a call that only reads and
 * asks neither for the time nor for a random number has the answer that it had before. Those of a
 * template are for all instances that were not written to yet: thousands of worlds begin alike, and
 * what their agents read first they all read. An instance with a database of its own has its own
 * answers, until the next operation that may change it. Belongs to the loop's thread. */
#pragma once

#include "base/map.h"
#include "core/instance_op.h"

enum {
    ANSWERS_MAX_TEXT = 256 << 10, /* bytes of one */
    ANSWERS_MAX_KEY = 4096
};

struct answers {
    struct map by_call;
    size_t n_bytes, max_bytes; /* of their texts; when that is full, all go */
};

/* For at most MAX answers of MAX_BYTES in all. */
void answers_init(struct answers *a, size_t max, size_t max_bytes);
void answers_clear(struct answers *a);
/* True when the call OP has a kept answer, which it gets. Else OP->key names it, for
 * answers_keep(). */
bool answers_find(const struct answers *a, struct instance_op *op);
/* Keeps OP's answer, which is fixed. */
void answers_keep(struct answers *a, const struct instance_op *op);
