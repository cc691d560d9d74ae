/* SPDX-License-Identifier: MIT */
#include "apps/memory.h"

#include <malloc.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>

static bool is_ours;
static _Thread_local int64_t used;

static void *take_bytes(int n)
{
    void *p = malloc((size_t)n);

    used += (int64_t)malloc_usable_size(p);
    return p;
}

static void give_back(void *p)
{
    used -= (int64_t)malloc_usable_size(p);
    free(p);
}

static void *resize(void *p, int n)
{
    int64_t before = (int64_t)malloc_usable_size(p);
    void *q = realloc(p, (size_t)n);

    if (q)
        used += (int64_t)malloc_usable_size(q) - before;
    return q;
}

static int size_of(void *p)
{
    return (int)malloc_usable_size(p);
}

static int round_up(int n)
{
    return (n + 7) & ~7;
}

static int begin(void *ctx)
{
    (void)ctx;
    return SQLITE_OK;
}

static void end(void *ctx)
{
    (void)ctx;
}

void memory_setup(void)
{
    static const sqlite3_mem_methods methods = {take_bytes, give_back, resize, size_of,
                                                round_up,   begin,     end,    NULL};

    is_ours = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK &&
              sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK;
}

int64_t memory_used(void)
{
    return is_ours ? used : sqlite3_memory_used();
}
