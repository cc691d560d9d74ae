/* SPDX-License-Identifier: MIT */
/* Message digests without a library, for the static program that runs cells: FIPS 180-4 and
 * RFC 2104. See digest.h. Plain, not fast: the program hashes handshakes and small texts. */
#include <stdint.h>

#include "base/mem.h"
#include "sys/digest.h"

enum { BLOCK = 64, LEN_AT = 56, WORDS_MAX = 8 };

struct sha {
    void (*compress)(uint32_t *h, const unsigned char *block);
    uint32_t h[WORDS_MAX];
    uint64_t total;
    size_t used; /* of block */
    unsigned char block[BLOCK];
};

static uint32_t rol(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t ror(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put32(unsigned char *p, uint32_t v)
{
    p[0] = (unsigned char)(v >> 24);
    p[1] = (unsigned char)(v >> 16);
    p[2] = (unsigned char)(v >> 8);
    p[3] = (unsigned char)v;
}

/* ---- SHA-1 ---- */

static const uint32_t sha1_start[] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

static uint32_t sha1_round(int t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20)
        return ((b & c) | (~b & d)) + 0x5a827999;
    if (t < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (t < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

static void sha1_compress(uint32_t *h, const unsigned char *block)
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

    for (int t = 0; t < 16; t++)
        w[t] = get32(block + 4 * t);
    for (int t = 16; t < 80; t++)
        w[t] = rol(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        uint32_t next = rol(a, 5) + sha1_round(t, b, c, d) + e + w[t];
        e = d;
        d = c;
        c = rol(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

/* ---- SHA-256 ---- */

static const uint32_t sha256_start[] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static void sha256_compress(uint32_t *h, const unsigned char *block)
{
    uint32_t w[64], s[8];

    for (int t = 0; t < 16; t++)
        w[t] = get32(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + w[t - 7] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) +
               (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
    }
    for (int i = 0; i < 8; i++)
        s[i] = h[i];
    for (int t = 0; t < 64; t++) {
        uint32_t one = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_k[t] + w[t];
        uint32_t two = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int i = 7; i > 0; i--)
            s[i] = s[i - 1];
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

/* ---- any of them ---- */

static struct sha sha1_new(void)
{
    struct sha s = {.compress = sha1_compress};

    memcpy(s.h, sha1_start, sizeof sha1_start);
    return s;
}

static struct sha sha256_new(void)
{
    struct sha s = {.compress = sha256_compress};

    memcpy(s.h, sha256_start, sizeof sha256_start);
    return s;
}

static void sha_add(struct sha *s, struct str data)
{
    s->total += data.len;
    while (data.len > 0) {
        size_t n = BLOCK - s->used < data.len ? BLOCK - s->used : data.len;
        memcpy(s->block + s->used, data.p, n);
        s->used += n;
        data = str_skip(data, n);
        if (s->used < BLOCK)
            return;
        s->compress(s->h, s->block);
        s->used = 0;
    }
}

static void sha_end(struct sha *s, unsigned char *out, size_t len)
{
    uint64_t bits = s->total * 8;

    sha_add(s, STR("\x80"));
    while (s->used != LEN_AT)
        sha_add(s, str_n("", 1));
    put32(s->block + LEN_AT, (uint32_t)(bits >> 32));
    put32(s->block + LEN_AT + 4, (uint32_t)bits);
    s->compress(s->h, s->block);
    for (size_t i = 0; i < len / 4; i++)
        put32(out + 4 * i, s->h[i]);
    mem_wipe(s, sizeof *s);
}

void digest_sha1(unsigned char out[DIGEST_SHA1_LEN], struct str data)
{
    struct sha s = sha1_new();

    sha_add(&s, data);
    sha_end(&s, out, DIGEST_SHA1_LEN);
}

void digest_sha256_parts(unsigned char out[DIGEST_SHA256_LEN], const struct str *parts, size_t n)
{
    struct sha s = sha256_new();

    for (size_t i = 0; i < n; i++)
        sha_add(&s, parts[i]);
    sha_end(&s, out, DIGEST_SHA256_LEN);
}

void digest_sha256(unsigned char out[DIGEST_SHA256_LEN], struct str data)
{
    digest_sha256_parts(out, &data, 1);
}

void digest_hmac_sha256(unsigned char out[DIGEST_SHA256_LEN], struct str key, struct str data)
{
    unsigned char inner[BLOCK] = {0}, outer[BLOCK] = {0}, hash[DIGEST_SHA256_LEN];

    if (key.len > BLOCK)
        digest_sha256(inner, key);
    else if (key.len > 0)
        memcpy(inner, key.p, key.len);
    for (int i = 0; i < BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    digest_sha256_parts(hash, (struct str[]){str_n((char *)inner, BLOCK), data}, 2);
    digest_sha256_parts(
        out, (struct str[]){str_n((char *)outer, BLOCK), str_n((char *)hash, sizeof hash)}, 2);
    mem_wipe(inner, sizeof inner);
    mem_wipe(outer, sizeof outer);
}
