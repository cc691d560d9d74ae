/* SPDX-License-Identifier: MIT */
/* The HTTP/1.1 client: requests on a loop, for proxying and for the command line.
 *
 * A client keeps connections that can be used again in a small pool, per address. A call is one
 * request and its response; it is made with http_client_call() and is gone when on_end() returns,
 * after http_call_abort(), or after http_call_upgrade(). No callback runs before the function that
 * caused it has returned, except out of http_client_free().
 *
 * An idempotent request whose body is not streamed is tried once more, on a new connection, when a
 * connection from the pool died before the first byte of the response. "Expect" is never sent
 * unless the caller adds it. Everything happens on the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"
#include "net/http.h"
#include "net/stream.h"

struct http_client;
struct http_call;

/* ---- the client ---- */
/* In ms; 0: no limit. Time in which the other side waits for the caller does not count. */
struct http_client_timeouts {
    int64_t connect_ms;
    int64_t head_ms; /* from the end of the request to the end of the response's head */
    int64_t idle_ms; /* between two arrivals of body bytes */
    int64_t keep_ms; /* how long an unused connection is kept; 0: none is kept */
};
#define HTTP_CLIENT_TIMEOUTS_DEFAULT                                                               \
    {                                                                                              \
        .connect_ms = 5000, .head_ms = 60000, .idle_ms = 60000, .keep_ms = 30000                   \
    }

struct http_client_opts {
    struct loop *loop;
    struct http_limits limits; /* of responses; zeros: HTTP_LIMITS_DEFAULT */
    struct http_client_timeouts timeouts;
    size_t max_kept;             /* unused connections in all; 0: 256 */
    size_t max_kept_per_address; /* 0: 8 */
    struct tls_ctx *tls;         /* NULL: plain */
    bool may_resolve; /* names in addresses are looked up, which blocks: for the command line */
    /* Connects to addresses in the client's place (sockets of another network namespace): returns
     * a connected or connecting non-blocking socket or -errno with E filled. NULL: http_dial(). */
    int (*dial)(void *ctx, const char *address, struct err *e);
    void *ctx;
};

struct http_client *http_client_new(const struct http_client_opts *opts, struct err *e);
/* Ends calls under way with -ECANCELED and closes everything. Not from a callback of a call. */
void http_client_free(struct http_client *c);

/* Ends the calls to ADDRESS, or any port of it (ADDRESS:…), before it returns. */
void http_client_end_calls(struct http_client *c, struct str address, int error, const char *why);
struct http_client_stats {
    uint64_t connects, reuses, retries;
    size_t n_calls, n_kept;
};
struct http_client_stats http_client_stats(const struct http_client *c);

/* Begins to connect to "127.0.0.1:80", "[::1]:80", "localhost:80", "unix:/path" or "unix:@name"
 * (see http_listen()); other names only with MAY_RESOLVE. Non-blocking socket or -errno. */
int http_dial(const char *address, bool may_resolve, struct err *e);

/* ---- calls ---- */

struct http_request {
    const char *address; /* where to connect, and under which name the connection is kept */
    int fd;              /* > 0: this socket (connected or connecting) is used and taken over, even
                            on failure; ADDRESS may then be NULL: it is not kept afterwards */
    struct str method;   /* "GET" */
    struct str target;   /* "/path?query" */
    struct str host;     /* Host; empty: made from ADDRESS */
    const struct http_header *headers; /* more headers; not Host, Connection, Upgrade,
                                          Content-Length, Transfer-Encoding: those are made here */
    size_t n_headers;
    struct str body;     /* whole body; must stay valid until the call is over */
    bool is_streamed;    /* instead: the body comes by http_call_write() */
    int64_t length;      /* of a streamed body; -1: not known (chunked) */
    bool is_held;        /* the head of a streamed request leaves with the first bytes of its body,
                            of which there must be some */
    const char *upgrade; /* asks to switch to this protocol ("websocket"); may be NULL */
    size_t max_body;     /* http_client_fetch(): of the response, -EMSGSIZE past it; 0: 1 MiB */
};

struct http_call_ops {
    /* A 1xx response other than 101. May be NULL. */
    void (*on_info)(struct http_call *c, void *ctx, const struct http_head *head);
    /* The head, valid until the call is over. Status 101 comes only when the request asked for it,
     * and must be answered by http_call_upgrade() before this returns. */
    void (*on_head)(struct http_call *c, void *ctx, const struct http_head *head);
    /* Some of the body: 0, or -errno to end the call with it. */
    int (*on_data)(struct http_call *c, void *ctx, const char *p, size_t len);
    /* All that had arrived was handed over: what the two above held back may go on. May be NULL. */
    void (*on_caught_up)(struct http_call *c, void *ctx);
    /* May take at most MAX bytes that wait in the socket FROM, as splice_to(). May be NULL. */
    ssize_t (*on_bulk)(struct http_call *c, void *ctx, int from, size_t max);
    /* The request body may go on: a new connection is made (one from the pool is ready, and no call
     * of this comes first), or its queue is short again after http_call_is_full(). May be NULL. */
    void (*on_drain)(struct http_call *c, void *ctx);
    /* The last callback: RESULT 0 when the response is complete, else -errno and WHY in words
     * ("connect: Connection refused"), "" on success. */
    void (*on_end)(struct http_call *c, void *ctx, int result, const char *why);
};

/* Starts a call. Strings are copied, except the body. NULL with E filled, and no callback, when it
 * is malformed (-EINVAL), memory ran out or connecting failed at once. */
struct http_call *http_client_call(struct http_client *c, const struct http_request *req,
                                   const struct http_call_ops *ops, void *ctx, struct err *e);
/* Breaks the call off: no callback follows, the call is gone. */
void http_call_abort(struct http_call *c);

/* The streamed request body: 0; -EPIPE when it is over already or the connection died (on_end()
 * follows); -EMSGSIZE past the length. The bytes are taken: wait for on_drain() while
 * http_call_is_full(), which it is until the connection is made. A response may be complete before
 * the request: then the call is over and the rest is not to be written. */
int http_call_write(struct http_call *c, const void *p, size_t len);
/* The same for at most MAX bytes that wait in the socket FROM; as splice_to(). */
ssize_t http_call_splice(struct http_call *c, int from, size_t max);
bool http_call_is_full(const struct http_call *c);
/* Ends the request body: 0; -EINVAL when bytes are missing to the length (abort then). */
int http_call_end(struct http_call *c);
/* Stops / resumes on_data(). */
void http_call_pause(struct http_call *c);
void http_call_resume(struct http_call *c);

/* In on_head() with status 101: gives the stream away; what came behind the head goes to OPS. The
 * call is over without on_end(). */
struct stream *http_call_upgrade(struct http_call *c, const struct stream_ops *ops, void *ctx);

/* ---- whole responses ---- */

struct http_response {
    int error;             /* 0, or -errno; then only WHY is set */
    const char *why;       /* "" on success */
    struct http_head head; /* status, headers */
    struct str body;
};

/* Makes a call whose response is handed over at once. DONE is called once unless the call is
 * aborted; the response is valid until it returns. Otherwise as http_client_call(). */
struct http_call *http_client_fetch(struct http_client *c, const struct http_request *req,
                                    void (*done)(void *ctx, const struct http_response *r),
                                    void *ctx, struct err *e);
