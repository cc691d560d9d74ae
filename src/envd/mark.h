/* SPDX-License-Identifier: MIT */
/* A file as it was when it was looked at: while its mark is the same, what was read of it is. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

/* All zero: not there. */
struct mark {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec changed;
};

static inline struct mark mark_of(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return (struct mark){0};
    return (struct mark){st.st_dev, st.st_ino, st.st_size, st.st_ctim};
}

static inline bool mark_is_same(const struct mark *a, const struct mark *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}
