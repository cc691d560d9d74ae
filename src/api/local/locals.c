/* SPDX-License-Identifier: MIT */
/* What local sandboxes need as long as the service runs, and finding one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/forward.h"
#include "api/local/apps.h"
#include "api/local/local.h"
#include "api/local/pass.h"
#include "api/local/ports.h"
#include "api/local/reset.h"
#include "api/local/vault.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/own_server.h"
#include "core/sandbox.h"
#include "core/server.h"
#include "core/share.h"
#include "loop/work.h"
#include "mcp/http.h"
#include "net/http_client.h"
#include "net/netns_dial.h"

enum {
    ANSWER_MS = 360000, /* a tool may run a program for minutes */
    KEEP_MS = 20000     /* an agent thinks between two calls; dialling costs as much as a call */
};

struct locals {
    struct core *core;
    struct toolsets tools;
    struct mcp_server *servers[TOOLSET_SERVERS * TOOLSET_BENCHMARKS]; /* by tools.sets; NULL: not
                                                                         used so far */
    struct own_servers own;
    struct http_client *client;
    struct sandbox_watch pauses;
    struct vault *vault; /* their archives */
    struct resets *resets;
    struct ports *ports;
    struct local_apps *apps;
    struct work_pool *workers; /* see pass.h; NULL: not used so far */
};

static int load_own(struct own_servers *own, const char *text, struct err *e)
{
    int r = own_servers_load(own, text, e);

    for (size_t i = 0; r == 0 && i < own->n; i++) {
        const char *name = own->items[i].name;
        for (size_t k = 0; k < TOOLSET_SERVERS; k++) {
            if (strcmp(name, toolset_servers[k]) == 0)
                return err_set(e, -EEXIST, "local.servers: '%s' is the name of a built-in server",
                               name);
        }
        if (server_find(str_of(name)))
            return err_set(e, -EEXIST, "local.servers: '%s' is the name of an app", name);
    }
    return r;
}

int locals_set_own(struct locals *l, const char *text, struct err *e)
{
    struct own_servers own;
    int r = load_own(&own, text, e);

    if (r < 0) {
        own_servers_done(&own);
        return r;
    }
    own_servers_done(&l->own);
    l->own = own;
    return 0;
}

static int open_vault(struct locals *l, struct err *e)
{
    auto_free char *dir = NULL;

    if (core_path(l->core->config, "local", &dir) < 0)
        return err_set(e, -ENOMEM, "out of memory");
    l->vault = vault_new(l, l->core, dir, e);
    l->apps = local_apps_new(l);
    l->resets = l->vault && l->apps ? resets_new(l) : NULL;
    return l->resets ? 0 : -ENOMEM;
}

/* The port shows whether anybody is there, and where; sandboxes of older versions, and what stands
 * in for the tools, have nothing else. */
static int dial_local_cell(void *ctx, const char *address, struct err *e)
{
    auto_close int fd = forward_dial(ctx, address, e);

    if (fd < 0)
        return fd;
    int joined = netns_dial(fd, LOCAL_DOOR, NULL);
    return joined < 0 ? take_fd(fd) : joined;
}

/* Nobody would answer what was asked before. */
static void on_pause(void *ctx, struct sandbox *sb)
{
    const struct locals *l = ctx;

    http_client_end_calls(l->client, str_of(sb->id), -EHOSTDOWN, "the sandbox was paused");
}

struct locals *locals_new(struct core *core, struct err *e)
{
    struct locals *l = mem_zalloc(1, sizeof *l);
    struct http_client_opts o = {
        .loop = core->loop,
        .timeouts = {.connect_ms = 5000,
                     .head_ms = ANSWER_MS,
                     .idle_ms = 60000,
                     .keep_ms = KEEP_MS},
        .dial = dial_local_cell,
        .ctx = core,
    };

    char dir[PATH_MAX];

    if (!l) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    l->core = core;
    list_init(&l->pauses.node);
    int r = share_dir(core->config, "local", dir, e);
    if (r == 0)
        r = toolsets_load(&l->tools, dir, local_call, e);
    if (r == 0)
        r = load_own(&l->own, l->core->config->local.servers, e);
    l->client = r == 0 ? http_client_new(&o, e) : NULL;
    if (l->client && open_vault(l, e) == 0)
        l->ports = l->client ? ports_new(l, core, e) : NULL;
    if (l->ports) {
        l->pauses.on_pause = on_pause;
        l->pauses.ctx = l;
        if (core->sandboxes)
            sandboxes_watch(core->sandboxes, &l->pauses);
        local_apps_sweep(l);
        return l;
    }
    locals_free(l);
    return NULL;
}

void locals_free(struct locals *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->tools.n; i++)
        mcp_server_free(l->servers[i]);
    ports_free(l->ports);
    sandboxes_unwatch(&l->pauses);
    http_client_free(l->client);
    work_pool_free(l->workers);
    resets_free(l->resets);
    local_apps_free(l->apps);
    vault_free(l->vault);
    toolsets_done(&l->tools);
    own_servers_done(&l->own);
    free(l);
}

void locals_stop(struct locals *l)
{
    for (size_t i = 0; l && i < l->tools.n; i++) {
        if (l->servers[i])
            mcp_hang_up(l->servers[i]);
    }
}

struct work_pool *locals_workers(struct locals *l)
{
    const struct work_opts o = {.n = 2, .n_reserve = 4, .max_queued = 1024};

    if (!l->workers)
        l->workers = work_pool_make(&o, NULL);
    return l->workers;
}

const struct toolsets *locals_tools(const struct locals *l)
{
    return &l->tools;
}

struct ports *locals_ports(const struct locals *l)
{
    return l->ports;
}

const struct own_servers *locals_own(const struct locals *l)
{
    return &l->own;
}

struct http_client *locals_client(const struct locals *l)
{
    return l->client;
}

struct loop *locals_loop(const struct locals *l)
{
    return l->core->loop;
}

struct core *locals_core(const struct locals *l)
{
    return l->core;
}

struct local_apps *locals_apps(const struct locals *l)
{
    return l->apps;
}

struct vault *locals_vault(const struct locals *l)
{
    return l->vault;
}

struct resets *locals_resets(const struct locals *l)
{
    return l->resets;
}

struct mcp_server *locals_server(struct locals *l, const struct toolset *set, struct err *e)
{
    struct mcp_server **s = &l->servers[set - l->tools.sets];
    struct mcp_desc desc = {
        .name = set->server,
        .version = TIDEPOOL_VERSION,
        .tools = set->tools,
        .n_tools = set->n_tools,
        .unknown_tool = local_call_alias,
        .is_keyed = true, /* by the id in the address */
        .domain = l->core->config->domain,
        .secret = str_n((const char *)l->core->secret, sizeof l->core->secret),
        .limits = {.max_body = 4UL << 20, .max_answer = 128UL << 20},
    };

    if (!*s)
        *s = mcp_server_new(l->core->loop, &desc, e);
    return *s;
}

/* ---- finding ---- */

const struct json *local_of(const struct sandbox *sb)
{
    return json_get(sb->spec.extra, "local");
}

/* The sandbox's name is its id without the dashes, so that finding one costs nothing. */
void local_name(struct str id, char out[SANDBOX_NAME_MAX + 1])
{
    size_t n = (size_t)snprintf(out, SANDBOX_NAME_MAX + 1, "local-");

    for (size_t i = 0; i < id.len && n < SANDBOX_NAME_MAX; i++) {
        if (id.p[i] != '-')
            out[n++] = id.p[i];
    }
    out[n] = '\0';
}

struct sandbox *locals_find(struct locals *l, struct str id)
{
    char name[SANDBOX_NAME_MAX + 1];

    if (id.len != LOCAL_ID_LEN || !l->core->sandboxes || resets_has(l->resets, id))
        return NULL;
    local_name(id, name);
    struct sandbox *sb = sandbox_find(l->core->sandboxes, str_of(name));
    return sb && str_eq(json_str(json_get(local_of(sb), "id"), STR("")), id) ? sb : NULL;
}

bool locals_knows(struct locals *l, struct str id)
{
    return resets_has(l->resets, id) || locals_find(l, id) != NULL;
}

struct sandbox *locals_find_by_server(struct locals *l, struct str id)
{
    if (id.len != LOCAL_ID_LEN || !l->core->sandboxes)
        return NULL;
    for (struct sandbox *sb = NULL; (sb = sandbox_next(l->core->sandboxes, sb));) {
        const struct json *servers = json_get(local_of(sb), "servers");
        for (size_t i = 0; servers && i < servers->n; i++) {
            if (str_eq(json_str(json_get(json_at(servers, i), "id"), STR("")), id))
                return sb;
        }
    }
    return NULL;
}
