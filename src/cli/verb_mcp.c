/* SPDX-License-Identifier: MIT */
/* tidepool mcp: the service's MCP server for programs that speak to a process. A line of standard
 * input is a message, posted to /mcp beside those that are not answered yet; what comes back is
 * written line by line.
 *
 * What follows an initialize waits for its answer, which has the session. A cancelled request is
 * not answered any more: the service is notified, and its answer is not waited for. */
#include "cli/verbs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/list.h"
#include "base/mem.h"
#include "cli/remote.h"
#include "loop/loop.h"
#include "net/http.h"
#include "net/sse.h"
#include "sys/io.h"

enum {
    READ_MAX = 65536,
    MESSAGE_MAX = 4 << 20,
    ANSWER_MAX = 16 << 20,
    SESSION_MAX = 128,
    NAME_MAX_BYTES = 16384,
    UNDER_WAY_MAX = 64,
    WAITING_MAX = 256
};

#define META "io.modelcontextprotocol/protocolVersion"

struct mcp_client_bridge {
    struct client *client;
    struct loop *loop;
    char session[SESSION_MAX + 1]; /* "" before there is one */
    struct loop_io input;
    struct buf in;
    struct list waiting, under_way; /* messages */
    size_t n_waiting, n_under_way;
    bool is_beginning; /* an initialize is under way */
    bool has_ended;    /* the input */
    int error;         /* of the input or the output */
};

struct message {
    struct list node;
    struct mcp_client_bridge *bridge;
    struct arena arena;
    struct str line;
    const struct json *json; /* NULL: it is none */
    struct client_op *op;    /* NULL: not sent */
    struct buf answer;
    struct sse_parser events;
    bool is_stream, is_cancelled;
    struct http_header headers[CLIENT_MAX_HEADERS];
    size_t n_headers;
};

static void pump_messages(struct mcp_client_bridge *b);

/* ---- messages ---- */

static struct message *message_new(struct mcp_client_bridge *b, struct str line)
{
    struct message *m = mem_zalloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->bridge = b;
    arena_init(&m->arena, 16 * MESSAGE_MAX);
    buf_init(&m->answer, ANSWER_MAX);
    sse_parser_init(&m->events, ANSWER_MAX);
    list_init(&m->node);
    m->line = arena_str(&m->arena, line);
    if (m->line.p)
        m->json = json_parse(&m->arena, m->line, NULL, NULL);
    return m;
}

static void message_free(struct message *m)
{
    list_del(&m->node);
    sse_parser_done(&m->events);
    buf_done(&m->answer);
    arena_done(&m->arena);
    free(m);
}

static bool is_message_method(const struct message *m, const char *method)
{
    return str_is(json_str(json_get(m->json, "method"), STR_NULL), method);
}

/* It says its revision itself, as 2026-07-28 does: there is no session. */
static bool is_modern(const struct message *m)
{
    const struct json *meta = json_get(json_get(m->json, "params"), "_meta");

    return json_is(json_get(meta, META), JSON_STRING);
}

static bool is_same_id(const struct json *a, const struct json *b)
{
    struct buf x auto_buf = BUF_INIT(4096), y auto_buf = BUF_INIT(4096);

    return a && b && json_write(&x, a, JSON_COMPACT) == 0 && json_write(&y, b, JSON_COMPACT) == 0 &&
           str_eq(buf_str(&x), buf_str(&y));
}

/* The request with this id in LIST, or NULL. */
static struct message *find_pending_message(struct list *list, const struct json *id)
{
    list_each(it, list)
    {
        struct message *m = list_entry(it, struct message, node);
        if (json_get(m->json, "method") && is_same_id(json_get(m->json, "id"), id))
            return m;
    }
    return NULL;
}

/* ---- answers ---- */

static int write_mcp_line(struct mcp_client_bridge *b, struct str text)
{
    struct buf line auto_buf = BUF_INIT(ANSWER_MAX + 1);

    if (text.len == 0)
        return 0;
    (void)buf_add_str(&line, text);
    int r =
        buf_add_char(&line, '\n') < 0 ? line.error : io_write_all(STDOUT_FILENO, line.p, line.len);
    if (r < 0)
        b->error = r;
    return r;
}

/* The service could not be asked: whoever waits for an answer gets the reason. */
static void write_failure(struct message *m, const struct err *e)
{
    struct arena *a = &m->arena;
    struct json *error = json_new_object(a), *answer = json_new_object(a);
    const struct json *id = json_get(m->json, "id");
    struct buf text auto_buf = BUF_INIT(MESSAGE_MAX);

    if (!id || !json_get(m->json, "method") || m->is_cancelled)
        return;
    (void)json_set(a, error, "code", json_new_int(a, -32000));
    (void)json_set(a, error, "message", json_new_str(a, str_of(err_text(e))));
    (void)json_set(a, answer, "jsonrpc", json_new_str(a, STR("2.0")));
    (void)json_set(a, answer, "id", id);
    (void)json_set(a, answer, "error", error);
    if (json_write(&text, answer, JSON_COMPACT) == 0)
        (void)write_mcp_line(m->bridge, buf_str(&text));
}

static int on_mcp_event(void *ctx, const struct sse_event *ev)
{
    struct message *m = ctx;

    return m->is_cancelled ? 0 : write_mcp_line(m->bridge, ev->data);
}

static int on_mcp_head(void *ctx, const struct http_head *head)
{
    struct message *m = ctx;
    struct mcp_client_bridge *b = m->bridge;
    struct str id = http_header_get(&head->headers, "mcp-session-id");
    struct str type = http_header_get(&head->headers, "content-type");

    if (id.len > 0 && id.len <= SESSION_MAX) {
        memcpy(b->session, id.p, id.len);
        b->session[id.len] = '\0';
    }
    /* The session is gone: go on without. */
    if (head->status == 404)
        b->session[0] = '\0';
    m->is_stream = str_starts(type, STR("text/event-stream"));
    return 0;
}

static int on_mcp_bytes(void *ctx, const char *p, size_t n)
{
    struct message *m = ctx;

    if (m->is_stream)
        return sse_parser_feed(&m->events, str_n(p, n), on_mcp_event, m);
    return buf_add(&m->answer, p, n);
}

/* ---- sending ---- */

static void add_header(struct message *m, struct str name, struct str value)
{
    if (value.len > 0 && m->n_headers < CLIENT_MAX_HEADERS)
        m->headers[m->n_headers++] = (struct http_header){name, value};
}

/* NAME as a header may hold it. */
static struct str plain_tool_name(struct arena *a, struct str name)
{
    struct buf b auto_buf = BUF_INIT(2 * NAME_MAX_BYTES);
    bool is_plain = name.len > 0 && name.p[0] != ' ' && name.p[name.len - 1] != ' ';

    for (size_t i = 0; i < name.len; i++)
        is_plain = is_plain && name.p[i] >= ' ' && name.p[i] <= '~';
    if (is_plain || name.len == 0)
        return name;
    (void)buf_add_lit(&b, "=?base64?");
    (void)enc_base64(&b, name);
    (void)buf_add_lit(&b, "?=");
    return buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
}

/* What 2026-07-28 wants to be repeated, and what older revisions need. */
static void add_mcp_headers(struct message *m)
{
    const struct json *params = json_get(m->json, "params");
    struct str version = json_str(json_get(json_get(params, "_meta"), META), STR_NULL);
    static const char *const named_by[] = {"name", "uri", "taskId"};
    struct str name = STR_NULL;

    for (size_t i = 0; name.len == 0 && i < ARRAY_LEN(named_by); i++)
        name = json_str(json_get(params, named_by[i]), STR_NULL);
    add_header(m, STR("Accept"), STR("application/json, text/event-stream"));
    if (version.len == 0) {
        add_header(m, STR("Mcp-Session-Id"), str_of(m->bridge->session));
        return;
    }
    add_header(m, STR("MCP-Protocol-Version"), version);
    add_header(m, STR("Mcp-Method"), json_str(json_get(m->json, "method"), STR_NULL));
    add_header(m, STR("Mcp-Name"), plain_tool_name(&m->arena, name));
}

/* M is over, and gone. */
static void finish_message(struct message *m)
{
    struct mcp_client_bridge *b = m->bridge;

    if (is_message_method(m, "initialize"))
        b->is_beginning = false;
    b->n_under_way--;
    message_free(m);
}

/* The service knows by now that the request with this id is not wanted any more. */
static void drop_cancelled(struct mcp_client_bridge *b, const struct json *id)
{
    struct message *m = find_pending_message(&b->under_way, id);

    if (!m || !m->is_cancelled)
        return;
    client_op_abort(m->op);
    finish_message(m);
}

static void on_mcp_end(void *ctx, int result, const struct err *e)
{
    struct message *m = ctx;
    struct mcp_client_bridge *b = m->bridge;
    struct err why = *e;

    if (result == -ENOTCONN && !why.code)
        (void)err_set(&why, result, "no service is running");
    if (result < 0)
        write_failure(m, &why);
    else if (!m->is_stream && !m->is_cancelled)
        (void)write_mcp_line(b, str_trim(buf_str(&m->answer)));
    if (is_message_method(m, "notifications/cancelled"))
        drop_cancelled(b, json_get(json_get(m->json, "params"), "requestId"));
    finish_message(m);
    pump_messages(b);
}

static void send_message(struct message *m)
{
    struct mcp_client_bridge *b = m->bridge;
    struct err e = ERR_INIT;

    add_mcp_headers(m);
    const struct client_post p = {.target = "/mcp",
                                  .body = m->line,
                                  .headers = m->headers,
                                  .n_headers = m->n_headers,
                                  .head = on_mcp_head,
                                  .write = on_mcp_bytes,
                                  .end = on_mcp_end,
                                  .ctx = m};
    m->op = client_post(b->client, &p, &e);
    if (!m->op) {
        write_failure(m, &e);
        message_free(m);
        return;
    }
    b->is_beginning = b->is_beginning || is_message_method(m, "initialize");
    b->n_under_way++;
    list_append(&b->under_way, &m->node);
}

/* True when M, which cancels another one, needs not be sent. */
static bool cancel(struct message *m)
{
    struct mcp_client_bridge *b = m->bridge;
    const struct json *id = json_get(json_get(m->json, "params"), "requestId");
    struct message *other = find_pending_message(&b->waiting, id);

    if (other) {
        b->n_waiting--;
        message_free(other);
        return true;
    }
    other = find_pending_message(&b->under_way, id);
    if (!other)
        return false;
    other->is_cancelled = true;
    if (!is_modern(other))
        return false;
    /* Without a session the end of the connection says it. */
    drop_cancelled(b, id);
    return true;
}

static void pump_messages(struct mcp_client_bridge *b)
{
    while (b->n_waiting > 0 && b->n_under_way < UNDER_WAY_MAX && !b->is_beginning) {
        struct message *m = list_entry(list_pop(&b->waiting), struct message, node);
        b->n_waiting--;
        send_message(m);
    }
    if (b->input.loop)
        (void)loop_io_want(&b->input, b->n_waiting < WAITING_MAX ? EPOLLIN : 0);
}

/* ---- the input ---- */

static int take_mcp_line(struct mcp_client_bridge *b, struct str line)
{
    struct message *m = message_new(b, line);

    if (!m)
        return -ENOMEM;
    if (is_message_method(m, "notifications/cancelled") && cancel(m)) {
        message_free(m);
        return 0;
    }
    list_append(&b->waiting, &m->node);
    b->n_waiting++;
    pump_messages(b);
    return 0;
}

/* Takes whole lines off the input. */
static int take_lines(struct mcp_client_bridge *b)
{
    for (;;) {
        ptrdiff_t end = str_chr(buf_str(&b->in), '\n');
        if (end < 0)
            return 0;
        struct str line = str_slice(buf_str(&b->in), 0, (size_t)end);
        if (str_ends(line, STR("\r")))
            line.len--;
        int r = str_trim(line).len > 0 ? take_mcp_line(b, line) : 0;
        buf_consume(&b->in, (size_t)end + 1);
        if (r < 0)
            return r;
    }
}

/* 0, or -errno; sets has_ended at the end. */
static int read_some_input(struct mcp_client_bridge *b)
{
    size_t room = b->in.max - b->in.len, want = room < READ_MAX ? room : READ_MAX;
    int r = room > 0 ? buf_reserve(&b->in, want) : -EMSGSIZE;

    if (r < 0)
        return r;
    ssize_t n = io_read(STDIN_FILENO, b->in.p + b->in.len, want);
    b->has_ended = n == 0;
    if (n < 0)
        return (int)n;
    b->in.len += (size_t)n;
    return take_lines(b);
}

static void on_mcp_input(struct loop_io *io, uint32_t events)
{
    struct mcp_client_bridge *b = container_of(io, struct mcp_client_bridge, input);
    int r = read_some_input(b);

    (void)events;
    if (r < 0)
        b->error = r;
    if (b->has_ended || r < 0)
        loop_io_stop(io);
}

/* Reads until the end of the input and of all that is under way. 0 or -errno. */
static int serve_mcp(struct mcp_client_bridge *b)
{
    int r = loop_io_start(b->loop, &b->input, STDIN_FILENO, EPOLLIN, on_mcp_input);

    /* A file cannot be waited for, and need not be. */
    while (r == -EPERM && !b->has_ended && b->error == 0)
        b->error = read_some_input(b);
    r = r == -EPERM ? 0 : r;
    while (r >= 0 && b->error == 0 && !(b->has_ended && b->n_under_way + b->n_waiting == 0))
        r = loop_run_once(b->loop, -1);
    return r < 0 ? r : b->error;
}

static void close_bridge(struct mcp_client_bridge *b)
{
    struct list *it;

    loop_io_stop(&b->input);
    while ((it = list_pop(&b->waiting)))
        message_free(list_entry(it, struct message, node));
    while ((it = list_pop(&b->under_way))) {
        struct message *m = list_entry(it, struct message, node);
        client_op_abort(m->op);
        message_free(m);
    }
    buf_done(&b->in);
}

static int run_mcp(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct err e = ERR_INIT;
    int status = remote_open(&r, call);

    if (status != CLI_OK)
        return status;
    struct mcp_client_bridge b = {
        .client = r.client, .loop = client_loop(r.client), .in = BUF_INIT(MESSAGE_MAX)};
    list_init(&b.waiting);
    list_init(&b.under_way);
    (void)signal(SIGPIPE, SIG_IGN);
    int code = serve_mcp(&b);
    close_bridge(&b);
    if (code == 0)
        return CLI_OK;
    (void)err_sys(&e, code, "standard input and output");
    return cli_fail(call, &e);
}

static const struct cli_option options[] = {REMOTE_OPTIONS, {0}};

const struct cli_verb verb_mcp = {
    .name = "mcp",
    .summary = "Run an MCP server on standard input and output",
    .help = "For programs that start MCP servers as processes, such as desktop clients. Forwards "
            "each line of standard input to the MCP server of the service and prints its "
            "responses, one per line. Requests are answered as they complete, in any order; "
            "cancelling a request also ends the command it runs.",
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_mcp,
};
