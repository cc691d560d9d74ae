/* SPDX-License-Identifier: MIT */
/* Remote calls in the Connect protocol with JSON, as E2B's clients make them: one message each way,
 * or a stream of messages to or from here. A service is a table of methods; the request is read by
 * the method's table of fields (envd/pjson.h) before its handler is called.
 *
 * A call ends exactly once: by connect_reply() or connect_end(), by connect_fail(), by its deadline
 * or by its peer. On every one of these ways on_over() is called, if it is set; afterwards the call
 * and its arena are gone. Nothing here ends a call from inside connect_send(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "envd/envelope.h"
#include "envd/pjson.h"
#include "envd/user.h"
#include "loop/loop.h"

struct http_req;
struct serve;

enum connect_code {
    CONNECT_CANCELED = 1,
    CONNECT_UNKNOWN,
    CONNECT_INVALID_ARGUMENT,
    CONNECT_DEADLINE_EXCEEDED,
    CONNECT_NOT_FOUND,
    CONNECT_ALREADY_EXISTS,
    CONNECT_PERMISSION_DENIED,
    CONNECT_RESOURCE_EXHAUSTED,
    CONNECT_FAILED_PRECONDITION,
    CONNECT_ABORTED,
    CONNECT_OUT_OF_RANGE,
    CONNECT_UNIMPLEMENTED,
    CONNECT_INTERNAL,
    CONNECT_UNAVAILABLE,
    CONNECT_DATA_LOSS,
    CONNECT_UNAUTHENTICATED,
    CONNECT_CODE_COUNT
};

enum connect_kind {
    CONNECT_UNARY,
    CONNECT_STREAM, /* many answers */
    CONNECT_INPUT,  /* many requests */
};

struct connect_call;

struct connect_method {
    const char *path; /* "/process.Process/Start" */
    enum connect_kind kind;
    const struct pjson_message *request;
    /* CONNECT_INPUT: called for each message, and with c->message NULL behind the last. */
    void (*handle)(struct connect_call *c);
    const char *keepalive; /* CONNECT_STREAM: the message that says that nothing happened */
};

struct connect_call {
    struct serve *serve;
    struct http_req *req;
    struct arena *arena; /* the request's; of CONNECT_INPUT: of one message */
    const struct connect_method *method;
    const void *message;     /* the struct that method->request describes */
    const struct user *user; /* whom the request named; NULL: nobody. See connect_user() */
    int64_t timeout_ms;      /* the caller's limit; 0: none */
    bool is_legacy;          /* a client that knows only the oldest fields */
    /* May be set by the handler of a call that it does not answer at once. */
    void (*on_over)(struct connect_call *c);
    void (*on_drain)(struct connect_call *c); /* the stream is not full any more */
    void *ctx;                                /* the handler's own */

    /* connect.c's own */
    int64_t keepalive_ms;
    struct loop_timer deadline, keepalive;
    struct envelope_reader reader;
    struct arena scratch;
    bool has_begun, is_reading;    /* is_reading: inside a piece of the caller's stream, */
    enum connect_code failed_with; /* after which a failure is reported */
    struct str failure;
};

/* Serves R, a POST to METHOD's path. USER may be NULL; else it lives in R's arena. */
void connect_serve(struct serve *s, struct http_req *r, const struct connect_method *m,
                   const struct user *user);

/* The user to act as: the one that the request named, else the sandbox's default. NULL when that is
 * unknown: then the call has failed and is gone. */
const struct user *connect_user(struct connect_call *c);

/* Ends a call with an error. */
void connect_fail(struct connect_call *c, enum connect_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Answers CONNECT_UNARY and CONNECT_INPUT with one message; B holds its JSON, or failed. */
void connect_reply(struct connect_call *c, struct buf *b);
void connect_reply_empty(struct connect_call *c);

/* ---- streams ---- */

/* Begins a message of a stream in B, which is empty: a JSON object has to follow. */
void connect_message(struct buf *b);
/* Sends the message in B as one piece. When memory ran out the stream breaks off later, as when its
 * peer leaves. */
void connect_send(struct connect_call *c, struct buf *b);
/* True: wait for on_drain() before sending more. */
bool connect_is_full(const struct connect_call *c);
/* Ends a stream in order. */
void connect_end(struct connect_call *c);
/* CONNECT_INPUT: holds the caller back until connect_resume(). */
void connect_pause(struct connect_call *c);
void connect_resume(struct connect_call *c);

/* "not_found" */
const char *connect_code_name(enum connect_code code);
/* Answers R, which has not become a call, with an error in the shape of KIND. */
void connect_refuse(struct http_req *r, enum connect_kind kind, enum connect_code code,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
