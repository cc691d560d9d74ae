/* SPDX-License-Identifier: MIT */
/* Messages as bytes: see wire.h. */
#include "runtime/wire.h"

#include <errno.h>

static void put_wire_number(struct buf *b, uint64_t v, size_t len)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)(v >> (8 * i));
    (void)buf_add(b, bytes, len);
}

void wire_put_u32(struct buf *b, uint32_t v)
{
    put_wire_number(b, v, sizeof v);
}

void wire_put_u64(struct buf *b, uint64_t v)
{
    put_wire_number(b, v, sizeof v);
}

void wire_put_str(struct buf *b, struct str s)
{
    if (s.len > UINT32_MAX) {
        b->error = -ENOBUFS;
        return;
    }
    wire_put_u32(b, (uint32_t)s.len);
    (void)buf_add_str(b, s);
}

static struct str get_bytes(struct wire_reader *r, size_t len)
{
    if (r->is_bad || len > r->left.len) {
        r->is_bad = true;
        return STR_NULL;
    }
    struct str s = str_n(r->left.p, len);
    r->left = str_skip(r->left, len);
    return s;
}

static uint64_t get_wire_number(struct wire_reader *r, size_t len)
{
    struct str s = get_bytes(r, len);
    uint64_t v = 0;

    for (size_t i = 0; i < s.len; i++)
        v |= (uint64_t)(unsigned char)s.p[i] << (8 * i);
    return v;
}

uint32_t wire_get_u32(struct wire_reader *r)
{
    return (uint32_t)get_wire_number(r, sizeof(uint32_t));
}

uint64_t wire_get_u64(struct wire_reader *r)
{
    return get_wire_number(r, sizeof(uint64_t));
}

struct str wire_get_str(struct wire_reader *r)
{
    return get_bytes(r, wire_get_u32(r));
}

int wire_done(const struct wire_reader *r)
{
    return r->is_bad || r->left.len > 0 ? -EBADMSG : 0;
}
