/* SPDX-License-Identifier: MIT */
/* Heap allocation with fault injection and overflow checks. Memory from here is released with
 * free(). Request data should come from an arena (base/arena.h) instead. */
#pragma once

#include <stddef.h>

/* N bytes, uninitialised; NULL when there are none. N == 0 gives a valid pointer. */
void *mem_alloc(size_t n) __attribute__((malloc, warn_unused_result));
/* N zeroed items of SIZE bytes; NULL when there are none or the product overflows. */
void *mem_zalloc(size_t n, size_t size) __attribute__((malloc, warn_unused_result));
/* Resizes P (NULL: allocates). On failure returns NULL and P stays valid. */
void *mem_realloc(void *p, size_t n) __attribute__((warn_unused_result));
/* A copy of LEN bytes with a NUL behind them. */
char *mem_strndup(const char *s, size_t len) __attribute__((malloc, warn_unused_result));
char *mem_strdup(const char *s) __attribute__((malloc, warn_unused_result));

/* Zeroes LEN bytes in a way that the compiler keeps: for secrets. */
void mem_wipe(void *p, size_t len);
/* Compares in time that depends on LEN only. */
int mem_eq_const(const void *a, const void *b, size_t len);
