/* SPDX-License-Identifier: MIT */
/* Builds of templates: asking for one, starting it, and looking how far it is. */
#include "api/e2b/builds.h"

#include <errno.h>
#include <stdio.h>

#include "api/body.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "core/build.h"

enum { ANSWER_MAX = 8 << 20, LINES_PER_ANSWER = 100, CPU_MAX = 4096 };

/* ---- names ---- */

/* S in lower case; .p is NULL without memory. */
static struct str e2b_lower(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, s.len + 1);

    for (size_t i = 0; out && i < s.len; i++)
        out[i] = ascii_lower(s.p[i]);
    return out ? str_n(out, s.len) : STR_NULL;
}

/* "[account/]alias[:tag]" in two parts. */
void e2b_split_name(struct api_req *r, struct str text, struct str *ret_alias, struct str *ret_tag)
{
    struct str tag = e2b_lower(r->arena, text), name = str_cut(&tag, ':');
    ptrdiff_t slash = str_chr(name, '/');

    if (slash >= 0 && str_is(str_slice(name, 0, (size_t)slash), r->key->account->id))
        name = str_skip(name, (size_t)slash + 1);
    *ret_alias = name;
    *ret_tag = tag.p ? tag : STR("");
}

void e2b_build_fail(struct api_req *r, int code, const struct err *e)
{
    if (code == -EDQUOT)
        api_error(r, 429, "%s", err_text(e));
    else
        e2b_fail(r, NULL, code, e);
}

/* ---- asking for one ---- */

static void put_build_list(struct jw *w, const char *name, struct str only)
{
    jw_key(w, name);
    jw_array(w);
    jw_str(w, only);
    jw_end(w);
}

static void reply_requested(struct api_req *r, const struct build *b)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    jw_object(&w);
    jw_key(&w, "templateID");
    jw_cstr(&w, b->template_id);
    jw_key(&w, "buildID");
    jw_cstr(&w, b->id);
    jw_key(&w, "public");
    jw_bool(&w, false);
    put_build_list(&w, "aliases", str_of(b->alias));
    put_build_list(&w, "names", str_of(b->alias));
    jw_key(&w, "tags");
    jw_value(&w, b->tags);
    jw_end(&w);
    api_reply_json(r, 202, &body);
}

/* The tag of the name comes before the others. */
static const struct json *read_build_tags(struct api_req *r, struct str first)
{
    const struct json *more = api_body_member(r, "tags");
    struct json *all = json_new_array(r->arena);

    if (all && first.len > 0) {
        const struct json *v = json_new_str(r->arena, first);
        if (!v || json_push(r->arena, all, v) < 0)
            return NULL;
    }
    for (size_t i = 0; all && json_is(more, JSON_ARRAY) && i < more->n; i++)
        if (json_push(r->arena, all, &more->items[i]) < 0)
            return NULL;
    return all;
}

void e2b_build_request(struct api_req *r)
{
    struct build_request rq = {.key = r->key};
    struct str name = STR_NULL, tag;
    struct err e = ERR_INIT;

    if (api_body_object(r) < 0 || api_body_str(r, "name", &name) < 0 ||
        (name.len == 0 && api_body_str(r, "alias", &name) < 0) ||
        api_body_int(r, "cpuCount", &rq.cpu) < 0 || api_body_int(r, "memoryMB", &rq.memory_mb) < 0)
        return;
    e2b_split_name(r, name, &rq.alias, &tag);
    rq.tags = read_build_tags(r, tag);
    if (rq.cpu < 0 || rq.cpu > CPU_MAX || rq.memory_mb < 0 || rq.memory_mb > INT32_MAX) {
        api_error(r, 400, "cpuCount and memoryMB must be positive numbers");
        return;
    }
    const struct build *b = rq.tags ? build_new(r->core->builds, &rq, &e) : NULL;
    if (b)
        reply_requested(r, b);
    else
        e2b_build_fail(r, e.code ? e.code : -ENOMEM, &e);
}

/* ---- starting it ---- */

static struct build *find_build(struct api_req *r)
{
    struct str id = api_param(r, "build"), template_id = api_param(r, "id");
    struct build *b = build_find(r->core->builds, id, r->key);

    if (b && str_is(template_id, b->template_id))
        return b;
    api_error(r, 404, "build '" STR_FMT "' not found", STR_ARG(str_slice(id, 0, 100)));
    return NULL;
}

void e2b_build_start(struct api_req *r)
{
    struct build *b = find_build(r);
    struct err e = ERR_INIT;

    if (!b || api_body_object(r) < 0)
        return;
    int code = build_start(b, r->body, &e);
    if (code < 0)
        e2b_build_fail(r, code, &e);
    else
        api_reply(r, 202, "application/json", STR(""));
}

/* ---- looking ---- */

static void put_step(struct jw *w, int step)
{
    char number[16];

    (void)snprintf(number, sizeof number, "%d", step);
    jw_key(w, "step");
    jw_cstr(w, step == BUILD_AT_BASE ? "base" : step == BUILD_AT_FINALIZE ? "finalize" : number);
}

static void put_build_line(struct jw *w, const struct build_line *line)
{
    char at[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(at, line->at_us);
    jw_object(w);
    jw_key(w, "timestamp");
    jw_cstr(w, at);
    jw_key(w, "level");
    jw_cstr(w, line->is_error ? "error" : "info");
    jw_key(w, "message");
    jw_str(w, line->text);
    put_step(w, line->step);
    jw_end(w);
}

static void put_reason(struct jw *w, const struct build *b)
{
    jw_key(w, "reason");
    jw_object(w);
    jw_key(w, "message");
    jw_cstr(w, b->failure);
    put_step(w, b->failed_step);
    jw_end(w);
}

void e2b_build_status(struct api_req *r)
{
    const struct build *b = find_build(r);
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);
    int64_t from = 0, limit = LINES_PER_ANSWER;

    if (!b)
        return;
    if (str_to_i64(api_query(r, "logsOffset"), &from) < 0 || from < 0)
        from = 0;
    if (str_to_i64(api_query(r, "limit"), &limit) < 0 || limit < 0 || limit > LINES_PER_ANSWER)
        limit = LINES_PER_ANSWER;
    jw_object(&w);
    jw_key(&w, "templateID");
    jw_cstr(&w, b->template_id);
    jw_key(&w, "buildID");
    jw_cstr(&w, b->id);
    jw_key(&w, "status");
    jw_cstr(&w, build_state_names[b->state]);
    jw_key(&w, "logs");
    jw_array(&w);
    jw_end(&w);
    jw_key(&w, "logEntries");
    jw_array(&w);
    for (size_t i = (size_t)from; i < b->n_lines && (int64_t)i < from + limit; i++)
        put_build_line(&w, &b->lines[i]);
    jw_end(&w);
    if (b->state == BUILD_FAILED)
        put_reason(&w, b);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

void e2b_build_logs(struct api_req *r)
{
    const struct build *b = find_build(r);
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    if (!b)
        return;
    jw_object(&w);
    jw_key(&w, "logs");
    jw_array(&w);
    for (size_t i = 0; i < b->n_lines && i < LINES_PER_ANSWER; i++)
        put_build_line(&w, &b->lines[i]);
    jw_end(&w);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}
