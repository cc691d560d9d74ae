/* SPDX-License-Identifier: MIT */
/* Text encodings of bytes: hex, base64, percent-encoding. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/* Writes 2 * LEN lowercase digits and a NUL. */
void enc_hex(char *out, const void *p, size_t len);
/* Decodes S (either case) into exactly LEN bytes: 0 or -EINVAL. */
int enc_unhex(void *out, size_t len, struct str s);
/* The value of a hex digit, or -1. */
int enc_hex_digit(char c);

/* Appends base64 of S, with padding / URL alphabet without padding. Returns as buf_add(). */
int enc_base64(struct buf *out, struct str s);
int enc_base64url(struct buf *out, struct str s);
/* Appends the bytes that S encodes (either alphabet, padding optional). -EINVAL when malformed. */
int enc_unbase64(struct buf *out, struct str s);

/* Appends S with everything but RFC 3986 unreserved characters percent-encoded. */
int enc_percent(struct buf *out, struct str s);
/* Appends S decoded; '+' becomes a space when PLUS. -EINVAL on a bad escape. */
int enc_unpercent(struct buf *out, struct str s, bool plus);
