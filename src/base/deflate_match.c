/* SPDX-License-Identifier: MIT */
/* Pieces of deflate: what repeats is found here. */
#include <stdlib.h>
#include <string.h>

#include "base/deflate_internal.h"
#include "base/mem.h"

enum {
    HASH_BITS = 15,
    CHAIN_MAX = 24,    /* places that are looked at */
    CHAIN_LAZY = 8,    /* the same when there is something already */
    LENGTH_LAZY = 32,  /* from here on nothing better is looked for */
    LENGTH_NICE = 128, /* from here on no other place is looked at */
    MISSES_SHIFT = 7   /* after this number (a power of two) of places without a match go faster */
};

struct deflate_work {
    int32_t head[1 << HASH_BITS];  /* the last place of a hash; far negative: none */
    int32_t chain[DEFLATE_WINDOW]; /* the place before it, by the place modulo the window */
    struct token tokens[TOKENS_MAX];
    size_t n_tokens;
    uint32_t literals[N_LITERALS], distances[N_DISTANCES];
};

/* The bytes that are compressed: [BEGIN, END) behind what may be referred to. */
struct piece {
    const unsigned char *p;
    int32_t end;
};

struct deflate_found_match {
    int32_t len, distance;
};

struct deflate_work *deflate_work_new(void)
{
    return mem_alloc(sizeof(struct deflate_work));
}

void deflate_work_free(struct deflate_work *w)
{
    free(w);
}

/* ---- finding ---- */

static uint32_t load32(const unsigned char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t load64(const unsigned char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

static uint32_t hash(const unsigned char *p)
{
    return load32(p) * 0x9e3779b1U >> (32 - HASH_BITS);
}

/* Puts AT into its chain; what was there before. */
static int32_t insert_into_chain(struct deflate_work *w, const unsigned char *p, int32_t at)
{
    uint32_t h = hash(p + at);
    int32_t before = w->head[h];

    w->chain[at & (DEFLATE_WINDOW - 1)] = before;
    w->head[h] = at;
    return before;
}

static int32_t common(const unsigned char *a, const unsigned char *b, int32_t max)
{
    int32_t n = 0;

    for (; n + 8 <= max; n += 8) {
        uint64_t x = load64(a + n) ^ load64(b + n);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        if (x)
            return n + (int32_t)((unsigned)__builtin_ctzll(x) / 8);
#else
        if (x)
            return n + (int32_t)((unsigned)__builtin_clzll(x) / 8);
#endif
    }
    while (n < max && a[n] == b[n])
        n++;
    return n;
}

/* Puts AT into its chain and finds a match that is longer than BEST. */
static struct deflate_found_match find_longer_match(struct deflate_work *w, const struct piece *s,
                                                    int32_t at, int32_t best, unsigned depth)
{
    const unsigned char *p = s->p, *here = p + at;
    int32_t max = s->end - at < MATCH_MAX ? s->end - at : MATCH_MAX;
    struct deflate_found_match m = {best, 0};
    int32_t from = insert_into_chain(w, p, at);

    if (max <= best)
        return m;
    uint32_t first = load32(here);
    for (; depth > 0 && at - from <= DEFLATE_WINDOW; depth--) {
        const unsigned char *there = p + from;
        if (there[m.len] == here[m.len] && load32(there) == first) {
            int32_t len = 4 + common(here + 4, there + 4, max - 4);
            if (len > m.len) {
                m = (struct deflate_found_match){len, at - from};
                if (len >= LENGTH_NICE || len == max)
                    break;
            }
        }
        int32_t next = w->chain[from & (DEFLATE_WINDOW - 1)];
        if (next >= from)
            break; /* its slot was used again */
        from = next;
    }
    return m;
}

/* ---- tokens ---- */

struct match_writer {
    struct deflate_work *w;
    struct bits bits;
    struct buf *out;
    const unsigned char *plain; /* the first byte that the tokens stand for */
    int error;
};

static void write_match_block(struct match_writer *o, const unsigned char *end, bool is_last)
{
    struct deflate_work *w = o->w;
    struct block b = {
        .tokens = w->tokens,
        .n_tokens = w->n_tokens,
        .literals = w->literals,
        .distances = w->distances,
        .plain = o->plain,
        .plain_len = (size_t)(end - o->plain),
        .is_last = is_last,
    };

    w->literals[END_OF_BLOCK] = 1;
    if (o->error == 0 && (b.plain_len > 0 || is_last))
        o->error = block_write(&b, &o->bits, o->out);
    memset(w->literals, 0, sizeof w->literals);
    memset(w->distances, 0, sizeof w->distances);
    w->n_tokens = 0;
    o->plain = end;
}

static void add_match_token(struct match_writer *o, struct token t, const unsigned char *end)
{
    struct deflate_work *w = o->w;

    w->tokens[w->n_tokens++] = t;
    if (t.distance == 0) {
        w->literals[t.value]++;
    } else {
        w->literals[length_symbol(t.value)]++;
        w->distances[distance_symbol(t.distance)]++;
    }
    if (w->n_tokens == TOKENS_MAX)
        write_match_block(o, end, false);
}

static void add_literal(struct match_writer *o, const unsigned char *p)
{
    add_match_token(o, (struct token){*p, 0}, p + 1);
}

/* Adds the match at AT, or a better one behind it. Where to go on. */
static int32_t add_match(struct match_writer *o, const struct piece *s, int32_t at,
                         struct deflate_found_match m)
{
    int32_t last = s->end - MATCH_MIN; /* the last place that has a hash */

    while (m.len < LENGTH_LAZY && at < last) {
        struct deflate_found_match next = find_longer_match(o->w, s, at + 1, m.len, CHAIN_LAZY);
        if (next.distance == 0)
            break;
        add_literal(o, s->p + at);
        at++;
        m = next;
    }
    /* The place behind the match's begin is in its chain already when it was looked at. */
    int32_t from = m.len < LENGTH_LAZY && at < last ? at + 2 : at + 1, end = at + m.len;
    for (int32_t i = from; i < end && i <= last; i++)
        (void)insert_into_chain(o->w, s->p, i);
    add_match_token(o, (struct token){(uint16_t)m.len, (uint16_t)m.distance}, s->p + end);
    return end;
}

static void compress(struct match_writer *o, const struct piece *s, int32_t at)
{
    int32_t last = s->end - MATCH_MIN;
    unsigned n_misses = 0;

    while (at <= last) {
        struct deflate_found_match m = find_longer_match(o->w, s, at, MATCH_MIN - 1, CHAIN_MAX);
        if (m.distance > 0) {
            n_misses = 0;
            at = add_match(o, s, at, m);
            continue;
        }
        unsigned step = 1 + (n_misses++ >> MISSES_SHIFT);
        for (; step > 0 && at < s->end; step--)
            add_literal(o, s->p + at++);
    }
    while (at < s->end)
        add_literal(o, s->p + at++);
}

int deflate_piece(struct deflate_work *w, const struct deflate_piece *piece, struct buf *out)
{
    const unsigned char *bytes = piece->p;
    size_t dict = piece->dict, len = piece->len;
    struct piece s = {bytes - dict, (int32_t)(dict + len)};
    struct match_writer o = {.w = w, .out = out, .plain = bytes};

    memset(w->head, 0x80, sizeof w->head);
    memset(w->literals, 0, sizeof w->literals);
    memset(w->distances, 0, sizeof w->distances);
    w->n_tokens = 0;
    for (int32_t i = 0; i < (int32_t)dict && i <= s.end - MATCH_MIN; i++)
        (void)insert_into_chain(w, s.p, i);
    compress(&o, &s, (int32_t)dict);
    write_match_block(&o, bytes + len, piece->is_last);
    return o.error ? o.error : block_align(&o.bits, out, piece->is_last);
}
