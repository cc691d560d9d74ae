/* SPDX-License-Identifier: MIT */
/* Differences of two texts by lines (Myers' algorithm), patches, and merges of three texts. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

enum {
    DIFF_CONTEXT = 3,     /* unchanged lines around a change in a patch */
    DIFF_MAX_EDITS = 1000 /* texts that differ more are told as replaced from there on */
};

/* Lines [a, a + n_a) of the old text became lines [b, b + n_b) of the new one. */
struct diff_change {
    size_t a, n_a, b, n_b;
};

struct diff {
    struct str *a, *b; /* the lines, each with its line break */
    size_t n_a, n_b;
    struct diff_change *changes; /* in their order; there is a line between any two */
    size_t n;
};

/* Compares into ARENA, which must outlive the result, as must the texts. -ENOMEM. */
int diff_lines(struct arena *arena, struct str a, struct str b, struct diff *ret);
/* Appends the hunks of D in the unified format, without the lines that name the files. */
int diff_patch(const struct diff *d, struct buf *out);

/* Appends what comes of BASE when both sides' changes are made to it: 0, or 1 when they touch each
 * other and differ, or -errno. */
int diff_merge(struct arena *arena, struct str base, const struct str sides[2], struct buf *out);
