/* SPDX-License-Identifier: MIT */
/* Counts with a maximum: see tally.h. */
#include "base/tally.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

/* PART is the one below T that asks, or NULL. */
static bool has_tally_room(const struct tally *t, const struct tally *part, int64_t n)
{
    if (t->max <= 0)
        return true;
    int64_t left = t->max - t->n;
    if (n > left)
        return false;
    bool is_modest = !part || part->is_unbound || part->n + n <= t->modest;
    return is_modest || left - n >= t->reserve;
}

int tally_take(struct tally *t, int64_t n)
{
    const struct tally *part = NULL;

    for (struct tally *at = t; at; part = at, at = at->whole) {
        if (has_tally_room(at, part, n))
            continue;
        if (at->n_refused)
            (*at->n_refused)++;
        return at->whole ? -EDQUOT : -ENOBUFS;
    }
    tally_add(t, n);
    return 0;
}

void tally_add(struct tally *t, int64_t n)
{
    for (; t; t = t->whole)
        t->n += n;
}

void tally_give(struct tally *t, int64_t n)
{
    for (; t; t = t->whole) {
        assert(t->n >= n);
        t->n -= n;
    }
}
