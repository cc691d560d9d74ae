/* SPDX-License-Identifier: MIT */
/* Watching directories for changes, on inotify. All watches of a cell share one instance, because
 * the kernel gives few of them to a user, and cells are one user to it; a directory that several
 * watches cover is watched once.
 *
 * A recursive watch follows directories that appear later: they are read when they are noticed, and
 * what they already hold is reported as created, once. Directories that are renamed inside the
 * tree keep being watched under their new name, those that leave it are forgotten. Links are not
 * followed, except for the watched path itself. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/list.h"
#include "base/map.h"
#include "loop/loop.h"

enum watch_type {
    WATCH_CREATE = 1,
    WATCH_WRITE,
    WATCH_REMOVE,
    WATCH_RENAME, /* away from this name */
    WATCH_CHMOD,
    WATCH_TYPE_COUNT
};

struct watch;

/* Neither may start or stop a watch. */
struct watch_ops {
    /* NAME is below the watched path ("sub/file"); "." is that path itself. */
    void (*on_event)(struct watch *w, enum watch_type type, const char *name);
    /* Events were lost: -EOVERFLOW, or something new could not be watched. There will be no more.
     */
    void (*on_error)(struct watch *w, int code);
};

/* How many directories all watches may have together. */
#define WATCH_DIRS_MAX 65536

struct watch_hub {
    struct loop *loop;
    struct loop_io io;   /* its descriptor is the instance; made when it is first needed */
    struct map dirs;     /* descriptor of the kernel → struct watch_dir */
    struct map reported; /* found by reading, so the kernel's report comes twice */
    struct list watches;
    size_t n_members;
};

struct watch {
    struct watch_hub *hub; /* NULL while stopped */
    struct list node;      /* in the hub */
    struct list members;   /* the directories of this watch */
    const struct watch_ops *ops;
    char *path;
    bool is_recursive;
    uint32_t moved;   /* the kernel's number of the last move of a directory */
    char *moved_name; /* which one; NULL once its new name is known */
};

void watch_hub_init(struct watch_hub *h, struct loop *l);
/* Every watch must have been stopped. */
void watch_hub_done(struct watch_hub *h);

/* Begins to report changes of the directory PATH and, with IS_RECURSIVE, of all below it. 0, or
 * -errno: -ENOTDIR, -ENOSPC when there are too many directories. */
int watch_start(struct watch_hub *h, struct watch *w, const char *path, bool is_recursive,
                const struct watch_ops *ops);
/* Reports what has happened until now, where the loop has not come to it yet. Not from a callback
 * of a watch. */
void watch_catch_up(struct watch_hub *h);
/* Safe when already stopped. */
void watch_stop(struct watch *w);
