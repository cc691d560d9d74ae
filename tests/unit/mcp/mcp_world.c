/* SPDX-License-Identifier: MIT */
#include "mcp_world.h"

#include <stdio.h>
#include <string.h>

#include "mcp/ask.h"

struct mcp_server *server;
struct mcp_call *held;
int n_cancelled, n_released;
const char *owner, *modern_can;

/* ---- a server ---- */

static void call_echo(struct mcp_call *c)
{
    mcp_reply_text(c, json_str(json_get(c->args, "text"), STR("nothing")), false);
}

static void note_cancel(struct mcp_call *c)
{
    n_cancelled++;
    held = NULL;
    mcp_reply_text(c, STR("too late"), false);
}

static void call_hold(struct mcp_call *c)
{
    held = c;
    c->on_cancel = note_cancel;
}

static void call_big(struct mcp_call *c)
{
    static char text[5000];

    memset(text, 'x', sizeof text);
    mcp_reply_text(c, str_n(text, (size_t)json_int(json_get(c->args, "n"), 0)), false);
}

static void call_notes(struct mcp_call *c)
{
    mcp_log(c, MCP_DEBUG, "t", STR("\"quiet\""));
    mcp_log(c, MCP_WARNING, "t", STR("\"loud\""));
    mcp_progress(c, 1, 2, "half");
    mcp_reply_text(c, STR("end"), false);
}

static void on_answers(struct mcp_call *c, const struct json *answers)
{
    const struct json *a = json_get(answers, "name");

    mcp_reply_text(c, answers ? json_str(json_get(a, "action"), STR("?")) : STR("no answer"),
                   !answers);
}

static void call_ask(struct mcp_call *c)
{
    const struct mcp_ask ask = {"name", "elicitation/create", STR("{\"message\":\"who?\"}"), false};

    mcp_ask(c, &ask, 1, on_answers);
}

static void call_many(struct mcp_call *c)
{
    const struct mcp_ask asks[] = {
        {"name", "elicitation/create", STR("{\"message\":\"who?\"}"), false},
        {"model", "sampling/createMessage", STR("{\"maxTokens\":1}"), true},
    };

    mcp_ask(c, asks, ARRAY_LEN(asks), on_answers);
}

/* Waits like "hold", and says how it is doing. */
static void call_work(struct mcp_call *c)
{
    call_hold(c);
    mcp_progress(c, 1, 2, "half way");
}

static void on_later(struct mcp_call *c, const struct json *answers)
{
    if (!answers)
        mcp_reply_text(c, STR("no answer"), true);
    else if (mcp_task_start(c) == 0)
        call_hold(c);
}

static void call_later(struct mcp_call *c)
{
    const struct mcp_ask ask = {"name", "elicitation/create", STR("{\"message\":\"who?\"}"), false};

    mcp_ask(c, &ask, 1, on_later);
}

static int64_t work_takes_ms(const struct mcp_call *c)
{
    return json_int(json_get(c->args, "ms"), 0);
}

static const struct mcp_tool tools[] = {
    {"echo", NULL, NULL,
     "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"default\":\"said\"},"
     "\"n\":{\"type\":\"integer\"}},\"additionalProperties\":false}",
     NULL, NULL, .call = call_echo},
    {"hold", NULL, NULL, NULL, NULL, NULL, .call = call_hold},
    {"big", NULL, NULL, "{\"type\":\"object\"}", NULL, NULL, .call = call_big},
    {"notes", NULL, NULL, NULL, NULL, NULL, .call = call_notes},
    {"ask", NULL, NULL, NULL, NULL, NULL, .call = call_ask},
    {"work", .input = "{\"type\":\"object\"}", .call = call_work, .tasking = MCP_TASK_MAY,
     .takes_ms = work_takes_ms},
    {"must", .call = call_hold, .tasking = MCP_TASK_MUST},
    {"must_echo", .call = call_echo, .tasking = MCP_TASK_MUST},
    {"must_big", .input = "{\"type\":\"object\"}", .call = call_big, .tasking = MCP_TASK_MUST},
    {"must_ask", .call = call_many, .tasking = MCP_TASK_MUST},
    {"later", .call = call_later, .tasking = MCP_TASK_LATER},
};

static void read_text(struct mcp_call *c)
{
    struct jw *w = mcp_result_begin(c);

    jw_key(w, "contents");
    jw_array(w);
    jw_str(w, c->vars[0]);
    jw_end(w);
    mcp_result_end(c);
}

static const struct mcp_resource resources[] = {
    {"t://fixed", "fixed", NULL, NULL, NULL, read_text, NULL}};
static const struct mcp_resource templates[] = {
    {"t://of/{who}", "of", NULL, NULL, NULL, read_text, NULL}};

static void note_release(void *ctx)
{
    (void)ctx;
    n_released++;
}

static void serve(struct http_req *r, void *ctx)
{
    const struct mcp_scope scope = {str_of(owner), NULL, note_release};

    (void)ctx;
    if (str_is(r->head.path, "/sse"))
        mcp_http_sse(server, r, &scope, STR("/messages"));
    else if (str_is(r->head.path, "/messages"))
        mcp_http_messages(server, r, &scope);
    else
        mcp_http(server, r, &scope);
}

static void handle(struct http_req *r, void *ctx)
{
    (void)ctx;
    http_read_body(r, 1 << 20, serve, NULL);
}

void make_server(struct mcp_limits limits, const char *secret)
{
    const struct mcp_desc desc = {.name = "t",
                                  .version = "1",
                                  .tools = tools,
                                  .n_tools = ARRAY_LEN(tools),
                                  .resources = resources,
                                  .n_resources = 1,
                                  .templates = templates,
                                  .n_templates = 1,
                                  .secret = str_of(secret),
                                  .limits = limits};
    struct err e = ERR_INIT;

    mcp_server_free(server);
    server = mcp_server_new(world.loop, &desc, &e);
    assert_non_null(server);
}

int mcp_world_setup(void **state)
{
    if (world_setup(state) < 0)
        return -1;
    world.handler = handle;
    held = NULL;
    n_cancelled = n_released = 0;
    owner = "me";
    modern_can = CAN_TASKS;
    make_server((struct mcp_limits){0}, "");
    return 0;
}

int mcp_world_teardown(void **state)
{
    mcp_server_free(server);
    server = NULL;
    turn();
    return world_teardown(state);
}

/* ---- a client ---- */

/* Sends BODY with more HEADERS ("Name: value\r\n"…); all that comes back. */
struct str post_to(int client, const char *path, const char *headers, const char *body)
{
    char head[2048];

    (void)snprintf(head, sizeof head,
                   "POST %s HTTP/1.1\r\nHost: a\r\n%sContent-Length: %zu\r\n\r\n", path, headers,
                   strlen(body));
    if (world.fds[client] < 0)
        connect_client(client);
    (void)heard(client);
    say(client, head);
    say(client, body);
    turn();
    (void)hear(client);
    return heard(client);
}

struct str post(const char *headers, const char *body)
{
    return post_to(0, "/mcp", headers, body);
}

void check(struct str answer, int status, const char *part)
{
    if (status_of(answer) != status || !holds(answer, part))
        fail_msg("got '%.*s', want %d with '%s'", STR_ARG(answer), status, part);
}

/* Begins a session; its headers are written to OUT. */
void begin_session(char out[256], const char *version, const char *can)
{
    char body[512];

    (void)snprintf(body, sizeof body, INITIALIZE("%s", "%s"), version, can);
    struct str answer = post(JSON_TYPES, body);
    check(answer, 200, "\"serverInfo\"");
    ptrdiff_t at = str_find(answer, STR("Mcp-Session-Id: "));
    assert_true(at > 0);
    struct str id = str_skip(answer, (size_t)at);
    (void)snprintf(out, 256, JSON_TYPES "%.*s\r\n", (int)str_chr(id, '\r'), id.p);
}

struct str modern(int client, const char *method, const char *named, const char *params)
{
    char headers[512], body[4096];

    (void)snprintf(headers, sizeof headers,
                   JSON_TYPES "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%s%s%s",
                   method, named ? "Mcp-Name: " : "", named ? named : "", named ? "\r\n" : "");
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s%s\"_meta\":{"
                   "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                   "\"io.modelcontextprotocol/clientCapabilities\":%s}}}",
                   method, params, params[0] ? "," : "", modern_can);
    return post_to(client, "/mcp", headers, body);
}

struct str old(int client, const char *headers, const char *method, const char *params)
{
    char body[4096];

    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}}", method,
                   params);
    return post_to(client, "/mcp", headers, body);
}

struct str open_stream(int client, const char *session, const char *headers)
{
    char head[1024];

    (void)snprintf(head, sizeof head,
                   "GET /mcp HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n%s%s\r\n", session,
                   headers);
    if (world.fds[client] < 0)
        connect_client(client);
    say(client, head);
    turn();
    return more_of(client);
}

struct str more_of(int client)
{
    turn();
    (void)hear(client);
    return heard(client);
}

static struct str behind(struct str text, const char *key, const char *mark)
{
    char want[64];

    (void)snprintf(want, sizeof want, "\"%s\":%s", key, mark);
    ptrdiff_t at = str_find(text, str_of(want));
    if (at < 0)
        fail_msg("no %s in '%.*s'", want, STR_ARG(text));
    return str_skip(text, (size_t)at + strlen(want));
}

void find_text(struct str text, const char *key, char *out, size_t size)
{
    struct str rest = behind(text, key, "\"");

    (void)snprintf(out, size, "%.*s", (int)str_chr(rest, '"'), rest.p);
}

int64_t find_number(struct str text, const char *key)
{
    return strtoll(behind(text, key, "").p, NULL, 10);
}
