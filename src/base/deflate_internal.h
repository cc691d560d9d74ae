/* SPDX-License-Identifier: MIT */
/* Between the files of deflate. */
#pragma once

#include <stdint.h>

#include "base/deflate.h"

enum {
    MATCH_MIN = 4, /* shorter ones are hardly worth their distance */
    MATCH_MAX = 258,
    N_LITERALS = 286,
    N_DISTANCES = 30,
    N_LENGTHS = 19, /* codes of code lengths */
    END_OF_BLOCK = 256,
    CODE_MAX = 15,     /* bits of a code */
    CODE_BITS_MAX = 7, /* the same of code lengths */
    TOKENS_MAX = 32768 /* of a block */
};

/* A literal (DISTANCE 0) or a match. */
struct token {
    uint16_t value; /* the literal, or the length */
    uint16_t distance;
};

/* Bits on their way; those that make whole bytes are at P already. */
struct bits {
    unsigned char *p;
    uint64_t acc;
    unsigned n;
};

/* A code: of N symbols the lengths in bits, and the bits in the order in which they are sent. */
struct code {
    uint8_t len[N_LITERALS + 2];
    uint16_t bits[N_LITERALS + 2];
};

struct block {
    const struct token *tokens;
    size_t n_tokens;
    const uint32_t *literals, *distances; /* how often each symbol occurs */
    const unsigned char *plain;           /* what the tokens stand for */
    size_t plain_len;
    bool is_last;
};

/* Appends a block in the shortest of the three ways. BITS continue at OUT's end; what is left of a
 * byte stays in them. */
int block_write(const struct block *b, struct bits *bits, struct buf *out);
/* Fills up the last byte of a stream that is complete (IS_LAST) or goes on. */
int block_align(struct bits *bits, struct buf *out, bool is_last);

/* The code of the shortest total length for COUNTS with no more than MAX bits; at least two symbols
 * get one. */
void code_make(struct code *c, const uint32_t *counts, size_t n, unsigned max);

/* The symbol of a length or of a distance. */
static inline unsigned length_symbol(unsigned len)
{
    unsigned l = len - 3;

    if (l < 8)
        return 257 + l;
    if (len == MATCH_MAX)
        return 285;
    unsigned n = 31 - (unsigned)__builtin_clz(l);
    return 257 + 4 * (n - 1) + (l >> (n - 2) & 3);
}

static inline unsigned distance_symbol(unsigned distance)
{
    unsigned d = distance - 1;

    if (d < 4)
        return d;
    unsigned n = 31 - (unsigned)__builtin_clz(d);
    return 2 * n + (d >> (n - 1) & 1);
}

static inline unsigned length_extra(unsigned symbol)
{
    return symbol < 265 || symbol == 285 ? 0 : (symbol - 261) / 4;
}

static inline unsigned distance_extra(unsigned symbol)
{
    return symbol < 4 ? 0 : (symbol - 2) / 2;
}
