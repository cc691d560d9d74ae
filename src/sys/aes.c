/* SPDX-License-Identifier: MIT */
/* AES by libcrypto's low-level functions, for the reason given in digest.c. */
#include "sys/aes.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <assert.h>
#include <openssl/aes.h>
#include <string.h>

#include "base/mem.h"

enum { KEY_BITS = AES_KEY_LEN * 8 };

void aes_init(struct aes *a, const uint8_t key[AES_KEY_LEN])
{
    memcpy(a->key, key, AES_KEY_LEN);
}

void aes_cbc_encrypt(const struct aes *a, const uint8_t iv[AES_BLOCK], const uint8_t *in,
                     uint8_t *out, size_t len)
{
    uint8_t chain[AES_BLOCK];
    AES_KEY key;

    assert(len % AES_BLOCK == 0);
    memcpy(chain, iv, sizeof chain); /* the library leaves the last block there */
    (void)AES_set_encrypt_key(a->key, KEY_BITS, &key);
    AES_cbc_encrypt(in, out, len, &key, chain, AES_ENCRYPT);
    mem_wipe(&key, sizeof key);
}

void aes_cbc_decrypt(const struct aes *a, const uint8_t iv[AES_BLOCK], const uint8_t *in,
                     uint8_t *out, size_t len)
{
    uint8_t chain[AES_BLOCK];
    AES_KEY key;

    assert(len % AES_BLOCK == 0);
    memcpy(chain, iv, sizeof chain);
    (void)AES_set_decrypt_key(a->key, KEY_BITS, &key);
    AES_cbc_encrypt(in, out, len, &key, chain, AES_DECRYPT);
    mem_wipe(&key, sizeof key);
}
