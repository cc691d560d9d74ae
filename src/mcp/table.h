/* SPDX-License-Identifier: MIT */
/* The compiled description of a server: what is found by name, and the lists as texts. */
#pragma once

#include "base/map.h"
#include "base/schema.h"
#include "mcp/http.h"
#include "mcp/mcp.h"

enum { MCP_MAX_HEADER_ARGS = 16 }; /* of a tool */

/* An argument that the client repeats in a header. */
struct mcp_header_arg {
    struct str header, pointer; /* "Mcp-Param-Region", "/region" */
};

struct mcp_tool_row {
    const struct mcp_tool *row;
    struct schema *schema;
    struct mcp_header_arg *headers;
    size_t n_headers;
};

/* A list as clients see it: its entries as JSON texts, and whole answers for either wire. */
struct mcp_catalog {
    struct str *items;
    size_t n;
    struct str whole[2]; /* [is_modern]; .p NULL: it has pages */
};

struct mcp_table {
    struct mcp_desc desc;
    struct arena arena;
    struct map tools, resources, prompts; /* by name or URI */
    struct mcp_tool_row *tool_rows;
    struct mcp_catalog lists[MCP_LIST_COUNT];
    struct str capabilities[2], info, meta; /* JSON: of either wire; serverInfo; a result's _meta */
};

int mcp_table_init(struct mcp_table *t, const struct mcp_desc *desc, struct err *e);
void mcp_table_done(struct mcp_table *t);
/* Matches URI to TEMPLATE; VARS gets the variables' values in their order. */
bool mcp_uri_match(const char *template, struct str uri, struct str vars[MCP_MAX_VARS]);
/* The headers that arguments of SCHEMA are repeated in. 0, -EINVAL or -ENOMEM with E filled. */
int mcp_find_header_args(struct arena *a, const struct json *schema, struct mcp_tool_row *t,
                         struct err *e);

/* "tools", "resources"…: the member of a list's answer. */
extern const char *const mcp_list_names[MCP_LIST_COUNT];
/* Writes entries FROM up to TO of a list, and the cursor when there are more. */
void mcp_write_list(struct jw *w, const struct mcp_table *t, enum mcp_list list, size_t from,
                    size_t to);
/* Writes for how long an answer of 2026-07-28 may be kept, and by whom. */
void mcp_write_cache(struct jw *w, const struct mcp_table *t, int64_t ttl_ms);
