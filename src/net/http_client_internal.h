/* SPDX-License-Identifier: MIT */
/* What http_client.c (connections and their pool) and http_call.c (requests and responses) share.
 *
 * A connection is in one of four states: dialling (no stream yet), busy (stream and call), kept
 * (stream, in the pool), closing (stream, no call: on_close() frees it). A call has a connection
 * until its response is complete. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "net/http_client.h"

struct http_client {
    struct http_client_opts opts;
    struct map kept_by_address; /* struct kept_set */
    struct list kept;           /* connections, the one used last first */
    size_t n_kept;
    struct list calls;
    size_t n_calls;
    uint64_t connects, reuses, retries;
    bool is_closing;
};

struct client_conn {
    struct http_client *client;
    struct http_call *call;
    struct stream *stream; /* NULL: dialling */
    struct loop_io dial;
    struct loop_timer dial_timer;
    int fd;        /* while dialling */
    char *address; /* NULL: not to be kept */
    struct list in_kept, in_set;
    bool is_kept, is_reused;
};

enum framing { FRAMING_NONE, FRAMING_LENGTH, FRAMING_CHUNKED, FRAMING_CLOSE };

struct http_call {
    struct http_client *client;
    struct client_conn *conn;
    const struct http_call_ops *ops;
    void *ctx;
    void (*dispose)(void *ctx); /* when the call is freed; may be NULL */
    struct list in_calls;
    struct arena arena;
    const char *address; /* may be NULL */
    unsigned depth;      /* callbacks of the call under way */
    bool is_over;        /* freed when depth is 0 */

    enum http_method method;
    struct buf out; /* the head, and what was written before the connection was made */
    struct str body;
    int64_t out_left; /* bytes to come of a streamed body with a length */
    bool is_streamed, is_out_chunked, is_out_done;
    bool may_retry, wants_upgrade;
    bool is_held;     /* the head waits in `out` for the first bytes of the body */
    bool was_sending; /* the request was not out yet when the timer was set */

    size_t scanned, n_infos;
    struct http_head head;
    bool has_byte, has_head, is_paused;
    enum framing framing;
    struct http_chunked chunked;
    uint64_t left; /* FRAMING_LENGTH: bytes to come */
};

/* ---- http_client.c ---- */

/* A connection for C: from the pool (unless IS_FRESH) or being dialled; FD > 0 is adopted. It
 * belongs to the call from now on. False with E filled on failure. */
bool conn_get(struct http_call *c, int fd, bool is_fresh, struct err *e);
/* The call is done with its connection: keeps it for the next one, or closes it. */
void conn_release(struct http_call *c, bool is_reusable);
/* Frees a connection whose stream was given away. */
void conn_forget(struct client_conn *conn);

/* ---- http_call.c ---- */

/* The connection is made (IS_LATE: by the loop, not inside http_client_call()): sends the
 * request. */
void call_connected(struct http_call *c, bool is_late);
/* The connection is gone (REASON as in stream_ops.on_close), or could not be made: WHY is set. The
 * call has none any more. */
void call_lost(struct http_call *c, int reason, const char *why);
/* Bytes for the call; returns how many were used. The call may be over afterwards. */
size_t call_feed(struct http_call *c, const char *p, size_t len);
/* Many bytes wait: as stream_ops.on_bulk. */
ssize_t call_bulk(struct http_call *c);
void call_eof(struct http_call *c);
void call_drained(struct http_call *c);
void call_timeout(struct http_call *c);
/* Ends the call with an error: closes the connection and calls on_end(). */
void call_fail(struct http_call *c, int error, const char *why);
