/* SPDX-License-Identifier: MIT */
/* Local sandboxes under the paths that they had before /local-sandbox, for clients that still call
 * them: /sandbox/local_dev is one with all servers, /sandbox/localmemory one with the graph of
 * entities alone. Their sandbox_id is the local sandbox's. */
#include <errno.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/local/archive.h"
#include "api/local/ask.h"
#include "api/local/local.h"
#include "api/local/ports.h"
#include "api/local/signed.h"
#include "api/local/vault.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_pair.h"
#include "core/sandbox.h"

enum { ANSWER_MAX = 64 << 20 };

/* The server that the route is for. */
static struct str server_of(const struct api_req *r)
{
    struct str rest = str_skip(str_of(r->match.route->pattern), strlen("/sandbox/"));

    return str_cut(&rest, '/');
}

static struct str retired_id_of(const struct sandbox *sb)
{
    return json_str(json_get(local_of(sb), "id"), STR(""));
}

static void put_retired_head(struct jw *w, struct api_req *r, const struct sandbox *sb)
{
    const struct json *first = json_at(json_get(local_of(sb), "servers"), 0);

    jw_object(w);
    jw_pair_str_or_null(w, "sandbox_id", retired_id_of(sb));
    jw_pair_str_or_null(w, "server_name", server_of(r));
    jw_pair_str_or_null(w, "server_url", first ? local_url(r, sb, first) : STR_NULL);
    jw_pair_str_or_null(w, "status", STR("occupied"));
}

/* ---- acquire, show, release ---- */

static void put_retired_lease(struct jw *w, struct api_req *r, const struct sandbox *sb)
{
    const struct json *servers = json_get(local_of(sb), "servers");

    put_retired_head(w, r, sb);
    jw_key(w, "server_urls");
    jw_object(w);
    for (size_t i = 0; servers && i < servers->n; i++) {
        const struct json *server = json_at(servers, i);
        jw_key_str(w, json_str(json_get(server, "name"), STR("")));
        jw_str(w, local_url(r, sb, server));
    }
    jw_end(w);
    jw_pair_str_or_null(
        w, "message",
        STR("Sandbox acquired successfully. Use server_urls to connect to the MCP server."));
    jw_end(w);
}

void local_old_acquire(struct api_req *r)
{
    struct klavis_input in;
    struct str server = server_of(r);
    struct json *names = json_new_array(r->arena);

    klavis_input_begin(&in, r);
    const struct json *body = klavis_input_body(&in, "AcquireSandboxRequest", NULL, false);
    if (klavis_input_refuse(&in))
        return;
    if (str_is(server, "local_dev"))
        names = json_new_str(r->arena, STR("ALL"));
    else if (names)
        (void)json_push(r->arena, names, json_new_str(r->arena, server));
    struct json *servers = names ? local_choose(r, names) : NULL;
    if (servers)
        local_make(r, body, servers, put_retired_lease);
    else if (!names)
        klavis_fail(r, -ENOMEM, NULL);
}

void local_old_show(struct api_req *r)
{
    const struct sandbox *sb = local_find_for(r);
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);
    char time[CLOCK_RFC3339_MAX];

    if (!sb)
        return;
    clock_rfc3339_us(time, sb->started_us);
    put_retired_head(&w, r, sb);
    jw_pair_str_or_null(&w, "benchmark", json_str(json_get(local_of(sb), "benchmark"), STR("")));
    jw_pair_str_or_null(&w, "updated_at", str_of(time));
    jw_pair_str_or_null(&w, "metadata", STR_NULL);
    jw_key(&w, "auth_data");
    local_put_auth_data(&w, r, sb, json_at(json_get(local_of(sb), "servers"), 0));
    jw_pair_str_or_null(&w, "tags", STR_NULL);
    jw_end(&w);
    api_reply_json(r, 200, &b);
}

static void reply_message(struct api_req *r, struct str id, const char *status, struct str message,
                          struct str records)
{
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_pair_str_or_null(&w, "sandbox_id", id);
    jw_pair_str_or_null(&w, "status", str_of(status));
    jw_pair_str_or_null(&w, "message", message);
    if (records.p) {
        jw_key(&w, "records_created");
        jw_raw(&w, records);
    }
    jw_end(&w);
    api_reply_json(r, 200, &b);
}

static void reply_retired_released(struct api_req *r, struct str id)
{
    reply_message(r, id, "idle",
                  arena_printf(r->arena,
                               "Sandbox " STR_FMT
                               " released successfully and is now available for reuse",
                               STR_ARG(id)),
                  STR_NULL);
}

void local_old_release(struct api_req *r)
{
    struct sandbox *sb = local_find_for(r);

    if (sb)
        local_end(r, sb, reply_retired_released);
}

/* ---- the graph ---- */

struct memory {
    struct api_req *r;
    struct sandbox *sb; /* a reference */
    const struct json *entities, *relations;
    size_t n_entities;
};

/* Calls TOOL with ARGUMENT, or without any. */
static void ask_graph_tool(struct memory *m, const char *tool, const char *name,
                           const struct json *argument, local_answer_fn *fn)
{
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "args");
    jw_object(&w);
    if (argument) {
        jw_key(&w, name);
        jw_value(&w, argument);
    }
    jw_end(&w);
    jw_key(&w, "benchmark");
    jw_value(&w, json_get(local_of(m->sb), "benchmark"));
    jw_end(&w);
    local_ask(&(struct local_ask){
        .locals = m->r->api->locals,
        .sandbox = m->sb,
        .arena = m->r->arena,
        .target = arena_printf(m->r->arena, "/localmemory/%s", tool),
        .body = buf_ok(&b) ? arena_str(m->r->arena, buf_str(&b)) : STR_NULL,
        .fn = fn,
        .ctx = m,
    });
}

/* What the tool said, as JSON; NULL after answering, because it failed. */
static const struct json *said(struct memory *m, struct str body, const char *why)
{
    struct arena *a = m->r->arena;
    const struct json *v = why ? NULL : json_parse(a, body, NULL, NULL);
    const struct json *text = json_pointer(v, "/content/0/text");
    const struct json *value =
        json_is(text, JSON_STRING) ? json_parse(a, text->s, NULL, NULL) : NULL;

    if (value && !json_bool(json_get(v, "isError"), false))
        return value;
    sandbox_unref(m->sb);
    api_error(m->r, 500, "%s",
              why                          ? why
              : json_is(text, JSON_STRING) ? text->s.p
                                           : "the sandbox sent an unreadable response");
    return NULL;
}

static void on_relations(void *ctx, struct str body, const char *why)
{
    struct memory *m = ctx;
    const struct json *made = said(m, body, why);

    if (!made)
        return;
    struct str id = arena_str(m->r->arena, retired_id_of(m->sb));
    sandbox_unref(m->sb);
    reply_message(
        m->r, id, "occupied",
        arena_printf(m->r->arena, "Initialized sandbox with %zu records", m->n_entities + made->n),
        arena_printf(m->r->arena, "{\"entities\":%zu,\"relations\":%u}", m->n_entities, made->n));
}

static void on_entities(void *ctx, struct str body, const char *why)
{
    struct memory *m = ctx;
    const struct json *made = said(m, body, why);

    if (!made)
        return;
    m->n_entities = made->n;
    ask_graph_tool(m, "create_relations", "relations", m->relations, on_relations);
}

/* The local sandbox of the path; NULL after answering. */
static struct memory *begin_graph_request(struct api_req *r)
{
    struct sandbox *sb = local_find_for(r);
    struct memory *m = sb ? arena_new(r->arena, struct memory) : NULL;

    if (m)
        *m = (struct memory){.r = r, .sb = sandbox_ref(sb)};
    else if (sb)
        klavis_fail(r, -ENOMEM, NULL);
    return m;
}

/* The list NAME of BODY; entities have observations. */
static const struct json *list_of(struct api_req *r, const struct json *body, const char *name)
{
    struct json *list = json_get(body, name), *none = json_new_array(r->arena);

    if (!json_is(list, JSON_ARRAY))
        return none;
    for (size_t i = 0; none && str_is(STR("entities"), name) && i < list->n; i++) {
        if (!json_is(json_get(json_at(list, i), "observations"), JSON_ARRAY))
            (void)json_set(r->arena, json_at(list, i), "observations", none);
    }
    return list;
}

void local_memory_initialize(struct api_req *r)
{
    struct klavis_input in;

    klavis_input_begin(&in, r);
    in.dump_of = STR("localmemory");
    const struct json *body = klavis_input_body(&in, "MemoryData", NULL, false);
    if (klavis_input_refuse(&in))
        return;
    struct memory *m = begin_graph_request(r);
    if (!m)
        return;
    m->entities = list_of(r, body, "entities");
    m->relations = list_of(r, body, "relations");
    ask_graph_tool(m, "create_entities", "entities", m->entities, on_entities);
}

static void on_graph(void *ctx, struct str body, const char *why)
{
    struct memory *m = ctx;
    const struct json *graph = said(m, body, why);
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);
    char now[CLOCK_RFC3339_MAX];

    if (!graph)
        return;
    clock_rfc3339_us(now, clock_real_us());
    now[strlen(now) - 1] = 0;
    jw_object(&w);
    jw_pair_str_or_null(&w, "sandbox_id", retired_id_of(m->sb));
    jw_pair_str_or_null(&w, "server_name", server_of(m->r));
    jw_pair_str_or_null(&w, "dumped_at", str_of(now));
    jw_key(&w, "data");
    jw_value(&w, graph);
    jw_end(&w);
    sandbox_unref(m->sb);
    api_reply_json(m->r, 200, &b);
}

void local_memory_dump(struct api_req *r)
{
    struct memory *m = begin_graph_request(r);

    if (m)
        ask_graph_tool(m, "read_graph", NULL, NULL, on_graph);
}

/* ---- the graph as a file, which is put in place without an initialize ---- */

void local_memory_upload_url(struct api_req *r)
{
    struct sandbox *sb = local_find_for(r);

    if (sb)
        archive_reply_url(r, SIGNED_MEMORY, archive_id(r, sb), STR("memory"));
}

static void on_put(void *ctx, struct str body, const char *why)
{
    struct api_req *r = ctx;

    (void)body;
    if (why)
        api_error(r, 500, "%s", why);
    else
        api_reply(r, 200, "text/plain", STR(""));
}

static void on_graph_file(struct http_req *h, void *ctx)
{
    struct api_req *r = ctx;
    struct sandbox *sb = locals_find(r->api->locals, api_param(r, "local_sandbox_id"));

    if (!sb) {
        api_error(r, 404, "The local sandbox of this URL was released");
        return;
    }
    local_ask(&(struct local_ask){
        .locals = r->api->locals,
        .sandbox = sb,
        .arena = r->arena,
        .target = arena_printf(r->arena, "/_memory?benchmark=" STR_FMT,
                               STR_ARG(json_str(json_get(local_of(sb), "benchmark"), STR("")))),
        .body = h->body,
        .may_repeat = true,
        .fn = on_put,
        .ctx = r,
    });
}

void local_memory_put(struct api_req *r)
{
    if (signed_check(r, SIGNED_MEMORY))
        http_read_body(r->http, ANSWER_MAX, on_graph_file, r);
}
