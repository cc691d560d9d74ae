/* SPDX-License-Identifier: MIT */
/* Requests as a handler of the HTTP server (http_server.h) sees them: bodies and answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "loop/loop.h"
#include "net/http.h"
#include "net/stream.h"

struct http_server;
struct http_conn;

/* ---- requests ---- */

struct http_req {
    struct arena *arena; /* lives until the answer is complete */
    struct http_head head;
    struct http_conn *conn;
    struct loop *loop;
    char id[17];      /* request id, 16 hex digits; sent as X-Request-Id */
    const char *peer; /* address text */
    bool is_tls;
    int64_t start_us;    /* monotonic */
    struct str body;     /* after http_read_body() */
    int status;          /* of the answer, once it has begun */
    uint64_t sent_bytes; /* of the answer's body so far */
    void *user;          /* the handler's own */
    int fault; /* when on_abort() is called although the peer is there: what is wrong with the body
                  that is being streamed (400, 408, 413); the answer still reaches the peer */
    /* May be set by the handler: the peer left before the answer was complete, or the body cannot
     * be streamed to its end. Called at most once; the handler must still end the answer. A peer
     * that only closed its sending side counts as gone, but gets the answer if it comes. */
    void (*on_abort)(struct http_req *r);
    void *abort_ctx; /* for on_abort() */
};

/* Reads the whole body, at most MAX bytes, then calls DONE (perhaps before this returns); r->body
 * holds it, with a NUL behind. Until then the request is the server's: a body that is too large
 * (413), malformed (400) or late (408) is answered through the error hook, one whose peer leaves is
 * dropped, and in these cases neither DONE nor on_abort() is called. */
void http_read_body(struct http_req *r, size_t max, void (*done)(struct http_req *r, void *ctx),
                    void *ctx);

struct http_body_sink {
    /* Some bytes: 0, or -errno to refuse the rest (the handler answers; then the connection
     * closes). */
    int (*on_data)(struct http_req *r, void *ctx, const char *p, size_t len);
    void (*on_end)(struct http_req *r,
                   void *ctx); /* the body is complete; comes even when paused */
};
/* Streams the body to SINK. http_body_pause()/resume() hold the peer back. When the body cannot be
 * read to its end, on_abort() is called; without one the server ends the request itself. */
void http_stream_body(struct http_req *r, uint64_t max, const struct http_body_sink *sink,
                      void *ctx);
/* Before that: FN may take at most MAX bytes of the body that wait in the socket FROM, as
 * splice_to(); the sink gets the others. */
void http_on_bulk(struct http_req *r,
                  ssize_t (*fn)(struct http_req *r, void *ctx, int from, size_t max));
void http_body_pause(struct http_req *r);
void http_body_resume(struct http_req *r);

/* ---- answers ---- */

/* Adds a header to the answer, before it begins. Values are checked: -EINVAL on control bytes. */
int http_add_header(struct http_req *r, const char *name, struct str value);

/* A whole answer. CONTENT_TYPE may be NULL when there is no body. HEAD gets no body; 204 and 304
 * neither body nor length. Completes the request: R must not be used afterwards. */
void http_reply(struct http_req *r, int status, const char *content_type, struct str body);

/* A streamed answer: LENGTH bytes, or chunked when it is -1 (close-delimited for HTTP/1.0). */
void http_start(struct http_req *r, int status, const char *content_type, int64_t length);
/* 0; -EPIPE when the peer is gone (the rest is dropped); -EMSGSIZE for bytes past LENGTH (dropped).
 * The bytes are always taken; when http_is_full(), wait for on_drain before making more. */
int http_write(struct http_req *r, const void *p, size_t len);
/* The same for at most MAX bytes that wait in the socket FROM; as splice_to(). */
ssize_t http_splice(struct http_req *r, int from, size_t max);
bool http_is_full(const struct http_req *r);
/* Between these the parts of an answer are gathered, to be sent with one system call. The end of
 * the answer uncorks, too. Both are safe to repeat. */
void http_cork(struct http_req *r);
void http_uncork(struct http_req *r);
/* A peer that reads nothing of this answer is waited for up to MS, instead of the server's
 * write_ms. */
void http_set_patience(struct http_req *r, int64_t ms);
/* FN is also called when the peer is gone and there is no on_abort(). */
void http_on_drain(struct http_req *r, void (*fn)(struct http_req *r, void *ctx), void *ctx);
/* Completes the answer; R must not be used afterwards. Fewer bytes than LENGTH reset the
 * connection.
 */
void http_end(struct http_req *r);
/* Breaks the answer off by resetting the connection, so that the peer cannot take it for complete.
 */
void http_abort(struct http_req *r);

/* Answers 101 with the headers added so far (and "Connection: Upgrade", which needs not be added)
 * and gives the stream away (CONNECT-like use: status 200). The request is completed; bytes already
 * received behind the head come to the new ops. NULL when the peer is gone or memory ran out: the
 * request is completed then, too. */
struct stream *http_upgrade(struct http_req *r, int status, const struct stream_ops *ops,
                            void *ctx);

/* Moves the connection with its request to another server, whose loop may run on another thread,
 * and calls FN there. Called on R's loop thread as the last act of a callback or outside them;
 * until FN runs nobody may touch R. The rest of the request's life, the access hook included, and
 * the connection's next requests belong to TO. A peer that leaves meanwhile is noticed after FN.
 * Servers that move requests to each other are drained together; a loop may end when no request is
 * under way on any of them. */
void http_move(struct http_req *r, struct http_server *to,
               void (*fn)(struct http_req *r, void *ctx), void *ctx);
