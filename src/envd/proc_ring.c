/* SPDX-License-Identifier: MIT */
/* Numbered output: see proc_ring.h. */
#include "envd/proc_ring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Memory of a stream of large chunks is used again: the allocator would give each of them back to
 * the kernel. */
enum { SPARE_MIN = 16 << 10 };

static struct ring_chunk *first(const struct ring *r)
{
    return list_is_empty(&r->chunks) ? NULL : list_entry(r->chunks.next, struct ring_chunk, node);
}

static void drop_first(struct ring *r)
{
    struct ring_chunk *c = first(r);

    list_each(node, &r->readers)
    {
        struct ring_reader *reader = list_entry(node, struct ring_reader, node);
        if (reader->at == c)
            reader->at = NULL;
    }
    r->bytes -= sizeof *c + c->room;
    list_del(&c->node);
    if (c->room >= SPARE_MIN) {
        free(r->spare);
        r->spare = c;
    } else {
        free(c);
    }
}

static void drop_spare(struct ring *r)
{
    free(r->spare);
    r->spare = NULL;
}

/* A chunk with room for LEN bytes, and not much more; or NULL. */
static struct ring_chunk *make_chunk(struct ring *r, size_t len)
{
    struct ring_chunk *c = r->spare;

    if (c && c->room >= len && c->room / 2 < len) {
        r->spare = NULL;
        return c;
    }
    c = mem_alloc(sizeof *c + len);
    if (c)
        c->room = len;
    return c;
}

static bool is_chunk_wanted(const struct ring *r, const struct ring_chunk *c)
{
    list_each(node, &r->readers)
    {
        if (list_entry(node, struct ring_reader, node)->next_seq <= c->seq)
            return true;
    }
    return false;
}

static void trim_ring(struct ring *r)
{
    while (r->bytes > r->max && !is_chunk_wanted(r, first(r)))
        drop_first(r);
}

void ring_init(struct ring *r, size_t max)
{
    *r = (struct ring){.max = max, .next_seq = 1};
    list_init(&r->chunks);
    list_init(&r->readers);
}

void ring_set_max(struct ring *r, size_t max)
{
    r->max = max;
    trim_ring(r);
    if (max == 0)
        drop_spare(r);
}

void ring_done(struct ring *r)
{
    assert(list_is_empty(&r->readers));
    while (first(r))
        drop_first(r);
    drop_spare(r);
}

int ring_add(struct ring *r, enum proc_source source, const char *p, size_t len)
{
    struct ring_chunk *c = make_chunk(r, len);

    if (!c)
        return -ENOMEM;
    c->seq = r->next_seq++;
    c->source = source;
    c->len = len;
    memcpy(c->data, p, len);
    list_append(&r->chunks, &c->node);
    r->bytes += sizeof *c + c->room;
    trim_ring(r);
    return 0;
}

bool ring_is_full(const struct ring *r)
{
    size_t bytes = r->bytes;

    /* Without those that are only waiting to be dropped. */
    list_each(node, &r->chunks)
    {
        const struct ring_chunk *c = list_entry(node, struct ring_chunk, node);
        if (bytes <= r->max || is_chunk_wanted(r, c))
            break;
        bytes -= sizeof *c + c->room;
    }
    return bytes > r->max;
}

void ring_attach(struct ring *r, struct ring_reader *reader, uint64_t from)
{
    struct ring_chunk *c = first(r);
    uint64_t oldest = c ? c->seq : r->next_seq;

    *reader = (struct ring_reader){.next_seq = from > oldest ? from : oldest};
    if (reader->next_seq > r->next_seq)
        reader->next_seq = r->next_seq;
    list_append(&r->readers, &reader->node);
}

uint64_t ring_before(const struct ring *r, uint64_t seq, size_t bytes)
{
    for (struct list *node = r->chunks.prev; node != &r->chunks; node = node->prev) {
        const struct ring_chunk *c = list_entry(node, struct ring_chunk, node);
        if (c->seq >= seq)
            continue;
        seq = c->seq;
        if (c->len >= bytes)
            break;
        bytes -= c->len;
    }
    return seq;
}

void ring_detach(struct ring *r, struct ring_reader *reader)
{
    list_del(&reader->node);
    trim_ring(r);
}

static struct ring_chunk *find_chunk(const struct ring *r, const struct ring_reader *reader)
{
    if (reader->next_seq == r->next_seq)
        return NULL;
    if (reader->at)
        return list_entry(reader->at->node.next, struct ring_chunk, node);
    list_each(node, &r->chunks)
    {
        struct ring_chunk *c = list_entry(node, struct ring_chunk, node);
        if (c->seq == reader->next_seq)
            return c;
    }
    return NULL;
}

const struct ring_chunk *ring_read(struct ring *r, struct ring_reader *reader)
{
    trim_ring(r);
    struct ring_chunk *c = find_chunk(r, reader);
    if (!c)
        return NULL;
    reader->at = c;
    reader->next_seq = c->seq + 1;
    return c;
}
