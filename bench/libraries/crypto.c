/* SPDX-License-Identifier: MIT */
/* SHA-1, SHA-256, SHA-512 and AES-256 CBC as tidepool-envd and tidepool-local have them, beside EVP
 * of OpenSSL (as the service has them) and nettle. */
#include "crypto.h"

#include <string.h>

#include "base/cleanup.h"
#include "bench.h"
#include "sys/aes.h"
#include "sys/digest.h"
#include "sys/sha512.h"

static struct str bytes_of(const struct crypto_work *w)
{
    return str_n((const char *)w->p, w->size);
}

static size_t sha1_ours(void *ctx)
{
    struct crypto_work *w = ctx;

    digest_sha1(w->out, bytes_of(w));
    return w->out[0];
}

static size_t sha256_ours(void *ctx)
{
    struct crypto_work *w = ctx;

    digest_sha256(w->out, bytes_of(w));
    return w->out[0];
}

static size_t sha512_ours(void *ctx)
{
    struct crypto_work *w = ctx;

    sha512_of(w->out, bytes_of(w), STR(""));
    return w->out[0];
}

static size_t spin_ours(void *ctx)
{
    struct crypto_work *w = ctx;
    char number[4] = {0};

    memset(w->out, 0, SHA512_LEN);
    for (int i = 0; i < CRYPTO_SPINS; i++) {
        memcpy(number, &i, sizeof number);
        sha512_of(w->out, str_n(number, sizeof number), str_n((char *)w->out, SHA512_LEN));
    }
    return w->out[0];
}

static size_t encrypt_ours(void *ctx)
{
    struct crypto_work *w = ctx;
    struct aes a;

    aes_init(&a, w->p);
    aes_cbc_encrypt(&a, w->p, w->p, w->out, w->size);
    return w->out[w->size - 1];
}

static size_t decrypt_ours(void *ctx)
{
    struct crypto_work *w = ctx;
    struct aes a;

    aes_init(&a, w->p);
    aes_cbc_decrypt(&a, w->p, w->p, w->out, w->size);
    return w->out[w->size - 1];
}

static const struct crypto_side ours = {sha1_ours, sha256_ours,  sha512_ours,
                                        spin_ours, encrypt_ours, decrypt_ours};

int main(void)
{
    enum { SIZE = 4 << 20 };
    struct crypto_work w = {malloc(SIZE), SIZE, malloc(SIZE)};
    unsigned seed = 1;

    bench_must(w.p && w.out, "memory");
    for (size_t i = 0; i < SIZE; i++)
        ((uint8_t *)(uintptr_t)w.p)[i] = (uint8_t)bench_random(&seed);
#define COMPARE(what, field, size)                                                                 \
    do {                                                                                           \
        const struct bench_side sides[] = {                                                        \
            {"ours", ours.field}, {"EVP", crypto_evp.field}, {"nettle", crypto_nettle.field}};     \
        bench_compare(what, size, sides, ARRAY_LEN(sides), &w);                                    \
    } while (0)
    COMPARE("SHA-1", sha1, SIZE);
    COMPARE("SHA-256", sha256, SIZE);
    COMPARE("SHA-512", sha512, SIZE);
    COMPARE("SHA-512, 10000 short", spin, 0);
    COMPARE("AES-256 CBC encrypt", encrypt, SIZE);
    COMPARE("AES-256 CBC decrypt", decrypt, SIZE);
    return 0;
}
