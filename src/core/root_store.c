/* SPDX-License-Identifier: MIT */
/* Roots as files: STATE/roots/ID.json. See root.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "core/root_internal.h"
#include "sys/io.h"

enum { ID_LEN = 20 };

static const char *const kinds[ROOT_KIND_COUNT] = {
    [ROOT_IMAGE] = "image",
    [ROOT_SNAPSHOT] = "snapshot",
    [ROOT_BUILD] = "build",
    [ROOT_FORK] = "fork",
};

int root_file_path(const char *state, const char *id, bool is_removed, char ret[PATH_MAX])
{
    int n = snprintf(ret, PATH_MAX, "%s/" ROOT_FOLDER "/%s%s", state, id,
                     is_removed ? ROOT_SUFFIX_REMOVED : ROOT_SUFFIX);

    return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int root_file(const struct root *r, char ret[PATH_MAX])
{
    return root_file_path(r->set->state, r->id, r->is_removed, ret);
}

/* ---- writing ---- */

static void put_root_str(struct jw *w, const char *name, struct str s)
{
    jw_key(w, name);
    jw_str(w, s.p ? s : STR(""));
}

static void put_object(struct jw *w, const char *name, const struct json *v)
{
    if (!v)
        return;
    jw_key(w, name);
    jw_value(w, v);
}

static void put_root(struct jw *w, const struct root_args *a)
{
    jw_object(w);
    put_root_str(w, "kind", str_of(kinds[a->kind]));
    put_root_str(w, "name", a->name);
    put_root_str(w, "account", a->account);
    put_root_str(w, "origin", a->origin);
    jw_key(w, "on_default");
    jw_bool(w, a->is_on_default);
    jw_key(w, "created_us");
    jw_int(w, clock_real_us());
    jw_key(w, "bytes");
    jw_int(w, (int64_t)a->bytes);
    jw_key(w, "layers");
    jw_array(w);
    for (size_t i = 0; i < a->n_layers; i++)
        jw_cstr(w, a->layers[i]);
    jw_end(w);
    put_object(w, "config", a->config);
    put_object(w, "extra", a->extra);
    jw_end(w);
}

int root_write(const char *state, const struct root_args *a, char ret_id[ROOT_ID_MAX],
               struct err *e)
{
    struct buf text auto_buf = BUF_INIT(ROOT_FILE_MAX);
    struct jw w = jw_to(&text);
    char path[PATH_MAX], id[ID_LEN + 1];

    put_root(&w, a);
    if (!buf_ok(&text))
        return err_sys(e, text.error, "description of '" STR_FMT "'", STR_ARG(a->name));
    id_hex(id, ID_LEN);
    int r = root_file_path(state, id, false, path);
    if (r < 0)
        return err_sys(e, r, "root");
    r = io_write_file(path, buf_str(&text), 0600, e);
    if (r == 0)
        (void)snprintf(ret_id, ROOT_ID_MAX, "%s", id);
    return r;
}

/* ---- reading ---- */

static int read_kind(const struct json *doc, enum root_kind *ret)
{
    struct str kind = json_str(json_get(doc, "kind"), STR(""));

    for (size_t i = 0; i < ROOT_KIND_COUNT; i++)
        if (str_is(kind, kinds[i])) {
            *ret = (enum root_kind)i;
            return 0;
        }
    return -EINVAL;
}

static int read_layers(struct root *r, const struct json *list, const char *state)
{
    size_t max = r->args.is_on_default ? ROOT_ON_DEFAULT_MAX : ROOT_LAYERS_MAX;

    if (!json_is(list, JSON_ARRAY) || list->n == 0 || list->n > max)
        return -EINVAL;
    char(*layers)[LAYER_ID_MAX] = arena_zalloc(&r->arena, list->n, sizeof *layers);
    const char **paths = arena_zalloc(&r->arena, list->n, sizeof *paths);
    for (size_t i = 0; layers && paths && i < list->n; i++) {
        struct str id = json_str(&list->items[i], STR(""));
        char path[PATH_MAX];
        if (!layer_is_id(id))
            return -EINVAL;
        (void)snprintf(layers[i], LAYER_ID_MAX, STR_FMT, STR_ARG(id));
        if (layer_path(state, layers[i], path) < 0)
            return -ENAMETOOLONG;
        paths[i] = arena_str(&r->arena, str_of(path)).p;
        if (!paths[i])
            return -ENOMEM;
    }
    if (!layers || !paths)
        return -ENOMEM;
    r->args.layers = (const char(*)[LAYER_ID_MAX])layers;
    r->args.n_layers = list->n;
    r->paths = paths;
    return 0;
}

int root_read(struct root *r, const char *state, struct err *e)
{
    struct buf text auto_buf = BUF_INIT(ROOT_FILE_MAX);
    char path[PATH_MAX];
    int c = root_file_path(state, r->id, r->is_removed, path);

    if (c == 0)
        c = io_read_file(path, &text, e);
    if (c < 0)
        return c;
    struct str copy = arena_str(&r->arena, buf_str(&text));
    const struct json *doc = copy.p ? json_parse(&r->arena, copy, NULL, e) : NULL;
    if (!doc)
        return err_ctx(e, -EINVAL, "root '%s'", r->id);
    struct root_args *a = &r->args;
    a->name = json_str(json_get(doc, "name"), STR(""));
    a->account = json_str(json_get(doc, "account"), STR(""));
    a->origin = json_str(json_get(doc, "origin"), STR(""));
    a->is_on_default = json_bool(json_get(doc, "on_default"), false);
    a->bytes = (uint64_t)json_int(json_get(doc, "bytes"), 0);
    a->config = json_get(doc, "config");
    a->extra = json_get(doc, "extra");
    r->created_us = json_int(json_get(doc, "created_us"), 0);
    c = read_kind(doc, &a->kind);
    if (c == 0)
        c = read_layers(r, json_get(doc, "layers"), state);
    return c < 0 ? err_sys(e, c, "root '%s'", r->id) : 0;
}
