/* SPDX-License-Identifier: MIT */
/* Programs of others that speak MCP over their input and output, as the gateway's client: see
 * gateway.h. One that ends fails its calls, and is not started again. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/mem.h"
#include "local/bridge/child.h"
#include "local/gateway/gateway.h"
#include "local/kit/program.h"

enum { START_MS = 120000, PENDING_MAX = 256, MEMORY = 64 << 20, ENV_MAX = 64 };

#define HELLO                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"mcp-gateway\",\"version\":"     \
    "\"" TIDEPOOL_VERSION "\"}}}"
#define READY "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define LIST  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}"

enum { ID_HELLO, ID_LIST, ID_FIRST };

struct foreign_call {
    struct list node;
    struct mcp_call *call;
    int64_t id;
};

struct gateway_foreign {
    struct child child; /* the first: found by its callbacks */
    struct arena arena;
    const char *name;
    const struct json *tools; /* NULL: not listed yet */
    struct list calls;
    size_t n_calls;
    int64_t last_id;
    struct loop_timer timer; /* while it starts */
    gateway_ready_fn *done;  /* NULL: called */
    void *ctx;
};

/* ---- starting ---- */

static void settle_start(struct gateway_foreign *f, const struct err *e)
{
    gateway_ready_fn *done = take(f->done);

    loop_timer_stop(&f->timer);
    if (done)
        done(f->ctx, f, e);
}

static void fail_foreign_start(struct gateway_foreign *f, const char *why)
{
    struct err e = ERR_INIT;
    struct buf log auto_buf = BUF_INIT(CHILD_LOG_MAX);

    child_read_log(&f->child, &log);
    struct str tail = buf_ok(&log) ? buf_str(&log) : STR("");
    tail = str_slice(tail, tail.len > 120 ? tail.len - 120 : 0, tail.len);
    (void)err_set(&e, -EIO, "MCP server '%s' %s: " STR_FMT, f->name, why, STR_ARG(tail));
    settle_start(f, &e);
}

static void on_start_late(struct loop_timer *t)
{
    struct gateway_foreign *f = container_of(t, struct gateway_foreign, timer);

    fail_foreign_start(f, "did not answer in time");
}

/* ---- answers ---- */

static struct foreign_call *find_call(struct gateway_foreign *f, int64_t id)
{
    list_each(node, &f->calls)
    {
        struct foreign_call *c = list_entry(node, struct foreign_call, node);
        if (c->id == id)
            return c;
    }
    return NULL;
}

static void drop_call(struct gateway_foreign *f, struct foreign_call *c)
{
    list_del(&c->node);
    f->n_calls--;
    free(c);
}

static void answer_call(struct mcp_call *call, const struct json *message)
{
    const struct json *result = json_get(message, "result"), *error = json_get(message, "error");

    if (!json_is(result, JSON_OBJECT)) {
        struct str text = json_str(json_get(error, "message"), STR("no result"));
        mcp_reply_error(call, (int)json_int(json_get(error, "code"), MCP_INTERNAL_ERROR), text,
                        STR_NULL);
        return;
    }
    struct jw *w = mcp_result_begin(call);
    for (size_t i = 0; i < result->n; i++) {
        if (str_is(result->members[i].key, "_meta"))
            continue;
        jw_key_str(w, result->members[i].key);
        jw_value(w, &result->members[i].value);
    }
    mcp_result_end(call);
}

static void on_listed(struct gateway_foreign *f, const struct json *message)
{
    const struct json *tools = json_get(json_get(message, "result"), "tools");

    if (!json_is(tools, JSON_ARRAY)) {
        fail_foreign_start(f, "lists no tools");
        return;
    }
    f->tools = json_copy(&f->arena, tools);
    if (f->tools)
        settle_start(f, NULL);
    else
        fail_foreign_start(f, "lists too many tools");
}

static void on_foreign_line(struct child *child, struct str line)
{
    struct gateway_foreign *f = container_of(child, struct gateway_foreign, child);
    struct arena arena auto_arena;

    arena_init(&arena, MEMORY);
    const struct json *message = json_parse(&arena, line, NULL, NULL);
    if (!message || json_get(message, "method") || !json_get(message, "id"))
        return; /* notices, questions and what is not MCP */
    int64_t id = json_int(json_get(message, "id"), -1);
    if (id == ID_HELLO) {
        if (child_send(child, STR(READY)) < 0 || child_send(child, STR(LIST)) < 0)
            fail_foreign_start(f, "does not read");
        return;
    }
    if (id == ID_LIST) {
        on_listed(f, message);
        return;
    }
    struct foreign_call *c = find_call(f, id);
    if (!c)
        return;
    struct mcp_call *call = c->call;
    drop_call(f, c);
    answer_call(call, message);
}

static void on_foreign_end(struct child *child, const char *why)
{
    struct gateway_foreign *f = container_of(child, struct gateway_foreign, child);

    while (!list_is_empty(&f->calls)) {
        struct foreign_call *c = list_entry(f->calls.next, struct foreign_call, node);
        struct mcp_call *call = c->call;
        drop_call(f, c);
        mcp_reply_fail(call, MCP_INTERNAL_ERROR, "MCP server '%s' %s", f->name, why);
    }
    if (f->done)
        fail_foreign_start(f, why);
}

/* ---- the program ---- */

static int fill_env(struct gateway_foreign *f, const struct json *settings,
                    const char *env[ENV_MAX + 1], struct err *e)
{
    const struct json *envs = json_get(settings, "envs");
    size_t n = json_is(envs, JSON_OBJECT) ? envs->n : 0;

    if (n > ENV_MAX)
        return err_set(e, -EINVAL, "MCP server '%s' has more than %d envs", f->name, ENV_MAX);
    for (size_t i = 0; i < n; i++) {
        struct str value = json_str(&envs->members[i].value, STR(""));
        env[i] = arena_printf(&f->arena, STR_FMT "=" STR_FMT, STR_ARG(envs->members[i].key),
                              STR_ARG(value))
                     .p;
        if (!env[i])
            return err_set(e, -ENOMEM, "out of memory");
    }
    env[n] = NULL;
    return 0;
}

static int start_program(struct gateway_foreign *f, const struct json *settings, struct err *e)
{
    static const struct child_ops ops = {.on_line = on_foreign_line, .on_end = on_foreign_end};
    struct str install = json_str(json_get(settings, "installCmd"), STR(""));
    struct str command = json_str(json_get(settings, "runCmd"), STR(""));
    const char *env[ENV_MAX + 1];
    /* What the installation prints is not MCP. */
    const char *text = install.len > 0
                           ? arena_printf(&f->arena, "{ " STR_FMT "\n} >&2 && exec " STR_FMT,
                                          STR_ARG(install), STR_ARG(command))
                                 .p
                           : arena_printf(&f->arena, "exec " STR_FMT, STR_ARG(command)).p;
    const char *const argv[] = {"/bin/sh", "-c", text, NULL};
    const struct run run = {.argv = argv, .cwd = ".", .env = env};
    int r = text ? fill_env(f, settings, env, e) : err_set(e, -ENOMEM, "out of memory");

    if (r < 0)
        return r;
    child_init(&f->child, f->child.loop, &ops);
    r = child_start(&f->child, &run);
    if (r == 0)
        r = child_send(&f->child, STR(HELLO));
    if (r == 0)
        r = loop_timer_start(f->child.loop, &f->timer, START_MS, on_start_late);
    return r < 0 ? err_sys(e, r, "MCP server '%s'", f->name) : 0;
}

/* NOLINTNEXTLINE(readability-function-size): which, and whom to notify */
int gateway_foreign_start(struct loop *loop, const char *name, const struct json *settings,
                          gateway_ready_fn *done, void *ctx, struct err *e)
{
    struct gateway_foreign *f = mem_zalloc(1, sizeof *f);

    if (!f)
        return err_set(e, -ENOMEM, "out of memory");
    arena_init(&f->arena, MEMORY);
    list_init(&f->calls);
    f->child.loop = loop;
    f->name = name;
    f->last_id = ID_FIRST;
    f->done = done;
    f->ctx = ctx;
    return start_program(f, settings, e); /* it lives as long as the gateway */
}

const struct json *gateway_foreign_tools(const struct gateway_foreign *f)
{
    return f->tools;
}

/* ---- calls ---- */

static int send_call(struct gateway_foreign *f, const struct mcp_call *call, const char *name,
                     int64_t id)
{
    struct buf text auto_buf = BUF_INIT(CHILD_LINE_MAX);
    struct jw w = jw_to(&text);

    jw_object(&w);
    jw_key(&w, "jsonrpc");
    jw_cstr(&w, "2.0");
    jw_key(&w, "id");
    jw_int(&w, id);
    jw_key(&w, "method");
    jw_cstr(&w, "tools/call");
    jw_key(&w, "params");
    jw_object(&w);
    jw_key(&w, "name");
    jw_cstr(&w, name);
    jw_key(&w, "arguments");
    jw_value(&w, call->args);
    jw_end(&w);
    jw_end(&w);
    return buf_ok(&text) ? child_send(&f->child, buf_str(&text)) : -ENOMEM;
}

void gateway_foreign_call(struct gateway_foreign *f, struct mcp_call *call, const char *name)
{
    if (f->child.pid == 0 || f->n_calls == PENDING_MAX) {
        mcp_reply_fail(call, MCP_INTERNAL_ERROR, "MCP server '%s' %s", f->name,
                       f->child.pid == 0 ? "has ended" : "has too many calls to answer");
        return;
    }
    struct foreign_call *c = mem_zalloc(1, sizeof *c);
    int r = c ? send_call(f, call, name, ++f->last_id) : -ENOMEM;
    if (r < 0) {
        free(c);
        mcp_reply_fail(call, MCP_INTERNAL_ERROR, "MCP server '%s' cannot take the call", f->name);
        return;
    }
    c->call = call;
    c->id = f->last_id;
    list_append(&f->calls, &c->node);
    f->n_calls++;
}
