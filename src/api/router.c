/* SPDX-License-Identifier: MIT */
/* The router: see router.h. */
#include "api/router.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"

/* A route as the tree knows it. */
struct route_leaf {
    const struct route *route;
    const struct surface *surface;
    unsigned index;
    unsigned n_params;
    unsigned depth[ROUTER_MAX_PARAMS]; /* the segment that each parameter takes */
    struct str names[ROUTER_MAX_PARAMS];
};

struct route_node {
    struct str segment;
    struct route_node *next;     /* sibling */
    struct route_node *literals; /* children */
    struct route_node *known, *param, *tail;
    const struct route_leaf *by_method[HTTP_METHOD_COUNT + 1]; /* the last one: any method */
    unsigned allow;
};

struct router {
    struct arena arena;
    const struct surface *const *surfaces;
    size_t n_surfaces;
    struct route_node *root;
    const struct route_leaf **leaves;
    unsigned n_leaves;
    bool (*is_known)(void *ctx, struct str segment);
    void *known_ctx;
};

/* ---- compiling ---- */

static struct route_node *new_node(struct router *r, struct str segment)
{
    struct route_node *n = arena_new(&r->arena, struct route_node);

    if (n)
        n->segment = segment;
    return n;
}

static struct route_node *literal_child(const struct route_node *n, struct str segment)
{
    struct route_node *c = n->literals;

    while (c && !str_eq(c->segment, segment))
        c = c->next;
    return c;
}

/* "{name}", "{name!}" or "{name*}": the name, else STR_NULL; and the mark behind it, or 0. */
static struct str param_name(struct str segment, char *ret_mark)
{
    if (segment.len < 3 || segment.p[0] != '{' || segment.p[segment.len - 1] != '}')
        return STR_NULL;
    struct str name = str_slice(segment, 1, segment.len - 1);
    char last = name.p[name.len - 1];
    *ret_mark = (char)(last == '*' || last == '!' ? last : 0);
    return *ret_mark ? str_slice(name, 0, name.len - 1) : name;
}

static struct route_node **param_child(struct route_node *n, char mark)
{
    switch (mark) {
    case '*': return &n->tail;
    case '!': return &n->known;
    default: return &n->param;
    }
}

/* The child of N for SEGMENT of a pattern, made when it is missing. */
static struct route_node *descend(struct router *r, struct route_node *n, struct str segment)
{
    char mark = 0;
    struct str name = param_name(segment, &mark);
    struct route_node **special = param_child(n, mark);

    if (name.p) {
        if (!*special)
            *special = new_node(r, segment);
        return *special;
    }
    struct route_node *c = literal_child(n, segment);
    if (!c && (c = new_node(r, segment))) {
        c->next = n->literals;
        n->literals = c;
    }
    return c;
}

static int add_path_param(struct route_leaf *l, struct str name, unsigned depth, struct err *e)
{
    if (l->n_params == ROUTER_MAX_PARAMS)
        return err_set(e, -E2BIG, "more than %d parameters", ROUTER_MAX_PARAMS);
    for (unsigned i = 0; i < l->n_params; i++)
        if (str_eq(l->names[i], name))
            return err_set(e, -EINVAL, "parameter '" STR_FMT "' twice", STR_ARG(name));
    l->names[l->n_params] = name;
    l->depth[l->n_params++] = depth;
    return 0;
}

/* Walks the pattern of L from the root, making nodes; *ret is where it ends. */
static int plant(struct router *r, struct route_leaf *l, struct route_node **ret, struct err *e)
{
    struct str rest = str_of(l->route->pattern);
    struct route_node *n = r->root;

    if (rest.len == 0 || rest.p[0] != '/')
        return err_set(e, -EINVAL, "does not start with '/'");
    rest = str_skip(rest, 1);
    for (unsigned depth = 0; rest.len > 0 || (depth > 0 && rest.p); depth++) {
        char mark = 0;
        struct str segment = str_cut(&rest, '/');
        struct str name = param_name(segment, &mark);
        if (depth == ROUTER_MAX_DEPTH)
            return err_set(e, -E2BIG, "more than %d segments", ROUTER_MAX_DEPTH);
        if ((segment.len == 0 || mark == '*') && rest.p)
            return err_set(e, -EINVAL, "an empty segment or a rest before the end");
        int err = name.p ? add_path_param(l, name, depth, e) : 0;
        if (err < 0)
            return err;
        n = descend(r, n, segment);
        if (!n)
            return err_sys(e, -ENOMEM, "router");
    }
    *ret = n;
    return 0;
}

static bool has_prefix(struct str path, const char *prefix)
{
    struct str p = str_of(prefix);

    return str_starts(path, p) && (path.len == p.len || path.p[p.len] == '/');
}

static bool is_of_surface(const struct surface *s, struct str path)
{
    for (const char *const *p = s->prefixes; *p; p++)
        if (has_prefix(path, *p))
            return true;
    return false;
}

static int add_route_row(struct router *r, const struct surface *s, const struct route *row,
                         struct err *e)
{
    struct route_leaf *l = arena_new(&r->arena, struct route_leaf);
    struct route_node *n = r->root;

    if (!l)
        return err_sys(e, -ENOMEM, "router");
    *l = (struct route_leaf){.route = row, .surface = s, .index = r->n_leaves};
    if (!str_starts(str_of(row->pattern), STR("/{")) &&
        router_surface(r, str_of(row->pattern)) != s)
        return err_set(e, -EINVAL, "lies outside the surface '%s'", s->name);
    int err = plant(r, l, &n, e);
    if (err < 0)
        return err;
    assert(n);
    if (n->by_method[row->method])
        return err_set(e, -EEXIST, "collides with '%s'", n->by_method[row->method]->route->pattern);
    n->by_method[row->method] = l;
    n->allow |= row->method == ROUTE_ANY ? (1U << HTTP_OTHER) - 1 : 1U << row->method;
    if (n->allow & 1U << HTTP_GET)
        n->allow |= 1U << HTTP_HEAD;
    n->allow |= 1U << HTTP_OPTIONS;
    r->leaves[r->n_leaves++] = l;
    return 0;
}

static int add_surfaces(struct router *r, struct err *e)
{
    for (size_t i = 0; i < r->n_surfaces; i++)
        for (size_t k = 0; k < r->surfaces[i]->n_routes; k++) {
            const struct route *row = &r->surfaces[i]->routes[k];
            int err = add_route_row(r, r->surfaces[i], row, e);
            if (err < 0)
                return err_ctx(e, err, "route %s %s",
                               row->method == ROUTE_ANY ? "*" : http_method_name(row->method),
                               row->pattern);
        }
    return 0;
}

struct router *router_new(const struct surface *const *surfaces, size_t n, struct err *e)
{
    struct router *r = mem_zalloc(1, sizeof *r);
    size_t n_routes = 0;

    if (!r) {
        (void)err_sys(e, -ENOMEM, "router");
        return NULL;
    }
    arena_init(&r->arena, (size_t)16 << 20);
    r->surfaces = surfaces;
    r->n_surfaces = n;
    for (size_t i = 0; i < n; i++)
        n_routes += surfaces[i]->n_routes;
    r->root = new_node(r, STR(""));
    r->leaves = arena_zalloc(&r->arena, n_routes + 1, sizeof(struct route_leaf *));
    int err = r->root && r->leaves ? add_surfaces(r, e) : err_sys(e, -ENOMEM, "router");
    if (err < 0) {
        router_free(r);
        return NULL;
    }
    return r;
}

void router_free(struct router *r)
{
    if (!r)
        return;
    arena_done(&r->arena);
    free(r);
}

void router_set_known(struct router *r, bool (*is_known)(void *ctx, struct str segment), void *ctx)
{
    r->is_known = is_known;
    r->known_ctx = ctx;
}

/* ---- looking up ---- */

/* A path cut into segments. Only as many as a pattern can have are kept: a longer path can match
 * nothing but a rest. */
struct cut {
    struct str segments[ROUTER_MAX_DEPTH + 1]; /* decoded */
    const char *raw[ROUTER_MAX_DEPTH + 1];     /* where each starts in the path */
    unsigned n;
    bool is_deeper;
};

/* True for ".", ".." and their escaped forms. */
static bool is_dots(struct str s)
{
    unsigned dots = 0;

    for (size_t i = 0; i < s.len; dots++) {
        if (s.p[i] == '.')
            i += 1;
        else if (s.len - i >= 3 && s.p[i] == '%' && s.p[i + 1] == '2' && (s.p[i + 2] | 32) == 'e')
            i += 3;
        else
            return false;
    }
    return dots == 1 || dots == 2;
}

static bool cut_path(struct arena *a, struct str path, struct cut *c)
{
    struct str rest = str_skip(path, 1);

    if (path.len == 0 || path.p[0] != '/')
        return false;
    c->n = 0;
    c->is_deeper = false;
    do {
        const char *start = rest.p;
        struct str s = str_cut(&rest, '/');
        if (s.len > 0 && (s.p[0] == '.' || s.p[0] == '%') && is_dots(s))
            return false;
        if (c->n > ROUTER_MAX_DEPTH) {
            c->is_deeper = true;
            continue;
        }
        if (s.len > 0 && memchr(s.p, '%', s.len) && !(s = http_decode_segment(a, s)).p)
            return false;
        c->raw[c->n] = start;
        c->segments[c->n++] = s;
    } while (rest.p);
    return true;
}

struct route_search {
    const struct router *router;
    struct cut cut;
    enum http_method method;
    unsigned allow;
    const struct route_leaf *leaf;
    const char *tail; /* where the rest of a match begins */
};

/* Asks one node that the path fits; true ends the search. */
static bool ask_node(struct route_search *f, const struct route_node *n, const char *tail)
{
    const struct route_leaf *l = n->by_method[f->method];

    if (!l && f->method == HTTP_HEAD)
        l = n->by_method[HTTP_GET];
    if (!l)
        l = n->by_method[ROUTE_ANY];
    f->allow |= n->allow;
    f->leaf = l;
    f->tail = tail;
    return l != NULL;
}

/* True for the empty segment behind a slash at the end, which N may ignore. */
static bool is_last_slash(const struct route_search *f, const struct route_node *n, unsigned depth)
{
    return f->cut.segments[depth].len == 0 && depth + 1 == f->cut.n && !f->cut.is_deeper &&
           (n->segment.len > 0 || depth == 0);
}

static bool is_known_segment(const struct router *r, struct str segment)
{
    return segment.len > 0 && r->is_known && r->is_known(r->known_ctx, segment);
}

/* Depth is bounded by the tree, that is by ROUTER_MAX_DEPTH. */
static bool walk_nodes(struct route_search *f, const struct route_node *n, unsigned depth)
{
    if (depth == f->cut.n)
        return !f->cut.is_deeper && ask_node(f, n, NULL);
    struct str s = f->cut.segments[depth];
    const struct route_node *c = literal_child(n, s);
    if (c && walk_nodes(f, c, depth + 1))
        return true;
    if (n->known && is_known_segment(f->router, s))
        return walk_nodes(f, n->known, depth + 1);
    if (n->param && s.len > 0 && walk_nodes(f, n->param, depth + 1))
        return true;
    if (n->tail && ask_node(f, n->tail, f->cut.raw[depth]))
        return true;
    return !c && is_last_slash(f, n, depth) && ask_node(f, n, NULL);
}

static void fill_params(const struct route_search *f, struct str path, struct router_match *ret)
{
    const struct route_leaf *l = f->leaf;

    ret->n_params = l->n_params;
    ret->names = l->names;
    for (unsigned i = 0; i < l->n_params; i++)
        ret->params[i] = f->cut.segments[l->depth[i]];
    if (f->tail)
        ret->params[l->n_params - 1] = str_n(f->tail, (size_t)(path.p + path.len - f->tail));
}

enum router_result router_find(const struct router *r, struct arena *a, enum http_method method,
                               struct str path, struct router_match *ret)
{
    struct route_search f;

    f.router = r;
    f.method = method;
    f.allow = 0;
    f.leaf = NULL;
    f.tail = NULL;
    ret->route = NULL;
    ret->index = r->n_leaves;
    ret->allow = 0;
    ret->n_params = 0;
    if (!cut_path(a, path, &f.cut)) {
        ret->surface = router_surface(r, path);
        return ROUTER_BAD_PATH;
    }
    bool found = walk_nodes(&f, r->root, 0);
    ret->allow = f.allow;
    if (!found) {
        ret->surface = router_surface(r, path);
        return f.allow ? ROUTER_NO_METHOD : ROUTER_NO_PATH;
    }
    ret->surface = f.leaf->surface;
    ret->route = f.leaf->route;
    ret->index = f.leaf->index;
    fill_params(&f, path, ret);
    return ROUTER_FOUND;
}

const struct surface *router_surface(const struct router *r, struct str path)
{
    const struct surface *fallback = NULL;

    for (size_t i = 0; i < r->n_surfaces; i++) {
        if (!r->surfaces[i]->prefixes[0])
            fallback = r->surfaces[i];
        if (is_of_surface(r->surfaces[i], path))
            return r->surfaces[i];
    }
    return fallback;
}

unsigned router_count(const struct router *r)
{
    return r->n_leaves;
}

const struct route *router_route(const struct router *r, unsigned index)
{
    return index < r->n_leaves ? r->leaves[index]->route : NULL;
}

void router_allow_text(char out[ROUTER_ALLOW_MAX], unsigned allow)
{
    size_t len = 0;

    out[0] = 0;
    for (unsigned m = 0; m < HTTP_OTHER; m++)
        if (allow & 1U << m)
            len += (size_t)snprintf(out + len, ROUTER_ALLOW_MAX - len, "%s%s", len ? ", " : "",
                                    http_method_name((enum http_method)m));
}
