/* SPDX-License-Identifier: MIT */
/* Inside of the HTTP server: what http_server.c (listeners, life of the server), http_conn.c
 * (connections and what arrives) and http_reply.c (answers) share. Not for users. An idle
 * connection is a struct http_conn and its stream. While a request is under way the connection also
 * has a struct http_xchg with the request, its arena and the state of its answer; these are reused,
 * last used first, so that their memory is warm in the cache. */
#pragma once

#include <stdatomic.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "net/http_server.h"

enum http_in {
    HTTP_IN_HEAD,     /* waits for, or inside, a head */
    HTTP_IN_BODY,     /* inside a request's body */
    HTTP_IN_DONE,     /* the request is complete, its answer is not */
    HTTP_IN_SINK,     /* the connection will be closed: what arrives is dropped */
    HTTP_IN_GREETING, /* before the first request, where the server wants one */
};

enum http_body_mode {
    HTTP_BODY_HELD, /* the handler has not said yet: bytes wait */
    HTTP_BODY_READ,
    HTTP_BODY_STREAM,
    HTTP_BODY_DROP, /* nobody wants the rest of the body */
};

struct http_conn {
    struct list node;
    struct http_server *server; /* NULL once the server was freed */
    struct stream *stream;      /* NULL once the stream is gone or given away */
    struct http_xchg *x;        /* the request under way */
    size_t scanned;             /* of an incomplete head */
    uint64_t body_left;         /* bytes, unless chunked */
    uint64_t dropped;           /* bytes of a body that nobody wanted */
    struct http_chunked chunked;
    struct loop_timer turn; /* goes on with pipelined requests */
    uint8_t in;             /* enum http_in */
    uint8_t mode;           /* enum http_body_mode */
    uint8_t depth;          /* callbacks of the stream that are running */
    bool is_chunked;
    bool is_partial; /* a head has begun */
    bool is_eof;     /* the peer closed its sending side */
    bool has_more;   /* body bytes came together with the head */
    bool is_gone;    /* the stream was given away: free when the last callback returns */
    bool is_fresh;   /* TLS: the handshake's deadline is running */
};

struct http_xchg {
    struct http_req req;
    struct arena arena;
    struct http_xchg *next_free;
    /* body */
    uint64_t body_max, body_seen;
    struct buf body; /* larger bodies; small ones are in the arena */
    char *small;
    void (*body_done)(struct http_req *r, void *ctx);
    const struct http_body_sink *sink;
    ssize_t (*bulk)(struct http_req *r, void *ctx, int from, size_t max);
    void *body_ctx;
    bool is_paused, is_aborted;
    /* answer */
    char *extra; /* header lines that were added */
    size_t extra_len, extra_cap;
    struct str head;  /* of a streamed answer: not sent yet */
    int64_t out_left; /* bytes that the answer still owes; -1: chunked or until the end */
    bool is_chunked, has_no_body, is_kept_alive, is_started, is_corked, has_reserve, is_patient;
    void (*drain)(struct http_req *r, void *ctx);
    void *drain_ctx;
    /* on its way to another server */
    struct loop_msg msg;
    struct http_server *move_to;
    void (*move_fn)(struct http_req *r, void *ctx);
    void *move_ctx;
};

struct http_listener {
    struct list node;
    struct loop_io io;
    struct loop_timer retry; /* after accept(2) ran out of descriptors */
    struct http_server *server;
};

struct http_server {
    struct http_server_opts opts;
    struct list conns, listeners;
    struct http_server_stats stats;
    struct http_xchg *free_list;
    size_t n_free;
    uint32_t id_prefix, id_next;
    atomic_uint n_arriving; /* connections on their way from other servers */
    bool is_draining;
    struct loop_timer grace;
    void (*drained)(void *ctx);
    void *drained_ctx;
    /* "Date: …\r\n" and "Server: …\r\n", renewed each second. */
    char common[160];
    size_t common_len;
    int64_t common_until_ms;
};

static inline struct http_xchg *http_xchg_of(struct http_req *r)
{
    return container_of(r, struct http_xchg, req);
}

/* http_server.c */
struct http_xchg *http_xchg_take(struct http_server *s);
/* Gives X back to S, or frees it when S is NULL. */
void http_xchg_put(struct http_server *s, struct http_xchg *x);
struct str http_server_common(struct http_server *s);
/* A connection has left S: notifies whoever waits for the drain. */
void http_server_left(struct http_server *s);

/* http_conn.c */
int http_conn_new(struct http_server *s, int fd);
/* The server is freed: closes the stream; a request under way loses its peer. */
void http_conn_orphan(struct http_conn *c);
bool http_conn_is_idle(const struct http_conn *c);
/* True when the connection can serve another request after this one's answer. */
bool http_conn_can_stay(const struct http_conn *c);
/* The answer is complete: on to the next request when IS_KEPT, else to the end. C may be freed. */
void http_conn_next(struct http_conn *c, bool is_kept);
/* The stream has another owner now; C is freed, at the latest when its callbacks return. */
void http_conn_gone(struct http_conn *c);

static inline bool http_conn_is_moving(const struct http_conn *c)
{
    return c->x && c->x->move_to;
}
void http_conn_set_timeout(struct http_conn *c); /* as its state asks for */
void http_conn_end(struct http_conn *c);         /* closes when the output is written */
/* Answers a fault that the server found; the connection ends. */
void http_send_error(struct http_xchg *x, int status, const char *reason);
/* The body of C's request cannot be read to its end. */
void http_body_fault(struct http_conn *c, int status, const char *reason);
/* The peer is gone, or at least its sending side, while a request is under way. */
void http_abort_request(struct http_conn *c);

/* http_body.c: bytes of a body, as stream_ops.on_data and on_bulk; and its end. */
size_t http_on_body(struct http_conn *c, const char *p, size_t len);
ssize_t http_on_body_bulk(struct http_conn *c);
void http_body_end(struct http_conn *c);

/* http_reply.c: sends the head of a streamed answer that waits for its first bytes. */
void http_flush_head(struct http_xchg *x);
/* Ends the request: access hook, memory; the connection goes on as IS_KEPT says. */
void http_complete(struct http_xchg *x, bool is_kept);
