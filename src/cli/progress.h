/* SPDX-License-Identifier: MIT */
/* The line that shows how far a transfer is: bytes, rate, time to go. Only for people: nothing is
 * written when standard error is no terminal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct progress {
    struct str label;
    int64_t total; /* bytes; -1: not known */
    uint64_t done;
    int64_t start_ms, shown_ms;
    bool is_on;
};

/* Starts a line called LABEL (which must stay valid), unless QUIET. */
void progress_start(struct progress *p, struct str label, int64_t total, bool is_quiet);
/* N more bytes went through. */
void progress_add(struct progress *p, uint64_t n);
/* Shows the end and leaves the line. */
void progress_end(struct progress *p);

/* Appends the line as it is at NOW_MS, in at most WIDTH columns, without a line end. */
int progress_line(const struct progress *p, int64_t now_ms, size_t width, struct buf *out);
