/* SPDX-License-Identifier: MIT */
/* Rewriting requests: see rewrite.h. */
#include "proxy/rewrite.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "net/http_hop.h"

enum { OWN_HEADERS = 5, SET_COOKIE_MAX = 1 << 20 };

static bool is_header_listed(const char *const *names, struct str name)
{
    for (; names && *names; names++)
        if (str_is(name, *names))
            return true;
    return false;
}

static bool is_listed_header(const char *const *names, struct str name)
{
    for (; names && *names; names++)
        if (str_iis(name, *names))
            return true;
    return false;
}

/* ---- queries ---- */

static bool is_rewrite_dropped(struct arena *a, struct str param, const char *const *names)
{
    struct str name = str_cut(&param, '=');

    if (str_chr(name, '%') >= 0 || str_chr(name, '+') >= 0)
        name = http_decode_query(a, name);
    return name.p && is_header_listed(names, name);
}

struct str rewrite_query(struct arena *a, struct str query, const char *const *names)
{
    char *out = arena_alloc(a, query.len + 1);
    size_t len = 0;
    bool is_first = true;

    if (!out)
        return STR_NULL;
    while (query.p) {
        struct str param = str_cut(&query, '&');
        if (is_rewrite_dropped(a, param, names))
            continue;
        if (!is_first)
            out[len++] = '&';
        is_first = false;
        if (param.len)
            memcpy(out + len, param.p, param.len);
        len += param.len;
    }
    out[len] = '\0';
    return str_n(out, len);
}

struct str rewrite_url(struct arena *a, struct str url, const char *const *names)
{
    ptrdiff_t hash = str_chr(url, '#');
    struct str fragment = hash < 0 ? STR("") : str_skip(url, (size_t)hash);
    struct str base = str_slice(url, 0, url.len - fragment.len);
    ptrdiff_t at = str_chr(base, '?');

    if (at < 0)
        return url;
    struct str query = rewrite_query(a, str_skip(base, (size_t)at + 1), names);
    if (!query.p)
        return STR_NULL;
    return arena_printf(a, STR_FMT "%s" STR_FMT STR_FMT, (int)at, url.p, query.len ? "?" : "",
                        STR_ARG(query), STR_ARG(fragment));
}

/* ---- cookies ---- */

struct str rewrite_cookie(struct arena *a, struct str value, const char *const *names)
{
    /* A separator may become longer by a space. */
    char *out = arena_alloc(a, 2 * value.len + 2);
    size_t len = 0;

    if (!out)
        return STR_NULL;
    while (value.p) {
        struct str pair = str_trim(str_cut(&value, ';')), rest = pair;
        if (pair.len == 0 || is_header_listed(names, str_trim(str_cut(&rest, '='))))
            continue;
        if (len > 0) {
            out[len++] = ';';
            out[len++] = ' ';
        }
        memcpy(out + len, pair.p, pair.len);
        len += pair.len;
    }
    return str_n(out, len);
}

bool rewrite_sets_cookie(struct str value, const char *const *names)
{
    struct str pair = str_trim(str_cut(&value, ';'));

    /* "=name=value" is a cookie without a name, which is sent as "name=value". */
    while (str_starts(pair, STR("=")))
        pair = str_trim(str_skip(pair, 1));
    return is_header_listed(names, str_trim(str_cut(&pair, '=')));
}

struct str rewrite_cookie_next(struct str *rest, const char *name)
{
    while (rest->p) {
        struct str value = str_trim(str_cut(rest, ';'));
        if (str_is(str_trim(str_cut(&value, '=')), name) && value.p)
            return str_trim(value);
    }
    return STR_NULL;
}

/* ---- cookies of answers ---- */

static bool is_below_path(struct str path, struct str top)
{
    return str_starts(path, top) && (path.len == top.len || path.p[top.len] == '/');
}

/* Appends an attribute of a cookie as it may stay. */
static void put_attribute(struct buf *out, struct str attribute, struct str path)
{
    struct str value = attribute, name = str_trim(str_cut(&value, '='));

    if (str_iis(name, "domain"))
        return;
    (void)buf_add_lit(out, "; ");
    value = str_trim(value);
    /* One that does not begin with a slash means nothing to a browser. */
    if (str_iis(name, "path") && path.len > 0 && str_starts(value, STR("/")) &&
        !is_below_path(value, path))
        (void)buf_printf(out, "Path=" STR_FMT STR_FMT, STR_ARG(path), STR_ARG(value));
    else
        (void)buf_add_str(out, str_trim(attribute));
}

struct str rewrite_set_cookie(struct arena *a, struct str value, struct str path)
{
    struct buf out auto_buf = BUF_INIT(SET_COOKIE_MAX);
    struct str rest = value;

    (void)buf_add_str(&out, str_trim(str_cut(&rest, ';')));
    while (rest.p)
        put_attribute(&out, str_cut(&rest, ';'), path);
    return buf_ok(&out) ? arena_str(a, buf_str(&out)) : STR_NULL;
}

/* ---- headers ---- */

/* Headers that are made here, whatever the client says. */
static bool is_made_here(struct str name)
{
    static const struct str names[] = {
        STR_INIT("host"),
        STR_INIT("x-forwarded-for"),
        STR_INIT("x-forwarded-proto"),
        STR_INIT("x-forwarded-host"),
        STR_INIT("x-forwarded-prefix"),
        STR_INIT("x-request-id"),
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_ieq(name, names[i]))
            return true;
    return false;
}

/* What is left of a header's value; empty: nothing. .p is NULL when memory ran out. */
static struct str rewrite_value_of(const struct http_req *r, const struct rewrite_rules *rules,
                                   const struct http_header *h)
{
    if (rules->cookies && str_iis(h->name, "cookie"))
        return rewrite_cookie(r->arena, h->value, rules->cookies);
    if (rules->params && str_iis(h->name, "referer"))
        return rewrite_url(r->arena, h->value, rules->params);
    return h->value;
}

static int copy_headers(const struct http_req *r, const struct rewrite_rules *rules,
                        struct http_headers *to)
{
    const struct http_headers *from = &r->head.headers;

    for (size_t i = 0; i < from->n; i++) {
        const struct http_header *h = &from->items[i];
        if (http_is_hop_header(from, h->name) || is_made_here(h->name) ||
            is_listed_header(rules->headers, h->name))
            continue;
        struct str value = rewrite_value_of(r, rules, h);
        if (!value.p && h->value.p)
            return -ENOMEM;
        if (value.len > 0 || h->value.len == 0)
            to->items[to->n++] = (struct http_header){h->name, value};
    }
    return 0;
}

/* The addresses that came with the request, and the one it came from. */
static struct str forwarded_for(const struct http_req *r)
{
    const struct http_headers *h = &r->head.headers;
    struct str list = str_of(r->peer);

    for (size_t i = h->n; i-- > 0;)
        if (str_iis(h->items[i].name, "x-forwarded-for") && h->items[i].value.len > 0 && list.p)
            list = arena_printf(r->arena, STR_FMT ", " STR_FMT, STR_ARG(h->items[i].value),
                                STR_ARG(list));
    return list;
}

int rewrite_headers(const struct http_req *r, const struct rewrite_rules *rules,
                    struct http_headers *ret)
{
    struct http_headers to = {.items = arena_zalloc(r->arena,
                                                    r->head.headers.n + OWN_HEADERS + rules->n_add,
                                                    sizeof *to.items)};
    struct str from = forwarded_for(r);

    if (!to.items || !from.p)
        return -ENOMEM;
    if (copy_headers(r, rules, &to) < 0)
        return -ENOMEM;
    to.items[to.n++] = (struct http_header){STR("X-Forwarded-For"), from};
    to.items[to.n++] =
        (struct http_header){STR("X-Forwarded-Proto"), r->is_tls ? STR("https") : STR("http")};
    if (r->head.host.len > 0)
        to.items[to.n++] = (struct http_header){STR("X-Forwarded-Host"), r->head.host};
    if (rules->prefix.len > 0)
        to.items[to.n++] = (struct http_header){STR("X-Forwarded-Prefix"), rules->prefix};
    to.items[to.n++] = (struct http_header){STR("X-Request-Id"), str_of(r->id)};
    for (size_t i = 0; i < rules->n_add; i++)
        to.items[to.n++] = rules->add[i];
    *ret = to;
    return 0;
}

/* ---- answers ---- */

/* Headers that our server writes itself. */
static bool is_servers(struct str name)
{
    return str_iis(name, "date") || str_iis(name, "server") || str_iis(name, "x-request-id");
}

int rewrite_answer(struct http_req *r, const struct rewrite_rules *rules,
                   const struct http_headers *from)
{
    for (size_t i = 0; i < from->n; i++) {
        const struct http_header *h = &from->items[i];
        bool is_cookie = str_iis(h->name, "set-cookie");
        if (http_is_hop_header(from, h->name) || is_servers(h->name) ||
            is_listed_header(rules->answer_headers, h->name) ||
            (is_cookie && rewrite_sets_cookie(h->value, rules->cookies)))
            continue;
        struct str name = arena_str(r->arena, h->name), value = h->value;
        if (is_cookie)
            value = rewrite_set_cookie(r->arena, h->value, rules->cookie_path);
        if (!name.p || !value.p || http_add_header(r, name.p, value) < 0)
            return -ENOMEM;
    }
    return 0;
}
