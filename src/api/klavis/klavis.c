/* SPDX-License-Identifier: MIT */
/* What the surface keeps: its schemas, and for each version of an app the server that speaks for
 * it and the schema of its data. */
#include "api/klavis/klavis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/conformance/fixtures.h"
#include "api/klavis/app_server.h"
#include "api/schemas.h"
#include "apps/catalog/registry.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/instance.h"
#include "core/instance_set.h"
#include "core/server.h"
#include "mcp/http.h"

enum { SCHEMAS_MAX = 4 << 20, SERVED_MAX = 4096 };

struct klavis {
    struct core *core;
    struct arena arena;
    struct schemas *schemas; /* the names of the operator's own servers are added */
    struct map served;       /* by app and version: struct app_server */
    struct mcp_server *conformance;
    uint32_t n_servers; /* of local sandboxes, without the operator's own */
};

/* The names that the operator has added can be asked for as well. */
int klavis_set_own(struct klavis *k, const char *text, struct err *e)
{
    const struct json *own = text ? json_parse(&k->arena, str_of(text), NULL, e) : NULL;
    struct json *names = json_get(schemas_get(k->schemas, STR("LocalSandboxMCPServer")), "enum");

    if (!k->n_servers)
        k->n_servers = names->n;
    names->n = k->n_servers;
    for (uint32_t i = 0; own && i < own->n; i++) {
        const struct json *name = json_new_str(&k->arena, own->members[i].key);
        if (!name || json_push(&k->arena, names, name) < 0)
            return err_sys(e, -ENOMEM, "schemas");
    }
    return text && !own ? -ENOMEM : 0;
}

struct klavis *klavis_new(struct core *core, struct schemas *schemas, struct err *e)
{
    struct klavis *k = mem_zalloc(1, sizeof *k);

    if (!k) {
        (void)err_sys(e, -ENOMEM, "Klavis API");
        return NULL;
    }
    k->core = core;
    k->schemas = schemas;
    arena_init(&k->arena, SCHEMAS_MAX);
    map_init(&k->served, SERVED_MAX);
    k->conformance = conformance_new(core->loop, e);
    if (!k->conformance || klavis_set_own(k, core->config->local.servers, e) < 0) {
        klavis_free(k);
        return NULL;
    }
    return k;
}

void klavis_free(struct klavis *k)
{
    struct str key;
    void *s;

    if (!k)
        return;
    for (size_t i = 0; map_next(&k->served, &i, &key, &s);)
        app_server_free(s);
    mcp_server_free(k->conformance);
    map_done(&k->served);
    arena_done(&k->arena);
    free(k);
}

void klavis_stop(struct klavis *k)
{
    struct str key;
    void *s;

    for (size_t i = 0; map_next(&k->served, &i, &key, &s);)
        mcp_hang_up(((struct app_server *)s)->mcp);
    mcp_hang_up(k->conformance);
}

const struct json *klavis_schema(const struct klavis *k, struct str name)
{
    return schemas_get(k->schemas, name);
}

/* What no app can be called, no file is looked for. */
static bool is_app_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];
        bool is_letter = ascii_is_letter(c);
        if (!is_letter && !(c >= '0' && c <= '9') && !strchr("._-", c))
            return false;
    }
    return name.len > 0 && name.len <= APP_NAME_MAX && name.p[0] != '.';
}

bool klavis_knows(void *ctx, struct str name)
{
    struct klavis *k = ctx;
    struct err e = ERR_INIT;

    if (server_find(name))
        return true;
    if (!is_app_name(name) || !k->core->instances)
        return false;
    struct app_entry *entry auto_(app_entry_unref) =
        app_registry_get(instances_apps(k->core->instances), name, &e);
    return entry || e.code == -EUCLEAN || instances_serve(k->core->instances, name);
}

/* The server of IN's app as IN has it, made when it is first needed. */
static struct app_server *find_served(struct klavis *k, const struct instance *in, struct err *e)
{
    const struct app *app = instance_app(in);
    char key[2 * APP_NAME_MAX];

    if (!app) {
        (void)err_set(e, -ENOENT, "the sandbox was released");
        return NULL;
    }
    int len = snprintf(key, sizeof key, "%s/%s", app->name, instance_app_digest(in));
    struct app_server *s = map_get(&k->served, str_n(key, (size_t)len));
    if (s)
        return s;
    s = app_server_new(k->core, app, e);
    if (s && map_put(&k->served, str_n(key, (size_t)len), s, NULL) < 0) {
        (void)err_sys(e, -ENOMEM, "server of '%s'", app->name);
        app_server_free(s);
        return NULL;
    }
    return s;
}

struct mcp_server *klavis_mcp_server(struct klavis *k, const struct instance *in, struct err *e)
{
    if (str_is(str_of(in->server), "conformance"))
        return k->conformance;
    struct app_server *s = find_served(k, in, e);
    return s ? s->mcp : NULL;
}

const struct json *klavis_data_schema(struct klavis *k, const struct instance *in, struct err *e)
{
    struct app_server *s = find_served(k, in, e);

    return s ? s->data : NULL;
}

void klavis_forget(struct klavis *k, struct str lease)
{
    struct str key;
    void *s;

    for (size_t i = 0; map_next(&k->served, &i, &key, &s);)
        mcp_forget(((struct app_server *)s)->mcp, lease);
    mcp_forget(k->conformance, lease);
}
