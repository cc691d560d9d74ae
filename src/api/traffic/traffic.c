/* SPDX-License-Identifier: MIT */
/* Traffic into sandboxes: see traffic.h. */
#include "api/traffic/traffic.h"

#include <errno.h>

#include "api/forward.h"
#include "api/internal.h"
#include "api/traffic/framed.h"
#include "base/cleanup.h"
#include "core/core.h"
#include "core/sandbox.h"

enum { DROPPED_MAX = 8 };

/* ---- faults ---- */

static bool is_unreachable(int code)
{
    return code == -ECONNREFUSED || code == -EADDRNOTAVAIL || code == -ENETUNREACH ||
           code == -EHOSTUNREACH;
}

static void on_traffic_refuse(struct api_req *r, const struct forward *f, const struct err *e)
{
    if (e->code == -ENOENT || e->code == -EHOSTDOWN)
        traffic_not_found(r, str_of(f->sandbox->id));
    else
        api_fail(r, e->code, e);
}

static void on_traffic_fail(struct api_req *r, const struct forward *f,
                            const struct proxy_fault *fault)
{
    struct str id = str_of(f->sandbox->id);

    if (fault->code == -EHOSTDOWN || (fault->status == 502 && !sandbox_cell(f->sandbox)))
        traffic_not_found(r, id);
    else if (fault->status == 502 && f->port != FORWARD_OWN && is_unreachable(fault->code))
        traffic_fault(r, &(struct traffic_fault){502, id, f->port,
                                                 "The sandbox is running but port is not open"});
    else
        traffic_fault(r, &(struct traffic_fault){fault->status, id, 0, fault->why});
}

/* ---- who may ---- */

/* Paths of E2B's service that its control plane alone may ask for. */
static bool is_reserved_port(struct str path)
{
    static const char *const paths[] = {"/init",     "/freeze", "/unfreeze", "/collapse",
                                        "/fsfreeze", "/fsthaw", "/upgrade"};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (str_is(path, paths[i]))
            return true;
    return false;
}

static bool has_envd_token(struct api_req *r, const struct traffic *t, const struct sandbox *sb)
{
    const struct sandbox_access *a = &sb->access;
    struct str given = http_header_get(&r->http->head.headers, "x-access-token");

    if (t->is_proven || !a->is_secure || (given.p && sandbox_token_is(a->envd_token, given)))
        return true;
    const struct signature *s = traffic_signature(r);
    return s && traffic_is_signed_with(s, a->envd_token);
}

/* The service checks its token itself; but nobody without it may wake the sandbox. */
static bool admit_envd(struct api_req *r, const struct traffic *t, const struct sandbox *sb)
{
    struct str rest = t->target;

    if (is_reserved_port(str_cut(&rest, '?'))) {
        traffic_fault(r, &(struct traffic_fault){
                             404, t->id, 0,
                             "This endpoint is reserved for the E2B control plane and is not "
                             "reachable through the sandbox URL"});
        return false;
    }
    if (sandbox_state(sb) != SANDBOX_PAUSED || has_envd_token(r, t, sb))
        return true;
    traffic_not_found(r, t->id);
    return false;
}

#define TOKEN_HEADER "e2b-traffic-access-token"

static bool admit_port(struct api_req *r, const struct traffic *t, const struct sandbox *sb)
{
    struct str given = http_header_get(&r->http->head.headers, TOKEN_HEADER);

    if (sb->access.is_public || (given.p && sandbox_token_is(sb->access.traffic_token, given)))
        return true;
    traffic_fault(r, &(struct traffic_fault){
                         403, t->id, 0,
                         given.p ? "Sandbox is secured with traffic access token. Provided token "
                                   "in header '" TOKEN_HEADER "' is invalid"
                                 : "Sandbox is secured with traffic access token. Token header "
                                   "'" TOKEN_HEADER "' is missing"});
    return false;
}

/* ---- what the service sees ---- */

static bool is_traffic_token(const struct api_req *r, struct str token)
{
    return token.len > 0 && (accounts_find(r->core->accounts, token) ||
                             accounts_is_revoked(r->core->accounts, token));
}

/* The headers that stay here: keys of ours, and what belongs to the way in. */
static const char *const *dropped_headers(struct api_req *r)
{
    const struct http_headers *h = &r->http->head.headers;
    const char **names = arena_zalloc(r->arena, DROPPED_MAX, sizeof *names);
    size_t n = 0;

    if (!names)
        return NULL;
    names[n++] = TRAFFIC_BOOT_HEADER;
    names[n++] = TOKEN_HEADER;
    if (is_traffic_token(r, str_trim(http_header_get(h, "x-api-key"))))
        names[n++] = "x-api-key";
    if (is_traffic_token(r, api_bearer(http_header_get(h, "authorization"))))
        names[n++] = "authorization";
    return names;
}

static const char *const key_param[] = {"api_key", NULL};

/* TARGET without a key of ours. .p is NULL when memory ran out. */
static struct str clean_target(struct api_req *r, struct str target)
{
    if (r->http->head.query.len == 0 || !is_traffic_token(r, str_trim(api_query(r, "api_key"))))
        return target;
    return rewrite_url(r->arena, target, key_param);
}

/* MASK with the port in place of "${PORT}". */
static struct str masked_host(struct api_req *r, struct str mask, uint16_t port)
{
    ptrdiff_t at = str_find(mask, STR("${PORT}"));

    if (at < 0)
        return mask;
    return arena_printf(r->arena, STR_FMT "%u" STR_FMT, (int)at, mask.p, port,
                        STR_ARG(str_skip(mask, (size_t)at + sizeof "${PORT}" - 1)));
}

static struct str host_of(struct api_req *r, const struct traffic *t, const struct sandbox *sb)
{
    struct str host = r->http->head.host;

    if (sb->access.mask_host.len > 0)
        return masked_host(r, sb->access.mask_host, t->port);
    return t->prefix.len || host.len == 0 ? arena_printf(r->arena, "localhost:%u", t->port) : host;
}

/* ---- passing on ---- */

static void fill_envd(struct api_req *r, const struct traffic *t, struct forward *f)
{
    struct http_header *boot = arena_new(r->arena, struct http_header);

    if (!boot)
        return;
    *boot = (struct http_header){STR(TRAFFIC_BOOT_HEADER), str_of(r->api->boot)};
    f->port = FORWARD_OWN;
    f->pass.target = arena_printf(r->arena, "/e2b" STR_FMT, STR_ARG(clean_target(r, t->target)));
    f->pass.host = STR("localhost");
    f->pass.rules.add = boot;
    f->pass.rules.n_add = 1;
    f->pass.filter = framed_new(r, f->sandbox);
}

static void fill_port(struct api_req *r, const struct traffic *t, struct forward *f)
{
    f->port = t->port;
    f->pass.target = clean_target(r, t->target);
    f->pass.host = host_of(r, t, f->sandbox);
}

static void pass_to_sandbox(struct api_req *r, const struct traffic *t, struct sandbox *sb)
{
    bool is_envd = t->port == TRAFFIC_ENVD_PORT;
    struct forward f = {
        .sandbox = sb,
        .origin = t->origin,
        .pass.rules = {.headers = dropped_headers(r),
                       .params = key_param,
                       .prefix = t->prefix,
                       .cookie_path = t->prefix},
        .refuse = on_traffic_refuse,
        .fail = on_traffic_fail,
    };

    if (is_envd ? !admit_envd(r, t, sb) : !admit_port(r, t, sb))
        return;
    if (is_envd)
        fill_envd(r, t, &f);
    else
        fill_port(r, t, &f);
    if (f.pass.rules.headers && f.pass.target.p && f.pass.host.p)
        forward_start(r, &f);
    else
        api_fail(r, -ENOMEM, NULL);
}

/* ---- the ways in ---- */

void traffic_handle(struct api_req *r, const struct destination *place)
{
    const struct http_head *head = &r->http->head;
    struct sandbox *sb = sandbox_find_id(r->core->sandboxes, str_of(place->id));
    struct traffic t = {.id = str_of(place->id), .port = place->port, .target = head->target};

    /* The address alone does not say whose answer it is: browsers must not keep it for others. */
    if (place->is_by_host)
        t.origin = ORIGIN_OWN;
    else
        (void)http_add_header(r->http, "Vary", STR("E2b-Sandbox-Id, E2b-Sandbox-Port"));
    /* A target may be a whole URL: the service gets its own part of it. */
    if (t.target.len && t.target.p[0] != '/' && str_starts(head->path, STR("/")))
        t.target = arena_printf(r->arena, STR_FMT "%s" STR_FMT, STR_ARG(head->path),
                                head->query.p ? "?" : "", STR_ARG(head->query));
    if (place->kind == DESTINATION_BAD)
        api_error(r, 400, "%s", place->why);
    else if (sb)
        pass_to_sandbox(r, &t, sb);
    else
        traffic_not_found(r, t.id);
}

void traffic_router(struct api_req *r)
{
    const struct http_head *head = &r->http->head;
    struct str id = api_param(r, "id"), port = api_param(r, "port"), path = api_param(r, "path");
    struct traffic t = {.id = id, .port = destination_port(port)};

    if (t.port == 0) {
        api_error(r, 400, "invalid port \"" STR_FMT "\": 1 to 65535",
                  STR_ARG(str_slice(port, 0, 100)));
        return;
    }
    struct sandbox *sb = sandbox_find_id(r->core->sandboxes, id);
    /* Clients of the service ask whether a sandbox is there; people ask for a path. */
    if (!sb && t.port == TRAFFIC_ENVD_PORT)
        traffic_not_found(r, str_slice(id, 0, DESTINATION_ID_MAX));
    else if (!sb)
        api_error(r, 404, "sandbox " STR_FMT " not found", STR_ARG(str_slice(id, 0, 100)));
    if (!sb)
        return;
    t.id = str_of(sb->id);
    /* The service of a sandbox speaks with other origins itself. */
    t.origin = t.port == TRAFFIC_ENVD_PORT ? ORIGIN_SHARED : ORIGIN_PAGE;
    t.prefix = arena_printf(r->arena, "/sandboxes/router/%s/%u", sb->id, t.port);
    t.target = arena_printf(r->arena, "/" STR_FMT "%s" STR_FMT, STR_ARG(path),
                            head->query.p ? "?" : "", STR_ARG(head->query));
    pass_to_sandbox(r, &t, sb);
}

bool traffic_handle_signed(struct api_req *r)
{
    const struct signature *s = traffic_signature(r);
    bool is_busy = false;

    if (!s)
        return false;
    r->match = r->api->traffic;
    struct sandbox *sb = traffic_find_signer(&r->api->tries, r->core, s, &is_busy);
    if (sb) {
        const struct traffic t = {.id = str_of(sb->id),
                                  .port = TRAFFIC_ENVD_PORT,
                                  .target = r->http->head.target,
                                  .is_proven = true};
        pass_to_sandbox(r, &t, sb);
    } else if (is_busy) {
        (void)http_add_header(r->http, "Retry-After", STR("1"));
        api_error(r, 429, "too many signature checks are pending, please retry");
    } else {
        api_error(r, 401, "invalid signature");
    }
    return true;
}
