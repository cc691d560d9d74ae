/* SPDX-License-Identifier: MIT */
/* OpenSSL's side of the benchmark of digests and ciphers. */
#include <openssl/evp.h>
#include <string.h>

#include "bench.h"
#include "crypto.h"

static size_t digest_of(struct crypto_work *w, const EVP_MD *md)
{
    bench_must(EVP_Digest(w->p, w->size, w->out, NULL, md, NULL), "EVP_Digest");
    return w->out[0];
}

static size_t sha1_evp(void *ctx)
{
    return digest_of(ctx, EVP_sha1());
}

static size_t sha256_evp(void *ctx)
{
    return digest_of(ctx, EVP_sha256());
}

static size_t sha512_evp(void *ctx)
{
    return digest_of(ctx, EVP_sha512());
}

static size_t spin_evp(void *ctx)
{
    struct crypto_work *w = ctx;
    EVP_MD_CTX *c = EVP_MD_CTX_new();

    memset(w->out, 0, 64);
    for (int i = 0; i < CRYPTO_SPINS; i++)
        bench_must(EVP_DigestInit_ex(c, EVP_sha512(), NULL) && EVP_DigestUpdate(c, &i, 4) &&
                       EVP_DigestUpdate(c, w->out, 64) && EVP_DigestFinal_ex(c, w->out, NULL),
                   "EVP");
    EVP_MD_CTX_free(c);
    return w->out[0];
}

static size_t crypt_evp(struct crypto_work *w, int is_encryption)
{
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    int n = 0;

    bench_must(EVP_CipherInit_ex(c, EVP_aes_256_cbc(), NULL, w->p, w->p, is_encryption) &&
                   EVP_CIPHER_CTX_set_padding(c, 0) &&
                   EVP_CipherUpdate(c, w->out, &n, w->p, (int)w->size),
               "EVP_Cipher");
    EVP_CIPHER_CTX_free(c);
    return w->out[w->size - 1];
}

static size_t encrypt_evp(void *ctx)
{
    return crypt_evp(ctx, 1);
}

static size_t decrypt_evp(void *ctx)
{
    return crypt_evp(ctx, 0);
}

const struct crypto_side crypto_evp = {sha1_evp, sha256_evp,  sha512_evp,
                                       spin_evp, encrypt_evp, decrypt_evp};
