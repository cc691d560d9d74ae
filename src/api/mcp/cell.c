/* SPDX-License-Identifier: MIT */
/* /sandbox/{name}/mcp: the tools that work in one sandbox, for its owner. With ?port= the request
 * is passed on to a service inside the sandbox, as all other paths are. */
#include <stdio.h>

#include "api/internal.h"
#include "api/mcp/tools.h"
#include "api/native/native.h"
#include "base/cleanup.h"
#include "core/config.h"
#include "core/metrics.h"
#include "mcp/http.h"

enum { MESSAGE_MAX = 4 << 20 };

struct mcp_server *mcp_cell_new(struct core *core, struct err *e)
{
    const struct mcp_desc desc = {
        .name = "tidepool-sandbox",
        .title = "Tidepool sandbox",
        .version = TIDEPOOL_VERSION,
        .instructions = "Commands and files in one sandbox.",
        .tools = mcp_cell_tools,
        .n_tools = mcp_cell_n_tools,
        .is_keyed = true,
        .domain = core->config->domain,
        .is_stateless = true,
        .task_begin = tool_task_begin,
        .task_end = tool_task_end,
        .secret = str_n((const char *)core->secret, sizeof core->secret),
    };

    return mcp_server_new(core->loop, &desc, e);
}

static void on_cell_body(struct http_req *h, void *ctx)
{
    struct api_req *r = ctx;
    struct mcp_scope scope;

    if (!mcp_scope_of(r, &scope))
        return;
    struct mcp_caller *who = scope.ctx;
    (void)snprintf(who->sandbox, sizeof who->sandbox, STR_FMT, STR_ARG(api_param(r, "name")));
    mcp_http(r->api->cell, h, &scope);
}

void mcp_cell_endpoint(struct api_req *r)
{
    struct str token = api_token(r->http);
    struct account_key *k = token.p ? accounts_find(r->core->accounts, token) : NULL;

    if (api_query(r, "port").p) {
        native_router(r);
        return;
    }
    r->match.surface = &surface_mcp;
    if (!k) {
        metrics_add(r->core->metrics, METRIC_AUTH_FAILED, 1);
        api_fault(r, token.p ? API_FAULT_BAD_KEY : API_FAULT_NO_KEY, STR_NULL);
        return;
    }
    if (!api_admit(r, k))
        return;
    if (sandbox_find_for(r->core->sandboxes, api_param(r, "name"), k))
        http_read_body(r->http, MESSAGE_MAX, on_cell_body, r);
    else
        api_error(r, 404, "sandbox " STR_FMT " not found",
                  STR_ARG(str_slice(api_param(r, "name"), 0, SANDBOX_NAME_MAX)));
}
