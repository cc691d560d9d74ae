/* SPDX-License-Identifier: MIT */
/* Office files as archives: what can be read is written again, and reads back the same. */
#include <stdlib.h>

#include "fuzz.h"
#include "office/package.h"

enum { MAX = 64 << 20 };

/* Both have the same entries, packed the same. */
static void compare(const struct zip *x, const struct zip *y)
{
    if (x->n != y->n)
        abort();
    for (size_t i = 0; i < x->n; i++) {
        const struct zip_entry *a = x->entries[i], *b = y->entries[i];
        if (!str_eq(a->name, b->name) || !str_eq(a->packed, b->packed) || a->size != b->size ||
            a->crc != b->crc || a->method != b->method)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_n((const char *)data, size), content;
    struct buf out = BUF_INIT(MAX);
    struct err e = ERR_INIT;
    struct package p;
    struct zip z, again;
    struct arena a;

    arena_init(&a, MAX);
    if (zip_read(&z, &a, bytes, &e) == 0) {
        for (size_t i = 0; i < z.n; i++)
            (void)zip_data(&z, z.entries[i], &content, &e);
        if (zip_write(&z, &out, &e) < 0 || zip_read(&again, &a, buf_str(&out), &e) < 0)
            abort();
        compare(&z, &again);
    }
    if (package_read(&p, &a, bytes, &e) == 0) {
        struct part *main_part = package_main(&p);
        struct rel r = {0};
        if (main_part)
            (void)part_edit(&p, main_part, &e);
        while (main_part && rel_next(&p, main_part, NULL, &r))
            (void)rel_part(&p, main_part, &r);
        buf_clear(&out);
        (void)package_write(&p, &out, &e);
    }
    buf_done(&out);
    arena_done(&a);
    return 0;
}
