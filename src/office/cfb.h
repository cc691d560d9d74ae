/* SPDX-License-Identifier: MIT */
/* Compound files (MS-CFB): the container of encrypted office files. Written as version 3, with
 * sectors of 512 bytes; read in versions 3 and 4. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum { CFB_ITEMS_MAX = 64, CFB_NAME_MAX = 31 };

/* A stream, or a storage (.data.p is NULL) that others are in. */
struct cfb_item {
    const char *name; /* ASCII */
    int parent;       /* index of its storage; -1: the root */
    struct str data;
};

/* Appends the file. 0, -ENOMEM, -ENOBUFS, -E2BIG. */
int cfb_write(struct buf *out, struct arena *a, const struct cfb_item *items, size_t n);
/* Whether BYTES begin like one. */
bool cfb_is(struct str bytes);
/* The content of the first stream of that name, in A: 0, -ENOENT, -EINVAL (damaged), -ENOMEM. */
int cfb_stream(struct arena *a, struct str bytes, const char *name, struct str *ret);
