/* SPDX-License-Identifier: MIT */
/* JSON-RPC messages, the revisions of the protocol, and what is checked of a request before it is
 * looked at more closely. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "mcp/mcp.h"

struct http_req;
struct mcp_server;

enum mcp_version {
    MCP_V_2024_11_05,
    MCP_V_2025_03_26,
    MCP_V_2025_06_18,
    MCP_V_2025_11_25,
    MCP_V_2026_07_28,
    MCP_V_COUNT
};
/* What a session gets that asks for what we do not know; what a request has that names none. */
#define MCP_V_NEWEST_STATEFUL MCP_V_2025_11_25
#define MCP_V_UNSAID          MCP_V_2025_03_26

extern const char *const mcp_versions[MCP_V_COUNT];
/* The version of that name, or MCP_V_COUNT. */
enum mcp_version mcp_version_of(struct str name);

/* Codes that 2026-07-28 defines. */
enum { MCP_HEADER_MISMATCH = -32020, MCP_MISSING_CAPABILITY = -32021, MCP_BAD_VERSION = -32022 };
enum { MCP_NO_SESSION = -32001, MCP_NO_RESOURCE = -32002 };

/* ---- messages ---- */

enum mcp_kind { MCP_REQUEST, MCP_NOTIFICATION, MCP_RESPONSE, MCP_MALFORMED };
/* What V is; a request's id as JSON text in A (.p NULL when memory ran out). */
enum mcp_kind mcp_classify(struct arena *a, const struct json *v, struct str *ret_id);
struct str mcp_json_text(struct arena *a, const struct json *v, size_t max);
/* The object of an error: its code, message and DATA, which is JSON text or empty. */
void mcp_put_error(struct jw *w, int code, struct str message, struct str data);
/* OBJECT, JSON text, with META as its last member "_meta". */
void mcp_put_with_meta(struct jw *w, struct str object, struct str meta);
void mcp_write_error(struct buf *out, struct str id, int code, struct str message, struct str data);

/* ---- checks of requests ---- */

bool mcp_origin_is_allowed(const struct http_req *r, const struct mcp_desc *desc);
/* A fault of a 2026-07-28 request: HTTP 400 with this error. */
struct mcp_fault {
    int code;
    char message[256];
    struct str data;
};
/* The headers and _meta of a 2026-07-28 request. 0 or -EINVAL with F filled. */
int mcp_check_modern(struct mcp_server *s, const struct http_req *r, struct arena *a,
                     const struct json *request, struct mcp_fault *f);
/* True when R or its message speaks of 2026-07-28, or of no revision that we know. */
bool mcp_looks_modern(const struct http_req *r, const struct json *message);
