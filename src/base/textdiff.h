/* SPDX-License-Identifier: MIT */
/* Differences of texts by lines, as "diff -u" shows them. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum {
    TEXTDIFF_MAX_LINES = 1 << 20, /* of a text */
    TEXTDIFF_MAX_EDITS = 4000     /* where more lines differ, the middle is one large change */
};

/* Lines [a, a + n_a) of the old text became lines [b, b + n_b) of the new one. */
struct textdiff_change {
    int32_t a, n_a, b, n_b;
};

struct textdiff {
    struct str *a, *b; /* the lines, each with its line break */
    int32_t n_a, n_b;
    struct textdiff_change *changes; /* in their order; there is a line between any two */
    size_t n;
};

/* How headers of hunks are written: "@@ -1,1 +1,2 @@", or as git does it "@@ -1 +1,2 @@". */
enum textdiff_style { TEXTDIFF_FULL, TEXTDIFF_GIT };

/* Compares A with B, which must outlive the result, as must ARENA. STEPS (may be NULL) is how much
 * work is allowed and is lowered by what was done; -ETIME when it does not suffice. 0, -ENOMEM,
 * -E2BIG. */
int textdiff_lines(struct textdiff *ret, struct str a, struct str b, struct arena *arena,
                   uint64_t *steps);
/* Appends the hunks, with CONTEXT lines around; nothing without changes. -ENOMEM, -E2BIG. */
int textdiff_write(struct buf *out, const struct textdiff *d, unsigned context,
                   enum textdiff_style style);
/* Both at once, in the full style. ARENA is for the work. */
int textdiff_hunks(struct buf *out, struct str a, struct str b, unsigned context,
                   struct arena *arena);
