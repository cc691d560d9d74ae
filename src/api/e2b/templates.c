/* SPDX-License-Identifier: MIT */
/* What clients ask of templates and teams in ordinary use, and what is not served here. */
#include "api/e2b/e2b.h"
#include "api/internal.h"
#include "base/e2b.h"
#include "core/config.h"
#include "core/quantity.h"
#include "core/template.h"

enum { ANSWER_MAX = 1 << 20 };

static void put_cstr(struct jw *w, const char *name, const char *s)
{
    jw_key(w, name);
    jw_cstr(w, s);
}

static void put_int(struct jw *w, const char *name, int64_t i)
{
    jw_key(w, name);
    jw_int(w, i);
}

/* A list of one name. */
static void put_names(struct jw *w, const char *name, const char *only)
{
    jw_key(w, name);
    jw_array(w);
    jw_cstr(w, only);
    jw_end(w);
}

/* They are part of the program, and as old as it. */
static void put_template(struct jw *w, const struct config *config, const char *name)
{
    static const char build[] = "00000000-0000-0000-0000-000000000000";
    static const char since[] = "2026-01-01T00:00:00Z";
    uint64_t milli = 0, memory = 0;

    (void)quantity_milli(str_of(config->cells.cpu_limit), &milli);
    (void)quantity_units(str_of(config->cells.memory_limit), &memory);
    jw_object(w);
    put_cstr(w, "templateID", name);
    put_cstr(w, "buildID", build);
    put_cstr(w, "buildStatus", "ready");
    put_int(w, "cpuCount", (int64_t)((milli + 999) / 1000));
    put_int(w, "memoryMB", (int64_t)(memory >> 20));
    put_int(w, "diskSizeMB", config->cells.disk >> 20);
    jw_key(w, "public");
    jw_bool(w, true);
    put_names(w, "aliases", name);
    put_names(w, "names", name);
    put_cstr(w, "createdAt", since);
    put_cstr(w, "updatedAt", since);
    put_cstr(w, "createdBy", NULL);
    put_cstr(w, "lastSpawnedAt", NULL);
    put_int(w, "spawnCount", 0);
    put_int(w, "buildCount", 1);
    put_cstr(w, "envdVersion", E2B_ENVD_VERSION);
    jw_end(w);
}

void e2b_templates(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);
    const char *name;

    jw_array(&w);
    for (size_t i = 0; (name = template_name_at(i)); i++)
        put_template(&w, r->core->config, name);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

void e2b_template_alias(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);
    struct str alias = api_param(r, "alias"), id = template_id(alias);

    if (!id.p) {
        api_error(r, 404, "template '" STR_FMT "' not found", STR_ARG(str_slice(alias, 0, 100)));
        return;
    }
    jw_object(&w);
    jw_key(&w, "templateID");
    jw_str(&w, id);
    jw_key(&w, "public");
    jw_bool(&w, true);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

/* An account is what E2B calls a team. The key is the one that the caller sent, so that it need not
 * be told. */
void e2b_teams(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    jw_array(&w);
    jw_object(&w);
    put_cstr(&w, "teamID", r->key->account->id);
    put_cstr(&w, "name", r->key->account->id);
    jw_key(&w, "apiKey");
    jw_str(&w, api_token(r->http));
    jw_key(&w, "isDefault");
    jw_bool(&w, true);
    jw_end(&w);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

/* ---- what is not served ---- */

void e2b_no_fork(struct api_req *r)
{
    api_error(r, 501, "fork is not supported: the memory of a sandbox cannot be copied");
}

void e2b_no_snapshots(struct api_req *r)
{
    api_error(r, 501, "snapshots are not supported yet; pause preserves a sandbox as it is");
}

void e2b_no_builds(struct api_req *r)
{
    api_error(r, 501, "templates are built in: builds, tags and deletion are not supported");
}

void e2b_no_volumes(struct api_req *r)
{
    api_error(r, 501, "volumes are not supported");
}

void e2b_no_secrets(struct api_req *r)
{
    api_error(r, 501, "secrets are not supported");
}
