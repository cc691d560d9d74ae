/* SPDX-License-Identifier: MIT */
/* "Did you mean …?" */
#pragma once

#include <stddef.h>

#include "base/str.h"

/* Insertions, deletions, changes and swaps of neighbours that make A into B; words longer than
 * SUGGEST_WORD_MAX are SIZE_MAX apart. */
#define SUGGEST_WORD_MAX 64
size_t suggest_distance(struct str a, struct str b);

/* A search for the name that WORD was probably meant to be: .best is NULL when none is near. */
struct suggest {
    struct str word;
    const char *best;
    size_t distance;
};

struct suggest suggest_for(struct str word);
void suggest_try(struct suggest *s, const char *name);
