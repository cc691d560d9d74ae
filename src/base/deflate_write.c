/* SPDX-License-Identifier: MIT */
/* Blocks of deflate as bits: stored, with the fixed codes, or with codes of their own. */
#include <endian.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/deflate_internal.h"

enum { STORED = 0, FIXED = 1, DYNAMIC = 2, STORED_MAX = 65535, SLACK = 1024 };

/* ---- bits ---- */

static void put_code_bits(struct bits *b, uint64_t value, unsigned n)
{
    b->acc |= value << b->n;
    b->n += n;
}

/* Before it at most 63 bits wait, behind it at most 7. There is room for eight bytes at P. */
static void flush(struct bits *b)
{
    uint64_t le = htole64(b->acc);

    memcpy(b->p, &le, sizeof le);
    b->p += b->n / 8;
    b->acc >>= b->n / 8 * 8;
    b->n %= 8;
}

static int begin_lengths(struct bits *b, struct buf *out, size_t bytes)
{
    int r = buf_reserve(out, bytes + SLACK);

    if (r == 0)
        b->p = (unsigned char *)out->p + out->len;
    return r;
}

static void end_lengths(struct bits *b, struct buf *out)
{
    flush(b);
    out->len = (size_t)((char *)b->p - out->p);
}

/* ---- stored ---- */

static int write_stored(const struct block *b, struct bits *bits, struct buf *out)
{
    const unsigned char *p = b->plain;
    size_t left = b->plain_len;
    int r = begin_lengths(bits, out, left + left / STORED_MAX * 8);

    while (r == 0 && left > 0) {
        size_t len = left < STORED_MAX ? left : STORED_MAX;
        put_code_bits(bits, b->is_last && len == left, 3);
        flush(bits);
        put_code_bits(bits, 0, (8 - bits->n) % 8);
        put_code_bits(bits, len | (~(uint64_t)len & 0xffff) << 16, 32);
        flush(bits);
        memcpy(bits->p, p, len);
        bits->p += len;
        p += len;
        left -= len;
    }
    if (r == 0)
        end_lengths(bits, out);
    return r;
}

/* ---- codes ---- */

static void put_tokens(const struct block *b, struct bits *bits, const struct code *literals,
                       const struct code *distances)
{
    struct bits o = *bits;

    for (const struct token *t = b->tokens; t < b->tokens + b->n_tokens; t++) {
        if (t->distance == 0) {
            if (o.n > 63 - CODE_MAX)
                flush(&o);
            put_code_bits(&o, literals->bits[t->value], literals->len[t->value]);
            continue;
        }
        unsigned s = length_symbol(t->value), d = distance_symbol(t->distance);
        unsigned extra = length_extra(s), more = distance_extra(d);
        flush(&o);
        put_code_bits(&o, literals->bits[s], literals->len[s]);
        put_code_bits(&o, (t->value - 3U) & ((1U << extra) - 1), extra);
        put_code_bits(&o, distances->bits[d], distances->len[d]);
        put_code_bits(&o, (t->distance - 1U) & ((1U << more) - 1), more);
    }
    flush(&o);
    put_code_bits(&o, literals->bits[END_OF_BLOCK], literals->len[END_OF_BLOCK]);
    flush(&o);
    *bits = o;
}

/* How many bits the tokens take. */
static uint64_t cost(const struct block *b, const struct code *literals,
                     const struct code *distances)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < N_LITERALS; i++)
        n += (uint64_t)b->literals[i] * (literals->len[i] + (i > 256 ? length_extra(i) : 0));
    for (unsigned i = 0; i < N_DISTANCES; i++)
        n += (uint64_t)b->distances[i] * (distances->len[i] + distance_extra(i));
    return n;
}

static void make_fixed(struct code *literals, struct code *distances)
{
    static const struct {
        unsigned from, to, len, first;
    } rows[] = {{0, 143, 8, 0x30}, {144, 255, 9, 0x190}, {256, 279, 7, 0}, {280, 287, 8, 0xc0}};

    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        for (unsigned i = rows[k].from; i <= rows[k].to; i++) {
            unsigned bits = rows[k].first + i - rows[k].from, r = 0;
            for (unsigned n = 0; n < rows[k].len; n++)
                r |= (bits >> n & 1) << (rows[k].len - 1 - n);
            literals->len[i] = (uint8_t)rows[k].len;
            literals->bits[i] = (uint16_t)r;
        }
    }
    for (unsigned i = 0; i < N_DISTANCES; i++) {
        unsigned r = 0;
        for (unsigned n = 0; n < 5; n++)
            r |= (i >> n & 1) << (4 - n);
        distances->len[i] = 5;
        distances->bits[i] = (uint16_t)r;
    }
}

/* ---- codes of their own: how they are written (RFC 1951, 3.2.7) ---- */

struct lengths {
    uint8_t symbols[N_LITERALS + N_DISTANCES], extra[N_LITERALS + N_DISTANCES];
    size_t n;
    uint32_t counts[N_LENGTHS];
    size_t n_literals, n_distances, n_codes;
    struct code code;
};

static const struct {
    uint8_t symbol, bits, min, max;
} repeats[] = {{16, 2, 3, 6}, {17, 3, 3, 10}, {18, 7, 11, 138}};

static const uint8_t order[N_LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};

static void add_length(struct lengths *l, unsigned symbol, size_t extra)
{
    l->symbols[l->n] = (uint8_t)symbol;
    l->extra[l->n++] = (uint8_t)extra;
    l->counts[symbol]++;
}

/* RUN times the same length. */
static void add_run(struct lengths *l, uint8_t len, size_t run)
{
    if (len > 0) {
        add_length(l, len, 0);
        run--;
    }
    while (run > 0) {
        size_t k = len > 0 ? 0 : run >= repeats[2].min ? 2 : 1;
        if (run < repeats[k].min) {
            add_length(l, len, 0);
            run--;
            continue;
        }
        size_t n = run < repeats[k].max ? run : repeats[k].max;
        add_length(l, repeats[k].symbol, n - repeats[k].min);
        run -= n;
    }
}

static void describe_lengths(struct lengths *l, const struct code *literals,
                             const struct code *distances)
{
    uint8_t all[N_LITERALS + N_DISTANCES];

    for (l->n_literals = N_LITERALS; literals->len[l->n_literals - 1] == 0;)
        l->n_literals--;
    for (l->n_distances = N_DISTANCES; distances->len[l->n_distances - 1] == 0;)
        l->n_distances--;
    if (l->n_literals < 257)
        l->n_literals = 257;
    size_t n = l->n_literals + l->n_distances;
    memcpy(all, literals->len, l->n_literals);
    memcpy(all + l->n_literals, distances->len, l->n_distances);
    for (size_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && all[i + run] == all[i];)
            run++;
        add_run(l, all[i], run);
    }
    code_make(&l->code, l->counts, N_LENGTHS, CODE_BITS_MAX);
    for (l->n_codes = N_LENGTHS; l->n_codes > 4 && l->code.len[order[l->n_codes - 1]] == 0;)
        l->n_codes--;
}

static unsigned extra_bits(unsigned symbol)
{
    return symbol < 16 ? 0 : repeats[symbol - 16].bits;
}

static uint64_t describe_cost(const struct lengths *l)
{
    uint64_t n = 5 + 5 + 4 + 3 * l->n_codes;

    for (unsigned i = 0; i < N_LENGTHS; i++)
        n += (uint64_t)l->counts[i] * (l->code.len[i] + extra_bits(i));
    return n;
}

static void put_lengths(const struct lengths *l, struct bits *bits)
{
    put_code_bits(bits, l->n_literals - 257, 5);
    put_code_bits(bits, l->n_distances - 1, 5);
    put_code_bits(bits, l->n_codes - 4, 4);
    flush(bits);
    for (size_t i = 0; i < l->n_codes; i++) {
        put_code_bits(bits, l->code.len[order[i]], 3);
        flush(bits);
    }
    for (size_t i = 0; i < l->n; i++) {
        put_code_bits(bits, l->code.bits[l->symbols[i]], l->code.len[l->symbols[i]]);
        put_code_bits(bits, l->extra[i], extra_bits(l->symbols[i]));
        flush(bits);
    }
}

int block_write(const struct block *b, struct bits *bits, struct buf *out)
{
    struct code literals = {0}, distances = {0};
    struct lengths l = {0};

    code_make(&literals, b->literals, N_LITERALS, CODE_MAX);
    code_make(&distances, b->distances, N_DISTANCES, CODE_MAX);
    describe_lengths(&l, &literals, &distances);
    uint64_t dynamic = cost(b, &literals, &distances) + describe_cost(&l);
    uint64_t stored = 8 * (uint64_t)(b->plain_len + 5 * (b->plain_len / STORED_MAX + 1));
    struct code fixed = {0}, fixed_distances = {0};
    make_fixed(&fixed, &fixed_distances);
    uint64_t plain = cost(b, &fixed, &fixed_distances);
    if (b->plain_len > 0 && stored < dynamic && stored < plain)
        return write_stored(b, bits, out);

    bool is_fixed = plain <= dynamic;
    int r = begin_lengths(bits, out, (size_t)((is_fixed ? plain : dynamic) / 8));
    if (r < 0)
        return r;
    put_code_bits(bits, b->is_last, 1);
    put_code_bits(bits, is_fixed ? FIXED : DYNAMIC, 2);
    if (!is_fixed)
        put_lengths(&l, bits);
    put_tokens(b, bits, is_fixed ? &fixed : &literals, is_fixed ? &fixed_distances : &distances);
    end_lengths(bits, out);
    return 0;
}

int block_align(struct bits *bits, struct buf *out, bool is_last)
{
    int r = begin_lengths(bits, out, 0);

    if (r < 0)
        return r;
    if (!is_last) {
        put_code_bits(bits, STORED << 1, 3);
        put_code_bits(bits, 0, (16 - bits->n % 8) % 8);
        put_code_bits(bits, 0xffff0000U, 32);
        flush(bits);
    }
    put_code_bits(bits, 0, (8 - bits->n % 8) % 8);
    end_lengths(bits, out);
    return 0;
}
