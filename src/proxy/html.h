/* SPDX-License-Identifier: MIT */
/* Finds the place behind the start tag of an HTML document's head, in pieces as they arrive. Used
 * to give pages that are served below a prefix a <base>. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tag that has not ended within this number of bytes is not looked for any longer. */
#define HTML_HEAD_WITHIN 65536

struct html_scan {
    uint8_t state, at;
    char quote;
    bool is_over; /* found, or out of reach */
    size_t seen;
};

/* Looks at the next LEN bytes. Returns the place behind "<head …>" in P, or -1 when it is not in
 * them. Start with a zeroed scan; after IS_OVER always -1. */
ptrdiff_t html_find_head(struct html_scan *s, const char *p, size_t len);
