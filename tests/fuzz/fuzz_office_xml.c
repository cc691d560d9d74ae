/* SPDX-License-Identifier: MIT */
/* XML of office files: what is read and written must read back and be written the same. */
#include <stdlib.h>

#include "fuzz.h"
#include "office/xml.h"

enum { MAX = 32 << 20 };

static void look(struct xml_doc *d)
{
    struct xml *n = NULL;

    while ((n = xml_walk(d->root, n, NULL))) {
        (void)xml_get(n, "r:id");
        (void)xml_child(n, "w:p");
    }
    (void)xml_text(d, d->root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf once = BUF_INIT(MAX), twice = BUF_INIT(MAX);
    struct arena a;
    struct err e = ERR_INIT;

    arena_init(&a, MAX);
    struct xml_doc *d = xml_parse(&a, str_n((const char *)data, size), &e);
    if (d) {
        look(d);
        if (xml_write(d, &once) < 0)
            abort();
        struct xml_doc *again = xml_parse(&a, buf_str(&once), &e);
        if (!again || xml_write(again, &twice) < 0 || !str_eq(buf_str(&once), buf_str(&twice)))
            abort();
        xml_insert(d->root, xml_copy(d, d->root), NULL);
        (void)xml_add_text(d, d->root, NULL, "<w:p r:id=\"x\"/>");
        buf_clear(&once);
        if (xml_write(d, &once) < 0)
            abort();
    } else if (e.code == 0) {
        abort();
    }
    buf_done(&once);
    buf_done(&twice);
    arena_done(&a);
    return 0;
}
