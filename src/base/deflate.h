/* SPDX-License-Identifier: MIT */
/* Compression by deflate (RFC 1951), bare or as gzip (RFC 1952). As a stream: plain bytes in, split
 * anywhere; compressed ones out to a callback. Or a piece at a time, on as many threads as there
 * are: each piece is compressed by itself, may refer to the 32 KiB before it, and the results one
 * behind another are the stream.
 *
 * Matches are found by hash chains, one step lazily. Data that repeats nothing is stored and costs
 * little time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    DEFLATE_WINDOW = 32768,   /* bytes that a piece may refer to */
    DEFLATE_PIECE = 256 << 10 /* a good size of pieces, and the largest */
};

/* ---- as a stream ---- */

enum deflate_format { DEFLATE_RAW, DEFLATE_GZIP };

struct deflate;

/* Gets the next compressed bytes. 0, or a negative number, which ends the work and is passed on. */
typedef int deflate_sink(void *ctx, const char *p, size_t len);

/* An encoder, which takes about 1 MiB, or NULL when memory ran out. */
struct deflate *deflate_new(enum deflate_format format, deflate_sink *sink, void *ctx);
void deflate_free(struct deflate *d);
/* 0, -ENOMEM, or what the sink returned; then every further call returns the same. */
int deflate_feed(struct deflate *d, const void *p, size_t len);
/* Writes the end. As deflate_feed(). */
int deflate_finish(struct deflate *d);

/* ---- by pieces ---- */

struct deflate_work;

/* What a thread needs for it; NULL when memory ran out. */
struct deflate_work *deflate_work_new(void);
void deflate_work_free(struct deflate_work *w);
/* LEN bytes at P; the DICT bytes before P (at most DEFLATE_WINDOW) are those of the piece before.
 */
struct deflate_piece {
    const void *p;
    size_t len, dict;
    bool is_last;
};
/* Appends a piece to OUT. All but the last end on a byte's edge. 0 or OUT's error. */
int deflate_piece(struct deflate_work *w, const struct deflate_piece *piece, struct buf *out);
/* What is before and behind pieces in a gzip file. CRC: of the SIZE plain bytes (crc32.h). */
int deflate_gzip_head(struct buf *out);
int deflate_gzip_tail(struct buf *out, uint32_t crc, uint64_t size);
