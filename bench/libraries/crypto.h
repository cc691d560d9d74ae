/* SPDX-License-Identifier: MIT */
/* The sides of the benchmark of digests and ciphers. Each: SIZE bytes at P, the result at OUT. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CRYPTO_KEY = 32, CRYPTO_IV = 16 };

struct crypto_work {
    const uint8_t *p;
    size_t size;
    uint8_t *out;
};

struct crypto_side {
    size_t (*sha1)(void *work), (*sha256)(void *work), (*sha512)(void *work);
    size_t (*spin)(void *work);    /* SHA-512 of a digest and four bytes, 10,000 times */
    size_t (*encrypt)(void *work); /* AES-256 CBC */
    size_t (*decrypt)(void *work);
};

enum { CRYPTO_SPINS = 10000 };

extern const struct crypto_side crypto_evp, crypto_nettle;
