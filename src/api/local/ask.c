/* SPDX-License-Identifier: MIT */
#include "api/local/ask.h"

#include <errno.h>

#include "api/local/local.h"
#include "base/cleanup.h"
#include "core/sandbox.h"
#include "net/http_client.h"

enum {
    ANSWER_MAX = 100 << 20,
    RETRY_MS = 15,
    RETRIES = 200 /* while tidepool-local starts */
};

struct local_asked {
    struct local_ask q;
    struct sandbox *sb; /* a reference, and held */
    const char *address;
    struct loop_timer retry;
    unsigned n_tries;
};

/* The sandbox is let go before the answer, which takes the arena with it. */
static void end_ask(struct local_asked *k, struct str body, const char *why)
{
    loop_timer_stop(&k->retry);
    sandbox_release(k->sb);
    sandbox_unref(k->sb);
    k->q.fn(k->q.ctx, body, why);
}

static void fail_ask(struct local_asked *k, const char *why)
{
    const char *text = arena_printf(k->q.arena,
                                    "the tools of this sandbox do not respond (%s); reset the "
                                    "sandbox to restore them",
                                    why)
                           .p;

    end_ask(k, STR_NULL, text ? text : "out of memory");
}

static void start_ask(struct local_asked *k);

static void on_ask_retry(struct loop_timer *t)
{
    start_ask(container_of(t, struct local_asked, retry));
}

/* Nobody listens, so nothing was done: the program is being started. What died under a call may
 * have done it already. */
static bool may_retry(struct local_asked *k, int code)
{
    bool is_undone =
        code == -ECONNREFUSED || (k->q.may_repeat && (code == -ECONNRESET || code == -EPIPE));

    return is_undone && ++k->n_tries < RETRIES && sandbox_cell(k->sb) &&
           loop_timer_start(locals_loop(k->q.locals), &k->retry, RETRY_MS, on_ask_retry) == 0;
}

static void on_ask_response(void *ctx, const struct http_response *r)
{
    struct local_asked *k = ctx;

    if (r->error && may_retry(k, r->error))
        return;
    if (r->error) {
        fail_ask(k, r->why);
        return;
    }
    if (k->q.ret_status)
        *k->q.ret_status = r->head.status;
    if (r->head.status == 200) {
        end_ask(k, r->body, NULL);
        return;
    }
    /* What is wrong with a request it says in a line. */
    bool is_told = r->head.status == 422 && r->body.len > 0;
    const char *why =
        is_told
            ? arena_str(k->q.arena, str_slice(r->body, 0, 500)).p
            : arena_printf(k->q.arena, "the sandbox responded with status %d", r->head.status).p;
    end_ask(k, STR_NULL, why ? why : "out of memory");
}

static void start_ask(struct local_asked *k)
{
    struct err e = ERR_INIT;
    const struct http_header type = {STR_INIT("Content-Type"), STR_INIT("application/json")};
    const struct http_request rq = {
        .address = k->address,
        .method = STR_INIT("POST"),
        .target = k->q.target,
        .host = STR_INIT("localhost"),
        .headers = &type,
        .n_headers = 1,
        .body = k->q.body,
        .max_body = ANSWER_MAX,
    };

    if (!http_client_fetch(locals_client(k->q.locals), &rq, on_ask_response, k, &e) &&
        !may_retry(k, e.code))
        fail_ask(k, err_text(&e));
}

static void on_ask_usable(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct local_asked *k = ctx;

    if (e) {
        const char *why = arena_printf(k->q.arena, "the sandbox cannot be used: %s", err_text(e)).p;
        k->q.fn(k->q.ctx, STR_NULL, why ? why : "out of memory");
        return;
    }
    k->address = arena_printf(k->q.arena, "%s:%d", sb->id, LOCAL_PORT).p;
    if (!k->address) {
        k->q.fn(k->q.ctx, STR_NULL, "out of memory");
        return;
    }
    k->sb = sandbox_ref(sb);
    sandbox_hold(sb);
    start_ask(k);
}

void local_ask(const struct local_ask *q)
{
    struct local_asked *k =
        q->target.p && q->body.p ? arena_new(q->arena, struct local_asked) : NULL;

    if (!k) {
        q->fn(q->ctx, STR_NULL, "out of memory");
        return;
    }
    k->q = *q;
    if (sandbox_use(q->sandbox, on_ask_usable, k) < 0)
        q->fn(q->ctx, STR_NULL, "the sandbox has ended");
}
