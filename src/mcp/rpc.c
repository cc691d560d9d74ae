/* SPDX-License-Identifier: MIT */
/* JSON-RPC messages: see rpc.h. */
#include "mcp/rpc.h"

#include "base/cleanup.h"
#include "mcp/exchange.h"

const char *const mcp_versions[MCP_V_COUNT] = {
    [MCP_V_2024_11_05] = "2024-11-05", [MCP_V_2025_03_26] = "2025-03-26",
    [MCP_V_2025_06_18] = "2025-06-18", [MCP_V_2025_11_25] = "2025-11-25",
    [MCP_V_2026_07_28] = "2026-07-28",
};

enum mcp_version mcp_version_of(struct str name)
{
    for (unsigned v = 0; v < MCP_V_COUNT; v++)
        if (str_is(name, mcp_versions[v]))
            return v;
    return MCP_V_COUNT;
}

struct str mcp_json_text(struct arena *a, const struct json *v, size_t max)
{
    struct buf text auto_buf = BUF_INIT(max);

    return json_write(&text, v, JSON_COMPACT) < 0 ? STR_NULL : arena_str(a, buf_str(&text));
}

static bool is_rpc(const struct json *v)
{
    const struct json *params = json_get(v, "params");

    return json_is(v, JSON_OBJECT) && str_is(json_str(json_get(v, "jsonrpc"), STR_NULL), "2.0") &&
           (!params || params->type == JSON_OBJECT);
}

enum mcp_kind mcp_classify(struct arena *a, const struct json *v, struct str *ret_id)
{
    const struct json *id = json_get(v, "id"), *method = json_get(v, "method");
    bool has_id = json_is(id, JSON_STRING) || json_is(id, JSON_INT);
    bool is_answer = (json_get(v, "result") != NULL) != (json_get(v, "error") != NULL);
    struct str text = has_id ? mcp_json_text(a, id, MCP_MAX_ID) : STR("null");

    *ret_id = text.p ? text : STR("null");
    if (!text.p || !is_rpc(v))
        return MCP_MALFORMED;
    if (!method)
        return has_id && is_answer ? MCP_RESPONSE : MCP_MALFORMED;
    if (is_answer || method->type != JSON_STRING || method->s.len > MCP_MAX_ID)
        return MCP_MALFORMED;
    if (!id)
        return MCP_NOTIFICATION;
    return has_id ? MCP_REQUEST : MCP_MALFORMED;
}

void mcp_put_error(struct jw *w, int code, struct str message, struct str data)
{
    jw_object(w);
    jw_key(w, "code");
    jw_int(w, code);
    jw_key(w, "message");
    jw_str(w, message);
    if (data.len > 0) {
        jw_key(w, "data");
        jw_raw(w, data);
    }
    jw_end(w);
}

void mcp_put_with_meta(struct jw *w, struct str object, struct str meta)
{
    struct buf text auto_buf = BUF_INIT(object.len + meta.len + 64);
    struct str open = str_slice(object, 0, object.len - 1);

    (void)buf_add_str(&text, open);
    (void)buf_add_str(&text, open.len > 1 ? STR(",\"_meta\":") : STR("\"_meta\":"));
    (void)buf_add_str(&text, meta);
    (void)buf_add_char(&text, '}');
    jw_raw(w, buf_ok(&text) ? buf_str(&text) : object);
}

void mcp_write_error(struct buf *out, struct str id, int code, struct str message, struct str data)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    jw_key(&w, "jsonrpc");
    jw_cstr(&w, "2.0");
    jw_key(&w, "id");
    jw_raw(&w, id);
    jw_key(&w, "error");
    mcp_put_error(&w, code, message, data);
    jw_end(&w);
}
