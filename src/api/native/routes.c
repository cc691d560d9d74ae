/* SPDX-License-Identifier: MIT */
/* The native surface: /api/v1. */
#include "api/fault.h"
#include "api/native/native.h"
#include "api/route.h"
#include "base/cleanup.h"

/* With what a command reads; its output has a limit of its own. */
#define RUN_BODY_MAX ((size_t)16 << 20)

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
    {HTTP_GET, "/api/v1/audit", ROUTE_SYSTEM, .handler = native_audit_list,
     .summary = "The newest events of the audit chain, oldest first", .response = "AuditEvents",
     .query = {{"account", "string", "Only events of this account"},
               {"sandbox", "string", "Only events of this sandbox"},
               {"after", "integer", "Only events with a greater number"},
               {"limit", "integer", "The newest so many; default 100, at most 100000"}}},
    {HTTP_GET, "/api/v1/audit/verify", ROUTE_SYSTEM, .handler = native_audit_verify,
     .summary = "Recompute the hash of every event of the audit chain", .response = "AuditReport"},
    {HTTP_GET, "/api/v1/apps", ROUTE_KEY, .handler = native_apps_list,
     .summary = "The apps that can be acquired", .response = "Apps"},
    {HTTP_GET, "/api/v1/apps/{name}", ROUTE_KEY, .handler = native_apps_get,
     .summary = "Show an app and its tools", .response = "AppAnswer",
     .query = {{"benchmark", "string", "As it is for this benchmark"}}},
    {HTTP_POST, "/api/v1/apps", ROUTE_SYSTEM, ROUTE_JSON, .max_body = 65536,
     .handler = native_apps_create,
     .summary = "Begin an app of the installation's own: a small one that works",
     .request = "NewApp", .response = "NewAppAnswer"},
    {HTTP_POST, "/api/v1/sandbox", ROUTE_KEY, ROUTE_JSON, .handler = native_sandbox_create,
     .flags = ROUTE_CREATES, .summary = "Create a sandbox; the answer comes when it runs",
     .request = "NewSandbox", .response = "NewSandboxAnswer"},
    {HTTP_GET, "/api/v1/sandbox", ROUTE_KEY, .handler = native_sandbox_list,
     .summary = "List sandboxes, newest first", .response = "Sandboxes",
     .query = {{"state", "string", "Only running or only paused ones"},
               {"template", "string", "Only sandboxes of this template"}}},
    {HTTP_GET, "/api/v1/sandbox/{name}", ROUTE_KEY, .handler = native_sandbox_get,
     .summary = "Show a sandbox", .response = "SandboxAnswer"},
    {HTTP_PATCH, "/api/v1/sandbox/{name}", ROUTE_KEY, ROUTE_JSON, .max_body = 65536,
     .handler = native_sandbox_change,
     .summary = "Change the timeout, which begins anew, or the network policy of a sandbox",
     .request = "SandboxChange", .response = "SandboxAnswer"},
    {HTTP_DELETE, "/api/v1/sandbox/{name}", ROUTE_KEY, .handler = native_sandbox_delete,
     .summary = "Delete a sandbox; its processes are gone when the answer comes",
     .response = "Done"},
    {HTTP_POST, "/api/v1/sandbox/pause/{name}", ROUTE_KEY, .handler = native_sandbox_pause,
     .summary = "Pause a sandbox: its processes stop, with all they have, and so does its timeout",
     .response = "Done"},
    {HTTP_POST, "/api/v1/sandbox/resume/{name}", ROUTE_KEY, .handler = native_sandbox_resume,
     .summary = "Let a paused sandbox go on", .response = "Done"},
    {HTTP_POST, "/api/v1/sandbox/metrics", ROUTE_KEY, ROUTE_JSON, .handler = native_sandbox_metrics,
     .summary = "Processor and memory use of sandboxes", .request = "Names",
     .response = "SandboxMetrics"},
    {HTTP_POST, "/api/v1/terminal/sandbox/{name}", ROUTE_KEY, ROUTE_JSON, .max_body = RUN_BODY_MAX,
     .handler = native_terminal_run,
     .summary = "Run a command (sh -lc) and answer with what it wrote", .request = "Run",
     .response = "RunAnswer"},
    {HTTP_GET, "/api/v1/terminal/sandbox/{name}/ws", ROUTE_KEY, .handler = native_terminal_ws,
     .status = 101, .summary = "A terminal over a WebSocket; frames are JSON texts",
     .query = {{"api_key", "string", "The key, where a header cannot be set"}}},
    {HTTP_GET, "/api/v1/sandbox/files/{name}", ROUTE_KEY, .handler = native_files_list,
     .summary = "List a directory, directories first", .response = "Files",
     .query = {{"path", "string",
                "The directory; default /; a relative one is below the one where commands start"}}},
    {HTTP_DELETE, "/api/v1/sandbox/files/{name}", ROUTE_KEY, .handler = native_files_delete,
     .summary = "Delete a file", .response = "FileDeleted",
     .query = {{"path", "string", "The file"},
               {"recursive", "boolean", "A directory with all that is in it, too"}}},
    {HTTP_POST, "/api/v1/sandbox/files/{name}/upload", ROUTE_KEY, ROUTE_STREAM,
     .handler = native_files_upload,
     .summary = "Upload: multipart/form-data with parts called file, or any other body as one file",
     .response = "FileUploaded",
     .query = {{"path", "string", "The directory, or the file when the body is not multipart"}}},
    {HTTP_GET, "/api/v1/sandbox/files/{name}/download", ROUTE_KEY, .handler = native_files_download,
     .summary = "Download a file, or a part of it by Range; a directory comes as a tar.gz",
     .query = {{"path", "string", "The file or directory"},
               {"archive", "string", "tar.gz: as an archive"}}},
    {HTTP_GET, "/api/v1/logs/sandbox/{name}", ROUTE_KEY, .handler = native_logs,
     .summary = "What the main process wrote", .response = "Logs",
     .query = {{"tailLines", "integer", "The last so many lines; default 200, at most 2000"},
               {"follow", "boolean", "Go on with what is written from now on, as text/plain"},
               {"since", "string", "Only lines since then"},
               {"timestamps", "boolean", "Each line begins with its time"}}},
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
    "\"id\":" STRING ",\"account\":" STRING                                                        \
    ",\"role\":{\"enum\":[\"user\",\"system\",\"grader\",\"metrics\"]},"                           \
    "\"name\":" STRING ",\"hint\":" STRING ",\"fixed\":{\"type\":\"boolean\"},"                    \
    "\"created_at\":" STRING ",\"revoked_at\":" STRING ",\"limits\":" LIMITS
#define LIST_OF(schema)                                                                            \
    "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/" schema "\"}}"

#define INTEGER     "{\"type\":\"integer\"}"
#define BOOLEAN     "{\"type\":\"boolean\"}"
#define STRINGS     "{\"type\":\"object\",\"additionalProperties\":" STRING "}"
#define STRING_LIST "{\"type\":\"array\",\"items\":" STRING "}"
#define NETWORK_MEMBERS                                                                            \
    "\"allowInternetAccess\":" BOOLEAN ",\"network\":{\"type\":\"object\",\"properties\":{"        \
    "\"allowOut\":" STRING_LIST ",\"denyOut\":" STRING_LIST "}}"
#define SANDBOX_MEMBERS                                                                            \
    "\"name\":{\"type\":\"string\",\"pattern\":\"^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$\"},"         \
    "\"template\":" STRING ",\"image\":" STRING ",\"cmd\":" STRING ",\"args\":" STRING_LIST        \
    ",\"app\":" STRING ",\"envVars\":" STRINGS ",\"metadata\":" STRINGS ",\"timeout\":" INTEGER    \
    ",\"idle_timeout\":" INTEGER ",\"autoPause\":" BOOLEAN ",\"autoResume\":" BOOLEAN              \
    ",\"workdir\":" STRING ",\"cpu\":" STRING ",\"memory\":" STRING ",\"cpu_limit\":" STRING       \
    ",\"memory_limit\":" STRING ",\"disk\":" STRING ",\"pids\":" INTEGER ",\"port\":" INTEGER      \
    "," NETWORK_MEMBERS

#define PLACE_MEMBERS                                                                              \
    "\"sandbox\":" STRING ",\"pod\":" STRING ",\"container\":" STRING ",\"path\":" STRING

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
    {"AuditEvents",
     ENVELOPE("{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"seq\":" INTEGER
              ",\"at\":" STRING ",\"account\":" STRING ",\"object\":" STRING ",\"kind\":" STRING
              ",\"type\":" STRING ",\"reason\":" STRING ",\"message\":" STRING "}}}")},
    {"AuditReport",
     ENVELOPE("{\"type\":\"object\",\"properties\":{\"ok\":" BOOLEAN ",\"events\":" INTEGER
              ",\"head\":" STRING ",\"broken\":" INTEGER ",\"fault\":" STRING "}}")},
    {"App", "{\"type\":\"object\",\"properties\":{\"name\":" STRING ",\"title\":" STRING
            ",\"tools\":" INTEGER ",\"data\":" BOOLEAN ",\"error\":" STRING "}}"},
    {"Apps", ENVELOPE(LIST_OF("App"))},
    {"AppAnswer", ENVELOPE("{\"type\":\"object\",\"properties\":{\"name\":" STRING
                           ",\"title\":" STRING ",\"group\":" STRING ",\"engine\":" STRING
                           ",\"folder\":" STRING ",\"version\":" STRING ",\"data\":" BOOLEAN
                           ",\"tools\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
                           "\"properties\":{\"name\":" STRING ",\"description\":" STRING
                           ",\"readOnly\":" BOOLEAN "}}}}}")},
    {"NewApp",
     "{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":" STRING "}}"},
    {"NewAppAnswer",
     ENVELOPE("{\"type\":\"object\",\"properties\":{\"name\":" STRING ",\"folder\":" STRING "}}")},
    {"Key", "{\"type\":\"object\",\"properties\":{" KEY_MEMBERS "}}"},
    {"Keys", ENVELOPE(LIST_OF("Key"))},
    {"NewKey",
     "{\"type\":\"object\",\"properties\":{\"account\":" STRING ",\"name\":" STRING
     ",\"role\":{\"enum\":[\"user\",\"system\",\"grader\",\"metrics\"]},\"limits\":" LIMITS "}}"},
    {"NewKeyAnswer",
     ENVELOPE("{\"type\":\"object\",\"properties\":{\"key\":" STRING "," KEY_MEMBERS "}}")},
    {"NewSandbox", "{\"type\":\"object\",\"properties\":{" SANDBOX_MEMBERS "}}"},
    {"SandboxChange",
     "{\"type\":\"object\",\"properties\":{\"timeout\":" INTEGER "," NETWORK_MEMBERS "}}"},
    {"Sandbox", "{\"type\":\"object\",\"properties\":{\"id\":" STRING ",\"user\":" STRING
                ",\"status\":{\"enum\":[\"running\",\"paused\"]},\"created_at\":" STRING
                ",\"started_at\":" STRING ",\"expires_at\":" STRING ",\"last_active_at\":" STRING
                ",\"paused_at\":" STRING ",\"url\":" STRING "," SANDBOX_MEMBERS "}}"},
    {"NewSandboxAnswer",
     "{\"type\":\"object\",\"required\":[\"code\",\"data\"],\"properties\":{\"code\":{\"const\":"
     "\"0\"},"
     "\"data\":" STRING ",\"sandbox\":{\"$ref\":\"#/components/schemas/Sandbox\"}}}"},
    {"SandboxAnswer", ENVELOPE("{\"$ref\":\"#/components/schemas/Sandbox\"}")},
    {"Sandboxes", ENVELOPE(LIST_OF("Sandbox"))},
    {"Names",
     "{\"type\":\"object\",\"required\":[\"names\"],\"properties\":{\"names\":" STRING_LIST "}}"},
    {"SandboxMetrics",
     ENVELOPE("{\"type\":\"object\",\"properties\":{\"items\":{\"type\":\"object\","
              "\"additionalProperties\":{\"type\":\"object\",\"properties\":{\"sandbox\":" STRING
              ",\"pod\":" STRING ",\"cpuMilli\":" INTEGER ",\"memoryBytes\":" INTEGER
              ",\"memoryMB\":" INTEGER ",\"processes\":" INTEGER ",\"sampledAt\":" STRING "}}}}}")},
    {"Run", "{\"type\":\"object\",\"required\":[\"command\"],\"properties\":{\"command\":" STRING
            ",\"timeout\":{\"type\":\"number\"},\"cwd\":" STRING ",\"env\":" STRINGS
            ",\"stdin\":" STRING ",\"stdin_base64\":" STRING ",\"user\":" STRING
            ",\"encoding\":{\"enum\":[\"utf-8\",\"base64\"]}}}"},
    {"RunAnswer",
     ENVELOPE("{\"type\":\"object\",\"properties\":{\"sandbox\":" STRING ",\"pod\":" STRING
              ",\"container\":" STRING ",\"command\":" STRING ",\"encoding\":" STRING
              ",\"output\":" STRING ",\"errorOutput\":" STRING ",\"exitCode\":" INTEGER
              ",\"timedOut\":" BOOLEAN ",\"truncated\":" BOOLEAN ",\"durationMs\":" INTEGER
              ",\"executedAt\":" STRING "}}")},
    {"Files", ENVELOPE("{\"type\":\"object\",\"properties\":{" PLACE_MEMBERS
                       ",\"entries\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
                       "\"properties\":{\"name\":" STRING ",\"path\":" STRING ",\"isDir\":" BOOLEAN
                       ",\"size\":" INTEGER "}}},\"fetchedAt\":" STRING "}}")},
    {"FileDeleted",
     ENVELOPE("{\"type\":\"object\",\"properties\":{" PLACE_MEMBERS ",\"deletedAt\":" STRING "}}")},
    {"FileUploaded", ENVELOPE("{\"type\":\"object\",\"properties\":{" PLACE_MEMBERS
                              ",\"fileName\":" STRING ",\"uploadedAt\":" STRING "}}")},
    {"Logs", ENVELOPE("{\"type\":\"object\",\"properties\":{\"sandbox\":" STRING ",\"pod\":" STRING
                      ",\"container\":" STRING ",\"logs\":" STRING ",\"fetchedAt\":" STRING "}}")},
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
