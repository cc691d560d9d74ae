/* SPDX-License-Identifier: MIT */
/* An app: a product as a folder of data (docs/adr/0006), loaded and ready to be used.
 *
 *   app.json      {"title", "group", "engine", "errors", "arguments", "is_indented", "ids",
 *                 "texts", "languages", "headers", "auth_data", "metadata", "benchmarks", "base"};
 *                 all but the title may be missing
 *   tools.json    [{"name", "description", "inputSchema", "accepts", "annotations", "files",
 *                 "script"}]; accepts: what arguments are checked by and completed from where
 *                 the product takes more, or other things, than it says
 *   schema.sql    the tables
 *   tools.sql     a script per tool
 *   data.sql      the scripts import (initialize bodies) and export (dumps); apps without data of
 *                 their own have none
 *   seed/         NAME.json: bodies for import; default.json is what an instance begins with
 *   cases/        NAME.jsonl: calls and what comes of them, see apps/check/check.h
 *   VARIANT/      other tools for the same tables: see apps/source/folder.h. A tool's script may be
 * one of the base's, by its name or by the one in "script" */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "apps/source/folder.h"
#include "apps/source/script.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"
#include "base/schema.h"

struct app_engine;

enum {
    APP_NAME_MAX = 64,
    APP_MAX_TOOLS = 256,
    APP_FILE_MAX = FOLDER_FILE_MAX /* bytes of one file */
};

/* How a product reports that a call failed. */
enum app_errors {
    APP_ERRORS_TEXT,   /* an ordinary result: "Error: …" */
    APP_ERRORS_JSON,   /* an ordinary result: {"error": "…"} */
    APP_ERRORS_RPC,    /* an error of the protocol */
    APP_ERRORS_RESULT, /* a result with isError */
    APP_ERRORS_RAW,    /* an ordinary result: what the script or the text says */
    APP_ERRORS_COUNT
};

/* How it reports arguments that do not fit a tool's schema. */
enum app_arguments {
    APP_ARGUMENTS_TEXTS,      /* by its texts, as it reports all failures */
    APP_ARGUMENTS_JSONSCHEMA, /* a result with isError, in the words of Python's jsonschema */
    APP_ARGUMENTS_COUNT
};

/* What a product says of calls that do not fit a tool. */
enum app_text {
    APP_TEXT_MISSING, /* an argument is required */
    APP_TEXT_INVALID, /* an argument is not what the schema says */
    APP_TEXT_UNKNOWN, /* no tool of that name */
    APP_TEXT_QUERY,   /* a query that cannot be understood */
    APP_TEXT_FAILED,  /* values that fit the schema, but nothing that the product stores */
    APP_TEXT_COUNT
};

struct app_tool {
    const char *name, *description;
    const struct json *input, *annotations; /* annotations may be NULL */
    const struct json *accepts;             /* what arguments are checked by: or input */
    const struct schema *schema;            /* the same, compiled */
    const struct script *script;
    bool is_read_only;
    /* {ARGUMENT: "read" or "write"}: files of the workspace. What is in one that is read is the
     * parameter :file, {"text" or "base64", "size"} or {"error"}; one that is written is an item of
     * the content, {"type": "file", "path", "text" or "base64", "failure"}. NULL: none. */
    const struct json *files;
};

struct app {
    struct arena arena;
    struct folder folder;
    const char *name;    /* of the folder; of a variant: of what it is based on */
    const char *variant; /* of its folder; NULL: it is none */
    const char *dir, *title, *group;
    const struct app_engine *engine; /* see apps/engine/engine.h */
    enum app_errors errors;
    enum app_arguments arguments;
    bool is_indented;                   /* answers are JSON with line breaks, two spaces deep */
    const struct json *ids, *languages; /* objects, or NULL */
    /* What an instance's holder gets for checkers of the product: objects of texts, in which
     * "{token}" is a secret of the lease; or NULL. */
    const struct json *auth_data, *metadata;
    const struct json *headers; /* {PARAMETER: a request's header}, or NULL */
    /* {BENCHMARK: the variant that it is run with, a folder in this one}, or NULL. */
    const struct json *benchmarks;
    /* The parameters that scripts have and clients must not give: an object; NULL: none. */
    const struct json *hidden;
    const char *texts[APP_TEXT_COUNT]; /* with "{name}", "{text}", "{json}" */
    const char *schema_sql;
    struct scripts scripts;               /* of tools.sql and data.sql, then those of the bases */
    size_t n_own;                         /* of the folder's own tools.sql */
    const struct script *import, *export; /* NULL: no data of its own */
    struct app_tool *tools;
    size_t n_tools;
};

/* Reads the folder DIR. E names the file, and the line or the place in it. */
int app_load(const char *dir, struct app **ret, struct err *e);
void app_free(struct app *app);
DEFINE_CLEANUP(struct app *, app_free)

const struct app_tool *app_tool(const struct app *app, struct str name);
/* True when there is a seed of that name. */
bool app_has_seed(const struct app *app, struct str name);
/* The seed of that name as import takes it, parsed into A; NULL with E -ENOENT when there is none.
 */
const struct json *app_seed(const struct app *app, const char *name, struct arena *a,
                            struct err *e);
