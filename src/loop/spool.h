/* SPDX-License-Identifier: MIT */
/* Files that are written or read by worker threads while the loop goes on: what arrives is gathered
 * until a thread has time for it, and what is read is handed over a piece at a time. All functions
 * and callbacks are the loop thread's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct loop;
struct work_pool;

/* ---- writing ---- */

struct spool;

/* RESULT: 0 or -errno. */
typedef void spool_fn(void *ctx, int result);

/* Writes to FD, which is taken over even on failure. NULL when memory ran out. */
struct spool *spool_new(struct work_pool *pool, struct loop *loop, int fd);
/* Takes some bytes: 0, or -errno, perhaps that of bytes before. */
int spool_write(struct spool *s, const void *p, size_t len);
/* When it is full FN is called once there is room again; until then nothing should be written. */
bool spool_is_full(const struct spool *s);
void spool_on_room(struct spool *s, void (*fn)(void *ctx), void *ctx);
uint64_t spool_size(const struct spool *s);
/* Ends the file; FN is called when all is written, and S is gone then. */
void spool_end(struct spool *s, spool_fn *fn, void *ctx);
/* Drops it without a call. NULL is allowed. */
void spool_drop(struct spool *s);

/* ---- reading ---- */

struct spool_reader;

/* PIECE is valid during the call; empty at the end. RESULT: 0 or -errno. */
typedef void spool_piece_fn(void *ctx, struct str piece, int result);

/* Reads LEN bytes of FD from AT on; FD is taken over even on failure. NULL when memory ran out. */
struct spool_reader *spool_reader_new(struct work_pool *pool, struct loop *loop, int fd,
                                      uint64_t at, uint64_t len);
/* Asks for the next piece; FN is called later, before which this must not be called again. A file
 * that is shorter than expected is -EIO. */
void spool_read(struct spool_reader *r, spool_piece_fn *fn, void *ctx);
/* Also while a piece is awaited: then FN is not called. NULL is allowed. */
void spool_reader_free(struct spool_reader *r);
