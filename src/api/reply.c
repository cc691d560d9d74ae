/* SPDX-License-Identifier: MIT */
/* Answers: the one place where handlers' results become HTTP. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "api/internal.h"
#include "api/warn.h"
#include "base/cleanup.h"

enum { FAULT_BODY_MAX = 16384 };

struct str api_param(const struct api_req *r, const char *name)
{
    for (unsigned i = 0; i < r->match.n_params; i++)
        if (str_is(r->match.names[i], name))
            return r->match.params[i];
    return STR_NULL;
}

struct str api_query(const struct api_req *r, const char *name)
{
    return http_query_get(r->arena, r->http->head.query, name);
}

bool api_may_see(const struct api_req *r, struct str account)
{
    return r->key && (r->key->account->role == ACCOUNT_SYSTEM ||
                      str_eq(account, str_of(r->key->account->id)));
}

/* ---- CORS ---- */

/* Keys come by header, never by cookie, so any origin may read the answers. */
void api_add_cors(struct api_req *r)
{
    if (r->has_cors || !r->match.surface->has_cors ||
        !http_header_get(&r->http->head.headers, "origin").p)
        return;
    r->has_cors = true;
    (void)http_add_header(r->http, "Access-Control-Allow-Origin", STR("*"));
    (void)http_add_header(r->http, "Access-Control-Expose-Headers",
                          STR("X-Request-Id, X-Next-Token, X-Total-Running, Retry-After, "
                              "Tidepool-Warning, Mcp-Session-Id, WWW-Authenticate"));
}

void api_options(struct api_req *r)
{
    const struct http_headers *h = &r->http->head.headers;
    struct str wanted = http_header_get(h, "access-control-request-headers");
    char allow[ROUTER_ALLOW_MAX];

    router_allow_text(allow, r->match.allow);
    (void)http_add_header(r->http, "Allow", str_of(allow));
    if (r->match.surface->has_cors && http_header_get(h, "origin").p) {
        (void)http_add_header(r->http, "Access-Control-Allow-Methods", str_of(allow));
        (void)http_add_header(r->http, "Access-Control-Allow-Headers",
                              wanted.len > 0 ? wanted
                                             : STR("Authorization, X-API-Key, Content-Type, "
                                                   "Idempotency-Key"));
        (void)http_add_header(r->http, "Access-Control-Max-Age", STR("86400"));
    }
    api_reply(r, 204, NULL, STR_NULL);
}

/* ---- answers ---- */

void api_reply(struct api_req *r, int status, const char *content_type, struct str body)
{
    api_add_cors(r);
    if (r->warnings && status < 300) {
        api_add_warnings(r);
        body = api_with_warnings(r, body);
    }
    http_reply(r->http, status, content_type, body);
}

void api_reply_json(struct api_req *r, int status, const struct buf *b)
{
    if (buf_ok(b))
        api_reply(r, status, "application/json", buf_str(b));
    else
        api_fail(r, b->error, NULL);
}

static void reply_fault(struct api_req *r, const struct api_fault *f)
{
    struct buf body auto_buf = BUF_INIT(FAULT_BODY_MAX);
    int status = r->match.surface->shape(&body, f);

    if (status == 401)
        (void)http_add_header(r->http, "WWW-Authenticate", STR("Bearer"));
    if (buf_ok(&body))
        api_reply(r, status, "application/json", buf_str(&body));
    else
        api_reply(r, status, NULL, STR_NULL);
}

void api_fault(struct api_req *r, enum api_fault_kind kind, struct str text)
{
    const struct api_fault f = {.kind = kind, .text = text};

    reply_fault(r, &f);
}

void api_error(struct api_req *r, int status, const char *fmt, ...)
{
    va_list ap;
    char text[1024];

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const struct api_fault f = {.kind = API_FAULT_PLAIN, .status = status, .text = str_of(text)};
    reply_fault(r, &f);
}

/* The status of a failed call into core; 500 for what no client can help. */
static int status_of_code(int code)
{
    static const struct {
        int code, status;
    } rows[] = {
        {-EINVAL, 400}, {-ENOENT, 404}, {-EEXIST, 409},  {-EDQUOT, 429}, {-EAGAIN, 429},
        {-EBUSY, 503},  {-ENOMEM, 503}, {-ENOBUFS, 503}, {-ENOSPC, 507},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].code == code)
            return rows[i].status;
    return 500;
}

void api_fail(struct api_req *r, int code, const struct err *e)
{
    const struct err plain = {.code = code};
    const char *why = err_text(e && e->code ? e : &plain);
    int status = status_of_code(code);

    if (status < 500) {
        api_error(r, status, "%s", why);
        return;
    }
    r->cause = arena_printf(r->arena, "%s", why);
    if (status == 503)
        api_fault(r, API_FAULT_BUSY, STR_NULL);
    else if (status == 507)
        api_fault(r, API_FAULT_FULL, STR_NULL);
    else
        api_error(r, status, "internal error, see the log for request %s", r->http->id);
}
