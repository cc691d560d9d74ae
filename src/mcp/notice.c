/* SPDX-License-Identifier: MIT */
/* Notices to clients that nobody asked for at this moment: lists that changed, resources that were
 * updated. They go to the streams of sessions and to those of subscriptions/listen. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "mcp/exchange.h"
#include "mcp/task.h"

enum { NOTICE_MAX = 64 << 10 };

static const struct {
    const char *filter, *method;
} lists[MCP_LIST_COUNT] = {
    [MCP_LIST_TOOLS] = {"toolsListChanged", "notifications/tools/list_changed"},
    [MCP_LIST_RESOURCES] = {"resourcesListChanged", "notifications/resources/list_changed"},
    [MCP_LIST_TEMPLATES] = {"resourcesListChanged", "notifications/resources/list_changed"},
    [MCP_LIST_PROMPTS] = {"promptsListChanged", "notifications/prompts/list_changed"},
};

/* ---- subscriptions/listen ---- */

static int read_notice_filter(struct mcp_stream *t, const struct json *filter)
{
    const struct json *uris = json_get(filter, "resourceSubscriptions");

    for (unsigned i = 0; i < MCP_LIST_COUNT; i++)
        if (json_bool(json_get(filter, lists[i].filter), false))
            t->lists |= 1U << i;
    for (size_t i = 0; json_is(uris, JSON_ARRAY) && i < uris->n; i++) {
        struct str uri = json_str(&uris->items[i], STR_NULL);
        if (uri.len == 0 || uri.len > MCP_MAX_NAME || map_put(&t->uris, uri, t, NULL) < 0)
            return -EINVAL;
    }
    return 0;
}

/* Those of the client that are known, and nothing of the others. */
static int read_task_filter(struct mcp_stream *t, const struct json *ids, struct mcp_exchange *x)
{
    for (size_t i = 0; json_is(ids, JSON_ARRAY) && i < ids->n; i++) {
        struct str id = json_str(&ids->items[i], STR_NULL);
        if (mcp_task_find(x->server, id, x->scope.owner) &&
            map_put(&t->task_ids, id, t, NULL) == -ENOBUFS)
            return -EINVAL;
    }
    return 0;
}

static struct jw begin_notice(struct buf *b, const char *method, struct str subscription)
{
    struct jw w = jw_to(b);

    jw_object(&w);
    jw_key(&w, "jsonrpc");
    jw_cstr(&w, "2.0");
    jw_key(&w, "method");
    jw_cstr(&w, method);
    if (subscription.p) {
        jw_key(&w, "params");
        jw_object(&w);
        jw_key(&w, "_meta");
        jw_object(&w);
        jw_key(&w, "io.modelcontextprotocol/subscriptionId");
        jw_raw(&w, subscription);
        jw_end(&w);
    }
    return w;
}

static void put_task_ids(struct jw *w, const struct mcp_stream *t, const struct json *ids)
{
    jw_key(w, "taskIds");
    jw_array(w);
    for (size_t i = 0; json_is(ids, JSON_ARRAY) && i < ids->n; i++)
        if (map_get(&t->task_ids, json_str(&ids->items[i], STR_NULL)))
            jw_value(w, &ids->items[i]);
    jw_end(w);
}

static void acknowledge(struct mcp_stream *t, const struct json *filter)
{
    struct buf b auto_buf = BUF_INIT(MCP_MAX_SUBSCRIBED * MCP_MAX_NAME);
    struct jw w = begin_notice(&b, "notifications/subscriptions/acknowledged", t->subscription);

    jw_key(&w, "notifications");
    jw_object(&w);
    for (unsigned i = 0; i < MCP_LIST_COUNT; i++)
        if ((t->lists & 1U << i) && i != MCP_LIST_TEMPLATES) {
            jw_key(&w, lists[i].filter);
            jw_bool(&w, true);
        }
    if (t->uris.n > 0) {
        jw_key(&w, "resourceSubscriptions");
        jw_value(&w, json_get(filter, "resourceSubscriptions"));
    }
    if (json_get(filter, "taskIds"))
        put_task_ids(&w, t, json_get(filter, "taskIds"));
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    if (buf_ok(&b))
        mcp_stream_send(t, STR_NULL, buf_str(&b));
}

static void send_task_state(struct mcp_stream *to, const struct mcp_task *t)
{
    struct buf b auto_buf = BUF_INIT(t->outcome_len + NOTICE_MAX);
    bool is_modern = to->subscription.p != NULL;
    struct jw w = begin_notice(&b, is_modern ? "notifications/tasks" : "notifications/tasks/status",
                               to->subscription);

    if (!is_modern) {
        jw_key(&w, "params");
        jw_object(&w);
    }
    mcp_put_task(&w, t, is_modern, is_modern);
    jw_end(&w);
    jw_end(&w);
    bool is_pair = to->session && to->session->is_pair;
    if (buf_ok(&b) && !mcp_stream_is_full(to))
        mcp_stream_send(to, is_pair ? STR("message") : STR_NULL, buf_str(&b));
}

/* What changed before the client listened. */
static void send_first_states(struct mcp_server *s, struct mcp_stream *to)
{
    if (to->task_ids.n == 0)
        return;
    list_each(it, &s->task_list)
    {
        const struct mcp_task *t = list_entry(it, struct mcp_task, node);
        if (map_get(&to->task_ids, str_of(t->id)))
            send_task_state(to, t);
    }
}

void mcp_task_notify(struct mcp_task *t)
{
    struct mcp_server *s = t->server;
    struct mcp_session *n = t->session[0] ? map_get(&s->sessions, str_of(t->session)) : NULL;

    if (n && n->main)
        send_task_state(n->main, t);
    list_each(it, &s->listeners)
    {
        struct mcp_stream *to = list_entry(it, struct mcp_stream, node);
        if (map_get(&to->task_ids, str_of(t->id)) && str_is(str_of(to->owner), t->owner))
            send_task_state(to, t);
    }
}

void mcp_method_listen(struct call *c)
{
    struct mcp_exchange *x = c->x;
    struct mcp_server *s = x->server;
    const struct json *filter = json_get(c->pub.params, "notifications");

    if (!json_is(filter, JSON_OBJECT) || !x->may_stream) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS,
                       "listening requires notifications and an event stream response");
        return;
    }
    if (json_get(filter, "taskIds") && !(c->can & MCP_CAN_TASKS)) {
        mcp_reply_missing(&c->pub, MCP_CAN_TASKS);
        return;
    }
    if (s->n_listeners >= MCP_MAX_LISTENERS) {
        x->status = 503;
        mcp_reply_fail(&c->pub, MCP_SERVER_ERROR, "too many listeners");
        return;
    }
    struct mcp_stream *t = mcp_exchange_stream(x);
    char *owner auto_free = mem_strndup(x->scope.owner.p, x->scope.owner.len);
    char *id auto_free = mem_strndup(c->id.p, c->id.len);
    if (!t || !owner || !id || read_notice_filter(t, filter) < 0 ||
        read_task_filter(t, json_get(filter, "taskIds"), x) < 0) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "these subscriptions could not be stored");
        return;
    }
    /* From here on the stream is the server's, not the exchange's. */
    x->stream = NULL;
    t->x = NULL;
    t->server = s;
    t->subscription = str_n(take(id), c->id.len);
    t->owner = take(owner);
    list_append(&s->listeners, &t->node);
    s->n_listeners++;
    acknowledge(t, filter);
    send_first_states(s, t);
    mcp_call_over(c, STR_NULL);
}

/* ---- notices ---- */

static bool is_notice_for(struct str owner, const char *theirs)
{
    return owner.len == 0 || str_is(owner, theirs);
}

static void put_uri(struct jw *w, struct str uri, bool has_params)
{
    if (!has_params && uri.p) {
        jw_key(w, "params");
        jw_object(w);
    }
    if (uri.p) {
        jw_key(w, "uri");
        jw_str(w, uri);
    }
    if (has_params || uri.p)
        jw_end(w);
    jw_end(w);
}

static void send_notice(struct mcp_stream *t, const char *method, struct str uri)
{
    struct buf b auto_buf = BUF_INIT(NOTICE_MAX);
    struct jw w = begin_notice(&b, method, t->subscription);

    put_uri(&w, uri, t->subscription.p != NULL);
    bool is_pair = t->session && t->session->is_pair;
    if (buf_ok(&b) && !mcp_stream_is_full(t))
        mcp_stream_send(t, is_pair ? STR("message") : STR_NULL, buf_str(&b));
}

void mcp_list_changed(struct mcp_server *s, struct str owner, enum mcp_list which)
{
    list_each(it, &s->by_use)
    {
        struct mcp_session *n = list_entry(it, struct mcp_session, node);
        if (n->main && is_notice_for(owner, n->owner))
            send_notice(n->main, lists[which].method, STR_NULL);
    }
    list_each(it, &s->listeners)
    {
        struct mcp_stream *t = list_entry(it, struct mcp_stream, node);
        if ((t->lists & 1U << which) && is_notice_for(owner, t->owner))
            send_notice(t, lists[which].method, STR_NULL);
    }
}

void mcp_resource_updated(struct mcp_server *s, struct str owner, struct str uri)
{
    list_each(it, &s->by_use)
    {
        struct mcp_session *n = list_entry(it, struct mcp_session, node);
        if (n->main && map_get(&n->subscribed, uri) && is_notice_for(owner, n->owner))
            send_notice(n->main, "notifications/resources/updated", uri);
    }
    list_each(it, &s->listeners)
    {
        struct mcp_stream *t = list_entry(it, struct mcp_stream, node);
        if (map_get(&t->uris, uri) && is_notice_for(owner, t->owner))
            send_notice(t, "notifications/resources/updated", uri);
    }
}

void mcp_forget(struct mcp_server *s, struct str owner)
{
    list_each(it, &s->by_use)
    {
        struct mcp_session *n = list_entry(it, struct mcp_session, node);
        if (is_notice_for(owner, n->owner))
            mcp_session_free(n);
    }
    list_each(it, &s->listeners)
    {
        struct mcp_stream *t = list_entry(it, struct mcp_stream, node);
        if (is_notice_for(owner, t->owner))
            mcp_stream_free(t);
    }
    mcp_tasks_forget(s, owner);
}

void mcp_hang_up(struct mcp_server *s)
{
    list_each(it, &s->by_use)
    {
        struct mcp_session *n = list_entry(it, struct mcp_session, node);
        if (n->is_pair && list_is_empty(&n->exchanges))
            mcp_session_free(n);
        else if (n->main && !n->is_pair)
            mcp_stream_free(n->main);
    }
    while (!list_is_empty(&s->listeners))
        mcp_stream_free(list_entry(s->listeners.next, struct mcp_stream, node));
}
