/* SPDX-License-Identifier: MIT */
/* Heap allocation: see mem.h. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"

void *mem_alloc(size_t n)
{
    return fault_hit(FAULT_ALLOC) ? NULL : malloc(n ? n : 1);
}

void *mem_zalloc(size_t n, size_t size)
{
    return fault_hit(FAULT_ALLOC) ? NULL : calloc(n ? n : 1, size ? size : 1);
}

void *mem_realloc(void *p, size_t n)
{
    return fault_hit(FAULT_ALLOC) ? NULL : realloc(p, n ? n : 1);
}

char *mem_strndup(const char *s, size_t len)
{
    char *copy = len < SIZE_MAX ? mem_alloc(len + 1) : NULL;

    if (!copy)
        return NULL;
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *mem_strdup(const char *s)
{
    return mem_strndup(s, strlen(s));
}

void mem_wipe(void *p, size_t len)
{
    explicit_bzero(p, len);
}

int mem_eq_const(const void *a, const void *b, size_t len)
{
    const volatile unsigned char *x = a;
    const volatile unsigned char *y = b;
    unsigned char diff = 0;

    for (size_t i = 0; i < len; i++)
        diff = (unsigned char)(diff | (x[i] ^ y[i]));
    return diff == 0;
}
