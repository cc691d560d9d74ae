/* SPDX-License-Identifier: MIT */
/* Trees of files below a directory, reached by descriptors and never through links: what is below
 * may change at any time. Functions return 0 or -errno. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/str.h"

enum {
    TREE_DEPTH_MAX = 256,
    TREE_NAME_MAX = 255,
    TREE_PATH_MAX = 4096 /* with a NUL */
};

/* What this program keeps in a workspace while it exchanges files; nobody else's. */
#define TREE_OWN ".tidepool"

/* Opens PATH below DIR_FD; -EXDEV or -ELOOP when it leads out of it or through a link. */
int tree_open(int dir_fd, const char *path, int flags);
/* The same where links inside DIR_FD may be followed: does PATH stay in it? What does not exist
 * does. */
bool tree_is_inside(int dir_fd, const char *path);
/* Removes NAME of DIR_FD with everything below; a missing one is not a failure. */
int tree_remove(int dir_fd, const char *name);
/* Moves what is in FROM_FD into TO_FD. Directories that are on both sides are joined, what else is
 * in the way is replaced; OLD_FD gets directories that are. Can be repeated when it was broken
 * off. */
int tree_merge(int from_fd, int to_fd, int old_fd);
