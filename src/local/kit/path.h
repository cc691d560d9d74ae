/* SPDX-License-Identifier: MIT */
/* Paths in the workspace, by the rules and in the words of the filesystem server that agents know:
 * "~" is the home, a relative path is below the workspace, and what lies outside it, be it
 * through a link, is refused. */
#pragma once

#include "local/local.h"

/* GIVEN as an absolute path with its links followed, in C's arena; what does not exist yet stays as
 * it is. NULL with the reason in *WHY. */
const char *path_check(struct local_call *c, struct str given, struct str *why);
/* The argument NAME; fails the call itself when it returns NULL. */
const char *path_arg(struct local_call *c, const char *name);

/* "ENOENT: no such file or directory, open '/data/x'" for the negative errno CODE. PATH may be
 * NULL; TO is the second path of a rename, or NULL. */
struct str path_error(struct local_call *c, int code, const char *what, const char *path,
                      const char *to);
/* Fails the call with that. */
void path_fail(struct local_call *c, int code, const char *what, const char *path);

/* The content of PATH in C's arena: 0 or -errno. -EFBIG: larger than LOCAL_FILE_MAX. */
int path_read(struct local_call *c, const char *path, struct str *ret);
/* Replaces the content; a reader sees the old or the new one, never a part. 0 or -errno. */
int path_write(struct local_call *c, const char *path, struct str data);
