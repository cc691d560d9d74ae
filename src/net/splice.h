/* SPDX-License-Identifier: MIT */
/* Bulk data from one socket to another without a copy in this program: splice(2) through a pipe
 * that all streams of a thread share, and that is empty between calls. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct stream;

/* Below this number of remaining bytes it does not pay. */
#define SPLICE_MIN ((size_t)256 << 10)

/* Moves at most MAX > 0 bytes that wait in the socket FROM to TO; what TO's socket does not take is
 * queued there. Bytes; 0 at the end of FROM; -EAGAIN when nothing waits; -EOPNOTSUPP when it cannot
 * be done (TLS, or TO has a queue): nothing has happened, read and write instead; or -errno. */
ssize_t splice_to(struct stream *to, int from, size_t max);
