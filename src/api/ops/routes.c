/* SPDX-License-Identifier: MIT */
/* The operations surface, which also has every path that belongs to no other. */
#include "api/fault.h"
#include "api/ops/ops.h"
#include "api/route.h"
#include "base/cleanup.h"

static const char *const prefixes[] = {NULL};

static const struct route routes[] = {
    {ROUTE_ANY, "/healthz", .handler = ops_health, .flags = ROUTE_QUIET,
     .summary = "Check that the service is up", .response = "Health"},
    {HTTP_POST, "/healthz", .handler = ops_health_post, .flags = ROUTE_QUIET, .body = ROUTE_BYTES,
     .max_body = 65536,
     .summary = "Check that the service is up; a JSON body is parsed and ignored",
     .request = "Anything", .response = "Health"},
    {HTTP_GET, "/metrics", ROUTE_SCRAPE, .handler = ops_metrics, .flags = ROUTE_QUIET,
     .summary = "Prometheus metrics", .response_type = "text/plain"},
    {HTTP_GET, "/openapi.json", .handler = ops_openapi, .summary = "This document",
     .response = "Anything"},
};

const struct surface surface_ops = {
    .name = "ops",
    .prefixes = prefixes,
    .has_cors = true,
    .shape = api_fault_code_message,
    .error_schema = "Error",
    .routes = routes,
    .n_routes = ARRAY_LEN(routes),
    .schemas = ops_schemas,
};
