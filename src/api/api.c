/* SPDX-License-Identifier: MIT */
/* The way of a request: see api.h. */
#include "api/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/forward.h"
#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/local/local.h"
#include "api/mcp/tools.h"
#include "api/native/event_streams.h"
#include "api/parse.h"
#include "api/schemas.h"
#include "api/traffic/traffic.h"
#include "api/warn.h"
#include "api/webhook.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/disk_guard.h"
#include "core/limits.h"
#include "core/metrics.h"
#include "loop/work.h"
#include "mcp/http.h"
#include "proxy/proxy.h"

#define E2B_PREFIX "/e2b/v1"

enum { OPENAPI_MAX = 4 << 20 };

/* ---- the last steps: body and handler ---- */

/* For the one who watches the loop. */
static void say_route(const struct api_req *r)
{
    loop_doing(r->core->loop, str_of(http_method_name(r->http->head.method)),
               str_of(r->match.route->pattern));
}

/* What makes something is refused while the disk is nearly full. */
static bool has_disk_room(struct api_req *r)
{
    struct err e = ERR_INIT;

    if (!(r->match.route->flags & (ROUTE_CREATES | ROUTE_REPEATS)) ||
        disk_guard_check(r->core->disk_guard, &e) == 0)
        return true;
    api_fault(r, API_FAULT_FULL, str_of(err_text(&e)));
    return false;
}

void api_begin(struct api_req *r)
{
    say_route(r);
    if (!has_disk_room(r))
        return;
    api_check_query(r);
    if (api_check_body(r))
        r->match.route->handler(r);
}

static void run_handler(struct api_req *r)
{
    if (r->match.route->flags & (ROUTE_CREATES | ROUTE_REPEATS))
        api_idem_run(r);
    else
        api_begin(r);
}

static void on_whole_body(struct http_req *h, void *ctx)
{
    (void)h;
    run_handler(ctx);
}

static void on_long(struct http_req *h, void *ctx)
{
    (void)h;
    api_parse_long(ctx, run_handler);
}

static void on_json(struct http_req *h, void *ctx)
{
    struct api_req *r = ctx;
    struct err e = ERR_INIT;

    say_route(r);
    if (str_trim(h->body).len > 0) {
        r->body = json_parse(r->arena, h->body, NULL, &e);
        if (!r->body && e.code == -ENOMEM) {
            api_fail(r, e.code, &e);
            return;
        }
        if (!r->body) {
            api_fault(r, API_FAULT_BODY_JSON, str_of(err_text(&e)));
            return;
        }
    }
    run_handler(r);
}

static size_t body_limit(const struct api_req *r)
{
    size_t most = (size_t)r->core->config->limits.max_body;
    size_t own = r->match.route->max_body ? r->match.route->max_body : API_BODY_MAX;

    return own < most ? own : most;
}

static void read_whole_body(struct api_req *r)
{
    struct str coding = http_header_get(&r->http->head.headers, "content-encoding");

    if (coding.len > 0 && !str_iis(coding, "identity") && r->match.route->body != ROUTE_STREAM) {
        api_error(r, 415, "content encoding '" STR_FMT "' is not supported", STR_ARG(coding));
        return;
    }
    switch (r->match.route->body) {
    case ROUTE_NO_BODY:
    case ROUTE_STREAM: run_handler(r); return;
    case ROUTE_JSON: http_read_body(r->http, body_limit(r), on_json, r); return;
    case ROUTE_LONG_JSON: http_read_body(r->http, body_limit(r), on_long, r); return;
    case ROUTE_BYTES: http_read_body(r->http, body_limit(r), on_whole_body, r); return;
    }
}

/* ---- who asks ---- */

static void add_rate_headers(struct api_req *r, int64_t retry_s)
{
    int64_t limit = r->key->limits.max_rps;
    struct str wait = arena_printf(r->arena, "%lld", (long long)retry_s);

    (void)http_add_header(r->http, "Retry-After", wait);
    if (limit <= 0)
        return;
    (void)http_add_header(r->http, "RateLimit-Limit",
                          arena_printf(r->arena, "%lld", (long long)limit));
    (void)http_add_header(r->http, "RateLimit-Remaining", STR("0"));
    (void)http_add_header(r->http, "RateLimit-Reset", wait);
}

static bool is_in_quota(struct api_req *r)
{
    struct err e = ERR_INIT;
    int64_t retry_s = 1;
    int code = quota_request(&r->key->use, &r->key->limits, clock_mono_us(), &retry_s, &e);

    if (code == 0 && r->match.route && (r->match.route->flags & ROUTE_CREATES)) {
        code = quota_create_begin(&r->key->use, &r->key->limits, &e);
        r->is_create = code == 0;
    }
    if (code == 0)
        return true;
    metrics_add(r->core->metrics, METRIC_QUOTA_REFUSED, 1);
    add_rate_headers(r, retry_s);
    api_fault(r, API_FAULT_RATE, str_of(err_text(&e)));
    return false;
}

bool api_admit(struct api_req *r, struct account_key *k)
{
    r->key = account_key_ref(k);
    return is_in_quota(r);
}

/* Finds the key that a guarded path needs; false when the request was answered. */
static bool find_key(struct api_req *r)
{
    struct str token = api_token(r->http);
    struct account_key *k = token.p ? accounts_find(r->core->accounts, token) : NULL;

    if (k)
        return api_admit(r, k);
    metrics_add(r->core->metrics, METRIC_AUTH_FAILED, 1);
    api_fault(r, token.p ? API_FAULT_BAD_KEY : API_FAULT_NO_KEY, STR_NULL);
    return false;
}

static bool is_authorised(struct api_req *r, enum route_auth auth)
{
    if (auth == ROUTE_OPEN || (auth == ROUTE_SCRAPE && r->core->config->metrics.public))
        return true;
    if (!find_key(r))
        return false;
    if (r->key->account->role == ACCOUNT_GRADER &&
        !(r->match.route && r->match.route->flags & ROUTE_GRADES)) {
        api_fault(r, API_FAULT_ONLY_GRADES, STR_NULL);
        return false;
    }
    if (r->key->account->role == ACCOUNT_METRICS && auth != ROUTE_SCRAPE) {
        api_fault(r, API_FAULT_ONLY_METRICS, STR_NULL);
        return false;
    }
    if (auth == ROUTE_KEY || r->key->account->role == ACCOUNT_SYSTEM ||
        r->key->account->role == ACCOUNT_METRICS)
        return true;
    api_fault(r, API_FAULT_NOT_SYSTEM, STR_NULL);
    return false;
}

/* ---- from the head on ---- */

static void refuse_unrouted(struct api_req *r, enum router_result result)
{
    if (r->http->head.method == HTTP_OPTIONS && result == ROUTER_NO_METHOD) {
        api_options(r);
        return;
    }
    if (r->match.surface->is_guarded && !is_authorised(r, ROUTE_KEY))
        return;
    if (result == ROUTER_NO_METHOD) {
        char allow[ROUTER_ALLOW_MAX];
        router_allow_text(allow, r->match.allow);
        (void)http_add_header(r->http, "Allow", str_of(allow));
        api_fault(r, API_FAULT_BAD_METHOD, STR_NULL);
        return;
    }
    api_fault(r, result == ROUTER_BAD_PATH ? API_FAULT_BAD_PATH : API_FAULT_NO_ROUTE, STR_NULL);
}

static struct api_req *new_req(struct api *a, struct http_req *h)
{
    struct api_req *r = arena_alloc(h->arena, sizeof *r);

    if (!r)
        return NULL;
    r->http = h;
    r->arena = h->arena;
    r->api = a;
    r->core = a->core;
    r->key = NULL;
    r->body = NULL;
    r->long_body = NULL;
    r->idem = NULL;
    r->forward = NULL;
    r->warnings = NULL;
    r->is_create = false;
    r->has_cors = false;
    r->cause = STR_NULL;
    h->user = r;
    return r;
}

/* Where the E2B control plane is at the root, what it does not have is where it always is. */
static enum router_result find_route(struct api_req *r, bool is_e2b)
{
    const struct http_head *head = &r->http->head;
    struct router_match elsewhere;
    enum router_result result;

    if (!is_e2b || !str_starts(head->path, STR("/")))
        return router_find(r->api->router, r->arena, head->method, head->path, &r->match);
    struct str path = arena_printf(r->arena, E2B_PREFIX STR_FMT, STR_ARG(head->path));
    result = router_find(r->api->router, r->arena, head->method, path, &r->match);
    if (result == ROUTER_NO_PATH && router_find(r->api->router, r->arena, head->method, head->path,
                                                &elsewhere) == ROUTER_FOUND) {
        r->match = elsewhere;
        return ROUTER_FOUND;
    }
    return result;
}

/* A browser asks whether it may send the headers that name a sandbox, so it does not send them yet:
 * whatever the path is, the answer is for the sandbox's service, which lets every origin ask. */
static bool answer_own_preflight(struct api_req *r)
{
    const struct http_headers *h = &r->http->head.headers;
    struct str wanted = http_header_get(h, "access-control-request-headers"), rest = wanted;
    bool is_it = false;

    if (r->http->head.method != HTTP_OPTIONS || !http_header_get(h, "origin").p)
        return false;
    while (rest.p && !is_it)
        is_it = str_iis(str_trim(str_cut(&rest, ',')), "e2b-sandbox-id");
    if (!is_it)
        return false;
    r->match = r->api->traffic;
    (void)http_add_header(r->http, "Access-Control-Allow-Methods",
                          STR("HEAD, GET, POST, PUT, PATCH, DELETE"));
    (void)http_add_header(r->http, "Access-Control-Allow-Headers", wanted);
    (void)http_add_header(r->http, "Access-Control-Max-Age", STR("7200"));
    api_reply(r, 204, NULL, STR_NULL);
    return true;
}

/* What is for a sandbox leaves before any path is looked at. */
static bool handle_traffic(struct api_req *r, bool *is_e2b)
{
    struct destination place;

    destination_find(&place, &r->http->head, str_of(r->core->config->domain));
    if (place.kind == DESTINATION_SANDBOX || place.kind == DESTINATION_BAD) {
        r->match = r->api->traffic;
        traffic_handle(r, &place);
        return true;
    }
    *is_e2b = *is_e2b || place.kind == DESTINATION_E2B;
    return answer_own_preflight(r) || traffic_handle_signed(r);
}

static void handle_request(struct api *a, struct http_req *h, bool is_e2b)
{
    struct api_req *r = new_req(a, h);

    if (!r) {
        http_reply(h, 503, NULL, STR_NULL);
        return;
    }
    if (handle_traffic(r, &is_e2b))
        return;
    enum router_result result = find_route(r, is_e2b);
    if (result != ROUTER_FOUND) {
        refuse_unrouted(r, result);
        return;
    }
    if (is_authorised(r, r->match.route->auth))
        read_whole_body(r);
}

void api_handle(struct http_req *h, void *ctx)
{
    handle_request(ctx, h, false);
}

void api_handle_e2b(struct http_req *h, void *ctx)
{
    handle_request(ctx, h, true);
}

void api_on_error(struct http_req *h, int status, const char *reason, void *ctx)
{
    struct api *a = ctx;
    struct api_req *r = h->user;

    if (!r && (r = new_req(a, h)))
        r->match = (struct router_match){.surface = router_surface(a->router, h->head.path),
                                         .index = router_count(a->router)};
    if (!r) {
        http_reply(h, status, NULL, STR_NULL);
        return;
    }
    api_error(r, status, "%s", reason && *reason ? reason : http_status_text(status));
}

void api_on_done(struct http_req *h, void *ctx)
{
    struct api *a = ctx;
    struct api_req *r = h->user;

    metrics_request(a->core->metrics, r ? r->match.index : router_count(a->router), h->status,
                    clock_mono_us() - h->start_us);
    api_log(h, r);
    if (!r)
        return;
    if (r->idem)
        api_idem_end(r);
    if (r->is_create)
        quota_create_end(&r->key->use);
    account_key_unref(r->key);
    r->key = NULL;
}

/* ---- the API itself ---- */

static int name_routes(struct api *a, struct err *e)
{
    unsigned n = router_count(a->router);
    struct metrics_route *names auto_free = mem_zalloc((size_t)n + 1, sizeof *names);

    if (!names)
        return err_sys(e, -ENOMEM, "metrics");
    for (unsigned i = 0; i < n; i++) {
        const struct route *row = router_route(a->router, i);
        names[i].method = row->method == ROUTE_ANY ? "any" : http_method_name(row->method);
        names[i].pattern = row->pattern;
    }
    return metrics_set_routes(a->core->metrics, names, n, e);
}

int api_write_openapi(struct buf *out)
{
    return openapi_write(out, api_surfaces, api_n_surfaces);
}

static int prepare_api(struct api *a, struct err *e)
{
    buf_init(&a->openapi, OPENAPI_MAX);
    a->router = router_new(api_surfaces, api_n_surfaces, e);
    if (!a->router)
        return -EINVAL;
    router_set_known(a->router, klavis_knows, a->klavis);
    if (router_find(a->router, NULL, HTTP_GET, STR("/sandboxes/router/-/1/"), &a->traffic) !=
        ROUTER_FOUND)
        return err_set(e, -EINVAL, "no route for traffic");
    a->traffic.n_params = 0;
    id_hex(a->boot, sizeof a->boot - 1);
    int r = api_write_openapi(&a->openapi);
    if (r < 0)
        return err_sys(e, r, "API documentation");
    return name_routes(a, e);
}

struct api *api_new(struct core *core, struct err *e)
{
    struct api *a = mem_zalloc(1, sizeof *a);

    if (!a) {
        (void)err_sys(e, -ENOMEM, "API");
        return NULL;
    }
    a->core = core;
    const struct proxy_opts opts = {.loop = core->loop,
                                    .dial = forward_dial,
                                    .ctx = core,
                                    .patience_ms = core->config->timeouts.stream};
    a->ends = (struct sandbox_watch){.fn = forward_end, .on_pause = forward_pause};
    list_init(&a->ends.node);
    if (core->sandboxes)
        sandboxes_watch(core->sandboxes, &a->ends);
    a->proxy = proxy_new(&opts, e);
    a->mcp = a->proxy ? mcp_service_new(core, e) : NULL;
    a->cell = a->mcp ? mcp_cell_new(core, e) : NULL;
    a->schemas = a->cell ? schemas_new(e) : NULL;
    a->klavis = a->schemas ? klavis_new(core, a->schemas, e) : NULL;
    a->locals = a->klavis ? locals_new(core, e) : NULL;
    if (!a->locals || prepare_api(a, e) < 0 || webhook_new(core, &a->webhook, e) < 0) {
        api_free(a);
        return NULL;
    }
    return a;
}

void api_free(struct api *a)
{
    if (!a)
        return;
    if (a->readers)
        work_pool_free(a->readers);
    work_pool_free(a->parsers);
    webhook_free(a->webhook);
    event_streams_free(a->streams);
    locals_free(a->locals);
    klavis_free(a->klavis);
    schemas_free(a->schemas);
    mcp_server_free(a->cell);
    mcp_server_free(a->mcp);
    sandboxes_unwatch(&a->ends);
    proxy_free(a->proxy);
    router_free(a->router);
    buf_done(&a->openapi);
    free(a);
}

void api_set_url(struct api *a, const char *url)
{
    (void)snprintf(a->url, sizeof a->url, "%s", url);
}

int api_set_own_servers(struct api *a, const char *text, struct err *e)
{
    int r = locals_set_own(a->locals, text, e);

    return r < 0 ? r : klavis_set_own(a->klavis, text, e);
}

void api_stop(struct api *a)
{
    event_streams_stop(a->streams);
    webhook_stop(a->webhook);
    mcp_hang_up(a->mcp);
    klavis_stop(a->klavis);
    locals_stop(a->locals);
}

void api_set_server(struct api *a, struct http_server *s)
{
    a->server = s;
}

struct str api_openapi(const struct api *a)
{
    return buf_str(&a->openapi);
}

int api_metrics(struct api *a, struct buf *out)
{
    struct metrics *m = a->core->metrics;

    if (a->server) {
        struct http_server_stats s = http_server_stats(a->server);
        metrics_set(m, METRIC_CONNS, (int64_t)s.active);
        metrics_set(m, METRIC_CONNS_ACCEPTED, (int64_t)s.accepted);
        metrics_set(m, METRIC_CONNS_REJECTED, (int64_t)s.rejected);
    }
    core_sample(a->core);
    int r = metrics_write(out, m);
    return r < 0 ? r : limits_write(out, a->core->limits, a->core->accounts);
}
