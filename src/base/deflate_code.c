/* SPDX-License-Identifier: MIT */
/* Prefix codes of limited length. */
#include <stdlib.h>

#include "base/deflate_internal.h"

struct code_leaf {
    uint32_t count;
    uint16_t symbol;
};

static int by_leaf_count(const void *a, const void *b)
{
    const struct code_leaf *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->symbol < y->symbol ? -1 : 1;
}

/* Symbols that occur, the rarest first; two at least. */
static size_t gather_leaves(struct code_leaf *leaves, const uint32_t *counts, size_t n)
{
    size_t n_leaves = 0;

    for (size_t i = 0; i < n; i++) {
        if (counts[i] > 0)
            leaves[n_leaves++] = (struct code_leaf){counts[i], (uint16_t)i};
    }
    for (size_t i = 0; n_leaves < 2; i++) {
        if (counts[i] == 0)
            leaves[n_leaves++] = (struct code_leaf){1, (uint16_t)i};
    }
    qsort(leaves, n_leaves, sizeof *leaves, by_leaf_count);
    return n_leaves;
}

/* Huffman's algorithm with two queues: leaves in their order, and the nodes made so far, which come
 * in order by themselves. How many leaves each depth has. */
static void count_depths(const struct code_leaf *leaves, size_t n, unsigned *n_of)
{
    uint32_t weight[N_LITERALS + 2];
    uint16_t parent[2 * (N_LITERALS + 2)] = {0}; /* leaves first, then nodes */
    uint16_t depth[2 * (N_LITERALS + 2)];
    size_t leaf = 0, node = 0;

    for (size_t made = 0; made < n - 1; made++) {
        uint32_t sum = 0;
        for (int k = 0; k < 2; k++) {
            bool is_leaf = node == made || (leaf < n && leaves[leaf].count <= weight[node]);
            size_t at = is_leaf ? leaf++ : n + node;
            sum += is_leaf ? leaves[at].count : weight[node++];
            parent[at] = (uint16_t)(n + made);
        }
        weight[made] = sum;
    }
    depth[2 * n - 2] = 0;
    for (size_t i = 2 * n - 2; i-- > 0;) {
        depth[i] = (uint16_t)(depth[parent[i]] + 1);
        if (i < n)
            n_of[depth[i]]++;
    }
}

/* Brings what is deeper than MAX up to it, and pays for it by moving others down, the deepest that
 * still can first. */
static void limit_depths(unsigned *n_of, size_t deepest, unsigned max)
{
    uint32_t used = 0;

    for (size_t d = max + 1; d <= deepest; d++) {
        n_of[max] += n_of[d];
        n_of[d] = 0;
    }
    for (unsigned d = 1; d <= max; d++)
        used += n_of[d] << (max - d);
    while (used > 1U << max) {
        unsigned d = max - 1;
        while (n_of[d] == 0)
            d--;
        n_of[d]--;
        n_of[d + 1] += 2;
        n_of[max]--;
        used--;
    }
}

static uint16_t reverse(unsigned bits, unsigned len)
{
    unsigned r = 0;

    for (; len > 0; len--, bits >>= 1)
        r = r << 1 | (bits & 1);
    return (uint16_t)r;
}

/* RFC 1951, 3.2.2. */
static void assign_bits(struct code *c, size_t n, const unsigned *n_of, unsigned max)
{
    unsigned next[CODE_MAX + 1], bits = 0;

    for (unsigned d = 1; d <= max; d++) {
        next[d] = bits;
        bits = (bits + n_of[d]) << 1;
    }
    for (size_t i = 0; i < n; i++)
        c->bits[i] = c->len[i] > 0 ? reverse(next[c->len[i]]++, c->len[i]) : 0;
}

void code_make(struct code *c, const uint32_t *counts, size_t n, unsigned max)
{
    struct code_leaf leaves[N_LITERALS + 2];
    unsigned n_of[N_LITERALS + 2] = {0};
    size_t n_leaves = gather_leaves(leaves, counts, n), at = n_leaves;

    for (size_t i = 0; i < n; i++)
        c->len[i] = 0;
    count_depths(leaves, n_leaves, n_of);
    limit_depths(n_of, n_leaves, max);
    for (unsigned d = 1; d <= max; d++) {
        for (unsigned k = 0; k < n_of[d]; k++)
            c->len[leaves[--at].symbol] = (uint8_t)d;
    }
    assign_bits(c, n, n_of, max);
}
