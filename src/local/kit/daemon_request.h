/* SPDX-License-Identifier: MIT */
/* Requests to tidepool-local that are no tools: what the daemon asks for on a sandbox's behalf.
 *
 *     POST /_NAME?QUERY   with any body
 *
 * Each is a row of the table in service/daemon_request_table.c. Its function has a thread to itself
 * and may block. The body is read and the answer written a piece at a time: neither is ever in
 * memory as a whole. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "local/local.h"

struct http_req;
struct loop;
struct pool;

struct request {
    const struct local *local;
    struct str query;   /* of the target, not decoded */
    struct arena arena; /* lives until the answer is sent */
};

struct request_row {
    const char *name; /* without the underscore */
    void (*run)(struct request *q);
};

/* The row of a path "/_NAME", or NULL (service/daemon_request_table.c). */
const struct request_row *request_row(struct str path);

/* ---- for the functions of rows, on their thread ---- */

/* A parameter of the query, decoded; empty when there is none. */
struct str request_param(struct request *q, const char *name);
/* The next bytes of the body: how many; 0 at its end; -EPIPE when the client left, -EBADMSG when
 * the rest cannot be read. */
ssize_t request_read(struct request *q, void *p, size_t n);
/* The whole body in Q's arena: 0, -EFBIG when it has more than MAX bytes, or as above. */
int request_read_all(struct request *q, size_t max, struct str *ret);
/* The answer, with status 200 and the first of these bytes as its beginning: 0, or -EPIPE when the
 * client left. The answer ends when the function returns. */
int request_write(struct request *q, const void *p, size_t n);
/* A whole answer instead. */
void request_reply(struct request *q, const char *content_type, struct str body);
/* Refuses with a line of text; an answer that has begun is broken off, so that nobody takes it for
 * complete. */
void request_fail(struct request *q, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- for service/dispatch.c ---- */

/* Answers R by ROW on a thread of POOL. */
void request_start(struct http_req *r, struct pool *pool, const struct local *local,
                   const struct request_row *row);
