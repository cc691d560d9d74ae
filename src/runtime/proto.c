/* SPDX-License-Identifier: MIT */
/* Encoding of the messages: see proto.h. */
#include "runtime/proto.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void proto_get_name(struct wire_reader *r, char *ret, size_t size)
{
    struct str s = wire_get_str(r);

    if (s.len >= size || str_chr(s, '\0') >= 0) {
        r->is_bad = true;
        s = STR_NULL;
    }
    if (s.len)
        memcpy(ret, s.p, s.len);
    ret[s.len] = '\0';
}

void proto_put_spec(struct buf *b, const struct cell_spec *s)
{
    wire_put_str(b, str_of(s->template_name));
    wire_put_str(b, str_of(s->hostname));
    wire_put_u64(b, s->limits.memory_bytes);
    wire_put_u32(b, s->limits.pids);
    wire_put_u32(b, s->limits.cpu_milli);
    wire_put_u32(b, s->disk.kind);
    wire_put_u64(b, s->disk.bytes);
}

void proto_get_spec(struct wire_reader *r, struct cell_spec *ret)
{
    *ret = (struct cell_spec){0};
    proto_get_name(r, ret->template_name, sizeof ret->template_name);
    proto_get_name(r, ret->hostname, sizeof ret->hostname);
    ret->limits.memory_bytes = wire_get_u64(r);
    ret->limits.pids = wire_get_u32(r);
    ret->limits.cpu_milli = wire_get_u32(r);
    ret->disk.kind = wire_get_u32(r);
    ret->disk.bytes = wire_get_u64(r);
    if (ret->disk.kind >= DISK_COUNT)
        r->is_bad = true;
}

void proto_put_info(struct buf *b, const struct cell_info *i)
{
    wire_put_u32(b, i->slot);
    wire_put_u64(b, i->generation);
    wire_put_u32(b, i->pid);
    wire_put_u32(b, i->uid_base);
    wire_put_u64(b, (uint64_t)i->created_us);
    wire_put_u32(b, i->is_ready);
    wire_put_str(b, str_of(i->label));
    proto_put_spec(b, &i->spec);
}

void proto_get_info(struct wire_reader *r, struct cell_info *ret)
{
    *ret = (struct cell_info){.slot = wire_get_u32(r)};
    ret->generation = wire_get_u64(r);
    ret->pid = wire_get_u32(r);
    ret->uid_base = wire_get_u32(r);
    ret->created_us = (int64_t)wire_get_u64(r);
    ret->is_ready = wire_get_u32(r) != 0;
    proto_get_name(r, ret->label, sizeof ret->label);
    proto_get_spec(r, &ret->spec);
}

void proto_put_template(struct buf *b, const struct proto_template *t)
{
    wire_put_str(b, str_of(t->name));
    wire_put_u32(b, t->no_new_privs);
    wire_put_u32(b, t->has_usr);
    wire_put_u32(b, t->keeps_cells);
    wire_put_u32(b, t->n_layers);
}

void proto_get_template(struct wire_reader *r, struct proto_template *ret)
{
    *ret = (struct proto_template){0};
    proto_get_name(r, ret->name, sizeof ret->name);
    ret->no_new_privs = wire_get_u32(r) != 0;
    ret->has_usr = wire_get_u32(r) != 0;
    ret->keeps_cells = wire_get_u32(r) != 0;
    ret->n_layers = wire_get_u32(r);
    if (ret->n_layers > (ret->has_usr ? PROTO_LAYERS_USR_MAX : PROTO_LAYERS_MAX) ||
        ret->n_layers <= (ret->has_usr ? 1U : 0U))
        r->is_bad = true;
}

void proto_slot_name(char ret[PROTO_SLOT_NAME_MAX], uint32_t slot)
{
    (void)snprintf(ret, PROTO_SLOT_NAME_MAX, "s%04u", (unsigned)slot);
}

void proto_socket_name(char ret[PROTO_SOCKET_NAME_MAX], uint32_t slot, uint64_t generation)
{
    (void)snprintf(ret, PROTO_SOCKET_NAME_MAX, "s%04u.%llu", (unsigned)slot,
                   (unsigned long long)generation);
}

int proto_read_socket_name(struct str name, uint32_t *ret_slot, uint64_t *ret_generation)
{
    uint64_t slot, generation;
    struct str rest = name, first = str_cut(&rest, '.');

    if (!str_starts(first, STR("s")) || str_to_u64(str_skip(first, 1), &slot) < 0 ||
        slot > UINT32_MAX || !rest.p || str_to_u64(rest, &generation) < 0)
        return -EINVAL;
    *ret_slot = (uint32_t)slot;
    *ret_generation = generation;
    return 0;
}

size_t proto_greeting(char ret[PROTO_GREETING_MAX], uint32_t slot, uint64_t generation)
{
    char name[PROTO_SOCKET_NAME_MAX];

    proto_socket_name(name, slot, generation);
    return (size_t)snprintf(ret, PROTO_GREETING_MAX, "tidepool %s\n", name);
}
