/* SPDX-License-Identifier: MIT */
/* Answers of the service: see serve_internal.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "envd/serve_internal.h"

enum { ERROR_MAX = 8192 };

void serve_fail(struct http_req *r, int status, const struct err *e)
{
    auto_buf struct buf b = BUF_INIT(ERROR_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "code");
    jw_int(&w, status);
    jw_key(&w, "message");
    jw_cstr(&w, err_text(e));
    if (e->code < 0) {
        jw_key(&w, "errno");
        jw_int(&w, -e->code);
    }
    jw_end(&w);
    http_reply(r, status, "application/json", buf_ok(&b) ? buf_str(&b) : STR("{}"));
}

void serve_fail_text(struct http_req *r, int status, const char *fmt, ...)
{
    struct err e = ERR_INIT;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(e.text, sizeof e.text, fmt, ap);
    va_end(ap);
    serve_fail(r, status, &e);
}

int serve_status_of(int code)
{
    switch (-code) {
    case ENOENT: return 404;
    case EACCES:
    case EPERM:
    case EROFS: return 403;
    case EEXIST:
    case ENOTEMPTY: return 409;
    case EINVAL:
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case E2BIG:
    case ENOEXEC: return 400;
    case EAGAIN: return 429;
    case ENOSPC:
    case EDQUOT: return 507;
    default: return 500;
    }
}

void serve_json(struct http_req *r, struct buf *b)
{
    if (buf_ok(b))
        http_reply(r, 200, "application/json", buf_str(b));
    else
        serve_fail_text(r, 500, "the answer is too large or memory ran out");
}

void serve_put_now(struct jw *w, const char *key)
{
    char text[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(text, clock_real_us());
    jw_key(w, key);
    jw_cstr(w, text);
}

const char *serve_query(struct http_req *r, const char *name)
{
    struct str s = http_query_get(r->arena, r->head.query, name);

    return s.p ? arena_str(r->arena, s).p : NULL;
}

bool serve_query_flag(struct http_req *r, const char *name)
{
    struct str s = http_query_get(r->arena, r->head.query, name);

    return str_is(s, "1") || str_is(s, "true") || str_is(s, "yes");
}

struct reply_reading {
    struct serve *serve;
    serve_body_fn *fn;
};

static void on_reply_body(struct http_req *r, void *ctx)
{
    struct reply_reading *reading = ctx;
    struct json_limits limits = {.max_depth = 32, .max_bytes = SERVE_BODY_MAX};
    struct err e = ERR_INIT;
    struct str text = r->body.len ? r->body : STR("{}");
    const struct json *body = json_parse(r->arena, text, &limits, &e);

    if (!body)
        serve_fail_text(r, 400, "the body is not valid JSON: %s", err_text(&e));
    else if (!json_is(body, JSON_OBJECT))
        serve_fail_text(r, 400, "the body is not a JSON object");
    else
        reading->fn(reading->serve, r, body);
}

void serve_read_json(struct serve *s, struct http_req *r, serve_body_fn *fn)
{
    struct reply_reading *reading = arena_new(r->arena, struct reply_reading);

    if (!reading) {
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    *reading = (struct reply_reading){s, fn};
    http_read_body(r, SERVE_BODY_MAX, on_reply_body, reading);
}
