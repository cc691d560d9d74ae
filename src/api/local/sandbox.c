/* SPDX-License-Identifier: MIT */
/* /local-sandbox: acquire, list, show and release. */
#include "core/sandbox.h"

#include <errno.h>
#include <stdio.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/local/apps.h"
#include "api/local/local.h"
#include "api/local/ports.h"
#include "api/local/reset.h"
#include "api/local/vault.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/json_pair.h"
#include "core/own_server.h"

enum { ANSWER_MAX = 1 << 20, LIST_MAX = 64 << 20 };

/* ---- writing ---- */

struct str local_url(struct api_req *r, const struct sandbox *sb, const struct json *server)
{
    return arena_printf(r->arena, STR_FMT "/" STR_FMT "/mcp/?local_sandbox_id=" STR_FMT,
                        STR_ARG(klavis_base(r)),
                        STR_ARG(json_str(json_get(server, "name"), STR(""))),
                        STR_ARG(json_str(json_get(local_of(sb), "id"), STR(""))));
}

static void put_server(struct jw *w, struct api_req *r, const struct sandbox *sb,
                       const struct json *server)
{
    const struct json *local = local_of(sb);
    char time[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(time, sb->started_us);
    jw_object(w);
    jw_pair_str_or_null(w, "server_name", json_str(json_get(server, "name"), STR("")));
    jw_pair_str_or_null(w, "id", json_str(json_get(server, "id"), STR("")));
    jw_pair_str_or_null(w, "mcp_server_url", local_url(r, sb, server));
    jw_pair_str_or_null(w, "status", STR("occupied"));
    jw_pair_str_or_null(w, "benchmark", json_str(json_get(local, "benchmark"), STR("")));
    jw_pair_str_or_null(w, "updated_at", str_of(time));
    jw_pair_str_or_null(w, "metadata", STR_NULL);
    jw_key(w, "auth_data");
    local_put_auth_data(w, r, sb, server);
    jw_pair_str_or_null(w, "tags", STR_NULL);
    jw_end(w);
}

/* WITH_TIME: as it is shown; else as the acquirer gets it. */
static void put_local_sandbox(struct jw *w, struct api_req *r, const struct sandbox *sb,
                              bool with_time)
{
    const struct json *local = local_of(sb), *servers = json_get(local, "servers");
    char time[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(time, json_int(json_get(local, "created_us"), sb->created_us));
    jw_object(w);
    jw_pair_str_or_null(w, "local_sandbox_id", json_str(json_get(local, "id"), STR("")));
    if (with_time)
        jw_pair_str_or_null(w, "created_at", str_of(time));
    jw_pair_str_or_null(w, "status", STR("occupied"));
    jw_pair_str_or_null(w, "benchmark", json_str(json_get(local, "benchmark"), STR("")));
    jw_key(w, "servers");
    jw_array(w);
    for (size_t i = 0; servers && i < servers->n; i++)
        put_server(w, r, sb, json_at(servers, i));
    jw_end(w);
    if (!with_time)
        jw_pair_str_or_null(w, "message", STR("Local sandbox environment acquired successfully"));
    jw_end(w);
}

static void put_local_lease(struct jw *w, struct api_req *r, const struct sandbox *sb)
{
    put_local_sandbox(w, r, sb, false);
}

/* ---- acquiring ---- */

static struct json *text(struct api_req *r, struct str s)
{
    return s.len > 0 ? json_new_str(r->arena, s) : json_new_null(r->arena);
}

/* Adds a server, once; false when there is no such one here. */
static bool add_local_server(struct api_req *r, struct json *servers, struct str name)
{
    char id[ID_UUID_LEN + 1];

    for (size_t i = 0; i < servers->n; i++) {
        if (str_eq(json_str(json_get(json_at(servers, i), "name"), STR("")), name))
            return true;
    }
    if (!toolset_find(locals_tools(r->api->locals), name, STR("")) &&
        !own_server_find(locals_own(r->api->locals), name) && !local_app_is(r->api->locals, name))
        return false;
    struct json *row = json_new_object(r->arena);
    id_uuid(id);
    (void)json_set(r->arena, row, "name", text(r, name));
    (void)json_set(r->arena, row, "id", text(r, str_of(id)));
    (void)json_push(r->arena, servers, row);
    return true;
}

struct json *local_choose(struct api_req *r, const struct json *names)
{
    struct json *servers = json_new_array(r->arena);

    for (size_t i = 0; servers && json_is(names, JSON_STRING) && i < TOOLSET_SERVERS; i++)
        (void)add_local_server(r, servers, str_of(toolset_servers[i]));
    for (size_t i = 0; servers && json_is(names, JSON_ARRAY) && i < names->n; i++) {
        struct str name = json_str(json_at(names, i), STR(""));
        if (add_local_server(r, servers, name))
            continue;
        api_error(r, 503, "The local server " STR_FMT " is not available on this installation",
                  STR_ARG(name));
        return NULL;
    }
    if (!servers)
        api_fail(r, -ENOMEM, NULL);
    return servers;
}

struct local_making {
    struct api_req *r;
    local_put_fn *put;
    struct str answer;
};

/* The answer is made before it is true, because it is stored with what makes it true. */
static int record_local_answer(void *ctx, struct sandbox *sb, struct store_tx *tx)
{
    struct local_making *m = ctx;
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);

    m->put(&w, m->r, sb);
    m->answer = buf_ok(&b) ? arena_str(m->r->arena, buf_str(&b)) : STR_NULL;
    return m->answer.p ? api_record_of(m->r, str_of(sb->id), tx, 201, m->answer) : -ENOMEM;
}

static void on_local_made(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct local_making *m = ctx;

    if (sb)
        api_reply(m->r, 201, "application/json", m->answer);
    else
        klavis_fail(m->r, e->code, e);
}

/* Programs reach mail where it is listened for from the start; a sandbox without costs nothing. */
static const struct json *first_process(struct arena *a, bool has_mail)
{
    static const char *const words[] = {"--keep",         "--listen", "127.0.0.1:49984", "--also",
                                        LOCAL_DOOR,       "--root",   LOCAL_ROOT,        "--imap",
                                        "127.0.0.1:1143", "--smtp",   "127.0.0.1:1587"};
    struct json *args = json_new_array(a);

    for (size_t i = 0; args && i < (has_mail ? ARRAY_LEN(words) : 7); i++)
        (void)json_push(a, args, json_new_str(a, str_of(words[i])));
    return args;
}

int local_create(struct core *core, const struct local_spec *s, sandbox_fn *fn, void *ctx,
                 struct err *e)
{
    char name[SANDBOX_NAME_MAX + 1];

    local_name(s->id, name);
    struct sandbox_create rq = {
        .key = s->key,
        .args = {.name = str_of(name),
                 .has_name = true,
                 .cmd = STR_INIT(LOCAL_PROGRAM),
                 .args = first_process(s->arena, json_pointer(s->extra, "/local/ports") != NULL),
                 .workdir = STR_INIT(LOCAL_ROOT),
                 .timeout_s = s->timeout_s,
                 .extra = s->extra},
        .record = s->record,
        .fn = fn,
        .ctx = ctx,
    };
    return sandbox_create(core->sandboxes, &rq, e);
}

void local_make(struct api_req *r, const struct json *body, const struct json *servers,
                local_put_fn *put_answer)
{
    struct local_making *m = arena_new(r->arena, struct local_making);
    struct err e = ERR_INIT;
    char id[ID_UUID_LEN + 1];

    id_uuid(id);
    const struct json *ttl = json_get(body, "ttl_seconds");
    struct json *local = json_new_object(r->arena), *extra = json_new_object(r->arena);
    (void)json_set(r->arena, local, "id", text(r, str_of(id)));
    (void)json_set(r->arena, local, "benchmark",
                   text(r, json_str(json_get(body, "benchmark"), STR(""))));
    (void)json_set(r->arena, local, "email",
                   text(r, json_str(json_get(body, "test_account_email"), STR(""))));
    (void)json_set(r->arena, local, "servers", servers);
    int code = m && local && extra ? ports_open(locals_ports(r->api->locals), r->arena, local, &e)
                                   : -ENOMEM;
    if (code < 0) {
        klavis_fail(r, code, &e);
        return;
    }
    (void)json_set(r->arena, extra, "local", local);
    struct local_spec spec = {
        .key = r->key,
        .arena = r->arena,
        .id = str_of(id),
        .timeout_s = json_is(ttl, JSON_NULL) ? -1 : json_int(ttl, LOCAL_TTL_DEFAULT_S),
        .extra = extra,
        .record = record_local_answer,
    };
    *m = (struct local_making){.r = r, .put = put_answer};
    code = local_create(r->core, &spec, on_local_made, m, &e);
    if (code < 0) {
        ports_close(locals_ports(r->api->locals), str_of(id));
        klavis_fail(r, code, &e);
    }
}

void local_acquire(struct api_req *r)
{
    struct klavis_input in;

    klavis_input_begin(&in, r);
    struct json *body = klavis_input_body(&in, "AcquireLocalSandboxRequest", NULL, true);
    if (klavis_input_refuse(&in))
        return;
    struct json *servers = local_choose(r, json_get(body, "server_names"));
    if (!servers)
        return;
    local_make(r, body, servers, put_local_lease);
}

/* ---- the others ---- */

struct sandbox *local_find_for(struct api_req *r)
{
    struct str id = api_param(r, "local_sandbox_id");

    if (resets_has(locals_resets(r->api->locals), id)) {
        (void)http_add_header(r->http, "Retry-After", STR("1"));
        api_error(r, 409, "Local sandbox " STR_FMT " is being reset", STR_ARG(id));
        return NULL;
    }
    struct sandbox *sb = locals_find(r->api->locals, id);
    if (!sb)
        sb = locals_find_by_server(r->api->locals, id);

    if (sb && sandbox_is_visible(sb, r->key))
        return sb;
    api_error(r, 404, "Local sandbox " STR_FMT " not found", STR_ARG(str_slice(id, 0, 100)));
    return NULL;
}

void local_show(struct api_req *r)
{
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);
    const struct sandbox *sb = local_find_for(r);

    if (!sb)
        return;
    put_local_sandbox(&w, r, sb, true);
    api_reply_json(r, 200, &b);
}

void local_list(struct api_req *r)
{
    auto_buf struct buf b = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&b);
    int64_t n = 0;

    jw_object(&w);
    jw_key(&w, "local_sandboxes");
    jw_array(&w);
    for (struct sandbox *sb = NULL; (sb = sandbox_next(r->core->sandboxes, sb));) {
        if (!local_of(sb) || !sandbox_is_visible(sb, r->key))
            continue;
        put_local_sandbox(&w, r, sb, true);
        n++;
    }
    jw_end(&w);
    jw_key(&w, "total_count");
    jw_int(&w, n);
    jw_end(&w);
    api_reply_json(r, 200, &b);
}

struct local_ending {
    struct api_req *req;
    struct str id;
    local_ended_fn *fn;
};

static void on_local_released(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct local_ending *x = ctx;

    (void)sb;
    if (e)
        klavis_fail(x->req, e->code, e);
    else
        x->fn(x->req, x->id);
}

void local_end(struct api_req *r, struct sandbox *sb, local_ended_fn *fn)
{
    struct local_ending *x = arena_new(r->arena, struct local_ending);

    if (!x) {
        klavis_fail(r, -ENOMEM, NULL);
        return;
    }
    *x = (struct local_ending){
        .req = r,
        .id = arena_str(r->arena, json_str(json_get(local_of(sb), "id"), STR(""))),
        .fn = fn,
    };
    int code = sandbox_delete(sb, on_local_released, x);
    if (code < 0 && code != -ENOENT) {
        klavis_fail(r, code, NULL);
        return;
    }
    vault_sweep(locals_vault(r->api->locals));
    ports_close(locals_ports(r->api->locals), x->id);
    if (code == -ENOENT)
        fn(r, x->id);
}

static void reply_local_released(struct api_req *r, struct str id)
{
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_pair_str_or_null(&w, "message",
                        arena_printf(r->arena,
                                     "Local sandbox release started for " STR_FMT
                                     ": it will be released asynchronously in background.",
                                     STR_ARG(id)));
    jw_end(&w);
    api_reply_json(r, 200, &b);
}

void local_release(struct api_req *r)
{
    struct sandbox *sb = local_find_for(r);

    if (sb)
        local_end(r, sb, reply_local_released);
}
