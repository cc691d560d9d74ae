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

enum { FAULT_MAX = 8192 };

/* Turns "{…}" into {"code":"0","data":{"sandbox":…,…}} without reading it, and leaves of an error
 * what clients are to see. */
struct envelope {
    struct proxy_filter filter;
    struct api_req *req;
    struct str begin; /* in place of the first byte; empty: what succeeds stays as it is */
    bool is_begun;
    bool is_fault;
    char *fault;
    size_t fault_len;
};

static bool envelope_begin(void *ctx, const struct http_head *head, int64_t *length)
{
    struct envelope *e = ctx;

    if (!str_starts(http_header_get(&head->headers, "content-type"), STR("application/json")))
        return false;
    e->is_fault = head->status >= 400;
    if (e->is_fault) {
        e->fault = arena_alloc(e->req->arena, FAULT_MAX);
        *length = -1;
        return e->fault != NULL;
    }
    if (*length > 0)
        *length += (int64_t)e->begin.len;
    return e->begin.len > 0;
}

static void envelope_data(void *ctx, struct http_req *r, const char *p, size_t len)
{
    struct envelope *e = ctx;

    if (e->is_fault) {
        size_t room = FAULT_MAX - e->fault_len, n = len < room ? len : room;
        memcpy(e->fault + e->fault_len, p, n);
        e->fault_len += n;
        return;
    }
    if (!e->is_begun) {
        e->is_begun = true;
        (void)http_write(r, e->begin.p, e->begin.len);
        p++;
        len--;
    }
    (void)http_write(r, p, len);
}

static void write_fault(struct envelope *e, struct http_req *r)
{
    const struct json *v = json_parse(r->arena, str_n(e->fault, e->fault_len), NULL, NULL);
    const struct api_fault f = {.status = r->status,
                                .text = json_str(json_get(v, "message"), STR_NULL)};
    struct buf body auto_buf = BUF_INIT(2 * FAULT_MAX);

    (void)e->req->match.surface->shape(&body, &f);
    (void)http_write(r, body.p, body.len);
}

static void envelope_end(void *ctx, struct http_req *r)
{
    struct envelope *e = ctx;

    if (e->is_fault)
        write_fault(e, r);
    else if (e->is_begun)
        (void)http_write(r, "}", 1);
}

/* NULL when memory ran out. */
static const struct proxy_filter *new_envelope(struct api_req *r, const struct sandbox *sb,
                                               bool is_wanted)
{
    struct envelope *e = arena_new(r->arena, struct envelope);

    if (!e)
        return NULL;
    e->req = r;
    /* The name of a sandbox needs no escapes. */
    e->begin = arena_printf(r->arena,
                            "{\"code\":\"0\",\"data\":{\"sandbox\":\"%s\",\"pod\":\"%s\","
                            "\"container\":\"sandbox\",",
                            sb->name, sb->name);
    if (!e->begin.p)
        return NULL;
    if (!is_wanted)
        e->begin = STR("");
    e->filter = (struct proxy_filter){envelope_begin, envelope_data, envelope_end, e};
    return &e->filter;
}

void native_forward_own(struct api_req *r, struct sandbox *sb, struct str target, bool envelope)
{
    static const char *const dropped[] = {"authorization", "x-api-key", "cookie", "referer", NULL};
    struct proxy_pass pass = {.target = target, .rules = {.headers = dropped}};

    pass.filter = new_envelope(r, sb, envelope);
    if (!target.p || !pass.filter) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    /* What has an envelope is made by GET only; our server leaves the body out. */
    if (envelope && r->http->head.method == HTTP_HEAD)
        pass.method = STR("GET");
    api_add_cors(r);
    native_forward(r, sb, FORWARD_OWN, &pass);
}
