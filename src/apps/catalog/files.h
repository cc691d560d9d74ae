/* SPDX-License-Identifier: MIT */
/* Which files an app is made of: those of its folder and of the variants in it, and those beside it
 * that they include (apps/source/folder.h), which count as if they were in its folder. */
#pragma once

#include "base/arena.h"
#include "sys/digest.h"

/* What a digest is over. */
enum app_files_what {
    APP_FILES_LOOKS,  /* where they are, their names, sizes and times: whether something changed */
    APP_FILES_CONTENT /* names and content, wherever they are */
};

/* SHA-256 over NAME and all files of the app in ROOT. 0 or -errno. */
int app_files_digest(const char *root, const char *name, enum app_files_what what,
                     unsigned char out[DIGEST_SHA256_LEN]);
/* Calls FN with the path and the name of each file that there is, until it fails. */
int app_files_each(const char *root, int (*fn)(void *ctx, const char *path, const char *name),
                   void *ctx);
/* The entries of DIR that end with SUFFIX, in their order, in A; at most APP_REGISTRY_MAX. */
const char **app_files_list(const char *dir, const char *suffix, struct arena *a, size_t *n);
