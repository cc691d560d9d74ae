/* SPDX-License-Identifier: MIT */
/* Calls: from their start to their answer, and what is said in between. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "mcp/exchange.h"
#include "mcp/task.h"

#define META "io.modelcontextprotocol/"

enum { NOTE_MAX = 1 << 20 };

/* ---- the start ---- */

/* What 2026-07-28 says with each request, and older revisions once. */
static void read_client(struct call *c, const struct json *meta)
{
    struct mcp_exchange *x = c->x;
    const struct json *token = json_get(meta, "progressToken");

    if (json_is(token, JSON_STRING) || json_is(token, JSON_INT))
        c->token = mcp_json_text(&x->arena, token, MCP_MAX_ID);
    c->level = MCP_LEVEL_COUNT;
    if (mcp_is_modern(x)) {
        c->can = mcp_capabilities(json_get(meta, META "clientCapabilities"));
        c->level = mcp_level_of(json_str(json_get(meta, META "logLevel"), STR_NULL));
    } else if (x->session) {
        c->can = x->session->can;
        c->level = x->session->level;
    }
}

void mcp_call_start(struct mcp_exchange *x, const struct json *request, struct str id)
{
    struct call *c = arena_new(&x->arena, struct call);
    struct mcp_server *s = x->server;

    if (!c)
        return;
    c->x = x;
    c->id = id;
    c->pub.server = s;
    c->pub.arena = &x->arena;
    c->pub.ctx = x->scope.ctx;
    c->pub.params = json_get(request, "params");
    read_client(c, json_get(c->pub.params, "_meta"));
    buf_init(&c->out, s->table.desc.limits.max_answer);
    list_init(&c->waits);
    list_append(&x->calls, &c->node);
    mcp_exchange_hold(x);
    s->n_calls++;
    struct str name = json_str(json_get(request, "method"), STR_NULL);
    c->method = mcp_method_find(name, mcp_is_modern(x));
    if (s->n_calls > s->table.desc.limits.max_calls || s->is_dead) {
        x->status = 503;
        mcp_reply_fail(&c->pub, MCP_SERVER_ERROR, "too many calls in progress");
    } else if (!c->method || (c->method->is_there && !c->method->is_there(&s->table.desc))) {
        x->status = mcp_is_modern(x) ? 404 : 200;
        mcp_reply_fail(&c->pub, MCP_NO_METHOD, "Method not found: " STR_FMT,
                       STR_ARG(str_slice(name, 0, 100)));
    } else {
        c->method->run(c);
    }
}

void mcp_call_cancel(struct call *c)
{
    c->is_cancelled = true;
    if (c->fn)
        mcp_ask_drop(c);
    else if (c->pub.on_cancel)
        c->pub.on_cancel(&c->pub);
}

/* ---- the end ---- */

void mcp_call_over(struct call *c, struct str text)
{
    struct mcp_exchange *x = c->x;
    struct buf out = c->out;

    loop_timer_stop(&c->ask_timer);
    loop_timer_stop(&c->grace);
    if (x->is_task)
        mcp_task_settle(c, text);
    list_del(&c->waits);
    list_del(&c->node);
    x->server->n_calls--;
    if (c->is_cancelled || x->is_task)
        text = STR_NULL;
    if (text.len == 0)
        ;
    else if (x->stream || x->is_pair)
        mcp_call_send(x, text);
    else if (x->is_batch) {
        (void)buf_add_char(&x->out, x->out.len > 0 ? ',' : '[');
        (void)buf_add_str(&x->out, text);
    } else if (x->http)
        mcp_exchange_reply(x, text);
    buf_done(&out);
    mcp_exchange_drop(x);
}

/* A task keeps the result alone: in which message it goes is not known yet. */
static void begin_call_message(struct call *c)
{
    buf_clear(&c->out);
    c->w = jw_to(&c->out);
    if (c->x->is_task)
        return;
    jw_object(&c->w);
    jw_key(&c->w, "jsonrpc");
    jw_cstr(&c->w, "2.0");
    jw_key(&c->w, "id");
    jw_raw(&c->w, c->id);
    jw_key(&c->w, "result");
}

/* Sends what was written; an answer over the limit becomes an error. */
static void send_call_message(struct call *c)
{
    if (!c->x->is_task)
        jw_end(&c->w);
    if (buf_ok(&c->out)) {
        mcp_call_over(c, buf_str(&c->out));
        return;
    }
    buf_clear(&c->out);
    mcp_reply_error(&c->pub, MCP_INTERNAL_ERROR, STR("the result is too large"), STR_NULL);
}

struct jw *mcp_result_begin(struct mcp_call *call)
{
    struct call *c = call_of(call);

    begin_call_message(c);
    jw_object(&c->w);
    if (mcp_is_modern(c->x) && !c->x->is_task) {
        jw_key(&c->w, "resultType");
        jw_cstr(&c->w, "complete");
        if (c->method && c->method->is_cached)
            mcp_write_cache(&c->w, &c->x->server->table, 0);
    }
    return &c->w;
}

void mcp_result_end(struct mcp_call *call)
{
    struct call *c = call_of(call);

    if (mcp_is_modern(c->x) && !c->x->is_task) {
        jw_key(&c->w, "_meta");
        jw_raw(&c->w, c->x->server->table.meta);
    }
    jw_end(&c->w);
    send_call_message(c);
}

void mcp_reply_whole(struct mcp_call *call, struct str result)
{
    struct call *c = call_of(call);

    begin_call_message(c);
    jw_raw(&c->w, result);
    send_call_message(c);
}

void mcp_put_text(struct jw *w, struct str text)
{
    jw_key(w, "content");
    jw_array(w);
    jw_object(w);
    jw_key(w, "type");
    jw_cstr(w, "text");
    jw_key(w, "text");
    jw_str(w, text);
    jw_end(w);
    jw_end(w);
}

void mcp_reply_text(struct mcp_call *call, struct str text, bool is_error)
{
    struct jw *w = mcp_result_begin(call);

    mcp_put_text(w, text);
    if (is_error) {
        jw_key(w, "isError");
        jw_bool(w, true);
    }
    mcp_result_end(call);
}

void mcp_reply_json(struct mcp_call *call, struct str json_text)
{
    struct jw *w = mcp_result_begin(call);

    mcp_put_text(w, json_text);
    if (json_text.len > 0 && json_text.p[0] == '{') {
        jw_key(w, "structuredContent");
        jw_raw(w, json_text);
    }
    mcp_result_end(call);
}

static void write_call_error(struct call *c, int code, struct str message, struct str data)
{
    buf_clear(&c->out);
    if (c->x->is_task) {
        struct jw w = jw_to(&c->out);
        mcp_put_error(&w, code, message, data);
    } else {
        mcp_write_error(&c->out, c->id, code, message, data);
    }
}

void mcp_reply_error(struct mcp_call *call, int code, struct str message, struct str data)
{
    struct call *c = call_of(call);

    c->has_failed = true;
    write_call_error(c, code, message, data);
    if (!buf_ok(&c->out))
        write_call_error(c, code, STR("internal error"), STR_NULL);
    mcp_call_over(c, buf_ok(&c->out) ? buf_str(&c->out) : STR_NULL);
}

void mcp_reply_fail(struct mcp_call *call, int code, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mcp_reply_error(call, code, str_of(text), STR_NULL);
}

/* ---- before the answer ---- */

void mcp_call_send(struct mcp_exchange *x, struct str text)
{
    struct mcp_stream *t = mcp_exchange_stream(x);

    if (t)
        mcp_stream_send(t, x->is_pair ? STR("message") : STR_NULL, text);
}

static struct jw begin_note(struct buf *b, const char *method)
{
    struct jw w = jw_to(b);

    jw_object(&w);
    jw_key(&w, "jsonrpc");
    jw_cstr(&w, "2.0");
    jw_key(&w, "method");
    jw_cstr(&w, method);
    jw_key(&w, "params");
    jw_object(&w);
    return w;
}

/* Notes can be left out: when the peer does not read, and when there is no stream. */
static void send_note(struct call *c, struct buf *b, struct jw *w)
{
    struct mcp_stream *t = c->is_cancelled ? NULL : mcp_exchange_stream(c->x);

    jw_end(w);
    jw_end(w);
    if (t && buf_ok(b) && !mcp_stream_is_full(t))
        mcp_call_send(c->x, buf_str(b));
}

void mcp_progress(struct mcp_call *call, double progress, double total, const char *message)
{
    struct call *c = call_of(call);
    struct buf b auto_buf = BUF_INIT(NOTE_MAX);

    if (c->x->task && message)
        mcp_task_say(c->x->task, message);
    if (!c->token.p)
        return;
    struct jw w = begin_note(&b, "notifications/progress");
    jw_key(&w, "progressToken");
    jw_raw(&w, c->token);
    jw_key(&w, "progress");
    jw_real(&w, progress);
    if (total >= 0) {
        jw_key(&w, "total");
        jw_real(&w, total);
    }
    if (message) {
        jw_key(&w, "message");
        jw_cstr(&w, message);
    }
    send_note(c, &b, &w);
}

static const char *const level_names[MCP_LEVEL_COUNT] = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
};

enum mcp_level mcp_level_of(struct str name)
{
    for (unsigned i = 0; i < MCP_LEVEL_COUNT; i++)
        if (str_is(name, level_names[i]))
            return i;
    return MCP_LEVEL_COUNT;
}

void mcp_log(struct mcp_call *call, enum mcp_level level, const char *logger, struct str data)
{
    struct call *c = call_of(call);
    struct buf b auto_buf = BUF_INIT(NOTE_MAX);

    if (level < c->level)
        return;
    struct jw w = begin_note(&b, "notifications/message");
    jw_key(&w, "level");
    jw_cstr(&w, level_names[level]);
    if (logger) {
        jw_key(&w, "logger");
        jw_cstr(&w, logger);
    }
    jw_key(&w, "data");
    jw_raw(&w, data);
    send_note(c, &b, &w);
}

void mcp_call_hang_up(struct mcp_call *call, int64_t retry_ms)
{
    struct mcp_stream *t = mcp_exchange_stream(call_of(call)->x);

    if (t)
        mcp_stream_hang_up(t, retry_ms);
}
