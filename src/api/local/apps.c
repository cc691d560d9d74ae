/* SPDX-License-Identifier: MIT */
#include "api/local/apps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/internal.h"
#include "api/klavis/app_server.h"
#include "api/klavis/klavis.h"
#include "api/local/ask.h"
#include "api/local/caller.h"
#include "apps/catalog/registry.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/instance.h"
#include "core/instance_set.h"
#include "core/sandbox.h"
#include "mcp/http.h"

#define KEPT "initialized" /* the snapshot that a reset goes back to */

static const char *const names[] = {"google_cloud"};

enum { KEY_MAX = LOCAL_ID_LEN + APP_NAME_MAX + 2 };

/* The instance of a local sandbox's server, once it is known. */
struct attached_app_entry {
    char key[KEY_MAX], lease[INSTANCE_ID_LEN + 1];
    struct local_apps *apps;
    struct list waiting; /* struct attached_app_waiter, while it is acquired */
    bool is_pending;
};

struct attached_app_waiter {
    struct list node;
    local_app_fn *fn;
    void *ctx;
};

struct local_apps {
    struct locals *locals;
    struct core *core;
    struct sandbox_watch ends;
    struct map
        by_key; /* struct attached_app_entry; by the local sandbox's id and the server's name */
};

static void on_app_end(void *ctx, struct sandbox *sb);

struct local_apps *local_apps_new(struct locals *l)
{
    struct local_apps *a = mem_zalloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->locals = l;
    a->core = locals_core(l);
    map_init(&a->by_key, INSTANCE_MAX);
    a->ends = (struct sandbox_watch){.fn = on_app_end, .ctx = a};
    list_init(&a->ends.node);
    if (a->core->sandboxes)
        sandboxes_watch(a->core->sandboxes, &a->ends);
    return a;
}

void local_apps_free(struct local_apps *a)
{
    struct str key;
    void *e;

    if (!a)
        return;
    sandboxes_unwatch(&a->ends);
    for (size_t i = 0; map_next(&a->by_key, &i, &key, &e);)
        free(e);
    map_done(&a->by_key);
    free(a);
}

bool local_app_is(const struct locals *l, struct str name)
{
    struct core *core = locals_core(l);
    struct err e = ERR_INIT;

    for (size_t i = 0; core->instances && i < ARRAY_LEN(names); i++) {
        if (!str_is(name, names[i]))
            continue;
        struct app_entry *entry auto_(app_entry_unref) =
            app_registry_get(instances_apps(core->instances), name, &e);
        return entry;
    }
    return false;
}

/* ---- finding ---- */

static struct str app_key_of(char out[KEY_MAX], struct str local, struct str name)
{
    (void)snprintf(out, KEY_MAX, STR_FMT "/" STR_FMT, STR_ARG(local), STR_ARG(name));
    return str_of(out);
}

static struct str owner_id_of(const struct sandbox *sb)
{
    return json_str(json_get(local_of(sb), "id"), STR(""));
}

/* The one that was acquired for it by an earlier run of the service, or NULL. */
static struct instance *find_owned(struct instances *set, struct str local, struct str name)
{
    for (struct instance *in = NULL; (in = instance_next(set, in));) {
        if (in->owner && str_is(local, in->owner) && str_is(name, in->server))
            return in;
    }
    return NULL;
}

static struct instance *find_app_entry(struct local_apps *a, struct str key)
{
    const struct attached_app_entry *e = map_get(&a->by_key, key);
    struct instances *set = a->core->instances;

    return e && !e->is_pending ? instance_by_lease(set, str_of(e->lease)) : NULL;
}

/* ---- acquiring ---- */

static void tell_app_waiter(struct attached_app_entry *e, struct instance *in,
                            const struct err *why)
{
    struct list *node;

    while ((node = list_pop(&e->waiting))) {
        struct attached_app_waiter *w = list_entry(node, struct attached_app_waiter, node);
        w->fn(w->ctx, in, why);
        free(w);
    }
}

static void drop_entry(struct attached_app_entry *e)
{
    (void)map_del(&e->apps->by_key, str_of(e->key));
    free(e);
}

static void on_app_acquired(void *ctx, struct instance **items, size_t n, const struct err *why)
{
    struct attached_app_entry *e = ctx;
    struct err own = ERR_INIT;

    e->is_pending = false;
    if (n > 0 && !locals_knows(e->apps->locals, str_of(items[0]->owner))) {
        instance_release(items[0], STR_NULL, false, NULL, NULL);
        (void)err_set(&own, -ENOENT, "the sandbox has ended");
        n = 0;
    }
    if (n > 0)
        (void)snprintf(e->lease, sizeof e->lease, "%s", items[0]->lease);
    else if (!why && !own.code)
        (void)err_set(&own, -EBUSY, "the server could not be started");
    tell_app_waiter(e, n > 0 ? items[0] : NULL, n > 0 ? NULL : why ? why : &own);
    if (n == 0)
        drop_entry(e);
}

static struct attached_app_entry *new_entry(struct local_apps *a, struct str key)
{
    struct attached_app_entry *e = mem_zalloc(1, sizeof *e);
    void *old = NULL;

    if (!e)
        return NULL;
    list_init(&e->waiting);
    e->apps = a;
    (void)snprintf(e->key, sizeof e->key, STR_FMT, STR_ARG(key));
    if (map_put(&a->by_key, key, e, &old) < 0) {
        free(e);
        return NULL;
    }
    free(old);
    return e;
}

static void acquire(struct attached_app_entry *e, struct sandbox *sb, struct str name)
{
    const struct json *benchmark = json_get(local_of(sb), "benchmark");
    const struct instance_args args = {.key = sb->key,
                                       .server = name,
                                       .benchmark = json_str(benchmark, STR("")),
                                       .owner = owner_id_of(sb),
                                       .ttl_s = -1};

    e->is_pending = true;
    instances_acquire(e->apps->core->instances, &args, on_app_acquired, e);
}

/* NOLINTNEXTLINE(readability-function-size): whose, which, and whom to notify */
static void local_app_get(struct locals *l, struct sandbox *sb, struct str name, local_app_fn *fn,
                          void *ctx)
{
    struct local_apps *a = locals_apps(l);
    char text[KEY_MAX];
    struct str key = app_key_of(text, owner_id_of(sb), name);
    struct instance *in = find_app_entry(a, key);
    struct err why = ERR_INIT;

    if (in) {
        fn(ctx, in, NULL);
        return;
    }
    struct attached_app_entry *e = map_get(&a->by_key, key);
    if (!e || !e->is_pending)
        e = new_entry(a, key);
    struct attached_app_waiter *w = e ? mem_zalloc(1, sizeof *w) : NULL;
    if (!w || !sb->key) {
        free(w);
        (void)err_set(&why, -EBUSY, "the server could not be started");
        fn(ctx, NULL, &why);
        return;
    }
    *w = (struct attached_app_waiter){.fn = fn, .ctx = ctx};
    list_append(&e->waiting, &w->node);
    if (e->is_pending)
        return;
    in = find_owned(a->core->instances, owner_id_of(sb), name);
    if (in)
        on_app_acquired(e, &in, 1, NULL);
    else
        acquire(e, sb, name);
}

/* ---- ending ---- */

static void end_app_instance(struct local_apps *a, struct instance *in)
{
    char text[KEY_MAX];
    struct attached_app_entry *e =
        map_get(&a->by_key, app_key_of(text, str_of(in->owner), str_of(in->server)));

    if (e && !e->is_pending)
        drop_entry(e);
    instance_release(in, STR_NULL, false, NULL, NULL);
}

/* A sandbox ends, for whatever reason; that of a reset comes again. */
static void on_app_end(void *ctx, struct sandbox *sb)
{
    struct local_apps *a = ctx;
    struct str id = owner_id_of(sb);

    if (id.len == 0 || !a->core->instances || locals_knows(a->locals, id))
        return;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct instance *in = local_has_server(sb, str_of(names[i]))
                                  ? find_owned(a->core->instances, id, str_of(names[i]))
                                  : NULL;
        if (in)
            end_app_instance(a, in);
    }
}

void local_apps_sweep(struct locals *l)
{
    struct local_apps *a = locals_apps(l);
    struct instances *set = a->core->instances;
    struct instance *next = set ? instance_next(set, NULL) : NULL;

    /* Where there are no cells now, the sandboxes may be there again after the next start. */
    if (!a->core->sandboxes || !sandboxes_engine(a->core->sandboxes, NULL))
        return;
    while (next) {
        struct instance *in = next;
        next = instance_next(set, in);
        if (in->owner && in->owner[0] && !locals_knows(l, str_of(in->owner)))
            end_app_instance(a, in);
    }
}

/* ---- resetting ---- */

struct reset_task {
    struct instance_op op;
    struct arena arena;
    struct instance *in;
    void (*done)(void *ctx, const char *why);
    void *ctx;
};

static void end_reset(struct reset_task *t, const char *why)
{
    t->done(t->ctx, why);
    arena_done(&t->arena);
    free(t);
}

static void on_app_reset(struct instance_op *op, const struct err *e)
{
    struct reset_task *t = container_of(op, struct reset_task, op);

    /* What was never initialized starts again. */
    if (e && e->code == -ENOENT && op->what == INSTANCE_RESTORE) {
        t->op =
            (struct instance_op){.what = INSTANCE_RESET, .arena = &t->arena, .done = on_app_reset};
        instance_do(t->in, &t->op);
        return;
    }
    end_reset(t, e ? err_text(e) : NULL);
}

static void reset_found(void *ctx, struct instance *in, const struct err *e)
{
    struct reset_task *t = ctx;

    if (!in) {
        end_reset(t, err_text(e));
        return;
    }
    t->in = in;
    t->op = (struct instance_op){
        .what = INSTANCE_RESTORE, .name = STR(KEPT), .arena = &t->arena, .done = on_app_reset};
    instance_do(in, &t->op);
}

void local_app_reset(struct locals *l, struct sandbox *sb, void (*done)(void *ctx, const char *why),
                     void *ctx)
{
    struct reset_task *t = mem_zalloc(1, sizeof *t);

    if (!t) {
        done(ctx, "out of memory");
        return;
    }
    t->done = done;
    t->ctx = ctx;
    arena_init(&t->arena, 1 << 20);
    local_app_get(l, sb, STR("google_cloud"), reset_found, t);
}

/* ---- MCP ---- */

static void serve_app_request(void *ctx, struct instance *in, const struct err *why)
{
    struct api_req *r = ctx;
    struct err e = ERR_INIT;
    struct mcp_server *s = in ? klavis_mcp_server(r->api->klavis, in, &e) : NULL;
    struct str headers = local_headers_of(r->arena, &r->http->head.headers);

    if (!headers.p) {
        api_error(r, 431, "The headers are too large");
        return;
    }
    struct app_server_caller *who = s ? mem_zalloc(1, sizeof *who + headers.len + 1) : NULL;
    if (!who) {
        api_fail(r, why ? why->code : e.code ? e.code : -ENOMEM, why ? why : &e);
        return;
    }
    who->core = r->core;
    who->locals = r->api->locals;
    (void)snprintf(who->lease, sizeof who->lease, "%s", in->lease);
    (void)snprintf(who->local, sizeof who->local, STR_FMT,
                   STR_ARG(api_query(r, "local_sandbox_id")));
    memcpy(who->headers, headers.p, headers.len);
    mcp_http(s, r->http,
             &(struct mcp_scope){.owner = str_of(who->lease), .ctx = who, .release = free});
}

void local_app_mcp(struct api_req *r, struct sandbox *sb, struct str name)
{
    local_app_get(r->api->locals, sb, name, serve_app_request, r);
}

/* ---- data ---- */

static void initialize_app_instance(void *ctx, struct instance *in, const struct err *e)
{
    if (in)
        klavis_initialize_in(ctx, in, STR(KEPT));
    else
        klavis_fail(ctx, e->code, e);
}

static void dump(void *ctx, struct instance *in, const struct err *e)
{
    if (in)
        klavis_dump_in(ctx, in);
    else
        klavis_fail(ctx, e->code, e);
}

/* The instance of the path's server, by the id of the local sandbox or of the server's item. */
static void with_instance(struct api_req *r, local_app_fn *fn)
{
    struct str path = str_skip(r->http->head.path, 1), name, id = api_param(r, "sandbox_id");
    struct sandbox *sb = locals_find(r->api->locals, id);

    (void)str_cut(&path, '/');
    name = str_cut(&path, '/');
    if (!sb)
        sb = locals_find_by_server(r->api->locals, id);
    if (sb && sandbox_is_visible(sb, r->key) && local_has_server(sb, name))
        local_app_get(r->api->locals, sb, name, fn, r);
    else
        api_error(r, 404, "Sandbox " STR_FMT " not found", STR_ARG(str_slice(id, 0, 100)));
}

void local_app_initialize(struct api_req *r)
{
    with_instance(r, initialize_app_instance);
}

void local_app_dump(struct api_req *r)
{
    with_instance(r, dump);
}

/* ---- files ---- */

struct file_task {
    local_file_fn *fn;
    void *ctx;
    struct arena *arena;
};

static void on_app_file(void *ctx, struct str body, const char *why)
{
    struct file_task *t = ctx;
    const struct json *v = why ? NULL : json_parse(t->arena, body, NULL, NULL);
    struct str text =
        json_str(json_get(json_at(json_get(v, "content"), 0), "text"), STR("no answer"));

    t->fn(t->ctx, why ? str_of(why) : text, why || json_bool(json_get(v, "isError"), !v));
}

/* NOLINTNEXTLINE(readability-function-size): one request into the cell */
void local_file(struct locals *l, struct str id, const char *verb, const struct json *args,
                struct arena *a, local_file_fn *fn, void *ctx)
{
    struct sandbox *sb = locals_find(l, id);
    struct file_task *t = arena_new(a, struct file_task);
    auto_buf struct buf b = BUF_INIT(64 << 20);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "args");
    jw_value(&w, args);
    jw_key(&w, "headers");
    jw_raw(&w, STR("{}"));
    jw_end(&w);
    struct str body = buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
    if (!sb || !t || !body.p) {
        fn(ctx, STR("the workspace is not reachable"), true);
        return;
    }
    *t = (struct file_task){.fn = fn, .ctx = ctx, .arena = a};
    local_ask(&(struct local_ask){
        .locals = l,
        .sandbox = sb,
        .arena = a,
        .target = arena_printf(a, "/workspace/%s", verb),
        .body = body,
        .may_repeat = true,
        .fn = on_app_file,
        .ctx = t,
    });
}
