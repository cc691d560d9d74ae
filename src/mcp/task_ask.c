/* SPDX-License-Identifier: MIT */
/* Questions of tasks: they wait in the task until its client comes for them. */
#include <errno.h>

#include "base/cleanup.h"
#include "mcp/task.h"

enum { RELATED_MAX = 256 };

static int add_question(struct call *c, const struct mcp_ask *from, struct mcp_question *to)
{
    *to = (struct mcp_question){
        .call = c,
        .key = arena_str(c->pub.arena, str_of(from->key)),
        .method = from->method,
        .params = arena_str(c->pub.arena, from->params.len > 0 ? from->params : STR("{}"))};
    list_init(&to->node);
    return to->key.p && to->params.p ? 0 : -ENOMEM;
}

void mcp_task_ask(struct call *c, const struct mcp_ask *asks, size_t n, mcp_answers_fn *fn)
{
    struct mcp_task *t = c->x->task;
    bool is_over = !t || c->is_cancelled || mcp_status_is_over(t->status);

    c->answers = is_over ? NULL : json_new_object(c->pub.arena);
    struct mcp_question *all = c->answers ? arena_zalloc(c->pub.arena, n + 1, sizeof *all) : NULL;
    size_t n_all = 0;
    for (size_t i = 0; all && i < n; i++)
        if ((c->can & mcp_ask_needs(asks[i].method)) &&
            add_question(c, &asks[i], &all[n_all++]) < 0)
            all = NULL;
    if (!all || n_all == 0) {
        fn(&c->pub, all ? take(c->answers) : NULL);
        return;
    }
    c->fn = fn;
    t->asks = all;
    t->n_asks = t->n_open = n_all;
    mcp_task_move(t, MCP_INPUT_REQUIRED);
    list_each(it, &t->waiting) mcp_task_put_questions(t, list_entry(it, struct call, waits));
}

static struct mcp_question *find_open(struct mcp_task *t, struct str key)
{
    for (size_t i = 0; i < t->n_asks; i++)
        if (!t->asks[i].is_answered && str_eq(t->asks[i].key, key))
            return &t->asks[i];
    return NULL;
}

int mcp_task_answer(struct mcp_task *t, struct str key, const struct json *value)
{
    struct mcp_question *q = t ? find_open(t, key) : NULL;

    if (!q)
        return 0;
    struct call *c = t->call;
    struct json *copy = json_copy(c->pub.arena, value);
    if (!copy || json_set_str(c->pub.arena, c->answers, q->key, copy) < 0)
        return -ENOMEM;
    q->is_answered = true;
    list_del(&q->node);
    if (--t->n_open > 0)
        return 0;
    mcp_task_move(t, MCP_WORKING);
    mcp_answers_fn *fn = take(c->fn);
    fn(&c->pub, take(c->answers));
    return 0;
}

void mcp_task_put_questions(struct mcp_task *t, struct call *c)
{
    char meta[RELATED_MAX];

    if (!c->x->session || !mcp_exchange_stream(c->x))
        return;
    struct str related = mcp_related_task(t, meta, sizeof meta);
    for (size_t i = 0; i < t->n_asks; i++)
        if (!t->asks[i].is_answered)
            (void)mcp_question_send(c->x, &t->asks[i], related);
}

void mcp_task_unask(struct mcp_task *t)
{
    for (size_t i = 0; i < t->n_asks; i++)
        list_del(&t->asks[i].node);
    t->asks = NULL;
    t->n_asks = t->n_open = 0;
}
