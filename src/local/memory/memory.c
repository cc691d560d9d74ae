/* SPDX-License-Identifier: MIT */
/* The server "localmemory": a graph of entities and relations. The file is the truth: it is looked
 * at for every call and written after every change, because agents read and write it through other
 * servers as well. Reading: graph.c. */
#include "local/memory/memory.h"

#include <errno.h>
#include <libgen.h>
#include <pthread.h>

#include "base/cleanup.h"
#include "local/kit/path.h"
#include "local/kit/servers.h"
#include "local/memory/graph.h"
#include "sys/io.h"

/* Where the graph is, below the workspace. */
static const struct {
    const char *benchmark, *file;
} files[] = {
    {"MCP_Atlas", "repos/memory_mcp_server/memories-for-mcp.json"},
    {"Toolathlon", "memory/memory.json"},
    {"", "memory.json"},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* NULL: out of memory. */
static const char *graph_path_of(struct arena *a, const struct local *local, struct str benchmark)
{
    size_t i = 0;

    while (files[i].benchmark[0] && !str_is(benchmark, files[i].benchmark))
        i++;
    return arena_printf(a, "%s/%s", local->root, files[i].file).p;
}

struct graph {
    struct local_call *c;
    const char *path;
    struct json *entities, *relations; /* arrays */
};

/* ---- values ---- */

static struct str member_text_of(const struct json *v, const char *key)
{
    return json_str(json_get(v, key), STR(""));
}

static bool is_same_relation(const struct json *a, const struct json *b)
{
    return str_eq(member_text_of(a, "from"), member_text_of(b, "from")) &&
           str_eq(member_text_of(a, "to"), member_text_of(b, "to")) &&
           str_eq(member_text_of(a, "relationType"), member_text_of(b, "relationType"));
}

static struct json *find_entity(const struct json *entities, struct str name)
{
    for (size_t i = 0; i < entities->n; i++) {
        if (str_eq(member_text_of(&entities->items[i], "name"), name))
            return &entities->items[i];
    }
    return NULL;
}

static bool has_array_text(const struct json *array, struct str text)
{
    for (size_t i = 0; array && i < array->n; i++) {
        if (str_eq(json_str(&array->items[i], STR("")), text))
            return true;
    }
    return false;
}

/* ---- the file ---- */

static void write_memory_lines(struct buf *b, const char *type, const struct json *array)
{
    for (size_t i = 0; i < array->n; i++) {
        (void)buf_printf(b, "%s{\"type\":\"%s\",", b->len > 0 ? "\n" : "", type);
        size_t at = b->len;
        (void)json_write(b, &array->items[i], JSON_COMPACT);
        /* The object goes on where ours began. */
        if (buf_ok(b))
            memmove(b->p + at, b->p + at + 1, --b->len - at);
    }
}

static bool save_graph(struct graph *g)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);
    char *dir = arena_strdup(&g->c->arena, g->path);

    write_memory_lines(&b, "entity", g->entities);
    write_memory_lines(&b, "relation", g->relations);
    int r = buf_ok(&b) ? io_mkdirs(dirname(dir), 0777, NULL) : -EFBIG;
    if (r == 0)
        r = path_write(g->c, g->path, buf_str(&b));
    if (r < 0)
        path_fail(g->c, r, "open", g->path);
    return r == 0;
}

/* Runs WORK on the graph that LOAD gives. */
static void with_graph(struct local_call *c,
                       int (*load)(struct local_call *c, const char *path,
                                   struct memory_graph *ret),
                       void (*work)(struct graph *g))
{
    struct graph g = {.c = c, .path = graph_path_of(&c->arena, c->local, c->benchmark)};
    struct memory_graph found;

    if (!g.path) {
        local_fail(c, "out of memory");
        return;
    }
    (void)pthread_mutex_lock(&lock);
    int r = load(c, g.path, &found);
    if (r < 0) {
        path_fail(c, r, "open", g.path);
    } else {
        g.entities = found.entities;
        g.relations = found.relations;
        work(&g);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- answers ---- */

/* V as pretty JSON text, and as structure: under KEY, or as it is without one. */
static void answer_graph_part(struct graph *g, const struct json *v, const char *key)
{
    struct buf *text = local_buf(g->c), *plain = local_buf(g->c);

    (void)json_write(text, v, JSON_PRETTY);
    if (key)
        (void)buf_printf(plain, "{\"%s\":", key);
    (void)json_write(plain, v, JSON_COMPACT);
    if (key)
        (void)buf_add_char(plain, '}');
    local_text(g->c, buf_str(text));
    local_structured(g->c, buf_str(plain));
}

static void answer_done(struct graph *g, const char *message)
{
    local_text(g->c, str_of(message));
    local_structured(g->c,
                     arena_printf(&g->c->arena, "{\"success\":true,\"message\":\"%s\"}", message));
}

/* The entities for which PICK says yes, and the relations that begin or end at one of them. */
static void answer_part(struct graph *g, bool (*pick)(struct graph *g, const struct json *entity))
{
    struct json *part = json_new_object(&g->c->arena), *entities = json_new_array(&g->c->arena),
                *relations = json_new_array(&g->c->arena);

    if (!part || !entities || !relations)
        return;
    for (size_t i = 0; i < g->entities->n; i++) {
        if (pick(g, &g->entities->items[i]))
            (void)json_push(&g->c->arena, entities, &g->entities->items[i]);
    }
    for (size_t i = 0; i < g->relations->n; i++) {
        const struct json *r = &g->relations->items[i];
        if (find_entity(entities, member_text_of(r, "from")) ||
            find_entity(entities, member_text_of(r, "to")))
            (void)json_push(&g->c->arena, relations, r);
    }
    (void)json_set(&g->c->arena, part, "entities", entities);
    (void)json_set(&g->c->arena, part, "relations", relations);
    answer_graph_part(g, part, NULL);
}

/* ---- tools ---- */

static void do_create_entities(struct graph *g)
{
    const struct json *given = json_get(g->c->args, "entities");
    struct json *added = json_new_array(&g->c->arena);

    for (size_t i = 0; added && given && i < given->n; i++) {
        if (find_entity(g->entities, member_text_of(&given->items[i], "name")))
            continue;
        memory_push_entity(&g->c->arena, g->entities, &given->items[i]);
        memory_push_entity(&g->c->arena, added, &given->items[i]);
    }
    if (save_graph(g))
        answer_graph_part(g, added, "entities");
}

static void do_create_relations(struct graph *g)
{
    const struct json *given = json_get(g->c->args, "relations");
    struct json *added = json_new_array(&g->c->arena);

    for (size_t i = 0; added && given && i < given->n; i++) {
        bool is_known = false;
        for (size_t k = 0; k < g->relations->n; k++)
            is_known = is_known || is_same_relation(&g->relations->items[k], &given->items[i]);
        if (is_known)
            continue;
        memory_push_relation(&g->c->arena, g->relations, &given->items[i]);
        memory_push_relation(&g->c->arena, added, &given->items[i]);
    }
    if (save_graph(g))
        answer_graph_part(g, added, "relations");
}

static struct json *observations_of(struct graph *g, struct json *entity)
{
    struct json *v = json_get(entity, "observations");

    if (!json_is(v, JSON_ARRAY)) {
        (void)json_set(&g->c->arena, entity, "observations", json_new_array(&g->c->arena));
        v = json_get(entity, "observations");
    }
    return v;
}

static void do_add_observations(struct graph *g)
{
    const struct json *given = json_get(g->c->args, "observations");
    struct json *results = json_new_array(&g->c->arena);

    for (size_t i = 0; results && given && i < given->n; i++) {
        struct str name = member_text_of(&given->items[i], "entityName");
        const struct json *contents = json_get(&given->items[i], "contents");
        struct json *entity = find_entity(g->entities, name);
        struct json *row = json_new_object(&g->c->arena), *added = json_new_array(&g->c->arena);
        if (!entity) {
            local_fail(g->c, "Entity with name " STR_FMT " not found", STR_ARG(name));
            return;
        }
        struct json *have = observations_of(g, entity);
        for (size_t k = 0; row && added && have && contents && k < contents->n; k++) {
            if (has_array_text(have, json_str(&contents->items[k], STR(""))))
                continue;
            (void)json_push(&g->c->arena, have, &contents->items[k]);
            (void)json_push(&g->c->arena, added, &contents->items[k]);
        }
        (void)json_set(&g->c->arena, row, "entityName", json_new_str(&g->c->arena, name));
        (void)json_set(&g->c->arena, row, "addedObservations", added);
        (void)json_push(&g->c->arena, results, row);
    }
    if (save_graph(g))
        answer_graph_part(g, results, "results");
}

/* Keeps the items for which DROP says no. */
static void filter_items(struct graph *g, struct json *array,
                         bool (*drop)(struct graph *g, const struct json *item))
{
    uint32_t n = 0;

    for (size_t i = 0; i < array->n; i++) {
        if (!drop(g, &array->items[i]))
            array->items[n++] = array->items[i];
    }
    array->n = n;
}

static bool is_memory_named(struct graph *g, const struct json *entity)
{
    return has_array_text(json_get(g->c->args, "entityNames"), member_text_of(entity, "name"));
}

static bool is_of_named(struct graph *g, const struct json *relation)
{
    const struct json *names = json_get(g->c->args, "entityNames");

    return has_array_text(names, member_text_of(relation, "from")) ||
           has_array_text(names, member_text_of(relation, "to"));
}

static void do_delete_entities(struct graph *g)
{
    filter_items(g, g->entities, is_memory_named);
    filter_items(g, g->relations, is_of_named);
    if (save_graph(g))
        answer_done(g, "Entities deleted successfully");
}

static void do_delete_observations(struct graph *g)
{
    const struct json *given = json_get(g->c->args, "deletions");

    for (size_t i = 0; given && i < given->n; i++) {
        struct json *entity =
            find_entity(g->entities, member_text_of(&given->items[i], "entityName"));
        const struct json *gone = json_get(&given->items[i], "observations");
        struct json *have = entity ? observations_of(g, entity) : NULL;
        uint32_t n = 0;
        for (size_t k = 0; have && k < have->n; k++) {
            if (!has_array_text(gone, json_str(&have->items[k], STR(""))))
                have->items[n++] = have->items[k];
        }
        if (have)
            have->n = n;
    }
    if (save_graph(g))
        answer_done(g, "Observations deleted successfully");
}

static bool is_given_relation(struct graph *g, const struct json *relation)
{
    const struct json *given = json_get(g->c->args, "relations");

    for (size_t i = 0; given && i < given->n; i++) {
        if (is_same_relation(&given->items[i], relation))
            return true;
    }
    return false;
}

static void do_delete_relations(struct graph *g)
{
    filter_items(g, g->relations, is_given_relation);
    if (save_graph(g))
        answer_done(g, "Relations deleted successfully");
}

static bool is_any(struct graph *g, const struct json *entity)
{
    (void)g;
    (void)entity;
    return true;
}

/* All of it, relations between strangers included. */
static void do_read_graph(struct graph *g)
{
    struct json *all = json_new_object(&g->c->arena);

    if (!all)
        return;
    (void)json_set(&g->c->arena, all, "entities", g->entities);
    (void)json_set(&g->c->arena, all, "relations", g->relations);
    answer_graph_part(g, all, NULL);
}

static bool contains(struct str text, struct str part)
{
    for (size_t i = 0; i + part.len <= text.len; i++) {
        if (part.len == 0 || (((text.p[i] ^ part.p[0]) & ~0x20) == 0 &&
                              str_ieq(str_slice(text, i, i + part.len), part)))
            return true;
    }
    return false;
}

static bool is_memory_found(struct graph *g, const struct json *entity)
{
    struct str query = local_str(g->c, "query");
    const struct json *observations = json_get(entity, "observations");

    if (contains(member_text_of(entity, "name"), query) ||
        contains(member_text_of(entity, "entityType"), query))
        return true;
    for (size_t i = 0; observations && i < observations->n; i++) {
        if (contains(json_str(&observations->items[i], STR("")), query))
            return true;
    }
    return false;
}

static bool is_opened(struct graph *g, const struct json *entity)
{
    return has_array_text(json_get(g->c->args, "names"), member_text_of(entity, "name"));
}

static void do_search_nodes(struct graph *g)
{
    answer_part(g, local_str(g->c, "query").len > 0 ? is_memory_found : is_any);
}

static void do_open_nodes(struct graph *g)
{
    answer_part(g, is_opened);
}

#define TOOL(name, load)                                                                           \
    static void name(struct local_call *c)                                                         \
    {                                                                                              \
        with_graph(c, load, do_##name);                                                            \
    }
TOOL(create_entities, memory_load)
TOOL(create_relations, memory_load)
TOOL(add_observations, memory_load)
TOOL(delete_entities, memory_load)
TOOL(delete_observations, memory_load)
TOOL(delete_relations, memory_load)
TOOL(read_graph, memory_look)
TOOL(search_nodes, memory_look)
TOOL(open_nodes, memory_look)
#undef TOOL

static const struct local_tool tools[] = {
    {"create_entities", create_entities},
    {"create_relations", create_relations},
    {"add_observations", add_observations},
    {"delete_entities", delete_entities},
    {"delete_observations", delete_observations},
    {"delete_relations", delete_relations},
    {"read_graph", read_graph},
    {"search_nodes", search_nodes},
    {"open_nodes", open_nodes},
};

const struct local_server memory_server = {"localmemory", tools, ARRAY_LEN(tools)};

void memory_rest(void)
{
    /* One that is under way may go on for long. */
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    memory_forget();
    (void)pthread_mutex_unlock(&lock);
}

/* ---- the whole file ---- */

void memory_put(struct request *q)
{
    struct str text = STR("");
    struct err e = ERR_INIT;
    int r = request_read_all(q, LOCAL_FILE_MAX, &text);
    const char *path = graph_path_of(&q->arena, q->local, request_param(q, "benchmark"));
    char *dir = path ? arena_strdup(&q->arena, path) : NULL;

    if (r < 0 || !dir) {
        request_fail(q, r == -EFBIG ? 413 : 400, "the graph could not be read");
        return;
    }
    (void)pthread_mutex_lock(&lock);
    r = io_mkdirs(dirname(dir), 0777, &e);
    if (r == 0)
        r = io_write_file(path, text, 0644, &e);
    (void)pthread_mutex_unlock(&lock);
    if (r < 0)
        request_fail(q, 500, "%s", err_text(&e));
    else
        request_reply(q, "application/json", STR("{}"));
}
