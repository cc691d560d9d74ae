/* SPDX-License-Identifier: MIT */
/* Bounded byte buffers. A buffer is created with the most it may ever hold; the first append that
 * would pass it, or that finds no memory, fails and marks the buffer failed: later appends do
 * nothing, so that a writer can append many things and check once with buf_ok(). */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/str.h"

struct buf {
    char *p;
    size_t len, cap, max;
    int error; /* 0, -ENOMEM or -ENOBUFS (over max) */
};

#define BUF_INIT(limit)                                                                            \
    {                                                                                              \
        .max = (limit)                                                                             \
    }

void buf_init(struct buf *b, size_t max);
/* Frees the bytes; the buffer is empty, not failed, and usable again. */
void buf_done(struct buf *b);
/* Forgets the content and the failure, keeps the memory. */
void buf_clear(struct buf *b);

/* All return 0 or the buffer's error. */
int buf_add(struct buf *b, const void *p, size_t len);
int buf_add_str(struct buf *b, struct str s);
int buf_add_char(struct buf *b, char c);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
#define buf_add_lit(b, lit) buf_add((b), "" lit, sizeof(lit) - 1)
/* Room for N more bytes at b->p + b->len; the caller then raises len. */
int buf_reserve(struct buf *b, size_t n);
/* Removes the first N bytes. */
void buf_consume(struct buf *b, size_t n);
/* The content with a NUL behind it (not counted), or NULL when the buffer failed. */
const char *buf_cstr(struct buf *b);

static inline bool buf_ok(const struct buf *b)
{
    return b->error == 0;
}

static inline struct str buf_str(const struct buf *b)
{
    return str_n(b->p, b->len);
}

DEFINE_CLEANUP_IN_PLACE(struct buf, buf_done)
