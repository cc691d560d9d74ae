/* SPDX-License-Identifier: MIT */
/* The wires of the MCP engine over HTTP: Streamable HTTP (one endpoint: POST, GET, DELETE) and the
 * older pair of GET /sse and POST /messages.
 *
 * An answer is JSON, or a stream of events when something has to be said before it. Streams of
 * sessions can be resumed with Last-Event-ID for as long as the session keeps their events. */
#pragma once

#include "mcp/mcp.h"

struct http_req;

/* Whose request it is. A session can only be used under the owner that it was made under. */
struct mcp_scope {
    struct str owner;           /* any text */
    void *ctx;                  /* for the callbacks */
    void (*release)(void *ctx); /* when nothing needs CTX any more; may be NULL */
};

/* Serves R, which belongs to the engine from now on (body, abort_ctx and on_abort; not user). */
void mcp_http(struct mcp_server *s, struct http_req *r, const struct mcp_scope *scope);
/* The older pair. MESSAGES is the path (and query) to post to, as the client is to see it; the
 * session is appended as query parameter sessionId. */
void mcp_http_sse(struct mcp_server *s, struct http_req *r, const struct mcp_scope *scope,
                  struct str messages);
void mcp_http_messages(struct mcp_server *s, struct http_req *r, const struct mcp_scope *scope);

/* ---- notices to clients; OWNER empty: to those of all owners ---- */

enum mcp_list {
    MCP_LIST_TOOLS,
    MCP_LIST_RESOURCES,
    MCP_LIST_TEMPLATES,
    MCP_LIST_PROMPTS,
    MCP_LIST_COUNT
};
void mcp_list_changed(struct mcp_server *s, struct str owner, enum mcp_list which);
void mcp_resource_updated(struct mcp_server *s, struct str owner, struct str uri);
/* Ends the sessions and streams of OWNER: what it named is gone. */
void mcp_forget(struct mcp_server *s, struct str owner);

/* Closes the streams that carry no answers, which would stay open for ever: the service stops. */
void mcp_hang_up(struct mcp_server *s);

/* Closes the connection that the call's stream goes over; the client comes back for the rest after
 * RETRY_MS. Nothing happens where streams cannot be resumed. */
void mcp_call_hang_up(struct mcp_call *call, int64_t retry_ms);
