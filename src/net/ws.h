/* SPDX-License-Identifier: MIT */
/* WebSocket connections (RFC 6455), both roles, on a stream. Frames are in net/ws_frame.h.
 *
 * Whole messages come by on_message(). Pings are answered here; a peer that stays silent is pinged
 * and, when it does not react, dropped. What breaks the protocol closes the connection with the
 * code that the RFC names: 1002, 1007 (not UTF-8), 1009 (too large). A connection is gone when
 * on_close() returns. Everything happens on the stream's loop thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "net/ws_frame.h"

struct http_client;
struct http_req;
struct http_request;
struct ws;

struct ws_ops {
    /* A client's connection is open. Not called for accepted ones, which are open at once. May be
     * NULL. */
    void (*on_open)(struct ws *w, void *ctx);
    void (*on_message)(struct ws *w, void *ctx, bool is_text, struct str data);
    /* After ws_is_full(): the peer has read on. May be NULL. */
    void (*on_drain)(struct ws *w, void *ctx);
    /* The last callback. CODE is the peer's close code (1005: a close without one), the code this
     * side failed the connection with, or 1006 when it broke or could not be opened; then REASON
     * says why. */
    void (*on_close)(struct ws *w, void *ctx, int code, struct str reason);
};

struct ws_opts {
    const struct ws_ops *ops;
    void *ctx;
    size_t max_message; /* bytes; 0: 16 MiB */
    size_t max_frame;   /* bytes; 0: as max_message */
    int64_t ping_ms;  /* silence before a ping, and before giving up after it; 0: 30 s, -1: never */
    int64_t close_ms; /* for the closing handshake; 0: 5 s */
    const char *const *protocols; /* NULL-terminated, best first: what a server can speak, or a
                                     client offers. May be NULL */
};

/* Upgrades R. NULL when it is not a proper WebSocket request or memory ran out: then R was answered
 * (400, 426 with the version we speak, 500). R must not be used afterwards in any case. */
struct ws *ws_accept(struct http_req *r, const struct ws_opts *opts);
/* True when R asks for a WebSocket. */
bool ws_is_request(const struct http_req *r);

/* Opens a WebSocket by REQ (address, target, host, further headers) through C: on_open() or
 * on_close() follows. NULL with E filled when the request is malformed or fails at once. */
struct ws *ws_connect(struct http_client *c, const struct http_request *req,
                      const struct ws_opts *opts, struct err *e);

/* The subprotocol that was agreed on; "" for none. */
const char *ws_protocol(const struct ws *w);

/* Sends a message (WS_TEXT, WS_BINARY) or a WS_PING or WS_PONG of at most 125 bytes. 0; -EPIPE when
 * the connection is not open (any more); -EINVAL for text that is not UTF-8 or a control message
 * that is too long; -ENOMEM. The bytes are always taken: wait while ws_is_full(). */
int ws_send(struct ws *w, enum ws_op op, struct str data);
bool ws_is_full(const struct ws *w);

/* Stops / resumes on_message(): the peer is held back. */
void ws_pause(struct ws *w);
void ws_resume(struct ws *w);

/* Begins the closing handshake: no message comes any more, on_close() follows within close_ms. A
 * CODE of 1005 sends none. Does nothing when closing already. */
void ws_close(struct ws *w, int code, struct str reason);
/* Drops the connection at once; on_close() follows (1006), before this returns unless it is called
 * from a callback. */
void ws_abort(struct ws *w);
