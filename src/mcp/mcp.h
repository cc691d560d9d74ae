/* SPDX-License-Identifier: MIT */
/* The MCP engine: a server is described by tables and callbacks, and the engine speaks the Model
 * Context Protocol for it: revisions 2024-11-05 to 2025-11-25 with sessions, and 2026-07-28
 * without. Wires: mcp/http.h.
 *
 * A callback gets a call and answers it exactly once, now or later, also when it was cancelled
 * (the answer is dropped then). Everything belongs to the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "mcp/desc.h"

struct loop;
struct mcp_server;

/* Compiles DESC, whose rows must outlive the server. NULL with E filled: "tool 'x': …". */
struct mcp_server *mcp_server_new(struct loop *loop, const struct mcp_desc *desc, struct err *e);
/* Ends all sessions and streams. Calls under way are cancelled and may still be answered. */
void mcp_server_free(struct mcp_server *s);
size_t mcp_server_n_sessions(const struct mcp_server *s);

/* ---- calls ---- */

enum { MCP_MAX_VARS = 4 };
struct mcp_call {
    struct mcp_server *server;
    struct arena *arena;           /* lives until the answer */
    void *ctx;                     /* of the request's scope */
    const void *row;               /* of the tool, resource or prompt */
    struct str name;               /* of the tool or prompt, or the URI of the resource */
    const struct json *params;     /* as sent */
    struct json *args;             /* of a tool or prompt: an object, checked, with its defaults */
    struct str vars[MCP_MAX_VARS]; /* what the variables of a template stand for */
    void *user;                    /* the callback's own */
    /* May be set by the callback: the client does not want the answer any more. */
    void (*on_cancel)(struct mcp_call *call);
};

enum mcp_error {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_SERVER_ERROR = -32000
};

/* The answer's result: its members are written between the two. "_meta" and "resultType" are the
 * engine's. The end completes the call: CALL must not be used afterwards. */
struct jw *mcp_result_begin(struct mcp_call *call);
void mcp_result_end(struct mcp_call *call);
/* A tool's result of one text; only its "content", into the object of a result. */
void mcp_reply_text(struct mcp_call *call, struct str text, bool is_error);
void mcp_put_text(struct jw *w, struct str text);
/* A tool's result of a JSON value: as text, and as structuredContent when it is an object. */
void mcp_reply_json(struct mcp_call *call, struct str json_text);
/* A JSON-RPC error; DATA is JSON text or empty. */
void mcp_reply_error(struct mcp_call *call, int code, struct str message, struct str data);
void mcp_reply_fail(struct mcp_call *call, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Turns the call of a tool that is MCP_TASK_LATER into a task: the client has it when this returns
 * 0. Otherwise the call was answered. */
int mcp_task_start(struct mcp_call *call);

/* ---- before the answer ---- */
/* Tells how far the call is, when the client wants it. TOTAL < 0: unknown; MESSAGE may be NULL. */
void mcp_progress(struct mcp_call *call, double progress, double total, const char *message);

enum mcp_level {
    MCP_DEBUG,
    MCP_INFO,
    MCP_NOTICE,
    MCP_WARNING,
    MCP_ERROR,
    MCP_CRITICAL,
    MCP_ALERT,
    MCP_EMERGENCY,
    MCP_LEVEL_COUNT
};
/* A line of log for the client, when it wants that level; DATA is JSON text. */
void mcp_log(struct mcp_call *call, enum mcp_level level, const char *logger, struct str data);
