/* SPDX-License-Identifier: MIT */
/* Messages as bytes: little-endian integers and strings with a length before them, written to a
 * buf and read from a str. Both ends are the same build on the same machine, but one of them may be
 * a hostile cell, so reading checks everything: the first wrong field makes the reader fail and
 * all later reads give zeros; check once with wire_done(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Failures stay in the buffer: check buf_ok() at the end. */
void wire_put_u32(struct buf *b, uint32_t v);
void wire_put_u64(struct buf *b, uint64_t v);
void wire_put_str(struct buf *b, struct str s);

struct wire_reader {
    struct str left;
    bool is_bad;
};

uint32_t wire_get_u32(struct wire_reader *r);
uint64_t wire_get_u64(struct wire_reader *r);
/* Points into the message. */
struct str wire_get_str(struct wire_reader *r);
/* 0 when every field was there and nothing is left over, else -EBADMSG. */
int wire_done(const struct wire_reader *r);
