/* SPDX-License-Identifier: MIT */
/* What the files of core/root*.c and core/image*.c share. */
#pragma once

#include <pthread.h>

#include "base/map.h"
#include "core/root.h"
#include "loop/work.h"

#define ROOT_FOLDER         "roots"
#define ROOT_SUFFIX         ".json"
#define ROOT_SUFFIX_REMOVED ".removed" /* in use, but not to be found */

struct roots {
    struct core *core;
    char state[PATH_MAX];
    struct map by_id;           /* struct root: also those that were removed and are in use */
    struct list known;          /* those that were not, newest first */
    struct work_pool *captures; /* threads that copy upper layers */
    struct loop_timer tick;
    struct work_pool *movers; /* one that imports and removes */
    struct list capturing;    /* struct capture */
    struct list importing;    /* struct image_import */
    struct root_sweep *sweep; /* waiting or under way, or NULL */
    bool is_sweep_due;        /* another one is to follow */
    bool is_settled;          /* all who came back from before a restart have theirs */
    bool is_stopped;          /* also read by threads */
    pthread_mutex_t lock;     /* of uses, for threads */
    struct map uses;          /* layer → struct layer_use */
};

/* A layer that is listed by roots, or about to be. Any thread. */
int roots_pin(struct roots *set, const char *layer);
/* Back; the next sweep removes one that nobody has. */
void roots_unpin(struct roots *set, const char *layer);

/* ---- root_store.c ---- */

/* Path of the description of ID / of R as it is now. */
int root_file_path(const char *state, const char *id, bool is_removed, char ret[PATH_MAX]);
int root_file(const struct root *r, char ret[PATH_MAX]);
/* Fills R, with an arena that is initialized, from the description of R->id. */
int root_read(struct root *r, const char *state, struct err *e);

/* ---- root_capture.c ---- */
void roots_stop_captures(struct roots *set);
