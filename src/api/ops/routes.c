/* SPDX-License-Identifier: MIT */
/* The operations surface, which also has every path that belongs to no other. */
#include "api/fault.h"
#include "api/ops/ops.h"
#include "api/route.h"
#include "base/cleanup.h"

static const char *const prefixes[] = {NULL};

static const struct route routes[] = {
    {ROUTE_ANY, "/healthz", .handler = ops_health, .flags = ROUTE_QUIET,
     .summary = "Is the service up", .response = "Health"},
    {HTTP_POST, "/healthz", .handler = ops_health_post, .flags = ROUTE_QUIET, .body = ROUTE_BYTES,
     .max_body = 65536, .summary = "The same; a JSON body is parsed and dropped",
     .response = "Health"},
    {HTTP_GET, "/metrics", ROUTE_SCRAPE, .handler = ops_metrics, .flags = ROUTE_QUIET,
     .summary = "Prometheus metrics"},
    {HTTP_GET, "/openapi.json", .handler = ops_openapi, .summary = "This document"},
};

static const struct route_schema schemas[] = {
    {"Error", "{\"type\":\"object\",\"required\":[\"code\",\"message\"],\"properties\":{"
              "\"code\":{\"type\":\"integer\",\"description\":\"The HTTP status\"},"
              "\"message\":{\"type\":\"string\"}}}"},
    {"Health", "{\"type\":\"object\",\"required\":[\"status\",\"version\"],\"properties\":{"
               "\"status\":{\"const\":\"ok\"},\"version\":{\"type\":\"string\"}}}"},
};

const struct surface surface_ops = {
    .name = "ops",
    .prefixes = prefixes,
    .has_cors = true,
    .shape = api_fault_code_message,
    .error_schema = "Error",
    .routes = routes,
    .n_routes = ARRAY_LEN(routes),
    .schemas = schemas,
    .n_schemas = ARRAY_LEN(schemas),
};
