/* SPDX-License-Identifier: MIT */
/* Merges of three texts by lines, as version control does them. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

/* Appends what comes of BASE when the changes of both TEXTS are made to it: 0, or 1 when they touch
 * each other and differ, or -errno. STEPS: as of textdiff_lines(). */
int merge_texts(struct arena *arena, struct str base, const struct str texts[2], struct buf *out,
                uint64_t *steps);
