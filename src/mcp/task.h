/* SPDX-License-Identifier: MIT */
/* Tasks: calls of tools that outlive the request that began them.
 *
 * A call becomes a task by answering its request with the task, and letting go of the connection
 * and the session: the exchange goes on without them, and what the callback answers is kept for
 * whoever asks with the task's id. Two wires: 2025-11-25 (the client asks for a task; tasks/result
 * waits for the outcome) and the extension of 2026-07-28 (the server decides; tasks/get has it).
 *
 * A task belongs to the owner of its request and ends with its ttl, whatever it is doing then. It
 * lives in memory. Its id is signed where the server has a secret, so that the owner of one that
 * was lost learns that, and not that it never was. */
#pragma once

#include "mcp/exchange.h"

enum mcp_status {
    MCP_WORKING,
    MCP_INPUT_REQUIRED,
    MCP_COMPLETED,
    MCP_FAILED,
    MCP_CANCELLED,
    MCP_STATUS_COUNT
};

enum { MCP_TASK_TEXT_MAX = 256, MCP_MAX_TASKS = 4096 /* of a server */ };

#define MCP_TASKS_EXTENSION "io.modelcontextprotocol/tasks"

struct mcp_task {
    struct mcp_server *server;
    struct list node; /* in the server's, oldest first */
    char id[MCP_SESSION_ID_LEN + 1];
    char session[MCP_SESSION_ID_LEN + 1]; /* that learns of changes; "": none */
    char *owner;
    enum mcp_status status;
    char text[MCP_TASK_TEXT_MAX]; /* statusMessage; "": none */
    int64_t created_us, updated_us, ttl_ms;
    struct call *call; /* that does the work; NULL: it is over */
    char *outcome;     /* JSON: the result, or the error when it failed */
    size_t outcome_len;
    bool is_fetched;     /* the client has the outcome: it goes first where room is needed */
    struct list waiting; /* calls of tasks/result */
    struct mcp_question *asks;
    size_t n_asks, n_open; /* n_open: not answered yet */
    struct loop_timer expiry;
};

/* ---- the status ---- */

extern const char *const mcp_status_names[MCP_STATUS_COUNT];
bool mcp_status_is_over(enum mcp_status status);
/* Whether a task may go from one to the other: nothing leaves the last three. */
bool mcp_status_may(enum mcp_status from, enum mcp_status to);

/* ---- tasks ---- */

/* Turns C into a task. 0 (the client has the task now), or -ENOBUFS (the owner or the server has
 * its maximum), -ENOMEM; C must still be answered then. */
int mcp_task_begin(struct call *c);
/* Takes what C answers; C is about to be freed. */
void mcp_task_settle(struct call *c, struct str outcome);
/* The task of that id and owner, or NULL. */
struct mcp_task *mcp_task_find(struct mcp_server *s, struct str id, struct str owner);
/* Whether ID is that of a task of OWNER that is not kept any more though its time is not over; then
 * RET describes it, with OUTCOME static. */
bool mcp_task_was_lost(struct mcp_server *s, struct str id, struct str owner, struct mcp_task *ret);
void mcp_task_cancel(struct mcp_task *t);
/* Ends it, cancels its work and frees it. */
void mcp_task_drop(struct mcp_task *t);
/* Goes to STATUS, which must be possible, and says so to those who listen. */
void mcp_task_move(struct mcp_task *t, enum mcp_status status);
/* What the callback says of its progress. */
void mcp_task_say(struct mcp_task *t, const char *text);
/* Forgets all of OWNER, or with an empty one all there are. */
void mcp_tasks_forget(struct mcp_server *s, struct str owner);

/* ---- questions ---- */

void mcp_task_ask(struct call *c, const struct mcp_ask *asks, size_t n, mcp_answers_fn *fn);
/* Answers the open question KEY with VALUE, an object; the work goes on behind the last one. */
int mcp_task_answer(struct mcp_task *t, struct str key, const struct json *value);
/* Puts the open questions to the client of C, a call of tasks/result with a session. */
void mcp_task_put_questions(struct mcp_task *t, struct call *c);
/* None will be answered any more. */
void mcp_task_unask(struct mcp_task *t);

/* ---- as clients see them ---- */

/* The members of a task; IS_WHOLE: with its outcome or its questions, as in 2026-07-28. */
void mcp_put_task(struct jw *w, const struct mcp_task *t, bool is_modern, bool is_whole);
/* Its whole result, "_meta" and all. */
void mcp_put_task_result(struct jw *w, const struct mcp_task *t, bool is_modern);
/* Writes the _meta that says which task something belongs to. */
struct str mcp_related_task(const struct mcp_task *t, char *out, size_t size);
/* Answers the calls of tasks/result that wait for T, which is over, or with T NULL gone. */
void mcp_task_answer_waiting(struct list *waiting, struct mcp_task *t);
/* Tells the listeners, and the session that began it, of T's status. */
void mcp_task_notify(struct mcp_task *t);

void mcp_method_task_get(struct call *c);
void mcp_method_task_update(struct call *c);
void mcp_method_task_cancel(struct call *c);
void mcp_method_task_list(struct call *c);
void mcp_method_task_result(struct call *c);
bool mcp_has_tasks(const struct mcp_desc *d);
/* Decides whether C, a call of ROW, is a task, and begins it if so. False after answering. */
bool mcp_task_admit(struct call *c, const struct mcp_tool *row);
