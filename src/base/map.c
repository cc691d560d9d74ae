/* SPDX-License-Identifier: MIT */
/* Hash map: see map.h. Open addressing with linear probing; a removed entry leaves a dead slot
 * (key kept NULL, hash 1) that the next growth sweeps away. */
#include "base/map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/id.h"
#include "base/mem.h"

enum { MAP_MIN = 16 };

struct map_slot {
    uint64_t hash; /* 0: never used, 1: dead */
    char *key;
    size_t key_len;
    void *value;
};

void map_init(struct map *m, size_t max)
{
    *m = (struct map){.max = max};
}

void map_done(struct map *m)
{
    for (size_t i = 0; i < m->cap; i++)
        free(m->slots[i].key);
    free(m->slots);
    map_init(m, m->max);
}

static uint64_t key_hash(const struct map *m, struct str key)
{
    uint64_t h = str_hash(key, m->seed);

    return h > 1 ? h : h + 2;
}

static struct map_slot *find_slot(const struct map *m, struct str key, uint64_t hash)
{
    if (m->cap == 0)
        return NULL;
    for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct map_slot *s = &m->slots[i];
        if (s->hash == 0)
            return NULL;
        if (s->hash == hash && str_eq(str_n(s->key, s->key_len), key))
            return s;
    }
}

void *map_get(const struct map *m, struct str key)
{
    struct map_slot *s = find_slot(m, key, key_hash(m, key));

    return s ? s->value : NULL;
}

static struct map_slot *free_slot(struct map_slot *slots, size_t cap, uint64_t hash)
{
    size_t i = hash & (cap - 1);

    while (slots[i].hash > 1)
        i = (i + 1) & (cap - 1);
    return &slots[i];
}

/* Keeps at least a quarter of the slots never used, so that every search ends. */
static int make_slot_room(struct map *m)
{
    if (m->cap && (m->used + 1) * 4 <= m->cap * 3)
        return 0;
    if (m->cap == 0)
        m->seed = id_seed();
    size_t cap = MAP_MIN;
    while ((m->n + 1) * 2 > cap)
        cap *= 2;
    struct map_slot *slots = mem_zalloc(cap, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].hash > 1)
            *free_slot(slots, cap, m->slots[i].hash) = m->slots[i];
    free(m->slots);
    m->slots = slots;
    m->cap = cap;
    m->used = m->n;
    return 0;
}

int map_put(struct map *m, struct str key, void *value, void **ret_old)
{
    struct map_slot *s = m->cap ? find_slot(m, key, key_hash(m, key)) : NULL;

    if (ret_old)
        *ret_old = s ? s->value : NULL;
    if (s) {
        s->value = value;
        return 0;
    }
    if (m->n >= m->max)
        return -ENOBUFS;
    if (make_slot_room(m) < 0)
        return -ENOMEM;
    char *copy = mem_strndup(key.p ? key.p : "", key.len);
    if (!copy)
        return -ENOMEM;
    uint64_t hash = key_hash(m, key);
    s = free_slot(m->slots, m->cap, hash);
    m->used += s->hash == 0;
    m->n++;
    *s = (struct map_slot){.hash = hash, .key = copy, .key_len = key.len, .value = value};
    return 0;
}

void *map_del(struct map *m, struct str key)
{
    struct map_slot *s = find_slot(m, key, key_hash(m, key));

    if (!s)
        return NULL;
    void *value = s->value;
    free(s->key);
    *s = (struct map_slot){.hash = 1};
    m->n--;
    return value;
}

int map_next(const struct map *m, size_t *i, struct str *ret_key, void **ret_value)
{
    for (; *i < m->cap; (*i)++) {
        const struct map_slot *s = &m->slots[*i];
        if (s->hash <= 1)
            continue;
        if (ret_key)
            *ret_key = str_n(s->key, s->key_len);
        if (ret_value)
            *ret_value = s->value;
        (*i)++;
        return 1;
    }
    return 0;
}
