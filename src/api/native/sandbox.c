/* SPDX-License-Identifier: MIT */
/* /api/v1/sandbox: make, list, show, pause, resume, measure and delete sandboxes. */
#include "core/sandbox.h"

#include <errno.h>
#include <stdio.h>

#include "api/body.h"
#include "api/native/native.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_pair.h"
#include "core/core.h"
#include "core/metrics.h"
#include "core/sandbox_fields.h"

enum { LIST_MAX = 256 << 20, ANSWER_MAX = 4 * SANDBOX_SPEC_MAX, METRICS_MAX = 4 << 20 };

/* ---- writing ---- */

static void put_sandbox_text(struct jw *w, const char *name, struct str s)
{
    if (s.len == 0)
        return;
    jw_key(w, name);
    jw_str(w, s);
}

static void put_sandbox_time(struct jw *w, const char *name, int64_t us)
{
    char text[CLOCK_RFC3339_MAX];

    if (us == 0)
        return;
    clock_rfc3339(text, us);
    jw_key(w, name);
    jw_cstr(w, text);
}

static void put_sandbox_times(struct jw *w, const struct sandbox *sb)
{
    put_sandbox_time(w, "created_at", sb->created_us);
    put_sandbox_time(w, "started_at", sb->started_us);
    put_sandbox_time(w, "expires_at", sb->expires_us);
    put_sandbox_time(w, "last_active_at", sb->last_active_us);
    put_sandbox_time(w, "paused_at", sb->paused_us);
}

static void put_sandbox_members(struct jw *w, const struct sandbox *sb, bool is_pool)
{
    struct sandbox_args a = sb->spec;
    char url[sizeof "/sandbox//" + SANDBOX_NAME_MAX];

    a.name = str_of(sb->name);
    a.timeout_s = sb->timeout_s;
    jw_object(w);
    put_sandbox_text(w, "id", str_of(sb->id));
    put_sandbox_text(w, "user", str_of(sb->account));
    if (is_pool) {
        jw_key(w, "isPool");
        jw_bool(w, true);
    }
    sandbox_fields_write(w, &a, SANDBOX_FACE_API);
    put_sandbox_text(w, "status", str_of(sandbox_status(sb)));
    put_sandbox_times(w, sb);
    (void)snprintf(url, sizeof url, "/sandbox/%s/", sb->name);
    put_sandbox_text(w, "url", str_of(url));
    jw_end(w);
}

void native_put_sandbox(struct jw *w, const struct sandbox *sb)
{
    put_sandbox_members(w, sb, false);
}

void native_put_member(struct jw *w, const struct sandbox *sb)
{
    put_sandbox_members(w, sb, true);
}

/* ---- errors ---- */

static void refuse_missing_sandbox(struct api_req *r, struct str name)
{
    api_error(r, 404, "sandbox " STR_FMT " not found", STR_ARG(str_slice(name, 0, 100)));
}

struct sandbox *native_find_sandbox(struct api_req *r)
{
    struct str name = api_param(r, "name");
    struct sandbox *sb = sandbox_find_for(r->core->sandboxes, name, r->key);

    if (!sb)
        refuse_missing_sandbox(r, name);
    return sb;
}

void native_sandbox_fail(struct api_req *r, int code, const struct err *e)
{
    static const struct {
        int code, status;
    } rows[] = {
        {-EDQUOT, 413},     /* too many live sandboxes */
        {-EHOSTDOWN, 409},  /* paused, and use does not resume it */
        {-EOPNOTSUPP, 501}, /* this host cannot enforce what was asked for */
        {-ENOTCONN, 503},   /* no cells here at all */
        {-ENOSPC, 507},     /* the state directory's disk is full */
        {-ETIMEDOUT, 503},  /* its processes do not stop */
    };

    if (code == -EDQUOT)
        metrics_add(r->core->metrics, METRIC_QUOTA_REFUSED, 1);
    if (code == -ETIMEDOUT)
        (void)http_add_header(r->http, "Retry-After", STR("5"));
    for (size_t i = 0; e && e->code && i < ARRAY_LEN(rows); i++)
        if (rows[i].code == code) {
            api_error(r, rows[i].status, "%s", err_text(e));
            return;
        }
    if (code == -ENOENT)
        refuse_missing_sandbox(r, api_param(r, "name"));
    else
        api_fail(r, code, e);
}

/* ---- POST ---- */

static int read_sandbox_args(struct api_req *r, struct sandbox_args *a)
{
    struct err e = ERR_INIT;

    if (api_body_object(r) < 0)
        return -EINVAL;
    if (sandbox_fields_read(a, r->body, SANDBOX_FACE_API, r->arena, &e) < 0) {
        api_error(r, 400, "failed to decode request body: %s", err_text(&e));
        return -EINVAL;
    }
    return 0;
}

struct sandbox_creation {
    struct api_req *req;
    struct str answer;
};

/* The answer is made before it is true, because it is stored with what makes it true. */
static int record_sandbox_answer(void *ctx, struct sandbox *sb, struct store_tx *tx)
{
    struct sandbox_creation *c = ctx;
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = native_begin(&body);

    jw_str(&w, arena_printf(c->req->arena, "Sandbox %s created successfully", sb->name));
    jw_key(&w, "sandbox");
    native_put_sandbox(&w, sb);
    native_end(&w);
    c->answer = buf_ok(&body) ? arena_str(c->req->arena, buf_str(&body)) : STR_NULL;
    if (!c->answer.p)
        return -ENOMEM;
    return api_record_of(c->req, str_of(sb->id), tx, 200, c->answer);
}

static void on_sandbox_created(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct sandbox_creation *c = ctx;

    if (sb)
        api_reply(c->req, 200, "application/json", c->answer);
    else if (e->code == -ENOENT || e->code == -ECONNRESET || e->code == -ETIMEDOUT)
        /* Something that a cell is made from, or who makes it, is missing: the request is right. */
        api_error(c->req, 503, "%s", err_text(e));
    else
        native_sandbox_fail(c->req, e->code, e);
}

void native_sandbox_create(struct api_req *r)
{
    struct sandbox_creation *c = arena_new(r->arena, struct sandbox_creation);
    struct sandbox_create rq = {
        .key = r->key, .record = record_sandbox_answer, .fn = on_sandbox_created, .ctx = c};
    struct err e = ERR_INIT;

    if (!c) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    c->req = r;
    if (read_sandbox_args(r, &rq.args) < 0)
        return;
    int code = sandbox_create(r->core->sandboxes, &rq, &e);
    if (code < 0)
        native_sandbox_fail(r, code, &e);
}

/* ---- GET ---- */

static bool matches(const struct sandbox *sb, struct str state, struct str template_name)
{
    return (state.len == 0 || str_is(state, sandbox_status(sb))) &&
           (template_name.len == 0 || str_eq(template_name, sb->spec.template_name));
}

void native_sandbox_list(struct api_req *r)
{
    const struct sandboxes *set = r->core->sandboxes;
    struct str state = api_query(r, "state"), template_name = api_query(r, "template");
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = native_begin(&body);

    jw_array(&w);
    for (struct sandbox *sb = NULL; (sb = sandbox_next(set, sb));)
        if (sandbox_is_visible(sb, r->key) && matches(sb, state, template_name))
            native_put_sandbox(&w, sb);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

void native_sandbox_get(struct api_req *r)
{
    const struct sandbox *sb = native_find_sandbox(r);
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);

    if (!sb)
        return;
    struct jw w = native_begin(&body);
    native_put_sandbox(&w, sb);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

/* ---- moves ---- */

static void on_sandbox_moved(struct api_req *r, const struct sandbox *sb, const struct err *e,
                             const char *what)
{
    if (e)
        native_sandbox_fail(r, e->code, e);
    else
        native_reply_text(r, "Sandbox %s %s successfully", sb->name, what);
}

static void on_sandbox_deleted(void *ctx, struct sandbox *sb, const struct err *e)
{
    on_sandbox_moved(ctx, sb, e, "deleted");
}

static void on_sandbox_paused(void *ctx, struct sandbox *sb, const struct err *e)
{
    on_sandbox_moved(ctx, sb, e, "paused");
}

static void on_sandbox_resumed(void *ctx, struct sandbox *sb, const struct err *e)
{
    on_sandbox_moved(ctx, sb, e, "resumed");
}

/* It was not there any more when it was asked for, and its name is free now. */
static void on_gone_before(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct api_req *r = ctx;

    (void)sb;
    (void)e;
    refuse_missing_sandbox(r, api_param(r, "name"));
}

void native_sandbox_delete(struct api_req *r)
{
    const struct sandboxes *set = r->core->sandboxes;
    struct str name = api_param(r, "name");
    struct sandbox *sb = sandbox_find_for(set, name, r->key);

    /* Whatever the answer is, the name can be used afterwards. */
    if (!sb && sandbox_await_end(set, name, r->key, on_gone_before, r) == 0)
        return;
    int code = sb ? sandbox_delete(sb, on_sandbox_deleted, r) : -ENOENT;
    if (code < 0)
        native_sandbox_fail(r, code, NULL);
}

void native_sandbox_pause(struct api_req *r)
{
    struct sandbox *sb = native_find_sandbox(r);
    int code = sb ? sandbox_pause(sb, on_sandbox_paused, r) : 0;

    if (code < 0)
        native_sandbox_fail(r, code, NULL);
}

void native_sandbox_resume(struct api_req *r)
{
    const struct sandbox_resume how = {0};
    struct sandbox *sb = native_find_sandbox(r);
    int code = sb ? sandbox_resume(sb, &how, on_sandbox_resumed, r) : 0;

    if (code < 0)
        native_sandbox_fail(r, code, NULL);
}

/* ---- metrics ---- */

static void put_metrics(struct jw *w, struct sandbox *sb)
{
    sandbox_look(sb);
    jw_key(w, sb->name);
    jw_object(w);
    put_sandbox_text(w, "sandbox", str_of(sb->name));
    put_sandbox_text(w, "pod", str_of(sb->name));
    jw_pair_int(w, "cpuMilli", sb->figures.cpu_milli);
    jw_pair_int(w, "memoryBytes", (int64_t)sb->figures.usage.memory_bytes);
    jw_pair_int(w, "memoryMB", (int64_t)(sb->figures.usage.memory_bytes >> 20));
    jw_pair_int(w, "processes", sb->figures.usage.pids);
    put_sandbox_time(w, "sampledAt", clock_real_us());
    jw_end(w);
}

void native_sandbox_metrics(struct api_req *r)
{
    const struct json *names = json_get(r->body, "names");
    struct buf body auto_buf = BUF_INIT(METRICS_MAX);

    if (!json_is(names, JSON_ARRAY) || names->n == 0) {
        api_error(r, 400, "names is required");
        return;
    }
    struct jw w = native_begin(&body);
    jw_object(&w);
    jw_key(&w, "items");
    jw_object(&w);
    for (size_t i = 0; i < names->n && i < SANDBOX_MAX; i++) {
        struct str name = json_str(&names->items[i], STR_NULL);
        struct sandbox *sb = sandbox_find(r->core->sandboxes, name);
        if (sb && sandbox_is_visible(sb, r->key))
            put_metrics(&w, sb);
    }
    jw_end(&w);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}
