/* SPDX-License-Identifier: MIT */
/* PATCH /api/v1/sandbox/{name}: a new timeout, a new network policy. What the body does not name
 * stays as it is. */
#include <errno.h>

#include "api/body.h"
#include "api/native/native.h"
#include "base/cleanup.h"
#include "core/core.h"
#include "core/sandbox.h"
#include "core/sandbox_limits.h"

enum { ANSWER_MAX = 4 * SANDBOX_SPEC_MAX };

struct sandbox_change {
    bool has_timeout, has_network;
    int64_t timeout_s;
    struct sandbox_args args; /* only its network counts */
};

static void on_sandbox_changed(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct api_req *r = ctx;
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);

    if (e) {
        native_sandbox_fail(r, e->code, e);
        return;
    }
    struct jw w = native_begin(&body);
    native_put_sandbox(&w, sb);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

static int read_change_timeout(struct api_req *r, const struct sandbox *sb,
                               struct sandbox_change *c)
{
    int64_t max_s = sandbox_max_timeout_s(sb);

    c->has_timeout = api_body_member(r, "timeout") != NULL;
    if (api_body_int(r, "timeout", &c->timeout_s) < 0)
        return -EINVAL;
    if (!c->has_timeout || (c->timeout_s != 0 && sandbox_may_last(sb, c->timeout_s)))
        return 0;
    if (c->timeout_s == 0)
        api_error(r, 400, "invalid timeout 0, -1 is no timeout");
    else if (max_s < SANDBOX_TIMEOUT_MAX_S)
        api_error(r, 400, "invalid timeout %lld, must be <= %lld (seconds)",
                  (long long)c->timeout_s, (long long)max_s);
    else
        api_error(r, 400, "invalid timeout %lld, must be <= 60*60*24 (seconds), -1 is no timeout",
                  (long long)c->timeout_s);
    return -EINVAL;
}

static int read_network(struct api_req *r, const struct sandbox *sb, struct sandbox_change *c)
{
    const struct json *network = api_body_member(r, "network");
    bool has_internet = !sb->spec.is_offline;

    if (api_body_bool(r, "allowInternetAccess", &has_internet) < 0)
        return -EINVAL;
    c->has_network = network || api_body_member(r, "allowInternetAccess");
    c->args.network = network ? network : sb->spec.network;
    c->args.is_offline = !has_internet;
    return 0;
}

/* Both are written in the order in which they are asked for: who gets the answer that the second
 * one is durable may rely on the first. */
static int apply_change(struct api_req *r, struct sandbox *sb, const struct sandbox_change *c,
                        struct err *e)
{
    int code = 0;

    if (c->has_network)
        code = sandbox_set_network(sb, &c->args, c->has_timeout ? NULL : on_sandbox_changed, r, e);
    if (code == 0 && c->has_timeout)
        code = sandbox_set_timeout(sb, c->timeout_s, on_sandbox_changed, r);
    return code;
}

void native_sandbox_change(struct api_req *r)
{
    struct sandbox *sb = native_find_sandbox(r);
    struct sandbox_change c = {0};
    struct err e = ERR_INIT;

    if (!sb || api_body_object(r) < 0 || read_change_timeout(r, sb, &c) < 0 ||
        read_network(r, sb, &c) < 0)
        return;
    if (!c.has_timeout && !c.has_network) {
        api_error(r, 400, "nothing to change: timeout, network or allowInternetAccess is required");
        return;
    }
    int code = apply_change(r, sb, &c, &e);
    if (code < 0)
        native_sandbox_fail(r, code, &e);
}
