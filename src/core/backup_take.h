/* SPDX-License-Identifier: MIT */
/* Taking a backup: what has to be in it, as of one moment.
 *
 * In it: the store with all events, the server's secret and the system key, databases and calls of
 * instances with the files of their apps, logs that were kept, and where asked for the archives of
 * local sandboxes. Not in it: processes, memory and disks of sandboxes, volumes, templates of apps
 * (they are made again), and databases of apps that have a server of their own. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "core/backup.h"

struct config;
struct core;
struct work;

/* ---- of a running service ---- */

struct backup_take;

/* On success E is NULL. Loop thread. */
typedef void backup_take_fn(void *ctx, struct backup_take *t, const struct err *e);

/* Fixes the moment, copies what goes on changing, and calls FN when the rest can be read at
 * leisure. NULL with E filled, FN is not called then: -EBUSY when one is being taken already. */
struct backup_take *backup_take(struct core *c, bool has_archives, backup_take_fn *fn, void *ctx,
                                struct err *e);
struct backup *backup_take_file(const struct backup_take *t);
/* Runs W on the thread of this backup; 0 or -EBUSY. */
int backup_take_run(struct backup_take *t, struct work *w);
/* Removes the copies, then calls FN; T is gone then. IS_DONE: the backup was made, which becomes an
 * event. */
void backup_take_end(struct backup_take *t, bool is_done, void (*fn)(void *ctx), void *ctx);
/* Removes what a service that was killed left of one. */
void backup_sweep(const struct config *config);

/* ---- of a state directory that no service has ---- */

struct backup_cold {
    struct backup *file;
    int lock;
    char *dir; /* of copies */
};

/* 0, or -errno with E filled: -EBUSY when a service has it. */
int backup_take_cold(const struct config *config, bool has_archives, struct backup_cold *ret,
                     struct err *e);
void backup_cold_done(struct backup_cold *c);
