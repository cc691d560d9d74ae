/* SPDX-License-Identifier: MIT */
/* Hash map from byte strings to pointers. Keys are copied, values belong to the caller. The hash
 * is seeded per map from the kernel's randomness, so clients cannot aim at one bucket. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct map_slot;

struct map {
    struct map_slot *slots;
    size_t n, used, cap; /* live entries, live + dead slots, slots (a power of two) */
    size_t max;          /* how many entries there may be */
    uint64_t seed;
};

/* An empty map for at most MAX entries. Allocates nothing yet. */
void map_init(struct map *m, size_t max);
/* Frees the map and its key copies, not the values. */
void map_done(struct map *m);

/* The value of KEY or NULL. */
void *map_get(const struct map *m, struct str key);
/* Sets KEY to VALUE (not NULL). Stores the value that was there before in *ret_old (may be NULL).
 * 0, -ENOMEM, or -ENOBUFS when the map is full. */
int map_put(struct map *m, struct str key, void *value, void **ret_old);
/* Removes KEY; returns its value or NULL. */
void *map_del(struct map *m, struct str key);

/* Iteration in no order: for (size_t i = 0; map_next(m, &i, &key, &value);) … The map may not
 * change meanwhile, except by map_del() of the current key. */
int map_next(const struct map *m, size_t *i, struct str *ret_key, void **ret_value);
