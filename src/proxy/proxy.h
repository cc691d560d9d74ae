/* SPDX-License-Identifier: MIT */
/* The reverse proxy: passes a request on to a service inside a cell and its answer back.
 *
 * Bodies are streamed in both directions, never collected: a side that cannot take more holds back
 * the other one. Connections that change protocol (WebSocket and any other upgrade) become tunnels.
 * A client that leaves ends the request on the other side, and an answer that breaks off resets the
 * client's connection, so that nobody can take a part for the whole. 1xx answers end here; what a
 * client expects with "100-continue" it gets when the other side is there.
 *
 * Everything happens on the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "net/http_req.h"
#include "proxy/rewrite.h"

struct proxy;
struct http_client;
struct http_head;

/* Time to connect; nothing else is limited, because streams may be silent for long. */
#define PROXY_CONNECT_MS 5000
/* How long a connection to a service is kept for the next request. Shorter than services keep their
 * side, so that a request rarely meets a connection that is just being closed. */
#define PROXY_KEEP_MS 1500

struct proxy_opts {
    struct loop *loop;
    /* Connects to an address: a connected or connecting non-blocking socket, or -errno with E
     * filled. May be NULL when all requests come with a socket. */
    int (*dial)(void *ctx, const char *address, struct err *e);
    void *ctx;
    /* How long a client is waited for that reads nothing of an answer without a length, or of a
     * tunnel: whatever makes these is held back meanwhile. 0: the server's own limit. */
    int64_t patience_ms;
};

struct proxy *proxy_new(const struct proxy_opts *opts, struct err *e);
/* Ends everything under way. Not from a callback of it. */
void proxy_free(struct proxy *p);

/* Requests and tunnels under way. */
size_t proxy_n_active(const struct proxy *p);

/* Changes the body of an answer on its way. Writes go to R by http_write(). */
struct proxy_fault;
struct proxy_filter {
    /* The answer has begun: true when the filter wants it. *LENGTH is that of the body, -1 when it
     * is not known, and may be changed. */
    bool (*begin)(void *ctx, const struct http_head *head, int64_t *length);
    void (*data)(void *ctx, struct http_req *r, const char *p, size_t len);
    /* The body is complete. May be NULL. */
    void (*end)(void *ctx, struct http_req *r);
    /* It breaks off: true when what was written of it makes sense as it is, so that the answer is
     * ended; else the client's connection is reset. F's status is 0 when the proxy is freed. May be
     * NULL. */
    bool (*cut)(void *ctx, struct http_req *r, const struct proxy_fault *f);
    void *ctx;
};

/* What went wrong with a request of which nothing was answered yet. */
struct proxy_fault {
    int status; /* 502 or 504: of the service; 503: memory ran out; else of the request's body */
    int code;   /* -errno of the service's side (-ECONNREFUSED: nobody listens), or 0 */
    const char *why;
};

struct proxy_pass {
    const char *address;        /* the service, for dial(); connections to it are kept … */
    struct http_client *client; /* keeps them in the proxy's place; NULL: the proxy does */
    int fd; /* … or, > 0, a socket: connected or connecting, taken over in any case, not kept */
    struct str method;          /* empty: the request's own */
    struct str target;          /* path and query for the service */
    struct str host;            /* empty: "localhost" */
    bool has_no_body;           /* the request's body is not passed on … */
    struct str body;            /* … but this, in the request's arena, unless it is empty */
    struct rewrite_rules rules; /* what it points to stays valid as long as the request */
    const struct proxy_filter *filter; /* NULL: none; must stay valid as long as the request */
    void (*fail)(struct http_req *r, const struct proxy_fault *f); /* answers R */
    /* Asked when an answer ends that nothing but the end of its connection delimits: true when that
     * end may have come too early, so that the client's connection is reset. May be NULL. */
    bool (*is_cut)(void *ctx);
    /* All is over, a tunnel included; the request may be gone long before. May be NULL. */
    void (*done)(void *ctx);
    void *ctx;
    struct list *group; /* what it ends with, see proxy_end_group(); may be NULL */
};

/* Passes R on and answers it; R is the proxy's from now on, its on_abort included. Headers that
 * were added to R go out with the answer. Strings in PASS are copied where they are needed later.
 */
void proxy_pass(struct proxy *p, struct http_req *r, const struct proxy_pass *pass);
/* Ends everything that was passed on with GROUP, the head of a list: requests of which nothing was
 * answered yet fail with F, answers under way and tunnels are reset. */
void proxy_end_group(struct list *group, const struct proxy_fault *f);
