/* SPDX-License-Identifier: MIT */
/* Questions to clients that wait for their answers: see ask.h for what callbacks see of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/list.h"
#include "base/str.h"

struct call;
struct mcp_exchange;
struct mcp_session;

/* A question to the client that waits for its answer. */
struct mcp_question {
    struct list node; /* in the asks of the session that it was sent to */
    uint64_t id;
    struct call *call;
    struct str key;
    const char *method; /* of a task's: it may be put again */
    struct str params;
    bool is_answered;
};

/* Which ability of a client METHOD takes. */
unsigned mcp_ask_needs(const char *method);
/* Sends Q to the client of the session of X, which has a stream. META: JSON of params._meta, or
 * empty. */
int mcp_question_send(struct mcp_exchange *x, struct mcp_question *q, struct str meta);
/* The client's answer to a question. */
void mcp_ask_answered(struct mcp_session *n, const struct json *message);
void mcp_ask_drop(struct call *c);
