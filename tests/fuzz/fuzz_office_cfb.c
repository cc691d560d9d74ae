/* SPDX-License-Identifier: MIT */
/* Compound files: streams are read or refused, and what was read can be written and read again. */
#include <stdlib.h>

#include "fuzz.h"
#include "office/cfb.h"

enum { MAX = 16 << 20 };

static void again(struct arena *a, struct str content)
{
    const struct cfb_item item = {"again", -1, content};
    auto_buf struct buf out = BUF_INIT(MAX);
    struct str got;

    if (cfb_write(&out, a, &item, 1) < 0)
        return;
    if (cfb_stream(a, buf_str(&out), "again", &got) < 0 || !str_eq(got, content))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"EncryptionInfo", "EncryptedPackage", "Version"};
    struct str bytes = str_n((const char *)data, size), content;
    struct arena a;

    if (size > MAX / 4)
        return 0;
    arena_init(&a, (size_t)4 * MAX);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (cfb_stream(&a, bytes, names[i], &content) == 0)
            again(&a, content);
    }
    arena_done(&a);
    return 0;
}
