/* SPDX-License-Identifier: MIT */
/* Bridges, the side of the program: starting it, what is sent to it and what it says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/bridge/bridge_internal.h"
#include "local/kit/program.h"

enum {
    RPC_NO_METHOD = -32601,
    RPC_FAILED = -32000,
    RPC_TIMED_OUT = -32001,
    ARGS_MAX = 256,
    PAUSE_MS = 250,
    PAUSE_MAX_MS = 30000,
    STABLE_MS = 60000 /* one that ran for so long did not fail to start */
};

static const char greeting[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"tidepool\",\"version\":"
    "\"" TIDEPOOL_VERSION "\"}}}";

static int64_t bridge_now_ms(const struct bridge *b)
{
    return loop_now_ms(b->child.loop);
}

/* ---- sending ---- */

static int send_json(struct bridge *b, const struct json *v)
{
    auto_buf struct buf text = BUF_INIT(CHILD_INPUT_MAX);

    if (json_write(&text, v, JSON_COMPACT) < 0)
        return -ENOMEM;
    return child_send(&b->child, buf_str(&text));
}

/* Tells the program that nobody waits for NUMBER any more. */
static void send_cancel(struct bridge *b, int64_t number, const char *reason)
{
    char text[256];

    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                   "\"requestId\":%lld,\"reason\":\"%s\"}}",
                   (long long)number, reason);
    (void)child_send(&b->child, str_of(text));
}

static void on_pending_timeout(struct loop_timer *t)
{
    struct pending *p = container_of(t, struct pending, timer);
    struct bridge *b = p->bridge;

    send_cancel(b, p->number, "timed out");
    pending_fail(p, RPC_TIMED_OUT, "the server '%s' did not answer within %lld s", b->name,
                 (long long)(b->timeout_ms / 1000));
}

static bool is_relay_method(const struct json *message, const char *name)
{
    return str_is(json_str(json_get(message, "method"), STR("")), name);
}

/* The older of the two revisions, because the program was not asked for the client's. */
static void send_greeting(struct pending *p)
{
    struct json *hello = json_parse(&p->arena, str_of(p->bridge->hello), NULL, NULL);
    const struct json *want = json_pointer(p->message, "/params/protocolVersion");
    const struct json *has = json_get(hello, "protocolVersion");

    if (json_is(want, JSON_STRING) && json_is(has, JSON_STRING) && str_cmp(want->s, has->s) < 0)
        (void)json_set(&p->arena, hello, "protocolVersion", want);
    pending_reply(p, "result", hello);
}

static void dispatch_pending(struct bridge *b, struct pending *p)
{
    if (is_relay_method(p->message, "initialize")) {
        send_greeting(p);
        return;
    }
    p->number = ++b->last_number;
    const struct json *id = json_new_int(&p->arena, p->number);
    struct json *meta = json_pointer(p->message, "/params/_meta");
    int r = id ? json_set(&p->arena, p->message, "id", id) : -ENOMEM;
    if (r == 0 && p->token)
        r = json_set(&p->arena, meta, "progressToken", id);
    if (r == 0)
        r = send_json(b, p->message);
    if (r == 0)
        r = loop_timer_start(b->child.loop, &p->timer, b->timeout_ms, on_pending_timeout);
    if (r < 0)
        pending_fail(p, RPC_FAILED, "the server '%s' cannot take this request: %s", b->name,
                     r == -EMSGSIZE ? "too much waits for it" : "out of memory");
}

void bridge_notice(struct bridge *b, struct json *message, struct str session)
{
    const struct json *id = json_pointer(message, "/params/requestId");

    if (b->state != BRIDGE_READY || is_relay_method(message, "notifications/initialized") ||
        is_relay_method(message, "notifications/roots/list_changed"))
        return;
    if (!is_relay_method(message, "notifications/cancelled")) {
        (void)send_json(b, message);
        return;
    }
    list_each(it, &b->pending)
    {
        const struct pending *p = list_entry(it, struct pending, node);
        if (p->number > 0 && str_eq(p->session, session) && json_equal(p->id, id)) {
            send_cancel(b, p->number, "the client does not need it");
            return;
        }
    }
}

/* ---- what it says ---- */

static struct pending *find_pending(struct bridge *b, const struct json *number)
{
    int64_t n = json_int(number, -1);

    list_each(it, &b->pending)
    {
        struct pending *p = list_entry(it, struct pending, node);
        if (n > 0 && p->number == n)
            return p;
    }
    return NULL;
}

static void on_hello(struct bridge *b, const struct json *message)
{
    auto_buf struct buf text = BUF_INIT(CHILD_LINE_MAX);
    const struct json *hello = json_get(message, "result");

    if (!json_is(hello, JSON_OBJECT) || json_write(&text, hello, JSON_COMPACT) < 0 ||
        !(b->hello = mem_strdup(buf_cstr(&text)))) {
        child_end(&b->child, "refused the greeting");
        return;
    }
    loop_timer_stop(&b->timer);
    b->state = BRIDGE_READY;
    (void)child_send(&b->child,
                     STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    for (struct list *it = b->pending.next, *next; it != &b->pending; it = next) {
        next = it->next;
        dispatch_pending(b, list_entry(it, struct pending, node));
    }
}

/* It asks us: nothing that it might ask for was offered to it. */
static void on_question(struct bridge *b, struct arena *a, const struct json *message)
{
    struct json *answer = json_new_object(a), *body = json_new_object(a);
    bool is_ping = is_relay_method(message, "ping");

    if (!is_ping) {
        (void)json_set(a, body, "code", json_new_int(a, RPC_NO_METHOD));
        (void)json_set(a, body, "message", json_new_str(a, STR("Method not found")));
    }
    (void)json_set(a, answer, "jsonrpc", json_new_str(a, STR("2.0")));
    (void)json_set(a, answer, "id", json_get(message, "id"));
    (void)json_set(a, answer, is_ping ? "result" : "error", body);
    (void)send_json(b, answer);
}

static void on_notice(struct bridge *b, struct arena *a, struct json *message)
{
    struct json *params = json_get(message, "params");
    struct pending *p = find_pending(b, json_get(params, "progressToken"));

    if (!is_relay_method(message, "notifications/progress")) {
        bridge_tell_listeners(b, message);
        return;
    }
    if (!p || !p->token || json_set(a, params, "progressToken", p->token) < 0)
        return;
    (void)loop_timer_start(b->child.loop, &p->timer, b->timeout_ms, on_pending_timeout);
    pending_send(p, message);
}

static void on_child_answer(struct bridge *b, const struct json *message)
{
    const struct json *id = json_get(message, "id"), *error = json_get(message, "error");
    struct pending *p = find_pending(b, id);

    if (b->state == BRIDGE_STARTING && json_int(id, -1) == 0)
        on_hello(b, message);
    else if (p)
        pending_reply(p, error ? "error" : "result", error ? error : json_get(message, "result"));
}

static void on_relay_line(struct child *c, struct str line)
{
    struct bridge *b = container_of(c, struct bridge, child);
    struct arena a auto_arena;

    arena_init(&a, 8 * (size_t)CHILD_LINE_MAX);
    struct json *message = json_parse(&a, line, NULL, NULL);
    if (!json_is(message, JSON_OBJECT))
        child_note(c, "[not a message: " STR_FMT "]", STR_ARG(str_slice(line, 0, 200)));
    else if (!json_get(message, "method"))
        on_child_answer(b, message);
    else if (json_get(message, "id"))
        on_question(b, &a, message);
    else
        on_notice(b, &a, message);
}

/* ---- its life ---- */

static void fail_all(struct bridge *b)
{
    while (!list_is_empty(&b->pending))
        pending_fail(list_entry(b->pending.next, struct pending, node), RPC_FAILED,
                     "the server '%s' %s; its log may say why", b->name, b->why);
}

/* It does not run, because of WHY. */
static void ended(struct bridge *b, const char *why)
{
    int64_t lived_ms = bridge_now_ms(b) - b->started_ms, pause_ms = 0;

    loop_timer_stop(&b->timer);
    b->n_failures = lived_ms > STABLE_MS ? 1 : b->n_failures + 1;
    if (b->n_failures > 1)
        pause_ms = b->n_failures > 8 ? PAUSE_MAX_MS : (int64_t)PAUSE_MS << (b->n_failures - 2);
    b->next_ms = bridge_now_ms(b) + (pause_ms < PAUSE_MAX_MS ? pause_ms : PAUSE_MAX_MS);
    b->state = BRIDGE_OFF;
    (void)snprintf(b->why, sizeof b->why, "%s", why);
    free(b->hello);
    free(b->settings);
    b->hello = b->settings = NULL;
    fail_all(b);
}

static void on_child_end(struct child *c, const char *why)
{
    ended(container_of(c, struct bridge, child), why);
}

static const struct child_ops ops = {on_relay_line, on_child_end};

static void on_slow_start(struct loop_timer *t)
{
    struct bridge *b = container_of(t, struct bridge, timer);

    child_end(&b->child, "did not answer the greeting in time");
}

/* The settings as a program to run; false when they make none. */
static bool read_settings(struct bridge *b, struct arena *a, struct str text, struct run *ret)
{
    const struct json *v = json_parse(a, text, NULL, NULL);
    const struct json *args = json_get(v, "args"), *env = json_get(v, "env");
    size_t n_args = json_is(args, JSON_ARRAY) ? args->n : 0;
    size_t n_env = json_is(env, JSON_OBJECT) ? env->n : 0;
    const char **words = arena_zalloc(a, n_args + 2, sizeof *words);
    const char **vars = arena_zalloc(a, n_env + 1, sizeof *vars);

    if (!words || !vars || n_args > ARGS_MAX || n_env > ARGS_MAX)
        return false;
    words[0] = json_str(json_get(v, "command"), STR_NULL).p;
    for (size_t i = 0; i < n_args; i++)
        words[i + 1] = json_str(json_at(args, i), STR("")).p;
    for (size_t i = 0; i < n_env; i++) {
        const struct json_member *m = &env->members[i];
        vars[i] = arena_printf(a, STR_FMT "=" STR_FMT, STR_ARG(m->key),
                               STR_ARG(json_str(&m->value, STR(""))))
                      .p;
    }
    b->timeout_ms = json_int(json_get(v, "timeout_ms"), BRIDGE_TIMEOUT_MS);
    ret->argv = words;
    ret->env = vars;
    return words[0] != NULL;
}

static void start_bridge(struct bridge *b, struct str settings)
{
    struct arena a auto_arena;
    struct run run = {.cwd = bridges_root(b->set)};
    char why[sizeof b->why];

    arena_init(&a, 16 * (size_t)BRIDGE_SETTINGS_MAX);
    b->started_ms = bridge_now_ms(b);
    if (!read_settings(b, &a, settings, &run) ||
        !(b->settings = mem_strndup(settings.p, settings.len))) {
        ended(b, "has settings that cannot be read");
        return;
    }
    int r = child_start(&b->child, &run);
    if (r < 0) {
        (void)snprintf(why, sizeof why, "cannot be started ('%.60s': %s)", run.argv[0],
                       strerror(-r));
        child_note(&b->child, "[%s]", why);
        ended(b, why);
        return;
    }
    b->state = BRIDGE_STARTING;
    (void)loop_timer_start(b->child.loop, &b->timer, BRIDGE_START_MS, on_slow_start);
    (void)child_send(&b->child, str_of(greeting));
}

void bridge_init(struct bridge *b, struct loop *loop)
{
    child_init(&b->child, loop, &ops);
    list_init(&b->pending);
    list_init(&b->listeners);
}

/* Ends the program, which is no failure of it. */
static void bridge_end(struct bridge *b, const char *why)
{
    child_end(&b->child, why);
    b->n_failures = 0;
    b->next_ms = 0;
}

void bridge_pass(struct bridge *b, struct pending *p, struct str settings)
{
    int64_t wait_ms = b->next_ms - bridge_now_ms(b);

    /* Those who wait get their answers from the program that they asked. */
    if (b->settings && b->n_pending == 0 && !str_is(settings, b->settings))
        bridge_end(b, "has other settings now");
    list_append(&b->pending, &p->node);
    b->n_pending++;
    if (b->n_pending > BRIDGE_PENDING_MAX)
        pending_fail(p, RPC_FAILED, "the server '%s' has %d requests to answer already", b->name,
                     BRIDGE_PENDING_MAX);
    else if (b->state == BRIDGE_READY)
        dispatch_pending(b, p);
    else if (b->state == BRIDGE_OFF && wait_ms > 0)
        pending_fail(p, RPC_FAILED,
                     "the server '%s' %s; it is started again in %lld ms, its log may say why",
                     b->name, b->why, (long long)wait_ms);
    else if (b->state == BRIDGE_OFF)
        start_bridge(b, settings);
}
