/* SPDX-License-Identifier: MIT */
/* The service's own MCP server under /mcp: the table of its tools, and the way of a request to it.
 * A session belongs to the account of the key that made it. */
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
#include "core/sandbox.h"
#include "mcp/http.h"

#define TEXT(name, about) "\"" name "\":{\"type\":\"string\",\"description\":\"" about "\"}"
#define OBJECT(required, properties)                                                               \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define SANDBOX TEXT("sandbox_name", "Name of the sandbox")
#define PATH    TEXT("path", "The file; relative to where commands start")
#define ENCODING                                                                                   \
    "\"encoding\":{\"type\":\"string\",\"enum\":[\"utf-8\",\"base64\"],\"description\":"           \
    "\"How the content is written; utf-8 unless given\"}"

#define SERVER TEXT("server_name", "Name of the app, for example jira")
#define DATA   TEXT("data", "Data set that it begins with, for example default; none unless given")
#define SEED                                                                                       \
    "\"seed\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"The same seed and calls give " \
    "the same results\"}"
#define TTL                                                                                        \
    "\"ttl_seconds\":{\"type\":\"integer\",\"minimum\":60,\"maximum\":86400,\"description\":"      \
    "\"Seconds until it is released by itself; 7200 unless given\"}"

/* A quantity, as a text or as a number. */
#define AMOUNT(name, about)                                                                        \
    "\"" name "\":{\"type\":[\"string\",\"number\"],\"description\":\"" about "\"}"
#define NUMBER(name, about) "\"" name "\":{\"type\":\"integer\",\"description\":\"" about "\"}"
#define FLAG(name, about)   "\"" name "\":{\"type\":\"boolean\",\"description\":\"" about "\"}"
#define STRINGS(name, about)                                                                       \
    "\"" name "\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"            \
    "\"description\":\"" about "\"}"
#define LIST(name, about)                                                                          \
    "\"" name "\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"" about    \
    "\"}"

#define NEW_NAME                                                                                   \
    TEXT("sandbox_name", "Lowercase letters, digits and '-', at most 50; made up unless given")
#define TEMPLATE     TEXT("template", "Template to make it from")
#define CPU          AMOUNT("cpu", "Processors it may use: 500m, 2")
#define MEMORY       AMOUNT("memory", "Memory it may use: 512Mi, 2Gi")
#define DISK         AMOUNT("disk", "Files it may have: 5Gi")
#define TIMEOUT      NUMBER("timeout", "Seconds that it lives; -1 is for ever")
#define IDLE_TIMEOUT NUMBER("idle_timeout", "Seconds that it lives when nobody uses it")
#define ENV          STRINGS("env", "Environment of every command in it")
#define METADATA     STRINGS("metadata", "Notes to find it by")
#define WORKDIR      TEXT("workdir", "Directory where its commands start")
#define INTERNET     FLAG("allowInternetAccess", "False: no way out; true unless given")
#define ALLOW_OUT    LIST("allowOut", "Addresses, networks and names that it may reach")
#define DENY_OUT     LIST("denyOut", "And those that it may not")
#define NETWORK                                                                                    \
    "\"network\":{\"type\":\"object\",\"description\":\"What it may "                              \
    "reach\",\"properties\":{" ALLOW_OUT "," DENY_OUT "}}"

static const char create_input[] =
    OBJECT("", NEW_NAME "," TEMPLATE "," CPU "," MEMORY "," DISK "," TIMEOUT "," IDLE_TIMEOUT
                        "," ENV "," METADATA "," WORKDIR "," INTERNET "," NETWORK);
static const char execute_input[] =
    OBJECT("\"sandbox_name\",\"tool_name\"",
           SANDBOX "," TEXT("tool_name", "Name of the tool") ",\"arguments\":{\"type\":\"object\","
                                                             "\"description\":\"Its arguments\"}");
static const char run_input[] = OBJECT(
    "\"sandbox_name\",\"command\"",
    SANDBOX "," TEXT("command", "For /bin/sh") "," TEXT("cwd", "Directory to run in") "," TEXT(
        "user",
        "Who runs it") "," TEXT("stdin",
                                "Its input") ",\"env\":{\"type\":\"object\","
                                             "\"additionalProperties\":{\"type\":\"string\"}},"
                                             "\"timeout\":{\"type\":\"number\","
                                             "\"exclusiveMinimum\":0,\"maximum\":86400,"
                                             "\"description\":"
                                             "\"Seconds after which the command is ended; 60 "
                                             "unless given\"}");
static const char read_input[] = OBJECT("\"sandbox_name\",\"path\"", SANDBOX "," PATH "," ENCODING);
static const char write_input[] =
    OBJECT("\"sandbox_name\",\"path\",\"content\"",
           SANDBOX "," PATH "," ENCODING "," TEXT("content", "What it is to hold"));
static const char list_input[] =
    OBJECT("\"sandbox_name\"",
           SANDBOX "," TEXT("path", "The directory; where commands start unless given"));
static const char name_input[] = OBJECT("\"sandbox_name\"", SANDBOX);

static const char acquire_input[] = OBJECT("\"server_name\"", SERVER "," DATA "," SEED "," TTL);
static const char app_input[] =
    OBJECT("\"sandbox_id\"", TEXT("sandbox_id", "Id that acquireApp told"));
static const char app_call_input[] =
    OBJECT("\"sandbox_id\",\"tool_name\"",
           TEXT("sandbox_id", "Id that acquireApp told") "," TEXT(
               "tool_name", "Name of the tool, as listAppTools tells it") ",\"arguments\":{"
                                                                          "\"type\":\"object\","
                                                                          "\"description\":"
                                                                          "\"Its arguments\"}");

static const char reads[] = "{\"readOnlyHint\":true,\"openWorldHint\":false}";
static const char changes[] = "{\"readOnlyHint\":false,\"destructiveHint\":false}";
static const char destroys[] = "{\"readOnlyHint\":false,\"destructiveHint\":true}";

static const struct mcp_tool tools[] = {
    {"createSandbox", "Create a sandbox", "Makes a sandbox: an isolated Linux environment.",
     create_input, NULL, changes, tool_create, NULL},
    {"getSandbox", "Show a sandbox", "Tells about a sandbox and the tools that work in it.",
     name_input, NULL, reads, tool_get, NULL},
    {"listSandbox", "List sandboxes", "Lists your sandboxes, the newest first.", NULL, NULL, reads,
     tool_list, NULL},
    {"deleteSandbox", "Delete a sandbox", "Ends a sandbox with everything that is in it.",
     name_input, NULL, destroys, tool_delete, NULL},
    {"sandboxExecutor", "Use a tool in a sandbox",
     "Calls one of the tools that work inside of a sandbox; getSandbox lists them.", execute_input,
     NULL, destroys, tool_execute, NULL},
    {"runCommand", "Run a command", "Runs a shell command in a sandbox and waits for its end.",
     run_input, NULL, destroys, tool_run, NULL},
    {"readFile", "Read a file", "Reads a file of a sandbox.", read_input, NULL, reads, tool_read,
     NULL},
    {"writeFile", "Write a file", "Writes a file of a sandbox, and makes its directories.",
     write_input, NULL, destroys, tool_write, NULL},
    {"listFiles", "List files", "Lists a directory of a sandbox.", list_input, NULL, reads,
     tool_files, NULL},
    {"pauseSandbox", "Pause a sandbox", "Freezes a sandbox; memory and files stay.", name_input,
     NULL, changes, tool_pause, NULL},
    {"resumeSandbox", "Resume a sandbox", "Lets a paused sandbox go on.", name_input, NULL, changes,
     tool_resume, NULL},
    {"listApps", "List apps", "Lists the emulated products that acquireApp lends.", NULL, NULL,
     reads, tool_list_apps, NULL},
    {"acquireApp", "Acquire an app",
     "Lends an emulated product: listAppTools and callAppTool use it here, or connect to the URL "
     "of "
     "its MCP server; release it after use.",
     acquire_input, NULL, changes, tool_acquire_app, NULL},
    {"listAppTools", "List the tools of an app", "Lists the tools of an app that was acquired.",
     app_input, NULL, reads, tool_list_app_tools, NULL},
    {"callAppTool", "Use a tool of an app", "Calls a tool of an app that was acquired.",
     app_call_input, NULL, destroys, tool_call_app, NULL},
    {"releaseApp", "Release an app", "Gives an app back; all that was done in it is dropped.",
     app_input, NULL, destroys, tool_release_app, NULL},
    {"resetApp", "Reset an app", "Puts an app back to its initial state; its URL stays.", app_input,
     NULL, destroys, tool_reset_app, NULL},
};

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

/* Names that arguments had, or have in the API: they are understood, too. */
static void rename_args(struct mcp_call *c)
{
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"name", "sandbox_name"},   {"environment", "template"}, {"cpu_limit", "cpu"},
        {"memory_limit", "memory"}, {"envVars", "env"},
    };

    for (size_t i = 0; json_is(c->args, JSON_OBJECT) && i < ARRAY_LEN(rows); i++) {
        const struct json *v = json_get(c->args, rows[i].from);
        if (v && !json_get(c->args, rows[i].to))
            (void)json_set(c->arena, c->args, rows[i].to, v);
    }
}

/* ---- requests ---- */

struct mcp_server *mcp_service_new(struct core *core, struct err *e)
{
    const struct mcp_desc desc = {
        .name = "tidepool",
        .title = "Tidepool",
        .version = TIDEPOOL_VERSION,
        .instructions = "Sandboxes for agents: create one, run commands and use files in it, "
                        "delete it. Apps: acquire one, use its tools by callAppTool, release it.",
        .tools = tools,
        .n_tools = ARRAY_LEN(tools),
        .invalid = invalid,
        .rename = rename_args,
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
