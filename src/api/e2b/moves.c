/* SPDX-License-Identifier: MIT */
/* /sandboxes/{id}: show, kill, timeout, refreshes, pause, resume, connect. */
#include <errno.h>

#include "api/body.h"
#include "api/e2b/e2b.h"
#include "core/sandbox.h"
#include "core/sandbox_limits.h"

enum { REFRESH_MIN_S = 15, REFRESH_MAX_S = 3600 };

void e2b_get(struct api_req *r)
{
    const struct sandbox *sb = e2b_find(r);

    if (sb)
        e2b_reply_sandbox(r, 200, sb);
}

/* ---- answers ---- */

static void on_e2b_moved(void *ctx, struct sandbox *sb, const struct err *e)
{
    if (e)
        e2b_fail(ctx, sb, e->code, e);
    else
        api_reply(ctx, 204, NULL, STR_NULL);
}

/* Empty with a length: that is what all clients take. */
static void on_e2b_deleted(void *ctx, struct sandbox *sb, const struct err *e)
{
    if (e)
        e2b_fail(ctx, sb, e->code, e);
    else
        api_reply(ctx, 200, NULL, STR(""));
}

static void on_e2b_connected(void *ctx, struct sandbox *sb, const struct err *e)
{
    if (e)
        e2b_fail(ctx, sb, e->code, e);
    else
        e2b_reply_sandbox(ctx, 201, sb);
}

/* CODE is what the move returned: when it failed, nobody was called. */
static void settle_move(struct api_req *r, const struct sandbox *sb, int code)
{
    if (code < 0)
        e2b_fail(r, sb, code, NULL);
}

void e2b_delete(struct api_req *r)
{
    struct sandbox *sb = e2b_find(r);

    if (sb)
        settle_move(r, sb, sandbox_delete(sb, on_e2b_deleted, r));
}

/* ---- time ---- */

/* The sandbox when it runs: a paused one has no time that could be changed. */
static struct sandbox *find_running_sandbox(struct api_req *r)
{
    struct sandbox *sb = e2b_find(r);

    if (sb && sandbox_state(sb) != SANDBOX_RUNNING) {
        e2b_not_found(r);
        return NULL;
    }
    return sb;
}

static int64_t clip(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

void e2b_timeout(struct api_req *r)
{
    int64_t timeout_s = INT64_MIN;
    struct sandbox *sb = find_running_sandbox(r);

    if (!sb || api_body_object(r) < 0 || api_body_int(r, "timeout", &timeout_s) < 0)
        return;
    if (timeout_s == INT64_MIN) {
        api_error(r, 400, "timeout is required");
        return;
    }
    timeout_s = clip(timeout_s, 0, sandbox_max_timeout_s(sb));
    if (timeout_s > 0) {
        settle_move(r, sb, sandbox_set_timeout(sb, timeout_s, on_e2b_moved, r));
        return;
    }
    int code = sandbox_expire(sb);
    if (code < 0)
        e2b_fail(r, sb, code, NULL);
    else
        api_reply(r, 204, NULL, STR_NULL);
}

void e2b_refresh(struct api_req *r)
{
    int64_t duration_s = REFRESH_MIN_S;
    struct sandbox *sb = find_running_sandbox(r);

    if (!sb || api_body_object(r) < 0 || api_body_int(r, "duration", &duration_s) < 0)
        return;
    if (duration_s < 0 || duration_s > REFRESH_MAX_S) {
        api_error(r, 400, "duration must be between 0 and %d seconds", REFRESH_MAX_S);
        return;
    }
    duration_s = clip(duration_s, REFRESH_MIN_S, REFRESH_MAX_S);
    settle_move(r, sb, sandbox_extend_timeout(sb, duration_s, on_e2b_moved, r));
}

/* ---- pause ---- */

void e2b_pause(struct api_req *r)
{
    bool keeps_memory = true;
    struct sandbox *sb = e2b_find(r);

    if (!sb || api_body_object(r) < 0 || api_body_bool(r, "memory", &keeps_memory) < 0)
        return;
    if (sandbox_state(sb) == SANDBOX_PAUSED && !sb->is_talking)
        api_error(r, 409, "Sandbox %s is already paused", sb->id);
    else
        settle_move(r, sb,
                    keeps_memory ? sandbox_pause(sb, on_e2b_moved, r)
                                 : sandbox_halt(sb, on_e2b_moved, r));
}

/* ---- resume and connect ---- */

static int read_resume(struct api_req *r, const struct sandbox *sb, struct sandbox_resume *how)
{
    int64_t max_s = sandbox_max_timeout_s(sb);
    bool keeps_memory = true;

    if (api_body_object(r) < 0 || api_body_int(r, "timeout", &how->timeout_s) < 0 ||
        api_body_bool(r, "memory", &keeps_memory) < 0)
        return -EINVAL;
    how->reboots = !keeps_memory;
    if (how->timeout_s < 0)
        api_error(r, 400, "Timeout must not be negative");
    else if (how->timeout_s > max_s && max_s < SANDBOX_TIMEOUT_MAX_S)
        api_error(r, 400, "Timeout cannot be greater than %lld seconds", (long long)max_s);
    else if (how->timeout_s > max_s)
        api_error(r, 400, "Timeout cannot be greater than %d hours", SANDBOX_TIMEOUT_MAX_S / 3600);
    else
        return 0;
    return -EINVAL;
}

void e2b_resume(struct api_req *r)
{
    struct sandbox_resume how = {.timeout_s = E2B_TIMEOUT_V1_S};
    struct sandbox *sb = e2b_find(r);

    if (!sb || read_resume(r, sb, &how) < 0 || api_body_bool(r, "autoPause", &how.auto_pause) < 0)
        return;
    how.sets_auto_pause = api_body_member(r, "autoPause") != NULL;
    if (sandbox_state(sb) == SANDBOX_RUNNING && !sb->is_talking)
        api_error(r, 409, "Sandbox %s is already running", sb->id);
    else
        settle_move(r, sb, sandbox_resume(sb, &how, on_e2b_connected, r));
}

/* A running one is given more time if that is more, and never less. */
void e2b_connect(struct api_req *r)
{
    struct sandbox_resume how = {.timeout_s = E2B_TIMEOUT_V2_S};
    struct sandbox *sb = e2b_find(r);

    if (!sb || read_resume(r, sb, &how) < 0)
        return;
    if (sandbox_state(sb) == SANDBOX_PAUSED || sb->is_talking)
        settle_move(r, sb, sandbox_resume(sb, &how, on_e2b_connected, r));
    else if (how.timeout_s > 0)
        settle_move(r, sb, sandbox_extend_timeout(sb, how.timeout_s, on_e2b_connected, r));
    else
        e2b_reply_sandbox(r, 201, sb);
}

void e2b_health(struct api_req *r)
{
    api_reply(r, 204, NULL, STR_NULL);
}
