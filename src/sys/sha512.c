/* SPDX-License-Identifier: MIT */
/* SHA-512 by libcrypto's low-level functions, for the reason given in digest.c. HMAC is the
 * library's only together with all of EVP, so that its two lines are written out here. */
#include "sys/sha512.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <string.h>

#include "base/mem.h"

void sha512_of(unsigned char out[SHA512_LEN], struct str a, struct str b)
{
    SHA512_CTX c;

    (void)SHA512_Init(&c);
    (void)SHA512_Update(&c, a.p, a.len);
    (void)SHA512_Update(&c, b.p, b.len);
    (void)SHA512_Final(out, &c); /* wipes C */
}

void sha512_hmac(unsigned char out[SHA512_LEN], struct str key, struct str data)
{
    unsigned char inner[SHA512_BLOCK] = {0}, outer[SHA512_BLOCK];

    if (key.len > sizeof inner)
        sha512_of(inner, key, STR(""));
    else if (key.len > 0)
        memcpy(inner, key.p, key.len);
    for (size_t i = 0; i < sizeof inner; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    sha512_of(out, str_n((const char *)inner, sizeof inner), data);
    sha512_of(out, str_n((const char *)outer, sizeof outer), str_n((const char *)out, SHA512_LEN));
    mem_wipe(inner, sizeof inner);
    mem_wipe(outer, sizeof outer);
}
