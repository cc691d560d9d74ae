/* SPDX-License-Identifier: MIT */
/* JSON Schema. The first line is the schema, the rest the value. Whether somebody wants to know
 * the reason must make no difference, and defaults only ever add. */
#include <errno.h>
#include <stdlib.h>

#include "base/schema.h"
#include "fuzz.h"

enum { MAX_MEMORY = 64 << 20 };

static void check_value(struct arena *a, const struct schema *s, struct json *value)
{
    struct schema_error err = {.keyword = NULL};
    int r = schema_check(s, value, &err);

    if (r != 0 && r != -EINVAL && r != -E2BIG)
        abort();
    if (r != 0 && (!err.keyword || !err.text[0] || strlen(err.path) >= SCHEMA_PATH_MAX))
        abort();
    if (schema_check(s, value, NULL) != r)
        abort();
    uint32_t n = value->n;
    if (schema_defaults(a, s, value) == 0 && value->n < n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    struct str rest = str_n((const char *)data, size), first = str_cut(&rest, '\n');

    arena_init(&a, MAX_MEMORY);
    const struct json *doc = json_parse(&a, first, NULL, NULL);
    if (!doc)
        return 0;
    const struct schema *s = schema_compile(&a, doc, &e);
    if (!s && (e.code == 0 || !e.text[0]))
        abort();
    struct json *value = s && rest.p ? json_parse(&a, rest, NULL, NULL) : NULL;
    if (value)
        check_value(&a, s, value);
    return 0;
}
