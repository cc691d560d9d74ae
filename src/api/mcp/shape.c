/* SPDX-License-Identifier: MIT */
/* How the MCP surface reports faults that are found before a message is understood: a JSON-RPC
 * error without id, beside the HTTP status that the transport asks for. */
#include "api/mcp/shape.h"

#include "api/fault.h"
#include "base/json.h"

enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_SERVER_ERROR = -32000
};

static int rpc_code(const struct api_fault *f)
{
    if (f->kind == API_FAULT_BODY_JSON)
        return RPC_PARSE_ERROR;
    switch (api_fault_status(f)) {
    case 400: return RPC_INVALID_REQUEST;
    case 422: return RPC_INVALID_PARAMS;
    case 500: return RPC_INTERNAL_ERROR;
    default: return RPC_SERVER_ERROR;
    }
}

int mcp_shape(struct buf *out, const struct api_fault *f)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    jw_key(&w, "jsonrpc");
    jw_cstr(&w, "2.0");
    jw_key(&w, "error");
    jw_object(&w);
    jw_key(&w, "code");
    jw_int(&w, rpc_code(f));
    jw_key(&w, "message");
    jw_str(&w, api_fault_text(f));
    jw_end(&w);
    jw_key(&w, "id");
    jw_null(&w);
    jw_end(&w);
    return api_fault_status(f);
}
