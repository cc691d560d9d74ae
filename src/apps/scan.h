/* SPDX-License-Identifier: MIT */
/* The smallest steps of readers: S is what is left of a text. */
#pragma once

#include <stdbool.h>

#include "base/str.h"

/* Takes C when the text begins with it. */
static inline bool scan_char(struct str *s, char c)
{
    if (s->len == 0 || s->p[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

/* Takes spaces, tabs and ends of lines. */
static inline void scan_blanks(struct str *s)
{
    while (scan_char(s, ' ') || scan_char(s, '\t') || scan_char(s, '\n') || scan_char(s, '\r'))
        ;
}
