/* SPDX-License-Identifier: MIT */
/* gzip decompression: see gunzip.h.
 *
 * A state is a function that does one step when all of the step's bits are there, and nothing when
 * they are not; so input may end anywhere. No step needs more than 48 bits (a length and a distance
 * with their extra bits), and 56 fit into what is held beside the input. */
#include "base/gunzip.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/mem.h"

enum {
    WINDOW = 32 << 10,
    OUT_MAX = 4 * WINDOW, /* the window, and what was not given away yet */
    RUN_MAX = 258,        /* the longest copy */
    FAST_BITS = 10,       /* longer codes are rare */
    CODE_BITS = 15,
    N_LITERAL = 288,
    N_DISTANCE = 30,
    N_LENGTH_CODES = 19,
    HEAD_LEN = 10,
    TRAILER_LEN = 8,
};

/* What a step says: go on, or come back with more input; else an error. */
enum { GO = 0, MORE = 1 };

enum { FLAG_CRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_UNKNOWN = 0xe0 };

/* Codes by length, and the short ones in a table: symbol << 4 | length, 0 for none. */
struct code {
    uint16_t fast[1 << FAST_BITS];
    uint16_t count[CODE_BITS + 1];
    uint16_t symbols[N_LITERAL];
};

typedef int step_fn(struct gunzip *z);

struct gunzip {
    gunzip_sink *sink;
    void *ctx;
    step_fn *step;
    int error;
    const char *reason;

    const unsigned char *in, *in_end;
    uint64_t hold; /* bits, the next one lowest; above n_bits may be copies of input not taken */
    unsigned n_bits;

    uint8_t bytes[HEAD_LEN]; /* of a head or trailer */
    size_t n_bytes;          /* how many are there, or how many of an optional field are left */
    uint8_t flags;
    uint32_t head_crc;
    bool has_member, is_raw;

    bool is_last; /* block */
    size_t stored_left;
    unsigned n_literal, n_distance, n_length, at; /* of a dynamic block's head */
    uint8_t lengths[N_LITERAL + 32];
    struct code literal, distance;

    struct crc32 crc_table;
    uint32_t crc, size; /* of the member so far, as far as given away */
    size_t out_len, out_sent;
    char out[OUT_MAX];
};

static step_fn read_head, read_extra_len, read_extra, read_text, read_head_crc, read_block,
    read_stored_len, read_stored, read_counts, read_length_codes, read_lengths, read_data,
    read_trailer, read_nothing;

static int fail(struct gunzip *z, const char *reason)
{
    z->reason = reason;
    return z->error = -EINVAL;
}

/* ---- bits ---- */

/* Holds as many bits as there are, at least 56 unless the input ends. */
static void refill(struct gunzip *z)
{
    if (z->n_bits > 56)
        return;
    if (z->in_end - z->in >= 8) {
        uint64_t next;
        memcpy(&next, z->in, sizeof next);
        /* The bits of a byte that does not fit are set once more with the whole byte. */
        z->hold |= le64toh(next) << z->n_bits;
        z->in += (63 - z->n_bits) >> 3;
        z->n_bits |= 56;
        return;
    }
    while (z->n_bits <= 56 && z->in < z->in_end) {
        z->hold |= (uint64_t)*z->in++ << z->n_bits;
        z->n_bits += 8;
    }
}

static void drop(struct gunzip *z, unsigned n)
{
    z->hold >>= n;
    z->n_bits -= n;
}

static unsigned peek(const struct gunzip *z, unsigned at, unsigned n)
{
    return (unsigned)(z->hold >> at) & ((1U << n) - 1);
}

/* Takes N bits, at most 16, to *ret. */
static int take_bits(struct gunzip *z, unsigned n, unsigned *ret)
{
    refill(z);
    if (z->n_bits < n)
        return MORE;
    *ret = peek(z, 0, n);
    drop(z, n);
    return GO;
}

/* ---- output ---- */

/* Gives away what is new and keeps the window. */
static int flush(struct gunzip *z)
{
    size_t n = z->out_len - z->out_sent;
    const char *p = z->out + z->out_sent;

    if (n > 0) {
        z->crc = crc32_add(&z->crc_table, z->crc, p, n);
        z->size += (uint32_t)n;
        int r = z->sink(z->ctx, p, n);
        if (r < 0)
            return z->error = r;
    }
    if (z->out_len > OUT_MAX / 2) {
        memmove(z->out, z->out + z->out_len - WINDOW, WINDOW);
        z->out_len = WINDOW;
    }
    z->out_sent = z->out_len;
    return GO;
}

/* Repeats LEN bytes from DISTANCE back; they may overlap what they make. */
static void copy(struct gunzip *z, size_t distance, size_t len)
{
    char *to = z->out + z->out_len;
    const char *from = to - distance;

    z->out_len += len;
    if (distance >= len) {
        memcpy(to, from, len);
        return;
    }
    while (len-- > 0)
        *to++ = *from++;
}

/* ---- codes ---- */

/* The symbol that the bits in HOLD begin with, and how many bits it has; -1 for none. */
static int decode(const struct code *c, uint64_t hold, unsigned *ret_len)
{
    unsigned entry = c->fast[hold & ((1U << FAST_BITS) - 1)];
    int code = 0, first = 0, index = 0;

    if (entry) {
        *ret_len = entry & 15;
        return (int)(entry >> 4);
    }
    for (unsigned len = 1; len <= CODE_BITS; len++) {
        int count = c->count[len];
        code |= (int)(hold & 1);
        hold >>= 1;
        if (code - count < first) {
            *ret_len = len;
            return c->symbols[index + code - first];
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    *ret_len = CODE_BITS;
    return -1;
}

static unsigned reversed(unsigned code, unsigned len)
{
    unsigned r = 0;

    for (; len > 0; len--, code >>= 1)
        r = r << 1 | (code & 1);
    return r;
}

static void fill_fast(struct code *c, const uint8_t *lengths, unsigned n)
{
    unsigned next[CODE_BITS + 2] = {0};

    for (unsigned len = 1; len <= CODE_BITS; len++)
        next[len + 1] = (next[len] + c->count[len]) << 1;
    memset(c->fast, 0, sizeof c->fast);
    for (unsigned i = 0; i < n; i++) {
        unsigned len = lengths[i];
        unsigned code = len ? next[len]++ : 0;
        if (len == 0 || len > FAST_BITS)
            continue;
        for (unsigned at = reversed(code, len); at < 1U << FAST_BITS; at += 1U << len)
            c->fast[at] = (uint16_t)(i << 4 | len);
    }
}

/* Makes a code of N lengths. False when they fit no code: too many, or too few; but a single one of
 * one bit, or none at all, is right when MAY_BE_SHORT. */
static bool make_code(struct code *c, const uint8_t *lengths, unsigned n, bool may_be_short)
{
    uint16_t offsets[CODE_BITS + 2] = {0};
    int left = 1;

    memset(c->count, 0, sizeof c->count);
    for (unsigned i = 0; i < n; i++)
        c->count[lengths[i]]++;
    bool is_empty = c->count[0] == n;
    bool is_single = c->count[0] + 1U == n && c->count[1] == 1;
    c->count[0] = 0;
    for (unsigned len = 1; len <= CODE_BITS; len++) {
        left = (left << 1) - c->count[len];
        if (left < 0)
            return false;
        offsets[len + 1] = (uint16_t)(offsets[len] + c->count[len]);
    }
    if (left > 0 && !(may_be_short && (is_single || is_empty)))
        return false;
    for (unsigned i = 0; i < n; i++)
        if (lengths[i])
            c->symbols[offsets[lengths[i]]++] = (uint16_t)i;
    fill_fast(c, lengths, n);
    return true;
}

static void make_fixed(struct gunzip *z)
{
    uint8_t lengths[N_LITERAL];

    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    (void)make_code(&z->literal, lengths, N_LITERAL, false);
    /* 30 and 31 would complete the code, but are never sent. */
    memset(lengths, 5, 32);
    (void)make_code(&z->distance, lengths, 32, false);
}

/* ---- the head of a member ---- */

/* The next byte of the head, which its check sum covers. */
static int head_byte(struct gunzip *z, uint8_t *ret)
{
    unsigned v = 0;

    if (take_bits(z, 8, &v) == MORE)
        return MORE;
    *ret = (uint8_t)v;
    z->head_crc = crc32_add(&z->crc_table, z->head_crc, ret, 1);
    return GO;
}

/* The first optional part of the head that was not read yet. */
static int next_field(struct gunzip *z)
{
    z->n_bytes = 0;
    if (z->flags & FLAG_EXTRA)
        z->step = read_extra_len;
    else if (z->flags & (FLAG_NAME | FLAG_COMMENT))
        z->step = read_text;
    else
        z->step = z->flags & FLAG_CRC ? read_head_crc : read_block;
    return GO;
}

static int read_head(struct gunzip *z)
{
    if (head_byte(z, &z->bytes[z->n_bytes]) == MORE)
        return MORE;
    if (++z->n_bytes < HEAD_LEN)
        return GO;
    if (z->bytes[0] != 0x1f || z->bytes[1] != 0x8b)
        return fail(z, "gzip: invalid header");
    if (z->bytes[2] != 8 || z->bytes[3] & FLAGS_UNKNOWN)
        return fail(z, "gzip: unknown method or flags");
    z->flags = z->bytes[3];
    return next_field(z);
}

static int read_extra_len(struct gunzip *z)
{
    if (head_byte(z, &z->bytes[z->n_bytes]) == MORE)
        return MORE;
    if (++z->n_bytes < 2)
        return GO;
    z->n_bytes = z->bytes[0] | (size_t)z->bytes[1] << 8;
    z->step = read_extra;
    return GO;
}

static int read_extra(struct gunzip *z)
{
    uint8_t byte;

    if (z->n_bytes == 0) {
        z->flags &= (uint8_t)~FLAG_EXTRA;
        return next_field(z);
    }
    if (head_byte(z, &byte) == MORE)
        return MORE;
    z->n_bytes--;
    return GO;
}

/* A name or a comment, which ends with a NUL. */
static int read_text(struct gunzip *z)
{
    uint8_t byte;

    if (head_byte(z, &byte) == MORE)
        return MORE;
    if (byte != 0)
        return GO;
    z->flags &= (uint8_t) ~(z->flags & FLAG_NAME ? FLAG_NAME : FLAG_COMMENT);
    return next_field(z);
}

static int read_head_crc(struct gunzip *z)
{
    unsigned v = 0;

    if (take_bits(z, 16, &v) == MORE)
        return MORE;
    if (v != (z->head_crc & 0xffff))
        return fail(z, "gzip: invalid header");
    z->step = read_block;
    return GO;
}

/* ---- blocks ---- */

static int read_block(struct gunzip *z)
{
    unsigned v = 0;

    if (take_bits(z, 3, &v) == MORE)
        return MORE;
    z->is_last = v & 1;
    switch (v >> 1) {
    case 0:
        drop(z, z->n_bits & 7);
        z->step = read_stored_len;
        return GO;
    case 1:
        make_fixed(z);
        z->step = read_data;
        return GO;
    case 2: z->step = read_counts; return GO;
    default: return fail(z, "deflate: unknown type of block");
    }
}

static int end_block(struct gunzip *z)
{
    z->step = read_block;
    if (z->is_last) {
        drop(z, z->n_bits & 7);
        z->n_bytes = 0;
        z->step = z->is_raw ? read_nothing : read_trailer;
    }
    return GO;
}

static int read_stored_len(struct gunzip *z)
{
    refill(z);
    if (z->n_bits < 32)
        return MORE;
    z->stored_left = peek(z, 0, 16);
    if ((z->stored_left ^ peek(z, 16, 16)) != 0xffff)
        return fail(z, "deflate: bad length of a stored block");
    drop(z, 32);
    z->step = read_stored;
    return GO;
}

static int read_stored(struct gunzip *z)
{
    /* Whole bytes are left of what was held. */
    while (z->n_bits > 0 && z->stored_left > 0 && z->out_len < OUT_MAX) {
        z->out[z->out_len++] = (char)peek(z, 0, 8);
        drop(z, 8);
        z->stored_left--;
    }
    if (z->n_bits == 0) {
        size_t n = (size_t)(z->in_end - z->in), room = OUT_MAX - z->out_len;
        z->hold = 0;
        n = n < z->stored_left ? n : z->stored_left;
        n = n < room ? n : room;
        memcpy(z->out + z->out_len, z->in, n);
        z->out_len += n;
        z->in += n;
        z->stored_left -= n;
    }
    if (z->stored_left == 0)
        return end_block(z);
    return z->out_len == OUT_MAX ? flush(z) : MORE;
}

static int read_counts(struct gunzip *z)
{
    unsigned v = 0;

    if (take_bits(z, 14, &v) == MORE)
        return MORE;
    z->n_literal = (v & 31) + 257;
    z->n_distance = (v >> 5 & 31) + 1;
    z->n_length = (v >> 10) + 4;
    if (z->n_literal > 286 || z->n_distance > N_DISTANCE)
        return fail(z, "deflate: too many codes");
    memset(z->lengths, 0, sizeof z->lengths);
    z->at = 0;
    z->step = read_length_codes;
    return GO;
}

static int read_length_codes(struct gunzip *z)
{
    static const uint8_t order[N_LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned v = 0;

    if (take_bits(z, 3, &v) == MORE)
        return MORE;
    z->lengths[order[z->at++]] = (uint8_t)v;
    if (z->at < z->n_length)
        return GO;
    /* For as long as the lengths are read, this code is in the place of the literals'. */
    if (!make_code(&z->literal, z->lengths, N_LENGTH_CODES, false))
        return fail(z, "deflate: bad code of lengths");
    memset(z->lengths, 0, sizeof z->lengths);
    z->at = 0;
    z->step = read_lengths;
    return GO;
}

static int end_lengths(struct gunzip *z)
{
    if (z->lengths[256] == 0)
        return fail(z, "deflate: a block without an end");
    if (!make_code(&z->literal, z->lengths, z->n_literal, true) ||
        !make_code(&z->distance, z->lengths + z->n_literal, z->n_distance, true))
        return fail(z, "deflate: bad code");
    z->step = read_data;
    return GO;
}

static int read_lengths(struct gunzip *z)
{
    static const struct {
        uint8_t bits, base;
    } repeats[] = {{2, 3}, {3, 3}, {7, 11}};
    unsigned total = z->n_literal + z->n_distance, n = 1, len;

    if (z->at == total)
        return end_lengths(z);
    refill(z);
    int symbol = decode(&z->literal, z->hold, &len);
    unsigned extra = symbol >= 16 ? repeats[symbol - 16].bits : 0;
    if (len + extra > z->n_bits)
        return MORE;
    if (symbol < 0 || (symbol == 16 && z->at == 0))
        return fail(z, "deflate: bad lengths");
    uint8_t value = (uint8_t)(symbol < 16 ? symbol : symbol == 16 ? z->lengths[z->at - 1] : 0);
    if (symbol >= 16)
        n = repeats[symbol - 16].base + peek(z, len, extra);
    if (n > total - z->at)
        return fail(z, "deflate: too many lengths");
    drop(z, len + extra);
    memset(z->lengths + z->at, value, n);
    z->at += n;
    return GO;
}

/* ---- compressed data ---- */

struct range {
    uint16_t base;
    uint8_t extra;
};

static const struct range length_ranges[] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1},  {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3},  {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0},
};
static const struct range distance_ranges[] = {
    {1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
    {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
    {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
    {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
    {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13},
};

/* A copy whose length has SYMBOL, of USED bits. */
static int read_copy(struct gunzip *z, unsigned symbol, unsigned used)
{
    unsigned len = 0;

    if (symbol >= sizeof length_ranges / sizeof length_ranges[0])
        return fail(z, "deflate: bad length");
    const struct range *length = &length_ranges[symbol];
    size_t n = length->base + peek(z, used, length->extra);
    used += length->extra;
    int d = used > z->n_bits ? -1 : decode(&z->distance, z->hold >> used, &len);
    if (used + len > z->n_bits)
        return MORE;
    if (d < 0 || d >= N_DISTANCE)
        return fail(z, "deflate: bad distance");
    used += len;
    const struct range *range = &distance_ranges[d];
    size_t distance = range->base + peek(z, used, range->extra);
    used += range->extra;
    if (used > z->n_bits)
        return MORE;
    if (distance > z->out_len)
        return fail(z, "deflate: a distance beyond the beginning");
    drop(z, used);
    copy(z, distance, n);
    return GO;
}

static int read_data(struct gunzip *z)
{
    for (;;) {
        unsigned len;
        int r;
        if (z->out_len > OUT_MAX - RUN_MAX && (r = flush(z)) < 0)
            return r;
        refill(z);
        int symbol = decode(&z->literal, z->hold, &len);
        if (len > z->n_bits)
            return MORE;
        if (symbol < 0)
            return fail(z, "deflate: bad code");
        if (symbol < 256) {
            drop(z, len);
            z->out[z->out_len++] = (char)symbol;
            continue;
        }
        if (symbol == 256) {
            drop(z, len);
            return end_block(z);
        }
        r = read_copy(z, (unsigned)symbol - 257, len);
        if (r != GO)
            return r;
    }
}

/* ---- the end of a member ---- */

static uint32_t number(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void begin_member(struct gunzip *z)
{
    z->step = read_head;
    z->n_bytes = 0;
    z->head_crc = z->crc = z->size = 0;
    z->out_len = z->out_sent = 0;
}

static int read_trailer(struct gunzip *z)
{
    unsigned v = 0;

    if (take_bits(z, 8, &v) == MORE)
        return MORE;
    z->bytes[z->n_bytes++] = (uint8_t)v;
    if (z->n_bytes < TRAILER_LEN)
        return GO;
    int r = flush(z);
    if (r < 0)
        return r;
    if (number(z->bytes) != z->crc || number(z->bytes + 4) != z->size)
        return fail(z, "gzip: invalid checksum");
    begin_member(z);
    z->has_member = true;
    return GO;
}

/* Behind the last block of deflated bytes without a trailer. */
static int read_nothing(struct gunzip *z)
{
    return z->n_bits > 0 || z->in < z->in_end ? fail(z, "deflate: data behind the end") : MORE;
}

/* ---- feeding ---- */

struct gunzip *gunzip_new(gunzip_sink *sink, void *ctx)
{
    struct gunzip *z = mem_alloc(sizeof *z);

    if (!z)
        return NULL;
    /* All but the output, whose pages are not touched before they are needed. */
    memset(z, 0, offsetof(struct gunzip, out));
    z->sink = sink;
    z->ctx = ctx;
    z->reason = "";
    crc32_init(&z->crc_table);
    begin_member(z);
    return z;
}

struct gunzip *gunzip_new_raw(gunzip_sink *sink, void *ctx)
{
    struct gunzip *z = gunzip_new(sink, ctx);

    if (z) {
        z->is_raw = true;
        z->step = read_block;
    }
    return z;
}

void gunzip_free(struct gunzip *z)
{
    free(z);
}

int gunzip_feed(struct gunzip *z, const void *p, size_t len)
{
    int r = z->error;

    z->in = p;
    z->in_end = z->in + len;
    while (r == GO)
        r = z->step(z);
    /* What was made of this input is given away with it. */
    return r == MORE ? flush(z) : r;
}

int gunzip_finish(struct gunzip *z)
{
    bool is_whole = z->is_raw ? z->step == read_nothing
                              : z->has_member && z->step == read_head && z->n_bytes == 0;

    if (z->error == 0 && !is_whole)
        return fail(z, "unexpected EOF");
    return z->error;
}

const char *gunzip_reason(const struct gunzip *z)
{
    return z->reason;
}
