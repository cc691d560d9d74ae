/* SPDX-License-Identifier: MIT */
/* Inside of WebSocket connections: what ws.c (the open connection) and ws_open.c (the handshake)
 * share. Not for users. */
#pragma once

#include "net/http_client.h"
#include "net/stream.h"
#include "net/ws.h"

enum {
    WS_KEY_LEN = 24, /* base64 of 16 bytes */
    WS_PROTOCOL_MAX = 64,
};

struct ws {
    struct ws_opts opts;
    bool is_client;
    struct stream *stream;  /* NULL until a client's is open */
    struct http_call *call; /* a client's handshake */
    /* Ends it: a pointer, so that a program of servers only links no client. */
    void (*abort_call)(struct http_call *c);
    struct ws_decoder decoder;
    bool is_paused;
    bool sent_close, got_close, is_failed, is_gone;
    bool is_pinged;     /* a ping of ours waits for any sign of life */
    bool has_late_pong; /* a pong waits for the output queue to drain */
    uint8_t late_len;
    char late[WS_CONTROL_MAX];
    int code; /* for on_close() */
    uint8_t reason_len;
    char reason[WS_REASON_MAX];
    char key[WS_KEY_LEN + 1];
    char protocol[WS_PROTOCOL_MAX + 1];
};

extern const struct stream_ops ws_stream_ops;

/* A connection without a stream yet; NULL when memory ran out. */
struct ws *ws_new(const struct ws_opts *opts, bool is_client);
/* The connection is open on S, whose ops are ws_stream_ops. */
void ws_start(struct ws *w, struct stream *s);
/* What on_close() will get. */
void ws_set_reason(struct ws *w, int code, struct str reason);
/* Tells the owner and frees W. */
void ws_end(struct ws *w);
