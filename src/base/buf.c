/* SPDX-License-Identifier: MIT */
/* Bounded byte buffers: see buf.h. */
#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"

enum { BUF_MIN = 128 };

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_done(struct buf *b)
{
    free(b->p);
    buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->error = 0;
}

int buf_reserve(struct buf *b, size_t n)
{
    if (b->error)
        return b->error;
    if (n <= b->cap - b->len)
        return 0;
    if (n > b->max - b->len)
        return b->error = -ENOBUFS;
    size_t cap = b->cap < BUF_MIN ? BUF_MIN : b->cap;
    while (cap < b->len + n)
        cap = cap > b->max / 2 ? b->max : cap * 2;
    if (cap > b->max)
        cap = b->max;
    char *p = mem_realloc(b->p, cap);
    if (!p)
        return b->error = -ENOMEM;
    b->p = p;
    b->cap = cap;
    return 0;
}

int buf_add(struct buf *b, const void *p, size_t len)
{
    int r = buf_reserve(b, len);

    if (r < 0)
        return r;
    if (len)
        memcpy(b->p + b->len, p, len);
    b->len += len;
    return 0;
}

int buf_add_str(struct buf *b, struct str s)
{
    return buf_add(b, s.p, s.len);
}

int buf_add_char(struct buf *b, char c)
{
    return buf_add(b, &c, 1);
}

int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;

    if (b->error)
        return b->error;
    va_copy(again, ap);
    size_t room = b->cap - b->len;
    int len = vsnprintf(b->p ? b->p + b->len : NULL, room, fmt, again);
    va_end(again);
    if (len < 0)
        return b->error = -EINVAL;
    if ((size_t)len >= room) {
        /* vsnprintf wants a byte for its NUL, which a full buffer has no room for. */
        auto_free char *text = mem_alloc((size_t)len + 1);
        if (!text)
            return b->error = -ENOMEM;
        (void)vsnprintf(text, (size_t)len + 1, fmt, ap);
        return buf_add(b, text, (size_t)len);
    }
    b->len += (size_t)len;
    return 0;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int r = buf_vprintf(b, fmt, ap);
    va_end(ap);
    return r;
}

void buf_consume(struct buf *b, size_t n)
{
    if (n >= b->len) {
        b->len = 0;
        return;
    }
    memmove(b->p, b->p + n, b->len - n);
    b->len -= n;
}

const char *buf_cstr(struct buf *b)
{
    if (buf_reserve(b, 1) < 0)
        return NULL;
    b->p[b->len] = '\0';
    return b->p;
}
