/* SPDX-License-Identifier: MIT */
/* mcp-gateway: one MCP server in a sandbox with the tools of several, as clients of E2B start it.
 *
 *     mcp-gateway --config JSON      starts it, and returns when it listens on port 50005
 *     mcp-gateway pull NAME…         checks that these servers exist: there is nothing to fetch
 *
 * JSON has a member for each server: one of ours by its name ({"filesystem": {"paths":
 * ["/data"]}}), or a program that speaks MCP over its input and output, under any name with a '/'
 * in it:
 * {"github/owner/repo": {"runCmd": "node server.js", "installCmd": "npm ci", "envs": {…}}}.
 *
 * Requests to /mcp need the token of GATEWAY_ACCESS_TOKEN, which is kept in GATEWAY_TOKEN_FILE for
 * clients that come later. The tools run as the user `user` where there is one. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "local/local.h"
#include "mcp/mcp.h"

struct loop;
struct pool;

enum { GATEWAY_PORT = 50005, GATEWAY_SERVERS_MAX = 32, GATEWAY_TOOLS_MAX = 1024 };
#define GATEWAY_DIR        "/etc/mcp-gateway"
#define GATEWAY_TOKEN_FILE GATEWAY_DIR "/.token"
#define GATEWAY_LOG        "/var/log/mcp-gateway.log"

/* The program; returns its exit status. */
int gateway_main(int argc, char **argv);

/* ---- the tools (gateway/table.c) ---- */

struct gateway_foreign;

/* Where calls of a tool go: to a function of ours, or to a program of others. */
struct gateway_tool {
    const struct local_tool *tool;
    struct gateway_foreign *foreign;
    const char *foreign_name;
};

struct gateway_table {
    struct arena arena;
    struct mcp_tool *rows; /* .row: struct gateway_tool */
    size_t n;
};

/* Fills in the tools of the servers that CONFIG names; those with a command are skipped. -EINVAL
 * with E filled when it names an unknown one. */
int gateway_add_own(struct gateway_table *t, const struct json *config, mcp_handler *call,
                    struct err *e);
/* Adds a row. A name that is taken gets that of its server in front. */
int gateway_add_tool(struct gateway_table *t, const char *server, const struct mcp_tool *row,
                     struct err *e);
/* The server of ours that is called NAME: "-", "_" and case do not count. NULL: none. */
struct gateway_server_text;
const struct gateway_server_text *gateway_find_server(struct str name);

/* ---- programs of others (gateway/foreign.c) ---- */

/* Starts the program of the member NAME of the configuration, asks for its tools and calls DONE,
 * with E filled on failure. */
typedef void gateway_ready_fn(void *ctx, struct gateway_foreign *f, const struct err *e);
int gateway_foreign_start(struct loop *loop, const char *name, const struct json *settings,
                          gateway_ready_fn *done, void *ctx, struct err *e);
/* Its tools, as it listed them: an array. */
const struct json *gateway_foreign_tools(const struct gateway_foreign *f);
/* Answers CALL by the program's own answer to a call of its tool NAME. */
void gateway_foreign_call(struct gateway_foreign *f, struct mcp_call *call, const char *name);
