/* SPDX-License-Identifier: MIT */
/* The Klavis surface: /sandbox and /local-sandbox. Unknown paths are told to anybody, as the
 * original does. */
#include "api/klavis/shape.h"
#include "api/route.h"
#include "base/cleanup.h"

static const char *const prefixes[] = {"/sandbox", "/local-sandbox", NULL};

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
    .schemas = schemas,
    .n_schemas = ARRAY_LEN(schemas),
};
