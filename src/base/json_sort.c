/* SPDX-License-Identifier: MIT */
/* Members in key order: a merge sort, so that no choice of keys makes it slow. */
#include <stdlib.h>

#include "base/json_internal.h"
#include "base/mem.h"

enum { RUN = 8 }; /* sorted by insertion before merging starts */

static uint64_t key_prefix_of(struct str key)
{
    unsigned char bytes[8] = {0};
    uint64_t x = 0;

    memcpy(bytes, key.p, key.len < sizeof bytes ? key.len : sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        x = x << 8 | bytes[i];
    return x;
}

/* Not "before or equal" but "strictly before": equal keys keep their order. */
static bool is_key_before(const struct json_member *m, struct json_order a, struct json_order b)
{
    if (a.prefix != b.prefix)
        return a.prefix < b.prefix;
    return str_cmp(m[a.i].key, m[b.i].key) < 0;
}

static void sort_run(const struct json_member *m, struct json_order *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct json_order x = v[i];
        uint32_t j = i;
        for (; j > 0 && is_key_before(m, x, v[j - 1]); j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

/* Merges the sorted v[0, mid) and v[mid, n) into OUT. */
static void merge_orders(const struct json_member *m, const struct json_order *v, size_t mid,
                         size_t n, struct json_order *out)
{
    size_t a = 0, b = mid;

    while (a < mid && b < n)
        *out++ = is_key_before(m, v[b], v[a]) ? v[b++] : v[a++];
    memcpy(out, v + a, (mid - a) * sizeof *v);
    memcpy(out + (mid - a), v + b, (n - b) * sizeof *v);
}

struct json_order *json_sort_members(const struct json_member *m, uint32_t n)
{
    struct json_order *v = mem_zalloc((size_t)n * 2, sizeof *v);

    if (!v)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        v[i] = (struct json_order){key_prefix_of(m[i].key), i};
    for (size_t i = 0; i < n; i += RUN)
        sort_run(m, v + i, (uint32_t)(n - i < RUN ? n - i : RUN));

    struct json_order *from = v, *to = v + n;
    for (size_t width = RUN; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t len = n - i < 2 * width ? n - i : 2 * width;
            merge_orders(m, from + i, len < width ? len : width, len, to + i);
        }
        struct json_order *swap = from;
        from = to;
        to = swap;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    return v;
}
