/* SPDX-License-Identifier: MIT */
/* Tools that acquire, reset and release apps. */
#include <errno.h>
#include <stdio.h>

#include "api/klavis/app_server.h"
#include "api/klavis/klavis.h"
#include "api/mcp/tools.h"
#include "api/native/native.h"
#include "apps/catalog/registry.h"
#include "base/cleanup.h"
#include "core/app_checks.h"
#include "core/instance.h"
#include "core/instance_set.h"
#include "core/server.h"

enum { ANSWER_MAX = 64 << 10, LIST_MAX = 4 << 20 };

static void on_tool_acquired(void *ctx, struct instance **items, size_t n, const struct err *e)
{
    struct mcp_call *c = ctx;
    const struct mcp_caller *who = c->ctx;
    struct buf text auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&text);

    if (e || n == 0) {
        tool_fail(c, e ? e->code : -EIO, e);
        return;
    }
    klavis_put_created(&w, c->arena, str_of(who->base), items[0]);
    mcp_reply_json(c, buf_str(&text));
}

void tool_acquire_app(struct mcp_call *c)
{
    const struct mcp_caller *who = c->ctx;
    const struct json *seed = json_get(c->args, "seed");
    struct str name = tool_arg(c, "server_name");
    const struct server *s = server_find(name);
    const struct instance_args args = {
        .key = who->key,
        .server = s ? str_of(s->name) : name,
        .spelling = name,
        .data = tool_arg(c, "data"),
        .ttl_s = json_int(json_get(c->args, "ttl_seconds"), 0),
        .has_seed = json_is(seed, JSON_INT),
        .seed = (uint64_t)json_int(seed, 0),
    };

    instances_acquire(who->core->instances, &args, on_tool_acquired, c);
}

/* The app that argument sandbox_id names; NULL after answering. */
static struct instance *find_app(struct mcp_call *c)
{
    const struct mcp_caller *who = c->ctx;
    struct str id = tool_arg(c, "sandbox_id");
    struct instance *in = instance_find(who->core->instances, id, who->key);

    if (!in)
        tool_refuse(c, "app " STR_FMT " not found", STR_ARG(str_slice(id, 0, 100)));
    return in;
}

static void on_tool_released(void *ctx, struct instance *in, const struct err *e)
{
    struct mcp_call *c = ctx;

    if (e)
        tool_fail(c, e->code, e);
    else
        mcp_reply_text(c, arena_printf(c->arena, "App %s released", in->id), false);
}

void tool_release_app(struct mcp_call *c)
{
    struct instance *in = find_app(c);

    if (in)
        instance_release(in, STR_NULL, false, on_tool_released, c);
}

struct app_tool_reset {
    struct mcp_call *call;
    struct instance_op op;
};

static void on_tool_reset(struct instance_op *op, const struct err *e)
{
    struct app_tool_reset *x = container_of(op, struct app_tool_reset, op);

    if (e)
        tool_fail(x->call, e->code, e);
    else
        mcp_reply_text(x->call, STR("App reset"), false);
}

void tool_reset_app(struct mcp_call *c)
{
    struct instance *in = find_app(c);
    struct app_tool_reset *x = in ? arena_new(c->arena, struct app_tool_reset) : NULL;

    if (!in)
        return;
    if (!x) {
        tool_fail(c, -ENOMEM, NULL);
        return;
    }
    x->call = c;
    x->op = (struct instance_op){.what = INSTANCE_RESET, .arena = c->arena, .done = on_tool_reset};
    instance_do(in, &x->op);
}

/* ---- what there is, and what it can do ---- */

static void on_loaded(void *ctx)
{
    struct mcp_call *c = ctx;
    const struct mcp_caller *who = c->ctx;
    struct app_registry *apps = instances_apps(who->core->instances);
    struct buf text auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&text);
    size_t n = 0;
    const char **names = app_registry_names(apps, c->arena, &n);

    jw_object(&w);
    jw_key(&w, "apps");
    jw_array(&w);
    for (size_t i = 0; names && i < n; i++)
        native_put_app_line(&w, who->core->instances, names[i]);
    jw_end(&w);
    jw_end(&w);
    if (names && buf_ok(&text))
        mcp_reply_json(c, buf_str(&text));
    else
        tool_fail(c, -ENOMEM, NULL);
}

void tool_list_apps(struct mcp_call *c)
{
    const struct mcp_caller *who = c->ctx;

    app_checks_run(who->core->instances, on_loaded, c);
}

static void put_tool(struct jw *w, const struct app_tool *t)
{
    jw_object(w);
    jw_key(w, "name");
    jw_cstr(w, t->name);
    jw_key(w, "description");
    jw_cstr(w, t->description);
    jw_key(w, "inputSchema");
    jw_value(w, t->input);
    jw_end(w);
}

void tool_list_app_tools(struct mcp_call *c)
{
    const struct instance *in = find_app(c);
    const struct app *app = in ? instance_app(in) : NULL;
    struct buf text auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&text);

    if (!in)
        return;
    jw_object(&w);
    jw_key(&w, "tools");
    jw_array(&w);
    for (size_t i = 0; app && i < app->n_tools; i++)
        put_tool(&w, &app->tools[i]);
    jw_end(&w);
    jw_end(&w);
    if (app && buf_ok(&text))
        mcp_reply_json(c, buf_str(&text));
    else
        tool_fail(c, app ? text.error : -ENOENT, NULL);
}

/* The same call that comes by the app's own address. */
void tool_call_app(struct mcp_call *c)
{
    const struct mcp_caller *who = c->ctx;
    const struct instance *in = find_app(c);
    struct app_server_caller *caller = in ? arena_zalloc(c->arena, 1, sizeof *caller + 1) : NULL;
    struct json *args = json_get(c->args, "arguments");

    if (!in)
        return;
    c->name = tool_arg(c, "tool_name");
    c->args = args ? args : json_new_object(c->arena);
    if (!caller || !c->args) {
        tool_fail(c, -ENOMEM, NULL);
        return;
    }
    caller->core = who->core;
    (void)snprintf(caller->lease, sizeof caller->lease, "%s", in->lease);
    c->ctx = caller;
    app_server_call(c);
}
