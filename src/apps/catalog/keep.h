/* SPDX-License-Identifier: MIT */
/* Apps as they were: copies of their files, by digest, for databases that were made of them and
 * outlive a change. DIR/DIGEST/ has the folder of the app, and its name in the file "name". */
#pragma once

#include "apps/catalog/registry.h"

/* Keeps the files of X in DIR; 0 also when they are there already. -ESTALE when they are not what X
 * was loaded from any more. Any thread, also several at once. */
int app_keep(const struct app_entry *x, const char *dir, struct err *e);
/* The app that was kept as DIGEST: a reference of the caller's. NULL with E filled: -ENOENT when it
 * was not kept, -EUCLEAN when it is damaged. */
struct app_entry *app_kept(const char *dir, const char *digest, struct err *e);
