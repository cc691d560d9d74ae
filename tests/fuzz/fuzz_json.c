/* SPDX-License-Identifier: MIT */
/* JSON text: what is accepted must come back the same from every style of writing. */
#include <stdlib.h>

#include "base/json.h"
#include "fuzz.h"

enum { MAX_MEMORY = 64 << 20 };

static void check_style(struct arena *a, const struct json *v, enum json_style style)
{
    struct buf once auto_buf = BUF_INIT(MAX_MEMORY), twice auto_buf = BUF_INIT(MAX_MEMORY);

    if (json_write(&once, v, style) < 0 || !str_is_utf8(buf_str(&once)))
        abort();
    const struct json *again = json_parse(a, buf_str(&once), NULL, NULL);
    if (!again || !json_equal(v, again) || json_write(&twice, again, style) < 0)
        abort();
    if (!str_eq(buf_str(&once), buf_str(&twice)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a auto_arena;
    struct err e = ERR_INIT;

    arena_init(&a, MAX_MEMORY);
    const struct json *v = json_parse(&a, str_n((const char *)data, size), NULL, &e);
    if (!v && (e.code == 0 || !e.text[0]))
        abort();
    if (!v)
        return 0;
    check_style(&a, v, JSON_COMPACT);
    check_style(&a, v, JSON_PRETTY);
    check_style(&a, v, JSON_CANONICAL);
    const struct json *copy = json_copy(&a, v);
    if (copy && !json_equal(v, copy))
        abort();
    return 0;
}
