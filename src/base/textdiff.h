/* SPDX-License-Identifier: MIT */
/* Differences of texts by lines, as "diff -u" shows them. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

enum {
    TEXTDIFF_MAX_LINES = 1 << 20, /* of a text */
    TEXTDIFF_MAX_EDITS = 4000     /* where more lines differ, the middle is one large change */
};

/* Appends the hunks that make B out of A, with CONTEXT lines around; nothing when they are equal.
 * Headers say "@@ -1,3 +1,4 @@", always with both numbers. ARENA is for the work. 0, -ENOMEM,
 * -E2BIG. */
int textdiff_hunks(struct buf *out, struct str a, struct str b, unsigned context,
                   struct arena *arena);
