/* SPDX-License-Identifier: MIT */
/* Files of a cell. Paths are resolved in the cell's own mounts, so that no link leads out of it.
 * What must be kept apart is this process itself, which the host made: below /proc, where its
 * memory and its environment could be read, nothing is written, and files are read by a child with
 * the rights of a user. Every kind of file that could block the only thread there is is refused.
 * Internal header of src/envd. */
#pragma once

#include "envd/serve_internal.h"
#include "envd/user.h"

#define FS_PROC_MAX (16 << 20) /* bytes of a file below /proc or /sys */

/* The path that a client means, trimmed: an empty one is the root, "~" the home of USER, a relative
 * one is below the directory where commands start. Absolute, without "." ".." and doubled slashes;
 * in A, NULL when memory ran out. */
const char *fs_resolve(const struct serve *s, struct arena *a, const char *path, const char *user);
/* The query's path, resolved. Answers 400 itself and returns NULL when there is none, or when it is
 * "/" and NEEDS_NAME. */
const char *fs_query_path(struct serve *s, struct http_req *r, bool needs_name);
/* The last component of a cleaned path; "/" for the root. */
const char *fs_base(const char *path);
/* The directory of a cleaned path, in A. */
const char *fs_dir(struct arena *a, const char *path);

/* Opens PATH for reading, following links inside the cell. Never blocks. Descriptor or -errno;
 * -EACCES below /proc. */
int fs_open(const char *path);
/* The same as fs_open(), and a file below /proc or /sys can be read, as U could: what is returned
 * is a copy. Takes at most seconds there: -ETIMEDOUT; -EFBIG for more than FS_PROC_MAX. */
int fs_open_file(const char *path, const struct user *u);
/* The parts of it: whether FD is such a file, and its copy. */
bool fs_is_made_up(int fd);
int fs_open_proc(const char *path, const struct user *u);
/* Opens a directory (O_PATH), creating what is missing with owner UID:GID. */
int fs_open_dir(const char *path, uid_t uid, gid_t gid);

/* Answers for a failed operation on PATH. */
void fs_fail(struct http_req *r, int code, const char *path);

/* ---- handlers ---- */

void fs_list(struct serve *s, struct http_req *r);
void fs_upload(struct serve *s, struct http_req *r);
void fs_download(struct serve *s, struct http_req *r);
void fs_delete(struct serve *s, struct http_req *r);
/* Streams PATH as tar.gz. */
void fs_archive(struct serve *s, struct http_req *r, const char *path);
/* Adds Content-Disposition: attachment with NAME, whatever bytes it holds. */
int fs_add_disposition(struct http_req *r, struct str name);
