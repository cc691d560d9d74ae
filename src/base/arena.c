/* SPDX-License-Identifier: MIT */
/* Arenas: see arena.h. Blocks are chained; a request larger than a block gets one of its own. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

struct arena_block {
    struct arena_block *older;
    size_t size;
    alignas(max_align_t) char data[];
};

void arena_init(struct arena *a, size_t max)
{
    *a = (struct arena){.max = max};
}

static void free_chain(struct arena_block *b)
{
    while (b) {
        struct arena_block *older = b->older;
        free(b);
        b = older;
    }
}

void arena_done(struct arena *a)
{
    free_chain(a->head);
    free_chain(a->spare);
    arena_init(a, a->max);
}

void arena_recycle(struct arena *a, size_t keep)
{
    struct arena_block *spare = NULL, *gone = NULL;

    for (int i = 0; i < 2; i++) {
        struct arena_block *b = i == 0 ? a->head : a->spare;
        while (b) {
            struct arena_block *older = b->older;
            bool is_kept = b->size == ARENA_BLOCK && keep >= b->size;
            keep -= is_kept ? b->size : 0;
            b->older = is_kept ? spare : gone;
            *(is_kept ? &spare : &gone) = b;
            b = older;
        }
    }
    free_chain(gone);
    arena_init(a, a->max);
    a->spare = spare;
}

void arena_reset(struct arena *a)
{
    struct arena_block *keep = a->head;

    if (!keep || keep->size != ARENA_BLOCK || a->spare) {
        arena_done(a);
        return;
    }
    free_chain(keep->older);
    keep->older = NULL;
    a->next = keep->data;
    a->end = keep->data + keep->size;
    a->used = keep->size;
}

static int add_block(struct arena *a, size_t need)
{
    size_t size = need > ARENA_BLOCK ? need : ARENA_BLOCK;

    if (size > a->max - a->used)
        size = need;
    if (size > a->max - a->used || size > SIZE_MAX - sizeof(struct arena_block))
        return -1;
    struct arena_block *b = size == ARENA_BLOCK ? a->spare : NULL;
    if (b)
        a->spare = b->older;
    else
        b = mem_alloc(sizeof *b + size);
    if (!b)
        return -1;
    b->size = size;
    b->older = a->head;
    a->head = b;
    a->next = b->data;
    a->end = b->data + size;
    a->used += size;
    return 0;
}

void *arena_alloc(struct arena *a, size_t n)
{
    if (n > SIZE_MAX - alignof(max_align_t))
        return NULL;
    if (n == 0)
        n = 1; /* NULL means failure, and only that */
    n = (n + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (n > (size_t)(a->end - a->next) && add_block(a, n) < 0)
        return NULL;
    void *p = a->next;
    a->next += n;
    return p;
}

void *arena_zalloc(struct arena *a, size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total))
        return NULL;
    void *p = arena_alloc(a, total);
    return p ? memset(p, 0, total) : NULL;
}

void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return items;
    size_t more = *cap ? *cap * 2 : 64;
    void *grown = arena_zalloc(a, more, size);
    if (!grown)
        return NULL;
    if (n)
        memcpy(grown, items, n * size);
    *cap = more;
    return grown;
}

struct str arena_str(struct arena *a, struct str s)
{
    char *p = s.len < SIZE_MAX ? arena_alloc(a, s.len + 1) : NULL;

    if (!p)
        return STR_NULL;
    if (s.len)
        memcpy(p, s.p, s.len);
    p[s.len] = '\0';
    return str_n(p, s.len);
}

char *arena_strdup(struct arena *a, const char *s)
{
    return (char *)(uintptr_t)arena_str(a, str_of(s)).p;
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int len = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *p = len < 0 ? NULL : arena_alloc(a, (size_t)len + 1);
    if (!p)
        return STR_NULL;
    (void)vsnprintf(p, (size_t)len + 1, fmt, ap);
    return str_n(p, (size_t)len);
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}
