/* SPDX-License-Identifier: MIT */
/* What the E2B protocol does with files and directories, apart from how it is asked. Paths are
 * absolute. A failure carries the protocol's own text and one of these codes, from which the caller
 * makes the protocol's: -ENOENT not found, -EEXIST already exists, -EINVAL invalid argument, -ELOOP
 * failed precondition, -EFBIG too much, anything else internal. */
#pragma once

#include "envd/entry.h"

/* Listing more than this is refused. */
#define TREE_ENTRIES_MAX 100000

int tree_stat(struct arena *a, const char *path, struct entry *ret, struct err *e);
/* Makes PATH with everything above it; the new directories belong to U. */
int tree_make_dir(const char *path, const struct user *u, struct err *e);
/* Renames FROM to TO; directories that are missing above TO are made and belong to U. */
int tree_move(struct arena *a, const char *from, const char *to, const struct user *u,
              struct err *e);

struct tree_list {
    struct entry *items; /* in A */
    size_t n, cap;
};
/* What is below PATH, at most DEPTH levels deep (0 counts as 1): each directory in byte order,
 * followed by its own entries. PATH itself may be a link, links below it are not followed. */
int tree_list(struct arena *a, const char *path, unsigned depth, struct tree_list *ret,
              struct err *e);
