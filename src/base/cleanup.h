/* SPDX-License-Identifier: MIT */
/* Scope-bound ownership. A local that owns something says so with one of these attributes, and
 * hands it on with take() or take_fd(); everything else is released when the scope ends. */
#pragma once

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define auto_(fn)     __attribute__((cleanup(fn##_p)))
#define auto_free     auto_(free)
#define auto_close    auto_(close) /* int fd = -1 */
#define auto_arena    auto_(arena_done)
#define auto_buf      auto_(buf_done)
#define auto_closedir auto_(closedir)

/* The value of X, which becomes 0 / NULL: ownership moves to the reader of the expression. */
#define take(x)                                                                                    \
    __extension__({                                                                                \
        __auto_type take_ = (x);                                                                   \
        (x) = 0;                                                                                   \
        take_;                                                                                     \
    })

/* The same for descriptors, where "nothing" is -1. */
#define take_fd(fd)                                                                                \
    __extension__({                                                                                \
        int take_ = (fd);                                                                          \
        (fd) = -1;                                                                                 \
        take_;                                                                                     \
    })

/* Declares foo_free_p() for auto_(foo_free): DEFINE_CLEANUP(struct foo *, foo_free). */
#define DEFINE_CLEANUP(type, fn)                                                                   \
    static inline void fn##_p(type *p)                                                             \
    {                                                                                              \
        fn(*p);                                                                                    \
    }

/* The same for what is embedded, which stays: DEFINE_CLEANUP_IN_PLACE(struct buf, buf_done). */
#define DEFINE_CLEANUP_IN_PLACE(type, fn)                                                          \
    static inline void fn##_p(type *p)                                                             \
    {                                                                                              \
        fn(p);                                                                                     \
    }

static inline void free_p(void *p)
{
    free(*(void **)p);
}

static inline void close_p(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

static inline void closedir_p(DIR **dir)
{
    if (*dir)
        (void)closedir(*dir);
}

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
