/* SPDX-License-Identifier: MIT */
/* The service's own MCP server: its tools, and what they share. */
#pragma once

#include "api/req.h"
#include "core/sandbox.h"
#include "mcp/mcp.h"

struct mcp_scope;
struct sandbox_args;
struct sandbox;

/* Who calls: the context of every call. */
struct mcp_caller {
    struct core *core;
    struct account_key *key;            /* a reference */
    char sandbox[SANDBOX_NAME_MAX + 1]; /* the one that all calls are about; "": they name one */
    char base[256];                     /* "http://host:port" as the client reaches the service */
};

struct mcp_server *mcp_service_new(struct core *core, struct err *e);
api_handler mcp_endpoint, mcp_older_stream, mcp_older_messages;
/* The tools that work in one sandbox, under its own path. */
struct mcp_server *mcp_cell_new(struct core *core, struct err *e);
api_handler mcp_cell_endpoint;
/* The scope of R's key; false after answering. */
bool mcp_scope_of(struct api_req *r, struct mcp_scope *ret);

/* ---- tools; those of sandboxes find theirs by tool_sandbox() ---- */

mcp_handler tool_create, tool_get, tool_list, tool_delete, tool_pause, tool_resume;
mcp_handler tool_run, tool_read, tool_write, tool_files, tool_execute;
mcp_handler tool_build;
mcp_handler tool_acquire_app, tool_release_app, tool_reset_app;
mcp_handler tool_list_apps, tool_list_app_tools, tool_call_app;

/* The sandbox that argument KEY names and the caller may know of; else answers and returns NULL. */
struct sandbox *tool_sandbox(struct mcp_call *c, const char *key);
/* Argument KEY when it is a string, else empty. */
struct str tool_arg(const struct mcp_call *c, const char *key);
/* Ends C as a failed call of core. */
void tool_fail(struct mcp_call *c, int code, const struct err *e);
/* Ends C with an error of the tool. */
void tool_refuse(struct mcp_call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* How long a build may take. */
int64_t tool_build_takes_ms(const struct mcp_call *c);
/* Applies the template that ARGS name, if the caller's account has built one of that name. */
int tool_use_built(struct mcp_call *c, struct sandbox_args *args);
/* Counts a task that begins and ends its work: see struct mcp_desc. */
int tool_task_begin(void *ctx);
void tool_task_end(void *ctx);
/* How long the command of C may run. */
int64_t tool_takes_ms(const struct mcp_call *c);

/* A command to run: strings are NUL-terminated or empty. */
struct tool_command {
    const char *const *argv;
    struct str cwd, user, input;
    const struct json *env; /* an object of strings, or NULL */
    int64_t timeout_ms;
};

/* Files of SB. */
void tool_read_in(struct mcp_call *c, struct sandbox *sb);
void tool_write_in(struct mcp_call *c, struct sandbox *sb);
void tool_list_in(struct mcp_call *c, struct sandbox *sb);

/* Made from tools/NAME.json: the tools of /mcp and of a sandbox's own server, and what
 * sandboxExecutor runs, as a JSON array of tools. */
extern const struct mcp_tool mcp_service_tools[], mcp_cell_tools[];
extern const size_t mcp_service_n_tools, mcp_cell_n_tools;
extern const char tool_inner[];
