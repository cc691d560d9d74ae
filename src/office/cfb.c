/* SPDX-License-Identifier: MIT */
#include "office/cfb.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum {
    SECTOR = 512,
    MINI = 64,      /* sector of small streams, which are in a stream of their own */
    CUTOFF = 4096,  /* streams from this size on are not small */
    ENTRY = 128,    /* of the directory */
    IN_HEADER = 109 /* places of FAT sectors in the header */
};
#define FREE 0xffffffffU
#define END  0xfffffffeU
#define FAT  0xfffffffdU
#define DIF  0xfffffffcU

static const char magic[] = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

static void add16(struct buf *b, unsigned v)
{
    (void)buf_add_char(b, (char)v);
    (void)buf_add_char(b, (char)(v >> 8));
}

static void add32(struct buf *b, uint32_t v)
{
    add16(b, v & 0xffff);
    add16(b, v >> 16);
}

static void pad(struct buf *b, size_t to, char with)
{
    while (buf_ok(b) && b->len % to != 0)
        (void)buf_add_char(b, with);
}

static uint32_t units(size_t len, size_t of)
{
    return (uint32_t)((len + of - 1) / of);
}

/* ---- writing ---- */

struct cfb_writer {
    const struct cfb_item *items;
    size_t n;
    struct buf *out;
    struct buf fat, mini_fat, mini; /* tables of 32-bit numbers; the stream of small streams */
    uint32_t first[CFB_ITEMS_MAX];  /* sector of each stream */
    uint32_t left[CFB_ITEMS_MAX], right[CFB_ITEMS_MAX], child[CFB_ITEMS_MAX + 1];
    uint32_t mini_first, dir_first, mini_fat_first, n_sectors;
};

/* Goes on with a chain of N sectors in TABLE; the first one's number. */
static uint32_t add_chain(struct buf *table, uint32_t n)
{
    uint32_t first = (uint32_t)(table->len / 4);

    for (uint32_t i = 0; i < n; i++)
        add32(table, i + 1 < n ? first + i + 1 : END);
    return n > 0 ? first : END;
}

/* Puts DATA into sectors; the first one's number. */
static uint32_t add_sectors(struct cfb_writer *w, struct str data)
{
    uint32_t n = units(data.len, SECTOR), first = add_chain(&w->fat, n);

    (void)buf_add_str(w->out, data);
    pad(w->out, SECTOR, 0);
    w->n_sectors += n;
    return first;
}

static void add_streams(struct cfb_writer *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct str data = w->items[i].data;
        w->first[i] = END;
        if (!data.p || data.len >= CUTOFF || data.len == 0)
            continue;
        w->first[i] = add_chain(&w->mini_fat, units(data.len, MINI));
        (void)buf_add_str(&w->mini, data);
        pad(&w->mini, MINI, 0);
    }
    w->mini_first = add_sectors(w, buf_str(&w->mini));
    for (size_t i = 0; i < w->n; i++) {
        if (w->items[i].data.len >= CUTOFF)
            w->first[i] = add_sectors(w, w->items[i].data);
    }
    pad(&w->mini_fat, SECTOR, (char)0xff);
    w->mini_fat_first = add_sectors(w, buf_str(&w->mini_fat));
}

/* Shorter names first, then by letters in capitals. */
static bool is_less(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);

    for (size_t i = 0; la == lb && i < la; i++) {
        int x = a[i] >= 'a' && a[i] <= 'z' ? a[i] - 32 : a[i];
        int y = b[i] >= 'a' && b[i] <= 'z' ? b[i] - 32 : b[i];
        if (x != y)
            return x < y;
    }
    return la < lb;
}

/* A balanced tree of IDS, which are sorted; its root. Entries of the directory count from 1. */
static uint32_t make_tree(struct cfb_writer *w, const uint32_t *ids, size_t n)
{
    if (n == 0)
        return FREE;
    size_t middle = n / 2;
    w->left[ids[middle]] = make_tree(w, ids, middle);
    w->right[ids[middle]] = make_tree(w, ids + middle + 1, n - middle - 1);
    return ids[middle] + 1;
}

static void make_trees(struct cfb_writer *w)
{
    for (int parent = -1; parent < (int)w->n; parent++) {
        uint32_t ids[CFB_ITEMS_MAX];
        size_t n = 0;
        for (uint32_t i = 0; i < w->n; i++) {
            size_t at = n;
            if (w->items[i].parent != parent)
                continue;
            for (; at > 0 && is_less(w->items[i].name, w->items[ids[at - 1]].name); at--)
                ids[at] = ids[at - 1];
            ids[at] = i;
            n++;
        }
        w->child[parent + 1] = make_tree(w, ids, n);
    }
}

struct cfb_entry {
    const char *name;
    int type; /* 1 storage, 2 stream, 5 root */
    uint32_t left, right, child, first;
    size_t size;
};

static void add_cfb_entry(struct buf *b, const struct cfb_entry *e)
{
    size_t len = strlen(e->name);

    for (size_t i = 0; i < 32; i++)
        add16(b, i < len ? (unsigned char)e->name[i] : 0);
    add16(b, e->type ? (unsigned)(len + 1) * 2 : 0);
    (void)buf_add_char(b, (char)e->type);
    (void)buf_add_char(b, 1); /* black */
    add32(b, e->left);
    add32(b, e->right);
    add32(b, e->child);
    for (int i = 0; i < 9; i++) /* class, state and two times */
        add32(b, 0);
    add32(b, e->first);
    add32(b, (uint32_t)e->size);
    add32(b, 0);
}

static void add_directory(struct cfb_writer *w, struct buf *b)
{
    static const struct cfb_entry none = {"", 0, FREE, FREE, FREE, 0, 0};

    add_cfb_entry(b, &(struct cfb_entry){"Root Entry", 5, FREE, FREE, w->child[0], w->mini_first,
                                         w->mini.len});
    for (size_t i = 0; i < w->n; i++) {
        bool is_stream = w->items[i].data.p != NULL;
        add_cfb_entry(b, &(struct cfb_entry){w->items[i].name, is_stream ? 2 : 1, w->left[i],
                                             w->right[i], w->child[i + 1],
                                             is_stream ? w->first[i] : 0, w->items[i].data.len});
    }
    while (buf_ok(b) && b->len % SECTOR != 0)
        add_cfb_entry(b, &none);
    w->dir_first = add_sectors(w, buf_str(b));
}

/* The FAT describes itself too. Fills HEADER with what the header says of it. */
static void add_fat(struct cfb_writer *w, struct buf *header)
{
    uint32_t n, n_fat = 0, n_dif = 0, per = SECTOR / 4;

    do {
        n_fat = units((size_t)(w->n_sectors + n_fat + n_dif) * 4, SECTOR);
        n_dif = n_fat > IN_HEADER ? (n_fat - IN_HEADER + per - 2) / (per - 1) : 0;
        n = units((size_t)(w->n_sectors + n_fat + n_dif) * 4, SECTOR);
    } while (n != n_fat);
    uint32_t fat_at = w->n_sectors, dif_at = fat_at + n_fat;
    for (uint32_t i = 0; i < n_fat; i++)
        add32(&w->fat, FAT);
    for (uint32_t i = 0; i < n_dif; i++)
        add32(&w->fat, DIF);
    pad(&w->fat, SECTOR, (char)0xff);
    (void)buf_add_str(w->out, buf_str(&w->fat));
    for (uint32_t i = IN_HEADER; n_dif > 0 && i < IN_HEADER + n_dif * (per - 1); i++) {
        add32(w->out, i < n_fat ? fat_at + i : FREE);
        if ((i - IN_HEADER + 1) % (per - 1) == 0)
            add32(w->out, (i - IN_HEADER + 1) / (per - 1) < n_dif
                              ? dif_at + (i - IN_HEADER + 1) / (per - 1)
                              : END);
    }
    add32(header, n_fat);
    add32(header, w->dir_first);
    add32(header, 0);
    add32(header, CUTOFF);
    add32(header, w->mini_fat_first);
    add32(header, units(w->mini_fat.len, SECTOR));
    add32(header, n_dif > 0 ? dif_at : END);
    add32(header, n_dif);
    for (uint32_t i = 0; i < IN_HEADER; i++)
        add32(header, i < n_fat ? fat_at + i : FREE);
}

static void begin_header(struct buf *b)
{
    (void)buf_add(b, magic, 8);
    for (int i = 0; i < 4; i++)
        add32(b, 0);
    add16(b, 0x3e);
    add16(b, 3);
    add16(b, 0xfffe);
    add16(b, 9);
    add16(b, 6);
    for (int i = 0; i < 3; i++)
        add16(b, 0);
    add32(b, 0); /* sectors of the directory: not recorded in version 3 */
}

int cfb_write(struct buf *out, struct arena *a, const struct cfb_item *items, size_t n)
{
    struct cfb_writer *w = arena_new(a, struct cfb_writer);
    auto_buf struct buf sectors = BUF_INIT(out->max), directory = BUF_INIT(1 << 16);
    auto_buf struct buf header = BUF_INIT(SECTOR);

    if (!w)
        return -ENOMEM;
    if (n > CFB_ITEMS_MAX)
        return -E2BIG;
    *w = (struct cfb_writer){.items = items, .n = n, .out = &sectors};
    buf_init(&w->fat, out->max);
    buf_init(&w->mini_fat, 1 << 20);
    buf_init(&w->mini, 1 << 20);
    make_trees(w);
    add_streams(w);
    add_directory(w, &directory);
    begin_header(&header);
    add_fat(w, &header);
    (void)buf_add_str(out, buf_str(&header));
    (void)buf_add_str(out, buf_str(&sectors));
    bool is_ok = buf_ok(&sectors) && buf_ok(&directory) && buf_ok(&header) && buf_ok(&w->fat) &&
                 buf_ok(&w->mini_fat) && buf_ok(&w->mini);
    buf_done(&w->fat);
    buf_done(&w->mini_fat);
    buf_done(&w->mini);
    return !is_ok ? -ENOMEM : out->error;
}

/* ---- reading ---- */

struct cfb_reader {
    struct arena *arena;
    struct str bytes;
    size_t sector;
    uint32_t *fat;
    size_t n_fat; /* entries */
};

static uint32_t get(struct str s, size_t at, size_t n)
{
    uint32_t v = 0;

    for (size_t i = at + n; i-- > at;)
        v = v << 8 | (i < s.len ? (unsigned char)s.p[i] : 0);
    return v;
}

bool cfb_is(struct str bytes)
{
    return bytes.len >= SECTOR && memcmp(bytes.p, magic, 8) == 0;
}

static struct str sector_at(const struct cfb_reader *r, uint32_t i)
{
    size_t at = ((size_t)i + 1) * r->sector;

    return at >= r->bytes.len ? STR_NULL : str_slice(r->bytes, at, at + r->sector);
}

static void read_fat_sector(struct cfb_reader *r, uint32_t i, size_t max)
{
    struct str s = sector_at(r, i);

    for (size_t k = 0; k + 4 <= s.len && r->n_fat < max; k += 4)
        r->fat[r->n_fat++] = get(s, k, 4);
}

static int read_fat(struct cfb_reader *r)
{
    uint32_t n = get(r->bytes, 44, 4), dif = get(r->bytes, 68, 4);
    size_t max = r->bytes.len / r->sector + r->sector, turns = 0;

    r->fat = arena_zalloc(r->arena, max, sizeof *r->fat);
    if (!r->fat)
        return -ENOMEM;
    for (uint32_t i = 0; i < IN_HEADER && i < n; i++)
        read_fat_sector(r, get(r->bytes, 76 + (size_t)i * 4, 4), max);
    while (dif < DIF && turns++ < max) {
        struct str s = sector_at(r, dif);
        for (size_t k = 0; k + 8 <= s.len; k += 4) {
            if (get(s, k, 4) < DIF)
                read_fat_sector(r, get(s, k, 4), max);
        }
        dif = s.len >= 4 ? get(s, s.len - 4, 4) : END;
    }
    return 0;
}

/* Appends the sectors of a chain, SIZE bytes at most. */
static int read_chain(const struct cfb_reader *r, uint32_t first, size_t size, struct buf *out)
{
    size_t turns = 0;

    for (uint32_t i = first; i < DIF && out->len < size; i = r->fat[i]) {
        struct str s = sector_at(r, i);
        if (i >= r->n_fat || s.len == 0 || turns++ > r->n_fat)
            return -EINVAL;
        if (buf_add_str(out, str_slice(s, 0, size - out->len)) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* A small stream: its sectors are in the root's stream, in their own table. */
static int read_small(const struct cfb_reader *r, struct str directory, const struct cfb_entry *e,
                      struct buf *out)
{
    auto_buf struct buf table = BUF_INIT(r->bytes.len), mini = BUF_INIT(r->bytes.len);
    int x = read_chain(r, get(r->bytes, 60, 4), r->bytes.len, &table);
    int y = read_chain(r, get(directory, 116, 4), get(directory, 120, 4), &mini);
    size_t turns = 0;

    if (x < 0 || y < 0)
        return x < 0 ? x : y;
    for (uint32_t i = e->first; i < DIF && out->len < e->size;) {
        struct str s = str_slice(buf_str(&mini), (size_t)i * MINI, ((size_t)i + 1) * MINI);
        if (s.len == 0 || ((size_t)i + 1) * 4 > table.len || turns++ > table.len)
            return -EINVAL;
        if (buf_add_str(out, str_slice(s, 0, e->size - out->len)) < 0)
            return -ENOMEM;
        i = get(buf_str(&table), (size_t)i * 4, 4);
    }
    return 0;
}

/* The entry of the stream NAME. */
static bool find_cfb_stream(struct str directory, const char *name, struct cfb_entry *ret)
{
    size_t len = strlen(name);

    for (size_t at = 0; at + ENTRY <= directory.len; at += ENTRY) {
        bool is_same = directory.p[at + 66] == 2 && get(directory, at + 64, 2) == (len + 1) * 2;
        for (size_t i = 0; is_same && i < len; i++)
            is_same = get(directory, at + i * 2, 2) == (unsigned char)name[i];
        if (!is_same)
            continue;
        ret->first = get(directory, at + 116, 4);
        ret->size = get(directory, at + 120, 4);
        return true;
    }
    return false;
}

int cfb_stream(struct arena *a, struct str bytes, const char *name, struct str *ret)
{
    struct cfb_reader r = {.arena = a, .bytes = bytes};
    auto_buf struct buf directory = BUF_INIT(bytes.len), out = BUF_INIT(bytes.len);
    uint32_t shift = get(bytes, 30, 2);
    struct cfb_entry e;

    if (!cfb_is(bytes) || (shift != 9 && shift != 12) || get(bytes, 32, 2) != 6)
        return -EINVAL;
    r.sector = (size_t)1 << shift;
    int x = read_fat(&r);
    if (x == 0)
        x = read_chain(&r, get(bytes, 48, 4), bytes.len, &directory);
    if (x < 0)
        return x;
    if (!find_cfb_stream(buf_str(&directory), name, &e))
        return -ENOENT;
    x = e.size < get(bytes, 56, 4) ? read_small(&r, buf_str(&directory), &e, &out)
                                   : read_chain(&r, e.first, e.size, &out);
    if (x == 0 && out.len != e.size)
        x = -EINVAL;
    if (x < 0)
        return x;
    *ret = arena_str(a, str_n(out.p ? out.p : "", out.len));
    return ret->p ? 0 : -ENOMEM;
}
