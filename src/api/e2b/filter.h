/* SPDX-License-Identifier: MIT */
/* What a list of sandboxes is asked for, as text: metadata, times, the place to go on from. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "core/sandbox_args.h"

enum { E2B_METADATA_MAX = 64 }; /* pairs of a filter */

struct e2b_pair {
    struct str key, value;
};

struct e2b_metadata {
    const struct e2b_pair *pairs;
    size_t n;
};

/* Reads "k=v&k2=v2". TEXT is what the decoding of the query left: clients encode twice more, the
 * whole first, then each key and value. -EINVAL with E filled, -ENOMEM. */
int e2b_metadata_parse(struct arena *a, struct str text, struct e2b_metadata *ret, struct err *e);

/* Microseconds since 1970 of "2026-01-27T10:00:00.123456Z" or "…+02:00". 0 or -EINVAL. */
int e2b_time_parse(struct str text, int64_t *ret_us);

/* A place in a list that is ordered by start and id. */
struct e2b_cursor {
    int64_t started_us;
    char id[SANDBOX_ID_LEN + 1];
    bool is_ascending; /* the order of that list */
};

/* Appends the token of a place; returns as buf_add(). */
int e2b_cursor_write(struct buf *out, const struct e2b_cursor *c);
/* 0, or -EINVAL for what is no token of ours. */
int e2b_cursor_parse(struct str token, struct e2b_cursor *ret);

/* Which of two sandboxes comes first: <0, 0, >0. Newest first and by id among those of the same
 * time; ascending is exactly the reverse. */
int e2b_order(const struct e2b_cursor *a, const struct e2b_cursor *b);
