/* SPDX-License-Identifier: MIT */
/* jansson's side of the JSON benchmark. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static json_t *parse(const char *text, size_t len)
{
    json_error_t error;
    json_t *v = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

    if (!v) {
        (void)fprintf(stderr, "bench: jansson: %s\n", error.text);
        exit(1);
    }
    return v;
}

static size_t only_parse(const char *text, size_t len)
{
    json_decref(parse(text, len));
    return 0;
}

static size_t parse_write(const char *text, size_t len)
{
    json_t *v = parse(text, len);
    char *out = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    size_t n = out ? strlen(out) : 0;

    free(out);
    json_decref(v);
    return n;
}

const struct bench_side bench_jansson = {"jansson", only_parse, parse_write};
