/* SPDX-License-Identifier: MIT */
/* Our side of the JSON benchmark. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "bench.h"

enum { MAX_MEMORY = 256 << 20 };

static struct json *parse(struct arena *a, const char *text, size_t len)
{
    struct err e = ERR_INIT;

    arena_init(a, MAX_MEMORY);
    struct json *v = json_parse(a, str_n(text, len), NULL, &e);
    if (!v) {
        (void)fprintf(stderr, "bench: %s\n", err_text(&e));
        exit(1);
    }
    return v;
}

static size_t only_parse(const char *text, size_t len)
{
    struct arena a auto_arena;

    (void)parse(&a, text, len);
    return 0;
}

static size_t parse_write(const char *text, size_t len)
{
    struct arena a auto_arena;
    struct buf out auto_buf = BUF_INIT(MAX_MEMORY);

    (void)json_write(&out, parse(&a, text, len), JSON_COMPACT);
    return out.len;
}

const struct bench_side bench_tidepool = {"tidepool", only_parse, parse_write};
