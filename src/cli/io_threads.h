/* SPDX-License-Identifier: MIT */
/* Threads that take connections beside the main one: each has a loop and a server of its own on one
 * listening socket. They accept, do the TLS handshake and read a connection's first
 * head, so that slow or costly newcomers do not hold up the main thread; then the connection moves
 * to the main server and stays there, because the API's state belongs to that thread. */
#pragma once

#include "base/err.h"
#include "loop/loop.h"
#include "net/http_server.h"

struct io_threads;

struct io_threads_args {
    unsigned n;
    int listener;                 /* stays the caller's, who may close it */
    struct http_server_opts opts; /* loop, handler, ctx and hooks are replaced */
    struct http_server *to;       /* where requests go … */
    http_handler *handler;        /* … and what handles them there */
    void (*on_error)(struct http_req *r, int status, const char *reason, void *ctx);
    void *ctx;
};

/* Starts the threads. NULL with E filled on failure. */
struct io_threads *io_threads_start(const struct io_threads_args *args, struct err *e);
/* Stops accepting; connections that have not moved yet get GRACE_MS. DONE(ctx) runs on LOOP when
 * all threads are idle: from then on nothing arrives at the main server any more. */
void io_threads_drain(struct io_threads *t, int64_t grace_ms, struct loop *loop,
                      void (*done)(void *ctx), void *ctx);
/* Ends and joins the threads. NULL is allowed. */
void io_threads_free(struct io_threads *t);
