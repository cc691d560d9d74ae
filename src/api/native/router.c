/* SPDX-License-Identifier: MIT */
/* /sandbox/{name}/…: the services inside of a sandbox, for its owner or, when its metadata says
 * public, for anybody. Nothing that could be used in the caller's name reaches the service: keys
 * are taken out of headers, query, cookies and Referer; and a browser that brings its key in the
 * address is sent to the same address without it, because scripts of the page could read it there.
 *
 * The same paths belong to the servers of the Klavis surface; their names win. */
#include <errno.h>

#include "api/forward.h"
#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/native/forward.h"
#include "api/native/native.h"
#include "base/enc.h"
#include "core/core.h"
#include "core/metrics.h"
#include "core/sandbox.h"
#include "proxy/html.h"

#define COOKIE API_KEY_COOKIE
enum { COOKIE_MAX = 2048 };

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
    /* From here on faults are told as the native surface does. */
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

static void redirect(struct api_req *r, int status, struct str location)
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
    redirect(r, 301,
             location_of(r, arena_printf(r->arena, "/sandbox/" STR_FMT "/", STR_ARG(name)), NULL));
}

/* ---- who asks ---- */

struct caller {
    struct account_key *key; /* the first valid one; NULL: none */
    struct str token;
    bool is_by_query;
    bool has_token;       /* valid or not */
    bool is_bearer_a_key; /* Authorization is ours, not the service's */
};

static void try_token(struct api_req *r, struct caller *c, struct str token)
{
    if (token.len == 0)
        return;
    c->has_token = true;
    if (c->key)
        return;
    c->key = accounts_find(r->core->accounts, token);
    c->token = token;
}

/* Every place where a key can be is looked at: the service may have its own use for the others. */
static struct caller find_caller(struct api_req *r)
{
    const struct http_headers *h = &r->http->head.headers;
    struct str bearer = api_bearer(http_header_get(h, "authorization"));
    struct caller c = {.key = NULL};

    try_token(r, &c, bearer);
    c.is_bearer_a_key = c.key || (bearer.len > 0 && accounts_is_revoked(r->core->accounts, bearer));
    try_token(r, &c, str_trim(http_header_get(h, "x-api-key")));
    bool is_by_header = c.key != NULL;
    try_token(r, &c, str_trim(api_query(r, "api_key")));
    c.is_by_query = c.key && !is_by_header;
    for (size_t i = 0; i < h->n; i++)
        if (str_iis(h->items[i].name, "cookie")) {
            struct str value = rewrite_cookie_get(h->items[i].value, COOKIE);
            try_token(r, &c, value.p ? http_decode_segment(r->arena, value) : STR_NULL);
        }
    return c;
}

static bool is_public(const struct sandbox *sb)
{
    return str_is(json_str(json_get(sb->spec.metadata, "public"), STR_NULL), "true");
}

/* The sandbox, when the caller may reach it; else answers and returns NULL. Without a key nobody
 * learns which names exist. */
static struct sandbox *admit(struct api_req *r, const struct caller *c)
{
    struct str name = api_param(r, "name");
    struct sandbox *sb = sandbox_find(r->core->sandboxes, name);

    if (!sb)
        sb = sandbox_find_id(r->core->sandboxes, name);
    if (sb && is_public(sb))
        return c->key && !api_admit(r, c->key) ? NULL : sb;
    if (!c->key) {
        metrics_add(r->core->metrics, METRIC_AUTH_FAILED, 1);
        api_fault(r, c->has_token ? API_FAULT_BAD_KEY : API_FAULT_NO_KEY, STR_NULL);
        return NULL;
    }
    if (!api_admit(r, c->key))
        return NULL;
    if (sb && sandbox_is_visible(sb, c->key))
        return sb;
    native_sandbox_fail(r, -ENOENT, NULL);
    return NULL;
}

/* A key in the address is remembered for what the page loads. */
static int set_cookie(struct api_req *r, const struct caller *c, struct str prefix)
{
    struct buf value auto_buf = BUF_INIT(COOKIE_MAX);

    (void)buf_add_lit(&value, COOKIE "=");
    (void)enc_percent(&value, c->token);
    (void)buf_printf(&value, "; Path=" STR_FMT "/; HttpOnly; SameSite=Lax%s", STR_ARG(prefix),
                     r->http->is_tls ? "; Secure" : "");
    return buf_ok(&value) ? http_add_header(r->http, "Set-Cookie", buf_str(&value)) : value.error;
}

static bool is_navigation(const struct http_head *head)
{
    return head->method == HTTP_GET && !head->is_upgrade &&
           str_find(http_header_get(&head->headers, "accept"), STR("text/html")) >= 0;
}

/* ---- pages ---- */

struct page {
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
    struct page *page = ctx;
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
    struct page *page = arena_new(r->arena, struct page);

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

static void pass_on(struct api_req *r, struct sandbox *sb, const struct caller *c,
                    struct str prefix)
{
    static const char *const with_auth[] = {"x-api-key", "authorization", NULL};
    static const char *const without_auth[] = {"x-api-key", NULL};
    uint16_t port = read_port(r, sb);

    if (port == 0)
        return;
    struct str path = arena_printf(r->arena, "/" STR_FMT, STR_ARG(api_param(r, "path")));
    struct proxy_pass pass = {
        .target = path.p ? location_of(r, path, own_params) : STR_NULL,
        .host = arena_printf(r->arena, "localhost:%u", port),
        .rules = {.headers = c->is_bearer_a_key ? with_auth : without_auth,
                  .params = key_param,
                  .cookie = COOKIE,
                  .prefix = prefix},
        .filter = new_page(r, prefix),
    };
    if (!pass.target.p || !pass.host.p || !pass.filter)
        api_fail(r, -ENOMEM, NULL);
    else
        native_forward(r, sb, port, &pass);
}

void native_router(struct api_req *r)
{
    if (leave_to_klavis(r))
        return;
    struct caller c = find_caller(r);
    struct sandbox *sb = admit(r, &c);
    if (!sb)
        return;
    struct str prefix = arena_printf(r->arena, "/sandbox/" STR_FMT, STR_ARG(api_param(r, "name")));
    if (!prefix.p || (c.is_by_query && set_cookie(r, &c, prefix) < 0)) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    if (c.is_by_query && is_navigation(&r->http->head)) {
        (void)http_add_header(r->http, "Cache-Control", STR("no-store"));
        struct str path = arena_printf(r->arena, STR_FMT "/" STR_FMT, STR_ARG(prefix),
                                       STR_ARG(api_param(r, "path")));
        redirect(r, 302, path.p ? location_of(r, path, key_param) : STR_NULL);
        return;
    }
    pass_on(r, sb, &c, prefix);
}
