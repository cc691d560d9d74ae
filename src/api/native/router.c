/* SPDX-License-Identifier: MIT */
/* /sandbox/{name}/…: the services inside a sandbox, for its owner or, when its metadata says
 * public, for anybody. Nothing that could be used in the caller's name reaches the service: keys
 * are taken out of headers, query, cookies and Referer.
 *
 * A browser that opens a page here is led to where the page can do no harm to others: to the host
 * that the sandbox has to itself, when it came by a name of the domain; else to an address with a
 * token for this one sandbox in it (view.h), where pages have no origin (origin.h).
 *
 * The same paths belong to the servers of the Klavis surface; their names win. */
#include <errno.h>

#include "api/forward.h"
#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/native/forward.h"
#include "api/native/native.h"
#include "api/native/visitor.h"
#include "api/traffic/traffic.h"
#include "api/view.h"
#include "core/config.h"
#include "core/core.h"
#include "core/sandbox.h"
#include "proxy/destination.h"
#include "proxy/html.h"

static const char *const key_param[] = {"api_key", NULL};
static const char *const own_params[] = {"api_key", "port", NULL};

/* ---- whose name it is ---- */

/* What cannot be the name of a sandbox is that of a server. */
static bool is_klavis(struct str name)
{
    return !sandbox_name_is_valid(name) || sandbox_name_is_reserved(name);
}

/* True when the request was for a server and is answered. */
static bool leave_to_klavis(struct api_req *r)
{
    if (is_klavis(api_param(r, "name"))) {
        klavis_unknown(r);
        return true;
    }
    /* From here on faults are reported as the native surface does. */
    r->match.surface = &surface_native;
    return false;
}

/* PATH and the rest of the query without the parameters NAMES. */
static struct str location_of(struct api_req *r, struct str path, const char *const *names)
{
    struct str query = rewrite_query(r->arena, r->http->head.query, names);

    if (!query.p)
        return STR_NULL;
    return arena_printf(r->arena, STR_FMT "%s" STR_FMT, STR_ARG(path), query.len ? "?" : "",
                        STR_ARG(query));
}

static void redirect_visitor(struct api_req *r, int status, struct str location)
{
    if (!location.p || http_add_header(r->http, "Location", location) < 0)
        api_fail(r, -ENOMEM, NULL);
    else
        api_reply(r, status, NULL, STR_NULL);
}

void native_router_slash(struct api_req *r)
{
    struct str name = api_param(r, "name");

    if (leave_to_klavis(r))
        return;
    redirect_visitor(
        r, 301,
        location_of(r, arena_printf(r->arena, "/sandbox/" STR_FMT "/", STR_ARG(name)), NULL));
}

/* PREFIX with the port of a service behind it, unless that is 0: links that begin so lead to that
 * port again, where a query would be lost. */
static struct str location_of_port(struct api_req *r, struct str prefix, uint16_t port)
{
    return port > 0 ? arena_printf(r->arena, STR_FMT "/~%u", STR_ARG(prefix), port) : prefix;
}

/* ---- pages ---- */

struct port_path_page {
    struct proxy_filter filter;
    struct html_scan scan;
    struct str base;
};

static bool page_begin(void *ctx, const struct http_head *head, int64_t *length)
{
    struct str type = http_header_get(&head->headers, "content-type");
    struct str coding = http_header_get(&head->headers, "content-encoding");

    (void)ctx;
    type = str_trim(str_cut(&type, ';'));
    if (!str_iis(type, "text/html") || head->status == 206 ||
        (coding.len > 0 && !str_iis(coding, "identity")))
        return false;
    *length = -1;
    return true;
}

static void page_data(void *ctx, struct http_req *r, const char *p, size_t len)
{
    struct port_path_page *page = ctx;
    ptrdiff_t at = page->scan.is_over ? -1 : html_find_head(&page->scan, p, len);

    if (at < 0) {
        (void)http_write(r, p, len);
        return;
    }
    (void)http_write(r, p, (size_t)at);
    (void)http_write(r, page->base.p, page->base.len);
    (void)http_write(r, p + at, len - (size_t)at);
}

static const struct proxy_filter *new_page(struct api_req *r, struct str prefix)
{
    struct port_path_page *page = arena_new(r->arena, struct port_path_page);

    if (!page)
        return NULL;
    page->base = arena_printf(r->arena, "<base href=\"" STR_FMT "/\">", STR_ARG(prefix));
    page->filter = (struct proxy_filter){.begin = page_begin, .data = page_data, .ctx = page};
    return page->base.p ? &page->filter : NULL;
}

/* ---- passing on ---- */

/* The port that is asked for; 0 after answering. */
static uint16_t read_port(struct api_req *r, const struct sandbox *sb)
{
    struct str text = api_query(r, "port");
    int64_t port = sb->spec.port;

    if (text.p && str_to_i64(text, &port) < 0)
        port = 0;
    if (port >= 1 && port <= UINT16_MAX)
        return (uint16_t)port;
    api_error(r, 400, "invalid port \"" STR_FMT "\": 1 to 65535", STR_ARG(str_slice(text, 0, 100)));
    return 0;
}

/* The address alone may show that a page of the sandbox itself asks. */
static enum origin_kind origin_of(const struct visitor *v)
{
    if (v->has_view)
        return ORIGIN_PAGE;
    return visitor_is_anybody(v) ? ORIGIN_PUBLIC : ORIGIN_SHARED;
}

static void pass_on(struct api_req *r, const struct visitor *v, uint16_t port)
{
    static const char *const with_auth[] = {"x-api-key", "authorization", NULL};
    static const char *const without_auth[] = {"x-api-key", NULL};
    struct str path = arena_printf(r->arena, "/" STR_FMT, STR_ARG(v->path));
    struct str prefix = location_of_port(r, v->prefix, port == v->sandbox->spec.port ? 0 : port);
    struct proxy_pass pass = {
        .target = path.p ? location_of(r, path, own_params) : STR_NULL,
        .host = arena_printf(r->arena, "localhost:%u", port),
        .rules = {.headers = v->is_bearer_a_key ? with_auth : without_auth,
                  .params = key_param,
                  .prefix = prefix,
                  .cookie_path = v->top},
        .filter = new_page(r, prefix),
    };

    if (!pass.target.p || !pass.host.p || !prefix.p || !pass.filter)
        api_fail(r, -ENOMEM, NULL);
    else
        native_forward(r, v->sandbox, port, origin_of(v), &pass);
}

/* ---- leading browsers ---- */

/* A program that has its key in a header is no browser. */
static bool is_navigation(const struct http_req *h, const struct visitor *v)
{
    return v->way != VISITOR_BY_HEADER && origin_is_visit(h);
}

/* True when PORT has a host to itself that the browser can reach, and R was led there. */
static bool lead_to_host(struct api_req *r, const struct visitor *v, uint16_t port)
{
    const struct sandbox *sb = v->sandbox;

    if (!sb->access.is_public || port == TRAFFIC_ENVD_PORT)
        return false;
    struct str host = destination_host(r->arena, r->http->head.host,
                                       str_of(r->core->config->domain), port, sb->id);
    if (!host.p)
        return false;
    /* By whichever of http and https the browser came. */
    struct str path =
        arena_printf(r->arena, "//" STR_FMT "/" STR_FMT, STR_ARG(host), STR_ARG(v->path));
    redirect_visitor(r, 302, path.p ? location_of(r, path, own_params) : STR_NULL);
    return true;
}

static void lead_to_view(struct api_req *r, const struct visitor *v, struct str token)
{
    struct str at = arena_printf(r->arena, STR_FMT "/~" STR_FMT, STR_ARG(v->top), STR_ARG(token));
    struct str path = arena_printf(r->arena, STR_FMT "/" STR_FMT,
                                   STR_ARG(location_of_port(r, at, v->port)), STR_ARG(v->path));

    redirect_visitor(r, 302, path.p ? location_of(r, path, key_param) : STR_NULL);
}

/* A key in the address is not left where scripts of the page could read it. */
static bool needs_view(const struct visitor *v)
{
    return v->way == VISITOR_BY_QUERY || v->way == VISITOR_BY_COOKIE;
}

static void pass_to_port(struct api_req *r, const struct visitor *v, uint16_t port)
{
    struct str token = needs_view(v) ? view_token(r, v->sandbox, v->key) : STR("");

    if (!token.p || (v->way == VISITOR_BY_QUERY && visitor_set_cookie(v, r, token) < 0)) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    if (!is_navigation(r->http, v)) {
        pass_on(r, v, port);
        return;
    }
    if (needs_view(v))
        (void)http_add_header(r->http, "Cache-Control", STR("no-store"));
    if (lead_to_host(r, v, port))
        return;
    if (needs_view(v))
        lead_to_view(r, v, token);
    else
        pass_on(r, v, port);
}

void native_router(struct api_req *r)
{
    struct visitor v;

    if (leave_to_klavis(r))
        return;
    if (visitor_read(&v, r) < 0) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    if (!visitor_admit(&v, r))
        return;
    uint16_t port = v.port > 0 ? v.port : read_port(r, v.sandbox);
    if (port != 0)
        pass_to_port(r, &v, port);
}
