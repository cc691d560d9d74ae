/* SPDX-License-Identifier: MIT */
#include "api/origin.h"

#include <errno.h>

#include "api/forward.h"
#include "api/internal.h"
#include "base/cleanup.h"

/* Without allow-same-origin, which is what it is about. */
#define SANDBOX                                                                                    \
    "sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals "  \
    "allow-downloads allow-pointer-lock allow-orientation-lock allow-presentation"

/* Cookies of a whole domain go with it. */
#define OF_DOMAIN "clear-site-data"
/* What a browser keeps for the origin or the host, whichever path said it. */
#define OF_ORIGIN                                                                                  \
    OF_DOMAIN, "strict-transport-security", "alt-svc", "nel", "report-to", "service-worker-allowed"

static const char *const of_domain[] = {OF_DOMAIN, NULL};
static const char *const of_origin[] = {OF_ORIGIN, NULL};
/* Where these are ours. */
static const char *const of_page[] = {OF_ORIGIN, "access-control-allow-origin",
                                      "access-control-allow-credentials",
                                      "access-control-expose-headers", NULL};

static struct str header(const struct http_req *r, const char *name)
{
    return http_header_get(&r->head.headers, name);
}

/* A page of a sandbox asks its own sandbox, but is a stranger by its origin. */
static bool is_from_page(const struct api_req *r, enum origin_kind kind)
{
    return (kind == ORIGIN_PUBLIC || kind == ORIGIN_PAGE) &&
           str_is(header(r->http, "origin"), "null");
}

static int allow_page(struct api_req *r, enum origin_kind kind)
{
    r->has_cors = true;
    if (http_add_header(r->http, "Access-Control-Allow-Origin", STR("null")) < 0 ||
        http_add_header(r->http, "Access-Control-Expose-Headers", STR("*")) < 0)
        return -ENOMEM;
    /* Cookies of the service's own; where anybody may ask, anybody's page would read with them. */
    return kind == ORIGIN_PAGE
               ? http_add_header(r->http, "Access-Control-Allow-Credentials", STR("true"))
               : 0;
}

/* The service inside knows nothing of origins that are not its own: it is answered for. */
static bool answer_origin_preflight(struct api_req *r)
{
    struct str method = header(r->http, "access-control-request-method");
    struct str headers = header(r->http, "access-control-request-headers");

    if (r->http->head.method != HTTP_OPTIONS || method.len == 0)
        return false;
    (void)http_add_header(r->http, "Access-Control-Allow-Methods", method);
    if (headers.len > 0)
        (void)http_add_header(r->http, "Access-Control-Allow-Headers", headers);
    (void)http_add_header(r->http, "Access-Control-Max-Age", STR("600"));
    api_reply(r, 204, NULL, STR_NULL);
    return true;
}

bool origin_guard(struct api_req *r, struct forward *f)
{
    struct rewrite_rules *rules = &f->pass.rules;

    rules->answer_headers = of_domain;
    if (f->origin == ORIGIN_OWN)
        return true;
    rules->answer_headers = of_origin;
    if (http_add_header(r->http, "Content-Security-Policy", STR(SANDBOX)) < 0) {
        api_fail(r, -ENOMEM, NULL);
        return false;
    }
    if (!is_from_page(r, f->origin))
        return true;
    rules->answer_headers = of_page;
    if (allow_page(r, f->origin) < 0) {
        api_fail(r, -ENOMEM, NULL);
        return false;
    }
    return !answer_origin_preflight(r);
}

bool origin_is_visit(const struct http_req *r)
{
    return r->head.method == HTTP_GET && !r->head.is_upgrade &&
           str_find(header(r, "accept"), STR("text/html")) >= 0;
}

/* Browsers say where a request comes from over TLS and on loopback alone. */
static bool is_silent_browser(const struct http_req *r)
{
    return !header(r, "sec-fetch-site").p && str_starts(header(r, "user-agent"), STR("Mozilla/"));
}

bool origin_is_own(const struct http_req *r)
{
    struct str site = header(r, "sec-fetch-site"), origin = header(r, "origin");
    ptrdiff_t at = str_find(origin, STR("://"));

    if (site.p && !str_is(site, "same-origin") && !str_is(site, "none"))
        return false;
    if (is_silent_browser(r) && !origin_is_visit(r))
        return false;
    return !origin.p || (at >= 0 && str_ieq(str_skip(origin, (size_t)at + 3), r->head.host));
}
