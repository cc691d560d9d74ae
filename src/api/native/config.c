/* SPDX-License-Identifier: MIT */
/* /api/v1/config: the templates and the sandbox template, what was saved before, and restoring
 * it. */
#include <errno.h>

#include "api/native/native.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "core/templates.h"

enum { ANSWER_MAX = 8 * TEMPLATE_LIST_BYTES };

/* Which of the two R is about. */
static enum templates_kind requested_kind_of(const struct api_req *r)
{
    const struct str prefix = STR("/api/v1/config/templates");

    return str_starts(r->http->head.path, prefix) ? TEMPLATES_LIST : TEMPLATES_BLUEPRINT;
}

/* ---- showing ---- */

static void reply_text(struct api_req *r, struct str text)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = native_begin(&body);

    jw_str(&w, text);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

/* A list as it was saved; TEXT was valid when it was. */
static void reply_list(struct api_req *r, struct str text)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = native_begin(&body);

    jw_value(&w, json_parse(r->arena, text, NULL, NULL));
    native_end(&w);
    api_reply_json(r, 200, &body);
}

void native_config_templates(struct api_req *r)
{
    struct str text = templates_text(r->core->templates, TEMPLATES_LIST);

    if (str_is(api_query(r, "raw"), "1") || str_is(api_query(r, "raw"), "true"))
        reply_text(r, text);
    else
        reply_list(r, text);
}

void native_config_blueprint(struct api_req *r)
{
    reply_text(r, templates_text(r->core->templates, TEMPLATES_BLUEPRINT));
}

/* ---- saving ---- */

static void on_text_saved(void *ctx, const struct err *e)
{
    struct api_req *r = ctx;

    if (e)
        api_fail(r, e->code, e);
    else
        native_reply_text(r, "ok");
}

/* Refuses with the field that is wrong. */
static void save_templates(struct api_req *r, enum templates_kind kind, struct str text)
{
    const struct templates_save s = {.kind = kind,
                                     .text = text,
                                     .who = str_of(r->key->account->id),
                                     .fn = on_text_saved,
                                     .ctx = r};
    struct err e = ERR_INIT;
    int code = templates_save(r->core->templates, &s, &e);

    if (code == -E2BIG || code == -EINVAL)
        api_error(r, 400, "%s", err_text(&e));
    else if (code < 0)
        api_fail(r, code, &e);
}

/* An array, {"templates": […]}, or either as a string; NULL after answering. */
static const struct json *read_text_list(struct api_req *r)
{
    const struct json *doc = r->body;
    struct err e = ERR_INIT;

    if (json_is(doc, JSON_STRING)) {
        doc = json_parse(r->arena, doc->s, NULL, &e);
        if (!doc)
            api_error(r, 400, "templates: %s", err_text(&e));
        if (!doc)
            return NULL;
    }
    if (json_is(doc, JSON_OBJECT) && json_get(doc, "templates"))
        doc = json_get(doc, "templates");
    if (!json_is(doc, JSON_ARRAY)) {
        api_error(r, 400, "templates: must be an array");
        return NULL;
    }
    return doc;
}

void native_config_save_templates(struct api_req *r)
{
    struct buf text auto_buf = BUF_INIT(ANSWER_MAX);
    const struct json *doc = read_text_list(r);

    if (!doc)
        return;
    if (json_write(&text, doc, JSON_PRETTY) < 0)
        api_fail(r, text.error, NULL);
    else
        save_templates(r, TEMPLATES_LIST, buf_str(&text));
}

static bool is_blank_text(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.p[i] != ' ' && s.p[i] != '\t' && s.p[i] != '\r' && s.p[i] != '\n')
            return false;
    return true;
}

/* The text itself, or {"content": "…"}. */
void native_config_save_blueprint(struct api_req *r)
{
    struct str text = r->http->body;
    const struct json *doc = json_parse(r->arena, text, NULL, NULL);
    struct str content = json_str(json_get(doc, "content"), STR_NULL);

    if (content.p && doc->n == 1)
        text = content;
    if (is_blank_text(text))
        api_error(r, 400, "sandbox template content is required");
    else if (str_chr(text, '\0') >= 0 || !str_is_utf8(text))
        api_error(r, 400, "invalid sandbox template syntax: must be UTF-8 text without NUL");
    else
        save_templates(r, TEMPLATES_BLUEPRINT, text);
}

/* ---- history ---- */

static void put_revision(struct jw *w, const struct templates_revision *v)
{
    char at[CLOCK_RFC3339_MAX];

    jw_object(w);
    jw_key(w, "revision");
    jw_int(w, v->number);
    if (v->at_us) {
        clock_rfc3339(at, v->at_us);
        jw_key(w, "savedAt");
        jw_cstr(w, at);
    }
    jw_key(w, "savedBy");
    jw_str(w, v->who);
    jw_key(w, "bytes");
    jw_int(w, v->n_bytes);
    jw_key(w, "current");
    jw_bool(w, v->is_current);
    jw_end(w);
}

static void on_history_listed(void *ctx, const struct templates_revision *all, size_t n,
                              const struct err *e)
{
    struct api_req *r = ctx;
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);

    if (e) {
        api_fail(r, e->code, e);
        return;
    }
    struct jw w = native_begin(&body);
    jw_array(&w);
    for (size_t i = 0; i < n; i++)
        put_revision(&w, &all[i]);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

void native_config_history(struct api_req *r)
{
    int code = templates_history(r->core->templates, requested_kind_of(r), on_history_listed, r);

    if (code < 0)
        api_fail(r, code, NULL);
}

/* The number in the path; -1 after answering. */
static int64_t read_revision(struct api_req *r)
{
    struct str text = api_param(r, "revision");
    int64_t number = -1;

    if (str_to_i64(text, &number) == 0 && number >= 0)
        return number;
    api_error(r, 400, "invalid revision: " STR_FMT, STR_ARG(str_slice(text, 0, 40)));
    return -1;
}

static void on_history_text(void *ctx, struct str text, const struct err *e)
{
    struct api_req *r = ctx;

    if (e)
        api_fail(r, e->code, e);
    else if (requested_kind_of(r) == TEMPLATES_LIST)
        reply_list(r, text);
    else
        reply_text(r, text);
}

static void on_text_to_restore(void *ctx, struct str text, const struct err *e)
{
    struct api_req *r = ctx;
    bool is_shipped = str_is(api_param(r, "revision"), "0");

    if (e)
        api_fail(r, e->code, e);
    else
        save_templates(r, requested_kind_of(r), is_shipped ? STR_NULL : text);
}

static void read_then(struct api_req *r, templates_text_fn *fn)
{
    int64_t number = read_revision(r);
    int code =
        number < 0 ? 0 : templates_read(r->core->templates, requested_kind_of(r), number, fn, r);

    if (code < 0)
        api_fail(r, code, NULL);
}

void native_config_revision(struct api_req *r)
{
    read_then(r, on_history_text);
}

void native_config_restore(struct api_req *r)
{
    read_then(r, on_text_to_restore);
}
