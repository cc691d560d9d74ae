/* SPDX-License-Identifier: MIT */
/* Tasks as clients see them: how they are written, the methods, and which calls become one. */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/task.h"

enum { POLL_MS = 1000, RELATED_MAX = 256 };

#define NO_ROOM                                                                                    \
    "{\"code\":-32603,\"message\":\"no room to keep the result: fetch those of other tasks, or "   \
    "wait "                                                                                        \
    "until they expire\"}"

/* ---- writing ---- */

static void put_task_time(struct jw *w, const char *key, int64_t us)
{
    char text[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(text, us);
    jw_key(w, key);
    jw_cstr(w, text);
}

static void put_task_ms(struct jw *w, const char *key, int64_t ms)
{
    jw_key(w, key);
    jw_int(w, ms);
}

static struct str task_error(const struct mcp_task *t)
{
    return t->outcome ? str_n(t->outcome, t->outcome_len) : STR(NO_ROOM);
}

static void put_task_questions(struct jw *w, const struct mcp_task *t)
{
    jw_key(w, "inputRequests");
    jw_object(w);
    for (size_t i = 0; i < t->n_asks; i++) {
        const struct mcp_question *q = &t->asks[i];
        if (q->is_answered)
            continue;
        jw_key_str(w, q->key);
        jw_object(w);
        jw_key(w, "method");
        jw_cstr(w, q->method);
        jw_key(w, "params");
        jw_raw(w, q->params);
        jw_end(w);
    }
    jw_end(w);
}

void mcp_put_task(struct jw *w, const struct mcp_task *t, bool is_modern, bool is_whole)
{
    jw_key(w, "taskId");
    jw_cstr(w, t->id);
    jw_key(w, "status");
    jw_cstr(w, mcp_status_names[t->status]);
    if (t->text[0]) {
        jw_key(w, "statusMessage");
        jw_cstr(w, t->text);
    }
    put_task_time(w, "createdAt", t->created_us);
    put_task_time(w, "lastUpdatedAt", t->updated_us);
    put_task_ms(w, is_modern ? "ttlMs" : "ttl", t->ttl_ms);
    put_task_ms(w, is_modern ? "pollIntervalMs" : "pollInterval", POLL_MS);
    if (!is_whole)
        return;
    if (t->status == MCP_COMPLETED) {
        jw_key(w, "result");
        mcp_put_task_result(w, t, is_modern);
    } else if (t->status == MCP_FAILED) {
        jw_key(w, "error");
        jw_raw(w, task_error(t));
    } else if (t->status == MCP_INPUT_REQUIRED) {
        put_task_questions(w, t);
    }
}

struct str mcp_related_task(const struct mcp_task *t, char *out, size_t size)
{
    int n = snprintf(out, size, "{\"io.modelcontextprotocol/related-task\":{\"taskId\":\"%s\"}}",
                     t->id);

    return str_n(out, n > 0 && (size_t)n < size ? (size_t)n : 0);
}

void mcp_put_task_result(struct jw *w, const struct mcp_task *t, bool is_modern)
{
    char related[RELATED_MAX];
    struct str body = str_n(t->outcome, t->outcome_len);
    struct buf text auto_buf = BUF_INIT(body.len + RELATED_MAX);

    if (!is_modern) {
        mcp_put_with_meta(w, body, mcp_related_task(t, related, sizeof related));
        return;
    }
    (void)buf_add_lit(&text, "{\"resultType\":\"complete\"");
    (void)buf_add_str(&text, body.len > 2 ? STR(",") : STR_NULL);
    (void)buf_add_str(&text, str_skip(body, 1));
    mcp_put_with_meta(w, buf_ok(&text) ? buf_str(&text) : body, t->server->table.meta);
}

/* ---- the outcome of 2025-11-25 ---- */

static void answer_outcome(struct call *c, struct mcp_task *t)
{
    struct buf text auto_buf = BUF_INIT(c->x->server->table.desc.limits.max_answer + RELATED_MAX);
    struct jw w = jw_to(&text);

    if (t->status == MCP_CANCELLED) {
        mcp_reply_fail(&c->pub, MCP_INTERNAL_ERROR, "the task was cancelled");
        return;
    }
    t->is_fetched = true;
    jw_object(&w);
    jw_key(&w, "jsonrpc");
    jw_cstr(&w, "2.0");
    jw_key(&w, "id");
    jw_raw(&w, c->id);
    jw_key(&w, t->status == MCP_FAILED ? "error" : "result");
    if (t->status == MCP_FAILED)
        jw_raw(&w, task_error(t));
    else
        mcp_put_task_result(&w, t, false);
    jw_end(&w);
    if (buf_ok(&text))
        mcp_call_over(c, buf_str(&text));
    else
        mcp_reply_fail(&c->pub, MCP_INTERNAL_ERROR, "the result is too large");
}

static void refuse_task(struct call *c)
{
    mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "Task not found");
}

void mcp_task_answer_waiting(struct list *waiting, struct mcp_task *t)
{
    struct list *it;

    while ((it = list_pop(waiting))) {
        struct call *c = list_entry(it, struct call, waits);
        if (t)
            answer_outcome(c, t);
        else
            refuse_task(c);
    }
}

/* ---- methods ---- */

/* The task that C names, or the memory of one in LOST; NULL after answering. */
static struct mcp_task *read_task(struct call *c, struct mcp_task *lost)
{
    struct mcp_server *s = c->x->server;
    struct str id = json_str(json_get(c->pub.params, "taskId"), STR_NULL);

    if (mcp_is_modern(c->x) && !(c->can & MCP_CAN_TASKS)) {
        mcp_reply_missing(&c->pub, MCP_CAN_TASKS);
        return NULL;
    }
    struct mcp_task *t = mcp_task_find(s, id, c->x->scope.owner);
    if (t)
        return t;
    if (mcp_task_was_lost(s, id, c->x->scope.owner, lost))
        return lost;
    refuse_task(c);
    return NULL;
}

static void answer_empty(struct call *c)
{
    (void)mcp_result_begin(&c->pub);
    mcp_result_end(&c->pub);
}

static void answer_task(struct call *c, struct mcp_task *t)
{
    bool is_modern = mcp_is_modern(c->x);
    struct jw *w = mcp_result_begin(&c->pub);

    mcp_put_task(w, t, is_modern, is_modern);
    t->is_fetched |= is_modern && mcp_status_is_over(t->status);
    mcp_result_end(&c->pub);
}

void mcp_method_task_get(struct call *c)
{
    struct mcp_task lost, *t = read_task(c, &lost);

    if (t)
        answer_task(c, t);
}

void mcp_method_task_cancel(struct call *c)
{
    struct mcp_task lost, *t = read_task(c, &lost);

    if (!t)
        return;
    if (mcp_is_modern(c->x)) {
        if (t != &lost)
            mcp_task_cancel(t);
        answer_empty(c);
    } else if (mcp_status_is_over(t->status)) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "Cannot cancel a task that is %s",
                       mcp_status_names[t->status]);
    } else {
        mcp_task_cancel(t);
        answer_task(c, t);
    }
}

void mcp_method_task_update(struct call *c)
{
    const struct json *given = json_get(c->pub.params, "inputResponses");
    struct mcp_task lost, *t = read_task(c, &lost);

    if (!t)
        return;
    for (size_t i = 0; json_is(given, JSON_OBJECT) && i < given->n; i++)
        if (given->members[i].value.type != JSON_OBJECT)
            given = NULL;
    if (!json_is(given, JSON_OBJECT)) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "inputResponses must be an object of objects");
        return;
    }
    /* The last answer lets the work go on, which may ask again: those are other questions. */
    const struct mcp_question *asks = t->asks;
    for (size_t i = 0; asks && i < given->n && t->asks == asks; i++)
        if (mcp_task_answer(t, given->members[i].key, &given->members[i].value) < 0) {
            mcp_reply_fail(&c->pub, MCP_INTERNAL_ERROR, "no memory for the answers");
            return;
        }
    answer_empty(c);
}

void mcp_method_task_list(struct call *c)
{
    const struct json *cursor = json_get(c->pub.params, "cursor");

    if (cursor && cursor->type != JSON_NULL) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "invalid cursor");
        return;
    }
    struct jw *w = mcp_result_begin(&c->pub);
    jw_key(w, "tasks");
    jw_array(w);
    list_each(it, &c->x->server->task_list)
    {
        const struct mcp_task *t = list_entry(it, struct mcp_task, node);
        if (!str_is(c->x->scope.owner, t->owner))
            continue;
        jw_object(w);
        mcp_put_task(w, t, false, false);
        jw_end(w);
    }
    jw_end(w);
    mcp_result_end(&c->pub);
}

/* Its client does not wait any more: the answer is dropped. */
static void stop_waiting(struct mcp_call *call)
{
    mcp_reply_fail(call, MCP_INTERNAL_ERROR, "cancelled");
}

void mcp_method_task_result(struct call *c)
{
    struct mcp_task lost, *t = read_task(c, &lost);

    if (!t)
        return;
    if (mcp_status_is_over(t->status)) {
        answer_outcome(c, t);
        return;
    }
    c->pub.on_cancel = stop_waiting;
    list_append(&t->waiting, &c->waits);
    mcp_task_put_questions(t, c);
}

/* ---- which calls are tasks ---- */

bool mcp_has_tasks(const struct mcp_desc *d)
{
    for (size_t i = 0; i < d->n_tools; i++)
        if (d->tools[i].tasking != MCP_TASK_NEVER)
            return true;
    return false;
}

static void on_grace_over(struct loop_timer *timer)
{
    struct call *c = container_of(timer, struct call, grace);

    /* Where there is no room for a task the client waits, as it would for any call. */
    if (!c->is_cancelled)
        (void)mcp_task_begin(c);
}

static bool admit_modern(struct call *c, enum mcp_tasking tasking)
{
    struct mcp_server *s = c->x->server;

    if (!(c->can & MCP_CAN_TASKS)) {
        if (tasking == MCP_TASK_MAY)
            return true;
        mcp_reply_missing(&c->pub, MCP_CAN_TASKS);
        return false;
    }
    if (tasking == MCP_TASK_MUST)
        return mcp_task_start(&c->pub) == 0;
    if (tasking == MCP_TASK_MAY)
        (void)loop_timer_start(s->loop, &c->grace, s->table.desc.limits.task_grace_ms,
                               on_grace_over);
    return true;
}

bool mcp_task_admit(struct call *c, const struct mcp_tool *row)
{
    bool is_wanted = c->x->version == MCP_V_2025_11_25 &&
                     json_is(json_get(c->pub.params, "task"), JSON_OBJECT) &&
                     mcp_has_tasks(&c->x->server->table.desc);

    if (mcp_is_modern(c->x))
        return row->tasking == MCP_TASK_NEVER || admit_modern(c, row->tasking);
    if (is_wanted == (row->tasking != MCP_TASK_NEVER) ||
        (!is_wanted && row->tasking == MCP_TASK_MAY))
        return !is_wanted || row->tasking == MCP_TASK_LATER || mcp_task_start(&c->pub) == 0;
    mcp_reply_fail(&c->pub, MCP_NO_METHOD, "Tool " STR_FMT " %s",
                   STR_ARG(str_slice(c->pub.name, 0, 128)),
                   is_wanted ? "does not support task execution" : "must be called as a task");
    return false;
}
