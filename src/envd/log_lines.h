/* SPDX-License-Identifier: MIT */
/* The log of a cell's main process: its last mebibyte or so, as numbered lines with the time at
 * which each began. Lines that are too long are cut into several. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/str.h"

enum { LINES_BLOCK = 16 << 10, LINES_BLOCKS_MAX = 64, LINES_TEXT_MAX = 8 << 10 };

struct lines {
    struct list blocks;
    unsigned n_blocks;
    uint64_t end;       /* number that the next line gets; the first one was 1 */
    struct buf partial; /* a line whose end has not come yet */
    int64_t partial_us;
    bool was_cut; /* nothing came behind a line that was cut: its end is not a line of its own */
};

struct line {
    uint64_t number;
    int64_t time_us; /* since 1970 */
    struct str text; /* without its end; valid until the log changes */
};

/* A place in the log; valid until the log changes. */
struct lines_cursor {
    const struct lines *lines;
    struct list *block;
    size_t at;
    uint64_t number;
};

void lines_init(struct lines *l);
void lines_done(struct lines *l);

/* Adds output that came at NOW_US. 0, or -ENOMEM when some of it is lost. */
int lines_add(struct lines *l, int64_t now_us, struct str bytes);
/* Nothing comes any more: a line without an end is complete. */
int lines_flush(struct lines *l);

/* The oldest line that is kept; equal to l->end when there is none. */
uint64_t lines_first(const struct lines *l);
/* A cursor before line NUMBER, or before the oldest when that is younger. */
struct lines_cursor lines_seek(const struct lines *l, uint64_t number);
/* The line behind the cursor, which moves past it; false at the end. */
bool lines_next(struct lines_cursor *c, struct line *ret);
