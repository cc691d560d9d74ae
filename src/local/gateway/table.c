/* SPDX-License-Identifier: MIT */
/* The tools of the gateway: see gateway.h. */
#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "local/gateway/gateway.h"
#include "local/gateway/tools.h"

/* Other names that catalogues have for these servers. */
static const struct {
    const char *name, *server;
} aliases[] = {
    {"memory", "localmemory"}, {"arxivMcpServer", "arxiv"}, {"desktop", "desktop-commander"},
    {"pdf", "pdf-tools"},      {"code", "code-runner"},     {"shell", "terminal"},
};

static struct str skip_marks(struct str s)
{
    while (s.len > 0 && (s.p[0] == '-' || s.p[0] == '_'))
        s = str_skip(s, 1);
    return s;
}

static char lower_char(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool is_same_name(struct str a, struct str b)
{
    for (;;) {
        a = skip_marks(a);
        b = skip_marks(b);
        if (a.len == 0 || b.len == 0)
            return a.len == b.len;
        if (lower_char(a.p[0]) != lower_char(b.p[0]))
            return false;
        a = str_skip(a, 1);
        b = str_skip(b, 1);
    }
}

const struct gateway_server_text *gateway_find_server(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (is_same_name(name, str_of(aliases[i].name))) {
            name = str_of(aliases[i].server);
            break;
        }
    for (const struct gateway_server_text *s = gateway_server_texts; s->name; s++)
        if (is_same_name(name, str_of(s->name)))
            return s;
    return NULL;
}

/* "filesystem, git, …" */
static void gateway_put_servers(struct buf *out)
{
    for (const struct gateway_server_text *s = gateway_server_texts; s->name; s++)
        (void)buf_printf(out, "%s%s", out->len > 0 ? ", " : "", s->name);
}

static bool has_gateway_name(const struct gateway_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->rows[i].name, name) == 0)
            return true;
    return false;
}

int gateway_add_tool(struct gateway_table *t, const char *server, const struct mcp_tool *row,
                     struct err *e)
{
    if (!t->rows)
        t->rows = arena_zalloc(&t->arena, GATEWAY_TOOLS_MAX, sizeof *t->rows);
    if (!t->rows)
        return err_set(e, -ENOMEM, "out of memory");
    if (t->n == GATEWAY_TOOLS_MAX)
        return err_set(e, -E2BIG, "the servers have more than %d tools", GATEWAY_TOOLS_MAX);
    struct mcp_tool *to = &t->rows[t->n];
    *to = *row;
    if (has_gateway_name(t, row->name)) {
        const char *slash = strrchr(server, '/');
        to->name = arena_printf(&t->arena, "%s_%s", slash ? slash + 1 : server, row->name).p;
    }
    if (!to->name)
        return err_set(e, -ENOMEM, "out of memory");
    /* One that is still taken is left out: a list has each name once. */
    t->n += !has_gateway_name(t, to->name);
    return 0;
}

static int add_gateway_server(struct gateway_table *t, const struct gateway_server_text *s,
                              mcp_handler *call, struct err *e)
{
    const struct local_server *server = local_server(str_of(s->name));
    int r = 0;

    for (size_t i = 0; server && r == 0 && i < s->n_tools; i++) {
        struct gateway_tool *own = arena_zalloc(&t->arena, 1, sizeof *own);
        if (!own)
            return err_set(e, -ENOMEM, "out of memory");
        own->tool = local_tool(server, str_of(s->tools[i].name));
        struct mcp_tool row = {.name = s->tools[i].name,
                               .description = s->tools[i].description,
                               .input = s->tools[i].input,
                               .annotations = s->tools[i].annotations,
                               .call = call,
                               .row = own};
        if (own->tool)
            r = gateway_add_tool(t, s->name, &row, e);
    }
    return r;
}

int gateway_add_own(struct gateway_table *t, const struct json *config, mcp_handler *call,
                    struct err *e)
{
    for (size_t i = 0; i < config->n; i++) {
        const struct json_member *m = &config->members[i];
        if (json_get(&m->value, "runCmd"))
            continue;
        const struct gateway_server_text *s = gateway_find_server(m->key);
        if (!s) {
            struct buf names auto_buf = BUF_INIT(4096);
            gateway_put_servers(&names);
            (void)buf_add_char(&names, '\0');
            return err_set(e, -EINVAL, "unknown MCP server '" STR_FMT "': there are %s",
                           STR_ARG(str_slice(m->key, 0, 80)), names.p ? names.p : "none");
        }
        int r = add_gateway_server(t, s, call, e);
        if (r < 0)
            return r;
    }
    return 0;
}
