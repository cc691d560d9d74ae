/* SPDX-License-Identifier: MIT */
/* Message digests by OpenSSL: see digest.h. The digests used here cannot fail on valid input; if
 * the library cannot provide them (a broken provider configuration) no caller could go on safely.
 */
#include "sys/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

static void must(int ok)
{
    if (!ok)
        abort();
}

static const void *bytes(struct str s)
{
    return s.p ? s.p : "";
}

void digest_sha1(unsigned char out[DIGEST_SHA1_LEN], struct str data)
{
    must(EVP_Digest(bytes(data), data.len, out, NULL, EVP_sha1(), NULL));
}

void digest_sha256(unsigned char out[DIGEST_SHA256_LEN], struct str data)
{
    must(EVP_Digest(bytes(data), data.len, out, NULL, EVP_sha256(), NULL));
}

void digest_sha256_parts(unsigned char out[DIGEST_SHA256_LEN], const struct str *parts, size_t n)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    must(ctx != NULL);
    must(EVP_DigestInit_ex(ctx, EVP_sha256(), NULL));
    for (size_t i = 0; i < n; i++)
        must(EVP_DigestUpdate(ctx, bytes(parts[i]), parts[i].len));
    must(EVP_DigestFinal_ex(ctx, out, NULL));
    EVP_MD_CTX_free(ctx);
}

void digest_hmac_sha256(unsigned char out[DIGEST_SHA256_LEN], struct str key, struct str data)
{
    must(HMAC(EVP_sha256(), bytes(key), (int)key.len, bytes(data), data.len, out, NULL) != NULL);
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
