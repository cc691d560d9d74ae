/* SPDX-License-Identifier: MIT */
/* nettle's side of the benchmark of digests and ciphers. */
#include <nettle/aes.h>
#include <nettle/cbc.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <string.h>

#include "bench.h"
#include "crypto.h"

static size_t sha1_nettle(void *ctx)
{
    struct crypto_work *w = ctx;
    struct sha1_ctx c;

    sha1_init(&c);
    sha1_update(&c, w->size, w->p);
    sha1_digest(&c, SHA1_DIGEST_SIZE, w->out);
    return w->out[0];
}

static size_t sha256_nettle(void *ctx)
{
    struct crypto_work *w = ctx;
    struct sha256_ctx c;

    sha256_init(&c);
    sha256_update(&c, w->size, w->p);
    sha256_digest(&c, SHA256_DIGEST_SIZE, w->out);
    return w->out[0];
}

static size_t sha512_nettle(void *ctx)
{
    struct crypto_work *w = ctx;
    struct sha512_ctx c;

    sha512_init(&c);
    sha512_update(&c, w->size, w->p);
    sha512_digest(&c, SHA512_DIGEST_SIZE, w->out);
    return w->out[0];
}

static size_t spin_nettle(void *ctx)
{
    struct crypto_work *w = ctx;
    struct sha512_ctx c;

    memset(w->out, 0, SHA512_DIGEST_SIZE);
    for (int i = 0; i < CRYPTO_SPINS; i++) {
        sha512_init(&c);
        sha512_update(&c, 4, (const uint8_t *)&i);
        sha512_update(&c, SHA512_DIGEST_SIZE, w->out);
        sha512_digest(&c, SHA512_DIGEST_SIZE, w->out);
    }
    return w->out[0];
}

static size_t encrypt_nettle(void *ctx)
{
    struct crypto_work *w = ctx;
    struct CBC_CTX(struct aes256_ctx, AES_BLOCK_SIZE) c;

    aes256_set_encrypt_key(&c.ctx, w->p);
    CBC_SET_IV(&c, w->p);
    cbc_encrypt(&c.ctx, (nettle_cipher_func *)aes256_encrypt, AES_BLOCK_SIZE, c.iv, w->size, w->out,
                w->p);
    return w->out[w->size - 1];
}

static size_t decrypt_nettle(void *ctx)
{
    struct crypto_work *w = ctx;
    struct CBC_CTX(struct aes256_ctx, AES_BLOCK_SIZE) c;

    aes256_set_decrypt_key(&c.ctx, w->p);
    CBC_SET_IV(&c, w->p);
    cbc_decrypt(&c.ctx, (nettle_cipher_func *)aes256_decrypt, AES_BLOCK_SIZE, c.iv, w->size, w->out,
                w->p);
    return w->out[w->size - 1];
}

const struct crypto_side crypto_nettle = {sha1_nettle, sha256_nettle,  sha512_nettle,
                                          spin_nettle, encrypt_nettle, decrypt_nettle};
