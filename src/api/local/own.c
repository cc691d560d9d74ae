/* SPDX-License-Identifier: MIT */
/* Servers of the operator's own in local sandboxes (docs/adr/0009): their messages are passed on
 * to tidepool-local, which speaks with the programs. */
#include "core/own_server.h"

#include <errno.h>

#include "api/forward.h"
#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/local/ask.h"
#include "api/local/local.h"
#include "base/cleanup.h"
#include "core/sandbox.h"

enum { ANSWER_MAX = 2 << 20 };

/* ---- messages ---- */

static void on_own_server_refuse(struct api_req *r, const struct forward *f, const struct err *e)
{
    (void)f;
    api_error(r, 503, "The local sandbox cannot be used: %s", err_text(e));
}

static void on_own_server_fail(struct api_req *r, const struct forward *f,
                               const struct proxy_fault *fault)
{
    (void)f;
    api_error(r, fault->status, "The local sandbox does not respond: %s", fault->why);
}

/* The program that was asked is there: the request can be passed on as it comes. */
static void on_up(void *ctx, struct str body, const char *why)
{
    static const char *const dropped[] = {"authorization", "cookie", "x-api-key", NULL};
    struct api_req *r = ctx;
    struct str name = api_param(r, "own_server");
    const struct own_server *own = own_server_find(locals_own(r->api->locals), name);
    struct sandbox *sb = locals_find(r->api->locals, api_query(r, "local_sandbox_id"));

    (void)body;
    if (why || !own || !sb) {
        api_error(r, 503, "%s", why ? why : "the sandbox has ended");
        return;
    }
    const struct forward f = {
        .sandbox = sb,
        .port = LOCAL_PORT,
        .pass = {.target = arena_printf(r->arena, "/_stdio/%s?%s", own->name, own->settings),
                 .rules = {.headers = dropped}},
        .refuse = on_own_server_refuse,
        .fail = on_own_server_fail,
    };
    if (f.pass.target.p)
        forward_start(r, &f);
    else
        api_fail(r, -ENOMEM, NULL);
}

void local_own_mcp(struct api_req *r)
{
    struct str name = api_param(r, "own_server");
    struct sandbox *sb = locals_find(r->api->locals, api_query(r, "local_sandbox_id"));

    if (!sb || !local_has_server(sb, name)) {
        api_error(r, 404, "Local sandbox not found: it was released, or does not have this server");
        return;
    }
    if (!own_server_find(locals_own(r->api->locals), name)) {
        api_error(r, 404, "The server " STR_FMT " is no longer in the configuration",
                  STR_ARG(str_slice(name, 0, OWN_NAME_MAX)));
        return;
    }
    api_add_cors(r);
    local_ask(&(struct local_ask){
        .locals = r->api->locals,
        .sandbox = sb,
        .arena = r->arena,
        .target = arena_printf(r->arena, "/_stdio/" STR_FMT "/up", STR_ARG(name)),
        .body = STR_INIT(""),
        .may_repeat = true,
        .fn = on_up,
        .ctx = r,
    });
}

/* ---- logs ---- */

static void on_own_server_log(void *ctx, struct str body, const char *why)
{
    struct api_req *r = ctx;
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);

    if (why) {
        api_error(r, 503, "%s", why);
        return;
    }
    const struct json *v = json_parse(r->arena, body, NULL, NULL);
    jw_object(&w);
    jw_key(&w, "server_name");
    jw_str(&w, api_param(r, "server_name"));
    jw_key(&w, "log");
    jw_str(&w, json_str(json_get(v, "log"), STR("")));
    jw_end(&w);
    api_reply_json(r, 200, &b);
}

void local_own_log(struct api_req *r)
{
    struct str name = api_param(r, "server_name");
    struct sandbox *sb = local_find_for(r);

    if (!sb)
        return;
    if (!local_has_server(sb, name) || !own_server_find(locals_own(r->api->locals), name)) {
        api_error(r, 404, "The local sandbox has no server of that name that keeps a log");
        return;
    }
    local_ask(&(struct local_ask){
        .locals = r->api->locals,
        .sandbox = sb,
        .arena = r->arena,
        .target = arena_printf(r->arena, "/_stdio/" STR_FMT "/log", STR_ARG(name)),
        .body = STR_INIT(""),
        .may_repeat = true,
        .fn = on_own_server_log,
        .ctx = r,
    });
}
