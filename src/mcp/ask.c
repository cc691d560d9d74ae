/* SPDX-License-Identifier: MIT */
/* Questions to the client: see ask.h.
 *
 * requestState is base64url of: HMAC, time of its end, and the answers so far as JSON. The HMAC
 * also covers whose call it is and of what, so that nobody can use it elsewhere. */
#include "mcp/ask.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/mem.h"
#include "mcp/exchange.h"
#include "mcp/task.h"
#include "sys/digest.h"

enum { STATE_MAX = 64 << 10, STATE_MS = 600000, TIME_LEN = 8 };
enum { HEAD_LEN = DIGEST_SHA256_LEN + TIME_LEN };

static const struct {
    const char *method, *name;
    unsigned bit;
} abilities[] = {
    {"sampling/createMessage", "sampling", MCP_CAN_SAMPLE},
    {"elicitation/create", "elicitation", MCP_CAN_ELICIT},
    {"roots/list", "roots", MCP_CAN_ROOTS},
};

static bool has_extension(const struct json *v, const char *name)
{
    return json_is(json_get(json_get(v, "extensions"), name), JSON_OBJECT);
}

unsigned mcp_capabilities(const struct json *v)
{
    unsigned can = 0;

    for (size_t i = 0; i < ARRAY_LEN(abilities); i++)
        if (json_is(json_get(v, abilities[i].name), JSON_OBJECT))
            can |= abilities[i].bit;
    return has_extension(v, MCP_TASKS_EXTENSION) ? can | MCP_CAN_TASKS : can;
}

unsigned mcp_ask_needs(const char *method)
{
    for (size_t i = 0; i < ARRAY_LEN(abilities); i++)
        if (str_is(str_of(method), abilities[i].method))
            return abilities[i].bit;
    return 0;
}

unsigned mcp_client_can(const struct mcp_call *call)
{
    return call_of((struct mcp_call *)(uintptr_t)call)->can;
}

void mcp_reply_missing(struct mcp_call *call, unsigned bits)
{
    struct call *c = call_of(call);
    struct buf data auto_buf = BUF_INIT(MCP_MAX_NAME);
    struct jw w = jw_to(&data);

    jw_object(&w);
    jw_key(&w, "requiredCapabilities");
    jw_object(&w);
    for (size_t i = 0; i < ARRAY_LEN(abilities); i++)
        if (bits & abilities[i].bit) {
            jw_key(&w, abilities[i].name);
            jw_raw(&w, STR("{}"));
        }
    if (bits & MCP_CAN_TASKS) {
        jw_key(&w, "extensions");
        jw_raw(&w, STR("{\"" MCP_TASKS_EXTENSION "\":{}}"));
    }
    jw_end(&w);
    jw_end(&w);
    bool is_modern = mcp_is_modern(c->x);
    if (is_modern)
        c->x->status = 400;
    mcp_reply_error(call, is_modern ? MCP_MISSING_CAPABILITY : MCP_INVALID_REQUEST,
                    STR("the client lacks a required capability"), buf_str(&data));
}

/* ---- with a session ---- */

/* Takes the questions of C that wait out of the list. */
static void unlist(struct call *c)
{
    loop_timer_stop(&c->ask_timer);
    if (!c->x->session)
        return;
    list_each(it, &c->x->session->asks)
    {
        struct mcp_question *a = list_entry(it, struct mcp_question, node);
        if (a->call == c)
            list_del(&a->node);
    }
}

void mcp_ask_drop(struct call *c)
{
    mcp_answers_fn *fn = take(c->fn);

    unlist(c);
    struct mcp_task *t = c->x->task;
    if (t)
        mcp_task_unask(t);
    if (t && t->status == MCP_INPUT_REQUIRED)
        mcp_task_move(t, MCP_WORKING);
    fn(&c->pub, NULL);
}

static void on_late(struct loop_timer *t)
{
    mcp_ask_drop(container_of(t, struct call, ask_timer));
}

void mcp_ask_answered(struct mcp_session *n, const struct json *message)
{
    uint64_t id = (uint64_t)json_int(json_get(message, "id"), 0);
    const struct json *result = json_get(message, "result");
    struct mcp_question *a = NULL;

    list_each(it, &n->asks)
    {
        struct mcp_question *one = list_entry(it, struct mcp_question, node);
        if (one->id == id)
            a = one;
    }
    if (!a)
        return;
    struct call *c = a->call;
    list_del(&a->node);
    if (c->x->is_task) {
        if (!json_is(result, JSON_OBJECT) || mcp_task_answer(c->x->task, a->key, result) < 0)
            mcp_ask_drop(c);
        return;
    }
    struct json *copy = json_copy(c->pub.arena, result);
    if (!json_is(result, JSON_OBJECT) || !copy ||
        json_set_str(c->pub.arena, c->answers, a->key, copy) < 0) {
        mcp_ask_drop(c);
        return;
    }
    if (--c->n_asked > 0)
        return;
    loop_timer_stop(&c->ask_timer);
    mcp_answers_fn *fn = take(c->fn);
    fn(&c->pub, take(c->answers));
}

int mcp_question_send(struct mcp_exchange *x, struct mcp_question *q, struct str meta)
{
    struct buf text auto_buf = BUF_INIT(x->server->table.desc.limits.max_answer);
    struct str params = q->params.len > 0 ? q->params : STR("{}");
    struct jw w = jw_to(&text);

    q->id = ++x->server->next_ask;
    jw_object(&w);
    jw_key(&w, "jsonrpc");
    jw_cstr(&w, "2.0");
    jw_key(&w, "id");
    jw_int(&w, (int64_t)q->id);
    jw_key(&w, "method");
    jw_cstr(&w, q->method);
    jw_key(&w, "params");
    if (meta.len > 0)
        mcp_put_with_meta(&w, params, meta);
    else
        jw_raw(&w, params);
    jw_end(&w);
    if (!buf_ok(&text))
        return -ENOMEM;
    list_del(&q->node);
    list_append(&x->session->asks, &q->node);
    mcp_call_send(x, buf_str(&text));
    return 0;
}

static int send_ask(struct call *c, const struct mcp_ask *from)
{
    struct mcp_question *q = arena_new(c->pub.arena, struct mcp_question);
    struct str key = arena_str(c->pub.arena, str_of(from->key));

    if (!q || !key.p)
        return -ENOMEM;
    *q = (struct mcp_question){
        .call = c, .key = key, .method = from->method, .params = from->params};
    list_init(&q->node);
    int r = mcp_question_send(c->x, q, STR_NULL);
    c->n_asked += r == 0;
    return r;
}

static void ask_session(struct call *c, const struct mcp_ask *asks, size_t n, mcp_answers_fn *fn)
{
    c->answers = json_new_object(c->pub.arena);
    c->n_asked = 0;
    if (!c->x->session || !c->answers || !mcp_exchange_stream(c->x) ||
        loop_timer_start(c->x->server->loop, &c->ask_timer, MCP_ASK_MS, on_late) < 0) {
        fn(&c->pub, NULL);
        return;
    }
    c->fn = fn;
    for (size_t i = 0; i < n; i++)
        if ((c->can & mcp_ask_needs(asks[i].method)) && send_ask(c, &asks[i]) < 0) {
            mcp_ask_drop(c);
            return;
        }
    if (c->n_asked > 0)
        return;
    c->fn = NULL;
    loop_timer_stop(&c->ask_timer);
    fn(&c->pub, take(c->answers));
}

/* ---- without: requestState ---- */

static void sign_question(struct call *c, struct str body, unsigned char mac[DIGEST_SHA256_LEN])
{
    struct mcp_server *s = c->x->server;
    unsigned char what[DIGEST_SHA256_LEN * 2];
    const struct str parts[] = {c->x->scope.owner, STR("\0"), str_of(c->method->name), STR("\0"),
                                c->pub.name};

    digest_sha256_parts(what, parts, ARRAY_LEN(parts));
    digest_sha256(what + DIGEST_SHA256_LEN, body);
    digest_hmac_sha256(mac, str_n((const char *)s->key, sizeof s->key),
                       str_n((const char *)what, sizeof what));
}

static struct str make_state(struct call *c)
{
    struct buf raw auto_buf = BUF_INIT(STATE_MAX), text auto_buf = BUF_INIT(2 * STATE_MAX);
    uint64_t end_us = (uint64_t)clock_real_us() + STATE_MS * 1000ULL;
    unsigned char mac[DIGEST_SHA256_LEN] = {0}, when[TIME_LEN];

    for (unsigned i = 0; i < TIME_LEN; i++)
        when[i] = (unsigned char)(end_us >> (8 * i));
    (void)buf_add(&raw, mac, sizeof mac);
    (void)buf_add(&raw, when, sizeof when);
    if (json_write(&raw, c->answers, JSON_COMPACT) < 0)
        return STR_NULL;
    sign_question(c, str_skip(buf_str(&raw), sizeof mac), mac);
    memcpy(raw.p, mac, sizeof mac);
    if (enc_base64url(&text, buf_str(&raw)) < 0)
        return STR_NULL;
    return arena_str(c->pub.arena, buf_str(&text));
}

/* The answers of earlier rounds, or NULL when STATE is not ours, not for this, or too old. */
static struct json *read_state(struct call *c, struct str state)
{
    struct buf raw auto_buf = BUF_INIT(STATE_MAX);
    unsigned char mac[DIGEST_SHA256_LEN];
    uint64_t end_us = 0;

    if (enc_unbase64(&raw, state) < 0 || raw.len <= HEAD_LEN)
        return NULL;
    sign_question(c, str_skip(buf_str(&raw), sizeof mac), mac);
    for (unsigned i = 0; i < TIME_LEN; i++)
        end_us |= (uint64_t)(unsigned char)raw.p[sizeof mac + i] << (8 * i);
    if (!mem_eq_const(mac, raw.p, sizeof mac) || end_us < (uint64_t)clock_real_us())
        return NULL;
    return json_parse(c->pub.arena, str_skip(buf_str(&raw), HEAD_LEN), NULL, NULL);
}

/* What the client has answered until now, in this round and in those before. */
static int read_ask_answers(struct call *c)
{
    const struct json *state = json_get(c->pub.params, "requestState");
    const struct json *now = json_get(c->pub.params, "inputResponses");

    c->answers = state ? read_state(c, json_str(state, STR_NULL)) : json_new_object(c->pub.arena);
    if (!c->answers) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "requestState is not valid");
        return -EINVAL;
    }
    if (now && now->type != JSON_OBJECT) {
        mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS, "inputResponses must be an object");
        return -EINVAL;
    }
    for (size_t i = 0; now && i < now->n; i++) {
        const struct json_member *m = &now->members[i];
        if (m->value.type != JSON_OBJECT ||
            json_set_str(c->pub.arena, c->answers, m->key, &m->value) < 0) {
            mcp_reply_fail(&c->pub, MCP_INVALID_PARAMS,
                           "inputResponses: '" STR_FMT "' must be an object",
                           STR_ARG(str_slice(m->key, 0, 100)));
            return -EINVAL;
        }
    }
    return 0;
}

static bool is_question_open(const struct call *c, const struct mcp_ask *q)
{
    return (c->can & mcp_ask_needs(q->method)) && !json_get(c->answers, q->key);
}

static void require_input(struct call *c, const struct mcp_ask *asks, size_t n)
{
    struct str state = make_state(c);
    struct buf text auto_buf = BUF_INIT(c->x->server->table.desc.limits.max_answer);
    struct jw w = jw_to(&text);

    jw_object(&w);
    jw_key(&w, "resultType");
    jw_cstr(&w, "input_required");
    jw_key(&w, "inputRequests");
    jw_object(&w);
    for (size_t i = 0; i < n; i++) {
        if (!is_question_open(c, &asks[i]))
            continue;
        jw_key(&w, asks[i].key);
        jw_object(&w);
        jw_key(&w, "method");
        jw_cstr(&w, asks[i].method);
        jw_key(&w, "params");
        jw_raw(&w, asks[i].params.len > 0 ? asks[i].params : STR("{}"));
        jw_end(&w);
    }
    jw_end(&w);
    jw_key(&w, "requestState");
    jw_str(&w, state);
    jw_key(&w, "_meta");
    jw_raw(&w, c->x->server->table.meta);
    jw_end(&w);
    if (state.p && buf_ok(&text))
        mcp_reply_whole(&c->pub, buf_str(&text));
    else
        mcp_reply_fail(&c->pub, MCP_INTERNAL_ERROR, "the questions are too large");
}

static void ask_again(struct call *c, const struct mcp_ask *asks, size_t n, mcp_answers_fn *fn)
{
    if (!c->answers && read_ask_answers(c) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (is_question_open(c, &asks[i])) {
            require_input(c, asks, n);
            return;
        }
    fn(&c->pub, c->answers);
}

void mcp_ask(struct mcp_call *call, const struct mcp_ask *asks, size_t n, mcp_answers_fn *fn)
{
    struct call *c = call_of(call);
    unsigned missing = 0;

    assert(n <= MCP_MAX_ASKS && !c->fn);
    for (size_t i = 0; i < n; i++)
        if (!asks[i].is_optional)
            missing |= mcp_ask_needs(asks[i].method) & ~c->can;
    if (missing)
        mcp_reply_missing(call, missing);
    else if (c->x->is_task)
        mcp_task_ask(c, asks, n, fn);
    else if (mcp_is_modern(c->x))
        ask_again(c, asks, n, fn);
    else
        ask_session(c, asks, n, fn);
}
