/* SPDX-License-Identifier: MIT */
/* What clients ask of templates and teams in ordinary use, and what is not served here. */
#include "core/templates.h"

#include <string.h>

#include "api/e2b/builds.h"
#include "api/e2b/e2b.h"
#include "api/internal.h"
#include "base/clock.h"
#include "base/e2b.h"
#include "base/json_pair.h"
#include "core/build.h"
#include "core/config.h"
#include "core/quantity.h"

enum { ANSWER_MAX = 4 << 20 };

/* ---- templates ---- */

static const char build_id[] = "00000000-0000-0000-0000-000000000000";
static const char since[] = "2026-01-01T00:00:00Z";

/* Its own name first. */
static void put_template_names(struct jw *w, const char *key, const struct template *t)
{
    jw_key(w, key);
    jw_array(w);
    jw_cstr(w, t->name);
    for (size_t i = 0; t->aliases && i < t->aliases->n; i++)
        jw_str(w, t->aliases->items[i].s);
    jw_end(w);
}

/* What a sandbox of T may use, in E2B's units. */
static void put_size(struct jw *w, const struct config *config, const struct template *t)
{
    struct str cpu = t->resources.cpu_limit, memory = t->resources.memory_limit;
    uint64_t milli = 0, bytes = 0, disk = 0;

    (void)quantity_milli(cpu.len > 0 ? cpu : str_of(config->cells.cpu_limit), &milli);
    (void)quantity_units(memory.len > 0 ? memory : str_of(config->cells.memory_limit), &bytes);
    if (t->resources.disk.len == 0 || quantity_units(t->resources.disk, &disk) < 0)
        disk = (uint64_t)config->cells.disk;
    jw_pair_int(w, "cpuCount", (int64_t)((milli + 999) / 1000));
    jw_pair_int(w, "memoryMB", (int64_t)(bytes >> 20));
    jw_pair_int(w, "diskSizeMB", (int64_t)(disk >> 20));
    jw_pair_cstr(w, "envdVersion", E2B_ENVD_VERSION);
}

static void put_template(struct jw *w, const struct config *config, const struct template *t)
{
    jw_pair_cstr(w, "templateID", t->name);
    jw_pair_cstr(w, "buildID", build_id);
    jw_pair_cstr(w, "buildStatus", "ready");
    put_size(w, config, t);
    jw_key(w, "public");
    jw_bool(w, true);
    put_template_names(w, "aliases", t);
    put_template_names(w, "names", t);
    jw_pair_cstr(w, "createdAt", since);
    jw_pair_cstr(w, "updatedAt", since);
    jw_pair_cstr(w, "createdBy", NULL);
    jw_pair_cstr(w, "lastSpawnedAt", NULL);
    jw_pair_int(w, "spawnCount", 0);
    jw_pair_int(w, "buildCount", 1);
}

/* ---- what accounts have built ---- */

static void put_built(struct jw *w, const struct api_req *r, const struct build_tag *t)
{
    const struct template size = {.name = ""};
    char at[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(at, t->created_us);
    jw_pair_cstr(w, "templateID", t->template_id);
    jw_pair_cstr(w, "buildID", t->build_id);
    jw_pair_cstr(w, "buildStatus", "ready");
    put_size(w, r->core->config, &size);
    jw_key(w, "public");
    jw_bool(w, false);
    for (int i = 0; i < 2; i++) {
        jw_key(w, i ? "names" : "aliases");
        jw_array(w);
        jw_cstr(w, t->alias);
        jw_end(w);
    }
    jw_pair_cstr(w, "createdAt", at);
    jw_pair_cstr(w, "updatedAt", at);
    jw_pair_cstr(w, "createdBy", NULL);
    jw_pair_cstr(w, "lastSpawnedAt", NULL);
    jw_pair_int(w, "spawnCount", 0);
    jw_pair_int(w, "buildCount", 1);
}

/* One entry for each template, whatever tags it has. */
static void put_all_built(struct jw *w, const struct api_req *r)
{
    const struct build_tag *t = NULL, *last = NULL;

    while ((t = build_tag_next(r->core->builds, t, r->key->account->id, STR("")))) {
        if (last && strcmp(last->alias, t->alias) == 0)
            continue;
        last = t;
        jw_object(w);
        put_built(w, r, t);
        jw_end(w);
    }
}

static const struct build_tag *find_built(struct api_req *r, struct str name)
{
    struct str alias, tag;

    e2b_split_name(r, name, &alias, &tag);
    return alias.len > 0 ? build_tag_next(r->core->builds, NULL, r->key->account->id, alias) : NULL;
}

/* Nothing is listed that could not be created. */
static bool is_listed_template(const struct template *t)
{
    return !t->is_dynamic && template_check(t, NULL) == 0;
}

void e2b_templates(struct api_req *r)
{
    const struct template_list *all = templates_list(r->core->templates);
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);
    const struct template *t;

    jw_array(&w);
    for (size_t i = 0; (t = template_list_at(all, i)); i++) {
        if (!is_listed_template(t))
            continue;
        jw_object(&w);
        put_template(&w, r->core->config, t);
        jw_end(&w);
    }
    put_all_built(&w, r);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

static void refuse_unknown_template(struct api_req *r, struct str name)
{
    api_error(r, 404, "template '" STR_FMT "' not found", STR_ARG(str_slice(name, 0, 100)));
}

void e2b_template_get(struct api_req *r)
{
    struct str name = api_param(r, "id");
    const struct template *t = templates_find(r->core->templates, name);
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    const struct build_tag *built = t ? NULL : find_built(r, name);
    if (built) {
        jw_object(&w);
        put_built(&w, r, built);
        jw_end(&w);
        api_reply_json(r, 200, &body);
        return;
    }
    if (!t || !is_listed_template(t)) {
        refuse_unknown_template(r, name);
        return;
    }
    jw_object(&w);
    put_template(&w, r->core->config, t);
    jw_key(&w, "builds");
    jw_array(&w);
    jw_object(&w);
    jw_pair_cstr(&w, "buildID", build_id);
    jw_pair_cstr(&w, "status", "ready");
    jw_pair_cstr(&w, "createdAt", since);
    jw_pair_cstr(&w, "updatedAt", since);
    jw_pair_cstr(&w, "finishedAt", since);
    put_size(&w, r->core->config, t);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

void e2b_template_alias(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);
    struct str alias = api_param(r, "alias"), id = templates_id(r->core->templates, alias);
    const struct build_tag *built = find_built(r, alias);

    if (built)
        id = str_of(built->template_id);
    if (!id.p) {
        refuse_unknown_template(r, alias);
        return;
    }
    jw_object(&w);
    jw_key(&w, "templateID");
    jw_str(&w, id);
    jw_key(&w, "public");
    jw_bool(&w, !built);
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
    jw_pair_cstr(&w, "teamID", r->key->account->id);
    jw_pair_cstr(&w, "name", r->key->account->id);
    jw_key(&w, "apiKey");
    jw_str(&w, api_token(r->http));
    jw_key(&w, "isDefault");
    jw_bool(&w, true);
    jw_end(&w);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

/* ---- what is not served ---- */

void e2b_no_secrets(struct api_req *r)
{
    api_error(r, 501, "secrets are not supported");
}
