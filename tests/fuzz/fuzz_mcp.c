/* SPDX-License-Identifier: MIT */
/* Messages to an MCP server. Byte 0: '0' the checks of 2026-07-28 with the first line as the value
 * of every header; else a session of the revision that its bits say. Then the message. Every answer
 * is JSON. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "mcp/exchange.h"
#include "net/http_req.h"

static void echo(struct mcp_call *c)
{
    mcp_progress(c, 1, 2, NULL);
    mcp_reply_text(c, json_str(json_get(c->args, "text"), STR("none")), false);
}

static void ask(struct mcp_call *c)
{
    mcp_reply_missing(c, MCP_CAN_SAMPLE | MCP_CAN_ROOTS);
}

static const struct mcp_tool tools[] = {
    {"echo", NULL, "d",
     "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"x-mcp-header\":\"T\"},"
     "\"n\":{\"type\":\"integer\",\"default\":3}}}",
     NULL, NULL, .call = echo, .tasking = MCP_TASK_MAY},
    {"ask", NULL, "d", NULL, NULL, NULL, .call = ask, .tasking = MCP_TASK_MAY},
};
static const struct mcp_resource places[] = {
    {"t://{a}/{+b}", "t", NULL, NULL, NULL, ask, NULL},
};
static const struct mcp_argument args[] = {{"a", NULL, true}};
static const struct mcp_prompt prompts[] = {{"p", NULL, NULL, args, 1, ask, NULL}};

static struct mcp_server *server(void)
{
    static struct mcp_server *s;
    const struct mcp_desc desc = {.name = "f",
                                  .version = "1",
                                  .tools = tools,
                                  .n_tools = ARRAY_LEN(tools),
                                  .templates = places,
                                  .n_templates = 1,
                                  .prompts = prompts,
                                  .n_prompts = 1,
                                  .complete = ask,
                                  .page = 1};

    if (!s)
        s = mcp_server_new(loop_new(NULL), &desc, NULL);
    if (!s)
        abort();
    return s;
}

static void check_modern(struct str header, struct str body)
{
    struct http_header items[] = {{STR_INIT("mcp-protocol-version"), header},
                                  {STR_INIT("mcp-method"), header},
                                  {STR_INIT("mcp-name"), header},
                                  {STR_INIT("mcp-param-t"), header}};
    struct http_req r = {.head.headers = {items, ARRAY_LEN(items)}};
    struct mcp_fault f = {.code = 0};
    struct arena a auto_arena;

    arena_init(&a, 64 << 20);
    struct json *v = json_parse(&a, body, NULL, NULL);
    struct str id;
    if (!v || mcp_classify(&a, v, &id) != MCP_REQUEST)
        return;
    if (mcp_check_modern(server(), &r, &a, v, &f) < 0 && (f.code == 0 || !f.message[0]))
        abort();
}

/* Everything goes through a batch, which gathers its answers without a connection. */
static void take_messages(unsigned version, struct str body)
{
    const struct mcp_hello hello = {.version = MCP_V_NEWEST_STATEFUL};
    struct mcp_server *s = server();
    struct mcp_session *n = mcp_session_new(s, STR("o"), &hello);
    const struct mcp_scope scope = {.owner = STR_INIT("o")};
    struct mcp_exchange *x = n ? mcp_exchange_new(s, NULL, &scope) : NULL;
    struct arena a auto_arena;

    arena_init(&a, 64 << 20);
    if (!x)
        abort();
    n->version = version % MCP_V_2026_07_28;
    n->can = version;
    mcp_exchange_join(x, n);
    x->is_batch = true;
    struct json *v = mcp_exchange_parse(x, body);
    for (size_t i = 0; json_is(v, JSON_ARRAY) && i < v->n && i < MCP_MAX_BATCH; i++)
        mcp_exchange_take(x, &v->items[i]);
    if (v && v->type != JSON_ARRAY)
        mcp_exchange_take(x, v);
    if (x->out.len > 0) {
        (void)buf_add_char(&x->out, ']');
        if (!json_parse(&a, buf_str(&x->out), NULL, NULL))
            abort();
    }
    if (x->n_open != 1)
        abort();
    mcp_exchange_drop(x);
    mcp_session_free(n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_n((const char *)data, size);

    if (size == 0)
        return 0;
    rest = str_skip(rest, 1);
    if (data[0] == '0') {
        struct str first = str_cut(&rest, '\n');
        check_modern(first, rest);
    } else {
        take_messages(data[0], rest);
    }
    return 0;
}
