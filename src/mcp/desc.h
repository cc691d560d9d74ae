/* SPDX-License-Identifier: MIT */
/* What a server is made of: tables of tools, resources and prompts, and what holds for all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/str.h"

struct mcp_call;
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
