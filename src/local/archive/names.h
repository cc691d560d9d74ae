/* SPDX-License-Identifier: MIT */
/* Names of entries of archives, and what links may point to. */
#pragma once

#include "base/err.h"
#include "local/archive/tree.h"

/* NAME, of an entry, as a path below the workspace without "." and doubled slashes; "" for the
 * workspace itself. -EINVAL with E filled: it is absolute, has "..", or is too long or too deep. */
int names_clean(struct str name, char out[TREE_PATH_MAX], struct err *e);
/* TARGET, of the symbolic link PATH (clean) in a workspace at ROOT, as one that is relative:
 * absolute ones below ROOT are rewritten. -EXDEV: it leads out of the workspace. */
int names_target(const char *root, const char *path, struct str target, char out[TREE_PATH_MAX]);
