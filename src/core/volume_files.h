/* SPDX-License-Identifier: MIT */
/* The files of a volume, as requests from outside the sandboxes reach them. ROOT is what
 * volume_way_open() returned. Nothing leads out of it: links that would are refused. Everything
 * here blocks, and belongs to worker threads.
 *
 * Failures carry a text for the client and one of these codes: -ENOENT, -EEXIST, -EINVAL (what was
 * asked for cannot be), -ENOSPC, -E2BIG (more entries than VOLUME_LIST_MAX); others are internal.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { VOLUME_LIST_MAX = 10000, VOLUME_DEPTH_MAX = 64, VOLUME_PATH_MAX = 4095 };

/* Absolute, without "." and doubled slashes: "/", "/a/b". In A. NULL with E filled: -EINVAL for one
 * that is too long or has "..". */
const char *volume_path_clean(struct arena *a, struct str path, struct err *e);

struct volume_entry {
    const char *path;   /* clean */
    const char *target; /* of a link, or NULL */
    struct stat st;
};

struct volume_entries {
    struct volume_entry *items;
    size_t n, cap;
};

/* What a request says about a new file, or one that is to be changed; -1: nothing. */
struct volume_meta {
    int64_t uid, gid, mode;
    bool force; /* makes parents of a directory; replaces a file */
};

int volume_stat(struct arena *a, int root, const char *path, struct volume_entry *ret,
                struct err *e);
/* What is below the directory PATH, DEPTH levels deep. */
int volume_list(struct arena *a, int root, const char *path, unsigned depth,
                struct volume_entries *ret, struct err *e);
/* What E says of a list that would be too long: -E2BIG. */
int volume_refuse_list(struct err *e);
int volume_change(int root, const char *path, const struct volume_meta *m, struct err *e);
/* Removes a file, or a directory with all that is in it. */
int volume_unlink(int root, const char *path, struct err *e);
int volume_mkdir(int root, const char *path, const struct volume_meta *m, struct err *e);

/* A regular file for reading: descriptor or -errno. */
int volume_read(int root, const char *path, uint64_t *ret_size, struct err *e);
/* A file without a name in the directory of PATH, and that directory in *RET_DIR: descriptor or
 * -errno. -EEXIST when there is a file that M does not allow to replace. */
int volume_begin(int root, const char *path, const struct volume_meta *m, int *ret_dir,
                 struct err *e);
/* Gives it its name, owner and mode. */
int volume_publish(int fd, int dir, const char *path, const struct volume_meta *m, struct err *e);
