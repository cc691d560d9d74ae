/* SPDX-License-Identifier: MIT */
/* /api/v1/apps: the apps of the installation, and new ones of its own. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "api/body.h"
#include "api/native/native.h"
#include "apps/catalog/registry.h"
#include "apps/catalog/skeleton.h"
#include "apps/engine/engine.h"
#include "base/cleanup.h"
#include "base/json_pair.h"
#include "core/app_checks.h"
#include "core/config.h"
#include "core/instance_set.h"

enum { LIST_MAX = 16 << 20 };

/* ---- the list ---- */

void native_put_app_line(struct jw *w, struct instances *set, const char *name)
{
    struct err e = ERR_INIT;
    struct app_entry *x auto_(app_entry_unref) =
        app_registry_get(instances_apps(set), str_of(name), &e);

    jw_object(w);
    jw_pair_cstr(w, "name", name);
    if (x) {
        jw_pair_cstr(w, "title", x->app->title);
        jw_key(w, "tools");
        jw_int(w, (int64_t)x->app->n_tools);
        jw_pair_bool(w, "data", x->app->import != NULL);
    }
    const char *found = x ? app_checks_fault(set, x) : NULL;
    if (!x || found)
        jw_pair_cstr(w, "error", found ? found : err_text(&e));
    jw_end(w);
}

static void on_checked(void *ctx)
{
    struct api_req *r = ctx;
    struct app_registry *apps = instances_apps(r->core->instances);
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = native_begin(&body);
    size_t n = 0;
    const char **names = app_registry_names(apps, r->arena, &n);

    if (!names) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    jw_array(&w);
    for (size_t i = 0; i < n; i++)
        native_put_app_line(&w, r->core->instances, names[i]);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

void native_apps_list(struct api_req *r)
{
    app_checks_run(r->core->instances, on_checked, r);
}

/* ---- one of them ---- */

static void put_tools(struct jw *w, const struct app *app)
{
    jw_key(w, "tools");
    jw_array(w);
    for (size_t i = 0; i < app->n_tools; i++) {
        jw_object(w);
        jw_pair_cstr(w, "name", app->tools[i].name);
        jw_pair_cstr(w, "description", app->tools[i].description);
        jw_pair_bool(w, "readOnly", app->tools[i].is_read_only);
        jw_end(w);
    }
    jw_end(w);
}

void native_apps_get(struct api_req *r)
{
    struct err e = ERR_INIT;
    struct app_entry *x auto_(app_entry_unref) = app_registry_get_for(
        instances_apps(r->core->instances), api_param(r, "name"), api_query(r, "benchmark"), &e);
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = native_begin(&body);

    if (!x) {
        api_error(r, e.code == -ENOENT ? 404 : 503, "%s", err_text(&e));
        return;
    }
    jw_object(&w);
    jw_pair_cstr(&w, "name", x->app->name);
    jw_pair_cstr(&w, "title", x->app->title);
    jw_pair_cstr(&w, "group", x->app->group ? x->app->group : "-");
    jw_pair_cstr(&w, "engine", x->app->engine->name);
    jw_pair_cstr(&w, "folder", x->app->dir);
    jw_pair_cstr(&w, "version", x->digest);
    jw_pair_bool(&w, "data", x->app->import != NULL);
    put_tools(&w, x->app);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

/* ---- a new one ---- */

static bool is_tool_app_name(struct str s)
{
    bool is_good = s.len > 0 && s.len <= APP_NAME_MAX;

    for (size_t i = 0; is_good && i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];
        is_good = islower(c) || isdigit(c) || (i > 0 && (c == '_' || c == '-'));
    }
    return is_good;
}

void native_apps_create(struct api_req *r)
{
    struct str name = STR_NULL;
    char dir[PATH_MAX];
    struct err e = ERR_INIT;

    if (api_body_object(r) < 0 || api_body_str(r, "name", &name) < 0)
        return;
    if (!is_tool_app_name(name)) {
        api_error(r, 400, "name may contain only lower-case letters, digits, '_' and '-'");
        return;
    }
    (void)snprintf(dir, sizeof dir, "%s/" INSTANCES_OWN "/" STR_FMT, r->core->config->state,
                   STR_ARG(name));
    int code = app_skeleton_write(dir, &e);
    if (code < 0) {
        api_fail(r, code, &e);
        return;
    }
    struct buf body auto_buf = BUF_INIT(4 * PATH_MAX);
    struct jw w = native_begin(&body);
    jw_object(&w);
    jw_key(&w, "name");
    jw_str(&w, name);
    jw_pair_cstr(&w, "folder", dir);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}
