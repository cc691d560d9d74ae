/* SPDX-License-Identifier: MIT */
/* The Klavis surface: /sandbox and /local-sandbox. Unknown paths are told to anybody, as the
 * original does. */
#include "api/klavis/shape.h"
#include "api/native/native.h"
#include "api/route.h"
#include "base/cleanup.h"

static const char *const prefixes[] = {"/sandbox", "/local-sandbox", NULL};

/* What is no server of this surface is a sandbox of the native one. */
static const struct route routes[] = {
    {ROUTE_ANY, "/sandbox/{name}", ROUTE_OPEN, .handler = native_router_slash, .status = 301,
     .summary = "Leads to the main service of a sandbox"},
    {ROUTE_ANY, "/sandbox/{name}/{path*}", ROUTE_OPEN, ROUTE_STREAM, .handler = native_router,
     .summary = "Any request to a service inside of a sandbox, WebSockets included",
     .query = {{"port", "integer", "The service's port; default: that of the sandbox"},
               {"api_key", "string", "The key, where a header cannot be set"}}},
};

static const struct route_schema schemas[] = {
    {"Detail",
     "{\"type\":\"object\",\"required\":[\"detail\"],\"properties\":{\"detail\":{"
     "\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"object\","
     "\"required\":[\"loc\",\"msg\",\"type\"]}}]}}}"},
};

const struct surface surface_klavis = {
    .name = "klavis",
    .prefixes = prefixes,
    .has_cors = true,
    .shape = klavis_shape,
    .error_schema = "Detail",
    .routes = routes,
    .n_routes = ARRAY_LEN(routes),
    .schemas = schemas,
    .n_schemas = ARRAY_LEN(schemas),
};
