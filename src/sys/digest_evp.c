/* SPDX-License-Identifier: MIT */
/* The digests that only the service needs, by OpenSSL's EVP: see digest.h. They cannot fail on
 * valid input; if the library cannot provide them (a broken provider configuration) no caller could
 * go on safely. */
#include <openssl/evp.h>
#include <stdlib.h>

#include "sys/digest.h"

static void must(int ok)
{
    if (!ok)
        abort();
}

/* ---- piece by piece ---- */

struct digest *digest_new(void)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    if (ctx)
        must(EVP_DigestInit_ex(ctx, EVP_sha256(), NULL));
    return (struct digest *)ctx;
}

void digest_free(struct digest *d)
{
    EVP_MD_CTX_free((EVP_MD_CTX *)d);
}

void digest_add(struct digest *d, const void *p, size_t len)
{
    must(EVP_DigestUpdate((EVP_MD_CTX *)d, p, len));
}

void digest_end(struct digest *d, unsigned char out[DIGEST_SHA256_LEN])
{
    must(EVP_DigestFinal_ex((EVP_MD_CTX *)d, out, NULL));
    must(EVP_DigestInit_ex((EVP_MD_CTX *)d, EVP_sha256(), NULL));
}
