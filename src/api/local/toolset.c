/* SPDX-License-Identifier: MIT */
#include "api/local/toolset.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/schema.h"
#include "sys/io.h"

enum { FILE_MAX = 4 << 20, ARENA_MAX = 256 << 20 };

const char *const toolset_servers[TOOLSET_SERVERS] = {
    "filesystem", "git",          "terminal",    "desktop-commander",      "arxiv",
    "excel",      "word",         "powerpoint",  "code-executor",          "code-runner",
    "pdf-tools",  "google_cloud", "localmemory", "poste_email_toolathlon",
};

static int no_memory_for_toolset(struct err *e)
{
    return err_set(e, -ENOMEM, "out of memory");
}

static bool has_word(const struct json *array, struct str word)
{
    for (size_t i = 0; array && i < array->n; i++) {
        if (str_eq(json_str(json_at(array, i), STR("")), word))
            return true;
    }
    return false;
}

/* ---- schemas ---- */

static const char *json_text(struct arena *a, const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(FILE_MAX);

    return v && json_write(&b, v, JSON_COMPACT) == 0 ? arena_str(a, buf_str(&b)).p : NULL;
}

/* Without "additionalProperties", however deep. */
static void open_schema(struct json *v)
{
    if (json_is(v, JSON_OBJECT)) {
        (void)json_del(v, STR("additionalProperties"));
        for (size_t i = 0; i < v->n; i++)
            open_schema(&v->members[i].value);
    }
    for (size_t i = 0; json_is(v, JSON_ARRAY) && i < v->n; i++)
        open_schema(&v->items[i]);
}

/* What BENCHMARK makes of TOOL's schema. */
static const char *schema_text(struct arena *a, const struct json *tool,
                               const struct json *benchmark)
{
    struct str name = json_str(json_get(tool, "name"), STR(""));
    const struct json *other = json_get_str(json_get(benchmark, "schemas"), name);
    const struct json *gone = json_get_str(json_get(benchmark, "without_arguments"), name);

    if (!other && json_bool(json_get(benchmark, "has_no_schemas"), false))
        return "{\"type\":\"object\",\"properties\":{}}";
    struct json *schema = json_copy(a, other ? other : json_get(tool, "inputSchema"));
    for (size_t i = 0; schema && gone && i < gone->n; i++)
        (void)json_del(json_get(schema, "properties"), json_str(json_at(gone, i), STR("")));
    if (json_bool(json_get(benchmark, "is_open"), false))
        open_schema(schema);
    return json_text(a, schema);
}

/* ---- sets ---- */

static const struct schema *compile(struct arena *a, const char *text)
{
    const struct json *v = text ? json_parse(a, str_of(text), NULL, NULL) : NULL;

    return v ? schema_compile(a, v, NULL) : NULL;
}

static int add_tool(struct toolsets *t, struct toolset *set, const struct json *tool,
                    const struct json *benchmark, struct str prefix)
{
    struct mcp_tool *row = &set->tools[set->n_tools];
    struct toolset_tool *own = arena_new(&t->arena, struct toolset_tool);
    const char *name = json_str(json_get(tool, "name"), STR_NULL).p;

    if (!own || !name)
        return own ? -EINVAL : -ENOMEM;
    row->name = arena_printf(&t->arena, STR_FMT "%s", STR_ARG(prefix), name).p;
    row->description = json_str(json_get(tool, "description"), STR_NULL).p;
    row->input = schema_text(&t->arena, tool, benchmark);
    row->annotations = json_text(&t->arena, json_get(tool, "annotations"));
    *own = (struct toolset_tool){
        set, name, compile(&t->arena, row->input),
        json_bool(json_get(json_get(tool, "annotations"), "readOnlyHint"), false)};
    row->row = own;
    set->n_tools++;
    return !row->name || !row->input ? -ENOMEM : row->description && own->schema ? 0 : -EINVAL;
}

static int add_set(struct toolsets *t, const char *server, const struct json *doc,
                   const struct json_member *benchmark, mcp_handler *call)
{
    const struct json *changes = benchmark ? &benchmark->value : NULL;
    const struct json *own = json_get(changes, "tools");
    const struct json *tools = own ? own : json_get(doc, "tools");
    struct str prefix = json_str(json_get(doc, "prefix"), STR(""));
    struct toolset *set = &t->sets[t->n];

    if (t->n == ARRAY_LEN(t->sets) || !json_is(tools, JSON_ARRAY))
        return -EINVAL;
    *set = (struct toolset){.server = server, .benchmark = benchmark ? benchmark->key.p : ""};
    set->has_structure = json_bool(json_get(changes, "has_structure"), false);
    prefix = json_str(json_get(changes, "prefix"), prefix);
    set->tools = arena_zalloc(&t->arena, tools->n, sizeof *set->tools);
    int r = set->tools ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < tools->n; i++) {
        const struct json *tool = json_at(tools, i);
        if (has_word(json_get(changes, "without"), json_str(json_get(tool, "name"), STR(""))))
            continue;
        r = add_tool(t, set, tool, changes, prefix);
        set->tools[set->n_tools - 1].call = call;
    }
    t->n++;
    return r;
}

static int load_server(struct toolsets *t, const char *dir, const char *server, mcp_handler *call,
                       struct err *e)
{
    auto_buf struct buf text = BUF_INIT(FILE_MAX);
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s.json", dir, server);
    int r = io_read_file(path, &text, e);
    if (r < 0)
        return r;
    const struct json *doc = json_parse(&t->arena, buf_str(&text), NULL, e);
    if (!doc)
        return err_ctx(e, -EINVAL, "%s", path);
    const struct json *benchmarks = json_get(doc, "benchmarks");
    r = add_set(t, server, doc, NULL, call);
    for (size_t i = 0; r == 0 && benchmarks && i < benchmarks->n; i++)
        r = add_set(t, server, doc, &benchmarks->members[i], call);
    if (r == -ENOMEM)
        return no_memory_for_toolset(e);
    return r < 0 ? err_set(e, r, "%s: not a tool set", path) : 0;
}

int toolsets_load(struct toolsets *t, const char *dir, mcp_handler *call, struct err *e)
{
    arena_init(&t->arena, ARENA_MAX);
    t->n = 0;
    for (size_t i = 0; i < TOOLSET_SERVERS; i++) {
        struct err own = ERR_INIT;
        int r = load_server(t, dir, toolset_servers[i], call, &own);
        if (r < 0 && r != -ENOENT)
            return err_set(e, r, "%s", err_text(&own));
    }
    return t->n > 0 ? 0 : err_set(e, -ENOENT, "'%s' has no tools", dir);
}

void toolsets_done(struct toolsets *t)
{
    arena_done(&t->arena);
    t->n = 0;
}

const struct toolset *toolset_find(const struct toolsets *t, struct str server,
                                   struct str benchmark)
{
    const struct toolset *plain = NULL;

    for (size_t i = 0; i < t->n; i++) {
        if (!str_is(server, t->sets[i].server))
            continue;
        if (str_is(benchmark, t->sets[i].benchmark))
            return &t->sets[i];
        if (!t->sets[i].benchmark[0])
            plain = &t->sets[i];
    }
    return plain;
}

/* NAME without the server's in front, in which a dash may be an underscore. */
static struct str without_server(const struct toolset *set, struct str name)
{
    size_t n = strlen(set->server);

    if (name.len <= n + 1 || name.p[n] != '_')
        return name;
    for (size_t i = 0; i < n; i++) {
        char c = set->server[i];
        if (name.p[i] != c && !(c == '-' && name.p[i] == '_'))
            return name;
    }
    return str_skip(name, n + 1);
}

const struct toolset_tool *toolset_tool(const struct toolset *set, struct str name)
{
    struct str bare = without_server(set, name);

    for (size_t i = 0; i < set->n_tools; i++) {
        const struct toolset_tool *t = set->tools[i].row;
        if (str_is(bare, t->name) || str_eq(bare, without_server(set, str_of(t->name))))
            return t;
    }
    return NULL;
}
