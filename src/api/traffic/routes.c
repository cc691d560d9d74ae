/* SPDX-License-Identifier: MIT */
/* The surface of traffic into sandboxes. Requests that a host name or headers bring are counted and
 * logged under its row, too. */
#include "api/fault.h"
#include "api/route.h"
#include "api/traffic/traffic.h"
#include "base/cleanup.h"

static const char *const prefixes[] = {"/sandboxes/router", NULL};

static const struct route routes[] = {
    {ROUTE_ANY, TRAFFIC_PATTERN, ROUTE_OPEN, ROUTE_STREAM, .handler = traffic_router,
     .summary = "Forward any request, including WebSockets, to a port inside a sandbox; same as "
                "the host {port}-{id}.{domain} and the headers E2b-Sandbox-Id and "
                "E2b-Sandbox-Port",
     .response_type = "*/*"},
    {ROUTE_ANY, "/sandboxes/router/{id}/{port}", ROUTE_OPEN, ROUTE_STREAM,
     .handler = traffic_router,
     .summary = "Forward a request for the path / to a port inside a sandbox",
     .response_type = "*/*"},
};

const struct surface surface_traffic = {
    .name = "traffic",
    .prefixes = prefixes,
    .has_cors = true,
    .shape = api_fault_code_message,
    .error_schema = "Error",
    .routes = routes,
    .n_routes = ARRAY_LEN(routes),
};
