/* SPDX-License-Identifier: MIT */
/* Passing on what a tool inside a cell has answered. What the answer is, is checked, because
 * anything inside the cell could have written it; a long one is read and rewritten on a
 * worker, so that no cell chooses how long the loop's thread takes. */
#pragma once

#include "base/str.h"

struct locals;
struct mcp_call;
struct work_pool;

/* Answers CALL with BODY, {"content", "structuredContent" when HAS_STRUCTURE, "isError"}, now or
 * later. OWNER is the account whose turn it is. */
struct local_pass {
    struct locals *locals;
    struct mcp_call *call;
    const char *owner;
    bool has_structure;
};
void local_pass_on(const struct local_pass *q, struct str body);

/* The threads for it, made when they are first needed; NULL: there are none. */
struct work_pool *locals_workers(struct locals *l);
