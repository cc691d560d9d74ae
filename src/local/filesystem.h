/* SPDX-License-Identifier: MIT */
/* Between the files of the server "filesystem". */
#pragma once

#include "local/place.h"

void fs_answer(struct local_call *c, struct str text);

/* fs_walk.c */
void fs_list_directory(struct local_call *c);
void fs_list_directory_with_sizes(struct local_call *c);
void fs_directory_tree(struct local_call *c);
void fs_search_files(struct local_call *c);
/* fs_edit.c */
void fs_edit_file(struct local_call *c);
/* birth.c: seconds since 1970, FALLBACK where the file system does not know. */
int64_t fs_birth(const char *path, int64_t fallback);
