/* SPDX-License-Identifier: MIT */
/* POST /sandboxes/{id}/fork: its files are copied once, and new sandboxes are created from that,
 * with everything that it was created with. Memory is not copied: their processes start again, the
 * main one included. */
#include <errno.h>

#include "api/body.h"
#include "api/e2b/e2b.h"
#include "base/cleanup.h"
#include "core/root.h"
#include "core/sandbox.h"
#include "core/sandbox_limits.h"
#include "loop/loop.h"

/* AT_ONCE: creates in one round of the loop, for which others wait. */
enum { COUNT_MAX = 100, AT_ONCE = 4, ANSWER_MAX = 4 * SANDBOX_SPEC_MAX, ALL_MAX = 64 << 20 };

struct fork;

struct fork_one {
    struct fork *all;
    struct str answer; /* an object, or .p NULL */
};

struct fork {
    struct api_req *req;
    struct sandbox *origin; /* a reference */
    struct root *root;      /* a reference */
    int64_t timeout_s, n, n_begun, n_left;
    struct loop_msg more;
    struct fork_one *each;
};

static void answer_fork(struct fork *f)
{
    struct buf body auto_buf = BUF_INIT(ALL_MAX);

    (void)buf_add_str(&body, STR("["));
    for (int64_t i = 0; i < f->n; i++) {
        (void)buf_add_str(&body, i > 0 ? STR(",") : STR(""));
        (void)buf_add_str(&body, f->each[i].answer.p ? f->each[i].answer : STR("{}"));
    }
    (void)buf_add_str(&body, STR("]"));
    api_reply_json(f->req, 201, &body);
}

/* Nobody else gets the root: it goes with the last of them. */
static void end_fork(struct fork *f)
{
    root_remove(f->root);
    root_unref(f->root);
    sandbox_unref(f->origin);
    answer_fork(f);
}

static int fork_status_of(int code)
{
    switch (code) {
    case -EDQUOT:
    case -ENOBUFS:
    case -EAGAIN: return 429;
    case -EOPNOTSUPP: return 501;
    case -ENOTCONN: return 503;
    case -ENOSPC: return 507;
    default: return 500;
    }
}

static void note_result(struct fork_one *one, const struct sandbox *sb, const struct err *e)
{
    struct buf text auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&text);

    jw_object(&w);
    jw_key(&w, sb ? "sandbox" : "error");
    if (sb) {
        e2b_put_sandbox(&w, one->all->req->core, sb);
    } else {
        jw_object(&w);
        jw_key(&w, "code");
        jw_int(&w, fork_status_of(e->code));
        jw_key(&w, "message");
        jw_cstr(&w, err_text(e));
        jw_end(&w);
    }
    jw_key(&w, "memory");
    jw_bool(&w, false);
    jw_end(&w);
    one->answer = buf_ok(&text) ? arena_str(one->all->req->arena, buf_str(&text)) : STR_NULL;
    if (--one->all->n_left == 0)
        end_fork(one->all);
}

static void on_fork_created(void *ctx, struct sandbox *sb, const struct err *e)
{
    note_result(ctx, sb, e);
}

/* All that it was created with but its name, and the time that was asked for. */
static struct sandbox_create make_request(const struct fork *f)
{
    struct sandbox_create rq = {.key = f->req->key, .args = f->origin->spec, .fn = on_fork_created};

    rq.args.name = STR_NULL;
    rq.args.has_name = false;
    rq.args.root = str_of(f->root->id);
    rq.args.timeout_s = f->timeout_s;
    return rq;
}

static void create_some_forks(struct loop_msg *m)
{
    struct fork *f = container_of(m, struct fork, more);
    struct sandbox_create rq = make_request(f);
    int64_t to = f->n - f->n_begun > AT_ONCE ? f->n_begun + AT_ONCE : f->n;
    bool is_last = to == f->n;

    /* With the result of the last one F is gone. */
    if (!is_last)
        loop_post(f->req->core->loop, &f->more, create_some_forks);
    while (f->n_begun < to) {
        struct err why = ERR_INIT;
        struct fork_one *one = &f->each[f->n_begun++];
        bool is_end = is_last && f->n_begun == to;
        rq.ctx = one;
        int code = sandbox_create(f->req->core->sandboxes, &rq, &why);
        if (code < 0 && !why.code)
            (void)err_sys(&why, code, "fork");
        if (code < 0)
            note_result(one, NULL, &why);
        if (is_end)
            return;
    }
}

static void on_fork_captured(void *ctx, struct root *root, const struct err *e)
{
    struct fork *f = ctx;

    if (!root) {
        e2b_fail(f->req, NULL, e->code, e);
        sandbox_unref(f->origin);
        return;
    }
    f->root = root;
    create_some_forks(&f->more);
}

static int read_fork_request(struct api_req *r, const struct sandbox *sb, struct fork *f)
{
    int64_t max_s = sandbox_max_timeout_s(sb);

    f->timeout_s = E2B_TIMEOUT_V1_S;
    f->n = 1;
    if (api_body_object(r) < 0 || api_body_int(r, "timeout", &f->timeout_s) < 0 ||
        api_body_int(r, "count", &f->n) < 0 || e2b_refuse_memory(r, "a fork") < 0)
        return -EINVAL;
    if (f->n < 1 || f->n > COUNT_MAX)
        api_error(r, 400, "count must be between 1 and %d", COUNT_MAX);
    else if (f->timeout_s <= 0)
        api_error(r, 400, "Timeout must be greater than 0");
    else if (f->timeout_s > max_s)
        api_error(r, 400, "Timeout cannot be greater than %lld seconds", (long long)max_s);
    else
        return 0;
    return -EINVAL;
}

void e2b_fork(struct api_req *r)
{
    struct sandbox *sb = e2b_find(r);
    struct fork *f = sb ? arena_new(r->arena, struct fork) : NULL;
    struct err e = ERR_INIT;

    if (!sb)
        return;
    if (!f) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    if (read_fork_request(r, sb, f) < 0)
        return;
    f->each = arena_zalloc(r->arena, (size_t)f->n, sizeof *f->each);
    f->req = r;
    f->n_left = f->n;
    for (int64_t i = 0; f->each && i < f->n; i++)
        f->each[i].all = f;
    f->origin = sandbox_ref(sb);
    const struct root_capture rq = {
        .kind = ROOT_FORK, .is_temporary = true, .fn = on_fork_captured, .ctx = f};
    int code = f->each ? root_capture(sb, &rq, &e) : -ENOMEM;
    if (code < 0) {
        sandbox_unref(f->origin);
        e2b_fail(r, sb, code, &e);
    }
}
