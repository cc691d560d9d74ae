/* SPDX-License-Identifier: MIT */
/* Acquiring, showing, listing and releasing sandboxes of apps. */
#include <errno.h>
#include <stdio.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_pair.h"
#include "core/instance.h"
#include "core/server.h"

enum { ANSWER_MAX = 32 << 20 };

/* ---- acquiring ---- */

static struct str body_text_of(const struct json *body, const char *name)
{
    return json_str(json_get(body, name), STR_NULL);
}

/* tags as they were given; `tag` alone is a list of one. */
static const struct json *read_lease_tags(struct klavis_input *in, const struct json *body)
{
    const struct json *tags = json_get(body, "tags"), *tag = json_get(body, "tag");
    struct json *list;

    if (tags && tags->type != JSON_NULL)
        return tags;
    if (!json_is(tag, JSON_STRING))
        return NULL;
    list = json_new_array(in->r->arena);
    if (!list || json_push(in->r->arena, list, tag) < 0)
        in->model.has_failed = true;
    return list;
}

static int64_t read_ttl(const struct json *body)
{
    const struct json *ttl = json_get(body, "ttl_seconds");

    return json_is(ttl, JSON_NULL) ? -1 : json_int(ttl, 0);
}

static void read_now(struct klavis_input *in, const struct json *body, int64_t *ret)
{
    static const struct model_place in_body = {.name = STR_INIT("body")};
    static const struct model_place here = {.in = &in_body, .name = STR_INIT("now")};
    const struct json *now = json_get(body, "now");

    if (json_is(now, JSON_STRING) && (clock_parse_rfc3339(now->s, ret) < 0 || *ret <= 0))
        model_add(&in->model, &here,
                  &(struct model_fault){.type = "datetime_parsing",
                                        .msg = STR_INIT("Input should be a valid datetime"),
                                        .input = now});
}

void klavis_read_args(struct klavis_input *in, const struct json *body, struct instance_args *ret)
{
    const struct json *seed = json_get(body, "seed");

    *ret = (struct instance_args){
        .key = in->r->key,
        .spelling = api_param(in->r, "server_name"),
        .email = body_text_of(body, "test_account_email"),
        .benchmark = body_text_of(body, "benchmark"),
        .data = body_text_of(body, "data"),
        .tags = read_lease_tags(in, body),
        .ttl_s = read_ttl(body),
        .has_seed = json_is(seed, JSON_INT),
        .seed = (uint64_t)json_int(seed, 0),
        .count = (unsigned)json_int(json_get(body, "count"), 0),
    };
    read_now(in, body, &ret->start_us);
}

void klavis_acquire(struct api_req *r)
{
    struct klavis_made *made = arena_new(r->arena, struct klavis_made);
    struct klavis_input in;
    struct instance_args args;

    klavis_input_begin(&in, r);
    struct str server = klavis_input_server(&in);
    const struct json *body = klavis_input_body(&in, "AcquireSandboxRequest", NULL, false);
    klavis_read_args(&in, body, &args);
    if (klavis_input_refuse(&in))
        return;
    args.server = server;
    if (!made) {
        klavis_fail(r, -ENOMEM, NULL);
        return;
    }
    *made = (struct klavis_made){.r = r, .is_list = args.count > 0};
    klavis_record_made(made, &args);
    instances_acquire(r->core->instances, &args, klavis_on_made, made);
}

/* ---- capacity ---- */

static void on_prepared(void *ctx, struct instance **items, size_t n, const struct err *e)
{
    struct api_req *r = ctx;

    (void)items;
    if (e)
        klavis_refuse_made(r, e);
    else
        api_reply(r, 200, "application/json",
                  arena_printf(r->arena, "{\"message\":\"Prepared\",\"prepared\":%zu}", n));
}

void klavis_prepare(struct api_req *r)
{
    struct klavis_input in;
    struct instance_args args = {.key = r->key};

    klavis_input_begin(&in, r);
    args.benchmark = json_str(klavis_input_query(&in, "benchmark", "QueryBenchmark"), STR_NULL);
    args.server = klavis_input_server_query(&in);
    if (klavis_input_refuse(&in))
        return;
    if (args.server.p)
        instances_prepare(r->core->instances, &args, on_prepared, r);
    else
        on_prepared(r, NULL, 0, NULL);
}

/* ---- showing ---- */

/* "2026-01-29T12:09:44.719527+00:00" */
static void put_klavis_time(struct jw *w, const char *key, int64_t us)
{
    char text[CLOCK_RFC3339_MAX], out[CLOCK_RFC3339_MAX + 8];

    clock_rfc3339_us(text, us);
    text[strlen(text) - 1] = 0;
    (void)snprintf(out, sizeof out, "%s+00:00", text);
    jw_pair_str_or_null(w, key, str_of(out));
}

static void put_item(struct jw *w, const struct instance *in)
{
    bool is_lent = instance_state(in) == INSTANCE_OCCUPIED;

    jw_key(w, "sandbox_id");
    jw_cstr(w, in->id);
    jw_key(w, "server_name");
    jw_cstr(w, in->spelling && *in->spelling ? in->spelling : in->server);
    jw_key(w, "status");
    jw_cstr(w, instance_status(in));
    jw_pair_str_or_null(w, "benchmark", is_lent ? str_of(in->benchmark) : STR_NULL);
    jw_key(w, "tags");
    jw_raw(w, is_lent && in->tags && *in->tags ? str_of(in->tags) : STR("null"));
    put_klavis_time(w, "updated_at", in->updated_us);
}

/* Whoever grades looks on: nothing that opens the instance or its tools is shown to them. */
static bool may_hold_lease(const struct api_req *r)
{
    return r->key->account->role != ACCOUNT_GRADER;
}

/* FACTS of an app, with secrets of this lease where they have "{token}". */
static void put_facts(struct jw *w, struct api_req *r, const struct instance *in,
                      const struct json *facts)
{
    for (size_t i = 0; facts && i < facts->n; i++) {
        struct str key = facts->members[i].key, text = facts->members[i].value.s;
        ptrdiff_t at = str_find(text, STR("{token}"));
        if (at >= 0 && !may_hold_lease(r))
            continue;
        if (at >= 0) {
            struct str token = str_skip(instance_token(in, key.p, r->arena), key.len);
            text = arena_printf(r->arena, STR_FMT STR_FMT STR_FMT, (int)at, text.p, STR_ARG(token),
                                STR_ARG(str_skip(text, (size_t)at + sizeof "{token}" - 1)));
        }
        jw_key_str(w, key);
        jw_str(w, text);
    }
}

/* What a checker of the real product would need; the tokens are good for nothing else. */
static void put_klavis_lease(struct jw *w, struct api_req *r, const struct instance *in)
{
    const struct app *app = instance_app(in);

    jw_key(w, "metadata");
    jw_object(w);
    jw_pair_str_or_null(w, "test_account_email", str_of(in->email));
    if (may_hold_lease(r))
        jw_pair_str_or_null(w, "instance_id", str_of(in->lease));
    if (in->expires_us > 0)
        put_klavis_time(w, "expires_at", in->expires_us);
    else
        jw_pair_str_or_null(w, "expires_at", STR_NULL);
    put_facts(w, r, in, app ? app->metadata : NULL);
    jw_end(w);
    if (!may_hold_lease(r)) {
        jw_pair_str_or_null(w, "auth_data", STR_NULL);
        return;
    }
    jw_key(w, "auth_data");
    jw_object(w);
    if (app && app->auth_data)
        put_facts(w, r, in, app->auth_data);
    else
        jw_pair_str_or_null(w, "access_token", instance_token(in, "tp_", r->arena));
    jw_end(w);
}

void klavis_show(struct api_req *r)
{
    struct buf out auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&out);
    struct instance *in = klavis_path(r);

    if (!in)
        return;
    bool is_lent = instance_state(in) == INSTANCE_OCCUPIED;
    jw_object(&w);
    put_item(&w, in);
    bool has_url = is_lent && may_hold_lease(r);
    jw_pair_str_or_null(&w, "server_url",
                        has_url ? klavis_url(r->arena, klavis_base(r), in) : STR_NULL);
    if (is_lent) {
        put_klavis_lease(&w, r, in);
    } else {
        jw_pair_str_or_null(&w, "metadata", STR_NULL);
        jw_pair_str_or_null(&w, "auth_data", STR_NULL);
    }
    jw_end(&w);
    api_reply_json(r, 200, &out);
}

/* ---- the list ---- */

struct lease_filter {
    struct str tag, server;
    const struct json *tags;
};

static bool is_listed_lease(const struct api_req *r, const struct lease_filter *f,
                            const struct instance *in)
{
    return instance_is_visible(in, r->key) && (!f->tag.p || instance_has_tag(in, f->tag)) &&
           (!f->tags || instance_has_tags(in, f->tags)) &&
           (!f->server.p || str_ieq(f->server, str_of(in->server)));
}

/* ?tags= as an object; false after answering. */
static bool read_tags_query(struct api_req *r, const struct json **ret)
{
    struct str text = api_query(r, "tags");
    const struct json *v = text.len > 0 ? json_parse(r->arena, text, NULL, NULL) : NULL;

    *ret = json_is(v, JSON_OBJECT) ? v : NULL;
    if (text.len == 0 || *ret || json_is(v, JSON_NULL))
        return true;
    api_error(r, 400, "Invalid JSON in tags: expected an object");
    return false;
}

static bool read_lease_filter(struct api_req *r, struct lease_filter *ret)
{
    struct str name = api_query(r, "server_name");
    const struct server *s = server_find(name);

    *ret = (struct lease_filter){.tag = api_query(r, "tag"), .server = s ? str_of(s->name) : name};
    return read_tags_query(r, &ret->tags);
}

void klavis_list(struct api_req *r)
{
    struct buf out auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&out);
    struct lease_filter f;
    int64_t n = 0;

    if (!read_lease_filter(r, &f))
        return;
    jw_object(&w);
    jw_key(&w, "sandboxes");
    jw_array(&w);
    for (const struct instance *in = NULL;
         r->core->instances && (in = instance_next(r->core->instances, in));) {
        if (!is_listed_lease(r, &f, in))
            continue;
        n++;
        jw_object(&w);
        put_item(&w, in);
        jw_end(&w);
    }
    jw_end(&w);
    jw_key(&w, "total_count");
    jw_int(&w, n);
    jw_end(&w);
    api_reply_json(r, 200, &out);
}

/* ---- releasing ---- */

struct release {
    struct api_req *r;
    struct str lease; /* that there was */
};

static void on_klavis_released(void *ctx, struct instance *in, const struct err *e)
{
    struct release *x = ctx;
    struct api_req *r = x->r;

    if (e) {
        klavis_fail(r, e->code, e);
        return;
    }
    if (instance_state(in) == INSTANCE_OCCUPIED) {
        klavis_reply_message(r, in, STR("Release skipped: the sandbox belongs to another lease"),
                             STR_NULL);
        return;
    }
    klavis_forget(r->api->klavis, x->lease);
    klavis_reply_message(
        r, in,
        arena_printf(r->arena, "Sandbox %s released successfully and is now available for reuse",
                     in->id),
        STR_NULL);
}

/* ---- releasing many ---- */

struct release_all {
    struct api_req *r;
    size_t n_pending, n_released;
    struct buf ids; /* JSON texts with commas between them */
    struct err err;
};

struct release_one {
    struct release_all *all;
    struct str id, lease;
};

static void reply_klavis_released(struct release_all *all)
{
    struct buf ids auto_buf = all->ids, out auto_buf = BUF_INIT(ANSWER_MAX);

    if (all->err.code) {
        klavis_fail(all->r, all->err.code, &all->err);
        return;
    }
    if (!buf_ok(&ids)) {
        klavis_fail(all->r, ids.error, NULL);
        return;
    }
    (void)buf_printf(&out,
                     "{\"released\":[" STR_FMT "],\"total_count\":%zu,"
                     "\"message\":\"Released %zu sandbox%s\"}",
                     STR_ARG(buf_str(&ids)), all->n_released, all->n_released,
                     all->n_released == 1 ? "" : "es");
    api_reply_json(all->r, 200, &out);
}

static void on_one_released(void *ctx, struct instance *in, const struct err *e)
{
    struct release_one *one = ctx;
    struct release_all *all = one->all;

    (void)in;
    if (e) {
        all->err = *e;
    } else {
        klavis_forget(all->r->api->klavis, one->lease);
        (void)buf_printf(&all->ids, "%s\"" STR_FMT "\"", all->n_released > 0 ? "," : "",
                         STR_ARG(one->id));
        all->n_released++;
    }
    if (--all->n_pending == 0)
        reply_klavis_released(all);
}

/* Of the caller's own account only, whoever it is: an operator does not release those of all. */
static bool is_own_lease(const struct api_req *r, const struct instance *in)
{
    return strcmp(in->account, r->key->account->id) == 0;
}

static void release_one(struct release_all *all, struct instance *in)
{
    struct release_one *one = arena_new(all->r->arena, struct release_one);

    if (one)
        *one = (struct release_one){.all = all,
                                    .id = arena_str(all->r->arena, str_of(in->id)),
                                    .lease = arena_str(all->r->arena, str_of(in->lease))};
    if (!one || !one->id.p || !one->lease.p) {
        (void)err_set(&all->err, -ENOMEM, "out of memory");
        return;
    }
    all->n_pending++;
    instance_release(in, one->lease, false, on_one_released, one);
}

void klavis_release_all(struct api_req *r)
{
    struct release_all *all = arena_new(r->arena, struct release_all);
    struct lease_filter f;

    if (!read_lease_filter(r, &f))
        return;
    if (f.tag.len == 0 && (!f.tags || f.tags->n == 0)) {
        api_error(r, 400, "tag or tags is required, to select the sandboxes to release");
        return;
    }
    if (!all) {
        klavis_fail(r, -ENOMEM, NULL);
        return;
    }
    *all = (struct release_all){.r = r, .n_pending = 1, .ids = BUF_INIT(ANSWER_MAX)};
    struct instance *next = r->core->instances ? instance_next(r->core->instances, NULL) : NULL;
    while (next) {
        struct instance *in = next;
        next = instance_next(r->core->instances, in);
        if (is_own_lease(r, in) && is_listed_lease(r, &f, in))
            release_one(all, in);
    }
    if (--all->n_pending == 0)
        reply_klavis_released(all);
}

/* ---- releasing one ---- */

void klavis_release(struct api_req *r)
{
    struct release *x = arena_new(r->arena, struct release);
    struct klavis_input input;

    klavis_input_begin(&input, r);
    struct str server = klavis_input_server(&input);
    bool is_ttl = json_bool(klavis_input_query(&input, "is_ttl", "QueryBool"), false);
    if (klavis_input_refuse(&input))
        return;
    struct instance *in = klavis_find(r, server);
    if (!in)
        return;
    if (!x || !(x->lease = arena_str(r->arena, str_of(in->lease))).p) {
        klavis_fail(r, -ENOMEM, NULL);
        return;
    }
    x->r = r;
    instance_release(in, api_query(r, "instance_id"), is_ttl, on_klavis_released, x);
}
