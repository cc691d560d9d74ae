/* SPDX-License-Identifier: MIT */
/* Paths inside a cell as text: cleaning, parts, the rules by which a client's path becomes an
 * absolute one, and making missing directories. Names of system calls and their errors are reported
 * here in the words of the E2B protocol, so that clients can show and compare them. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "envd/user.h"

/* Absolute, without "." ".." and doubled slashes; in A, NULL when memory ran out. */
const char *path_clean(struct arena *a, struct str path);
/* The last component, without slashes behind it; "/" for the root. In A. */
const char *path_base(struct arena *a, const char *path);
/* What comes before the last component; "/" when there is nothing. In A. */
const char *path_dir(struct arena *a, const char *path);
/* DIR/NAME, with one slash. In A. */
const char *path_join(struct arena *a, const char *dir, const char *name);

/* The path that a client means: an empty one is WORKDIR (may be NULL), "~" the home of U, a
 * relative one is below that home, an absolute one stays as it is. In A; NULL with E filled:
 * -EINVAL, or -ENOMEM. */
const char *path_resolve(struct arena *a, struct str path, const struct user *u,
                         const char *workdir, struct err *e);

/* Opens the directory PATH (O_PATH); makes what is missing on the way, mode 0755, owned by UID:GID.
 * Descriptor; -ENOTDIR with "path is a file: …", other failures in words. */
int path_open_dir(const char *path, uid_t uid, gid_t gid, struct err *e);
/* The same without a descriptor: 0 or -errno. */
int path_make_dirs(const char *path, uid_t uid, gid_t gid, struct err *e);

/* "no such file or directory" for -ENOENT (or ENOENT): the words of the protocol. */
const char *path_errno(int code);
/* True when FD is below /proc, where this process could be read or changed. */
bool path_is_proc_fd(int fd);
