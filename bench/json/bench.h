/* SPDX-License-Identifier: MIT */
/* What the JSON benchmark asks of a library. The two are apart because their headers give the same
 * names to different things. */
#pragma once

#include <stddef.h>

struct bench_side {
    const char *name;
    /* Reads TEXT and forgets it / reads and writes it; the result is the number of bytes written
     * (0 for reading only). Ends the program when the text is refused. */
    size_t (*parse)(const char *text, size_t len);
    size_t (*parse_write)(const char *text, size_t len);
};

extern const struct bench_side bench_tidepool;
extern const struct bench_side bench_jansson;
