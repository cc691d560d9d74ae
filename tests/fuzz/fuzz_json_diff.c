/* SPDX-License-Identifier: MIT */
/* JSON text: jansson must agree on what is valid, and on what it means. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "fuzz.h"
#include "oracle_json.h"

enum { MAX_MEMORY = 64 << 20, MAX_DEPTH = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct json_limits limits = {.max_depth = MAX_DEPTH, .max_bytes = MAX_MEMORY};
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    auto_free char *text = NULL;
    size_t len = 0;

    arena_init(&a, MAX_MEMORY);
    if (size == 0)
        return 0;
    const struct json *ours = json_parse(&a, str_n((const char *)data, size), &limits, &e);
    enum oracle verdict = oracle_json((const char *)data, size, &text, &len);
    if (verdict == ORACLE_ACCEPTS ? e.code == -EINVAL : verdict == ORACLE_REFUSES && ours)
        abort();
    if (!ours || verdict != ORACLE_ACCEPTS)
        return 0;
    const struct json *theirs = json_parse(&a, str_n(text, len), &limits, NULL);
    if (!theirs || !json_equal(ours, theirs))
        abort();
    return 0;
}
