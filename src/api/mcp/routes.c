/* SPDX-License-Identifier: MIT */
/* The MCP surface: the service's own tools under /mcp, and those of apps that were acquired. */
#include "api/klavis/klavis.h"
#include "api/local/local.h"
#include "api/mcp/shape.h"
#include "api/mcp/tools.h"
#include "api/route.h"
#include "base/cleanup.h"

/* The servers of local sandboxes have an address each. */
#define LOCAL_SERVERS(X)                                                                           \
    X("/filesystem"), X("/git"), X("/terminal"), X("/desktop-commander"), X("/arxiv"),             \
        X("/excel"), X("/word"), X("/powerpoint"), X("/code-executor"), X("/code-runner"),         \
        X("/pdf-tools"), X("/google_cloud"), X("/localmemory"), X("/poste_email_toolathlon")
#define PREFIX(path) path

#define MESSAGES "application/json, text/event-stream"
#define EVENTS   "text/event-stream"

static const char *const prefixes[] = {"/mcp", LOCAL_SERVERS(PREFIX), NULL};

/* What is read here, on the loop's thread, and what is passed on as it is. */
enum { MESSAGE_MAX = 4 << 20, PASSED_MESSAGE_MAX = 64 << 20 };

/* The endpoint with and without a slash behind it: clients differ. */
#define ENDPOINT(path)                                                                             \
    {HTTP_POST,                                                                                    \
     path,                                                                                         \
     .auth = ROUTE_KEY,                                                                            \
     .body = ROUTE_BYTES,                                                                          \
     .max_body = MESSAGE_MAX,                                                                      \
     .handler = mcp_endpoint,                                                                      \
     .summary = "Send a message to the service's MCP server",                                      \
     .request = "RpcMessage",                                                                      \
     .response = "RpcMessage",                                                                     \
     .response_type = MESSAGES},                                                                   \
        {HTTP_GET,                                                                                 \
         path,                                                                                     \
         .auth = ROUTE_KEY,                                                                        \
         .handler = mcp_endpoint,                                                                  \
         .summary = "Open or resume a stream of an MCP session",                                   \
         .response_type = EVENTS},                                                                 \
    {                                                                                              \
        HTTP_DELETE, path, .auth = ROUTE_KEY, .handler = mcp_endpoint, .status = 204,              \
                           .summary = "End an MCP session"                                         \
    }

#define INSTANCE "/{server_name!}"
#define LEASE                                                                                      \
    {                                                                                              \
        "instance_id", "string", "The lease, returned when the sandbox was acquired"               \
    }

#define LOCAL_ID                                                                                   \
    {                                                                                              \
        "local_sandbox_id", "string", "Returned when the local sandbox was acquired"               \
    }
#define LOCAL_ENDPOINT(path)                                                                       \
    {HTTP_POST,                                                                                    \
     path "/mcp",                                                                                  \
     .body = ROUTE_BYTES,                                                                          \
     .max_body = MESSAGE_MAX,                                                                      \
     .handler = klavis_mcp,                                                                        \
     .summary = "Send a message to a server of a local sandbox",                                   \
     .request = "RpcMessage",                                                                      \
     .response = "RpcMessage",                                                                     \
     .response_type = MESSAGES,                                                                    \
     .query = {LOCAL_ID}},                                                                         \
        {HTTP_GET,                                                                                 \
         path "/mcp",                                                                              \
         .handler = klavis_mcp,                                                                    \
         .summary = "Open or resume a stream of a session",                                        \
         .response_type = EVENTS,                                                                  \
         .query = {LOCAL_ID}},                                                                     \
    {                                                                                              \
        HTTP_DELETE, path "/mcp", .handler = klavis_mcp, .status = 204,                            \
                                  .summary = "End a session", .query = {                           \
                                      LOCAL_ID                                                     \
                                  }                                                                \
    }

static const struct route routes[] = {
    ENDPOINT("/mcp"),
    ENDPOINT("/mcp/"),
    {HTTP_GET, "/mcp/sse", .auth = ROUTE_KEY, .handler = mcp_older_stream,
     .summary = "Open the stream of the older MCP transport", .response_type = EVENTS},
    {HTTP_POST, "/mcp/messages", .auth = ROUTE_KEY, .body = ROUTE_BYTES, .max_body = MESSAGE_MAX,
     .handler = mcp_older_messages, .status = 202,
     .summary = "Send a message over the older MCP transport", .request = "RpcMessage",
     .query = {{"sessionId", "string", "From the first event of the stream"}}},

    LOCAL_SERVERS(LOCAL_ENDPOINT),

    /* Of the apps that were acquired. */
    {HTTP_POST, INSTANCE "/mcp", ROUTE_OPEN, ROUTE_BYTES, MESSAGE_MAX, .handler = klavis_mcp,
     .summary = "Send a message to the MCP server of an app", .request = "RpcMessage",
     .response = "RpcMessage", .response_type = MESSAGES, .query = {LEASE}},
    {HTTP_GET, INSTANCE "/mcp", ROUTE_OPEN, .handler = klavis_mcp,
     .summary = "Open or resume a stream of a session, if the app has sessions",
     .response_type = EVENTS, .query = {LEASE}},
    {HTTP_DELETE, INSTANCE "/mcp", ROUTE_OPEN, .handler = klavis_mcp, .status = 204,
     .summary = "End a session, if the app has sessions", .query = {LEASE}},
    {HTTP_GET, INSTANCE "/sse", ROUTE_OPEN, .handler = klavis_mcp_stream,
     .summary = "Open the stream of the older MCP transport to an app", .response_type = EVENTS,
     .query = {LEASE}},
    {HTTP_POST, INSTANCE "/messages", ROUTE_OPEN, ROUTE_BYTES, MESSAGE_MAX,
     .handler = klavis_mcp_messages, .status = 202,
     .summary = "Send a message to an app over the older MCP transport", .request = "RpcMessage",
     .query = {LEASE, {"sessionId", "string", "From the first event of the stream"}}},

    /* Servers of the operator's own, in local sandboxes. */
    {HTTP_POST, "/{own_server}/mcp", ROUTE_OPEN, ROUTE_STREAM, PASSED_MESSAGE_MAX,
     .handler = local_own_mcp,
     .summary = "Send a message to an MCP server of your own in a local sandbox",
     .request = "RpcMessage", .response = "RpcMessage", .response_type = MESSAGES,
     .query = {LOCAL_ID}},
    {HTTP_GET, "/{own_server}/mcp", ROUTE_OPEN, .handler = local_own_mcp,
     .summary = "Open its stream of notifications", .response_type = EVENTS, .query = {LOCAL_ID}},
    {HTTP_DELETE, "/{own_server}/mcp", ROUTE_OPEN, .handler = local_own_mcp,
     .summary = "End a session", .response_type = "text/plain", .query = {LOCAL_ID}},
};

const struct surface surface_mcp = {
    .name = "mcp",
    .prefixes = prefixes,
    .is_guarded = true,
    .has_cors = true,
    .shape = mcp_shape,
    .error_schema = "RpcError",
    .routes = routes,
    .n_routes = ARRAY_LEN(routes),
    .schemas = mcp_schemas,
};
