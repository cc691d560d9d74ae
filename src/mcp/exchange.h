/* SPDX-License-Identifier: MIT */
/* The server; exchanges and calls. An exchange is what one POST holds: a call, or a batch of them.
 */
#pragma once

#include "loop/loop.h"
#include "mcp/ask.h"
#include "mcp/http.h"
#include "mcp/question.h"
#include "mcp/session.h"
#include "mcp/table.h"

enum {
    MCP_MAX_BATCH = 64,
    MCP_MAX_ID = 256,         /* bytes of an id or progress token as JSON */
    MCP_MAX_NAME = 4096,      /* bytes of a name or URI */
    MCP_MAX_LISTENERS = 1024, /* of a server */
    MCP_KEY_LEN = 32,
    MCP_ASK_MS = 600000 /* how long a question waits */
};

/* ---- the server ---- */

struct mcp_server {
    struct mcp_table table;
    struct loop *loop;
    struct map sessions;
    struct map ended;      /* ids that would be resumed */
    struct list by_use;    /* sessions, the one used last at the end */
    struct list exchanges; /* all under way */
    struct list listeners; /* streams of subscriptions/listen */
    struct map tasks;      /* by id */
    struct list task_list; /* oldest first */
    size_t n_calls, n_listeners;
    struct loop_timer sweep;
    uint64_t next_ask;
    unsigned char key[MCP_KEY_LEN]; /* signs requestState */
    bool is_dead;                   /* freed when the last exchange ends */
};

/* ---- exchanges and calls ---- */

struct mcp_exchange {
    struct mcp_server *server;
    struct arena arena;
    struct list node, in_session;
    struct mcp_session *session; /* NULL: none, or gone */
    struct mcp_scope scope;
    struct http_req *http; /* not answered yet, and not the stream's */
    struct mcp_stream *stream;
    struct list calls;
    size_t n_open;  /* calls, and one while they are being started */
    struct buf out; /* answers of a batch */
    struct loop_timer patience;
    enum mcp_version version;
    int status; /* of the HTTP answer; 0: 200 */
    bool is_batch, has_new_session, may_stream, is_cancelled;
    bool is_pair;          /* of the older wire: answers go to the session's stream */
    bool is_task;          /* its request was answered with a task: see task.h */
    struct mcp_task *task; /* NULL: none, or gone */
};

struct call {
    struct mcp_call pub;
    struct mcp_exchange *x;
    struct list node;
    const struct mcp_method *method;
    struct str id, token; /* JSON; a token's .p is NULL: none */
    enum mcp_level level; /* from which log lines are wanted; MCP_LEVEL_COUNT: none */
    unsigned can;
    bool is_cancelled, has_failed; /* has_failed: the answer is a JSON-RPC error */
    struct buf out;
    struct jw w;
    const struct mcp_tool *tool; /* that is called, or NULL */
    struct loop_timer grace;     /* until the call becomes a task */
    struct list waits;           /* among those that wait for a task */
    /* Questions. */
    mcp_answers_fn *fn;
    struct json *answers;
    size_t n_asked;
    struct loop_timer ask_timer;
};

static inline struct call *call_of(struct mcp_call *call)
{
    return container_of(call, struct call, pub);
}
static inline bool mcp_is_modern(const struct mcp_exchange *x)
{
    return x->version >= MCP_V_2026_07_28;
}

/* Starts the call of REQUEST (an object with a method); it may be over when this returns. */
void mcp_call_start(struct mcp_exchange *x, const struct json *request, struct str id);
void mcp_call_cancel(struct call *c);
/* The answer is TEXT (may be empty: none); frees the call. */
void mcp_call_over(struct call *c, struct str text);
/* Answers with the whole result object RESULT. */
void mcp_reply_whole(struct mcp_call *call, struct str result);
/* The stream of the exchange, opened now if need be; NULL when it cannot be one. */
struct mcp_stream *mcp_exchange_stream(struct mcp_exchange *x);
struct mcp_exchange *mcp_exchange_new(struct mcp_server *s, struct http_req *r,
                                      const struct mcp_scope *scope);
void mcp_exchange_join(struct mcp_exchange *x, struct mcp_session *n);
/* All its calls were started: prepares for those that are not over. */
void mcp_exchange_wait(struct mcp_exchange *x);
/* Cancels all its calls; X may be gone afterwards. */
void mcp_exchange_cancel(struct mcp_exchange *x);
/* Answers the HTTP request: TEXT, or 202 without any. */
void mcp_exchange_reply(struct mcp_exchange *x, struct str text);
/* Sends TEXT on the exchange's stream. */
void mcp_call_send(struct mcp_exchange *x, struct str text);
void mcp_exchange_hold(struct mcp_exchange *x);
/* The message that BODY is, or NULL after answering. */
struct json *mcp_exchange_parse(struct mcp_exchange *x, struct str body);
/* Does what MESSAGE asks for. */
void mcp_exchange_take(struct mcp_exchange *x, const struct json *message);
/* One call less; the last one ends the exchange. */
void mcp_exchange_drop(struct mcp_exchange *x);

/* ---- methods ---- */

struct mcp_method {
    const char *name;
    bool is_stateful, is_modern; /* which wires have it */
    void (*run)(struct call *c);
    const char *named_by; /* the parameter that Mcp-Name repeats, or NULL */
    bool is_cached;       /* 2026-07-28: its results say for how long they hold */
    bool (*is_there)(const struct mcp_desc *d); /* NULL: in every server */
};
/* The method of that name and wire, or NULL. */
const struct mcp_method *mcp_method_find(struct str name, bool is_modern);
/* The bits of a capabilities object. */
unsigned mcp_capabilities(const struct json *v);
/* The level of that name, or MCP_LEVEL_COUNT. */
enum mcp_level mcp_level_of(struct str name);
void mcp_method_listen(struct call *c);
