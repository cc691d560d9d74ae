/* SPDX-License-Identifier: MIT */
/* The E2B control surface: /e2b/v1. Two wires are live at once: older clients make and join
 * sandboxes under /sandboxes, newer ones under /v2/sandboxes. */
#include "api/e2b/e2b.h"
#include "api/fault.h"
#include "api/route.h"
#include "base/cleanup.h"

static const char *const prefixes[] = {"/e2b/v1", NULL};

#define BASE "/e2b/v1"
#define ONE  BASE "/sandboxes/{id}"

/* What is not served: every method, with the reason. */
#define REFUSED(path, fn, text)                                                                    \
    {                                                                                              \
        ROUTE_ANY, BASE path, ROUTE_KEY, .handler = fn, .status = 501, .summary = text             \
    }

static const struct route routes[] = {
    {HTTP_POST, BASE "/sandboxes", ROUTE_KEY, ROUTE_JSON, .handler = e2b_create_v1,
     .flags = ROUTE_CREATES, .status = 201, .summary = "Create a sandbox (default timeout: 15 s)",
     .request = "E2bNewSandbox", .response = "E2bSandbox"},
    {HTTP_POST, BASE "/v2/sandboxes", ROUTE_KEY, ROUTE_JSON, .handler = e2b_create_v2,
     .flags = ROUTE_CREATES, .status = 201,
     .summary = "Create a secured sandbox (default timeout: 300 s)", .request = "E2bNewSandbox",
     .response = "E2bSandbox"},
    {HTTP_GET, BASE "/sandboxes", ROUTE_KEY, .handler = e2b_list_v1,
     .summary = "List running sandboxes, newest first", .response = "E2bSandboxes",
     .query = {{"metadata", "string",
                "Only sandboxes with this metadata: k=v&k2=v2, URL-encoded"}}},
    {HTTP_GET, BASE "/v2/sandboxes", ROUTE_KEY, .handler = e2b_list_v2,
     .summary = "List sandboxes in pages", .response = "E2bSandboxes",
     .query = {{"metadata", "string", "Only sandboxes with this metadata: k=v&k2=v2, URL-encoded"},
               {"state", "string", "running, paused, or both separated by a comma (default)"},
               {"startedAfter", "string",
                "Only sandboxes started at or after this time (RFC 3339)"},
               {"template", "string", "Only sandboxes created from this template"},
               {"order", "string", "Order by start time: asc or desc (default)"},
               {"limit", "integer", "Page size (default and maximum: 100)"},
               {"nextToken", "string", "X-Next-Token header of the previous page"}}},
    {HTTP_GET, ONE, ROUTE_KEY, .handler = e2b_get, .summary = "Get a sandbox",
     .response = "E2bSandbox"},
    {HTTP_DELETE, ONE, ROUTE_KEY, .handler = e2b_delete,
     .summary = "Kill a running or paused sandbox", .response_type = "text/plain"},
    {HTTP_POST, ONE "/timeout", ROUTE_KEY, ROUTE_JSON, .handler = e2b_timeout, .status = 204,
     .summary = "Set the timeout of a running sandbox, in seconds from now",
     .request = "E2bTimeout"},
    {HTTP_POST, ONE "/refreshes", ROUTE_KEY, ROUTE_JSON, .handler = e2b_refresh, .status = 204,
     .summary = "Extend the timeout of a running sandbox to at least this duration",
     .request = "E2bRefresh"},
    {HTTP_POST, ONE "/pause", ROUTE_KEY, ROUTE_JSON, .handler = e2b_pause, .status = 204,
     .summary = "Pause a sandbox; with memory=false, only its files are kept",
     .request = "E2bPause"},
    {HTTP_POST, ONE "/resume", ROUTE_KEY, ROUTE_JSON, .handler = e2b_resume, .status = 201,
     .summary = "Resume a paused sandbox", .request = "E2bResume", .response = "E2bSandbox"},
    {HTTP_POST, ONE "/connect", ROUTE_KEY, ROUTE_JSON, .handler = e2b_connect, .status = 201,
     .summary = "Resume a sandbox if it is paused; otherwise extend its timeout",
     .request = "E2bConnect", .response = "E2bSandbox"},
    {HTTP_POST, BASE "/v2/sandboxes/{id}/connect", ROUTE_KEY, ROUTE_JSON, .handler = e2b_connect,
     .status = 201, .summary = "Resume a sandbox if it is paused; otherwise extend its timeout",
     .request = "E2bConnect", .response = "E2bSandbox"},
    {HTTP_PUT, ONE "/network", ROUTE_KEY, ROUTE_JSON, .handler = e2b_network, .status = 204,
     .summary = "Replace the network policy of a sandbox", .request = "E2bNetwork"},
    {HTTP_GET, ONE "/metrics", ROUTE_KEY, .handler = e2b_metrics,
     .summary = "Get the resource usage of a sandbox over the last hour, one point every 5 s",
     .response = "E2bMetrics",
     .query = {{"start", "integer", "Seconds since 1970"},
               {"end", "integer", "Seconds since 1970"}}},
    {HTTP_GET, BASE "/sandboxes/metrics", ROUTE_KEY, .handler = e2b_metrics_many,
     .summary = "Get the current resource usage of several sandboxes", .response = "E2bMetricsMany",
     .query = {{"sandbox_ids", "string", "1 to 100 ids, comma-separated"}}},
    {HTTP_GET, ONE "/logs", ROUTE_KEY, .handler = e2b_logs_v1,
     .summary = "Get the events of a sandbox and the output of its main process, oldest first",
     .response = "E2bLogs",
     .query = {{"start", "integer", "Start time in milliseconds since 1970"},
               {"limit", "integer", "Limit (default and maximum: 1000)"}}},
    {HTTP_GET, BASE "/v2/sandboxes/{id}/logs", ROUTE_KEY, .handler = e2b_logs_v2,
     .summary = "Get the logs of a sandbox in either direction", .response = "E2bLogEntries",
     .query = {{"cursor", "integer", "Start position in milliseconds since 1970"},
               {"limit", "integer", "Limit (default and maximum: 1000)"},
               {"direction", "string", "forward (default) or backward"},
               {"level", "string", "Minimum level: debug, info, warn or error"},
               {"search", "string", "Only messages that contain this text"}}},
    {HTTP_GET, BASE "/health", ROUTE_OPEN, .handler = e2b_health, .flags = ROUTE_QUIET,
     .status = 204, .summary = "Check that the service is up"},

    {HTTP_GET, BASE "/templates", ROUTE_KEY, .handler = e2b_templates, .summary = "List templates",
     .response = "E2bTemplates"},
    {HTTP_GET, BASE "/v2/templates", ROUTE_KEY, .handler = e2b_templates,
     .summary = "List templates", .response = "E2bTemplates"},
    {HTTP_GET, BASE "/templates/aliases/{alias}", ROUTE_KEY, .handler = e2b_template_alias,
     .summary = "Check whether a template exists", .response = "E2bAlias"},
    {HTTP_GET, BASE "/teams", ROUTE_KEY, .handler = e2b_teams,
     .summary = "Get the account of the key", .response = "E2bTeams"},

    REFUSED("/sandboxes/{id}/fork", e2b_no_fork, "Not supported: forks"),
    REFUSED("/sandboxes/{id}/snapshots", e2b_no_snapshots, "Not supported: snapshots"),
    REFUSED("/snapshots", e2b_no_snapshots, "Not supported: snapshots"),
    REFUSED("/v3/templates", e2b_no_builds, "Not supported: builds"),
    REFUSED("/templates/{rest*}", e2b_no_builds, "Not supported: builds, tags, deletion"),
    REFUSED("/v2/templates/{rest*}", e2b_no_builds, "Not supported: builds"),
    REFUSED("/volumes", e2b_no_volumes, "Not supported: volumes"),
    REFUSED("/volumes/{rest*}", e2b_no_volumes, "Not supported: volumes"),
    REFUSED("/secrets", e2b_no_secrets, "Not supported: secrets"),
    REFUSED("/secrets/{rest*}", e2b_no_secrets, "Not supported: secrets"),
};

const struct surface surface_e2b = {
    .name = "e2b",
    .prefixes = prefixes,
    .is_guarded = true,
    .has_cors = true,
    .shape = e2b_shape,
    .error_schema = "Error",
    .routes = routes,
    .n_routes = ARRAY_LEN(routes),
    .schemas = e2b_schemas,
};
