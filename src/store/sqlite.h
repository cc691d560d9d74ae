/* SPDX-License-Identifier: MIT */
/* Inside the SQLite driver: opening a file (sqlite_open.c) is apart from running statements. */
#pragma once

#include <sqlite3.h>

#include "store/store.h"

/* "Tide": in the header of every database of ours. */
#define SQLITE_APPLICATION_ID 0x54696465

/* Checks, creates or migrates the file as store_open() promises. On success the connection does
 * not checkpoint when it is closed, until sqlite_allow_checkpoint(). 0 or -errno with E filled. */
int sqlite_open_file(const struct store_opts *opts, sqlite3 **ret, struct err *e);
void sqlite_allow_checkpoint(sqlite3 *c, bool on);
/* A lock on PATH.lock that lasts until the descriptor is closed; or -errno. */
int sqlite_lock_file(const char *path, struct err *e);

/* The negative errno that best describes what result RC of connection C means. */
int sqlite_errno(sqlite3 *c, int rc);
