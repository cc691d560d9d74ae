/* SPDX-License-Identifier: MIT */
#include "api/native/visitor.h"

#include <errno.h>

#include "api/internal.h"
#include "api/native/native.h"
#include "api/origin.h"
#include "api/view.h"
#include "base/cleanup.h"
#include "core/core.h"
#include "core/metrics.h"
#include "core/sandbox.h"
#include "proxy/destination.h"
#include "proxy/rewrite.h"

enum { COOKIE_MAX = 1024 };

/* ---- where to ---- */

static struct sandbox *find_sandbox(const struct api_req *r, struct str name)
{
    struct sandbox *sb = sandbox_find(r->core->sandboxes, name);

    return sb ? sb : sandbox_find_id(r->core->sandboxes, name);
}

/* Takes "~PORT" off the begin of a path: what relative links of a page of another port than the
 * sandbox's own begin with. 0 when it begins otherwise. */
static uint16_t cut_port(struct str *path)
{
    struct str rest = *path, word = str_cut(&rest, '/');
    uint16_t port = str_starts(word, STR("~")) ? destination_port(str_skip(word, 1)) : 0;

    if (port != 0)
        *path = rest.p ? rest : STR("");
    return port;
}

/* The path behind "/sandbox/NAME/", and whether there is a token at its start. */
static int read_visitor_address(struct visitor *v, struct api_req *r, struct str *ret_token)
{
    struct str name = api_param(r, "name"), path = api_param(r, "path");

    /* The row of "/sandbox/{name}/mcp" has no such parameter. */
    v->path = path.p ? path : STR("mcp");
    v->sandbox = find_sandbox(r, name);
    v->top = v->prefix = arena_printf(r->arena, "/sandbox/" STR_FMT, STR_ARG(name));
    *ret_token = view_cut(&v->path);
    if (ret_token->p)
        v->prefix =
            arena_printf(r->arena, STR_FMT "/~" STR_FMT, STR_ARG(v->top), STR_ARG(*ret_token));
    v->port = cut_port(&v->path);
    return v->top.p && v->prefix.p ? 0 : -ENOMEM;
}

/* ---- who ---- */

static void take_visitor_key(struct visitor *v, struct account_key *k, enum visitor_way way)
{
    v->has_token = true;
    if (v->key || !k)
        return;
    v->key = k;
    v->way = way;
}

static void try_key(struct visitor *v, const struct api_req *r, struct str token,
                    enum visitor_way way)
{
    if (token.len > 0)
        take_visitor_key(v, accounts_find(r->core->accounts, token), way);
}

static void try_view(struct visitor *v, struct api_req *r, struct str token, enum visitor_way way)
{
    if (token.len > 0)
        take_visitor_key(v, v->sandbox ? view_find(r, v->sandbox, token) : NULL, way);
}

/* There may be several: pages of other hosts of the domain can set more of that name. */
static void try_cookies(struct visitor *v, struct api_req *r, const char *name)
{
    const struct http_headers *h = &r->http->head.headers;

    for (size_t i = 0; i < h->n; i++) {
        struct str rest = h->items[i].value, token;
        while (str_iis(h->items[i].name, "cookie") && (token = rewrite_cookie_next(&rest, name)).p)
            try_view(v, r, token, VISITOR_BY_COOKIE);
    }
}

/* Every place where a key can be is looked at: the service may have its own use for the others. */
int visitor_read(struct visitor *ret, struct api_req *r)
{
    const struct http_headers *h = &r->http->head.headers;
    struct str bearer = api_bearer(http_header_get(h, "authorization")), token;

    *ret = (struct visitor){.way = VISITOR_UNKNOWN};
    if (read_visitor_address(ret, r, &token) < 0)
        return -ENOMEM;
    try_key(ret, r, bearer, VISITOR_BY_HEADER);
    ret->is_bearer_a_key =
        ret->key || (bearer.len > 0 && accounts_is_revoked(r->core->accounts, bearer));
    try_key(ret, r, str_trim(http_header_get(h, "x-api-key")), VISITOR_BY_HEADER);
    ret->has_view = token.p && ret->sandbox && view_find(r, ret->sandbox, token);
    try_view(ret, r, token, VISITOR_BY_ADDRESS);
    try_key(ret, r, str_trim(api_query(r, "api_key")), VISITOR_BY_QUERY);
    if (origin_is_own(r->http)) {
        try_cookies(ret, r, VIEW_COOKIE_SECURE);
        try_cookies(ret, r, VIEW_COOKIE);
    }
    return 0;
}

bool visitor_is_anybody(const struct visitor *v)
{
    return str_is(json_str(json_get(v->sandbox->spec.metadata, "public"), STR_NULL), "true");
}

bool visitor_admit(const struct visitor *v, struct api_req *r)
{
    if (v->sandbox && visitor_is_anybody(v))
        return !v->key || api_admit(r, v->key);
    if (!v->key) {
        metrics_add(r->core->metrics, METRIC_AUTH_FAILED, 1);
        api_fault(r, v->has_token ? API_FAULT_BAD_KEY : API_FAULT_NO_KEY, STR_NULL);
        return false;
    }
    if (!api_admit(r, v->key))
        return false;
    if (v->sandbox && sandbox_is_visible(v->sandbox, v->key))
        return true;
    native_sandbox_fail(r, -ENOENT, NULL);
    return false;
}

/* ---- who comes again ---- */

static bool is_secure(const struct http_req *r)
{
    return r->is_tls || str_iis(http_header_get(&r->head.headers, "x-forwarded-proto"), "https");
}

int visitor_set_cookie(const struct visitor *v, struct api_req *r, struct str token)
{
    struct buf value auto_buf = BUF_INIT(COOKIE_MAX);
    bool secure = is_secure(r->http);

    (void)buf_printf(&value, "%s=" STR_FMT "; Path=" STR_FMT "/; HttpOnly; SameSite=Strict%s",
                     secure ? VIEW_COOKIE_SECURE : VIEW_COOKIE, STR_ARG(token), STR_ARG(v->top),
                     secure ? "; Secure" : "");
    return buf_ok(&value) ? http_add_header(r->http, "Set-Cookie", buf_str(&value)) : value.error;
}
