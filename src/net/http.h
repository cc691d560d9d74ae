/* SPDX-License-Identifier: MIT */
/* HTTP/1.1 messages: methods, heads, chunked framing. Pure parsing, no I/O: the server, the client
 * and the fuzz targets use the same functions.
 *
 * The parser is strict (RFC 9112): CRLF line ends only, no obs-fold, no space before the colon, a
 * token as the name, no control bytes in values, one valid Host in a 1.1 request, and exactly one
 * way to find the body's length. What is ambiguous is refused, because a proxy that guesses
 * differently from its neighbours can be used to smuggle requests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/str.h"

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_OTHER, /* any other token; the text is kept */
    HTTP_METHOD_COUNT
};

const char *http_method_name(enum http_method m);
/* "Not Found" for 404; "" for an unknown status. */
const char *http_status_text(int status);

struct http_header {
    struct str name, value;
};

struct http_headers {
    struct http_header *items;
    size_t n;
};

/* First header of that name (any case); STR_NULL when absent. */
struct str http_header_get(const struct http_headers *h, const char *name);
/* True when the comma-separated lists of all headers NAME hold TOKEN (any case). */
bool http_header_has(const struct http_headers *h, const char *name, const char *token);

struct http_head {
    enum http_method method; /* requests */
    struct str method_text;
    struct str target;      /* as sent */
    struct str path, query; /* of the target, not decoded; path starts with '/' or is "*" */
    struct str host;        /* Host, or the authority of an absolute-form target */
    int status;             /* responses */
    struct str reason;
    int minor; /* HTTP/1.minor */
    struct http_headers headers;
    int64_t content_length; /* -1: none */
    bool is_chunked;
    bool is_keep_alive;
    bool expects_continue;
    bool is_upgrade; /* Connection: upgrade with an Upgrade header */
};

struct http_limits {
    size_t max_head;    /* bytes of request line and headers: 431 past it */
    size_t max_target;  /* bytes of the request target: 414 past it */
    size_t max_headers; /* how many: 431 past it */
};
#define HTTP_LIMITS_DEFAULT                                                                        \
    {                                                                                              \
        .max_head = 32768, .max_target = 8192, .max_headers = 100                                  \
    }

/* Parses a head out of P. Returns its length in bytes; 0 when it is not complete yet; or -status
 * (-400, -414, -431, -501, -505…) with *ret_reason naming the fault. Strings in *ret are copied to
 * A. SCANNED (in/out, start with 0) remembers how far an incomplete head was searched, so that
 * bytes that trickle in are not searched again. */
ssize_t http_parse_request(struct arena *a, const char *p, size_t len, size_t *scanned,
                           const struct http_limits *limits, struct http_head *ret,
                           const char **ret_reason);
ssize_t http_parse_response(struct arena *a, const char *p, size_t len, size_t *scanned,
                            const struct http_limits *limits, enum http_method request_method,
                            struct http_head *ret, const char **ret_reason);

/* ---- chunked transfer coding ---- */

struct http_chunked {
    uint8_t state;
    uint8_t digits;
    uint64_t left;     /* bytes left of the current chunk */
    size_t line_bytes; /* of the current size line or of the trailer section: bounded */
};

/* Decodes from P: sets *ret_data to the next run of body bytes (a part of P, may be empty) and
 * returns how many bytes of P were used. *ret_done is set once the last chunk and the trailers
 * (which are checked and dropped) were read. -EINVAL on malformed framing. Call again with the rest
 * until it uses nothing. */
ssize_t http_chunked_decode(struct http_chunked *c, const char *p, size_t len, struct str *ret_data,
                            bool *ret_done);

/* ---- targets ---- */

/* Decodes %XX in a path segment / a query value ('+' is a space). .p is NULL on a bad escape, a NUL
 * byte or no memory. */
struct str http_decode_segment(struct arena *a, struct str s);
struct str http_decode_query(struct arena *a, struct str s);
/* The decoded value of the first query parameter NAME; STR_NULL when absent or malformed. */
struct str http_query_get(struct arena *a, struct str query, const char *name);
