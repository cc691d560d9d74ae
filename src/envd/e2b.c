/* SPDX-License-Identifier: MIT */
/* The E2B face of a cell: routes, tokens, users. See e2b.h. */
#include "envd/e2b.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/mem.h"
#include "envd/serve_internal.h"

#define REFUSED                                                                                    \
    "unauthorized access, please provide a valid access token or method signing if supported"
#define CORS_METHODS "HEAD, GET, POST, PUT, PATCH, DELETE"
#define CORS_EXPOSED                                                                               \
    "Location, Cache-Control, X-Content-Type-Options, Grpc-Status, Grpc-Message, "                 \
    "Grpc-Status-Details-Bin"

enum { BASIC_MAX = 4096, ERROR_MAX = 64 << 10 };

static const struct connect_method *const services[] = {
    e2b_process_methods,
    e2b_filesystem_methods,
    e2b_watch_methods,
};

static const struct {
    const char *path;
    enum http_method method;
    bool is_open; /* the token is not asked for here; the handler may check by itself */
    void (*handle)(struct serve *s, struct http_req *r);
} paths[] = {
    {"/health", HTTP_GET, true, e2b_health},
    {"/metrics", HTTP_GET, false, e2b_metrics},
    {"/envs", HTTP_GET, false, e2b_envs},
    {"/files", HTTP_GET, true, e2b_files_get},
    {"/files", HTTP_POST, true, e2b_files_post},
    {"/files/compose", HTTP_POST, false, e2b_files_compose},
};

/* ---- answers ---- */

void e2b_fail(struct http_req *r, int status, const char *fmt, ...)
{
    auto_buf struct buf b = BUF_INIT(ERROR_MAX);
    struct jw w = jw_to(&b);
    va_list ap;

    va_start(ap, fmt);
    struct str text = arena_vprintf(r->arena, fmt, ap);
    va_end(ap);
    jw_object(&w);
    jw_key(&w, "code");
    jw_int(&w, status);
    jw_key(&w, "message");
    jw_str(&w, text.p ? text : STR("out of memory"));
    jw_end(&w);
    (void)buf_add_char(&b, '\n');
    (void)http_add_header(r, "X-Content-Type-Options", STR("nosniff"));
    http_reply(r, status, "application/json; charset=utf-8",
               buf_ok(&b) ? buf_str(&b) : STR("{\"code\":500,\"message\":\"out of memory\"}\n"));
}

void e2b_json(struct http_req *r, struct buf *b)
{
    if (buf_ok(b))
        http_reply(r, 200, "application/json", buf_str(b));
    else
        e2b_fail(r, 500, "the answer is too large or memory ran out");
}

static void refuse_unknown_route(struct http_req *r)
{
    (void)http_add_header(r, "X-Content-Type-Options", STR("nosniff"));
    http_reply(r, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
}

static void not_allowed(struct http_req *r, const char *allowed)
{
    (void)http_add_header(r, "Allow", str_of(allowed));
    http_reply(r, 405, NULL, STR(""));
}

static void preflight(struct http_req *r)
{
    struct str wanted = http_header_get(&r->head.headers, "access-control-request-headers");

    (void)http_add_header(r, "Access-Control-Allow-Methods", STR(CORS_METHODS));
    if (wanted.len)
        (void)http_add_header(r, "Access-Control-Allow-Headers", wanted);
    (void)http_add_header(r, "Access-Control-Max-Age", STR("7200"));
    http_reply(r, 204, NULL, STR(""));
}

/* ---- who asks ---- */

bool e2b_has_token(const struct serve *s)
{
    return s->e2b.token != NULL;
}

bool e2b_is_token(const struct serve *s, struct str token)
{
    const char *own = s->e2b.token;

    return own && token.len == strlen(own) && mem_eq_const(token.p, own, token.len);
}

static bool is_open_route(struct http_req *r)
{
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (paths[i].is_open && paths[i].method == r->head.method &&
            str_is(r->head.path, paths[i].path))
            return true;
    return false;
}

int e2b_find_user(const char *name, struct user *ret)
{
    /* A number is no name, although other callers may use it as one. */
    return user_find(name, ret, NULL) == 0 && strcmp(ret->name, name) == 0 ? 0 : -ENOENT;
}

/* The name in "Basic base64(name:password)"; .p is NULL when there is none. */
static struct str basic_name(struct http_req *r)
{
    struct str value = http_header_get(&r->head.headers, "authorization");
    auto_buf struct buf b = BUF_INIT(BASIC_MAX);

    if (!value.p || !str_iis(str_cut(&value, ' '), "basic"))
        return STR_NULL;
    if (!value.p || enc_unbase64(&b, str_trim(value)) < 0 || str_chr(buf_str(&b), ':') < 0)
        return STR_NULL;
    struct str text = buf_str(&b);
    return arena_str(r->arena, str_cut(&text, ':'));
}

/* The user that R names, in *RET; NULL when it names none. False: answered. */
static bool get_user(struct http_req *r, const struct connect_method *m, const struct user **ret)
{
    struct str name = basic_name(r);

    *ret = NULL;
    if (!name.p)
        return true;
    struct user *u = arena_new(r->arena, struct user);
    if (u && e2b_find_user(name.p, u) == 0) {
        *ret = u;
        return true;
    }
    connect_refuse(r, m ? m->kind : CONNECT_UNARY, CONNECT_UNAUTHENTICATED,
                   "invalid username: '" STR_FMT "'", STR_ARG(name));
    return false;
}

/* ---- routes ---- */

static const struct connect_method *find_method(struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(services); i++)
        for (const struct connect_method *m = services[i]; m->path; m++)
            if (str_is(path, m->path))
                return m;
    return NULL;
}

static void route_path(struct serve *s, struct http_req *r)
{
    const char *allowed = NULL;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (!str_is(r->head.path, paths[i].path))
            continue;
        if (r->head.method == paths[i].method) {
            paths[i].handle(s, r);
            return;
        }
        allowed = http_method_name(paths[i].method);
    }
    if (allowed)
        not_allowed(r, allowed);
    else
        refuse_unknown_route(r);
}

void e2b_request(struct serve *s, struct http_req *r)
{
    const struct connect_method *m = find_method(r->head.path);
    const struct user *user;

    (void)http_add_header(r, "Access-Control-Allow-Origin", STR("*"));
    if (r->head.method == HTTP_OPTIONS) {
        preflight(r);
        return;
    }
    (void)http_add_header(r, "Access-Control-Expose-Headers", STR(CORS_EXPOSED));
    struct str token = http_header_get(&r->head.headers, "x-access-token");
    if (e2b_has_token(s) && !is_open_route(r) && !e2b_is_token(s, token)) {
        e2b_fail(r, 401, REFUSED);
        return;
    }
    if (!get_user(r, m, &user))
        return;
    if (!m)
        route_path(s, r);
    else if (r->head.method != HTTP_POST)
        not_allowed(r, "POST");
    else
        connect_serve(s, r, m, user);
}
