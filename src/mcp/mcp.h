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

struct loop;
struct mcp_call;
struct mcp_server;
struct schema_error;

typedef void mcp_handler(struct mcp_call *call);

/* ---- the description; texts may be NULL: nothing is said; they must outlive the server ---- */

/* Whether calls of a tool can be tasks, which outlive their connection. */
enum mcp_tasking {
    MCP_TASK_NEVER,
    MCP_TASK_MAY,   /* when the client asks for it, or the call takes long */
    MCP_TASK_MUST,  /* from the start; clients without tasks cannot call it */
    MCP_TASK_LATER, /* the same, from where the callback calls mcp_task_start() */
    MCP_TASKING_COUNT
};

struct mcp_tool {
    const char *name, *title, *description;
    const char *input;       /* JSON Schema of the arguments; NULL: an object without any */
    const char *output;      /* JSON Schema of structuredContent */
    const char *annotations; /* JSON object */
    mcp_handler *call;
    const void *row; /* the callback's own */
    enum mcp_tasking tasking;
    /* How long a call can take, from its unchecked arguments: its task is kept for longer. NULL: no
     * time to speak of. */
    int64_t (*takes_ms)(const struct mcp_call *call);
};

struct mcp_resource {
    /* "x://a", or a template: {name} stands for one segment, {+name} for anything. */
    const char *uri, *name, *title, *description, *mime;
    mcp_handler *read;
    const void *row;
};

struct mcp_argument {
    const char *name, *description;
    bool is_required;
};

struct mcp_prompt {
    const char *name, *title, *description;
    const struct mcp_argument *args;
    size_t n_args;
    mcp_handler *get;
    const void *row;
};

struct mcp_limits {          /* 0: the default */
    size_t max_body;         /* bytes of a message: 4 MiB */
    size_t max_answer;       /* bytes of an answer: 8 MiB */
    size_t max_sessions;     /* the one that is idle for longest goes first: 10 000 */
    size_t max_calls;        /* under way: 4096 */
    int64_t session_idle_ms; /* a session that nobody used: an hour */
    size_t max_tasks;        /* of one owner, those that are over included: 64 */
    size_t max_task_bytes;   /* of one owner's results that are kept: 32 MiB */
    int64_t max_task_ttl_ms; /* from its beginning: 25 hours; at most 32 bits */
    int64_t task_keep_ms;    /* to fetch a result, when the client does not say: 15 minutes */
    int64_t task_grace_ms;   /* until a call that takes long becomes a task: half a second */
};

struct mcp_desc {
    const char *name, *title, *version, *instructions, *domain;
    const struct mcp_tool *tools;
    const struct mcp_resource *resources, *templates;
    const struct mcp_prompt *prompts;
    size_t n_tools, n_resources, n_templates, n_prompts;
    mcp_handler *complete; /* completion/complete: see c->params */
    /* Answers a tool call whose arguments break the tool's schema; NULL: a result with isError. */
    void (*invalid)(struct mcp_call *call, const struct schema_error *why);
    mcp_handler *unknown_tool; /* answers calls of unknown tools; NULL: -32602 */
    mcp_handler *rename;       /* may rename arguments of a tool before they are checked */
    /* May write the entry of a tool in tools/list in place of ITEM; false: ITEM is right. */
    bool (*describe)(struct mcp_call *call, struct jw *w, struct str item);
    size_t page; /* entries of one list answer; 0: all */
    /* Callers prove who they are by what no foreign web page knows: pages of the server's address
     * or of DOMAIN may call it; else only those from this machine, against DNS rebinding. */
    bool is_keyed;
    bool is_stateless; /* initialize begins no session, so it costs nothing; nothing can be asked */
    struct str secret; /* signs the ids of sessions, which outlive the program then; may be empty */
    /* A task begins or ends its work for CTX, a scope's; may be NULL. A negative result refuses it:
     * -ENOBUFS. */
    int (*task_begin)(void *ctx);
    void (*task_end)(void *ctx);
    bool is_unchecked; /* the callbacks check and complete arguments of tools themselves */
    struct mcp_limits limits;
};

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
