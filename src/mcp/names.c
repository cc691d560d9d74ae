/* SPDX-License-Identifier: MIT */
/* Templates of URIs, and arguments that are repeated in headers. */
#include <errno.h>

#include "mcp/table.h"
#include "net/http_chars.h"

/* ---- templates ---- */

/* How much of URI a variable takes that LITERAL follows: up to its last place for {+name}, to its
 * first for {name}, which takes no '/'. -1 when it cannot be. */
static ptrdiff_t var_len(struct str uri, struct str literal, bool is_greedy)
{
    ptrdiff_t found = -1;

    for (size_t i = 0; i + literal.len <= uri.len; i++) {
        bool is_there = literal.len == 0 ? i == uri.len : str_starts(str_skip(uri, i), literal);
        if (is_there) {
            found = (ptrdiff_t)i;
            if (!is_greedy)
                return found;
        }
        if (!is_greedy && i < uri.len && uri.p[i] == '/')
            return -1;
    }
    return found;
}

bool mcp_uri_match(const char *template, struct str uri, struct str vars[MCP_MAX_VARS])
{
    struct str rest = str_of(template);

    for (size_t n = 0;; n++) {
        ptrdiff_t open = str_chr(rest, '{');
        struct str literal = str_slice(rest, 0, open < 0 ? rest.len : (size_t)open);
        if (!str_starts(uri, literal))
            return false;
        uri = str_skip(uri, literal.len);
        if (open < 0)
            return uri.len == 0;
        rest = str_skip(rest, (size_t)open + 1);
        ptrdiff_t close = str_chr(rest, '}');
        if (close < 0 || n == MCP_MAX_VARS)
            return false;
        bool is_greedy = rest.p[0] == '+';
        rest = str_skip(rest, (size_t)close + 1);
        ptrdiff_t next = str_chr(rest, '{');
        ptrdiff_t len =
            var_len(uri, str_slice(rest, 0, next < 0 ? rest.len : (size_t)next), is_greedy);
        if (len < 0)
            return false;
        vars[n] = str_slice(uri, 0, (size_t)len);
        uri = str_skip(uri, (size_t)len);
    }
}

/* ---- arguments in headers ---- */

static bool is_header_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!http_is_token(s.p[i]))
            return false;
    return s.len > 0;
}

static int add_repeated_header(struct arena *a, struct mcp_tool_row *t, struct str name,
                               struct str pointer, struct err *e)
{
    if (!is_header_token(name) || t->n_headers == MCP_MAX_HEADER_ARGS)
        return err_set(e, -EINVAL, "%.*s: bad x-mcp-header", (int)pointer.len, pointer.p);
    if (!t->headers)
        t->headers = arena_zalloc(a, MCP_MAX_HEADER_ARGS, sizeof *t->headers);
    struct str header = arena_printf(a, "Mcp-Param-" STR_FMT, STR_ARG(name));
    if (!t->headers || !header.p || !pointer.p)
        return err_sys(e, -ENOMEM, "x-mcp-header");
    for (size_t i = 0; i < t->n_headers; i++)
        if (str_ieq(t->headers[i].header, header))
            return err_set(e, -EINVAL, "%.*s: x-mcp-header is there twice", (int)pointer.len,
                           pointer.p);
    t->headers[t->n_headers++] = (struct mcp_header_arg){header, pointer};
    return 0;
}

struct names_walk {
    struct arena *arena;
    struct mcp_tool_row *tool;
    struct err *e;
};

static int walk_properties(const struct names_walk *k, const struct json *schema, struct str at,
                           unsigned depth)
{
    const struct json *all = json_get(schema, "properties");

    for (size_t i = 0; json_is(all, JSON_OBJECT) && i < all->n && depth < 8; i++) {
        const struct json_member *m = &all->members[i];
        const struct json *name = json_get(&m->value, "x-mcp-header");
        struct str pointer =
            arena_printf(k->arena, STR_FMT "/" STR_FMT, STR_ARG(at), STR_ARG(m->key));
        int r = 0;
        if (name)
            r = add_repeated_header(k->arena, k->tool, json_str(name, STR_NULL), pointer, k->e);
        if (r == 0)
            r = walk_properties(k, &m->value, pointer, depth + 1);
        if (r < 0)
            return r;
    }
    return 0;
}

int mcp_find_header_args(struct arena *a, const struct json *schema, struct mcp_tool_row *t,
                         struct err *e)
{
    const struct names_walk k = {a, t, e};

    return walk_properties(&k, schema, STR(""), 0);
}
