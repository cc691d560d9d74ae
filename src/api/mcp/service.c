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
#define PATH    TEXT("path", "Path of the file; relative paths start at the working directory")
#define ENCODING                                                                                   \
    "\"encoding\":{\"type\":\"string\",\"enum\":[\"utf-8\",\"base64\"],\"description\":"           \
    "\"Encoding of the content (default utf-8)\"}"

#define SERVER TEXT("server_name", "Name of the app, for example jira")
#define DATA   TEXT("data", "Initial data set, for example default (default: empty)")
#define SEED                                                                                       \
    "\"seed\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"The same seed and calls give " \
    "the same results\"}"
#define TTL                                                                                        \
    "\"ttl_seconds\":{\"type\":\"integer\",\"minimum\":60,\"maximum\":86400,\"description\":"      \
    "\"Seconds until it is released automatically (default 7200)\"}"

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
    TEXT("sandbox_name", "Up to 50 lowercase letters, digits and '-' (default: generated)")
#define TEMPLATE     TEXT("template", "Template to create it from")
#define CPU          AMOUNT("cpu", "CPU limit, for example 500m or 2")
#define MEMORY       AMOUNT("memory", "Memory limit, for example 512Mi or 2Gi")
#define DISK         AMOUNT("disk", "Disk limit, for example 5Gi")
#define TIMEOUT      NUMBER("timeout", "Lifetime in seconds; -1 for no limit")
#define IDLE_TIMEOUT NUMBER("idle_timeout", "Lifetime in seconds without any activity")
#define ENV          STRINGS("env", "Environment variables for every command")
#define METADATA     STRINGS("metadata", "Metadata to find it by")
#define WORKDIR      TEXT("workdir", "Working directory of commands")
#define INTERNET     FLAG("allowInternetAccess", "Whether it can reach the internet (default true)")
#define ALLOW_OUT    LIST("allowOut", "Addresses, networks and host names it may reach")
#define DENY_OUT     LIST("denyOut", "Addresses, networks and host names it may not reach")
#define NETWORK                                                                                    \
    "\"network\":{\"type\":\"object\",\"description\":\"Network "                                  \
    "policy\",\"properties\":{" ALLOW_OUT "," DENY_OUT "}}"

static const char create_input[] =
    OBJECT("", NEW_NAME "," TEMPLATE "," CPU "," MEMORY "," DISK "," TIMEOUT "," IDLE_TIMEOUT
                        "," ENV "," METADATA "," WORKDIR "," INTERNET "," NETWORK);
static const char execute_input[] = OBJECT(
    "\"sandbox_name\",\"tool_name\"", SANDBOX
    "," TEXT("tool_name",
             "Name of the tool") ",\"arguments\":{\"type\":\"object\",\"description\":\"Arguments "
                                 "of the tool\"}");
static const char run_input[] = OBJECT(
    "\"sandbox_name\",\"command\"", SANDBOX
    "," TEXT("command", "Command line for /bin/sh") "," TEXT("cwd", "Working directory") "," TEXT(
        "user",
        "User to run it as") "," TEXT("stdin",
                                      "Standard input") ",\"env\":{\"type\":\"object\","
                                                        "\"additionalProperties\":{\"type\":"
                                                        "\"string\"}},\"timeout\":{\"type\":"
                                                        "\"number\",\"exclusiveMinimum\":0,"
                                                        "\"maximum\":86400,\"description\":"
                                                        "\"Timeout "
                                                        "in seconds (default 60)\"}");
static const char read_input[] = OBJECT("\"sandbox_name\",\"path\"", SANDBOX "," PATH "," ENCODING);
static const char write_input[] =
    OBJECT("\"sandbox_name\",\"path\",\"content\"",
           SANDBOX "," PATH "," ENCODING "," TEXT("content", "Content of the file"));
static const char list_input[] =
    OBJECT("\"sandbox_name\"",
           SANDBOX "," TEXT("path", "Path of the directory (default: the working directory)"));
static const char name_input[] = OBJECT("\"sandbox_name\"", SANDBOX);

static const char acquire_input[] = OBJECT("\"server_name\"", SERVER "," DATA "," SEED "," TTL);
static const char app_input[] =
    OBJECT("\"sandbox_id\"", TEXT("sandbox_id", "Id returned by acquireApp"));
static const char app_call_input[] = OBJECT(
    "\"sandbox_id\",\"tool_name\"",
    TEXT("sandbox_id", "Id returned by acquireApp") "," TEXT(
        "tool_name",
        "Name of the tool, as returned by listAppTools") ",\"arguments\":{\"type\":\"object\","
                                                         "\"description\":\"Arguments "
                                                         "of the tool\"}");

static const char reads[] = "{\"readOnlyHint\":true,\"openWorldHint\":false}";
static const char changes[] = "{\"readOnlyHint\":false,\"destructiveHint\":false}";
static const char destroys[] = "{\"readOnlyHint\":false,\"destructiveHint\":true}";

static const struct mcp_tool tools[] = {
    {"createSandbox", "Create a sandbox", "Creates a sandbox, an isolated Linux environment.",
     create_input, NULL, changes, tool_create, NULL},
    {"getSandbox", "Show a sandbox", "Returns the details of a sandbox and its tools.", name_input,
     NULL, reads, tool_get, NULL},
    {"listSandbox", "List sandboxes", "Lists your sandboxes, newest first.", NULL, NULL, reads,
     tool_list, NULL},
    {"deleteSandbox", "Delete a sandbox", "Deletes a sandbox and everything in it.", name_input,
     NULL, destroys, tool_delete, NULL},
    {"sandboxExecutor", "Use a tool in a sandbox",
     "Calls a tool inside a sandbox; getSandbox lists the tools.", execute_input, NULL, destroys,
     tool_execute, NULL},
    {"runCommand", "Run a command", "Runs a shell command in a sandbox and waits for it to finish.",
     run_input, NULL, destroys, tool_run, NULL},
    {"readFile", "Read a file", "Reads a file in a sandbox.", read_input, NULL, reads, tool_read,
     NULL},
    {"writeFile", "Write a file",
     "Writes a file in a sandbox, creating parent directories as needed.", write_input, NULL,
     destroys, tool_write, NULL},
    {"listFiles", "List files", "Lists a directory in a sandbox.", list_input, NULL, reads,
     tool_files, NULL},
    {"pauseSandbox", "Pause a sandbox", "Pauses a sandbox, preserving its memory and files.",
     name_input, NULL, changes, tool_pause, NULL},
    {"resumeSandbox", "Resume a sandbox", "Resumes a paused sandbox.", name_input, NULL, changes,
     tool_resume, NULL},
    {"listApps", "List apps", "Lists the emulated products that acquireApp can provide.", NULL,
     NULL, reads, tool_list_apps, NULL},
    {"acquireApp", "Acquire an app",
     "Acquires an emulated product. Use it with listAppTools and callAppTool, or connect to the "
     "URL of its MCP server; release it after use.",
     acquire_input, NULL, changes, tool_acquire_app, NULL},
    {"listAppTools", "List the tools of an app", "Lists the tools of an acquired app.", app_input,
     NULL, reads, tool_list_app_tools, NULL},
    {"callAppTool", "Use a tool of an app", "Calls a tool of an acquired app.", app_call_input,
     NULL, destroys, tool_call_app, NULL},
    {"releaseApp", "Release an app", "Releases an app and discards its data.", app_input, NULL,
     destroys, tool_release_app, NULL},
    {"resetApp", "Reset an app", "Resets an app to its initial state; its URL stays the same.",
     app_input, NULL, destroys, tool_reset_app, NULL},
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
        .instructions = "Sandboxes for agents: create one, run commands and work with files in "
                        "it, delete it. Apps: acquire one, use its tools with callAppTool, "
                        "release it.",
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
