/* SPDX-License-Identifier: MIT */
/* JSON text as a proto3 message with a field of every type, itself among them. What is taken must
 * hold what its table promises. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "envd/pjson.h"
#include "fuzz.h"

enum { TEXT, BYTES, FLAG, COUNT, KIND, LIST, MAP, INNER, LEFT, RIGHT };

struct all {
    uint32_t has;
    struct str text, bytes;
    bool is_flag;
    uint32_t count;
    int32_t kind;
    char **list;
    const struct json *map;
    const struct all *inner;
    uint32_t left;
    const struct all *right;
};

static const struct pjson_name kinds[] = {{"KIND_NONE", 0}, {"KIND_BIG", 7}, {NULL, 0}};
static const struct pjson_message all_message;

static const struct pjson_field fields[] = {
    [TEXT] = {"text", PJSON_STRING, .offset = offsetof(struct all, text)},
    [BYTES] = {"bytes", PJSON_BYTES, .offset = offsetof(struct all, bytes)},
    [FLAG] = {"isFlag", PJSON_BOOL, .offset = offsetof(struct all, is_flag)},
    [COUNT] = {"count", PJSON_U32, .offset = offsetof(struct all, count)},
    [KIND] = {"kind", PJSON_ENUM, .offset = offsetof(struct all, kind), .names = kinds},
    [LIST] = {"list", PJSON_STRINGS, .offset = offsetof(struct all, list)},
    [MAP] = {"map", PJSON_MAP, .offset = offsetof(struct all, map)},
    [INNER] = {"inner", PJSON_MESSAGE, 0, offsetof(struct all, inner), {&all_message}},
    [LEFT] = {"left", PJSON_U32, 1, offsetof(struct all, left), {NULL}},
    [RIGHT] = {"right", PJSON_MESSAGE, 1, offsetof(struct all, right), {&all_message}},
};
static const struct pjson_message all_message = {sizeof(struct all), ARRAY_LEN(fields), fields};

static void check_lists(const struct all *m)
{
    for (char **s = m->list; s && *s; s++)
        if (!str_is_utf8(str_of(*s)))
            abort();
    for (uint32_t i = 0; m->map && i < m->map->n; i++)
        if (!json_is(&m->map->members[i].value, JSON_STRING))
            abort();
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the text, which is bounded */
static void check(const struct all *m)
{
    if (!m)
        return;
    if (pjson_has(m, TEXT) != (m->text.p != NULL) || pjson_has(m, BYTES) != (m->bytes.p != NULL) ||
        pjson_has(m, LIST) != (m->list != NULL) || pjson_has(m, MAP) != (m->map != NULL) ||
        pjson_has(m, INNER) != (m->inner != NULL) || pjson_has(m, RIGHT) != (m->right != NULL))
        abort();
    if (pjson_has(m, LEFT) && pjson_has(m, RIGHT))
        abort();
    check_lists(m);
    check(m->inner);
    check(m->right);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_limits limits = {.max_depth = 32, .max_bytes = 1 << 16};
    struct err e = ERR_INIT;
    auto_arena struct arena a;

    arena_init(&a, 8 << 20);
    const struct json *v = json_parse(&a, str_n((const char *)data, size), &limits, NULL);
    if (!v)
        return 0;
    const struct all *m = pjson_read(&a, &all_message, v, &e);
    if (!m && e.code == 0)
        abort();
    check(m);
    return 0;
}
