/* SPDX-License-Identifier: MIT */
/* Questions to the client in the middle of a call: elicitation, sampling, roots.
 *
 * With a session they are requests of the server, and the call waits. In 2026-07-28 the call ends
 * with what is asked for, and the client calls again with the answers: the callback runs again from
 * its beginning, and mcp_ask() finds the answers there, those of earlier rounds included (they
 * travel in a signed requestState). A callback must therefore do nothing that counts before it has
 * asked all it needs to know. In a task (mcp/task.h) it waits on either wire. */
#pragma once

#include "mcp/mcp.h"

enum mcp_capability {
    MCP_CAN_SAMPLE = 1,
    MCP_CAN_ELICIT = 2,
    MCP_CAN_ROOTS = 4,
    MCP_CAN_TASKS = 8
};

enum { MCP_MAX_ASKS = 8 };

struct mcp_ask {
    const char *key;    /* unique within the callback */
    const char *method; /* elicitation/create, sampling/createMessage or roots/list */
    struct str params;  /* JSON text */
    bool is_optional;   /* not asked of a client that cannot answer it */
};

/* ANSWERS is an object with the client's result for each key. NULL when there will be none: the
 * client refused one, left or took too long. CALL must still be answered. */
typedef void mcp_answers_fn(struct mcp_call *call, const struct json *answers);

/* Asks up to MCP_MAX_ASKS questions at once; FN may be called before this returns, and the call may
 * be over when it returns: CALL is not the caller's afterwards. A client that cannot answer a
 * question that is not optional gets an error. */
void mcp_ask(struct mcp_call *call, const struct mcp_ask *asks, size_t n, mcp_answers_fn *fn);

/* What the client of this call said it can do: bits of enum mcp_capability. */
unsigned mcp_client_can(const struct mcp_call *call);
/* Ends the call with the error of a client that lacks what BITS say. */
void mcp_reply_missing(struct mcp_call *call, unsigned bits);
