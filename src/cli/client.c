/* SPDX-License-Identifier: MIT */
/* Talking to a service: see client.h. */
#include "cli/client.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/core.h"
#include "loop/loop.h"
#include "net/http_client.h"
#include "net/tls.h"
#include "net/ws.h"

DEFINE_CLEANUP(struct client *, client_free)

enum { ANSWER_MAX = 256 << 20, REFUSAL_MAX = 64 << 10, ADDRESS_MAX = 4096, CHUNK = 128 << 10 };

struct client {
    struct loop *loop;
    struct http_client *http;
    struct tls_ctx *tls;
    struct buf address, host, prefix, target;
    bool is_local; /* the state directory's */
    char bearer[ACCOUNT_TOKEN_MAX + 16];
};

/* ---- where ---- */

static int set_local(struct client *c, const struct config *config)
{
    c->is_local = true;
    (void)buf_printf(&c->address, "unix:%s/" CORE_SOCKET_FILE, config->state);
    (void)buf_add_lit(&c->host, "localhost");
    return c->address.error;
}

/* "host", "host:port", "[v6]:port": the address to connect to always has a port. */
static int set_authority(struct client *c, struct str authority, bool is_tls)
{
    struct str last = authority;
    bool has_port;

    if (authority.len > 0 && authority.p[0] == '[')
        last = str_skip(authority, (size_t)(str_chr(authority, ']') + 1));
    has_port = str_chr(last, ':') >= 0;
    (void)buf_add_str(&c->host, authority);
    (void)buf_printf(&c->address, STR_FMT "%s", STR_ARG(authority),
                     has_port ? ""
                     : is_tls ? ":443"
                              : ":80");
    return c->address.error;
}

static int set_url(struct client *c, const char *url, struct err *e)
{
    struct str s = str_of(url);
    bool is_tls = str_starts(s, STR("https://"));

    if (!is_tls && !str_starts(s, STR("http://")))
        return err_set(e, -EINVAL, "'%s' is not a URL: http://host:port", url);
    s = str_skip(s, is_tls ? 8 : 7);
    ptrdiff_t slash = str_chr(s, '/');
    struct str authority = slash < 0 ? s : str_slice(s, 0, (size_t)slash);
    struct str path = slash < 0 ? STR_NULL : str_skip(s, (size_t)slash);
    while (str_ends(path, STR("/")))
        path.len--;
    if (authority.len == 0)
        return err_set(e, -EINVAL, "'%s' has no host name", url);
    (void)buf_add_str(&c->prefix, path);
    if (is_tls && !(c->tls = tls_ctx_client(NULL, e)))
        return -EIO;
    return set_authority(c, authority, is_tls);
}

static int set_key(struct client *c, const struct config *config, const char *key, struct err *e)
{
    char own[ACCOUNT_TOKEN_MAX + 1] = "";
    struct err why = ERR_INIT;

    if (!key && c->is_local && core_read_key(config, own, &why) < 0)
        return why.code == -ENOENT ? -ENOTCONN : err_set(e, why.code, "%s", err_text(&why));
    (void)snprintf(c->bearer, sizeof c->bearer, "Bearer %s", key ? key : own);
    mem_wipe(own, sizeof own);
    return 0;
}

static int open_http(struct client *c, struct err *e)
{
    /* Commands may take as long as they like; whoever waits can break it off. */
    const struct http_client_timeouts timeouts = {.connect_ms = 10000, .keep_ms = 30000};

    c->loop = loop_new(e);
    if (!c->loop)
        return -ENOMEM;
    const struct http_client_opts opts = {
        .loop = c->loop, .timeouts = timeouts, .tls = c->tls, .may_resolve = true};
    c->http = http_client_new(&opts, e);
    return c->http ? 0 : -ENOMEM;
}

struct client *client_open(const struct config *config, const char *url, const char *key,
                           struct err *e)
{
    struct client *c auto_(client_free) = mem_zalloc(1, sizeof *c);

    if (!c) {
        (void)err_sys(e, -ENOMEM, "client");
        return NULL;
    }
    c->address.max = c->host.max = c->prefix.max = ADDRESS_MAX;
    c->target.max = 4 * ADDRESS_MAX;
    int r = url ? set_url(c, url, e) : set_local(c, config);
    if (r == 0)
        r = set_key(c, config, key, e);
    if (r == 0)
        r = open_http(c, e);
    if (r == 0)
        return take(c);
    if (e && !e->code)
        (void)err_sys(e, r, "client");
    return NULL;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    if (c->http)
        http_client_free(c->http);
    loop_free(c->loop);
    tls_ctx_free(c->tls);
    buf_done(&c->address);
    buf_done(&c->host);
    buf_done(&c->prefix);
    buf_done(&c->target);
    mem_wipe(c->bearer, sizeof c->bearer);
    free(c);
}

struct loop *client_loop(const struct client *c)
{
    return c->loop;
}

/* ---- requests ---- */

enum { N_HEADERS = 2 };

/* The parts that all requests share; HEADERS and the client's target must outlive the result. */
static struct http_request request_of(struct client *c, const char *method, const char *target,
                                      struct http_header headers[N_HEADERS])
{
    headers[0] = (struct http_header){STR("Authorization"), str_of(c->bearer)};
    headers[1] = (struct http_header){STR("Content-Type"), STR("application/json")};
    buf_clear(&c->target);
    (void)buf_printf(&c->target, STR_FMT "%s", STR_ARG(buf_str(&c->prefix)), target);
    return (struct http_request){
        .address = buf_cstr(&c->address),
        .method = str_of(method),
        .target = buf_str(&c->target),
        .host = buf_str(&c->host),
        .headers = headers,
        .n_headers = N_HEADERS,
    };
}

static int no_answer(const struct client *c, int error, const char *why, struct err *e)
{
    if (c->is_local && (error == -ENOENT || error == -ECONNREFUSED))
        return -ENOTCONN;
    return err_set(e, error, "the service: %s", why);
}

static int refusal(const struct client *c, int status, const struct json *doc, struct err *e)
{
    if (status == 401)
        return err_set(e, -EPROTO, "the service rejected the key%s",
                       c->is_local ? " in " CORE_KEY_FILE : "");
    struct str message = json_str(json_get(doc, "message"), STR_NULL);
    int code = status == 404 ? -ENOENT : -EPROTO;
    if (message.len == 0)
        return err_set(e, code, "the service refused: %d %s", status, http_status_text(status));
    return err_set(e, code, STR_FMT, STR_ARG(message));
}

static int wait_for_transfer(struct client *c, const bool *is_done, struct err *e)
{
    while (!*is_done) {
        int r = loop_run_once(c->loop, -1);
        if (r < 0)
            return err_sys(e, r, "the service");
    }
    return 0;
}

/* ---- whole answers ---- */

struct client_exchange {
    struct client *client;
    struct arena *arena;
    struct json **ret_doc;
    struct err *e;
    int result;
    bool is_done;
};

static int read_client_answer(struct client_exchange *x, const struct http_response *r)
{
    if (r->error < 0)
        return no_answer(x->client, r->error, r->why, x->e);
    struct err why = ERR_INIT;
    struct json *doc = json_parse(x->arena, r->body, NULL, &why);
    if (r->head.status >= 400)
        return refusal(x->client, r->head.status, doc, x->e);
    if (!doc)
        return err_set(x->e, -EPROTO, "answer of the service: %s", err_text(&why));
    *x->ret_doc = doc;
    return 0;
}

static void on_client_answer(void *ctx, const struct http_response *r)
{
    struct client_exchange *x = ctx;

    x->result = read_client_answer(x, r);
    x->is_done = true;
}

int client_send(struct client *c, struct arena *a, const struct client_request *rq,
                struct json **ret_doc, struct err *e)
{
    struct client_exchange x = {.client = c, .arena = a, .ret_doc = ret_doc, .e = e};
    struct http_header headers[N_HEADERS];
    struct http_request request = request_of(c, rq->method, rq->target, headers);
    struct err why = ERR_INIT;

    request.body = rq->body;
    request.max_body = ANSWER_MAX;
    if (!http_client_fetch(c->http, &request, on_client_answer, &x, &why))
        return no_answer(c, why.code, err_text(&why), e);
    int r = wait_for_transfer(c, &x.is_done, e);
    return r < 0 ? r : x.result;
}

int client_may_go_alone(const struct client_where *where, struct err *e)
{
    const char *state = where->config->state;
    auto_free char *store = NULL;

    if (!where->is_named)
        return err_set(e, -ENOTCONN,
                       "no service is running on the state directory '%s'; start it, choose "
                       "another one with --url, or use --state to read the files of a stopped one",
                       state);
    if (core_path(where->config, CORE_STORE_FILE, &store) < 0)
        return err_sys(e, -ENOMEM, "store");
    if (access(store, F_OK) < 0)
        return err_set(e, -ENOTCONN,
                       "no service has used the state directory '%s' yet; start one with "
                       "'tidepool serve --state', or choose a running one with --url",
                       state);
    return 0;
}

int client_ask(const struct client_where *where, struct arena *a, const struct client_request *rq,
               struct json **ret_data, struct err *e)
{
    struct err why = ERR_INIT;
    struct client *c auto_(client_free) = client_open(where->config, where->url, where->key, &why);
    struct json *doc = NULL;

    if (!c)
        return why.code == -ENOTCONN ? -ENOTCONN : err_set(e, why.code, "%s", err_text(&why));
    int r = client_send(c, a, rq, &doc, e);
    if (r == 0)
        *ret_data = json_get(doc, "data");
    return r;
}

/* ---- transfers ---- */

struct client_call {
    struct client *client;
    const struct client_transfer *t;
    struct err *e;
    char *chunk;
    int status, result;
    bool is_done;
    struct buf refusal;
};

static void settle_transfer(struct client_call *x, int result)
{
    if (x->result == 0)
        x->result = result;
    x->is_done = true;
}

static void on_client_body_drain(struct http_call *call, void *ctx)
{
    struct client_call *x = ctx;

    while (x->t->read && !x->is_done && !http_call_is_full(call)) {
        ssize_t n = x->t->read(x->t->ctx, x->chunk, CHUNK);
        int r = n > 0    ? http_call_write(call, x->chunk, (size_t)n)
                : n == 0 ? http_call_end(call)
                         : (int)n;
        if (r == -EPIPE || n == 0) /* what comes of it is in on_client_end() */
            break;
        if (r < 0) {
            http_call_abort(call);
            settle_transfer(x, r);
        }
    }
}

static void on_client_head(struct http_call *call, void *ctx, const struct http_head *head)
{
    struct client_call *x = ctx;

    x->status = x->t->takes_refusals ? 200 : head->status;
    int r = x->status < 400 && x->t->head ? x->t->head(x->t->ctx, head) : 0;
    if (r < 0) {
        http_call_abort(call);
        settle_transfer(x, r);
    }
}

static int on_client_data(struct http_call *call, void *ctx, const char *p, size_t len)
{
    struct client_call *x = ctx;

    (void)call;
    if (x->status >= 400)
        return buf_add(&x->refusal, p, len);
    int r = x->t->write ? x->t->write(x->t->ctx, p, len) : 0;
    if (r < 0)
        x->result = r;
    return r;
}

static void on_client_end(struct http_call *call, void *ctx, int result, const char *why)
{
    struct client_call *x = ctx;
    struct arena arena auto_arena;

    (void)call;
    arena_init(&arena, 16 * REFUSAL_MAX);
    if (x->status >= 400)
        result = refusal(x->client, x->status, json_parse(&arena, buf_str(&x->refusal), NULL, NULL),
                         x->e);
    else if (result < 0 && x->result == 0)
        result = no_answer(x->client, result, why, x->e);
    settle_transfer(x, result);
}

int client_transfer(struct client *c, const struct client_transfer *t, struct err *e)
{
    static const struct http_call_ops ops = {.on_head = on_client_head,
                                             .on_data = on_client_data,
                                             .on_drain = on_client_body_drain,
                                             .on_end = on_client_end};
    auto_free char *chunk = mem_zalloc(1, CHUNK);
    struct client_call x = {
        .client = c, .t = t, .e = e, .chunk = chunk, .refusal = BUF_INIT(REFUSAL_MAX)};
    struct http_header headers[N_HEADERS + CLIENT_MAX_HEADERS];
    struct http_request request = request_of(c, t->method, t->target, headers);
    struct err why = ERR_INIT;

    for (size_t i = 0; i < t->n_headers && i < CLIENT_MAX_HEADERS; i++)
        headers[request.n_headers++] = t->headers[i];
    if (!chunk)
        return err_sys(e, -ENOMEM, "transfer");
    if (t->type)
        headers[1].value = str_of(t->type);
    request.is_streamed = t->read != NULL;
    request.length = t->length;
    struct http_call *call = http_client_call(c->http, &request, &ops, &x, &why);
    if (!call)
        return no_answer(c, why.code, err_text(&why), e);
    on_client_body_drain(call, &x); /* a connection that was kept takes bytes at once */
    int r = wait_for_transfer(c, &x.is_done, e);
    buf_done(&x.refusal);
    return r < 0 ? r : x.result;
}

/* ---- requests beside others ---- */

struct client_op {
    struct client *client;
    struct client_post post;
    struct http_call *call;
};

static void op_head(struct http_call *call, void *ctx, const struct http_head *head)
{
    struct client_op *op = ctx;

    (void)call;
    (void)op->post.head(op->post.ctx, head);
}

static int op_data(struct http_call *call, void *ctx, const char *p, size_t len)
{
    struct client_op *op = ctx;

    (void)call;
    return op->post.write(op->post.ctx, p, len);
}

static void op_end(struct http_call *call, void *ctx, int result, const char *why)
{
    struct client_op *op = ctx;
    struct client_post post = op->post;
    struct err e = ERR_INIT;

    (void)call;
    if (result < 0)
        result = no_answer(op->client, result, why, &e);
    free(op);
    post.end(post.ctx, result, &e);
}

struct client_op *client_post(struct client *c, const struct client_post *p, struct err *e)
{
    static const struct http_call_ops ops = {
        .on_head = op_head, .on_data = op_data, .on_end = op_end};
    struct http_header headers[N_HEADERS + CLIENT_MAX_HEADERS];
    struct http_request request = request_of(c, "POST", p->target, headers);
    struct client_op *op = mem_zalloc(1, sizeof *op);
    struct err why = ERR_INIT;

    if (!op) {
        (void)err_sys(e, -ENOMEM, "request");
        return NULL;
    }
    for (size_t i = 0; i < p->n_headers && i < CLIENT_MAX_HEADERS; i++)
        headers[request.n_headers++] = p->headers[i];
    request.body = p->body;
    op->client = c;
    op->post = *p;
    op->call = http_client_call(c->http, &request, &ops, op, &why);
    if (op->call)
        return op;
    free(op);
    int code = no_answer(c, why.code, err_text(&why), e);
    if (!e->code)
        (void)err_set(e, code, "no service is running");
    return NULL;
}

void client_op_abort(struct client_op *op)
{
    http_call_abort(op->call);
    free(op);
}

struct ws *client_ws(struct client *c, const char *target, const struct ws_opts *opts,
                     struct err *e)
{
    struct http_header headers[N_HEADERS];
    struct http_request request = request_of(c, "GET", target, headers);

    request.n_headers = 1; /* there is no body whose type could be stated */
    return ws_connect(c->http, &request, opts, e);
}
