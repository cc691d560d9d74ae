/* SPDX-License-Identifier: MIT */
/* The pages that a transaction changes, on their way into a database file (docs/adr/0038).
 *
 * They are collected here, the first ones in memory, what is more in the redo's own file. A commit
 * writes all of them to that file, in one piece with a sum over it; then they go to their places,
 * and the redo is marked as done. If the process dies before the sum is complete, the database is
 * as it was; if it dies later, redo_recover() puts the pages in their places again, which changes
 * nothing where they are there already. Nothing is synced.
 *
 * A redo belongs to one connection and has one file at a time; the file that a transaction is for
 * is named in it, by its place below the home and by its inode, so that pages of a file that was
 * replaced since go nowhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    REDO_NAME_MAX = 255, /* bytes of a file's path below the home */
    REDO_KEPT_MAX = 256  /* pages in memory */
};

/* A file that is written to. */
struct redo_target {
    int fd;
    uint64_t inode, size;
    char name[REDO_NAME_MAX + 1];
};

struct redo {
    char *path; /* of its file; NULL: pages are not collected */
    int fd;     /* -1: not made yet */
    size_t page;
    unsigned char *kept; /* the head and the first pages, as they are in the file */
    size_t n_room;       /* pages that there is memory for in it */
    uint64_t *places;    /* of the pages in the database */
    uint32_t *slots;     /* by place: number of a page + 1, 0: none */
    uint32_t n, max;     /* pages; for how many there are places and, twice, slots */
};

/* Its file will be in HOME/redo, made with the first commit. HOME NULL: it cannot collect. */
int redo_init(struct redo *r, const char *home);
/* Removes its file. */
void redo_done(struct redo *r);

/* Keeps a page of N bytes for the place AT, instead of one before for the same. -ENOMEM, -ENOSPC,
 * -EINVAL when N is not that of the others. */
int redo_put(struct redo *r, const void *p, size_t n, uint64_t at);
/* Reads N bytes from AT on into P, when the page there is kept; 1, 0 when it is not, or -errno. */
int redo_get(const struct redo *r, void *p, size_t n, uint64_t at);
/* Whether the page for AT is one of the first N. */
bool redo_has(const struct redo *r, uint64_t at, uint32_t n);
/* Drops the pages. */
void redo_drop(struct redo *r);

/* Makes the pages durable: from here on a death of the process does not lose them. On failure the
 * database was not touched. */
int redo_write(struct redo *r, const struct redo_target *t, uint64_t new_size);
/* Puts them in their places. -errno: of those that replace something only the first *RET_N, in the
 * order of redo_put(), may have; the redo is still valid. */
int redo_apply(const struct redo *r, const struct redo_target *t, uint64_t new_size,
               uint32_t *ret_n);
/* It is done with: a restart finds nothing in it. */
void redo_clear(struct redo *r);

/* After a restart: puts what is in HOME/redo in its places and removes the files. E names what
 * could not be; its file stays then. */
int redo_recover(const char *home, struct err *e);
