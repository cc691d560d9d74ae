/* SPDX-License-Identifier: MIT */
/* Who calls a tool of a local sandbox: the context of its MCP requests. */
#pragma once

#include "api/local/local.h"
#include "net/http.h"

struct mcp_call;

enum {
    LOCAL_HEADERS_MAX = 32,            /* of one request */
    LOCAL_HEADERS_BYTES_MAX = 24 << 10 /* names and values together */
};

struct local_caller {
    struct locals *locals;
    const struct toolset *set;
    char id[LOCAL_ID_LEN + 1]; /* of the local sandbox */
    /* The headers "x-…" of the request: JSON text of an object, names in lower case. Some servers
     * learn from them on whose behalf they act. */
    struct str headers;
};

/* Those of H as JSON text in A; of several with one name the values are joined by ", ".
 * .p is NULL when they are over the limits, or memory is out. */
struct str local_headers_of(struct arena *a, const struct http_headers *h);
/* The caller of R in memory of its own, for mcp_scope; free() releases it. NULL: R was answered. */
struct local_caller *local_caller_new(struct api_req *r, const struct toolset *set, struct str id);
