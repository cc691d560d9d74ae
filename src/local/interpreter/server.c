/* SPDX-License-Identifier: MIT */
#include "local/interpreter/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/interpreter/context.h"
#include "local/interpreter/event.h"
#include "local/interpreter/interpreter.h"
#include "local/interpreter/language.h"
#include "loop/loop.h"
#include "net/http_server.h"
#include "net/listen.h"

enum { LIST_MAX = 1 << 20, IDLE_MS = 640000, ARENA_MAX = 4 * INTERPRETER_BODY_MAX };

#define CORS_METHODS "HEAD, GET, POST, PUT, PATCH, DELETE"

struct interpreter_server {
    struct interpreter_server_args args;
    struct contexts contexts;
    struct http_server *http, *adopting;
};

/* ---- answers ---- */

static void reply_json(struct http_req *r, const struct buf *text)
{
    if (buf_ok(text))
        http_reply(r, 200, "application/json", buf_str(text));
    else
        http_reply(r, 500, "text/plain; charset=utf-8", STR("out of memory"));
}

static void reply_plain_text(struct http_req *r, int status, struct str text)
{
    http_reply(r, status, "text/plain; charset=utf-8", text);
}

static void reply_err(struct http_req *r, int status, const struct err *e)
{
    reply_plain_text(r, status, str_of(err_text(e)));
}

static void reply_unknown(struct http_req *r, struct str id)
{
    struct str text =
        arena_printf(r->arena, "Context " STR_FMT " not found", STR_ARG(str_slice(id, 0, 200)));

    reply_plain_text(r, 404, text.p ? text : STR("not found"));
}

/* A body that cannot be used, in the shape of the original. */
static void reply_invalid(struct http_req *r, const char *where, const char *what)
{
    struct buf text auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&text);

    jw_object(&w);
    jw_key(&w, "detail");
    jw_array(&w);
    jw_object(&w);
    jw_key(&w, "loc");
    jw_array(&w);
    jw_cstr(&w, "body");
    if (*where)
        jw_cstr(&w, where);
    jw_end(&w);
    jw_key(&w, "msg");
    jw_cstr(&w, what);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    http_reply(r, 422, "application/json", buf_str(&text));
}

/* ---- bodies ---- */

/* An object; NULL when R was answered. An empty body is an empty object where nothing is needed. */
static const struct json *read_body_object(struct http_req *r, bool may_be_empty)
{
    struct err e = ERR_INIT;
    struct str text = may_be_empty && r->body.len == 0 ? STR("{}") : r->body;
    const struct json *body = json_parse(r->arena, text, NULL, &e);

    if (json_is(body, JSON_OBJECT))
        return body;
    reply_invalid(r, "", body ? "the body must be a JSON object" : err_text(&e));
    return NULL;
}

/* A string that may be absent or null: .p is NULL then. False when R was answered. */
static bool read_string(struct http_req *r, const struct json *body, const char *name,
                        struct str *ret)
{
    const struct json *v = json_get(body, name);

    *ret = json_str(v, STR_NULL);
    if (!v || json_is(v, JSON_NULL) || ret->p)
        return true;
    reply_invalid(r, name, "Input should be a valid string");
    return false;
}

static bool is_variable(const struct json_member *m)
{
    return json_is(&m->value, JSON_STRING) && m->key.len > 0 && str_chr(m->key, '=') < 0 &&
           str_chr(m->key, '\0') < 0 && str_chr(m->value.s, '\0') < 0;
}

static bool read_variables(struct http_req *r, const struct json *body, const struct json **ret)
{
    const struct json *v = json_get(body, "env_vars");

    *ret = NULL;
    if (!v || json_is(v, JSON_NULL))
        return true;
    bool is_good = json_is(v, JSON_OBJECT) && v->n <= INTERPRETER_ENV_MAX;
    for (size_t i = 0; is_good && i < v->n; i++)
        is_good = is_variable(&v->members[i]);
    if (is_good)
        *ret = v;
    else
        reply_invalid(r, "env_vars", "must be an object of at most 256 strings");
    return is_good;
}

/* ---- /execute ---- */

static const struct language *find_language(struct http_req *r, struct str name)
{
    const struct language *l = language_find(name.p ? name : STR(""));
    struct buf text auto_buf = BUF_INIT(4096);

    if (l)
        return l;
    (void)buf_printf(&text, "Language " STR_FMT " is not supported; there are ",
                     STR_ARG(str_slice(name, 0, 100)));
    language_put_names(&text);
    reply_plain_text(r, 500, buf_str(&text));
    return NULL;
}

/* A language that is known and not installed: clients show what an event says, and nothing of the
 * text of a failure. */
static void reply_missing(struct http_req *r, const struct err *e)
{
    struct buf text auto_buf = BUF_INIT(LIST_MAX);

    event_put_error(&text, STR("LanguageNotAvailable"), str_of(err_text(e)), STR(""));
    event_put_end(&text);
    http_reply(r, 200, "application/x-ndjson", buf_str(&text));
}

/* NULL when R was answered. */
static struct context *find_target(struct interpreter_server *s, struct http_req *r, struct str id,
                                   struct str language)
{
    struct err e = ERR_INIT;

    if (id.len > 0) {
        struct context *c = context_find(&s->contexts, id);
        if (!c)
            reply_unknown(r, id);
        return c;
    }
    const struct language *l = find_language(r, language);
    struct context *c = l ? context_of_language(&s->contexts, l, &e) : NULL;
    if (l && !c && e.code == -ENOENT)
        reply_missing(r, &e);
    else if (l && !c)
        reply_err(r, 500, &e);
    return c;
}

static void on_execute(struct http_req *r, void *ctx)
{
    struct interpreter_server *s = ctx;
    const struct json *body = read_body_object(r, false), *env;
    struct str code, id, language;

    if (!body || !read_string(r, body, "code", &code) || !read_string(r, body, "context_id", &id) ||
        !read_string(r, body, "language", &language) || !read_variables(r, body, &env))
        return;
    if (!code.p) {
        reply_invalid(r, "code", "Field required");
        return;
    }
    if (id.len > 0 && language.len > 0) {
        reply_plain_text(r, 400, STR("Only one of context_id or language can be provided"));
        return;
    }
    struct context *c = find_target(s, r, id, language);
    if (!c)
        return;
    int code_of = context_execute(c, r, code, env);
    if (code_of == -EBUSY)
        reply_plain_text(r, 429, STR("too many executions wait for this context"));
    else if (code_of < 0)
        reply_plain_text(r, 500, STR("out of memory"));
}

/* ---- /contexts ---- */

static void list_contexts(struct interpreter_server *s, struct http_req *r)
{
    struct buf text auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&text);

    jw_array(&w);
    list_each(node, &s->contexts.all) context_write(&w, list_entry(node, struct context, node));
    jw_end(&w);
    reply_json(r, &text);
}

static void on_create(struct http_req *r, void *ctx)
{
    struct interpreter_server *s = ctx;
    const struct json *body = read_body_object(r, true);
    struct buf text auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&text);
    struct err e = ERR_INIT;
    struct str language, cwd;

    if (!body || !read_string(r, body, "language", &language) || !read_string(r, body, "cwd", &cwd))
        return;
    const struct language *l = find_language(r, language);
    if (!l)
        return;
    struct context *c = context_new(&s->contexts, l, cwd, &e);
    /* Its process starts while the answer is on its way. */
    if (!c || context_warm(c, &e) < 0) {
        if (c)
            context_free(c);
        reply_err(r, 500, &e);
        return;
    }
    context_write(&w, c);
    reply_json(r, &text);
}

static void change_context(struct interpreter_server *s, struct http_req *r, struct str id,
                           void (*change)(struct context *c))
{
    struct context *c = context_find(&s->contexts, id);

    if (!c) {
        reply_unknown(r, id);
        return;
    }
    change(c);
    http_reply(r, 200, "application/json", STR("null"));
}

static void on_contexts(struct interpreter_server *s, struct http_req *r)
{
    if (r->head.method == HTTP_GET)
        list_contexts(s, r);
    else if (r->head.method == HTTP_POST)
        http_read_body(r, INTERPRETER_BODY_MAX, on_create, s);
    else
        reply_plain_text(r, 405, STR("Method Not Allowed"));
}

static void on_context(struct interpreter_server *s, struct http_req *r, struct str rest)
{
    struct str id = str_cut(&rest, '/');

    if (!rest.p && r->head.method == HTTP_DELETE)
        change_context(s, r, id, context_free);
    else if (str_is(rest, "restart") && r->head.method == HTTP_POST)
        change_context(s, r, id, context_restart);
    else
        reply_plain_text(r, 404, STR("Not Found"));
}

/* ---- requests ---- */

static void reply_preflight(struct http_req *r)
{
    struct str wanted = http_header_get(&r->head.headers, "access-control-request-headers");

    (void)http_add_header(r, "Access-Control-Allow-Methods", STR(CORS_METHODS));
    if (wanted.len > 0)
        (void)http_add_header(r, "Access-Control-Allow-Headers", wanted);
    (void)http_add_header(r, "Access-Control-Max-Age", STR("7200"));
    http_reply(r, 204, NULL, STR(""));
}

static void on_request(struct http_req *r, void *ctx)
{
    struct interpreter_server *s = ctx;
    const struct str one = STR("/contexts/");
    struct str path = r->head.path;

    (void)http_add_header(r, "Access-Control-Allow-Origin", STR("*"));
    if (r->head.method == HTTP_OPTIONS)
        reply_preflight(r);
    else if (str_is(path, "/health"))
        http_reply(r, 200, "application/json", STR("\"OK\""));
    else if (str_is(path, "/execute") && r->head.method == HTTP_POST)
        http_read_body(r, INTERPRETER_BODY_MAX, on_execute, s);
    else if (str_is(path, "/contexts"))
        on_contexts(s, r);
    else if (str_starts(path, one))
        on_context(s, r, str_skip(path, one.len));
    else
        reply_plain_text(r, 404, STR("Not Found"));
}

/* ---- adopting ---- */

static void on_environment(struct http_req *r, void *ctx)
{
    struct interpreter_server *s = ctx;
    const struct json *env = read_body_object(r, false);

    if (!env)
        return;
    if (contexts_adopt(&s->contexts, env) < 0)
        reply_plain_text(r, 500, STR("out of memory"));
    else
        http_reply(r, 200, "application/json", STR("null"));
}

static void on_adopt(struct http_req *r, void *ctx)
{
    http_read_body(r, INTERPRETER_BODY_MAX, on_environment, ctx);
}

/* ---- the server ---- */

static struct http_server *open_server(struct interpreter_server *s, http_handler *handler,
                                       struct err *e)
{
    struct http_server_opts o = {
        .loop = s->args.loop,
        .handler = handler,
        .ctx = s,
        .limits = {.max_head = 64 << 10, .max_target = 16 << 10, .max_headers = 100},
        .timeouts = HTTP_TIMEOUTS_DEFAULT,
        .max_conns = INTERPRETER_CONNECTIONS_MAX,
        .max_arena = ARENA_MAX,
    };

    o.timeouts.idle_ms = IDLE_MS;
    return http_server_new(&o, e);
}

static int listen_now(struct interpreter_server *s, struct err *e)
{
    int fd = http_listen(s->args.address, false, e);

    if (fd < 0)
        return fd;
    (void)printf("listening on port %d\n", http_listen_port(fd));
    (void)fflush(stdout);
    return http_server_listen(s->http, fd, e);
}

static void on_warm(void *ctx)
{
    struct interpreter_server *s = ctx;
    struct err e = ERR_INIT;

    if (listen_now(s, &e) == 0)
        return;
    (void)fprintf(stderr, "code-interpreter: %s\n", err_text(&e));
    loop_stop(s->args.loop);
}

static int start_serving(struct interpreter_server *s, struct err *e)
{
    int r = contexts_init(&s->contexts, s->args.loop, e);

    if (r < 0)
        return r;
    s->http = open_server(s, on_request, e);
    s->adopting = s->http ? open_server(s, on_adopt, e) : NULL;
    if (!s->adopting)
        return e->code;
    if (s->args.adopt) {
        r = http_listen(s->args.adopt, false, e);
        if (r >= 0)
            r = http_server_listen(s->adopting, r, e);
    }
    if (r >= 0 && s->args.is_warm) {
        s->contexts.on_ready = on_warm;
        s->contexts.ready_ctx = s;
    } else if (r >= 0)
        r = listen_now(s, e);
    if (r < 0)
        return r;
    /* In either case the first code finds its process, or one that is about to be there. */
    struct context *first = context_of_language(&s->contexts, language_at(0), e);
    return first ? context_warm(first, e) : e->code;
}

struct interpreter_server *interpreter_server_new(const struct interpreter_server_args *args,
                                                  struct err *e)
{
    struct interpreter_server *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        (void)err_sys(e, -ENOMEM, "code-interpreter");
        return NULL;
    }
    s->args = *args;
    if (start_serving(s, e) == 0)
        return s;
    interpreter_server_free(s);
    return NULL;
}

void interpreter_server_free(struct interpreter_server *s)
{
    if (!s)
        return;
    contexts_done(&s->contexts);
    http_server_free(s->adopting);
    http_server_free(s->http);
    free(s);
}
