/* SPDX-License-Identifier: MIT */
/* The MCP endpoints of local sandboxes, and calls of their tools: the sessions are here, the work
 * is done inside the cell. */
#include <errno.h>
#include <stdlib.h>

#include "api/internal.h"
#include "api/local/apps.h"
#include "api/local/ask.h"
#include "api/local/caller.h"
#include "api/local/pass.h"
#include "base/cleanup.h"
#include "base/schema.h"
#include "core/sandbox.h"
#include "mcp/http.h"

enum { BODY_MAX = 100 << 20 };

struct local_endpoint_call {
    struct mcp_call *mcp;
    struct local_pass pass;
};

/* ---- answers ---- */

static void on_toolset_answer(void *ctx, struct str body, const char *why)
{
    struct local_endpoint_call *k = ctx;

    if (why)
        mcp_reply_fail(k->mcp, MCP_INTERNAL_ERROR, "%s", why);
    else
        local_pass_on(&k->pass, body);
}

/* ---- calls ---- */

static struct str call_body(const struct local_endpoint_call *k, const struct sandbox *sb)
{
    auto_buf struct buf b = BUF_INIT(BODY_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "args");
    jw_value(&w, k->mcp->args);
    jw_key(&w, "benchmark");
    jw_value(&w, json_get(local_of(sb), "benchmark"));
    jw_key(&w, "email");
    jw_value(&w, json_get(local_of(sb), "email"));
    jw_key(&w, "headers");
    jw_raw(&w, ((const struct local_caller *)k->mcp->ctx)->headers);
    jw_end(&w);
    return buf_ok(&b) ? arena_str(k->mcp->arena, buf_str(&b)) : STR_NULL;
}

void local_call(struct mcp_call *c)
{
    const struct local_caller *who = c->ctx;
    const struct toolset_tool *tool = c->row;
    struct sandbox *sb = locals_find(who->locals, str_of(who->id));
    struct local_endpoint_call *k = arena_new(c->arena, struct local_endpoint_call);

    if (!sb || !k) {
        mcp_reply_fail(c, MCP_INTERNAL_ERROR, "%s", k ? "the sandbox has ended" : "out of memory");
        return;
    }
    k->mcp = c;
    /* The sandbox may be gone before its answer is passed on. */
    k->pass = (struct local_pass){.locals = who->locals,
                                  .call = c,
                                  .owner = arena_strdup(c->arena, sb->account),
                                  .has_structure = tool->set->has_structure};
    if (!k->pass.owner) {
        mcp_reply_fail(c, MCP_INTERNAL_ERROR, "out of memory");
        return;
    }
    local_ask(&(struct local_ask){
        .locals = who->locals,
        .sandbox = sb,
        .arena = c->arena,
        .target = arena_printf(c->arena, "/%s/%s", tool->set->server, tool->name),
        .body = call_body(k, sb),
        .may_repeat = tool->is_read_only,
        .fn = on_toolset_answer,
        .ctx = k,
    });
}

/* Names with and without the server's as prefix mean the same tool. */
void local_call_alias(struct mcp_call *c)
{
    const struct local_caller *who = c->ctx;
    const struct toolset_tool *tool = toolset_tool(who->set, c->name);
    struct schema_error why;

    if (!tool) {
        mcp_reply_fail(c, MCP_INVALID_PARAMS, "Unknown tool: " STR_FMT,
                       STR_ARG(str_slice(c->name, 0, 100)));
        return;
    }
    if (!c->args)
        c->args = json_new_object(c->arena);
    if (c->args && schema_check(tool->schema, c->args, &why) < 0) {
        mcp_reply_text(c, arena_printf(c->arena, "Invalid arguments: %s: %s", why.path, why.text),
                       true);
        return;
    }
    /* Defaults come behind the check: some are null where the schema wants a text. */
    if (!c->args || schema_defaults(c->arena, tool->schema, c->args) < 0) {
        mcp_reply_fail(c, MCP_INTERNAL_ERROR, "out of memory");
        return;
    }
    c->row = tool;
    local_call(c);
}

/* ---- the endpoint ---- */

bool local_has_server(const struct sandbox *sb, struct str name)
{
    const struct json *servers = json_get(local_of(sb), "servers");

    for (size_t i = 0; servers && i < servers->n; i++) {
        if (str_eq(json_str(json_get(json_at(servers, i), "name"), STR("")), name))
            return true;
    }
    return false;
}

void local_mcp(struct api_req *r)
{
    struct locals *l = r->api->locals;
    struct str path = str_skip(r->http->head.path, 1), name = str_cut(&path, '/');
    struct str id = api_query(r, "local_sandbox_id");
    struct sandbox *sb = locals_find(l, id);
    struct err e = ERR_INIT;

    if (!sb || !local_has_server(sb, name)) {
        api_error(r, 404, "Local sandbox not found: it was released, or does not have this server");
        return;
    }
    if (local_app_is(l, name)) {
        local_app_mcp(r, sb, name);
        return;
    }
    struct str benchmark = json_str(json_get(local_of(sb), "benchmark"), STR(""));
    const struct toolset *set = toolset_find(locals_tools(l), name, benchmark);
    struct mcp_server *s = set ? locals_server(l, set, &e) : NULL;
    if (!s) {
        api_fail(r, e.code ? e.code : -ENOMEM, &e);
        return;
    }
    struct local_caller *who = local_caller_new(r, set, id);
    if (who)
        mcp_http(s, r->http,
                 &(struct mcp_scope){.owner = str_of(who->id), .ctx = who, .release = free});
}
