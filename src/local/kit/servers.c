/* SPDX-License-Identifier: MIT */
#include "local/kit/servers.h"

#include "base/cleanup.h"

static const struct local_server *const servers[] = {
    &arxiv_server,  &code_executor_server, &code_runner_server, &commander_server,
    &excel_server,  &filesystem_server,    &git_server,         &mail_server,
    &memory_server, &pdf_server,           &powerpoint_server,  &terminal_server,
    &word_server,   &workspace_server,
};

const struct local_server *local_server(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
        if (str_is(name, servers[i]->name))
            return servers[i];
    }
    return NULL;
}

static const struct local_tool *find_server_tool(const struct local_server *s, struct str name)
{
    for (size_t i = 0; i < s->n_tools; i++) {
        if (str_is(name, s->tools[i].name))
            return &s->tools[i];
    }
    return NULL;
}

const struct local_tool *local_tool(const struct local_server *s, struct str name)
{
    const struct local_tool *t = find_server_tool(s, name);
    struct str prefix = str_of(s->name);

    if (t || !str_starts(name, prefix) || name.len == prefix.len || name.p[prefix.len] != '_')
        return t;
    return find_server_tool(s, str_skip(name, prefix.len + 1));
}
