/* SPDX-License-Identifier: MIT */
/* Forwarding into sandboxes: see forward.h. */
#include "api/native/forward.h"

#include <errno.h>

#include "api/internal.h"
#include "api/native/native.h"
#include "core/core.h"
#include "core/sandbox.h"
#include "runtime/engine.h"

struct forward {
    struct api_req *req;
    struct proxy_pass pass;
    uint16_t port;
};

static void on_done(void *ctx)
{
    struct sandbox *sb = ctx;

    sandbox_release(sb);
    sandbox_unref(sb);
}

static void on_fail(struct http_req *h, int status, const char *why)
{
    api_error(h->user, status, "sandbox " STR_FMT ": %s", STR_ARG(api_param(h->user, "name")), why);
}

int native_dial(void *ctx, const char *address, struct err *e)
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
    return fd < 0 ? err_sys(e, fd, "nothing answers on port " STR_FMT, STR_ARG(port)) : fd;
}

static void on_usable(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct forward *f = ctx;

    if (e) {
        native_sandbox_fail(f->req, e->code, e);
        return;
    }
    f->pass.address = arena_printf(f->req->arena, "%s:%u", sb->id, f->port).p;
    if (!f->pass.address) {
        api_fail(f->req, -ENOMEM, NULL);
        return;
    }
    sandbox_hold(sb);
    f->pass.fail = on_fail;
    f->pass.done = on_done;
    f->pass.ctx = sandbox_ref(sb);
    proxy_pass(f->req->api->proxy, f->req->http, &f->pass);
}

void native_forward(struct api_req *r, struct sandbox *sb, uint16_t port,
                    const struct proxy_pass *pass)
{
    struct forward *f = arena_new(r->arena, struct forward);

    if (!f) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    *f = (struct forward){.req = r, .pass = *pass, .port = port};
    int code = sandbox_use(sb, on_usable, f);
    if (code < 0)
        native_sandbox_fail(r, code, NULL);
}

/* ---- the sandbox's own service ---- */

/* Turns "{…}" into {"code":"0","data":{"sandbox":…,…}} without reading it. */
struct envelope {
    struct proxy_filter filter;
    struct str begin; /* in place of the first byte */
    bool is_begun;
};

static bool envelope_begin(void *ctx, const struct http_head *head, int64_t *length)
{
    const struct envelope *e = ctx;
    struct str type = http_header_get(&head->headers, "content-type");

    if (head->status != 200 || !str_starts(type, STR("application/json")))
        return false;
    if (*length > 0)
        *length += (int64_t)e->begin.len;
    return true;
}

static void envelope_data(void *ctx, struct http_req *r, const char *p, size_t len)
{
    struct envelope *e = ctx;

    if (!e->is_begun) {
        e->is_begun = true;
        (void)http_write(r, e->begin.p, e->begin.len);
        p++;
        len--;
    }
    (void)http_write(r, p, len);
}

static void envelope_end(void *ctx, struct http_req *r)
{
    const struct envelope *e = ctx;

    if (e->is_begun)
        (void)http_write(r, "}", 1);
}

static const struct proxy_filter *new_envelope(struct api_req *r, const struct sandbox *sb)
{
    struct envelope *e = arena_new(r->arena, struct envelope);

    if (!e)
        return NULL;
    /* The name of a sandbox needs no escapes. */
    e->begin = arena_printf(r->arena,
                            "{\"code\":\"0\",\"data\":{\"sandbox\":\"%s\",\"pod\":\"%s\","
                            "\"container\":\"sandbox\",",
                            sb->name, sb->name);
    e->filter = (struct proxy_filter){envelope_begin, envelope_data, envelope_end, e};
    return e->begin.p ? &e->filter : NULL;
}

void native_forward_own(struct api_req *r, struct sandbox *sb, struct str target, bool envelope)
{
    static const char *const dropped[] = {"authorization", "x-api-key", "cookie", "referer", NULL};
    struct proxy_pass pass = {.target = target, .rules = {.headers = dropped}};

    pass.filter = envelope ? new_envelope(r, sb) : NULL;
    if (!target.p || (envelope && !pass.filter)) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    api_add_cors(r);
    native_forward(r, sb, FORWARD_OWN, &pass);
}
