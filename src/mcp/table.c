/* SPDX-License-Identifier: MIT */
/* Compiling a description: see table.h. Lists are written once, here; serving one copies text. */
#include "mcp/table.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "mcp/task.h"

enum { TABLE_MAX = 64 << 20, TEXT_MAX = 32 << 20, LIST_TTL_MS = 60000, NAMES_MAX = 1 << 16 };

/* ---- entries ---- */

static void put_row_text(struct jw *w, const char *key, const char *text)
{
    if (!text)
        return;
    jw_key(w, key);
    jw_cstr(w, text);
}

/* Moves what B holds into the arena. */
static struct str keep_list_text(struct mcp_table *t, struct buf *b)
{
    struct str s = buf_ok(b) ? arena_str(&t->arena, buf_str(b)) : STR_NULL;

    buf_clear(b);
    return s;
}

/* Parses JSON text of a row; EMPTY when there is none. */
static struct json *parse_row_json(struct mcp_table *t, const char *text, const char *empty,
                                   struct err *e)
{
    return json_parse(&t->arena, str_of(text ? text : empty), NULL, e);
}

static int put_mcp_json(struct mcp_table *t, struct jw *w, const char *key, const char *text,
                        struct err *e)
{
    if (!text)
        return 0;
    struct json *v = parse_row_json(t, text, "", e);
    if (!v)
        return err_ctx(e, e && e->code ? e->code : -EINVAL, "%s", key);
    jw_key(w, key);
    jw_value(w, v);
    return 0;
}

static int compile_schema(struct mcp_table *t, struct mcp_tool_row *r, struct json **ret,
                          struct err *e)
{
    struct json *doc =
        parse_row_json(t, r->row->input, "{\"type\":\"object\",\"properties\":{}}", e);

    if (!doc)
        return err_ctx(e, -EINVAL, "input schema");
    r->schema = schema_compile(&t->arena, doc, e);
    if (!r->schema)
        return err_ctx(e, -EINVAL, "input schema");
    *ret = doc;
    return mcp_find_header_args(&t->arena, doc, r, e);
}

static void put_tasking(struct jw *w, enum mcp_tasking tasking)
{
    jw_key(w, "execution");
    jw_object(w);
    put_row_text(w, "taskSupport", tasking == MCP_TASK_MAY ? "optional" : "required");
    jw_end(w);
}

static int write_tool(struct mcp_table *t, size_t i, struct buf *b, struct err *e)
{
    const struct mcp_tool *row = &t->desc.tools[i];
    struct mcp_tool_row *r = &t->tool_rows[i];
    struct jw w = jw_to(b);
    struct json *input = NULL;

    r->row = row;
    if (compile_schema(t, r, &input, e) < 0)
        return -EINVAL;
    jw_object(&w);
    put_row_text(&w, "name", row->name);
    put_row_text(&w, "title", row->title);
    put_row_text(&w, "description", row->description);
    jw_key(&w, "inputSchema");
    jw_value(&w, input);
    if (put_mcp_json(t, &w, "outputSchema", row->output, e) < 0 ||
        put_mcp_json(t, &w, "annotations", row->annotations, e) < 0)
        return -EINVAL;
    if (row->tasking != MCP_TASK_NEVER)
        put_tasking(&w, row->tasking);
    jw_end(&w);
    return map_put(&t->tools, str_of(row->name), r, NULL);
}

static int write_place(struct buf *b, const struct mcp_resource *row, const char *uri_key)
{
    struct jw w = jw_to(b);

    jw_object(&w);
    put_row_text(&w, uri_key, row->uri);
    put_row_text(&w, "name", row->name);
    put_row_text(&w, "title", row->title);
    put_row_text(&w, "description", row->description);
    put_row_text(&w, "mimeType", row->mime);
    jw_end(&w);
    return 0;
}

static int write_resource(struct mcp_table *t, size_t i, struct buf *b, struct err *e)
{
    const struct mcp_resource *row = &t->desc.resources[i];

    (void)e;
    (void)write_place(b, row, "uri");
    return map_put(&t->resources, str_of(row->uri), (void *)(uintptr_t)row, NULL);
}

static int write_template(struct mcp_table *t, size_t i, struct buf *b, struct err *e)
{
    (void)e;
    return write_place(b, &t->desc.templates[i], "uriTemplate");
}

static int write_prompt(struct mcp_table *t, size_t i, struct buf *b, struct err *e)
{
    const struct mcp_prompt *row = &t->desc.prompts[i];
    struct jw w = jw_to(b);

    (void)e;
    jw_object(&w);
    put_row_text(&w, "name", row->name);
    put_row_text(&w, "title", row->title);
    put_row_text(&w, "description", row->description);
    jw_key(&w, "arguments");
    jw_array(&w);
    for (size_t k = 0; k < row->n_args; k++) {
        jw_object(&w);
        put_row_text(&w, "name", row->args[k].name);
        put_row_text(&w, "description", row->args[k].description);
        jw_key(&w, "required");
        jw_bool(&w, row->args[k].is_required);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    return map_put(&t->prompts, str_of(row->name), (void *)(uintptr_t)row, NULL);
}

/* ---- lists ---- */

void mcp_write_list(struct jw *w, const struct mcp_table *t, enum mcp_list list, size_t from,
                    size_t to)
{
    const struct mcp_catalog *c = &t->lists[list];

    jw_key(w, mcp_list_names[list]);
    jw_array(w);
    for (size_t i = from; i < to && i < c->n; i++)
        jw_raw(w, c->items[i]);
    jw_end(w);
    if (to < c->n) {
        char cursor[24];
        (void)snprintf(cursor, sizeof cursor, "%zu", to);
        jw_key(w, "nextCursor");
        jw_cstr(w, cursor);
    }
}

void mcp_write_cache(struct jw *w, const struct mcp_table *t, int64_t ttl_ms)
{
    jw_key(w, "ttlMs");
    jw_int(w, ttl_ms);
    jw_key(w, "cacheScope");
    jw_cstr(w, t->desc.is_keyed ? "private" : "public");
}

static struct str whole(struct mcp_table *t, enum mcp_list list, bool is_modern, struct buf *b)
{
    struct jw w = jw_to(b);

    jw_object(&w);
    if (is_modern) {
        jw_key(&w, "resultType");
        jw_cstr(&w, "complete");
    }
    mcp_write_list(&w, t, list, 0, t->lists[list].n);
    if (is_modern) {
        mcp_write_cache(&w, t, LIST_TTL_MS);
        jw_key(&w, "_meta");
        jw_raw(&w, t->meta);
    }
    jw_end(&w);
    return keep_list_text(t, b);
}

const char *const mcp_list_names[MCP_LIST_COUNT] = {
    [MCP_LIST_TOOLS] = "tools",
    [MCP_LIST_RESOURCES] = "resources",
    [MCP_LIST_TEMPLATES] = "resourceTemplates",
    [MCP_LIST_PROMPTS] = "prompts",
};

struct mcp_source {
    const char *what;
    size_t n;
    int (*write)(struct mcp_table *t, size_t i, struct buf *b, struct err *e);
    const char *(*name)(const struct mcp_table *t, size_t i);
};

static const char *tool_name(const struct mcp_table *t, size_t i)
{
    return t->desc.tools[i].name;
}
static const char *resource_name(const struct mcp_table *t, size_t i)
{
    return t->desc.resources[i].uri;
}
static const char *template_name(const struct mcp_table *t, size_t i)
{
    return t->desc.templates[i].uri;
}
static const char *prompt_name(const struct mcp_table *t, size_t i)
{
    return t->desc.prompts[i].name;
}

static int fill_list(struct mcp_table *t, enum mcp_list list, const struct mcp_source *from,
                     struct err *e)
{
    struct mcp_catalog *c = &t->lists[list];
    struct buf b auto_buf = BUF_INIT(TEXT_MAX);

    c->n = from->n;
    c->items = arena_zalloc(&t->arena, from->n + 1, sizeof *c->items);
    for (size_t i = 0; c->items && i < from->n; i++) {
        int r = from->write(t, i, &b, e);
        if (r < 0)
            return err_ctx(e, r, "%s '%s'", from->what, from->name(t, i));
        c->items[i] = keep_list_text(t, &b);
        if (!c->items[i].p)
            return err_sys(e, -ENOMEM, "%s '%s'", from->what, from->name(t, i));
    }
    if (!c->items)
        return err_sys(e, -ENOMEM, "%s", from->what);
    if (t->desc.page > 0 && from->n > t->desc.page)
        return 0;
    for (int m = 0; m < 2; m++) {
        c->whole[m] = whole(t, list, m, &b);
        if (!c->whole[m].p)
            return err_sys(e, -ENOMEM, "%s", from->what);
    }
    return 0;
}

/* ---- what the server says of itself ---- */

static void put_able(struct jw *w, const char *key, bool is_there, bool has_list, bool subscribes)
{
    if (!is_there)
        return;
    jw_key(w, key);
    jw_object(w);
    if (subscribes) {
        jw_key(w, "subscribe");
        jw_bool(w, true);
    }
    if (has_list) {
        jw_key(w, "listChanged");
        jw_bool(w, true);
    }
    jw_end(w);
}

static struct str capabilities(struct mcp_table *t, bool is_modern, struct buf *b)
{
    const struct mcp_desc *d = &t->desc;
    struct jw w = jw_to(b);

    jw_object(&w);
    put_able(&w, "tools", d->n_tools > 0, true, false);
    put_able(&w, "resources", d->n_resources + d->n_templates > 0, true, true);
    put_able(&w, "prompts", d->n_prompts > 0, true, false);
    put_able(&w, "completions", d->complete, false, false);
    put_able(&w, "logging", !is_modern, false, false);
    if (mcp_has_tasks(d) && is_modern) {
        jw_key(&w, "extensions");
        jw_raw(&w, STR("{\"" MCP_TASKS_EXTENSION "\":{}}"));
    } else if (mcp_has_tasks(d)) {
        jw_key(&w, "tasks");
        jw_raw(&w, STR("{\"list\":{},\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}"));
    }
    jw_end(&w);
    return keep_list_text(t, b);
}

static int describe_server(struct mcp_table *t, struct err *e)
{
    struct buf b auto_buf = BUF_INIT(TEXT_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    put_row_text(&w, "name", t->desc.name);
    put_row_text(&w, "title", t->desc.title);
    put_row_text(&w, "version", t->desc.version);
    jw_end(&w);
    t->info = keep_list_text(t, &b);
    (void)buf_printf(&b, "{\"io.modelcontextprotocol/serverInfo\":" STR_FMT "}", STR_ARG(t->info));
    t->meta = keep_list_text(t, &b);
    t->capabilities[0] = capabilities(t, false, &b);
    t->capabilities[1] = capabilities(t, true, &b);
    if (!t->info.p || !t->meta.p || !t->capabilities[0].p || !t->capabilities[1].p)
        return err_sys(e, -ENOMEM, "description");
    return 0;
}

int mcp_table_init(struct mcp_table *t, const struct mcp_desc *desc, struct err *e)
{
    const struct mcp_source sources[MCP_LIST_COUNT] = {
        [MCP_LIST_TOOLS] = {"tool", desc->n_tools, write_tool, tool_name},
        [MCP_LIST_RESOURCES] = {"resource", desc->n_resources, write_resource, resource_name},
        [MCP_LIST_TEMPLATES] = {"template", desc->n_templates, write_template, template_name},
        [MCP_LIST_PROMPTS] = {"prompt", desc->n_prompts, write_prompt, prompt_name},
    };

    t->desc = *desc;
    arena_init(&t->arena, TABLE_MAX);
    map_init(&t->tools, NAMES_MAX);
    map_init(&t->resources, NAMES_MAX);
    map_init(&t->prompts, NAMES_MAX);
    t->tool_rows = arena_zalloc(&t->arena, desc->n_tools + 1, sizeof *t->tool_rows);
    int r = t->tool_rows ? describe_server(t, e) : err_sys(e, -ENOMEM, "tools");
    for (unsigned i = 0; r == 0 && i < MCP_LIST_COUNT; i++)
        r = fill_list(t, i, &sources[i], e);
    if (r < 0)
        mcp_table_done(t);
    return r;
}

void mcp_table_done(struct mcp_table *t)
{
    map_done(&t->tools);
    map_done(&t->resources);
    map_done(&t->prompts);
    arena_done(&t->arena);
}
