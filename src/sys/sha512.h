/* SPDX-License-Identifier: MIT */
/* SHA-512 by libcrypto, and HMAC with it (RFC 2104): for the encryption of office files. */
#pragma once

#include "base/str.h"

enum { SHA512_LEN = 64, SHA512_BLOCK = 128 };

/* Of A and then B. */
void sha512_of(unsigned char out[SHA512_LEN], struct str a, struct str b);
void sha512_hmac(unsigned char out[SHA512_LEN], struct str key, struct str data);
