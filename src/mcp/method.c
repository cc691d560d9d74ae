/* SPDX-License-Identifier: MIT */
/* The methods, one row each. */
#include <stdio.h>

#include "base/cleanup.h"
#include "mcp/exchange.h"
#include "mcp/task.h"

/* ---- beginnings ---- */

static void put_self(struct jw *w, const struct mcp_table *t, bool is_modern)
{
    jw_key(w, "capabilities");
    jw_raw(w, t->capabilities[is_modern]);
    if (t->desc.instructions) {
        jw_key(w, "instructions");
        jw_cstr(w, t->desc.instructions);
    }
}

/* The session that INITIALIZE begins; NULL after answering. */
static struct mcp_session *begin_session(struct call *c, const struct mcp_hello *hello)
{
    struct mcp_exchange *x = c->x;

    if (x->session)
        return x->session;
    struct mcp_session *n = mcp_session_new(x->server, x->scope.owner, hello);
    if (!n) {
        x->status = 503;
        mcp_reply_fail(&c->pub, MCP_SERVER_ERROR, "too many sessions");
        return NULL;
    }
    mcp_exchange_join(x, n);
    x->has_new_session = true;
    return n;
}

static void method_initialize(struct call *c)
{
    const struct json *version = json_get(c->pub.params, "protocolVersion");

    if (!json_is(version, JSON_STRING) || c->x->is_batch) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "protocolVersion is required");
        return;
    }
    enum mcp_version v = mcp_version_of(version->s);
    v = v < MCP_V_2026_07_28 ? v : MCP_V_NEWEST_STATEFUL;
    if (!c->x->server->table.desc.is_stateless) {
        const struct mcp_hello hello = {v,
                                        mcp_capabilities(json_get(c->pub.params, "capabilities"))};
        struct mcp_session *n = begin_session(c, &hello);
        if (!n)
            return;
        n->version = hello.version;
        n->can = hello.can;
    }
    struct jw *w = mcp_result_begin(&c->pub);
    jw_key(w, "protocolVersion");
    jw_cstr(w, mcp_versions[v]);
    jw_key(w, "serverInfo");
    jw_raw(w, c->x->server->table.info);
    put_self(w, &c->x->server->table, false);
    mcp_result_end(&c->pub);
}

static void discover(struct call *c)
{
    struct jw *w = mcp_result_begin(&c->pub);

    jw_key(w, "supportedVersions");
    jw_array(w);
    for (unsigned v = MCP_V_COUNT; v-- > 0;)
        jw_cstr(w, mcp_versions[v]);
    jw_end(w);
    put_self(w, &c->x->server->table, true);
    mcp_result_end(&c->pub);
}

static void ping(struct call *c)
{
    (void)mcp_result_begin(&c->pub);
    mcp_result_end(&c->pub);
}

static void set_level(struct call *c)
{
    enum mcp_level level = mcp_level_of(json_str(json_get(c->pub.params, "level"), STR_NULL));

    if (level == MCP_LEVEL_COUNT) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "level must be one of debug … emergency");
        return;
    }
    if (c->x->session)
        c->x->session->level = level;
    ping(c);
}

/* ---- lists ---- */

/* The tools from FROM on, all of them. */
static void write_described(struct call *c, struct jw *w, uint64_t from)
{
    const struct mcp_table *t = &c->x->server->table;
    const struct mcp_catalog *all = &t->lists[MCP_LIST_TOOLS];

    jw_key(w, mcp_list_names[MCP_LIST_TOOLS]);
    jw_array(w);
    for (size_t i = from; i < all->n; i++)
        if (!t->desc.describe(&c->pub, w, all->items[i]))
            jw_raw(w, all->items[i]);
    jw_end(w);
}

static void method_list(struct call *c, enum mcp_list which)
{
    const struct mcp_table *t = &c->x->server->table;
    const struct mcp_catalog *all = &t->lists[which];
    const struct json *cursor = json_get(c->pub.params, "cursor");
    bool is_modern = mcp_is_modern(c->x);
    uint64_t from = 0;

    if (cursor && cursor->type != JSON_NULL &&
        (!json_is(cursor, JSON_STRING) || str_to_u64(cursor->s, &from) < 0 || from > all->n)) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "invalid cursor");
        return;
    }
    bool is_fixed = which != MCP_LIST_TOOLS || !t->desc.describe;
    if (from == 0 && is_fixed && all->whole[is_modern].p) {
        mcp_reply_whole(&c->pub, all->whole[is_modern]);
        return;
    }
    struct jw *w = mcp_result_begin(&c->pub);
    if (is_fixed)
        mcp_write_list(w, t, which, from, t->desc.page ? from + t->desc.page : all->n);
    else
        write_described(c, w, from);
    mcp_result_end(&c->pub);
}

static void list_tools(struct call *c)
{
    method_list(c, MCP_LIST_TOOLS);
}
static void list_resources(struct call *c)
{
    method_list(c, MCP_LIST_RESOURCES);
}
static void list_templates(struct call *c)
{
    method_list(c, MCP_LIST_TEMPLATES);
}
static void list_prompts(struct call *c)
{
    method_list(c, MCP_LIST_PROMPTS);
}

/* ---- what callbacks answer ---- */

/* The string parameter KEY as the call's name; false after answering. */
static bool read_call_name(struct call *c, const char *key)
{
    const struct json *v = json_get(c->pub.params, key);

    if (json_is(v, JSON_STRING) && v->s.len > 0 && v->s.len <= MCP_MAX_NAME) {
        c->pub.name = v->s;
        return true;
    }
    mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "%s must be a string", key);
    return false;
}

static bool read_call_arguments(struct call *c)
{
    struct json *v = json_get(c->pub.params, "arguments");

    c->pub.args = v && v->type != JSON_NULL ? v : json_new_object(c->pub.arena);
    if (json_is(c->pub.args, JSON_OBJECT))
        return true;
    mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "arguments must be an object");
    return false;
}

static void refuse_args(struct call *c, const struct schema_error *why)
{
    char text[1024];

    if (c->x->server->table.desc.invalid) {
        c->x->server->table.desc.invalid(&c->pub, why);
        return;
    }
    (void)snprintf(text, sizeof text, "Invalid arguments for tool " STR_FMT ": %s%s%s",
                   STR_ARG(str_slice(c->pub.name, 0, 128)), why->path[0] ? why->path + 1 : "",
                   why->path[0] ? ": " : "", why->text);
    mcp_reply_text(&c->pub, str_of(text), true);
}

static void call_tool(struct call *c)
{
    const struct mcp_table *t = &c->x->server->table;
    struct schema_error why = {.keyword = ""};

    if (!read_call_name(c, "name") || !read_call_arguments(c))
        return;
    const struct mcp_tool_row *row = map_get(&t->tools, c->pub.name);
    if (!row && t->desc.unknown_tool) {
        t->desc.unknown_tool(&c->pub);
        return;
    }
    if (!row) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "Unknown tool: " STR_FMT,
                       STR_ARG(str_slice(c->pub.name, 0, 128)));
        return;
    }
    c->pub.row = row->row->row;
    c->tool = row->row;
    if (t->desc.rename)
        t->desc.rename(&c->pub);
    if (!mcp_task_admit(c, row->row))
        return;
    bool is_checked = !t->desc.is_unchecked;
    if (is_checked && schema_check(row->schema, c->pub.args, &why) < 0)
        refuse_args(c, &why);
    else if (is_checked && schema_defaults(c->pub.arena, row->schema, c->pub.args) < 0)
        mcp_reply_fail(&c->pub, MCP_INTERNAL_ERROR, "no memory for the arguments");
    else
        row->row->call(&c->pub);
}

static const struct mcp_resource *find_resource(struct call *c)
{
    const struct mcp_table *t = &c->x->server->table;
    const struct mcp_resource *row = map_get(&t->resources, c->pub.name);

    for (size_t i = 0; !row && i < t->desc.n_templates; i++)
        if (mcp_uri_match(t->desc.templates[i].uri, c->pub.name, c->pub.vars))
            row = &t->desc.templates[i];
    return row;
}

static void read_resource(struct call *c)
{
    if (!read_call_name(c, "uri"))
        return;
    const struct mcp_resource *row = find_resource(c);
    if (row) {
        c->pub.row = row->row;
        row->read(&c->pub);
        return;
    }
    struct buf data auto_buf = BUF_INIT(8 * MCP_MAX_NAME);
    struct jw w = jw_to(&data);
    jw_object(&w);
    jw_key(&w, "uri");
    jw_str(&w, c->pub.name);
    jw_end(&w);
    mcp_reply_error(&c->pub, mcp_is_modern(c->x) ? MCP_INVALID_PARAMS : MCP_NO_RESOURCE,
                    STR("Resource not found"), buf_str(&data));
}

static void method_subscribe(struct call *c)
{
    struct mcp_session *n = c->x->session;

    if (!read_call_name(c, "uri"))
        return;
    if (!n)
        mcp_reply_fail(&c->pub, MCP_INVALID_REQUEST, "a subscription requires a session");
    else if (map_put(&n->subscribed, c->pub.name, n, NULL) < 0)
        mcp_reply_fail(&c->pub, MCP_INVALID_REQUEST, "too many subscriptions");
    else
        ping(c);
}

static void unsubscribe(struct call *c)
{
    if (!read_call_name(c, "uri"))
        return;
    if (c->x->session)
        (void)map_del(&c->x->session->subscribed, c->pub.name);
    ping(c);
}

static void get_prompt(struct call *c)
{
    if (!read_call_name(c, "name") || !read_call_arguments(c))
        return;
    const struct mcp_prompt *row = map_get(&c->x->server->table.prompts, c->pub.name);
    if (!row) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "Unknown prompt: " STR_FMT,
                       STR_ARG(str_slice(c->pub.name, 0, 128)));
        return;
    }
    for (size_t i = 0; i < row->n_args; i++) {
        const struct json *v = json_get(c->pub.args, row->args[i].name);
        if ((!v && row->args[i].is_required) || (v && v->type != JSON_STRING)) {
            mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "argument %s must be a string",
                           row->args[i].name);
            return;
        }
    }
    c->pub.row = row->row;
    row->get(&c->pub);
}

static void method_complete(struct call *c)
{
    const struct json *p = c->pub.params, *argument = json_get(p, "argument");

    if (!json_is(json_get(json_get(p, "ref"), "type"), JSON_STRING) ||
        !json_is(json_get(argument, "name"), JSON_STRING) ||
        !json_is(json_get(argument, "value"), JSON_STRING))
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "ref and argument are required");
    else
        c->x->server->table.desc.complete(&c->pub);
}

/* ---- the table ---- */

static bool has_tools(const struct mcp_desc *d)
{
    return d->n_tools > 0;
}
static bool has_resources(const struct mcp_desc *d)
{
    return d->n_resources + d->n_templates > 0;
}
static bool has_prompts(const struct mcp_desc *d)
{
    return d->n_prompts > 0;
}
static bool has_completion(const struct mcp_desc *d)
{
    return d->complete;
}

#define OLD  .is_stateful = true
#define NEW  .is_modern = true
#define BOTH OLD, NEW

static const struct mcp_method methods[] = {
    {"tools/call", BOTH, .run = call_tool, .named_by = "name", .is_there = has_tools},
    {"tools/list", BOTH, .run = list_tools, .is_there = has_tools, .is_cached = true},
    {"initialize", OLD, .run = method_initialize},
    {"server/discover", NEW, .run = discover, .is_cached = true},
    {"ping", OLD, .run = ping},
    {"resources/read", BOTH, .run = read_resource, .named_by = "uri", .is_there = has_resources,
     .is_cached = true},
    {"resources/list", BOTH, .run = list_resources, .is_there = has_resources, .is_cached = true},
    {"resources/templates/list", BOTH, .run = list_templates, .is_there = has_resources,
     .is_cached = true},
    {"resources/subscribe", OLD, .run = method_subscribe, .is_there = has_resources},
    {"resources/unsubscribe", OLD, .run = unsubscribe, .is_there = has_resources},
    {"prompts/get", BOTH, .run = get_prompt, .named_by = "name", .is_there = has_prompts},
    {"prompts/list", BOTH, .run = list_prompts, .is_there = has_prompts, .is_cached = true},
    {"completion/complete", BOTH, .run = method_complete, .is_there = has_completion},
    {"logging/setLevel", OLD, .run = set_level},
    {"subscriptions/listen", NEW, .run = mcp_method_listen},
    {"tasks/get", BOTH, .run = mcp_method_task_get, .named_by = "taskId",
     .is_there = mcp_has_tasks},
    {"tasks/update", NEW, .run = mcp_method_task_update, .named_by = "taskId",
     .is_there = mcp_has_tasks},
    {"tasks/cancel", BOTH, .run = mcp_method_task_cancel, .named_by = "taskId",
     .is_there = mcp_has_tasks},
    {"tasks/result", OLD, .run = mcp_method_task_result, .is_there = mcp_has_tasks},
    {"tasks/list", OLD, .run = mcp_method_task_list, .is_there = mcp_has_tasks},
};

const struct mcp_method *mcp_method_find(struct str name, bool is_modern)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (str_is(name, methods[i].name))
            return (is_modern ? methods[i].is_modern : methods[i].is_stateful) ? &methods[i] : NULL;
    return NULL;
}
