/* SPDX-License-Identifier: MIT */
/* AES-256 in the mode CBC by libcrypto (FIPS 197, NIST SP 800-38A): for the encryption of office
 * files. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { AES_KEY_LEN = 32, AES_BLOCK = 16 };

struct aes {
    uint8_t key[AES_KEY_LEN];
};

void aes_init(struct aes *a, const uint8_t key[AES_KEY_LEN]);
/* LEN is a multiple of AES_BLOCK; IN and OUT may be the same. */
void aes_cbc_encrypt(const struct aes *a, const uint8_t iv[AES_BLOCK], const uint8_t *in,
                     uint8_t *out, size_t len);
void aes_cbc_decrypt(const struct aes *a, const uint8_t iv[AES_BLOCK], const uint8_t *in,
                     uint8_t *out, size_t len);
