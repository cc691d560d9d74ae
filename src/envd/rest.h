/* SPDX-License-Identifier: MIT */
/* What the E2B file service makes of headers and queries, without a request: signatures, encodings,
 * names and types of files, metadata. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "net/http.h"

/* ---- signatures ---- */

/* What a signature covers. Strings as the query has them, decoded; absent ones are empty. */
struct rest_signed {
    struct str path, operation, username, token;
    struct str expiration; /* decimal seconds since 1970; .p NULL: for ever */
};

/* "v1_" and base64 of SHA-256, without padding, and a NUL. */
#define REST_SIGNATURE_MAX 48
void rest_sign(char out[REST_SIGNATURE_MAX], const struct rest_signed *s);
/* NULL when SIGNATURE (.p NULL: absent) is right at NOW_S; else why not, in the protocol's words.
 */
const char *rest_check_signature(const struct rest_signed *s, struct str signature, int64_t now_s);

/* ---- headers ---- */

enum rest_encoding { REST_IDENTITY, REST_GZIP, REST_NO_ENCODING };
/* What may be answered to an Accept-Encoding of VALUE (.p NULL: absent): plain whenever that is
 * allowed. */
enum rest_encoding rest_accept_encoding(struct str value);
/* True when it names gzip as welcome. */
bool rest_accepts_gzip(struct str value);

/* Appends "inline; filename=…" for a file NAME, whatever bytes it holds. */
int rest_put_disposition(struct buf *out, struct str name);

/* The type of a file NAME that begins with HEAD. */
const char *rest_media_type(struct str name, struct str head);

/* ---- metadata ---- */

struct rest_meta {
    struct rest_meta *next;
    const char *key; /* lower case */
    struct str value;
};

/* The X-Metadata-* headers of H, in A. 0, or -EINVAL with E filled in the protocol's words. */
int rest_read_meta(struct arena *a, const struct http_headers *h, struct rest_meta **ret,
                   struct err *e);
