/* SPDX-License-Identifier: MIT */
/* POST /sandboxes and /v2/sandboxes. */
#include <errno.h>

#include "api/body.h"
#include "api/e2b/builds.h"
#include "api/e2b/e2b.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "core/build.h"
#include "core/sandbox.h"
#include "core/templates.h"

enum { ANSWER_MAX = 4 * SANDBOX_SPEC_MAX };

/* ---- the template ---- */

static bool is_template_char(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '.';
}

static bool is_template_id(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_template_char(s.p[i]))
            return false;
    return s.len > 0;
}

static struct str lower_template_name(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, s.len + 1);

    for (size_t i = 0; out && i < s.len; i++)
        out[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i];
    return out ? str_n(out, s.len) : STR_NULL;
}

/* 1 when TEXT names a template that the account has built; 0 when it does not, or -errno after
 * answering. */
static int read_built(struct api_req *r, struct str text, struct sandbox_args *a)
{
    struct str alias, tag;
    const char *account = r->key->account->id;

    e2b_split_name(r, text, &alias, &tag);
    const struct build_tag *t = build_tag_find(r->core->builds, account, alias, tag);
    if (t && build_apply(r->core->builds, t, a, r->arena) == 0)
        return 1;
    if (alias.len == 0 || !build_tag_next(r->core->builds, NULL, account, alias))
        return 0;
    api_error(r, 404, "tag '" STR_FMT "' does not exist for template '" STR_FMT "'",
              STR_ARG(str_slice(tag.len > 0 ? tag : STR("default"), 0, 100)),
              STR_ARG(str_slice(alias, 0, 100)));
    return -EINVAL;
}

/* Reads "name" or "name:tag". 0, or -EINVAL after answering. */
static int read_template_ref(struct api_req *r, struct sandbox_args *a)
{
    struct str tag = STR_NULL;

    if (api_body_str(r, "templateID", &tag) < 0)
        return -EINVAL;
    const struct root *snapshot = e2b_snapshot_find(r, tag);
    if (snapshot) {
        e2b_snapshot_apply(snapshot, a);
        return 0;
    }
    if (tag.len == 0) {
        api_error(r, 400, "templateID is required");
        return -EINVAL;
    }
    int built = read_built(r, tag, a);
    if (built != 0)
        return built < 0 ? built : 0;
    struct str name = str_cut(&tag, ':');
    if (!is_template_id(name) || (tag.p && tag.len == 0)) {
        api_error(r, 400,
                  "invalid template ID format, only alphanumeric characters and hyphens are "
                  "allowed");
        return -EINVAL;
    }
    a->template_name = templates_id(r->core->templates, lower_template_name(r->arena, name));
    if (!a->template_name.p) {
        api_error(r, 404, "template '" STR_FMT "' not found", STR_ARG(str_slice(name, 0, 100)));
        return -EINVAL;
    }
    if (!tag.p || str_is(tag, "default") || str_is(tag, "latest"))
        return 0;
    api_error(r, 404, "tag '" STR_FMT "' does not exist for template '" STR_FMT "'",
              STR_ARG(str_slice(tag, 0, 100)), STR_ARG(str_slice(name, 0, 100)));
    return -EINVAL;
}

/* ---- times ---- */

static int read_times(struct api_req *r, struct sandbox_args *a)
{
    const struct json *idle = json_get(api_body_member(r, "metadata"), "idleTimeout");

    if (api_body_int(r, "timeout", &a->timeout_s) < 0)
        return -EINVAL;
    if (a->timeout_s <= 0) {
        api_error(r, 400, "Timeout must be greater than 0");
        return -EINVAL;
    }
    if (a->timeout_s > SANDBOX_TIMEOUT_MAX_S) {
        api_error(r, 400, "Timeout cannot be greater than %d hours", SANDBOX_TIMEOUT_MAX_S / 3600);
        return -EINVAL;
    }
    if (!idle || str_to_i64(json_str(idle, STR("x")), &a->idle_timeout_s) == 0)
        return 0;
    api_error(r, 400, "invalid idleTimeout value, must be an integer");
    return -EINVAL;
}

static int read_lifecycle(struct api_req *r, struct sandbox_args *a)
{
    const struct json *resume = api_body_member(r, "autoResume");
    const struct json *enabled = json_get(resume, "enabled");
    bool keeps_memory = true;

    if (api_body_bool(r, "autoPause", &a->auto_pause) < 0 ||
        api_body_bool(r, "autoPauseMemory", &keeps_memory) < 0)
        return -EINVAL;
    if (resume && (!json_is(resume, JSON_OBJECT) ||
                   (enabled && !json_is(enabled, JSON_BOOL) && !json_is(enabled, JSON_NULL)))) {
        api_error(r, 400, "autoResume must be an object with enabled true or false");
        return -EINVAL;
    }
    a->auto_resume = json_bool(enabled, false);
    a->forgets_memory = !keeps_memory;
    if (keeps_memory || (a->auto_pause && !a->auto_resume))
        return 0;
    api_error(r, 400,
              a->auto_pause ? "autoPauseMemory=false cannot be used together with autoResume: a "
                              "sandbox paused without memory is not resumed by traffic"
                            : "autoPauseMemory=false requires autoPause=true");
    return -EINVAL;
}

/* ---- what is not done here ---- */

/* What is empty asks for nothing. */
static bool is_empty_value(const struct json *v)
{
    return !v || ((json_is(v, JSON_ARRAY) || json_is(v, JSON_OBJECT)) && v->n == 0);
}

static int refuse_unserved_field(struct api_req *r)
{
    const struct json *iam = api_body_member(r, "iam"), *mcp = api_body_member(r, "mcp");
    bool has_iam = !is_empty_value(iam) && (!json_is(iam, JSON_OBJECT) || iam->n > 1 ||
                                            !is_empty_value(json_get(iam, "tokens")));

    if (has_iam)
        api_error(r, 400, "iam is not enabled: this service issues no identity tokens");
    else if (mcp && !json_is(mcp, JSON_OBJECT))
        api_error(r, 400, "mcp must be an object");
    else
        return 0;
    return -EINVAL;
}

/* ---- the request ---- */

/* Which of two wires: in the second everything is secured and lasts longer by itself. */
struct wire {
    bool is_secure;
    int64_t timeout_s;
};

struct e2b_creation {
    struct api_req *req;
    struct str answer;
};

static int read_e2b_args(struct api_req *r, const struct wire *wire, struct sandbox_args *a)
{
    bool is_secure = wire->is_secure;

    a->timeout_s = wire->timeout_s;
    if (api_body_object(r) < 0 || read_template_ref(r, a) < 0 || read_times(r, a) < 0 ||
        read_lifecycle(r, a) < 0 || refuse_unserved_field(r) < 0)
        return -EINVAL;
    if (!wire->is_secure && api_body_bool(r, "secure", &is_secure) < 0)
        return -EINVAL;
    a->is_insecure = !is_secure;
    a->env = api_body_member(r, "envVars");
    a->metadata = api_body_member(r, "metadata");
    a->volumes = api_body_member(r, "volumeMounts");
    return e2b_read_network(r, a);
}

/* The answer is made before it is true, because it is stored with what makes it true. */
static int record_e2b_answer(void *ctx, struct sandbox *sb, struct store_tx *tx)
{
    struct e2b_creation *c = ctx;
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    e2b_put_sandbox(&w, c->req->core, sb);
    c->answer = buf_ok(&body) ? arena_str(c->req->arena, buf_str(&body)) : STR_NULL;
    return c->answer.p ? api_record_of(c->req, str_of(sb->id), tx, 201, c->answer) : -ENOMEM;
}

static void on_e2b_created(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct e2b_creation *c = ctx;

    if (sb)
        api_reply(c->req, 201, "application/json", c->answer);
    else if (e->code == -ECONNRESET || e->code == -ETIMEDOUT)
        /* Something inside did not start; the request is right. */
        api_error(c->req, 503, "%s", err_text(e));
    else
        e2b_fail(c->req, NULL, e->code, e);
}

static void create_from_wire(struct api_req *r, const struct wire *wire)
{
    struct e2b_creation *c = arena_new(r->arena, struct e2b_creation);
    struct sandbox_create rq = {
        .key = r->key, .record = record_e2b_answer, .fn = on_e2b_created, .ctx = c};
    struct err e = ERR_INIT;

    if (!c) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    c->req = r;
    if (read_e2b_args(r, wire, &rq.args) < 0)
        return;
    int code = sandbox_create(r->core->sandboxes, &rq, &e);
    if (code < 0)
        e2b_fail(r, NULL, code, &e);
}

void e2b_create_v1(struct api_req *r)
{
    create_from_wire(r, &(struct wire){.timeout_s = E2B_TIMEOUT_V1_S});
}

void e2b_create_v2(struct api_req *r)
{
    create_from_wire(r, &(struct wire){.is_secure = true, .timeout_s = E2B_TIMEOUT_V2_S});
}
