/* SPDX-License-Identifier: MIT */
/* Between the files of the server "filesystem". */
#pragma once

#include "local/kit/path.h"

struct stat;

void fs_answer(struct local_call *c, struct str text);
/* The lines of get_file_info. */
struct str fs_info(struct local_call *c, const char *path, const struct stat *st);

/* walk.c */
/* A line for each entry, "[FILE] name" or "[DIR] name". 0 or -errno. */
int fs_list_names(struct local_call *c, const char *path, struct buf *out);
/* Calls FN for each regular file below PATH, in the order of their bytes, until it is false. 0 or
 * -errno. */
int fs_each_file(struct local_call *c, const char *path,
                 bool (*fn)(void *ctx, const char *path, const char *name), void *ctx);
void fs_list_directory(struct local_call *c);
void fs_list_directory_with_sizes(struct local_call *c);
void fs_directory_tree(struct local_call *c);
void fs_search_files(struct local_call *c);
/* edit.c */
void fs_edit_file(struct local_call *c);
/* birth_time.c: seconds since 1970, FALLBACK where the file system does not know. */
int64_t fs_birth(const char *path, int64_t fallback);
