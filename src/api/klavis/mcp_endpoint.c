/* SPDX-License-Identifier: MIT */
/* The MCP endpoints of instances. No key is asked for: the lease in the address is all that an
 * agent has, and all that it needs; what else can be done with a sandbox is not reached by it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/internal.h"
#include "api/klavis/app_server.h"
#include "api/klavis/klavis.h"
#include "api/local/caller.h"
#include "api/local/local.h"
#include "base/mem.h"
#include "core/instance.h"
#include "core/server.h"
#include "mcp/http.h"

/* The instance that R is for, or NULL. */
static struct instance *find_endpoint_instance(struct api_req *r)
{
    struct str path = str_skip(r->http->head.path, 1), name = str_cut(&path, '/');
    struct str lease = api_query(r, "instance_id");
    const struct server *s = server_find(name);
    struct instance *in =
        r->core->instances && lease.len > 0 ? instance_by_lease(r->core->instances, lease) : NULL;

    return in && str_ieq(s ? str_of(s->name) : name, str_of(in->server)) ? in : NULL;
}

/* The server and the scope of R; NULL after answering. */
static struct mcp_server *admit(struct api_req *r, struct mcp_scope *ret)
{
    struct instance *in = find_endpoint_instance(r);
    struct err e = ERR_INIT;

    if (!in) {
        api_error(r, 404, "Instance not found: it does not exist or was released");
        return NULL;
    }
    struct mcp_server *s = klavis_mcp_server(r->api->klavis, in, &e);
    struct str headers = instance_app(in) && instance_app(in)->headers
                             ? local_headers_of(r->arena, &r->http->head.headers)
                             : STR("");
    if (!headers.p) {
        api_error(r, 431, "The headers are too large");
        return NULL;
    }
    struct app_server_caller *who = s ? mem_zalloc(1, sizeof *who + headers.len + 1) : NULL;
    if (!who) {
        api_fail(r, e.code ? e.code : -ENOMEM, &e);
        return NULL;
    }
    who->core = r->core;
    (void)snprintf(who->lease, sizeof who->lease, "%s", in->lease);
    memcpy(who->headers, headers.p, headers.len);
    *ret = (struct mcp_scope){.owner = str_of(who->lease), .ctx = who, .release = free};
    api_add_cors(r);
    return s;
}

void klavis_mcp(struct api_req *r)
{
    struct mcp_scope scope;

    if (api_query(r, "local_sandbox_id").p) {
        local_mcp(r);
        return;
    }
    struct mcp_server *s = admit(r, &scope);

    if (s)
        mcp_http(s, r->http, &scope);
}

void klavis_mcp_stream(struct api_req *r)
{
    struct mcp_scope scope;
    struct mcp_server *s = admit(r, &scope);

    if (s)
        mcp_http_sse(s, r->http, &scope,
                     arena_printf(r->arena, "/" STR_FMT "/messages?instance_id=" STR_FMT,
                                  STR_ARG(api_param(r, "server_name")), STR_ARG(scope.owner)));
}

void klavis_mcp_messages(struct api_req *r)
{
    struct mcp_scope scope;
    struct mcp_server *s = admit(r, &scope);

    if (s)
        mcp_http_messages(s, r->http, &scope);
}
