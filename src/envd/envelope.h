/* SPDX-License-Identifier: MIT */
/* Envelopes of the Connect protocol: u8 flags, u32 length (big-endian), payload. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    ENVELOPE_HEAD = 5,
    ENVELOPE_COMPRESSED = 1, /* flags */
    ENVELOPE_END = 2,
};

struct envelope {
    uint8_t flags;
    struct str payload;
};

/* Reads envelopes that come in pieces, each of at most MAX bytes of payload. */
struct envelope_reader {
    struct buf kept; /* of one that is not complete */
    size_t max;
};

void envelope_reader_init(struct envelope_reader *r, size_t max);
void envelope_reader_done(struct envelope_reader *r);
/* Takes bytes from P up to the end of the next envelope, and returns how many. *ret_is_whole says
 * whether *RET is one now; it points into P or into R until the next call. -EMSGSIZE when one is
 * longer than allowed, -ENOMEM. */
ssize_t envelope_read(struct envelope_reader *r, struct str p, struct envelope *ret,
                      bool *ret_is_whole);
/* True when bytes of an unfinished envelope are kept. */
bool envelope_is_partial(const struct envelope_reader *r);

/* Appends the head of an envelope for LEN bytes of payload. */
int envelope_put_head(struct buf *out, uint8_t flags, size_t len);
