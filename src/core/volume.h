/* SPDX-License-Identifier: MIT */
/* Volumes: directories with a size of their own that belong to an account, outlive its sandboxes
 * and can be mounted in several of them at once (runtime/volume.h). Each has a name, unique in its
 * account, and a token, with which its files are reached from outside.
 *
 * All of this belongs to the loop's thread but volume_way_open(). */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "core/account.h"

struct core;
struct tally;
struct volumes;
struct work_pool;

enum { VOLUME_ID_LEN = 24, VOLUME_NAME_MAX = 128, VOLUME_TOKEN_LEN = 64 };

struct volume {
    struct list node; /* in the set, oldest first */
    struct volumes *set;
    char id[VOLUME_ID_LEN + 1];
    char account[ACCOUNT_ID_MAX + 1];
    char name[VOLUME_NAME_MAX + 1];
    char token[VOLUME_TOKEN_LEN + 1];
    uint64_t bytes; /* 0: nothing bounds it */
    int64_t created_us;
    bool is_ready; /* else it is being made or deleted, and shown to nobody */
    struct tally *tally, *disk_tally;
};

/* V is NULL on failure, and E says why. */
typedef void volume_fn(void *ctx, struct volume *v, const struct err *e);

/* Reads the rows, and removes files that no row knows. Before the sandboxes are opened. NULL with E
 * filled. */
struct volumes *volumes_open(struct core *c, struct err *e);
/* Waits for jobs, whose ends are still to be run by the loop. */
void volumes_stop(struct volumes *set);
void volumes_free(struct volumes *set);
/* For what blocks on files of volumes. */
struct work_pool *volumes_pool(const struct volumes *set);

/* ---- finding ---- */

struct volume *volume_find(const struct volumes *set, struct str id);
struct volume *volume_by_name(const struct volumes *set, struct str account, struct str name);
/* The ready ones, oldest first: the one after V (NULL: the first), or NULL. */
struct volume *volume_next(const struct volumes *set, const struct volume *v);

/* ---- making and deleting ---- */

/* Makes an empty one for the account of KEY. Without a call: -EINVAL for a name that cannot be,
 * -EEXIST when the account has one of that name, -EDQUOT, -ENOSPC, -EOPNOTSUPP where this host
 * cannot limit it. */
int volume_create(struct volumes *set, const struct account_key *key, struct str name,
                  volume_fn *fn, void *ctx, struct err *e);
/* Deletes V with its files; FN gets it for the last time. Without a call: -EBUSY while a sandbox
 * has it mounted. */
int volume_delete(struct volume *v, volume_fn *fn, void *ctx, struct err *e);

/* ---- the files ---- */

/* What a job has to know to reach the files of a volume, whatever becomes of it meanwhile. */
struct volume_way {
    char path[PATH_MAX], owner[64], id[VOLUME_ID_LEN + 1];
    pthread_mutex_t *lock;
};
/* 0, or -ENOTCONN with E filled where there are no sandboxes. */
int volume_way(const struct volume *v, struct volume_way *ret, struct err *e);
/* As volume_open(). On a worker of volumes_pool(). */
int volume_way_open(const struct volume_way *w, struct err *e);
