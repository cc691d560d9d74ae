/* SPDX-License-Identifier: MIT */
/* The Klavis surface: /sandbox and /local-sandbox. Unknown paths are reported to anybody, as the
 * original does. */
#include "api/klavis/klavis.h"
#include "api/klavis/shape.h"
#include "api/local/local.h"
#include "api/local/state.h"
#include "api/mcp/tools.h"
#include "api/native/native.h"
#include "base/cleanup.h"

static const char *const prefixes[] = {"/sandbox", "/local-sandbox", NULL};

enum { DATA_MAX = 16 << 20, LOCAL_DATA_MAX = 48 << 20 }; /* bytes of an initialize body */

#define LOCAL_APP     "/local-sandbox/google_cloud/{sandbox_id}"
#define LOCAL_ARCHIVE "/local-sandbox/{local_sandbox_id}/archive/{name}"
#define REGION        "us or asia; ignored"
#define SANDBOX       "/sandbox/{server_name!}/{sandbox_id}"

/* What is in a local sandbox. */
#define LOCAL_DATA(path)                                                                           \
    {HTTP_POST,                                                                                    \
     path "/reset",                                                                                \
     ROUTE_KEY,                                                                                    \
     .handler = local_reset,                                                                       \
     .summary = "Reset a local sandbox",                                                           \
     .response = "SandboxMessage"},                                                                \
        {HTTP_POST,                                                                                \
         path "/upload-url",                                                                       \
         ROUTE_KEY,                                                                                \
         .handler = local_upload_url,                                                              \
         .summary = "Get a URL to upload data",                                                    \
         .response = "UploadUrl",                                                                  \
         .query = {{"region", "string", REGION}}},                                                 \
        {HTTP_POST,                                                                                \
         path "/initialize",                                                                       \
         ROUTE_KEY,                                                                                \
         .handler = local_initialize,                                                              \
         .summary = "Unpack uploaded data",                                                        \
         .response = "SandboxMessage",                                                             \
         .query = {{"region", "string", REGION}}},                                                 \
    {                                                                                              \
        HTTP_GET, path "/dump", ROUTE_KEY, .handler = local_dump,                                  \
                                           .summary = "Download the data of a local sandbox",      \
                                           .response = "DownloadUrl", .query = {                   \
                                               {"region", "string", REGION}                        \
                                           }                                                       \
    }
#define LOCAL_OLD(path)                                                                            \
    {HTTP_POST,                                                                                    \
     path,                                                                                         \
     ROUTE_KEY,                                                                                    \
     ROUTE_BYTES,                                                                                  \
     .handler = local_old_acquire,                                                                 \
     .flags = ROUTE_REPEATS,                                                                       \
     .status = 201,                                                                                \
     .summary = "Acquire a local sandbox",                                                         \
     .request = "AcquireSandboxRequest",                                                           \
     .response = "CreateSandboxResponse"},                                                         \
        {HTTP_GET,                                                                                 \
         path "/{local_sandbox_id}",                                                               \
         ROUTE_KEY,                                                                                \
         .handler = local_old_show,                                                                \
         .summary = "Get local sandbox details",                                                   \
         .response = "SandboxInfo"},                                                               \
    {                                                                                              \
        HTTP_DELETE, path "/{local_sandbox_id}", ROUTE_KEY, .handler = local_old_release,          \
                                                            .summary = "Release a local sandbox",  \
                                                            .response = "SandboxMessage"           \
    }

static const struct route routes[] = {
    {HTTP_GET, "/sandbox", ROUTE_KEY, .handler = klavis_list, .flags = ROUTE_GRADES,
     .summary = "List all sandboxes", .response = "ListSandboxesResponse",
     .query = {{"tag", "string", "Only sandboxes with this tag"},
               {"tags", "string", "Only sandboxes with all tags in this JSON object"},
               {"server_name", "string", "Only sandboxes of this server"}}},
    {HTTP_POST, "/sandbox/prepare", ROUTE_KEY, .handler = klavis_prepare,
     .summary = "Prepare sandboxes ahead of demand", .response = "PrepareResponse",
     .query = {{"benchmark", "string", "For this benchmark"},
               {"server_name", "string", "Of this server"}}},
    {HTTP_POST, "/sandbox/{server_name!}", ROUTE_KEY, ROUTE_BYTES, .handler = klavis_acquire,
     .flags = ROUTE_REPEATS, .status = 201, .summary = "Acquire a sandbox",
     .request = "AcquireSandboxRequest", .response = "CreateSandboxResponse"},
    {HTTP_GET, SANDBOX, ROUTE_KEY, .handler = klavis_show, .flags = ROUTE_GRADES,
     .summary = "Get sandbox details", .response = "SandboxInfo"},
    {HTTP_DELETE, SANDBOX, ROUTE_KEY, .handler = klavis_release, .summary = "Release a sandbox",
     .response = "SandboxMessage",
     .query = {{"is_ttl", "boolean", "Whether its TTL has expired"},
               {"instance_id", "string", "Release only if this is the current lease"}}},
    {HTTP_POST, SANDBOX "/reset", ROUTE_KEY, .handler = klavis_reset,
     .summary = "Reset a sandbox to its initial state", .response = "SandboxMessage"},
    {HTTP_POST, SANDBOX "/initialize", ROUTE_KEY, ROUTE_LONG_JSON, DATA_MAX,
     .handler = klavis_initialize, .summary = "Add data to a sandbox",
     .request = "InitializeRequest", .response = "SandboxMessage",
     .query = {{"init_default_data", "boolean", "Load the app's default data first"}}},
    {HTTP_GET, SANDBOX "/dump", ROUTE_KEY, .handler = klavis_dump, .flags = ROUTE_GRADES,
     .summary = "Export all data of a sandbox, in the format of initialize",
     .response = "SandboxDump"},

    /* What the original does not have. */
    {HTTP_DELETE, "/sandbox", ROUTE_KEY, .handler = klavis_release_all,
     .summary = "Extension: release all sandboxes of the account with a tag",
     .response = "ReleaseAllResponse",
     .query = {{"tag", "string", "Sandboxes with this tag; tag or tags is required"},
               {"tags", "string", "Sandboxes with all tags in this JSON object"},
               {"server_name", "string", "Only sandboxes of this server"}}},
    {HTTP_GET, SANDBOX "/diff", ROUTE_KEY, .handler = klavis_diff, .flags = ROUTE_GRADES,
     .summary = "Extension: list the rows that differ from the initial state",
     .response = "SandboxDiff",
     .query = {{"since", "string",
                "'initial': compare with the beginning, not with the last initialize or restore"}}},
    {HTTP_POST, SANDBOX "/verify", ROUTE_KEY, ROUTE_BYTES, .handler = klavis_verify,
     .flags = ROUTE_GRADES, .summary = "Extension: verify assertions on the state",
     .request = "VerifyRequest", .response = "VerifyResponse"},
    {HTTP_POST, SANDBOX "/snapshot", ROUTE_KEY, ROUTE_BYTES, .handler = klavis_snapshot,
     .summary = "Extension: save a named snapshot of the state", .request = "SnapshotRequest",
     .response = "SnapshotResponse"},
    {HTTP_GET, SANDBOX "/snapshots", ROUTE_KEY, .handler = klavis_snapshots, .flags = ROUTE_GRADES,
     .summary = "Extension: list the snapshots", .response = "SandboxSnapshots"},
    {HTTP_POST, SANDBOX "/restore", ROUTE_KEY, ROUTE_BYTES, .handler = klavis_restore,
     .summary = "Extension: restore a snapshot", .request = "SnapshotRequest",
     .response = "SandboxMessage"},
    {HTTP_POST, SANDBOX "/fork", ROUTE_KEY, ROUTE_BYTES, .handler = klavis_fork,
     .flags = ROUTE_REPEATS, .status = 201,
     .summary = "Extension: acquire a new sandbox with the state of this one or of a snapshot",
     .request = "ForkRequest", .response = "CreateSandboxResponse"},
    {HTTP_GET, SANDBOX "/calls", ROUTE_KEY, .handler = klavis_calls, .flags = ROUTE_GRADES,
     .summary = "Extension: list the tool calls of this lease", .response = "SandboxCalls",
     .query = {{"after", "integer", "Only calls after this number"},
               {"limit", "integer", "Limit (default 1000)"}}},

    /* Local sandboxes. */
    {HTTP_POST, "/local-sandbox", ROUTE_KEY, ROUTE_BYTES, .handler = local_acquire,
     .flags = ROUTE_REPEATS, .status = 201, .summary = "Acquire a local sandbox",
     .request = "AcquireLocalSandboxRequest", .response = "LocalSandbox"},
    {HTTP_GET, "/local-sandbox", ROUTE_KEY, .handler = local_list,
     .summary = "List local sandboxes", .response = "LocalSandboxes"},
    {HTTP_GET, "/local-sandbox/{local_sandbox_id}", ROUTE_KEY, .handler = local_show,
     .summary = "Get local sandbox details", .response = "LocalSandbox"},
    {HTTP_DELETE, "/local-sandbox/{local_sandbox_id}", ROUTE_KEY, .handler = local_release,
     .summary = "Release a local sandbox", .response = "Message"},
    {HTTP_POST, LOCAL_APP "/initialize", ROUTE_KEY, ROUTE_LONG_JSON, DATA_MAX,
     .handler = local_app_initialize, .summary = "Add data to a server of a local sandbox",
     .request = "InitializeRequest", .response = "SandboxMessage",
     .query = {{"init_default_data", "boolean", "Load the app's default data first"}}},
    {HTTP_GET, LOCAL_APP "/dump", ROUTE_KEY, .handler = local_app_dump,
     .summary = "Export all data of a server of a local sandbox, in the format of initialize",
     .response = "SandboxDump"},
    LOCAL_DATA("/local-sandbox/{local_sandbox_id}"),
    {HTTP_POST, "/local-sandbox/poste_email_toolathlon/{local_sandbox_id}/initialize", ROUTE_KEY,
     ROUTE_LONG_JSON, LOCAL_DATA_MAX, .handler = local_state_initialize,
     .summary = "Add mail to a local sandbox", .request = "InitializeRequest",
     .response = "SandboxMessage",
     .query = {{"init_default_data", "boolean", "Load the default data first"}}},
    {HTTP_GET, "/local-sandbox/poste_email_toolathlon/{local_sandbox_id}/dump", ROUTE_KEY,
     .handler = local_state_dump,
     .summary = "Export all mail of a local sandbox, in the format of initialize",
     .response = "SandboxDump"},
    {HTTP_POST, "/local-sandbox/{local_sandbox_id}/execution-upload-url", ROUTE_KEY, ROUTE_BYTES,
     .handler = local_execution_upload_url, .summary = "Get a URL to upload a program",
     .request = "ExecutionRequest", .response = "UploadUrl"},
    {HTTP_POST, "/local-sandbox/{local_sandbox_id}/execute", ROUTE_KEY, ROUTE_BYTES,
     .handler = local_execute, .summary = "Run an uploaded program", .request = "ExecutionRequest",
     .response = "ExecutionStarted"},
    {HTTP_GET, "/local-sandbox/{local_sandbox_id}/execution-status", ROUTE_KEY,
     .handler = local_execution_status, .summary = "Get the status of a program",
     .response = "ExecutionStatus",
     .query = {{"execution_name", "string", "Name of the execution"}}},
    {HTTP_GET, "/local-sandbox/{local_sandbox_id}/execution-logs", ROUTE_KEY,
     .handler = local_execution_logs, .summary = "Get the output of a program",
     .response = "ExecutionLogs",
     .query = {{"execution_name", "string", "Name of the execution"},
               {"cursor", "integer", "Only output after this byte offset"}}},
    {HTTP_POST, "/local-sandbox/{local_sandbox_id}/export-artifacts", ROUTE_KEY, ROUTE_BYTES,
     .handler = local_export_artifacts, .summary = "Download a program's directory",
     .request = "ExecutionRequest", .response = "DownloadUrl"},
    {HTTP_PUT, LOCAL_ARCHIVE, ROUTE_OPEN, ROUTE_STREAM, .handler = local_put,
     .summary = "Upload an archive to a signed URL", .request_type = "application/gzip",
     .response_type = "text/plain"},
    {HTTP_GET, LOCAL_ARCHIVE, ROUTE_OPEN, .handler = local_get,
     .summary = "Download an archive from a signed URL", .response_type = "application/gzip"},

    {HTTP_GET, "/local-sandbox/{local_sandbox_id}/servers/{server_name}/log", ROUTE_KEY,
     .handler = local_own_log,
     .summary = "Extension: get the standard error of an MCP server of your own",
     .response = "ServerLog"},

    /* Local sandboxes under the paths that they had before: see local/retired.c. */
    LOCAL_OLD("/sandbox/local_dev"),
    LOCAL_DATA("/sandbox/local_dev/{local_sandbox_id}"),
    LOCAL_OLD("/sandbox/localmemory"),
    {HTTP_POST, "/sandbox/localmemory/{local_sandbox_id}/initialize", ROUTE_KEY, ROUTE_LONG_JSON,
     DATA_MAX, .handler = local_memory_initialize, .summary = "Add entities and relations",
     .request = "MemoryData", .response = "SandboxMessage"},
    {HTTP_GET, "/sandbox/localmemory/{local_sandbox_id}/dump", ROUTE_KEY,
     .handler = local_memory_dump, .summary = "Export all entities and relations",
     .response = "SandboxDump"},
    {HTTP_POST, "/sandbox/local_memory/{local_sandbox_id}/upload-url", ROUTE_KEY,
     .handler = local_memory_upload_url, .summary = "Get a URL to upload a graph file",
     .response = "UploadUrl"},
    {HTTP_POST, "/sandbox/localmemory/{local_sandbox_id}/reset", ROUTE_KEY, .handler = local_reset,
     .summary = "Reset a local sandbox", .response = "SandboxMessage"},

    /* What is no server of this surface is a sandbox of the native one. */
    {HTTP_POST, "/sandbox/{name}/mcp", ROUTE_OPEN, ROUTE_STREAM, .handler = mcp_cell_endpoint,
     .summary = "Send a message to the MCP server of a sandbox", .request = "RpcMessage",
     .response = "RpcMessage", .response_type = "application/json, text/event-stream",
     .query = {{"port", "integer", "Forward it to this port of the sandbox instead"}}},
    {HTTP_POST, "/sandbox/{name}", ROUTE_KEY, ROUTE_BYTES, .handler = klavis_acquire, .status = 201,
     .summary = "Acquire a sandbox of an unknown server: 422"},
    {ROUTE_ANY, "/sandbox/{name}", ROUTE_OPEN, .handler = native_router_slash, .status = 301,
     .summary = "Redirect to the main service of a sandbox"},
    {ROUTE_ANY, "/sandbox/{name}/{path*}", ROUTE_OPEN, ROUTE_STREAM, .handler = native_router,
     .summary = "Forward any request, including WebSockets, to a service inside a sandbox",
     .query = {{"port", "integer", "Port of the service (default: the sandbox's port)"},
               {"api_key", "string", "The API key, for clients that cannot set a header"}}},
};

const struct surface surface_klavis = {
    .name = "klavis",
    .prefixes = prefixes,
    .has_cors = true,
    .has_warnings = true,
    .shape = klavis_shape,
    .error_schema = "Detail",
    .routes = routes,
    .n_routes = ARRAY_LEN(routes),
    .schemas = klavis_schemas,
};
