/* SPDX-License-Identifier: MIT */
/* Sessions hold what outlives single requests; a stream is a numbered sequence of events, over
 * whichever connection there is. */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "mcp/rpc.h"
#include "net/sse.h"

struct http_req;
struct mcp_exchange;
struct mcp_server;

enum {
    MCP_MAX_SUBSCRIBED = 128,  /* URIs of one session or listener */
    MCP_MAX_STREAMS = 32,      /* that a session keeps */
    MCP_MAX_EVENTS = 256,      /* that a stream keeps */
    MCP_MAX_KEPT = 1 << 20,    /* bytes of events that a session keeps */
    MCP_SESSION_NAME_LEN = 32, /* hex digits that distinguish sessions */
    MCP_SESSION_ID_LEN = 64,   /* and with their signature, where there is one */
    MCP_MAX_ENDED = 4096,      /* that are remembered, so that they stay ended */
    MCP_HEARTBEAT_MS = 15000,
    MCP_RETRY_MS = 1000
};

/* ---- sessions ---- */

struct mcp_session {
    struct mcp_server *server;
    char id[MCP_SESSION_ID_LEN + 1];
    char *owner;
    enum mcp_version version;
    unsigned can; /* enum mcp_capability */
    enum mcp_level level;
    int64_t used_ms;
    struct list node;      /* in by_use */
    struct list exchanges; /* under way */
    struct list streams;   /* newest last */
    struct list asks;      /* that wait for an answer */
    struct map subscribed; /* URIs */
    size_t n_streams, kept;
    uint32_t next_stream;
    struct mcp_stream *main; /* of GET, or of the older wire; may be NULL */
    bool is_pair;            /* of the older wire: it ends with its stream */
};

/* The id that NAME (MCP_SESSION_NAME_LEN characters) has for OWNER: the same, or with a signature
 * behind it where the server has a secret. KIND: what it is the id of. */
void mcp_sign_id(const struct mcp_server *s, const char *kind, struct str owner, struct str name,
                 char out[MCP_SESSION_ID_LEN + 1]);

/* What a client said when it began. */
struct mcp_hello {
    enum mcp_version version;
    unsigned can;
};
struct mcp_session *mcp_session_new(struct mcp_server *s, struct str owner,
                                    const struct mcp_hello *hello);
/* The session of that id and owner, used now; or NULL. */
struct mcp_session *mcp_session_find(struct mcp_server *s, struct str id, struct str owner);
/* The same; one that was begun before the program started, or that nobody used for long, goes on
 * without its streams and subscriptions, unless it was ended. */
struct mcp_session *mcp_session_resume(struct mcp_server *s, struct str id, struct str owner);
void mcp_session_free(struct mcp_session *n);
/* The client ended it: it does not go on. */
void mcp_session_end(struct mcp_session *n);

/* ---- streams ---- */

struct mcp_stream {
    struct list node;            /* in its session's, or in the listeners */
    struct mcp_session *session; /* NULL: nothing is kept */
    struct mcp_exchange *x;      /* whose answers it carries; NULL: none (any more) */
    struct sse *sse;             /* the connection; NULL: none */
    uint32_t id, next;
    struct list events;
    size_t n_events;
    bool is_done; /* everything is in it; it is kept for those who missed some of it */
    /* Of a listener. */
    struct mcp_server *server;
    char *owner;
    struct str subscription; /* JSON */
    unsigned lists;          /* bits 1 << enum mcp_list */
    struct map uris, task_ids;
};

/* A stream over R; NULL when memory ran out (R was answered). */
struct mcp_stream *mcp_stream_open(struct mcp_session *n, struct http_req *r);
/* Takes R as the stream's connection and sends what is behind event number AFTER. */
void mcp_stream_resume(struct mcp_stream *t, struct http_req *r, uint32_t after);
void mcp_stream_send(struct mcp_stream *t, struct str event, struct str text);
/* True when the peer does not read on: what can be left out is. */
bool mcp_stream_is_full(const struct mcp_stream *t);
/* All was sent: the connection ends; a session may keep the events. */
void mcp_stream_finish(struct mcp_stream *t);
void mcp_stream_hang_up(struct mcp_stream *t, int64_t retry_ms);
void mcp_stream_free(struct mcp_stream *t);
/* The stream of N that event id TEXT belongs to, and the event's number; or NULL. */
struct mcp_stream *mcp_stream_find(struct mcp_session *n, struct str text, uint32_t *ret_seq);
