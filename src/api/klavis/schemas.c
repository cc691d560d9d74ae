/* SPDX-License-Identifier: MIT */
/* The schemas of the Klavis surface: for the documentation, and for reading what clients send. */
#include "api/klavis/klavis.h"

/* Texts in texts: clang-format would set them one word to the line. */
/* clang-format off */

#define REF(name)       "{\"$ref\":\"#/components/schemas/" name "\"}"
#define OR_NULL(schema) "{\"anyOf\":[" schema ",{\"type\":\"null\"}]}"
#define TEXT            "{\"type\":\"string\"}"
#define TEXT_OR_NULL    OR_NULL(TEXT)
#define INT             "{\"type\":\"integer\"}"
#define BOOL            "{\"type\":\"boolean\"}"
#define DICT            "{\"type\":\"object\",\"additionalProperties\":true}"
#define STATUS          REF("SandboxStatus")
#define LIST(schema)    "{\"type\":\"array\",\"items\":" schema "}"
#define M(name, schema) ",\"" name "\":" schema
#define RANGE(from, to) "{\"type\":\"integer\",\"minimum\":" from ",\"maximum\":" to "}"
#define TAGS            "{\"anyOf\":[" DICT "," LIST(TEXT) ",{\"type\":\"null\"}]}"
#define TTL "{\"anyOf\":[" RANGE("60", "86400") ",{\"type\":\"null\"}],\"default\":7200," \
            "\"description\":\"null: until it is released\"}"
/* What the original does not have. */
#define OWN(schema, about) \
    "{\"anyOf\":[" schema ",{\"type\":\"null\"}],\"description\":\"Extension: " about "\"}"
/* An object whose first member is NAME; the others are M(). */
#define OBJECT(required, name, schema, others) \
    "{\"type\":\"object\",\"required\":[" required "]," \
    "\"properties\":{\"" name "\":" schema others "}}"

#define ACQUIRE_COMMON \
    M("test_account_email", TEXT_OR_NULL) M("ttl_seconds", TTL)
#define BENCHMARK OR_NULL(REF("BenchmarkEnum"))

const struct route_schema klavis_schemas[KLAVIS_N_SCHEMAS] = {
    {"Detail", OBJECT("\"detail\"", "detail",
        "{\"anyOf\":[" TEXT "," LIST(REF("ValidationError")) "]}", "")},
    {"ValidationError", OBJECT("\"loc\",\"msg\",\"type\"",
        "loc", LIST("{\"anyOf\":[" TEXT "," INT "]}"),
        M("msg", TEXT) M("type", TEXT) M("input", "{}") M("ctx", DICT))},
    {"BenchmarkEnum",
     "{\"type\":\"string\",\"enum\":[\"MCP_Atlas\",\"Toolathlon\",\"MCP_Mark\"]}"},
    {"SandboxStatus", "{\"type\":\"string\",\"enum\":[\"idle\",\"occupied\",\"error\"]}"},
    {"LocalSandboxMCPServer",
     "{\"type\":\"string\",\"enum\":[\"filesystem\",\"git\",\"terminal\",\"desktop-commander\","
     "\"arxiv\",\"excel\",\"word\",\"powerpoint\",\"code-executor\",\"code-runner\",\"pdf-tools\","
     "\"google_cloud\",\"poste_email_toolathlon\",\"localmemory\",\"canvas\",\"playwright\"]}"},
    {"AcquireSandboxRequest", OBJECT("", "benchmark", BENCHMARK,
        ACQUIRE_COMMON M("tag", TEXT_OR_NULL) M("tags", TAGS)
        M("now", OWN(TEXT, "the clock of the instance, RFC 3339"))
        M("seed", OWN("{\"type\":\"integer\",\"minimum\":0}", "where its random numbers begin"))
        M("data", OWN(TEXT, "the data set that it begins with"))
        M("count", OWN(RANGE("1", "1000"), "so many at once; the answer is an array")))},
    {"AcquireLocalSandboxRequest", OBJECT("\"server_names\"", "server_names",
        "{\"anyOf\":[" LIST(REF("LocalSandboxMCPServer")) ",{\"const\":\"ALL\"}]}",
        M("benchmark", BENCHMARK) ACQUIRE_COMMON)},
    {"CreateSandboxResponse", OBJECT("\"sandbox_id\",\"server_name\",\"status\",\"message\"",
        "sandbox_id", TEXT,
        M("server_url", TEXT) M("server_urls", DICT) M("server_name", TEXT) M("status", STATUS)
        M("message", TEXT))},
    {"SandboxInfo", OBJECT("\"sandbox_id\",\"server_name\",\"status\"", "sandbox_id", TEXT,
        M("server_url", TEXT_OR_NULL) M("server_name", TEXT) M("status", STATUS)
        M("benchmark", TEXT_OR_NULL) M("updated_at", TEXT_OR_NULL) M("metadata", OR_NULL(DICT))
        M("auth_data", OR_NULL(DICT)) M("tags", TAGS))},
    {"SandboxListItem", OBJECT("\"sandbox_id\",\"server_name\",\"status\"", "sandbox_id", TEXT,
        M("server_name", TEXT) M("status", STATUS) M("benchmark", TEXT_OR_NULL) M("tags", TAGS)
        M("updated_at", TEXT_OR_NULL))},
    {"ListSandboxesResponse", OBJECT("\"sandboxes\",\"total_count\"",
        "sandboxes", LIST(REF("SandboxListItem")), M("total_count", INT))},
    {"SandboxMessage", OBJECT("\"sandbox_id\",\"status\",\"message\"", "sandbox_id", TEXT,
        M("status", STATUS) M("message", TEXT) M("records_created", OR_NULL(DICT)))},
    {"SandboxDump", OBJECT("\"sandbox_id\",\"server_name\",\"dumped_at\",\"data\"",
        "sandbox_id", TEXT, M("server_name", TEXT) M("dumped_at", TEXT) M("data", DICT))},
    {"SandboxDiff", OBJECT("\"tables\",\"inserted\",\"updated\",\"deleted\"", "tables", DICT,
        M("inserted", INT) M("updated", INT) M("deleted", INT))},
    {"VerifyCheck", OBJECT("", "name", TEXT_OR_NULL,
        M("sql", TEXT) M("params", "{}") M("equals", "{}") M("rows", LIST(LIST("{}")))
        M("count", INT) M("table", TEXT) M("where", DICT) M("min", INT) M("max", INT))},
    {"VerifyRequest", OBJECT("\"checks\"", "checks", LIST(REF("VerifyCheck")), "")},
    {"VerifyResponse", OBJECT("\"sandbox_id\",\"passed\",\"results\"", "sandbox_id", TEXT,
        M("passed", BOOL) M("n_passed", INT) M("n_failed", INT) M("results", LIST(DICT)))},
    {"SnapshotRequest", OBJECT("", "name", TEXT_OR_NULL, "")},
    {"SandboxSnapshots", OBJECT("\"sandbox_id\",\"snapshots\"", "sandbox_id", TEXT,
        M("snapshots", LIST(TEXT)))},
    {"SandboxCalls", OBJECT("\"sandbox_id\",\"calls\"", "sandbox_id", TEXT,
        M("calls", LIST(DICT)))},
    {"ExecutionRequest", OBJECT("\"execution_name\"", "execution_name", TEXT, "")},
    {"UploadUrl", OBJECT("\"upload_url\",\"expires_in_minutes\"", "upload_url", TEXT,
        M("expires_in_minutes", INT))},
    {"DownloadUrl", OBJECT("\"download_url\",\"expires_in_minutes\"", "download_url", TEXT,
        M("expires_in_minutes", INT))},
    {"LocalSandboxes", OBJECT("\"local_sandboxes\",\"total_count\"",
        "local_sandboxes", LIST(DICT), M("total_count", INT))},
    {"MemoryEntity", OBJECT("\"name\",\"entityType\"", "name", TEXT,
        M("entityType", TEXT) M("observations", OR_NULL(LIST(TEXT))))},
    {"MemoryRelation", OBJECT("\"from\",\"to\",\"relationType\"", "from", TEXT,
        M("to", TEXT) M("relationType", TEXT))},
    {"MemoryData", OBJECT("", "entities", OR_NULL(LIST(REF("MemoryEntity"))),
        M("relations", OR_NULL(LIST(REF("MemoryRelation")))))},
    /* Of query parameters. */
    {"QueryText", TEXT},
    {"QueryBool", BOOL},
    {"QueryBenchmark", REF("BenchmarkEnum")},
    {"QueryExecution", TEXT},
    {"QueryRegion", "{\"type\":\"string\",\"enum\":[\"us\",\"asia\"]}"},
    {"QueryCount", "{\"type\":\"integer\",\"minimum\":0}"},
};
