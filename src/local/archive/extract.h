/* SPDX-License-Identifier: MIT */
/* Unpacking a tar.gz into a directory, wholly or not at all: entries are checked and written beside
 * what is there; only when the archive has come to a good end they are moved to their places. What
 * dies before that leaves nothing, what dies after it is finished by extract_recover(). Files of
 * the same name are replaced, others stay.
 *
 * Refused, with everything else in the archive: absolute names, "..", links that lead out of the
 * directory, devices and pipes, sparse files, damage, and what unpacks to far more than it is. */
#pragma once

#include <stdint.h>

#include "base/err.h"

enum {
    EXTRACT_ENTRIES_MAX = 1000000,
    EXTRACT_RATIO_MAX = 250,      /* plain bytes for one packed, ... */
    EXTRACT_RATIO_FROM = 64 << 20 /* ... looked at from this many on */
};

struct extract;

struct extract_limits {
    uint64_t max_bytes;   /* of all files together */
    uint64_t max_entries; /* 0: EXTRACT_ENTRIES_MAX */
};

/* Begins in ROOT, an existing directory that stays as a string, of which one may unpack at a time.
 * NULL with E filled. */
struct extract *extract_new(const char *root, const struct extract_limits *limits, struct err *e);
/* Takes the next bytes. 0, or -errno with E filled: -EINVAL the archive is refused. */
int extract_feed(struct extract *x, const void *p, size_t len, struct err *e);
/* The archive is complete: puts everything in place. As extract_feed(). */
int extract_commit(struct extract *x, struct err *e);
/* Drops what was not committed. */
void extract_free(struct extract *x);
uint64_t extract_n_entries(const struct extract *x);

/* Finishes or removes what another process has left in ROOT. */
void extract_recover(const char *root);
