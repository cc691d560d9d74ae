/* SPDX-License-Identifier: MIT */
/* The HTTP/1.1 server: connections of one loop, requests handed to one handler.
 *
 * The handler is called when a request's head is complete. It decides how the body is read
 * (http_read_body() or http_stream_body(); neither: the body is read and dropped within a
 * limit) and answers with http_reply() or with http_start() … http_write() … http_end(), now or
 * later. Until the answer is complete the request and its arena stay valid, whatever the peer does;
 * answering a request whose peer is gone is allowed and does nothing.
 *
 * Requests of one connection are handled one after another (pipelining: the next head is parsed
 * when the answer is complete). Everything happens on the server's loop thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "loop/loop.h"
#include "net/http_req.h"
#include "net/listen.h"

struct http_server;
struct tls_ctx;

typedef void http_handler(struct http_req *r, void *ctx);

struct http_timeouts {
    int64_t head_ms;  /* from the first byte of a head to its end: 408 */
    int64_t body_ms;  /* between two arrivals of body bytes: 408 */
    int64_t idle_ms;  /* keep-alive without a request: close */
    int64_t write_ms; /* output that makes no progress: reset */
};
#define HTTP_TIMEOUTS_DEFAULT                                                                      \
    {                                                                                              \
        .head_ms = 10000, .body_ms = 30000, .idle_ms = 75000, .write_ms = 30000                    \
    }

struct http_server_opts {
    struct loop *loop;
    http_handler *handler;
    void *ctx;
    /* Shapes the errors that the server itself finds (400, 408, 413, 414, 431, 501, 505). R->head
     * may be partial (path empty). NULL: plain text. Must answer with http_reply(). */
    void (*on_error)(struct http_req *r, int status, const char *reason, void *ctx);
    /* After each complete answer: access log and metrics. The status is 0 when there was none. May
     * be NULL. */
    void (*on_done)(struct http_req *r, void *ctx);
    struct tls_ctx *tls;
    struct http_limits limits;
    struct http_timeouts timeouts;
    size_t max_conns; /* more are accepted and closed at once; 0: no limit */
    size_t max_arena; /* bytes of memory a request may take; default 64 MiB */
    size_t max_drop;  /* bytes of an unread body that are read and dropped to keep the connection;
                         256 KiB */
    const char *server_name; /* Server header; NULL: none */
    struct str greeting;     /* what every connection has to begin with, before its first request;
                                others are closed. Empty: nothing. Outlives the server */
};

struct http_server_stats {
    uint64_t accepted, active, requests, rejected;
};

struct http_server *http_server_new(const struct http_server_opts *opts, struct err *e);
/* Listens on FD (bound and listening; taken over). May be called for several. */
int http_server_listen(struct http_server *s, int fd, struct err *e);
/* Takes over a connected socket that another thread accepted. Loop thread. */
void http_server_adopt(struct http_server *s, int fd);
/* Stops listening, closes idle connections, lets requests under way finish (answers carry
 * Connection: close), and calls DONE when none is left or GRACE_MS have passed. */
void http_server_drain(struct http_server *s, int64_t grace_ms, void (*done)(void *ctx), void *ctx);
void http_server_free(struct http_server *s);
struct http_server_stats http_server_stats(const struct http_server *s);
