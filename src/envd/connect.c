/* SPDX-License-Identifier: MIT */
/* Remote calls in the Connect protocol: see connect.h. */
#include "envd/connect.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "envd/e2b.h"
#include "envd/serve_internal.h"

#define TYPE_UNARY  "application/json"
#define TYPE_STREAM "application/connect+json"

enum {
    KEEPALIVE_S = 90,
    KEEPALIVE_MAX_S = 3600,
    TIMEOUT_DIGITS_MAX = 10,
    MESSAGE_MAX = 8192,   /* longer ones lose their middle */
    ERROR_MAX = 64 << 10, /* of JSON */
    MESSAGE_DEPTH = 32,
};

static const struct {
    const char *name;
    int status;
} codes[CONNECT_CODE_COUNT] = {
    [CONNECT_CANCELED] = {"canceled", 499},
    [CONNECT_UNKNOWN] = {"unknown", 500},
    [CONNECT_INVALID_ARGUMENT] = {"invalid_argument", 400},
    [CONNECT_DEADLINE_EXCEEDED] = {"deadline_exceeded", 504},
    [CONNECT_NOT_FOUND] = {"not_found", 404},
    [CONNECT_ALREADY_EXISTS] = {"already_exists", 409},
    [CONNECT_PERMISSION_DENIED] = {"permission_denied", 403},
    [CONNECT_RESOURCE_EXHAUSTED] = {"resource_exhausted", 429},
    [CONNECT_FAILED_PRECONDITION] = {"failed_precondition", 400},
    [CONNECT_ABORTED] = {"aborted", 409},
    [CONNECT_OUT_OF_RANGE] = {"out_of_range", 400},
    [CONNECT_UNIMPLEMENTED] = {"unimplemented", 501},
    [CONNECT_INTERNAL] = {"internal", 500},
    [CONNECT_UNAVAILABLE] = {"unavailable", 503},
    [CONNECT_DATA_LOSS] = {"data_loss", 500},
    [CONNECT_UNAUTHENTICATED] = {"unauthenticated", 401},
};

const char *connect_code_name(enum connect_code code)
{
    return codes[code].name;
}

/* ---- the end of a call ---- */

/* Lets go of everything but the answer. */
static void finish_connect(struct connect_call *c)
{
    loop_timer_stop(&c->deadline);
    loop_timer_stop(&c->keepalive);
    c->req->on_abort = NULL;
    if (c->on_over)
        c->on_over(c);
    if (c->method->kind == CONNECT_INPUT) {
        envelope_reader_done(&c->reader);
        arena_done(&c->scratch);
    }
}

static void on_connect_abort(struct http_req *r)
{
    struct connect_call *c = r->user;
    bool has_begun = c->has_begun;

    finish_connect(c);
    if (has_begun)
        http_end(r);
    else
        http_reply(r, r->fault ? r->fault : codes[CONNECT_CANCELED].status, NULL, STR(""));
}

static void begin_connect(struct connect_call *c)
{
    if (c->has_begun)
        return;
    c->has_begun = true;
    http_start(c->req, 200, TYPE_STREAM, -1);
}

/* The last envelope: the one thing that distinguishes a complete stream from a broken one. */
static void send_last(struct http_req *r, struct str json)
{
    auto_buf struct buf b = BUF_INIT(json.len + ENVELOPE_HEAD);

    (void)envelope_put_head(&b, ENVELOPE_END, json.len);
    if (buf_add_str(&b, json) < 0) {
        http_abort(r);
        return;
    }
    (void)http_write(r, b.p, b.len);
    http_end(r);
}

/* An error as JSON: by itself, or as the end of a stream. */
static void put_error(struct buf *b, enum connect_code code, struct str message, bool is_last)
{
    struct jw w = jw_to(b);

    if (is_last) {
        jw_object(&w);
        jw_key(&w, "error");
    }
    jw_object(&w);
    jw_key(&w, "code");
    jw_cstr(&w, codes[code].name);
    pjson_put_str(&w, "message", message);
    jw_end(&w);
    if (is_last)
        jw_end(&w);
}

/* Moves AT on to where a character begins. */
static size_t skip_to_char(struct str s, size_t at)
{
    while (at < s.len && ((unsigned char)s.p[at] & 0xc0) == 0x80)
        at++;
    return at;
}

/* A message may quote what was asked for, and have the reason behind that: the middle goes. */
static struct str shorten(struct arena *a, struct str message)
{
    if (message.len <= MESSAGE_MAX)
        return message;
    struct str begin = str_slice(message, 0, skip_to_char(message, MESSAGE_MAX / 2));
    struct str end = str_skip(message, skip_to_char(message, message.len - MESSAGE_MAX / 4));
    return arena_printf(a, STR_FMT " … " STR_FMT, STR_ARG(begin), STR_ARG(end));
}

/* HAS_BEGUN: the head of a stream has been sent. */
static void send_connect_error(struct http_req *r, bool is_unary, bool has_begun,
                               enum connect_code code, struct str message)
{
    auto_buf struct buf b = BUF_INIT(ERROR_MAX);

    message = shorten(r->arena, message);
    put_error(&b, code, message.p ? message : STR("out of memory"), !is_unary);
    if (!buf_ok(&b)) {
        buf_done(&b);
        put_error(&b, CONNECT_INTERNAL, STR_NULL, !is_unary);
    }
    if (is_unary) {
        http_reply(r, codes[code].status, TYPE_UNARY, buf_str(&b));
        return;
    }
    if (!has_begun)
        http_start(r, 200, TYPE_STREAM, -1);
    send_last(r, buf_str(&b));
}

void connect_refuse(struct http_req *r, enum connect_kind kind, enum connect_code code,
                    const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str message = arena_vprintf(r->arena, fmt, ap);
    va_end(ap);
    send_connect_error(r, kind == CONNECT_UNARY, false, code, message);
}

void connect_fail(struct connect_call *c, enum connect_code code, const char *fmt, ...)
{
    struct http_req *r = c->req;
    va_list ap;

    va_start(ap, fmt);
    struct str message = arena_vprintf(r->arena, fmt, ap);
    va_end(ap);
    if (c->is_reading) {
        c->failed_with = code;
        c->failure = message;
        return;
    }
    finish_connect(c);
    send_connect_error(r, c->method->kind == CONNECT_UNARY, c->has_begun, code, message);
}

void connect_reply(struct connect_call *c, struct buf *b)
{
    struct http_req *r = c->req;

    if (!buf_ok(b)) {
        connect_fail(c, CONNECT_RESOURCE_EXHAUSTED, "the answer is too large");
        return;
    }
    if (c->method->kind == CONNECT_UNARY) {
        finish_connect(c);
        http_reply(r, 200, TYPE_UNARY, buf_str(b));
        return;
    }
    auto_buf struct buf message = BUF_INIT(b->len + ENVELOPE_HEAD);
    connect_message(&message);
    (void)buf_add_str(&message, buf_str(b));
    connect_send(c, &message);
    connect_end(c);
}

void connect_reply_empty(struct connect_call *c)
{
    auto_buf struct buf b = BUF_INIT(8);

    (void)buf_add_lit(&b, "{}");
    connect_reply(c, &b);
}

/* ---- streams ---- */

static void on_keepalive(struct loop_timer *t)
{
    struct connect_call *c = container_of(t, struct connect_call, keepalive);
    auto_buf struct buf b = BUF_INIT(128);

    connect_message(&b);
    (void)buf_add_str(&b, str_of(c->method->keepalive));
    connect_send(c, &b);
}

void connect_message(struct buf *b)
{
    (void)envelope_put_head(b, 0, 0);
}

void connect_send(struct connect_call *c, struct buf *b)
{
    begin_connect(c);
    if (!buf_ok(b))
        return;
    size_t len = b->len - ENVELOPE_HEAD;
    for (unsigned i = 1; i < ENVELOPE_HEAD; i++)
        b->p[i] = (char)(len >> 8 * (ENVELOPE_HEAD - 1 - i));
    (void)http_write(c->req, b->p, b->len);
    if (c->method->keepalive)
        (void)loop_timer_start(c->serve->loop, &c->keepalive, c->keepalive_ms, on_keepalive);
}

bool connect_is_full(const struct connect_call *c)
{
    return http_is_full(c->req);
}

void connect_end(struct connect_call *c)
{
    struct http_req *r = c->req;

    begin_connect(c);
    finish_connect(c);
    send_last(r, STR("{}"));
}

void connect_pause(struct connect_call *c)
{
    http_body_pause(c->req);
}

void connect_resume(struct connect_call *c)
{
    http_body_resume(c->req);
}

static void on_connect_drain(struct http_req *r, void *ctx)
{
    struct connect_call *c = ctx;

    (void)r;
    if (c->on_drain)
        c->on_drain(c);
}

static void on_deadline(struct loop_timer *t)
{
    struct connect_call *c = container_of(t, struct connect_call, deadline);

    connect_fail(c, CONNECT_DEADLINE_EXCEEDED, "context deadline exceeded");
}

/* ---- the user ---- */

const struct user *connect_user(struct connect_call *c)
{
    if (c->user)
        return c->user;
    const char *name = e2b_default_user(c->serve);
    struct user *u = arena_new(c->req->arena, struct user);
    if (!u) {
        connect_fail(c, CONNECT_RESOURCE_EXHAUSTED, "out of memory");
        return NULL;
    }
    if (e2b_find_user(name, u) < 0) {
        connect_fail(c, CONNECT_UNAUTHENTICATED, "invalid default user: '%s'", name);
        return NULL;
    }
    c->user = u;
    return u;
}

/* ---- requests ---- */

/* The value without parameters. */
static bool has_type(struct http_req *r, const char *type)
{
    struct str value = http_header_get(&r->head.headers, "content-type");

    return value.p && str_iis(str_trim(str_cut(&value, ';')), type);
}

static bool is_identity(struct http_req *r, const char *header)
{
    struct str value = http_header_get(&r->head.headers, header);

    return value.len == 0 || str_iis(value, "identity");
}

/* Milliseconds of Connect-Timeout-Ms, also as "60000.0". */
static int get_timeout(struct http_req *r, int64_t *ret)
{
    struct str value = http_header_get(&r->head.headers, "connect-timeout-ms");
    uint64_t ms;

    *ret = 0;
    if (!value.p)
        return 0;
    struct str whole = str_cut(&value, '.');
    for (size_t i = 0; i < value.len; i++)
        if (value.p[i] < '0' || value.p[i] > '9')
            return -EINVAL;
    if (whole.len > TIMEOUT_DIGITS_MAX || str_to_u64(whole, &ms) < 0)
        return -EINVAL;
    *ret = (int64_t)ms;
    return 0;
}

static int64_t get_keepalive_ms(struct http_req *r)
{
    struct str value = http_header_get(&r->head.headers, "keepalive-ping-interval");
    uint64_t s;

    if (!value.p || str_to_u64(value, &s) < 0 || s == 0)
        s = KEEPALIVE_S;
    return (int64_t)(s < KEEPALIVE_MAX_S ? s : KEEPALIVE_MAX_S) * 1000;
}

/* What is said in headers. False: the call has failed. */
static bool check_headers(struct connect_call *c)
{
    struct http_req *r = c->req;
    const char *encoding =
        c->method->kind == CONNECT_UNARY ? "content-encoding" : "connect-content-encoding";
    struct str version = http_header_get(&r->head.headers, "connect-protocol-version");

    if (version.p && !str_is(version, "1")) {
        connect_fail(c, CONNECT_INVALID_ARGUMENT,
                     "connect-protocol-version must be \"1\": got \"" STR_FMT "\"",
                     STR_ARG(version));
        return false;
    }
    if (!is_identity(r, encoding)) {
        struct str name = http_header_get(&r->head.headers, encoding);
        connect_fail(c, CONNECT_UNIMPLEMENTED,
                     "unknown compression \"" STR_FMT "\": supported encodings are identity",
                     STR_ARG(name));
        return false;
    }
    if (get_timeout(r, &c->timeout_ms) < 0) {
        struct str text = http_header_get(&r->head.headers, "connect-timeout-ms");
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "parse timeout: \"" STR_FMT "\"", STR_ARG(text));
        return false;
    }
    return true;
}

/* Reads TEXT as the method's message. False: the call has failed. */
static bool read_connect_message(struct connect_call *c, struct str text)
{
    struct json_limits limits = {.max_depth = MESSAGE_DEPTH, .max_bytes = SERVE_BODY_MAX};
    struct err e = ERR_INIT;

    if (text.len == 0) {
        connect_fail(c, CONNECT_INVALID_ARGUMENT,
                     "unmarshal message: zero-length payload is not a valid JSON object");
        return false;
    }
    const struct json *v = json_parse(c->arena, text, &limits, &e);
    c->message = v ? pjson_read(c->arena, c->method->request, v, &e) : NULL;
    if (c->message)
        return true;
    connect_fail(c, e.code == -ENOMEM ? CONNECT_RESOURCE_EXHAUSTED : CONNECT_INVALID_ARGUMENT,
                 "unmarshal message: %s", err_text(&e));
    return false;
}

/* One envelope of the caller. False: the call has failed. */
static bool check_envelope(struct connect_call *c, const struct envelope *env)
{
    if (env->flags == 0)
        return true;
    if (env->flags & ENVELOPE_COMPRESSED)
        connect_fail(c, CONNECT_INTERNAL,
                     "protocol error: sent compressed message without compression support");
    else
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "protocol error: invalid envelope flags %u",
                     (unsigned)env->flags);
    return false;
}

static bool read_only_envelope(struct connect_call *c, struct str body)
{
    struct envelope_reader reader;
    struct envelope env = {0};
    bool is_whole = false;

    envelope_reader_init(&reader, SERVE_BODY_MAX);
    ssize_t used = envelope_read(&reader, body, &env, &is_whole);
    envelope_reader_done(&reader);
    if (used < 0) {
        connect_fail(c, CONNECT_RESOURCE_EXHAUSTED, "message is larger than configured max %d",
                     (int)SERVE_BODY_MAX);
        return false;
    }
    if (body.len == 0) {
        connect_fail(c, CONNECT_UNIMPLEMENTED, "unary stream has no messages");
        return false;
    }
    if (!is_whole) {
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "protocol error: incomplete envelope");
        return false;
    }
    if ((size_t)used != body.len) {
        connect_fail(c, CONNECT_UNIMPLEMENTED, "unary stream has multiple messages");
        return false;
    }
    return check_envelope(c, &env) && read_connect_message(c, env.payload);
}

static void start_deadline(struct connect_call *c)
{
    c->req->user = c;
    c->req->on_abort = on_connect_abort;
    if (c->timeout_ms > 0)
        (void)loop_timer_start(c->serve->loop, &c->deadline, c->timeout_ms, on_deadline);
}

static void on_connect_body(struct http_req *r, void *ctx)
{
    struct connect_call *c = ctx;

    start_deadline(c);
    if (c->method->kind == CONNECT_UNARY ? !read_connect_message(c, r->body)
                                         : !read_only_envelope(c, r->body))
        return;
    if (c->method->kind == CONNECT_STREAM)
        http_on_drain(r, on_connect_drain, c);
    c->method->handle(c);
}

/* ---- many requests ---- */

/* Reads the envelopes that are complete now, until one fails. */
static void read_input(struct connect_call *c, struct str left)
{
    while (!c->failed_with && left.len > 0) {
        struct envelope env;
        bool is_whole;
        ssize_t used = envelope_read(&c->reader, left, &env, &is_whole);
        if (used < 0) {
            connect_fail(c, CONNECT_RESOURCE_EXHAUSTED, "message is larger than configured max %d",
                         (int)SERVE_BODY_MAX);
            return;
        }
        left = str_skip(left, (size_t)used);
        if (!is_whole)
            continue;
        arena_reset(&c->scratch);
        if (check_envelope(c, &env) && read_connect_message(c, env.payload))
            c->method->handle(c);
    }
}

static int on_input_data(struct http_req *r, void *ctx, const char *p, size_t len)
{
    struct connect_call *c = ctx;

    c->is_reading = true;
    read_input(c, str_n(p, len));
    c->is_reading = false;
    if (!c->failed_with)
        return 0;
    finish_connect(c);
    send_connect_error(r, false, c->has_begun, c->failed_with, c->failure);
    return -ECANCELED;
}

static void on_input_end(struct http_req *r, void *ctx)
{
    struct connect_call *c = ctx;

    (void)r;
    if (envelope_is_partial(&c->reader)) {
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "protocol error: incomplete envelope");
        return;
    }
    c->message = NULL;
    c->method->handle(c);
}

static void serve_input(struct connect_call *c)
{
    static const struct http_body_sink sink = {on_input_data, on_input_end};

    envelope_reader_init(&c->reader, SERVE_BODY_MAX);
    arena_init(&c->scratch, (size_t)3 * SERVE_BODY_MAX);
    c->arena = &c->scratch;
    start_deadline(c);
    http_stream_body(c->req, UINT64_MAX, &sink, c);
}

void connect_serve(struct serve *s, struct http_req *r, const struct connect_method *m,
                   const struct user *user)
{
    const char *type = m->kind == CONNECT_UNARY ? TYPE_UNARY : TYPE_STREAM;
    struct connect_call *c = arena_new(r->arena, struct connect_call);

    if (!has_type(r, type)) {
        (void)http_add_header(r, "Accept-Post", str_of(type));
        http_reply(r, 415, NULL, STR(""));
        return;
    }
    if (!c) {
        connect_refuse(r, m->kind, CONNECT_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    c->serve = s;
    c->req = r;
    c->arena = r->arena;
    c->method = m;
    c->user = user;
    c->keepalive_ms = get_keepalive_ms(r);
    c->is_legacy = str_is(http_header_get(&r->head.headers, "user-agent"), "connect-python");
    if (c->is_legacy)
        (void)http_add_header(r, "X-E2B-Legacy-SDK", STR("true"));
    if (!check_headers(c))
        return;
    if (m->kind == CONNECT_INPUT)
        serve_input(c);
    else
        http_read_body(r, SERVE_BODY_MAX, on_connect_body, c);
}
