/* SPDX-License-Identifier: MIT */
/* Talking to the running service: see client.h. */
#include "cli/client.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/core.h"
#include "loop/loop.h"
#include "net/http_client.h"

DEFINE_CLEANUP(struct loop *, loop_free)
DEFINE_CLEANUP(struct http_client *, http_client_free)

enum { ANSWER_MAX = 64 << 20 };

struct exchange {
    struct loop *loop;
    struct arena *arena;
    struct json **ret_data;
    struct err *e;
    int result;
    bool is_done;
};

static bool is_nobody(int error)
{
    return error == -ENOENT || error == -ECONNREFUSED;
}

static int read_answer(struct exchange *x, const struct http_response *r)
{
    if (is_nobody(r->error))
        return -ENOTCONN;
    if (r->error < 0)
        return err_set(x->e, r->error, "the service: %s", r->why);
    struct json *doc = json_parse(x->arena, r->body, NULL, x->e);
    if (!doc)
        return err_ctx(x->e, -EPROTO, "answer of the service");
    if (r->head.status < 400) {
        *x->ret_data = json_get(doc, "data");
        return 0;
    }
    if (r->head.status == 401)
        return err_set(x->e, -EPROTO, "the service does not know the key in " CORE_KEY_FILE);
    return err_set(x->e, r->head.status == 404 ? -ENOENT : -EPROTO, STR_FMT,
                   STR_ARG(json_str(json_get(doc, "message"), STR("refused"))));
}

static void on_answer(void *ctx, const struct http_response *r)
{
    struct exchange *x = ctx;

    x->result = read_answer(x, r);
    x->is_done = true;
}

static int fetch(struct exchange *x, const struct http_request *rq)
{
    const struct http_client_opts opts = {.loop = x->loop,
                                          .timeouts = HTTP_CLIENT_TIMEOUTS_DEFAULT};
    struct http_client *client auto_(http_client_free) = http_client_new(&opts, x->e);
    struct err why = ERR_INIT;

    if (!client)
        return -ENOMEM;
    if (!http_client_fetch(client, rq, on_answer, x, &why)) {
        if (is_nobody(why.code))
            return -ENOTCONN;
        return err_set(x->e, why.code, "the service: %s", err_text(&why));
    }
    while (!x->is_done) {
        int r = loop_run_once(x->loop, -1);
        if (r < 0)
            return err_sys(x->e, r, "the service");
    }
    return x->result;
}

int client_ask(const struct config *c, struct arena *a, const struct client_request *rq,
               struct json **ret_data, struct err *e)
{
    struct buf address auto_buf = BUF_INIT(4096);
    char key[ACCOUNT_TOKEN_MAX + 1], bearer[ACCOUNT_TOKEN_MAX + 16];
    struct err why = ERR_INIT;

    if (core_read_key(c, key, &why) < 0)
        return why.code == -ENOENT ? -ENOTCONN : err_set(e, why.code, "%s", err_text(&why));
    (void)snprintf(bearer, sizeof bearer, "Bearer %s", key);
    (void)buf_printf(&address, "unix:%s/" CORE_SOCKET_FILE, c->state);
    const struct http_header headers[] = {
        {STR("Authorization"), str_of(bearer)},
        {STR("Content-Type"), STR("application/json")},
    };
    const struct http_request request = {
        .address = buf_cstr(&address),
        .method = str_of(rq->method),
        .target = str_of(rq->target),
        .host = STR("localhost"),
        .headers = headers,
        .n_headers = ARRAY_LEN(headers),
        .body = rq->body,
        .max_body = ANSWER_MAX,
    };
    struct loop *loop auto_(loop_free) = loop_new(e);
    struct exchange x = {.loop = loop, .arena = a, .ret_data = ret_data, .e = e};
    int r = loop && request.address ? fetch(&x, &request) : -ENOMEM;
    mem_wipe(key, sizeof key);
    mem_wipe(bearer, sizeof bearer);
    return r;
}
