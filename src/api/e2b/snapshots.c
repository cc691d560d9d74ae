/* SPDX-License-Identifier: MIT */
/* Snapshots: a sandbox's files as something that other sandboxes are created from. They are kept
 * until they are deleted. Memory is not: processes of a sandbox that is created from one start as
 * those of any other. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/body.h"
#include "api/e2b/builds.h"
#include "api/e2b/e2b.h"
#include "api/internal.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "core/root.h"
#include "core/sandbox.h"
#include "core/templates.h"

enum { LIMIT_DEFAULT = 100, LIMIT_MAX = 100, LIST_MAX = 16 << 20, NAME_MAX_LEN = 128 };

#define DEFAULT_TAG "default"

/* ---- names ---- */

static bool is_part(struct str s, const char *more)
{
    for (size_t i = 0; i < s.len; i++)
        if (!ascii_is_alnum(s.p[i]) && !strchr(more, s.p[i]))
            return false;
    return s.len > 0 && s.len <= NAME_MAX_LEN;
}

/* "name" or "name:tag", with the account and a slash before it or not, as "name:tag"; .p is NULL
 * when it is none. */
static struct str read_snapshot_name(const struct api_req *r, struct str text)
{
    struct str tag = text, name = str_cut(&tag, ':');
    int slash = (int)str_chr(name, '/');

    if (slash >= 0 && !str_is(str_slice(name, 0, (size_t)slash), r->key->account->id))
        return STR_NULL;
    if (slash >= 0)
        name = str_skip(name, (size_t)slash + 1);
    if (!is_part(name, "-_") || (tag.p && !is_part(tag, "-_.")))
        return STR_NULL;
    size_t len = name.len + 1 + (tag.p ? tag.len : strlen(DEFAULT_TAG));
    char *whole = arena_alloc(r->arena, len + 1);
    if (!whole)
        return STR_NULL;
    (void)snprintf(whole, len + 1, STR_FMT ":" STR_FMT, STR_ARG(name),
                   STR_ARG(tag.p ? tag : STR(DEFAULT_TAG)));
    for (size_t i = 0; i < len; i++)
        whole[i] = ascii_lower(whole[i]);
    return str_n(whole, len);
}

/* By its name, or by its id, which has one tag only. */
struct root *e2b_snapshot_find(const struct api_req *r, struct str text)
{
    const struct roots *set = r->core->roots;
    struct str name = read_snapshot_name(r, text), tag = name, id = str_cut(&tag, ':');
    struct root *root = NULL;

    if (!name.p)
        return NULL;
    if (str_is(tag, DEFAULT_TAG))
        root = root_find(set, id);
    if (!root)
        root = root_find_name(set, ROOT_SNAPSHOT, name, r->key->account->id);
    bool is_found = root && root->args.kind == ROOT_SNAPSHOT && !root->is_removed;
    return is_found && root_is_visible(root, r->key) ? root : NULL;
}

void e2b_snapshot_apply(const struct root *root, struct sandbox_args *a)
{
    const struct json *extra = root->args.extra;

    a->root = str_of(root->id);
    a->template_name = json_str(json_get(extra, "template"), STR(""));
    a->cpu_limit = json_str(json_get(extra, "cpu_limit"), STR_NULL);
    a->memory_limit = json_str(json_get(extra, "memory_limit"), STR_NULL);
    a->disk = json_str(json_get(extra, "disk"), STR_NULL);
}

/* ---- showing ---- */

static void put_snapshot_item(struct jw *w, struct arena *a, const struct root *root)
{
    bool has_name = root->args.name.len > 0;

    jw_object(w);
    jw_key(w, "snapshotID");
    jw_str(w, has_name ? root->args.name : arena_printf(a, "%s:" DEFAULT_TAG, root->id));
    jw_key(w, "names");
    jw_array(w);
    if (has_name)
        jw_str(w, root->args.name);
    jw_end(w);
    /* What E2B would keep of it. */
    jw_key(w, "memory");
    jw_bool(w, false);
    jw_end(w);
}

/* ---- taking ---- */

int e2b_refuse_memory(struct api_req *r, const char *what)
{
    bool wants_memory = false;

    if (api_body_bool(r, "memory", &wants_memory) < 0)
        return -EINVAL;
    if (!wants_memory)
        return 0;
    api_error(r, 501,
              "memory is not kept: %s has the files of the sandbox, not its processes; "
              "leave memory out, or set it to false",
              what);
    return -EOPNOTSUPP;
}

/* One name is one snapshot: the newest. Those who run from an older one go on. */
static void replace_older_snapshot(const struct root *root)
{
    struct root *old = NULL;

    if (root->args.name.len == 0)
        return;
    for (struct root *next = root_next(root->set, NULL); (old = next);) {
        next = root_next(root->set, old);
        if (old != root && old->args.kind == ROOT_SNAPSHOT &&
            str_eq(old->args.account, root->args.account) &&
            str_eq(old->args.name, root->args.name))
            root_remove(old);
    }
}

static void on_snapshot_taken(void *ctx, struct root *root, const struct err *e)
{
    struct api_req *r = ctx;
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&body);

    if (!root) {
        e2b_fail(r, NULL, e->code, e);
        return;
    }
    replace_older_snapshot(root);
    put_snapshot_item(&w, r->arena, root);
    root_unref(root);
    api_reply_json(r, 201, &body);
}

/* What a sandbox that is created from it gets besides its files. */
static struct json *make_snapshot_extra(struct arena *a, const struct sandbox *sb)
{
    const struct {
        const char *name;
        struct str value;
    } rows[] = {{"template", sb->spec.template_name},
                {"cpu_limit", sb->spec.cpu_limit},
                {"memory_limit", sb->spec.memory_limit},
                {"disk", sb->spec.disk}};
    struct json *extra = json_new_object(a);

    for (size_t i = 0; extra && i < ARRAY_LEN(rows); i++) {
        const struct json *v = json_new_str(a, rows[i].value);
        if (!v || json_set(a, extra, rows[i].name, v) < 0)
            return NULL;
    }
    return extra;
}

void e2b_snapshot(struct api_req *r)
{
    struct sandbox *sb = e2b_find(r);
    struct str text = STR_NULL, name = STR("");
    struct err e = ERR_INIT;

    if (!sb || api_body_object(r) < 0 || api_body_str(r, "name", &text) < 0 ||
        e2b_refuse_memory(r, "a snapshot") < 0)
        return;
    if (text.len > 0)
        name = read_snapshot_name(r, text);
    if (!name.p) {
        api_error(r, 400, "Invalid snapshot name \"" STR_FMT "\"",
                  STR_ARG(str_slice(text, 0, 100)));
        return;
    }
    struct str tag = name, alias = str_cut(&tag, ':');
    if (name.len > 0 && templates_id(r->core->templates, alias).p) {
        api_error(r, 400, "Invalid snapshot name \"" STR_FMT "\": a template has it",
                  STR_ARG(str_slice(text, 0, 100)));
        return;
    }
    struct root_capture rq = {.kind = ROOT_SNAPSHOT,
                              .name = name,
                              .extra = make_snapshot_extra(r->arena, sb),
                              .fn = on_snapshot_taken,
                              .ctx = r};
    int code = rq.extra ? root_capture(sb, &rq, &e) : -ENOMEM;
    if (code < 0)
        e2b_fail(r, sb, code, &e);
}

/* ---- listing ---- */

static bool is_snapshot_wanted(const struct api_req *r, const struct root *root,
                               const struct root *named)
{
    struct str from = api_query(r, "sandboxID");

    return root->args.kind == ROOT_SNAPSHOT && root_is_visible(root, r->key) &&
           (from.len == 0 || str_eq(str_cut(&from, '-'), root->args.origin)) &&
           (api_query(r, "name").len == 0 || root == named);
}

/* Newest first; a page begins behind the one that the token names. */
void e2b_snapshots(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&body);
    struct str limit = api_query(r, "limit"), token = api_query(r, "nextToken");
    struct str name = api_query(r, "name");
    const struct root *named = name.len > 0 ? e2b_snapshot_find(r, name) : NULL;
    const struct root *root = token.len > 0 ? root_find(r->core->roots, token) : NULL, *last = NULL;
    int64_t max = LIMIT_DEFAULT, n = 0;

    if (limit.len > 0 && (str_to_i64(limit, &max) < 0 || max < 1 || max > LIMIT_MAX)) {
        api_error(r, 400, "Invalid limit \"" STR_FMT "\"", STR_ARG(str_slice(limit, 0, 100)));
        return;
    }
    if (token.len > 0 && (!root || root->is_removed || !root_is_visible(root, r->key))) {
        api_error(r, 400, "Invalid next token");
        return;
    }
    jw_array(&w);
    while ((root = root_next(r->core->roots, root))) {
        if (!is_snapshot_wanted(r, root, named))
            continue;
        if (n++ == max)
            break;
        put_snapshot_item(&w, r->arena, root);
        last = root;
    }
    jw_end(&w);
    if (root)
        (void)http_add_header(r->http, "X-Next-Token", arena_str(r->arena, str_of(last->id)));
    api_reply_json(r, 200, &body);
}

/* ---- deleting ---- */

void e2b_template_delete(struct api_req *r)
{
    struct str id = api_param(r, "id");
    struct root *root = e2b_snapshot_find(r, id);

    if (!root && e2b_built_delete(r, id))
        return;
    if (root) {
        root_remove(root);
        api_reply(r, 204, NULL, STR_NULL);
    } else if (templates_id(r->core->templates, id).p) {
        api_error(r, 403, "template '" STR_FMT "' is part of the service's configuration",
                  STR_ARG(str_slice(id, 0, 100)));
    } else {
        api_error(r, 404, "template '" STR_FMT "' not found", STR_ARG(str_slice(id, 0, 100)));
    }
}
