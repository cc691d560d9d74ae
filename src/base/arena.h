/* SPDX-License-Identifier: MIT */
/* Arenas: memory that is released all at once. A request has one; everything that a handler makes
 * for the request lives in it and is never freed by hand.
 *
 * An arena has a maximum: an allocation past it returns NULL, as does a failing malloc. An arena
 * belongs to one thread at a time. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *head;  /* newest first */
    char *next, *end;          /* free part of head */
    size_t used, max;          /* bytes in blocks, and how many there may be */
    struct arena_block *spare; /* of arena_recycle() */
};

/* The first block size; small requests never need a second one. */
#define ARENA_BLOCK 4000

/* Prepares an empty arena that may grow to MAX bytes. Allocates nothing yet. */
void arena_init(struct arena *a, size_t max);
/* Releases everything; the arena is empty and usable again. */
void arena_done(struct arena *a);
/* Like arena_done() but keeps one block for reuse when it is of the ordinary size. */
void arena_reset(struct arena *a);
/* The same, but keeps as many blocks of the ordinary size as are in KEEP bytes: for arenas that are
 * used again and again, where memory would be asked for and given back to the kernel each time. */
void arena_recycle(struct arena *a, size_t keep);

/* N bytes (0 is allowed) aligned for any type. */
void *arena_alloc(struct arena *a, size_t n) __attribute__((warn_unused_result));
/* N zeroed items of SIZE bytes. */
void *arena_zalloc(struct arena *a, size_t n, size_t size) __attribute__((warn_unused_result));
#define arena_new(a, type) ((type *)arena_zalloc((a), 1, sizeof(type)))
/* ITEMS with room for one more than the N that are in it, or NULL: *CAP items of SIZE bytes have
 * room; when all is taken it doubles, and they are copied. */
void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size);

/* Copies with a NUL behind (not counted in len); .p is NULL when memory ran out. */
struct str arena_str(struct arena *a, struct str s);
char *arena_strdup(struct arena *a, const char *s);
struct str arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

DEFINE_CLEANUP_IN_PLACE(struct arena, arena_done)
