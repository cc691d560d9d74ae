/* SPDX-License-Identifier: MIT */
/* gzip decompression (RFC 1951, RFC 1952) by zlib as a stream: compressed bytes in, split anywhere;
 * plain bytes out to a callback. Strict: every check sum, length and code is checked, several
 * members in a row are one stream, and nothing else may follow. A decoder takes about 110 KiB. */
#pragma once

#include <stddef.h>

struct gunzip;

/* Gets the next plain bytes. 0, or a negative number, which ends the work and is passed on. */
typedef int gunzip_sink(void *ctx, const char *p, size_t len);

/* A decoder, or NULL when memory ran out. */
struct gunzip *gunzip_new(gunzip_sink *sink, void *ctx);
/* The same for deflated bytes alone, without head, check sum and further members, as in ZIP. */
struct gunzip *gunzip_new_raw(gunzip_sink *sink, void *ctx);
void gunzip_free(struct gunzip *g);

/* Takes the next bytes: 0, -EINVAL when they are not gzip, -ENOMEM, or what the sink returned.
 * After a failure every further call returns the same. */
int gunzip_feed(struct gunzip *g, const void *bytes, size_t len);
/* The input is complete: 0 when it ended behind a whole member, else as gunzip_feed(). */
int gunzip_finish(struct gunzip *g);
/* What was wrong, in words for the client; "" when the sink or memory failed or nothing did. */
const char *gunzip_reason(const struct gunzip *g);
