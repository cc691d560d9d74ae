/* SPDX-License-Identifier: MIT */
/* SHA-512 and HMAC with it, without a library (FIPS 180-4, RFC 2104): for the encryption of office
 * files in the static program. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { SHA512_LEN = 64, SHA512_BLOCK = 128 };

struct sha512 {
    uint64_t h[8], total;
    size_t used;
    unsigned char block[SHA512_BLOCK];
};

void sha512_init(struct sha512 *s);
void sha512_add(struct sha512 *s, const void *p, size_t len);
void sha512_end(struct sha512 *s, unsigned char out[SHA512_LEN]);
/* Of A and then B. */
void sha512_of(unsigned char out[SHA512_LEN], struct str a, struct str b);
void sha512_hmac(unsigned char out[SHA512_LEN], struct str key, struct str data);
