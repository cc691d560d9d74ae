/* SPDX-License-Identifier: MIT */
/* The engine's conversation with the first process of a cell: HTTP over the cell's control socket,
 * on connections that are kept for the next request. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/json.h"
#include "base/mem.h"
#include "runtime/engine_freeze.h"
#include "runtime/engine_internal.h"

enum {
    KEEP_MS = 10000,
    KEPT_MAX = 512,
    REQUEST_MAX = 32 << 20,
    ANSWER_MAX = 32 << 20, /* outputs at their limit, as base64 */
    ARENA_MAX = 64 << 20,
};

/* A request to a cell, from the call to its answer. */
struct request {
    struct list node; /* in cell->requests */
    struct engine_cell *cell;
    struct http_call *call; /* NULL: waits for the engine's own requests */
    const char *target;
    struct buf body;
    engine_run_fn *fn; /* NULL: the engine's own, whose answer nobody reads */
    void *ctx;
};

/* ---- the way there ---- */

int engine_http_open(struct engine *en, struct err *e)
{
    struct http_client_opts o = {.loop = en->loop,
                                 .timeouts = {.keep_ms = KEEP_MS},
                                 .max_kept = KEPT_MAX,
                                 .dial = engine_dial,
                                 .ctx = en};

    en->http = http_client_new(&o, e);
    return en->http ? 0 : -ENOMEM;
}

struct http_client *engine_http(struct engine *en)
{
    return en->http;
}

const char *engine_cell_address(const struct engine_cell *c)
{
    return c->address;
}

int engine_cell_dial(struct engine_cell *c)
{
    engine_note_use(c->engine);
    return engine_dial(c->engine, c->address, NULL);
}

/* ---- answers ---- */

static void request_free(struct request *q)
{
    list_del(&q->node);
    buf_done(&q->body);
    free(q);
}

/* {"code","message","errno"} as an error. */
static void tell_failure(struct request *q, int status, const struct json *answer)
{
    struct err e = ERR_INIT;
    int64_t number = json_int(json_get(answer, "errno"), EIO);
    struct str text = json_str(json_get(answer, "message"), STR(""));

    (void)err_set(&e, number > 0 && number < 4096 ? -(int)number : -EIO, STR_FMT, STR_ARG(text));
    if (text.len == 0)
        (void)err_set(&e, e.code, "the cell responded with status %d", status);
    q->fn(q->ctx, NULL, &e);
}

static int decode_output(const struct json *answer, const char *name, struct buf *out)
{
    return enc_unbase64(out, json_str(json_get(answer, name), STR("")));
}

static void tell_result(struct request *q, const struct json *answer)
{
    auto_buf struct buf out = BUF_INIT(ANSWER_MAX), err = BUF_INIT(ANSWER_MAX);
    int r = decode_output(answer, "stdout", &out);

    if (r == 0)
        r = decode_output(answer, "stderr", &err);
    if (r < 0) {
        struct err e = ERR_INIT;
        (void)err_sys(&e, r, "output of a command");
        q->fn(q->ctx, NULL, &e);
        return;
    }
    int64_t signo = json_int(json_get(answer, "signal"), 0);
    int64_t code = json_int(json_get(answer, "exitCode"), 0);
    struct engine_result result = {
        .status = signo > 0 ? (int)(signo & 0x7f) : (int)(code & 0xff) << 8,
        .is_timed_out = json_bool(json_get(answer, "timedOut"), false),
        .is_output_cut = json_bool(json_get(answer, "truncated"), false),
        .out = buf_str(&out),
        .err = buf_str(&err),
    };

    q->fn(q->ctx, &result, NULL);
}

/* The cell did not answer. */
static void tell_lost(struct request *q, int code, const char *why)
{
    struct err e = ERR_INIT;

    if (code == -EHOSTDOWN)
        (void)err_set(&e, code, "%s", why);
    else
        (void)err_set(&e, code, "the connection to the cell broke: %s", why);
    q->fn(q->ctx, NULL, &e);
}

/* What a cell says may be anything. */
static void tell_requester(struct request *q, const struct http_response *r)
{
    auto_arena struct arena a;
    struct json_limits limits = {.max_depth = 8, .max_bytes = ANSWER_MAX};
    struct err e = ERR_INIT;

    arena_init(&a, ARENA_MAX);
    if (r->error < 0) {
        tell_lost(q, r->error, r->why);
        return;
    }
    const struct json *answer = json_parse(&a, r->body, &limits, &e);
    if (!answer) {
        (void)err_ctx(&e, e.code, "the cell sent a malformed response");
        q->fn(q->ctx, NULL, &e);
    } else if (r->head.status == 200) {
        tell_result(q, answer);
    } else {
        tell_failure(q, r->head.status, answer);
    }
}

static void send_waiting(struct engine_cell *c);

static void on_request_answer(void *ctx, const struct http_response *r)
{
    struct request *q = ctx;
    struct engine_cell *c = q->cell;
    struct engine *en = c->engine;

    q->call = NULL;
    if (!q->fn) {
        request_free(q);
        if (--c->n_ahead > 0)
            return;
        send_waiting(c);
        engine_stock_tend(en);
        return;
    }
    /* Out of the list first: the callback may end the cell or send more. */
    list_del(&q->node);
    tell_requester(q, r);
    request_free(q);
}

/* ---- requests ---- */

static int request_send(struct request *q, struct err *e)
{
    static const struct http_header headers[] = {
        {STR_INIT("Content-Type"), STR_INIT("application/json")}};
    struct http_request request = {.address = q->cell->address,
                                   .method = STR("POST"),
                                   .target = str_of(q->target),
                                   .host = STR("cell"),
                                   .headers = headers,
                                   .n_headers = ARRAY_LEN(headers),
                                   .body = buf_str(&q->body),
                                   .max_body = ANSWER_MAX};

    if (!buf_ok(&q->body))
        return err_sys(e, q->body.error, "request to cell '%s'", q->cell->slot_name);
    q->call = http_client_fetch(q->cell->engine->http, &request, on_request_answer, q, e);
    return q->call ? 0 : e->code;
}

static void send_waiting(struct engine_cell *c)
{
    list_each(node, &c->requests)
    {
        struct request *q = list_entry(node, struct request, node);
        struct err e = ERR_INIT;
        if (q->call || request_send(q, &e) == 0)
            continue;
        list_del(&q->node);
        q->fn(q->ctx, NULL, &e);
        request_free(q);
    }
}

static struct request *request_new(struct engine_cell *c, const char *target)
{
    struct request *q = mem_zalloc(1, sizeof *q);

    if (!q)
        return NULL;
    q->cell = c;
    q->target = target;
    buf_init(&q->body, REQUEST_MAX);
    list_append(&c->requests, &q->node);
    return q;
}

void engine_requests_fail(struct engine_cell *c)
{
    struct err e = ERR_INIT;

    (void)err_sys(&e, -ESHUTDOWN, "the cell is gone");
    for (struct list *node; (node = list_pop(&c->requests));) {
        struct request *q = list_entry(node, struct request, node);
        if (q->call)
            http_call_abort(q->call);
        if (q->fn)
            q->fn(q->ctx, NULL, &e);
        request_free(q);
    }
}

static struct request *find_waiting(const struct engine_cell *c)
{
    list_each(node, &c->requests)
    {
        struct request *q = list_entry(node, struct request, node);
        if (!q->call)
            return q;
    }
    return NULL;
}

void engine_cell_end_calls(struct engine_cell *c, const char *why)
{
    /* Those that wait would be sent by the end of the others. */
    for (struct request *q; (q = find_waiting(c));) {
        list_del(&q->node);
        tell_lost(q, -EHOSTDOWN, why);
        request_free(q);
    }
    http_client_end_calls(c->engine->http, str_of(c->address), -EHOSTDOWN, why);
}

/* A request of the engine's own: an object with one member. */
static int send_ahead(struct engine_cell *c, const char *target, const char *key, const char *value,
                      struct err *e)
{
    struct request *q = request_new(c, target);

    if (!q)
        return err_sys(e, -ENOMEM, "request to cell");
    struct jw w = jw_to(&q->body);
    jw_object(&w);
    jw_key(&w, key);
    jw_cstr(&w, value);
    jw_end(&w);
    int r = request_send(q, e);
    if (r < 0)
        request_free(q);
    else
        c->n_ahead++;
    return r;
}

int engine_send_hostname(struct engine_cell *c, const char *hostname, struct err *e)
{
    return send_ahead(c, "/claim", "hostname", hostname, e);
}

/* Both shells, which most clients start for every command, and a command that is known to need none
 * of them: what the first process has to find out for that, it then knows. */
int engine_rehearse(struct engine_cell *c)
{
    static const char *const commands[] = {"command -v bash >/dev/null && bash -lc true", "true"};
    int r = 0;

    c->is_rehearsed = true;
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(commands); i++)
        r = send_ahead(c, "/run", "command", commands[i], &(struct err)ERR_INIT);
    return r;
}

/* ---- commands ---- */

static void put_request_env(struct jw *w, const char *const *env)
{
    jw_key(w, "env");
    jw_object(w);
    for (; env && *env; env++) {
        struct str value = str_of(*env);
        struct str name = str_cut(&value, '=');
        jw_key_str(w, name);
        jw_str(w, value.p ? value : STR(""));
    }
    jw_end(w);
}

static void put_request_input(struct jw *w, struct str input)
{
    auto_buf struct buf text = BUF_INIT(REQUEST_MAX);

    if (input.len == 0)
        return;
    if (enc_base64(&text, input) < 0)
        w->out->error = text.error;
    jw_key(w, "stdin_base64");
    jw_str(w, buf_str(&text));
}

static void put_flag(struct jw *w, const char *key, bool is_on)
{
    if (!is_on)
        return;
    jw_key(w, key);
    jw_bool(w, true);
}

static void put_run(struct jw *w, const struct engine_run *run, bool is_streamed)
{
    jw_object(w);
    put_flag(w, "stream", is_streamed);
    put_flag(w, "tied", run->is_tied);
    jw_key(w, "argv");
    jw_array(w);
    for (const char *const *arg = run->argv; *arg; arg++)
        jw_cstr(w, *arg);
    jw_end(w);
    put_request_env(w, run->env);
    jw_key(w, "user");
    jw_cstr(w, run->user ? run->user : "root");
    if (run->cwd) {
        jw_key(w, "cwd");
        jw_cstr(w, run->cwd);
    }
    put_request_input(w, run->input);
    jw_key(w, "encoding"); /* outputs may be any bytes, and JSON holds text only */
    jw_cstr(w, "base64");
    jw_key(w, "timeout_ms");
    jw_int(w, run->timeout_ms);
    jw_key(w, "max_output");
    jw_int(w, run->max_output ? run->max_output : PROTO_OUTPUT_MAX);
    jw_end(w);
}

int engine_cell_run(struct engine_cell *c, const struct engine_run *run, engine_run_fn *fn,
                    void *ctx, struct err *e)
{
    struct err ignored = ERR_INIT, *why = e ? e : &ignored;
    struct request *q = request_new(c, "/run");

    if (!q)
        return err_sys(why, -ENOMEM, "request to cell");
    struct jw w = jw_to(&q->body);
    put_run(&w, run, false);
    q->fn = fn;
    q->ctx = ctx;
    engine_note_use(c->engine);
    if (c->n_ahead > 0 && buf_ok(&q->body))
        return 0;
    int r = request_send(q, why);
    if (r < 0)
        request_free(q);
    return r;
}

void engine_cell_cancel(struct engine_cell *c, const void *ctx)
{
    struct err e = ERR_INIT;

    list_each(node, &c->requests)
    {
        struct request *q = list_entry(node, struct request, node);
        if (!q->fn || q->ctx != ctx)
            continue;
        if (q->call)
            http_call_abort(q->call);
        list_del(&q->node);
        (void)err_set(&e, -ECANCELED, "the command was cancelled");
        q->fn(q->ctx, NULL, &e);
        request_free(q);
        return;
    }
}

int engine_put_stream(struct buf *out, const struct engine_run *run)
{
    struct jw w = jw_to(out);

    put_run(&w, run, true);
    return out->error;
}
