/* SPDX-License-Identifier: MIT */
/* The service's own MCP server under /mcp: what its tools (tools/service.json) share, and the way
 * of a request to it. A session belongs to the account of the key that made it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/mcp/tools.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/schema.h"
#include "core/config.h"
#include "core/limits.h"
#include "core/sandbox.h"
#include "core/sandbox_fields.h"
#include "core/templates.h"
#include "mcp/http.h"

/* ---- what tools share ---- */

struct str tool_arg(const struct mcp_call *c, const char *key)
{
    return json_str(json_get(c->args, key), STR_NULL);
}

void tool_refuse(struct mcp_call *c, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mcp_reply_text(c, str_of(text), true);
}

void tool_fail(struct mcp_call *c, int code, const struct err *e)
{
    const struct err plain = {.code = code};

    tool_refuse(c, "%s", err_text(e && e->code ? e : &plain));
}

struct sandbox *tool_sandbox(struct mcp_call *c, const char *key)
{
    const struct mcp_caller *who = c->ctx;
    struct str name = who->sandbox[0] ? str_of(who->sandbox) : tool_arg(c, key);
    struct sandbox *sb = sandbox_find_for(who->core->sandboxes, name, who->key);

    if (name.len == 0)
        tool_refuse(c, "%s is required", key);
    else if (!sb)
        tool_refuse(c, "sandbox " STR_FMT " not found", STR_ARG(str_slice(name, 0, 100)));
    return name.len > 0 ? sb : NULL;
}

/* "sandbox_name is required" in place of what the schema says. */
static void invalid(struct mcp_call *c, const struct schema_error *why)
{
    static const char *const names[] = {"sandbox_name", "sandbox_id", "server_name", "tool_name",
                                        "command",      "path",       "content"};

    if (!str_is(str_of(why->keyword), "required")) {
        tool_refuse(c, "%s%s%s", why->path[0] ? why->path + 1 : "", why->path[0] ? ": " : "",
                    why->text);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strstr(why->text, names[i])) {
            tool_refuse(c, "%s is required", names[i]);
            return;
        }
    tool_refuse(c, "%s", why->text);
}

static void rename_arg(struct mcp_call *c, const char *from, const char *to)
{
    const struct json *v = json_get(c->args, from);

    if (v && !json_get(c->args, to))
        (void)json_set(c->arena, c->args, to, v);
}

/* Names that arguments have in the API, or had: they are understood, too. */
static void rename_args(struct mcp_call *c)
{
    if (!json_is(c->args, JSON_OBJECT))
        return;
    for (size_t i = 0; i < sandbox_n_fields; i++) {
        const char *const *names = sandbox_fields[i].names;
        if (names[SANDBOX_FACE_API] && names[SANDBOX_FACE_MCP] &&
            strcmp(names[SANDBOX_FACE_API], names[SANDBOX_FACE_MCP]) != 0)
            rename_arg(c, names[SANDBOX_FACE_API], names[SANDBOX_FACE_MCP]);
    }
    rename_arg(c, "environment", "template");
}

/* ---- what there is to create ---- */

enum { TEMPLATES_TEXT_MAX = 1 << 20 };

/* The static templates that can be created here: [{"name": …, "description": …}, …]. */
static void put_templates(struct buf *out, const struct core *core)
{
    const struct template_list *all = templates_list(core->templates);
    const struct template *t;
    struct jw w = jw_to(out);

    jw_array(&w);
    for (size_t i = 0; (t = template_list_at(all, i)); i++) {
        if (t->is_dynamic || template_check(t, NULL) < 0)
            continue;
        jw_object(&w);
        jw_key(&w, "name");
        jw_cstr(&w, t->name);
        jw_key(&w, "description");
        jw_cstr(&w, t->description);
        jw_end(&w);
    }
    jw_end(&w);
}

/* Names the templates in the schema of createSandbox. */
static bool describe_tool(struct mcp_call *c, struct jw *w, struct str item)
{
    const struct mcp_caller *who = c->ctx;
    struct buf text auto_buf = BUF_INIT(TEMPLATES_TEXT_MAX);

    if (!str_starts(item, STR("{\"name\":\"createSandbox\"")))
        return false;
    struct json *tool = json_parse(c->arena, item, NULL, NULL);
    struct json *about = json_pointer(tool, "/inputSchema/properties/template/description");
    (void)buf_add_lit(&text, "Template to create it from (default: default), one of: ");
    put_templates(&text, who->core);
    if (!about || !buf_ok(&text))
        return false;
    about->s = arena_str(c->arena, buf_str(&text));
    jw_value(w, tool);
    return true;
}

/* ---- requests ---- */

/* ---- tasks ---- */

int tool_task_begin(void *ctx)
{
    const struct mcp_caller *who = ctx;
    struct err e = ERR_INIT;

    return limits_take(who->core->limits, who->key->account, LIMIT_ACCOUNT_TASKS, 1, &e) < 0
               ? -ENOBUFS
               : 0;
}

void tool_task_end(void *ctx)
{
    const struct mcp_caller *who = ctx;

    tally_give(limits_tally(who->core->limits, who->key->account, LIMIT_ACCOUNT_TASKS), 1);
}

struct mcp_server *mcp_service_new(struct core *core, struct err *e)
{
    const struct mcp_desc desc = {
        .name = "tidepool",
        .title = "Tidepool",
        .version = TIDEPOOL_VERSION,
        .instructions = "Sandboxes for agents: create one, run commands and work with files in "
                        "it, delete it. Apps: acquire one, use its tools with callAppTool, "
                        "release it. Templates: build one from commands.",
        .tools = mcp_service_tools,
        .n_tools = mcp_service_n_tools,
        .invalid = invalid,
        .rename = rename_args,
        .describe = describe_tool,
        .task_begin = tool_task_begin,
        .task_end = tool_task_end,
        .is_keyed = true,
        .domain = core->config->domain,
        .secret = str_n((const char *)core->secret, sizeof core->secret),
    };

    return mcp_server_new(core->loop, &desc, e);
}

static void release(void *ctx)
{
    struct mcp_caller *who = ctx;

    account_key_unref(who->key);
    free(who);
}

bool mcp_scope_of(struct api_req *r, struct mcp_scope *ret)
{
    struct mcp_caller *who = mem_zalloc(1, sizeof *who);

    if (!who) {
        api_fail(r, -ENOMEM, NULL);
        return false;
    }
    who->core = r->core;
    who->key = account_key_ref(r->key);
    (void)snprintf(who->base, sizeof who->base, STR_FMT, STR_ARG(klavis_base(r)));
    *ret = (struct mcp_scope){.owner = str_of(r->key->account->id), .ctx = who, .release = release};
    api_add_cors(r);
    return true;
}

void mcp_endpoint(struct api_req *r)
{
    struct mcp_scope scope;

    if (mcp_scope_of(r, &scope))
        mcp_http(r->api->mcp, r->http, &scope);
}

void mcp_older_stream(struct api_req *r)
{
    struct mcp_scope scope;

    if (mcp_scope_of(r, &scope))
        mcp_http_sse(r->api->mcp, r->http, &scope, STR("/mcp/messages"));
}

void mcp_older_messages(struct api_req *r)
{
    struct mcp_scope scope;

    if (mcp_scope_of(r, &scope))
        mcp_http_messages(r->api->mcp, r->http, &scope);
}
