/* SPDX-License-Identifier: MIT */
/* YAML: any bytes give an error that names a line, or a value that is writable as JSON, and each of
 * its values has a line of the text. */
#include <stdlib.h>

#include "core/yaml.h"
#include "fuzz.h"

static void check(int condition)
{
    if (!condition)
        abort();
}

static void check_lines(const struct yaml_doc *doc, const struct json *v, uint32_t max, int budget)
{
    uint32_t line = yaml_line(doc, v);

    check(line >= 1 && line <= max);
    /* Looking a line up is linear; a sample keeps big inputs quick. */
    for (uint32_t i = 0; i < v->n && (int)i < budget; i++) {
        if (v->type == JSON_ARRAY)
            check_lines(doc, &v->items[i], max, budget);
        else if (v->type == JSON_OBJECT)
            check_lines(doc, &v->members[i].value, max, budget);
    }
}

static uint32_t count_lines(const uint8_t *data, size_t size)
{
    uint32_t n = 1;

    /* U+0085, U+2028 and U+2029 end lines in YAML too: an upper bound will do. */
    for (size_t i = 0; i < size; i++)
        n += data[i] == '\n' || data[i] == '\r' || data[i] == 0x85 || data[i] >= 0xa8;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a auto_arena;
    struct buf out auto_buf = BUF_INIT(8 << 20);
    struct err e = ERR_INIT;
    struct yaml_doc doc;

    arena_init(&a, 32 << 20);
    int r = yaml_parse(&a, str_n((const char *)data, size), "f", &doc, &e);
    if (r < 0) {
        check(e.text[0] == 'f' && e.text[1] == ':');
        return 0;
    }
    check(json_write(&out, doc.root, JSON_COMPACT) == 0);
    check_lines(&doc, doc.root, count_lines(data, size), 3);
    return 0;
}
