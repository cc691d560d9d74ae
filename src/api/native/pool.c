/* SPDX-License-Identifier: MIT */
/* /api/v1/pool: sandboxes that are kept ready, for the operator. */
#include "core/pool.h"

#include "api/native/native.h"
#include "base/cleanup.h"
#include "base/json_pair.h"
#include "core/sandbox.h"
#include "core/template.h"

enum { ANSWER_MAX = 32 << 20 };

/* The members of the template's own description, and what the pool is like now. */
static void put_pool_figures(struct jw *w, const struct pool_info *info)
{
    const struct json *own = json_get(info->template->doc, "pool");

    jw_object(w);
    for (size_t i = 0; json_is(own, JSON_OBJECT) && i < own->n; i++) {
        if (str_is(own->members[i].key, "readySize"))
            continue;
        jw_key_str(w, own->members[i].key);
        jw_value(w, &own->members[i].value);
    }
    jw_pair_int(w, "readySize", info->n_ready);
    jw_pair_int(w, "building", info->n_building);
    jw_pair_int(w, "hits", (int64_t)info->hits);
    jw_pair_int(w, "misses", (int64_t)info->misses);
    jw_pair_int(w, "filled", (int64_t)info->n_filled);
    jw_pair_int(w, "fillMs", info->fill_us / 1000);
    if (info->fault) {
        jw_key(w, "error");
        jw_cstr(w, info->fault);
    }
    jw_end(w);
}

static void put_pool(struct jw *w, const struct pool_info *info)
{
    const struct json *doc = info->template->doc;

    jw_object(w);
    for (size_t i = 0; i < doc->n; i++) {
        if (str_is(doc->members[i].key, "pool"))
            continue;
        jw_key_str(w, doc->members[i].key);
        jw_value(w, &doc->members[i].value);
    }
    jw_key(w, "pool");
    put_pool_figures(w, info);
    jw_end(w);
}

void native_pool_list(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = native_begin(&body);
    struct pool_info info;

    jw_array(&w);
    for (size_t i = 0; pools_at(r->core->pools, i, &info); i++)
        put_pool(&w, &info);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

void native_pool_members(struct api_req *r)
{
    struct str name = api_param(r, "name");
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = native_begin(&body);
    const struct sandbox *sb;

    jw_array(&w);
    for (size_t i = 0; (sb = pools_member(r->core->pools, name, i)); i++)
        native_put_member(&w, sb);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

void native_pool_drain(struct api_req *r)
{
    struct str name = api_param(r, "name");

    if (pools_drain(r->core->pools, name) < 0)
        api_error(r, 404, "pool " STR_FMT " not found", STR_ARG(str_slice(name, 0, 100)));
    else
        native_reply_text(r, "ok");
}
