/* SPDX-License-Identifier: MIT */
/* Message digests. The program uses OpenSSL's (SHA extensions of the CPU). */
#pragma once

#include <stddef.h>

#include "base/str.h"

#define DIGEST_SHA1_LEN   20
#define DIGEST_SHA256_LEN 32

void digest_sha1(unsigned char out[DIGEST_SHA1_LEN], struct str data);
void digest_sha256(unsigned char out[DIGEST_SHA256_LEN], struct str data);
/* SHA-256 over the parts one after another. */
void digest_sha256_parts(unsigned char out[DIGEST_SHA256_LEN], const struct str *parts, size_t n);
void digest_hmac_sha256(unsigned char out[DIGEST_SHA256_LEN], struct str key, struct str data);
