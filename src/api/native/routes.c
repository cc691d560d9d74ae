/* SPDX-License-Identifier: MIT */
/* The native surface: /api/v1. */
#include "api/fault.h"
#include "api/native/native.h"
#include "api/route.h"
#include "base/cleanup.h"

static const char *const prefixes[] = {"/api/v1", NULL};

static const struct route routes[] = {
    {HTTP_GET, "/api/v1/events", ROUTE_KEY, .handler = native_events,
     .summary = "What happened, newest first", .response = "Events",
     .query = {{"sandbox", "string", "Only events of this sandbox"},
               {"limit", "integer", "At most so many; default 100, never more than 500"}}},
    {HTTP_GET, "/api/v1/keys", ROUTE_SYSTEM, .handler = native_keys_list, .summary = "List keys",
     .response = "Keys",
     .query = {{"account", "string", "Only keys of this account"},
               {"all", "boolean", "Revoked ones too"}}},
    {HTTP_POST, "/api/v1/keys", ROUTE_SYSTEM, ROUTE_JSON, .max_body = 65536,
     .handler = native_keys_create, .replay = native_keys_replay, .flags = ROUTE_CREATES,
     .summary = "Make a key; the answer is the only time that it is shown", .request = "NewKey",
     .response = "NewKeyAnswer"},
    {HTTP_DELETE, "/api/v1/keys/{id}", ROUTE_SYSTEM, .handler = native_keys_revoke,
     .summary = "Revoke a key", .response = "Done"},
};

#define STRING "{\"type\":\"string\"}"
#define LIMIT  "{\"type\":[\"integer\",\"null\"],\"minimum\":0}"
#define LIMITS                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"max_live\":" LIMIT ",\"max_creates\":" LIMIT           \
    ",\"max_rps\":" LIMIT "}}"
#define ENVELOPE(data)                                                                             \
    "{\"type\":\"object\",\"required\":[\"code\",\"data\"],\"properties\":{\"code\":{\"const\":"   \
    "\"0\"},\"data\":" data "}}"
#define KEY_MEMBERS                                                                                \
    "\"id\":" STRING ",\"account\":" STRING ",\"role\":{\"enum\":[\"user\",\"system\"]},"          \
    "\"name\":" STRING ",\"hint\":" STRING ",\"fixed\":{\"type\":\"boolean\"},"                    \
    "\"created_at\":" STRING ",\"revoked_at\":" STRING ",\"limits\":" LIMITS
#define LIST_OF(schema)                                                                            \
    "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/" schema "\"}}"

static const struct route_schema schemas[] = {
    {"Done", ENVELOPE(STRING)},
    {"Event",
     "{\"type\":\"object\",\"properties\":{\"name\":" STRING ",\"reason\":" STRING
     ",\"type\":{\"enum\":[\"Normal\",\"Warning\"]},\"message\":" STRING
     ",\"count\":{\"type\":\"integer\"},\"eventTime\":" STRING ",\"firstTimestamp\":" STRING
     ",\"lastTimestamp\":" STRING
     ",\"involvedObject\":{\"type\":\"object\",\"properties\":{\"kind\":" STRING ",\"name\":" STRING
     ",\"namespace\":" STRING ",\"apiVersion\":" STRING ",\"fieldPath\":" STRING "}}}}"},
    {"Events", ENVELOPE(LIST_OF("Event"))},
    {"Key", "{\"type\":\"object\",\"properties\":{" KEY_MEMBERS "}}"},
    {"Keys", ENVELOPE(LIST_OF("Key"))},
    {"NewKey", "{\"type\":\"object\",\"properties\":{\"account\":" STRING ",\"name\":" STRING
               ",\"role\":{\"enum\":[\"user\",\"system\"]},\"limits\":" LIMITS "}}"},
    {"NewKeyAnswer",
     ENVELOPE("{\"type\":\"object\",\"properties\":{\"key\":" STRING "," KEY_MEMBERS "}}")},
};

const struct surface surface_native = {
    .name = "native",
    .prefixes = prefixes,
    .is_guarded = true,
    .has_cors = true,
    .shape = api_fault_code_message,
    .error_schema = "Error",
    .routes = routes,
    .n_routes = ARRAY_LEN(routes),
    .schemas = schemas,
    .n_schemas = ARRAY_LEN(schemas),
};
