/* SPDX-License-Identifier: MIT */
/* The tools of a server of local sandboxes, as clients see them. They are data, local/SERVER.json:
 *
 *     {"title": …, "prefix": "filesystem_", "tools": [{"name", "description", "inputSchema",
 *      "annotations"}], "benchmarks": {"MCP_Atlas": {…}}}
 *
 * A benchmark changes what it names: "tools": its own ones instead of these; "prefix" of the names;
 * "without": tools that it does not have; "without_arguments": {TOOL: [ARGUMENT…]}; "schemas":
 * {TOOL: SCHEMA}; "is_open": arguments that are not in the schema are allowed; "has_no_schemas":
 * clients see no arguments but those of "schemas"; "has_structure": answers have
 * structuredContent. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "mcp/mcp.h"

enum { TOOLSET_SERVERS = 14, TOOLSET_BENCHMARKS = 4 };

struct schema;

struct toolset {
    const char *server;
    const char *benchmark; /* "": none */
    bool has_structure;
    struct mcp_tool *tools; /* rows are struct toolset_tool */
    size_t n_tools;
};

struct toolset_tool {
    const struct toolset *set;
    const char *name; /* as tidepool-local knows it */
    const struct schema *schema;
    bool is_read_only; /* may be called twice */
};

struct toolsets {
    struct arena arena;
    struct toolset sets[TOOLSET_SERVERS * TOOLSET_BENCHMARKS];
    size_t n;
};

/* The names of all servers of local sandboxes, whether they are there or not. */
extern const char *const toolset_servers[TOOLSET_SERVERS];

/* Reads the files of DIR; CALL is the handler of every tool. -ENOENT: there is none. */
int toolsets_load(struct toolsets *t, const char *dir, mcp_handler *call, struct err *e);
void toolsets_done(struct toolsets *t);
/* The tool that a client means by a name with or without the server's as prefix; or NULL. */
const struct toolset_tool *toolset_tool(const struct toolset *set, struct str name);
/* That of the benchmark, else of none; NULL when there is no such server. */
const struct toolset *toolset_find(const struct toolsets *t, struct str server,
                                   struct str benchmark);
