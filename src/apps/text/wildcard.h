/* SPDX-License-Identifier: MIT */
/* Patterns of LIKE and GLOB, with their work counted: a pattern with many wildcards may look at
 * every character of the text for every one of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct wildcard {
    struct str pattern, text;
    char many, one;    /* what stands for any characters, and for any one */
    struct str escape; /* the character that takes the next one literally; empty: none */
    bool has_no_case;  /* of ASCII letters */
    bool has_sets;     /* "[a-z]", "[^a-z]", "[]x]" */
    /* Called every so often; false ends the match. */
    bool (*spend)(void *ctx, int64_t units);
    void *ctx;
};

/* 1 when all of the text is as the pattern says, else 0; -1 when spend() ended it. */
int wildcard_match(const struct wildcard *w);
