/* SPDX-License-Identifier: MIT */
/* Regular expressions in time linear in the text: the ECMA-262 syntax that JSON Schema patterns
 * use, run as a set of states without backtracking.
 *
 *   literals . [a-z] [^a-z] \d \w \s \D \W \S \b \B ^ $ (…) (?:…) (?<name>…) a|b
 *   * + ? {m} {m,} {m,n} and their lazy forms · \t \n \v \f \r \0 \cX \xHH \uXXXX \u{X…}
 *
 * Patterns and texts are UTF-8 and match by code point; ^ and $ are the ends of the text. What
 * cannot be matched this way (backreferences, lookaround) or needs Unicode tables (\p) is refused
 * when compiling. Only the first group captures: the answer is whether there is a match, and where
 * it and that group are. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct regex;

enum {
    REGEX_PROGRAM_MAX = 4096, /* instructions, after counted repetitions are unrolled */
    REGEX_REPEAT_MAX = 1000,  /* the largest m or n */
    REGEX_DEPTH_MAX = 100     /* nesting of groups */
};

/* Compiles PATTERN into A. NULL with E ("offset 3: nothing to repeat"): -EINVAL malformed,
 * -ENOTSUP refused, -E2BIG over a limit above, -ENOMEM. */
struct regex *regex_compile(struct arena *a, struct str pattern, struct err *e);

/* 1 when RE matches anywhere in TEXT, else 0. STEPS (may be NULL) is how much work is allowed and
 * is lowered by what was done; -E2BIG when it does not suffice. Threads may share RE. */
int regex_search(const struct regex *re, struct str text, uint64_t *steps);

/* True when RE has a group that captures. */
bool regex_has_group(const struct regex *re);

/* ---- where (regex_find.c) ---- */

struct regex_match {
    size_t start, end;             /* bytes of the text */
    size_t group_start, group_end; /* of its first group; both SIZE_MAX when that took no part */
};

/* How a search looks at a text. */
enum regex_flags {
    REGEX_IGNORE_CASE = 1, /* of ASCII, Latin, Greek and Cyrillic letters */
    REGEX_LINES = 2        /* ^ and $ are also the ends of lines */
};

/* The first match that begins at or behind FROM; of those that begin there, the one that Perl and
 * Python find. A is for scratch memory. 1, 0, -E2BIG as above, -ENOMEM. */
struct regex_find {
    const struct regex *re;
    struct str text;
    size_t from;
    unsigned flags;
    uint64_t *steps; /* may be NULL */
};
int regex_find(struct arena *a, const struct regex_find *f, struct regex_match *ret);
