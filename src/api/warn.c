/* SPDX-License-Identifier: MIT */
/* Unknown members of requests: see warn.h. */
#include "api/warn.h"

#include "api/internal.h"
#include "api/schemas.h"
#include "base/cleanup.h"
#include "core/suggest.h"

enum { HEADER_MAX = 2048, DEPTH_MAX = 16 };

/* ---- texts ---- */

struct str warn_nearest(const struct json *schema, struct str name)
{
    const struct json *all = json_get(schema, "properties");
    struct suggest s = suggest_for(name);

    for (size_t i = 0; json_is(all, JSON_OBJECT) && i < all->n; i++)
        suggest_try(&s, all->members[i].key.p);
    return s.best ? str_of(s.best) : STR_NULL;
}

/* What a client sent goes into a header: visible ASCII only, and not too much of it. */
static struct str plain_header_text(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, WARN_NAME_MAX + 1);
    size_t n = 0;

    for (size_t i = 0; out && i < s.len && n < WARN_NAME_MAX; i++)
        out[n++] = s.p[i];
    for (size_t i = 0; i < n; i++)
        if (out[i] < ' ' || out[i] > '~')
            out[i] = '?';
    return out ? str_n(out, n) : STR("?");
}

struct str warn_text(struct arena *a, const struct json *schema, struct str where, struct str name)
{
    struct str best = warn_nearest(schema, name);
    struct str path = arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(plain_header_text(a, where)),
                                   where.len > 0 ? "." : "", STR_ARG(plain_header_text(a, name)));

    if (best.p)
        return arena_printf(a, "unknown field '" STR_FMT "'; did you mean '" STR_FMT "'?",
                            STR_ARG(path), STR_ARG(best));
    return arena_printf(a, "unknown field '" STR_FMT "'", STR_ARG(path));
}

/* ---- the answer ---- */

void api_warn(struct api_req *r, struct str text)
{
    const struct json *one = text.p ? json_new_str(r->arena, text) : NULL;

    if (!r->warnings)
        r->warnings = json_new_array(r->arena);
    if (!one || !r->warnings || r->warnings->n >= WARN_MAX)
        return;
    for (size_t i = 0; i < r->warnings->n; i++)
        if (str_eq(r->warnings->items[i].s, text))
            return;
    (void)json_push(r->arena, r->warnings, one);
}

struct str api_with_warnings(struct api_req *r, struct str body)
{
    struct str head = str_trim(body);
    auto_buf struct buf list = BUF_INIT(HEADER_MAX * 2);

    if (!r->warnings || !r->match.surface->has_warnings || head.len < 2 || head.p[0] != '{')
        return body;
    if (json_write(&list, r->warnings, JSON_COMPACT) < 0)
        return body;
    head.len--;
    struct str out = arena_printf(r->arena, STR_FMT "%s\"warnings\":" STR_FMT "}", STR_ARG(head),
                                  str_trim(head).len > 1 ? "," : "", STR_ARG(buf_str(&list)));
    return out.p ? out : body;
}

void api_add_warnings(struct api_req *r)
{
    auto_buf struct buf text = BUF_INIT(HEADER_MAX);

    for (size_t i = 0; r->warnings && i < r->warnings->n; i++)
        (void)buf_printf(&text, "%s" STR_FMT, i > 0 ? ", " : "", STR_ARG(r->warnings->items[i].s));
    if (text.len > 0 && buf_ok(&text))
        (void)http_add_header(r->http, "Tidepool-Warning", arena_str(r->arena, buf_str(&text)));
}

/* ---- the request ---- */

static bool is_documented(const struct route *row, struct str name)
{
    for (size_t i = 0; i < ROUTE_MAX_ARGS && row->query[i].name; i++)
        if (str_is(name, row->query[i].name))
            return true;
    return str_is(name, "api_key");
}

void api_check_query(struct api_req *r)
{
    const struct route *row = r->match.route;
    struct str rest = r->http->head.query;

    /* What is passed on into a sandbox, or has an address that was signed, is not for here. */
    if (row->auth == ROUTE_OPEN || row->method == ROUTE_ANY || !r->match.surface->has_warnings)
        return;
    while (rest.len > 0) {
        struct str pair = str_cut(&rest, '&'), name = str_cut(&pair, '=');
        struct suggest s = suggest_for(name);
        if (name.len == 0 || is_documented(row, name))
            continue;
        for (size_t i = 0; i < ROUTE_MAX_ARGS && row->query[i].name; i++)
            suggest_try(&s, row->query[i].name);
        api_warn(r, arena_printf(r->arena, "unknown query parameter '" STR_FMT "'%s%s%s",
                                 STR_ARG(plain_header_text(r->arena, name)),
                                 s.best ? "; did you mean '" : "", s.best ? s.best : "",
                                 s.best ? "'?" : ""));
    }
}

/* A look through a body. */
struct warning_look {
    struct api_req *r;
    struct str refusal; /* the first member that a closed schema does not know */
};

static const struct json *deref(const struct warning_look *l, const struct json *schema)
{
    struct str ref = json_str(json_get(schema, "$ref"), STR_NULL);

    while (str_chr(ref, '/') >= 0)
        (void)str_cut(&ref, '/');
    return ref.p ? schemas_get(l->r->api->schemas, ref) : schema;
}

static void look_at_request(struct warning_look *l, const struct json *schema,
                            const struct json *value, struct str where, unsigned depth);

static void look_at_members(struct warning_look *l, const struct json *schema,
                            const struct json *value, struct str where, unsigned depth)
{
    const struct json *all = json_get(schema, "properties");
    const struct json *rest = json_get(schema, "additionalProperties");
    bool is_closed = json_is(rest, JSON_BOOL) && !rest->b;

    for (size_t i = 0; i < value->n; i++) {
        struct str name = value->members[i].key;
        const struct json *own = json_get_str(all, name);
        if (own)
            look_at_request(l, own, &value->members[i].value, name, depth + 1);
        else if (is_closed && !l->refusal.p)
            l->refusal = warn_text(l->r->arena, schema, where, name);
        else if (!rest)
            api_warn(l->r, warn_text(l->r->arena, schema, where, name));
    }
}

static void look_at_request(struct warning_look *l, const struct json *schema,
                            const struct json *value, struct str where, unsigned depth)
{
    schema = deref(l, schema);
    if (depth > DEPTH_MAX)
        return;
    if (json_is(value, JSON_OBJECT) && json_is(json_get(schema, "properties"), JSON_OBJECT))
        look_at_members(l, schema, value, where, depth);
    for (size_t i = 0; json_is(value, JSON_ARRAY) && i < value->n; i++)
        look_at_request(l, json_get(schema, "items"), &value->items[i], where, depth + 1);
}

bool api_check_body(struct api_req *r)
{
    const char *name = r->match.route->request;
    struct warning_look l = {.r = r};

    if (r->body && name)
        look_at_request(&l, schemas_get(r->api->schemas, str_of(name)), r->body, STR_NULL, 0);
    if (!l.refusal.p)
        return true;
    api_error(r, 400, STR_FMT, STR_ARG(l.refusal));
    return false;
}
