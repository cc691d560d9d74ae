/* SPDX-License-Identifier: MIT */
/* The output of a process as numbered chunks, kept within a bound, for any number of readers at
 * their own places. A reader that comes back names the number it wants to go on from.
 *
 * The oldest chunks go when the bound is passed and every reader is past them. While one is not,
 * the ring is full, and who fills it has to wait: a process is held back, nothing is lost. A reader
 * that does not read must be detached by its owner; connections without progress are reset. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

enum proc_source { PROC_STDOUT, PROC_STDERR, PROC_PTY, PROC_SOURCE_COUNT };

struct ring_chunk {
    struct list node;
    uint64_t seq; /* from 1, without gaps */
    enum proc_source source;
    size_t len, room;
    char data[];
};

struct ring_reader {
    struct list node;
    uint64_t next_seq;
    struct ring_chunk *at; /* read last, as long as it is kept */
};

struct ring {
    struct list chunks, readers;
    size_t bytes, max; /* with what the chunks themselves cost */
    uint64_t next_seq;
    struct ring_chunk *spare; /* a large one that was dropped last, for the next; or NULL */
};

void ring_init(struct ring *r, size_t max);
void ring_set_max(struct ring *r, size_t max);
/* Frees the chunks; there must be no reader. */
void ring_done(struct ring *r);

/* 0 or -ENOMEM. */
int ring_add(struct ring *r, enum proc_source source, const char *p, size_t len);
/* True when somebody has to read before more should be added. */
bool ring_is_full(const struct ring *r);

/* Reads from chunk FROM on, or from the oldest that is kept when that is younger: then reading
 * starts at a number above FROM. */
void ring_attach(struct ring *r, struct ring_reader *reader, uint64_t from);
/* The number of the chunk that is BYTES before chunk SEQ, or of the oldest that is kept. */
uint64_t ring_before(const struct ring *r, uint64_t seq, size_t bytes);
void ring_detach(struct ring *r, struct ring_reader *reader);
/* The next chunk, valid until the ring is used again; NULL when there is none yet. */
const struct ring_chunk *ring_read(struct ring *r, struct ring_reader *reader);
