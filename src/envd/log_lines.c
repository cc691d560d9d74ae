/* SPDX-License-Identifier: MIT */
/* The log of a cell's main process: see log_lines.h. Blocks hold records one behind another; the
 * oldest block goes as a whole. */
#include "envd/log_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"

struct log_record {
    int64_t time_us;
    size_t len; /* of the text behind it */
};

struct log_block {
    struct list node;
    uint64_t first; /* number of its first line */
    size_t used;
    char data[LINES_BLOCK];
};

static struct log_block *log_block_of(struct list *node)
{
    return list_entry(node, struct log_block, node);
}

void lines_init(struct lines *l)
{
    *l = (struct lines){.end = 1};
    list_init(&l->blocks);
    buf_init(&l->partial, LINES_TEXT_MAX);
}

void lines_done(struct lines *l)
{
    for (struct list *node; (node = list_pop(&l->blocks));)
        free(log_block_of(node));
    buf_done(&l->partial);
}

/* The newest block when it has room for SIZE more, else a new one. */
static struct log_block *block_for(struct lines *l, size_t size)
{
    if (!list_is_empty(&l->blocks)) {
        struct log_block *newest = log_block_of(l->blocks.prev);
        if (LINES_BLOCK - newest->used >= size)
            return newest;
    }
    struct list *oldest = l->n_blocks == LINES_BLOCKS_MAX ? list_pop(&l->blocks) : NULL;
    struct log_block *b = oldest ? log_block_of(oldest) : mem_alloc(sizeof *b);
    if (!b)
        return NULL;
    l->n_blocks += !oldest;
    b->first = l->end;
    b->used = 0;
    list_append(&l->blocks, &b->node);
    return b;
}

static int add_log_line(struct lines *l, int64_t time_us, struct str text)
{
    struct log_record record = {time_us, text.len};
    struct log_block *b = block_for(l, sizeof record + text.len);

    if (!b)
        return -ENOMEM;
    memcpy(b->data + b->used, &record, sizeof record);
    if (text.len)
        memcpy(b->data + b->used + sizeof record, text.p, text.len);
    b->used += sizeof record + text.len;
    l->end++;
    return 0;
}

int lines_flush(struct lines *l)
{
    if (l->partial.len == 0)
        return 0;
    int r = add_log_line(l, l->partial_us, buf_str(&l->partial));
    buf_done(&l->partial);
    return r;
}

/* Adds what is left of a line to the one that has begun. */
static int add_partial(struct lines *l, int64_t now_us, struct str bytes)
{
    int r = 0;

    while (bytes.len && r == 0) {
        size_t room = LINES_TEXT_MAX - l->partial.len;
        size_t len = bytes.len < room ? bytes.len : room;
        if (l->partial.len == 0)
            l->partial_us = now_us;
        r = buf_add(&l->partial, bytes.p, len);
        bytes = str_skip(bytes, len);
        l->was_cut = r == 0 && l->partial.len == LINES_TEXT_MAX;
        if (l->was_cut)
            r = lines_flush(l);
    }
    return r;
}

int lines_add(struct lines *l, int64_t now_us, struct str bytes)
{
    int r = 0;

    while (bytes.len && r == 0) {
        ptrdiff_t at = str_chr(bytes, '\n');
        if (at < 0)
            return add_partial(l, now_us, bytes);
        struct str text = str_slice(bytes, 0, (size_t)at);
        bytes = str_skip(bytes, (size_t)at + 1);
        if (take(l->was_cut) && text.len == 0)
            continue;
        if (l->partial.len == 0 && text.len <= LINES_TEXT_MAX) {
            r = add_log_line(l, now_us, text);
            continue;
        }
        r = add_partial(l, now_us, text);
        if (r == 0)
            r = lines_flush(l);
    }
    return r;
}

uint64_t lines_first(const struct lines *l)
{
    return list_is_empty(&l->blocks) ? l->end : log_block_of(l->blocks.next)->first;
}

struct lines_cursor lines_seek(const struct lines *l, uint64_t number)
{
    struct lines_cursor c = {.lines = l, .block = l->blocks.next};
    struct line ignored;

    while (c.block != &l->blocks && c.block->next != &l->blocks &&
           log_block_of(c.block->next)->first <= number)
        c.block = c.block->next;
    c.number = c.block == &l->blocks ? l->end : log_block_of(c.block)->first;
    while (c.number < number && lines_next(&c, &ignored))
        ;
    return c;
}

bool lines_next(struct lines_cursor *c, struct line *ret)
{
    const struct list *end = &c->lines->blocks;
    struct log_record record;

    if (c->block != end && c->at == log_block_of(c->block)->used) {
        c->block = c->block->next;
        c->at = 0;
    }
    if (c->block == end)
        return false;
    const char *data = log_block_of(c->block)->data;
    memcpy(&record, data + c->at, sizeof record);
    *ret = (struct line){.number = c->number++,
                         .time_us = record.time_us,
                         .text = str_n(data + c->at + sizeof record, record.len)};
    c->at += sizeof record + record.len;
    return true;
}
