/* SPDX-License-Identifier: MIT */
/* What is in a sandbox: resetting, initializing, dumping; and what the original does not have:
 * differences, checks, snapshots, forks and recorded calls. */
#include <errno.h>
#include <stdio.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/warn.h"
#include "apps/source/script.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/instance.h"

enum { ANSWER_MAX = 64 << 20, CALLS_DEFAULT = 1000 };

/* An operation and the request that waits for it. */
struct task {
    struct api_req *r;
    struct instance *in;
    struct instance_op op;
    void (*answer)(struct task *t);
    struct json *body; /* of initialize: what is still to be imported */
    struct json *records;
    struct str keep; /* of initialize: the snapshot to make, or empty */
};

/* A body with a value that cannot be stored: where it is, as far as that is known. */
static void refuse_value(struct task *t, const struct err *e)
{
    struct klavis_input input;
    struct str text = str_of(err_text(e)), member = str_cut(&text, ':');
    const struct model_place body = {.name = STR_INIT("body")}, at = {.in = &body, .name = member};

    log_warn("a body could not be imported", LOG_S("server", t->in->server), LOG_V("error", text));
    klavis_input_begin(&input, t->r);
    model_add(&input.model, member.len > 0 ? &at : &body,
              &(struct model_fault){.type = "value_error",
                                    .msg = STR_INIT("Value error, a value cannot be stored: it is "
                                                    "of the wrong type, out of range, or in "
                                                    "conflict with another record")});
    (void)klavis_input_refuse(&input);
}

static void on_content_done(struct instance_op *op, const struct err *e)
{
    struct task *t = container_of(op, struct task, op);

    if (e && e->code == -EDOM && op->what == INSTANCE_IMPORT)
        refuse_value(t, e);
    else if (e)
        klavis_fail(t->r, e->code, e);
    else
        t->answer(t);
}

/* Begins WHAT on the sandbox IN; T is in the request's arena. */
static void begin_content_task(struct task *t, enum instance_do what,
                               void (*answer)(struct task *t))
{
    t->op.what = what;
    t->op.arena = t->r->arena;
    t->op.done = on_content_done;
    t->answer = answer;
    instance_do(t->in, &t->op);
}

/* The task of R's sandbox; NULL after answering. */
static struct task *new_task(struct api_req *r, struct instance *in)
{
    struct task *t = in ? arena_new(r->arena, struct task) : NULL;

    if (t) {
        t->r = r;
        t->in = in;
    } else if (in) {
        klavis_fail(r, -ENOMEM, NULL);
    }
    return t;
}

/* An answer {"sandbox_id": …, KEY: text}. */
static void reply_with(struct task *t, const char *key)
{
    struct buf out auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&out);

    jw_object(&w);
    jw_key(&w, "sandbox_id");
    jw_cstr(&w, t->in->id);
    jw_key(&w, key);
    jw_raw(&w, t->op.text);
    jw_end(&w);
    api_reply_json(t->r, 200, &out);
}

/* ---- reset ---- */

/* Local sandboxes keep what initialize brought (see local/reset.h), apps do not, as in the
 * original: both say so. */
static void on_content_reset(struct task *t)
{
    struct buf out auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&out);
    const char *data = t->in->data && *t->in->data ? t->in->data : "empty";

    jw_object(&w);
    jw_key(&w, "sandbox_id");
    jw_cstr(&w, t->in->id);
    jw_key(&w, "status");
    jw_cstr(&w, instance_status(t->in));
    jw_key(&w, "message");
    jw_str(&w, arena_printf(t->r->arena,
                            "Reset completed. The sandbox is in its initial state (data set: %s); "
                            "what initialize added is gone, snapshots are kept.",
                            data));
    jw_key(&w, "initialized_data");
    jw_cstr(&w, "dropped");
    jw_end(&w);
    api_reply_json(t->r, 200, &out);
}

void klavis_reset(struct api_req *r)
{
    struct task *t = new_task(r, klavis_path(r));

    if (t)
        begin_content_task(t, INSTANCE_RESET, on_content_reset);
}

/* ---- initialize ---- */

/* Adds the counts that an import reported to those before. */
static int add_records(struct task *t)
{
    struct arena *a = t->r->arena;
    struct json *all = json_parse(a, t->op.text, NULL, NULL);

    for (size_t i = 0; json_is(all, JSON_OBJECT) && i < all->n; i++) {
        struct str name = all->members[i].key;
        int64_t n = json_int(json_get_str(t->records, name), 0);
        struct json *sum = json_new_int(a, n + json_int(&all->members[i].value, 0));
        if (!sum || json_set_str(a, t->records, name, sum) < 0)
            return -ENOMEM;
    }
    return 0;
}

static void reply_content_initialized(struct task *t)
{
    struct buf records auto_buf = BUF_INIT(ANSWER_MAX);
    int64_t n = 0;

    for (size_t i = 0; i < t->records->n; i++)
        n += json_int(&t->records->members[i].value, 0);
    if (json_write(&records, t->records, JSON_COMPACT) < 0) {
        klavis_fail(t->r, records.error, NULL);
        return;
    }
    klavis_reply_message(t->r, t->in,
                         arena_printf(t->r->arena, "Initialized sandbox with %lld record%s",
                                      (long long)n, n == 1 ? "" : "s"),
                         buf_str(&records));
}

static void on_content_imported(struct task *t)
{
    int code = add_records(t);

    if (code < 0) {
        klavis_fail(t->r, code, NULL);
        return;
    }
    if (!t->body && t->keep.len > 0) {
        t->op.name = t->keep;
        begin_content_task(t, INSTANCE_SNAPSHOT, reply_content_initialized);
        return;
    }
    if (!t->body) {
        reply_content_initialized(t);
        return;
    }
    t->op.args = take(t->body);
    begin_content_task(t, INSTANCE_IMPORT, on_content_imported);
}

/* The default data set of IN's app; NULL after answering. */
static struct json *default_data(struct api_req *r, const struct instance *in)
{
    const struct app *app = instance_app(in);
    struct err e = ERR_INIT;
    const struct json *seed = app ? app_seed(app, "default", r->arena, &e) : NULL;
    struct json *copy = seed ? json_copy(r->arena, seed) : NULL;

    if (!copy && e.code == -ENOENT)
        api_error(r, 400, "%s has no default data", in->server);
    else if (!copy)
        klavis_fail(r, e.code ? e.code : -ENOMEM, &e);
    return copy;
}

/* The sandbox to initialize or dump: released ones and those without data are not found. */
static struct instance *find_with_data(struct api_req *r, struct str server)
{
    struct instance *in = klavis_find(r, server);
    const struct app *app = in ? instance_app(in) : NULL;

    if (!in || (app && app->import && app->export))
        return in;
    if (app)
        api_fault(r, API_FAULT_NO_ROUTE, STR_NULL);
    else
        api_error(r, 404, "Sandbox %s is not occupied", in->id);
    return NULL;
}

/* Members of DATA that neither the schema DOC nor the import of the app knows. */
static void warn_unread(struct api_req *r, const struct json *doc, const struct app *app,
                        const struct json *data)
{
    const struct json *all = json_get(doc, "properties");

    for (size_t i = 0; all && json_is(data, JSON_OBJECT) && i < data->n; i++) {
        struct str name = data->members[i].key;
        if (!json_get_str(all, name) && !script_mentions(app->import, name))
            api_warn(r, warn_text(r->arena, doc, STR_NULL, name));
    }
}

/* FLAG: whether the default data come first. */
static void initialize_content(struct klavis_input *input, struct instance *in,
                               const struct json *flag, struct str keep)
{
    struct api_req *r = input->r;
    struct err e = ERR_INIT;
    const struct json *doc = klavis_data_schema(r->api->klavis, in, &e);

    if (e.code) {
        klavis_fail(r, e.code, &e);
        return;
    }
    /* Dumps have members of our own beside those of the format; they have to come in again. */
    input->model.keeps_unknown = true;
    input->dump_of = str_of(in->server);
    struct json *body = klavis_input_body(input, NULL, doc, false);
    struct task *t = klavis_input_refuse(input) ? NULL : new_task(r, in);
    if (!t)
        return;
    warn_unread(r, doc, instance_app(in), body);
    t->records = json_new_object(r->arena);
    t->body = body;
    t->keep = keep;
    t->op.args = json_bool(flag, false) ? default_data(r, in) : NULL;
    if (json_bool(flag, false) && !t->op.args)
        return;
    if (!t->op.args)
        t->op.args = take(t->body);
    if (t->op.args)
        begin_content_task(t, INSTANCE_IMPORT, on_content_imported);
    else
        reply_content_initialized(t);
}

void klavis_initialize(struct api_req *r)
{
    struct klavis_input input;

    klavis_input_begin(&input, r);
    struct str server = klavis_input_server(&input);
    const struct json *flag = klavis_input_query(&input, "init_default_data", "QueryBool");
    if (input.model.n_items > 0) {
        (void)klavis_input_refuse(&input);
        return;
    }
    struct instance *in = find_with_data(r, server);
    if (in)
        initialize_content(&input, in, flag, STR_NULL);
}

void klavis_initialize_in(struct api_req *r, struct instance *in, struct str keep)
{
    struct klavis_input input;

    klavis_input_begin(&input, r);
    const struct json *flag = klavis_input_query(&input, "init_default_data", "QueryBool");
    if (input.model.n_items > 0)
        (void)klavis_input_refuse(&input);
    else
        initialize_content(&input, in, flag, keep);
}

/* ---- dump ---- */

static void on_dump(struct task *t)
{
    struct buf out auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&out);
    char now[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(now, clock_real_us());
    now[strlen(now) - 1] = 0;
    jw_object(&w);
    jw_key(&w, "sandbox_id");
    jw_str(&w, api_param(t->r, "sandbox_id")); /* that of IN, or of what it belongs to */
    jw_key(&w, "server_name");
    jw_cstr(&w, t->in->spelling);
    jw_key(&w, "dumped_at");
    jw_cstr(&w, now);
    jw_key(&w, "data");
    jw_raw(&w, t->op.text);
    jw_end(&w);
    api_reply_json(t->r, 200, &out);
}

void klavis_dump(struct api_req *r)
{
    struct klavis_input input;

    klavis_input_begin(&input, r);
    struct str server = klavis_input_server(&input);
    if (klavis_input_refuse(&input))
        return;
    struct task *t = new_task(r, find_with_data(r, server));
    if (t)
        begin_content_task(t, INSTANCE_EXPORT, on_dump);
}

void klavis_dump_in(struct api_req *r, struct instance *in)
{
    struct task *t = new_task(r, in);

    if (t)
        begin_content_task(t, INSTANCE_EXPORT, on_dump);
}

/* ---- what changed, and whether it is right ---- */

static void on_diff(struct task *t)
{
    api_reply(t->r, 200, "application/json", t->op.text);
}

void klavis_diff(struct api_req *r)
{
    struct task *t = new_task(r, klavis_path(r));

    if (!t)
        return;
    t->op.name = api_query(r, "since");
    if (t->op.name.len > 0 && !str_is(t->op.name, "initial"))
        api_error(r, 400, "since must be 'initial'");
    else
        begin_content_task(t, INSTANCE_DIFF, on_diff);
}

static void on_verified(struct task *t)
{
    struct buf out auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&out);

    jw_object(&w);
    jw_key(&w, "sandbox_id");
    jw_cstr(&w, t->in->id);
    jw_key(&w, "passed");
    jw_bool(&w, t->op.n_failed == 0);
    jw_key(&w, "n_passed");
    jw_int(&w, t->op.n_passed);
    jw_key(&w, "n_failed");
    jw_int(&w, t->op.n_failed);
    jw_key(&w, "results");
    jw_raw(&w, t->op.text);
    jw_end(&w);
    api_reply_json(t->r, 200, &out);
}

void klavis_verify(struct api_req *r)
{
    struct klavis_input input;

    klavis_input_begin(&input, r);
    struct str server = klavis_input_server(&input);
    struct json *body = klavis_input_body(&input, "VerifyRequest", NULL, true);
    if (klavis_input_refuse(&input))
        return;
    struct task *t = new_task(r, klavis_find(r, server));
    if (!t)
        return;
    t->op.args = json_get(body, "checks");
    begin_content_task(t, INSTANCE_VERIFY, on_verified);
}

/* ---- snapshots ---- */

static void on_snapshot(struct task *t)
{
    struct buf name auto_buf = BUF_INIT(1024);

    if (json_write_str(&name, t->op.name) < 0) {
        klavis_fail(t->r, name.error, NULL);
        return;
    }
    t->op.text = buf_str(&name);
    reply_with(t, "snapshot");
}

static void on_restored(struct task *t)
{
    klavis_reply_message(
        t->r, t->in, arena_printf(t->r->arena, "Restored snapshot " STR_FMT, STR_ARG(t->op.name)),
        STR_NULL);
}

static void on_snapshots(struct task *t)
{
    reply_with(t, "snapshots");
}

/* A task with the name that the body has. */
static struct task *named_task(struct api_req *r, bool is_required)
{
    struct klavis_input input;

    klavis_input_begin(&input, r);
    struct str server = klavis_input_server(&input);
    struct json *body = klavis_input_body(&input, "SnapshotRequest", NULL, is_required);
    if (klavis_input_refuse(&input))
        return NULL;
    struct task *t = new_task(r, klavis_find(r, server));
    if (t)
        t->op.name = json_str(json_get(body, "name"), STR("snapshot"));
    return t;
}

void klavis_snapshot(struct api_req *r)
{
    struct task *t = named_task(r, false);

    if (t)
        begin_content_task(t, INSTANCE_SNAPSHOT, on_snapshot);
}

void klavis_restore(struct api_req *r)
{
    struct task *t = named_task(r, false);

    if (t)
        begin_content_task(t, INSTANCE_RESTORE, on_restored);
}

void klavis_snapshots(struct api_req *r)
{
    struct task *t = new_task(r, klavis_path(r));

    if (t)
        begin_content_task(t, INSTANCE_SNAPSHOTS, on_snapshots);
}

void klavis_fork(struct api_req *r)
{
    struct klavis_made *made = arena_new(r->arena, struct klavis_made);
    struct klavis_input input;
    struct instance_args args;

    klavis_input_begin(&input, r);
    struct str server = klavis_input_server(&input);
    const struct json *body = klavis_input_body(&input, "ForkRequest", NULL, false);
    klavis_read_args(&input, body, &args);
    args.snapshot = json_str(json_get(body, "snapshot"), STR_NULL);
    struct instance *in = klavis_input_refuse(&input) ? NULL : klavis_find(r, server);
    if (!in)
        return;
    if (!made) {
        klavis_fail(r, -ENOMEM, NULL);
        return;
    }
    *made = (struct klavis_made){.r = r, .is_list = args.count > 0, .is_fork = true};
    klavis_record_made(made, &args);
    instance_fork(in, &args, klavis_on_made, made);
}

/* ---- recorded calls ---- */

static void on_calls(struct task *t)
{
    reply_with(t, "calls");
}

void klavis_calls(struct api_req *r)
{
    struct klavis_input input;

    klavis_input_begin(&input, r);
    struct str server = klavis_input_server(&input);
    const struct json *after = klavis_input_query(&input, "after", "QueryCount");
    const struct json *limit = klavis_input_query(&input, "limit", "QueryCount");
    if (klavis_input_refuse(&input))
        return;
    struct task *t = new_task(r, klavis_find(r, server));
    if (!t)
        return;
    t->op.after = json_int(after, 0);
    t->op.limit = json_int(limit, CALLS_DEFAULT);
    begin_content_task(t, INSTANCE_CALLS, on_calls);
}
