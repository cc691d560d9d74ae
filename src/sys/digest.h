/* SPDX-License-Identifier: MIT */
/* Message digests by OpenSSL's libcrypto, which uses the SHA instructions of the CPU. */
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

/* ---- only in the service (digest_evp.c) ---- */

/* SHA-256 of what comes piece by piece. */
struct digest;
struct digest *digest_new(void); /* NULL without memory */
void digest_free(struct digest *d);
void digest_add(struct digest *d, const void *p, size_t len);
/* The digest of all that was added; D starts again. */
void digest_end(struct digest *d, unsigned char out[DIGEST_SHA256_LEN]);
