/* SPDX-License-Identifier: MIT */
/* The files of a new app: see skeleton.h. */
#include "apps/catalog/skeleton.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "sys/io.h"

static const char app_json[] = "{\n"
                               "  \"title\": \"Notes\",\n"
                               "  \"group\": \"crud\",\n"
                               "  \"errors\": \"result\",\n"
                               "  \"ids\": {\"note\": \"{seq:1}\"}\n"
                               "}\n";

static const char tools_json[] = "[\n"
                                 "  {\n"
                                 "    \"name\": \"create_note\",\n"
                                 "    \"description\": \"Creates a note and returns its id.\",\n"
                                 "    \"inputSchema\": {\n"
                                 "      \"type\": \"object\",\n"
                                 "      \"properties\": {\n"
                                 "        \"title\": {\"type\": \"string\", \"minLength\": 1},\n"
                                 "        \"body\": {\"type\": \"string\", \"default\": \"\"}\n"
                                 "      },\n"
                                 "      \"required\": [\"title\"]\n"
                                 "    }\n"
                                 "  },\n"
                                 "  {\n"
                                 "    \"name\": \"get_note\",\n"
                                 "    \"description\": \"Shows one note.\",\n"
                                 "    \"inputSchema\": {\n"
                                 "      \"type\": \"object\",\n"
                                 "      \"properties\": {\"id\": {\"type\": \"integer\"}},\n"
                                 "      \"required\": [\"id\"]\n"
                                 "    },\n"
                                 "    \"annotations\": {\"readOnlyHint\": true}\n"
                                 "  },\n"
                                 "  {\n"
                                 "    \"name\": \"list_notes\",\n"
                                 "    \"description\": \"Lists notes, the oldest first.\",\n"
                                 "    \"inputSchema\": {\n"
                                 "      \"type\": \"object\",\n"
                                 "      \"properties\": {\n"
                                 "        \"limit\": {\"type\": \"integer\", \"minimum\": 1, "
                                 "\"maximum\": 100, \"default\": 20}\n"
                                 "      }\n"
                                 "    },\n"
                                 "    \"annotations\": {\"readOnlyHint\": true}\n"
                                 "  }\n"
                                 "]\n";

static const char schema_sql[] = "-- Every table has a primary key: differences need it.\n"
                                 "CREATE TABLE note (\n"
                                 "  id INTEGER PRIMARY KEY,\n"
                                 "  title TEXT NOT NULL,\n"
                                 "  body TEXT NOT NULL DEFAULT '',\n"
                                 "  created_at TEXT NOT NULL\n"
                                 ");\n";

static const char tools_sql[] =
    "-- A tool is the statements below its name, in one transaction. :name is an argument; the\n"
    "-- columns of a SELECT are parameters of what follows; `error` ends the call, `result` is "
    "its\n"
    "-- answer.\n"
    "\n"
    "-- name: create_note\n"
    "INSERT INTO note VALUES (new_id('note'), :title, :body, now()) RETURNING id;\n"
    "SELECT json_object('id', :id) AS result;\n"
    "\n"
    "-- name: get_note\n"
    "SELECT 'note ' || :id || ' does not exist' AS error\n"
    "WHERE NOT EXISTS (SELECT 1 FROM note WHERE id = :id);\n"
    "SELECT json_object('id', id, 'title', title, 'body', body, 'created_at', created_at) AS "
    "result\n"
    "FROM note\n"
    "WHERE id = :id;\n"
    "\n"
    "-- name: list_notes\n"
    "SELECT json_group_array(json_object('id', id, 'title', title)) AS result\n"
    "FROM (SELECT id, title FROM note ORDER BY id LIMIT :limit);\n";

static const char data_sql[] =
    "-- What initialize takes and dump gives: data.json is its schema.\n"
    "\n"
    "-- name: import\n"
    "INSERT INTO note (id, title, body, created_at)\n"
    "SELECT new_id('note'), value ->> 'title', ifnull(value ->> 'body', ''), now()\n"
    "FROM json_each(:args, '$.notes');\n"
    "SELECT json_object('notes', (SELECT count(*) FROM json_each(:args, '$.notes'))) AS result;\n"
    "\n"
    "-- name: export\n"
    "SELECT json_object('notes', json_group_array(json_object('title', title, 'body', body))) AS "
    "result\n"
    "FROM (SELECT title, body FROM note ORDER BY id);\n";

static const char data_json[] =
    "{\n"
    "  \"type\": \"object\",\n"
    "  \"properties\": {\"notes\": {\"type\": \"array\", \"items\": {\"$ref\": "
    "\"#/$defs/Note\"}}},\n"
    "  \"$defs\": {\n"
    "    \"Note\": {\n"
    "      \"type\": \"object\",\n"
    "      \"properties\": {\n"
    "        \"title\": {\"type\": \"string\"},\n"
    "        \"body\": {\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"null\"}]}\n"
    "      },\n"
    "      \"required\": [\"title\"]\n"
    "    }\n"
    "  }\n"
    "}\n";

static const char seed[] =
    "{\"notes\": [{\"title\": \"Shopping\", \"body\": \"tea, milk\"}, {\"title\": \"Ideas\"}]}\n";

static const char cases[] =
    "{\"tool\": \"list_notes\", \"result\": [{\"id\": 1, \"title\": \"Shopping\"}, "
    "{\"id\": 2, \"title\": \"Ideas\"}]}\n"
    "{\"tool\": \"list_notes\", \"args\": {\"limit\": 0}, "
    "\"error\": \"limit: 0 is not at least 1\"}\n"
    "{\"tool\": \"create_note\", \"args\": {\"title\": \"Third\"}, \"has\": {\"id\": 3}, "
    "\"save\": {\"id\": \"/id\"}}\n"
    "{\"tool\": \"create_note\", \"args\": {}, \"error\": \"title parameter is required\"}\n"
    "{\"tool\": \"get_note\", \"args\": {\"id\": \"$id\"}, \"has\": {\"title\": \"Third\", "
    "\"body\": \"\"}}\n"
    "{\"tool\": \"get_note\", \"args\": {\"id\": 9}, \"error\": \"note 9 does not exist\"}\n";

static const struct {
    const char *name, *text;
} files[] = {
    {"app.json", app_json},      {"tools.json", tools_json},   {"schema.sql", schema_sql},
    {"tools.sql", tools_sql},    {"data.sql", data_sql},       {"data.json", data_json},
    {"seed/default.json", seed}, {"cases/notes.jsonl", cases},
};

int app_skeleton_write(const char *dir, struct err *e)
{
    char path[PATH_MAX];
    struct stat st;
    int r = 0;

    if (lstat(dir, &st) == 0)
        return err_set(e, -EEXIST, "'%s' exists already", dir);
    static const char *const folders[] = {"seed", "cases"};
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(folders); i++) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
        r = io_mkdirs(path, 0755, e);
    }
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, files[i].name);
        r = io_write_file(path, str_of(files[i].text), 0644, e);
    }
    return r;
}
