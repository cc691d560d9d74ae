/* SPDX-License-Identifier: MIT */
#include "apps/db/memory.h"

#include <malloc.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>

static bool is_ours;
static _Thread_local int64_t used;
static _Thread_local struct {
    bool (*fn)(void *ctx, int64_t bytes);
    void *ctx;
} asked;

enum { MANY_BYTES = 64 << 10 };

static bool may_take_bytes(int n)
{
    return n < MANY_BYTES || !asked.fn || asked.fn(asked.ctx, n);
}

static void *take_bytes(int n)
{
    void *p = may_take_bytes(n) ? malloc((size_t)n) : NULL;

    if (!p)
        return NULL;

    used += (int64_t)malloc_usable_size(p);
    return p;
}

static void give_back(void *p)
{
    used -= (int64_t)malloc_usable_size(p);
    free(p);
}

static void *resize_block(void *p, int n)
{
    int64_t before = (int64_t)malloc_usable_size(p);
    void *q = may_take_bytes(n) ? realloc(p, (size_t)n) : NULL;

    if (q)
        used += (int64_t)malloc_usable_size(q) - before;
    return q;
}

static int block_size(void *p)
{
    return (int)malloc_usable_size(p);
}

static int round_block_size(int n)
{
    return (n + 7) & ~7;
}

static int begin_allocator(void *ctx)
{
    (void)ctx;
    return SQLITE_OK;
}

static void end_allocator(void *ctx)
{
    (void)ctx;
}

void memory_setup(void)
{
    static const sqlite3_mem_methods methods = {
        take_bytes,       give_back,       resize_block,  block_size,
        round_block_size, begin_allocator, end_allocator, NULL};

    is_ours = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK &&
              sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK;
}

void memory_ask(bool (*fn)(void *ctx, int64_t bytes), void *ctx)
{
    asked.fn = fn;
    asked.ctx = ctx;
}

int64_t memory_used(void)
{
    return is_ours ? used : sqlite3_memory_used();
}
