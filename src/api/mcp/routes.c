/* SPDX-License-Identifier: MIT */
/* The MCP surface: the service's own tools under /mcp. */
#include "api/mcp/shape.h"
#include "api/route.h"
#include "base/cleanup.h"

static const char *const prefixes[] = {"/mcp", NULL};

static const struct route_schema schemas[] = {
    {"RpcError", "{\"type\":\"object\",\"required\":[\"jsonrpc\",\"error\",\"id\"],\"properties\":{"
                 "\"jsonrpc\":{\"const\":\"2.0\"},\"error\":{\"type\":\"object\","
                 "\"required\":[\"code\",\"message\"]},\"id\":{}}}"},
};

const struct surface surface_mcp = {
    .name = "mcp",
    .prefixes = prefixes,
    .is_guarded = true,
    .has_cors = true,
    .shape = mcp_shape,
    .error_schema = "RpcError",
    .schemas = schemas,
    .n_schemas = ARRAY_LEN(schemas),
};
