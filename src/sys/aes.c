/* SPDX-License-Identifier: MIT */
#include "sys/aes.h"

#include <pthread.h>
#include <string.h>

enum { ROUNDS = 14, KEY_WORDS = AES_KEY / 4 };

/* The substitution and its reverse, computed when first needed (FIPS 197, 5.1.1). */
static uint8_t forth[256], back[256];

static uint8_t twice(uint8_t x)
{
    return (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1b : 0));
}

static uint8_t times(uint8_t x, uint8_t y)
{
    uint8_t r = 0;

    for (; y; y >>= 1, x = twice(x))
        r ^= y & 1 ? x : 0;
    return r;
}

static uint8_t rol8(uint8_t x, unsigned n)
{
    return (uint8_t)(x << n | x >> (8 - n));
}

/* P runs through all values but 0, Q through their inverses. */
static void make_tables(void)
{
    uint8_t p = 1, q = 1;

    do {
        p = (uint8_t)(p ^ twice(p));
        q ^= (uint8_t)(q << 1);
        q ^= (uint8_t)(q << 2);
        q ^= (uint8_t)(q << 4);
        q ^= q & 0x80 ? 0x09 : 0;
        forth[p] = (uint8_t)(q ^ rol8(q, 1) ^ rol8(q, 2) ^ rol8(q, 3) ^ rol8(q, 4) ^ 0x63);
    } while (p != 1);
    forth[0] = 0x63;
    for (int i = 0; i < 256; i++)
        back[forth[i]] = (uint8_t)i;
}

void aes_init(struct aes *a, const uint8_t key[AES_KEY])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint8_t *w = a->keys[0], round = 1;

    (void)pthread_once(&once, make_tables);
    memcpy(w, key, AES_KEY);
    for (unsigned i = KEY_WORDS; i < 4 * (ROUNDS + 1); i++) {
        uint8_t t[4];
        memcpy(t, w + (i - 1) * 4, 4);
        if (i % KEY_WORDS == 0) {
            uint8_t first = t[0];
            t[0] = forth[t[1]] ^ round;
            t[1] = forth[t[2]];
            t[2] = forth[t[3]];
            t[3] = forth[first];
            round = twice(round);
        } else if (i % KEY_WORDS == 4) {
            for (int k = 0; k < 4; k++)
                t[k] = forth[t[k]];
        }
        for (unsigned k = 0; k < 4; k++)
            w[i * 4 + k] = w[(i - KEY_WORDS) * 4 + k] ^ t[k];
    }
}

static void mix_key(uint8_t *s, const uint8_t *key)
{
    for (int i = 0; i < AES_BLOCK; i++)
        s[i] ^= key[i];
}

/* Substitutes each byte and turns the rows: to the left, or back to the right. */
static void shift(uint8_t *s, const uint8_t *table, int direction)
{
    uint8_t old[AES_BLOCK];

    memcpy(old, s, sizeof old);
    for (int row = 0; row < 4; row++) {
        for (int column = 0; column < 4; column++)
            s[column * 4 + row] = table[old[((column + direction * row + 4) % 4) * 4 + row]];
    }
}

static void mix_columns(uint8_t *s, const uint8_t factors[4])
{
    for (int c = 0; c < 4; c++) {
        uint8_t old[4];
        memcpy(old, s + c * 4, 4);
        for (int i = 0; i < 4; i++) {
            uint8_t v = 0;
            for (int k = 0; k < 4; k++)
                v ^= times(old[(i + k) % 4], factors[k]);
            s[c * 4 + i] = v;
        }
    }
}

static void encrypt(const struct aes *a, uint8_t *s)
{
    static const uint8_t factors[] = {2, 3, 1, 1};

    mix_key(s, a->keys[0]);
    for (int i = 1; i <= ROUNDS; i++) {
        shift(s, forth, 1);
        if (i < ROUNDS)
            mix_columns(s, factors);
        mix_key(s, a->keys[i]);
    }
}

static void decrypt(const struct aes *a, uint8_t *s)
{
    static const uint8_t factors[] = {14, 11, 13, 9};

    mix_key(s, a->keys[ROUNDS]);
    for (int i = ROUNDS - 1; i >= 0; i--) {
        shift(s, back, -1);
        mix_key(s, a->keys[i]);
        if (i > 0)
            mix_columns(s, factors);
    }
}

void aes_cbc_encrypt(const struct aes *a, const uint8_t iv[AES_BLOCK], const uint8_t *in,
                     uint8_t *out, size_t len)
{
    uint8_t last[AES_BLOCK];

    memcpy(last, iv, sizeof last);
    for (size_t i = 0; i + AES_BLOCK <= len; i += AES_BLOCK) {
        mix_key(last, in + i);
        encrypt(a, last);
        memcpy(out + i, last, sizeof last);
    }
}

void aes_cbc_decrypt(const struct aes *a, const uint8_t iv[AES_BLOCK], const uint8_t *in,
                     uint8_t *out, size_t len)
{
    uint8_t last[AES_BLOCK], next[AES_BLOCK], s[AES_BLOCK];

    memcpy(last, iv, sizeof last);
    for (size_t i = 0; i + AES_BLOCK <= len; i += AES_BLOCK) {
        memcpy(next, in + i, sizeof next);
        memcpy(s, next, sizeof s);
        decrypt(a, s);
        mix_key(s, last);
        memcpy(out + i, s, sizeof s);
        memcpy(last, next, sizeof last);
    }
}
