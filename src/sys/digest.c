/* SPDX-License-Identifier: MIT */
/* Message digests by libcrypto's low-level functions, which OpenSSL 3 calls deprecated in favour of
 * EVP. EVP finds algorithms at run time: that pulls 3 MB of the library into a static program,
 * parts of which need glibc, and takes longer than a short message. These are in each program alike
 * (docs/adr/0027), use the SHA instructions of the CPU, and cannot fail. */
#include "sys/digest.h"

#include <string.h>

#include "base/mem.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

void digest_sha1(unsigned char out[DIGEST_SHA1_LEN], struct str data)
{
    SHA_CTX c;

    (void)SHA1_Init(&c);
    (void)SHA1_Update(&c, data.p, data.len);
    (void)SHA1_Final(out, &c);
}

void digest_sha256(unsigned char out[DIGEST_SHA256_LEN], struct str data)
{
    digest_sha256_parts(out, &data, 1);
}

void digest_sha256_parts(unsigned char out[DIGEST_SHA256_LEN], const struct str *parts, size_t n)
{
    SHA256_CTX c;

    (void)SHA256_Init(&c);
    for (size_t i = 0; i < n; i++)
        (void)SHA256_Update(&c, parts[i].p, parts[i].len);
    (void)SHA256_Final(out, &c);
}

/* RFC 2104. */
void digest_hmac_sha256(unsigned char out[DIGEST_SHA256_LEN], struct str key, struct str data)
{
    enum { BLOCK = 64, INNER = 0x36, OUTER = 0x5c };
    unsigned char own[BLOCK] = {0}, inner[BLOCK], outer[BLOCK], middle[DIGEST_SHA256_LEN];

    if (key.len > BLOCK)
        digest_sha256(own, key);
    else if (key.len > 0)
        memcpy(own, key.p, key.len);
    for (size_t i = 0; i < BLOCK; i++) {
        inner[i] = own[i] ^ INNER;
        outer[i] = own[i] ^ OUTER;
    }
    const struct str first[] = {str_n((const char *)inner, BLOCK), data};
    digest_sha256_parts(middle, first, 2);
    const struct str second[] = {str_n((const char *)outer, BLOCK),
                                 str_n((const char *)middle, sizeof middle)};
    digest_sha256_parts(out, second, 2);
    mem_wipe(own, sizeof own);
    mem_wipe(inner, sizeof inner);
    mem_wipe(outer, sizeof outer);
}
