/* SPDX-License-Identifier: MIT */
/* Forwarding into sandboxes: see forward.h. */
#include "api/forward.h"

#include <errno.h>

#include "api/internal.h"
#include "api/view.h"
#include "core/core.h"
#include "core/sandbox.h"
#include "runtime/engine.h"

static const struct proxy_fault ended = {502, -ESHUTDOWN, "it has ended"};
static const struct proxy_fault paused = {502, -EHOSTDOWN, "it was paused"};

int forward_dial(void *ctx, const char *address, struct err *e)
{
    const struct core *core = ctx;
    struct str port = str_of(address), id = str_cut(&port, ':');
    const struct sandbox *sb = sandbox_find_id(core->sandboxes, id);
    struct engine_cell *cell = sb ? sandbox_cell(sb) : NULL;
    int64_t number = 0;

    if (!cell || str_to_i64(port, &number) < 0)
        return err_set(e, -ENOENT, "it has ended");
    int fd = number == FORWARD_OWN ? engine_cell_dial(cell)
                                   : engine_cell_connect(cell, (uint16_t)number);
    return fd < 0 ? err_sys(e, fd, "nothing is listening on port " STR_FMT, STR_ARG(port)) : fd;
}

/* A process that dies closes its connections first, and is reported when all of its cell is gone:
 * the first process of a cell lets nobody down otherwise. */
static bool has_forward_ended(const struct forward *f, const struct proxy_fault *fault)
{
    const struct engine_cell *cell = sandbox_cell(f->sandbox);
    bool is_broken = fault->code == -ECONNRESET || fault->code == -EPIPE;

    return fault->status == 502 &&
           (!cell || !engine_cell_is_alive(cell) || (f->port == FORWARD_OWN && is_broken));
}

static void on_forward_fail(struct http_req *h, const struct proxy_fault *fault)
{
    struct api_req *r = h->user;

    r->forward->fail(r, r->forward, has_forward_ended(r->forward, fault) ? &ended : fault);
}

/* What ends with the sandbox may have been cut off by it. */
static bool is_cut(void *ctx)
{
    return !sandbox_cell(ctx);
}

static void on_forward_done(void *ctx)
{
    struct sandbox *sb = ctx;

    sandbox_release(sb);
    sandbox_unref(sb);
}

/* The cell's own service is reached by connections that the engine keeps: it has one already. */
static int set_forward_address(struct api_req *r, struct sandbox *sb)
{
    struct proxy_pass *pass = &r->forward->pass;
    struct engine_cell *cell = sandbox_cell(sb);

    if (r->forward->port == FORWARD_OWN && cell) {
        /* A copy: the request may outlive the cell. */
        pass->address = arena_strdup(r->arena, engine_cell_address(cell));
        pass->client = engine_http(sandboxes_engine(r->core->sandboxes, NULL));
        return pass->address ? 0 : -ENOMEM;
    }
    pass->address = arena_printf(r->arena, "%s:%u", sb->id, r->forward->port).p;
    return pass->address ? 0 : -ENOMEM;
}

static void on_forward_usable(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct api_req *r = ctx;
    struct proxy_pass *pass = &r->forward->pass;

    if (e) {
        r->forward->refuse(r, r->forward, e);
        return;
    }
    if (set_forward_address(r, sb) < 0) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    sandbox_hold(sb);
    pass->fail = on_forward_fail;
    pass->is_cut = is_cut;
    pass->done = on_forward_done;
    pass->ctx = sandbox_ref(sb);
    pass->group = &sb->forwards;
    proxy_pass(r->api->proxy, r->http, pass);
}

void forward_end(void *ctx, struct sandbox *sb)
{
    (void)ctx;
    proxy_end_group(&sb->forwards, &ended);
}

void forward_pause(void *ctx, struct sandbox *sb)
{
    (void)ctx;
    proxy_end_group(&sb->forwards, &paused);
}

/* What lets a browser in is none of the service's business, "tidepool_key" of former versions
 * included: it neither gets nor sets it. */
static const char *const view_cookies[] = {VIEW_COOKIE, VIEW_COOKIE_SECURE, "tidepool_key", NULL};

void forward_start(struct api_req *r, const struct forward *f)
{
    struct err e = ERR_INIT;

    r->forward = arena_alloc(r->arena, sizeof *f);
    if (!r->forward) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    *r->forward = *f;
    r->forward->pass.rules.cookies = view_cookies;
    if (!origin_guard(r, r->forward))
        return;
    int code = sandbox_use(f->sandbox, on_forward_usable, r);
    if (code < 0) {
        (void)err_set(&e, code, "sandbox %s has ended", f->sandbox->name);
        f->refuse(r, r->forward, &e);
    }
}
