/* SPDX-License-Identifier: MIT */
/* Tags of templates that were built, and the templates themselves: listing and deleting them. */
#include <errno.h>
#include <stdio.h>

#include "api/body.h"
#include "api/e2b/builds.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "core/build.h"

enum { ANSWER_MAX = 4 << 20 };

static struct build_tag *find_named_tag(struct api_req *r, struct str text)
{
    struct str alias, tag;

    e2b_split_name(r, text, &alias, &tag);
    return build_tag_find(r->core->builds, r->key->account->id, alias, tag);
}

static void refuse_unknown_tag(struct api_req *r, struct str name)
{
    api_error(r, 404, "template '" STR_FMT "' not found", STR_ARG(str_slice(name, 0, 100)));
}

/* 0, or -EINVAL after answering. */
static int check_tags(struct api_req *r, const struct json *tags)
{
    bool is_list = json_is(tags, JSON_ARRAY) && tags->n > 0 && tags->n <= BUILD_TAGS_MAX;

    for (size_t i = 0; is_list && i < tags->n; i++)
        is_list = build_name_is_valid(json_str(&tags->items[i], STR("")), true);
    if (is_list)
        return 0;
    api_error(r, 400, "Invalid tags: 1 to %d words of a-z, 0-9, '-', '_', '.'", BUILD_TAGS_MAX);
    return -EINVAL;
}

/* ---- POST /templates/tags ---- */

struct tagging {
    struct api_req *r;
    const struct json *tags;
    char build_id[ID_UUID_LEN + 1];
};

static void on_tagged(void *ctx, const struct err *e)
{
    struct tagging *t = ctx;
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    if (e) {
        e2b_fail(t->r, NULL, e->code, e);
        return;
    }
    jw_object(&w);
    jw_key(&w, "buildID");
    jw_cstr(&w, t->build_id);
    jw_key(&w, "tags");
    jw_value(&w, t->tags);
    jw_end(&w);
    api_reply_json(t->r, 201, &body);
}

void e2b_tags_add(struct api_req *r)
{
    struct tagging *t = arena_new(r->arena, struct tagging);
    struct str target = STR_NULL;
    const struct json *tags = api_body_member(r, "tags");

    if (!t || api_body_object(r) < 0 || api_body_str(r, "target", &target) < 0 ||
        check_tags(r, tags) < 0)
        return;
    const struct build_tag *from = find_named_tag(r, target);
    if (!from) {
        refuse_unknown_tag(r, target);
        return;
    }
    *t = (struct tagging){.r = r, .tags = tags};
    (void)snprintf(t->build_id, sizeof t->build_id, "%s", from->build_id);
    struct err e = ERR_INIT;
    int code = build_tag_add(r->core->builds, from, tags, on_tagged, t, &e);
    if (code < 0)
        e2b_build_fail(r, code, &e);
}

/* ---- DELETE ---- */

static void on_tag_deleted(void *ctx, const struct err *e)
{
    struct api_req *r = ctx;

    if (e)
        e2b_fail(r, NULL, e->code, e);
    else
        api_reply(r, 204, NULL, STR_NULL);
}

void e2b_tags_remove(struct api_req *r)
{
    struct str name = STR_NULL, alias, tag;
    const struct json *tags = api_body_member(r, "tags");
    const char *account = r->key->account->id;

    if (api_body_object(r) < 0 || api_body_str(r, "name", &name) < 0 || check_tags(r, tags) < 0)
        return;
    e2b_split_name(r, name, &alias, &tag);
    for (size_t i = 0; i < tags->n; i++) {
        if (str_is(tags->items[i].s, "default")) {
            api_error(r, 400, "the tag 'default' cannot be deleted");
            return;
        }
        if (!build_tag_find(r->core->builds, account, alias, tags->items[i].s)) {
            api_error(r, 404, "tag '" STR_FMT "' does not exist for template '" STR_FMT "'",
                      STR_ARG(tags->items[i].s), STR_ARG(str_slice(alias, 0, 100)));
            return;
        }
    }
    int code = build_tag_remove(r->core->builds, account, alias, tags, on_tag_deleted, r);
    if (code < 0)
        api_fail(r, code, NULL);
}

bool e2b_built_delete(struct api_req *r, struct str name)
{
    struct str alias, tag;
    const char *account = r->key->account->id;

    e2b_split_name(r, name, &alias, &tag);
    const struct build_tag *t = build_tag_next(r->core->builds, NULL, account, alias);
    if (!t || alias.len == 0)
        return false;
    int code =
        build_tag_remove(r->core->builds, account, str_of(t->alias), NULL, on_tag_deleted, r);
    if (code < 0)
        api_fail(r, code, NULL);
    return true;
}

/* ---- GET /templates/{id}/tags ---- */

void e2b_tags(struct api_req *r)
{
    struct str alias, tag, name = api_param(r, "id");
    const char *account = r->key->account->id;
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    e2b_split_name(r, name, &alias, &tag);
    const struct build_tag *t = build_tag_next(r->core->builds, NULL, account, alias);
    if (!t || alias.len == 0) {
        refuse_unknown_tag(r, name);
        return;
    }
    jw_array(&w);
    for (; t; t = build_tag_next(r->core->builds, t, account, alias)) {
        char at[CLOCK_RFC3339_MAX];
        clock_rfc3339_us(at, t->created_us);
        jw_object(&w);
        jw_key(&w, "tag");
        jw_cstr(&w, t->tag);
        jw_key(&w, "buildID");
        jw_cstr(&w, t->build_id);
        jw_key(&w, "createdAt");
        jw_cstr(&w, at);
        jw_end(&w);
    }
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

/* ---- PATCH /v2/templates/{id} ---- */

/* Templates of an account are its own; that they become everybody's is not offered. */
void e2b_template_patch(struct api_req *r)
{
    struct str alias, tag, name = api_param(r, "id");
    bool is_public = false;
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    if (api_body_object(r) < 0 || api_body_bool(r, "public", &is_public) < 0)
        return;
    e2b_split_name(r, name, &alias, &tag);
    const struct build_tag *t = build_tag_next(r->core->builds, NULL, r->key->account->id, alias);
    if (!t || alias.len == 0) {
        refuse_unknown_tag(r, name);
        return;
    }
    if (is_public) {
        api_error(r, 403, "templates cannot be shared between accounts");
        return;
    }
    jw_object(&w);
    jw_key(&w, "names");
    jw_array(&w);
    jw_cstr(&w, t->alias);
    jw_end(&w);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}
