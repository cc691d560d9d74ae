/* SPDX-License-Identifier: MIT */
/* Requests of the command line to a service: the one that runs on the same state directory, through
 * its local socket and with the system key, or any other by URL and key. Everything here waits for
 * the answer; the loop is for verbs that wait for more than that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "core/config.h"

struct client;
struct http_head;
struct http_header;
struct loop;
struct ws;
struct ws_opts;

/* Which service is meant. */
struct client_where {
    const struct config *config;
    const char *url, *key; /* URL NULL: the one of the state directory, KEY NULL: its system key */
    bool is_named;         /* the caller said which state directory, so its store may be opened
                            * directly when no service runs on it */
};

struct client_request {
    const char *method, *target;
    struct str body; /* JSON, or empty */
};

/* Gets ready to talk to URL ("http://host:port", "https://…", with a path before /api when it is
 * behind a proxy) with KEY; URL NULL: the service of C's state directory, KEY NULL: its system key.
 * NULL with E filled: -ENOTCONN when there is no such state directory or key. */
struct client *client_open(const struct config *c, const char *url, const char *key, struct err *e);
void client_free(struct client *c);
struct loop *client_loop(const struct client *c);

/* Asks and waits; *ret_doc is the whole answer, in A. 0; -ENOTCONN when no service is running;
 * -ENOENT for 404; -EPROTO for other refusals, with the service's words in E. */
int client_send(struct client *c, struct arena *a, const struct client_request *rq,
                struct json **ret_doc, struct err *e);

/* A request whose body or answer is too large to be held. */
struct client_transfer {
    const char *method, *target, *type; /* TYPE is of the body */
    int64_t length;                     /* of the body; -1: not known */
    /* The next bytes of the body, at most N: how many, 0 at its end, or -errno. NULL: no body. */
    ssize_t (*read)(void *ctx, char *p, size_t n);
    /* The answer begins, and is no refusal. May be NULL. 0 or -errno, as in write(). */
    int (*head)(void *ctx, const struct http_head *head);
    /* Bytes of the answer; NULL: it is dropped. */
    int (*write)(void *ctx, const char *p, size_t n);
    void *ctx;
    const struct http_header *headers; /* more headers, at most CLIENT_MAX_HEADERS */
    size_t n_headers;
    bool takes_refusals; /* head() and write() get refusals, too */
};
enum { CLIENT_MAX_HEADERS = 8 };

/* Does it and waits. Errors as of client_send(), and those of the functions. */
int client_transfer(struct client *c, const struct client_transfer *t, struct err *e);

/* A request beside others, while the loop goes on. */
struct client_post {
    const char *target;
    struct str body; /* must stay valid until it is over */
    const struct http_header *headers;
    size_t n_headers;
    int (*head)(void *ctx, const struct http_head *head); /* also of refusals */
    int (*write)(void *ctx, const char *p, size_t n);
    /* It is over: 0, or -errno with E filled (-ENOTCONN: no service is running). */
    void (*end)(void *ctx, int result, const struct err *e);
    void *ctx;
};
struct client_op;
/* Starts it; NULL with E filled, and no callback. */
struct client_op *client_post(struct client *c, const struct client_post *p, struct err *e);
/* Breaks it off: no callback follows. */
void client_op_abort(struct client_op *op);

/* Opens a WebSocket on TARGET, on the client's loop. As ws_connect(). */
struct ws *client_ws(struct client *c, const char *target, const struct ws_opts *opts,
                     struct err *e);

/* One request to the service that WHERE means: *ret_data is the "data" of the answer. Returns as
 * client_send(). */
int client_ask(const struct client_where *where, struct arena *a, const struct client_request *rq,
               struct json **ret_data, struct err *e);
/* 0 when the state directory of WHERE has a store that may be worked on without a service; else
 * -ENOTCONN with E filled. */
int client_may_go_alone(const struct client_where *where, struct err *e);
