/* SPDX-License-Identifier: MIT */
/* Forwarding into sandboxes: see forward.h. */
#include "api/native/forward.h"

#include <errno.h>

#include "api/forward.h"
#include "api/internal.h"
#include "api/native/native.h"
#include "core/core.h"
#include "core/sandbox.h"

static void on_native_forward_refuse(struct api_req *r, const struct forward *f,
                                     const struct err *e)
{
    (void)f;
    native_sandbox_fail(r, e->code, e);
}

static void on_native_forward_fail(struct api_req *r, const struct forward *f,
                                   const struct proxy_fault *fault)
{
    if (fault->code == -EHOSTDOWN)
        api_error(r, 409, "sandbox %s was paused before it had responded", f->sandbox->name);
    else
        api_error(r, fault->status, "sandbox " STR_FMT ": %s", STR_ARG(api_param(r, "name")),
                  fault->why);
}

void native_forward(struct api_req *r, struct sandbox *sb, uint16_t port, enum origin_kind origin,
                    const struct proxy_pass *pass)
{
    const struct forward f = {.sandbox = sb,
                              .port = port,
                              .origin = origin,
                              .pass = *pass,
                              .refuse = on_native_forward_refuse,
                              .fail = on_native_forward_fail};

    forward_start(r, &f);
}

/* ---- the sandbox's own service ---- */

enum { FAULT_MAX = 8192 };

/* Turns "{…}" into {"code":"0","data":{"sandbox":…,…}} without reading it, and leaves of an error
 * what clients are to see. */
struct native_forward_envelope {
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
    struct native_forward_envelope *e = ctx;

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
    struct native_forward_envelope *e = ctx;

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

static void write_fault(struct native_forward_envelope *e, struct http_req *r)
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
    struct native_forward_envelope *e = ctx;

    if (e->is_fault)
        write_fault(e, r);
    else if (e->is_begun)
        (void)http_write(r, "}", 1);
}

/* NULL when memory ran out. */
static const struct proxy_filter *new_envelope(struct api_req *r, const struct sandbox *sb,
                                               bool is_wanted)
{
    struct native_forward_envelope *e = arena_new(r->arena, struct native_forward_envelope);

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
    e->filter = (struct proxy_filter){
        .begin = envelope_begin, .data = envelope_data, .end = envelope_end, .ctx = e};
    return &e->filter;
}

static const char *const dropped[] = {"authorization", "x-api-key", "cookie", "referer", NULL};

void native_forward_body(struct api_req *r, struct sandbox *sb, struct str target, struct str body)
{
    struct proxy_pass pass = {.target = target,
                              .rules = {.headers = dropped},
                              .has_no_body = true,
                              .body = body,
                              .filter = new_envelope(r, sb, false)};

    if (!body.p || !pass.filter) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    api_add_cors(r);
    native_forward(r, sb, FORWARD_OWN, ORIGIN_SHARED, &pass);
}

void native_forward_own(struct api_req *r, struct sandbox *sb, struct str target, bool envelope)
{
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
    native_forward(r, sb, FORWARD_OWN, ORIGIN_SHARED, &pass);
}
