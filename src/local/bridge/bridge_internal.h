/* SPDX-License-Identifier: MIT */
/* What the files of bridge/ share. */
#pragma once

#include "base/arena.h"
#include "base/json.h"
#include "base/list.h"
#include "local/bridge/bridge.h"
#include "local/bridge/child.h"

struct sse;

enum bridge_state { BRIDGE_OFF, BRIDGE_STARTING, BRIDGE_READY };

/* A request of a client, until it is answered. */
struct pending {
    struct list node;
    struct bridge *bridge;
    struct arena arena;
    struct http_req *req; /* NULL: answered by events */
    struct sse *sse;      /* NULL: answered as a whole, or the client has left */
    struct json *message;
    const struct json *id, *token; /* as the client gave them; token may be NULL */
    struct str session;
    int64_t number; /* our id of it; 0: not sent so far */
    struct loop_timer timer;
};

struct listener {
    struct list node;
    struct bridge *bridge;
    struct sse *sse;
};

struct bridge {
    struct child child; /* the first: found by its callbacks */
    struct bridges *set;
    struct list node;
    char name[BRIDGE_NAME_MAX + 1];
    enum bridge_state state;
    char *settings; /* it was started with */
    char *hello;    /* its answer to the greeting: JSON text */
    int64_t timeout_ms, last_number;
    struct list pending, listeners;
    size_t n_pending, n_listeners;
    /* Of its last end. */
    char why[160];
    unsigned n_failures;
    int64_t started_ms, next_ms; /* next: not to be started before */
    struct loop_timer timer;     /* while it starts */
};

/* ---- answers, and the end of P ---- */

void pending_reply(struct pending *p, const char *member, const struct json *value);
void pending_fail(struct pending *p, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Sends a message before the answer, when P has a stream. */
void pending_send(struct pending *p, const struct json *message);
void bridge_tell_listeners(struct bridge *b, const struct json *message);

/* ---- the program ---- */

const char *bridges_root(const struct bridges *s); /* where programs are started */
void bridge_init(struct bridge *b, struct loop *loop);
/* Starts it if need be, with SETTINGS (JSON text); P waits until it can be passed on. */
void bridge_pass(struct bridge *b, struct pending *p, struct str settings);
/* Passes a notice of SESSION on; what only concerns us is dropped. */
void bridge_notice(struct bridge *b, struct json *message, struct str session);
