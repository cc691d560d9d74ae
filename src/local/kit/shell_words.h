/* SPDX-License-Identifier: MIT */
/* Command lines as words, by the rules of the shell: quotes and backslashes, nothing else. */
#pragma once

#include "base/arena.h"

enum { WORDS_MAX = 1024 };

/* The words of TEXT in A, with a NULL behind them. On failure NULL, and *WHY says "No closing
 * quotation" or the like. */
const char **words_split(struct arena *a, struct str text, size_t *n, const char **why);
