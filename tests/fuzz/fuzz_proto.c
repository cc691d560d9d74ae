/* SPDX-License-Identifier: MIT */
/* Messages between engine, spawner and cells. Byte 0 chooses the kind; the rest is decoded, and
 * what was accepted must encode to the same bytes again. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runtime/proto.h"

enum { BYTES_MAX = 65536 };

static void same(const struct buf *b, struct str input)
{
    if (!buf_ok(b) || !str_eq(buf_str(b), input))
        abort();
}

static void try_info(struct str input, struct buf *out)
{
    struct wire_reader r = {.left = input};
    struct cell_info info;

    proto_get_info(&r, &info);
    if (memchr(info.label, 0, sizeof info.label) == NULL ||
        memchr(info.spec.hostname, 0, sizeof info.spec.hostname) == NULL)
        abort();
    if (wire_done(&r) < 0 || input.len < 32 || input.p[28] != 1 || input.p[29] || input.p[30] ||
        input.p[31])
        return; /* a boolean has many encodings */
    proto_put_info(out, &info);
    same(out, input);
}

static void try_spec(struct str input, struct buf *out)
{
    struct wire_reader r = {.left = input};
    struct cell_spec spec;

    proto_get_spec(&r, &spec);
    if (wire_done(&r) < 0)
        return;
    proto_put_spec(out, &spec);
    same(out, input);
}

static void try_template(struct str input, struct buf *out)
{
    struct wire_reader r = {.left = input};
    struct proto_template t;

    proto_get_template(&r, &t);
    if (wire_done(&r) < 0)
        return;
    if (t.n_layers == 0 || t.n_layers > PROTO_LAYERS_MAX)
        abort();
    proto_put_template(out, &t);
}

/* Fields as they come: nothing may be read past the end. */
static void try_fields(struct str input, struct buf *out)
{
    struct wire_reader r = {.left = input};

    while (!r.is_bad && r.left.len > 0) {
        struct str s = wire_get_str(&r);
        wire_put_str(out, s);
        wire_put_u64(out, wire_get_u64(&r));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(struct str, struct buf *) = {try_info, try_spec, try_template,
                                                              try_fields};
    auto_buf struct buf out = BUF_INIT(2 * BYTES_MAX);

    if (size == 0 || size > BYTES_MAX)
        return 0;
    kinds[data[0] % 4](str_n((const char *)data + 1, size - 1), &out);
    return 0;
}
