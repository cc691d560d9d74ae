/* SPDX-License-Identifier: MIT */
/* Counts with a maximum, each perhaps a part of a larger one: what a sandbox has of what its
 * account may have of what the service has. Pure counting; all of it belongs to one thread.
 *
 * The last part of a whole can be held in reserve for those who have little, so that a few who took
 * as much as they may leave something for the next. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tally {
    int64_t n;
    int64_t max;     /* 0: no limit */
    int64_t reserve; /* of max, for parts that have no more than `modest` */
    int64_t modest;
    bool is_unbound;     /* the reserve of its whole is for it as well */
    uint64_t *n_refused; /* who counts refusals; may be NULL */
    struct tally *whole; /* NULL: it is the whole */
};

/* Takes N more of T and of everything it is a part of. 0; -EDQUOT: T or a part above it has its
 * maximum; -ENOBUFS: the whole has no room. Then nothing is taken, and the refusal is counted where
 * it happened. */
int tally_take(struct tally *t, int64_t n);
/* The same for what is there already: never refused. */
void tally_add(struct tally *t, int64_t n);
void tally_give(struct tally *t, int64_t n);
