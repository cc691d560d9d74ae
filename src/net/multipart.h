/* SPDX-License-Identifier: MIT */
/* Streaming parser for multipart/form-data (RFC 7578, RFC 2046): bytes in, split anywhere; parts
 * out, with nothing of a part's content kept. Content goes to the callback straight out of the
 * caller's buffer.
 *
 * Strict where leniency would be guessing: CRLF line ends, no folded headers, every part has a
 * Content-Disposition of form-data with a name, and only blanks may follow a boundary on its line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define MULTIPART_BOUNDARY_MAX 70

struct multipart;

struct multipart_part {
    struct str name;         /* UTF-8 */
    struct str filename;     /* UTF-8; .p NULL when there is none. From filename* when given. Not
                                a path to be trusted: it may hold slashes */
    struct str content_type; /* .p NULL when there is none */
};

/* Each returns 0, or a negative number, which ends the parse and is returned by multipart_feed(). A
 * callback must not free the parser. on_part() gets strings that live until it returns. */
struct multipart_ops {
    int (*on_part)(void *ctx, const struct multipart_part *part);
    int (*on_data)(void *ctx, const char *p, size_t len);
    int (*on_part_end)(void *ctx);
    int (*on_end)(void *ctx); /* the closing boundary; what follows is dropped. May be NULL */
};

struct multipart_limits {
    size_t max_parts;
    size_t max_head;    /* bytes of one part's headers */
    uint64_t max_total; /* bytes of the whole body */
};
#define MULTIPART_LIMITS_DEFAULT                                                                   \
    {                                                                                              \
        .max_parts = 1000, .max_head = 8192, .max_total = UINT64_MAX                               \
    }

/* Finds the boundary parameter of a Content-Type value. Writes it with a NUL and returns its
 * length, or -EINVAL when the type is not multipart/form-data or the boundary is missing or bad. */
int multipart_boundary(struct str content_type, char out[MULTIPART_BOUNDARY_MAX + 1]);

/* A parser for the body of a request with that Content-Type. NULL with *ret_reason set when the
 * type is not usable (or memory ran out). OPS and CTX must outlive it. */
struct multipart *multipart_new(struct str content_type, const struct multipart_limits *limits,
                                const struct multipart_ops *ops, void *ctx,
                                const char **ret_reason);
void multipart_free(struct multipart *m);

/* Feeds the next bytes. 0; -EINVAL malformed, -EMSGSIZE over a limit, -ENOMEM, or what a callback
 * returned. After a failure every further call returns the same. */
int multipart_feed(struct multipart *m, const char *p, size_t len);
/* The body is complete: 0 when the closing boundary was seen, else as multipart_feed(). */
int multipart_finish(struct multipart *m);
/* What was wrong, in words for the client; "" before a failure or when a callback failed. */
const char *multipart_reason(const struct multipart *m);
