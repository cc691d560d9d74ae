/* SPDX-License-Identifier: MIT */
/* tidepool mcp: the service's MCP server for programs that speak to a process. A line of standard
 * input is a message, posted to /mcp; what comes back is written line by line. */
#include "cli/verbs.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "cli/remote.h"
#include "net/http.h"
#include "net/sse.h"
#include "sys/io.h"

enum {
    READ_MAX = 65536,
    MESSAGE_MAX = 4 << 20,
    ANSWER_MAX = 16 << 20,
    SESSION_MAX = 128,
    NAME_MAX_BYTES = 16384
};

#define META "io.modelcontextprotocol/protocolVersion"

struct bridge {
    struct remote *remote;
    char session[SESSION_MAX + 1]; /* "" before there is one */
    /* The message under way. */
    struct str message;
    size_t sent;
    struct buf answer;
    struct sse_parser events;
    bool is_stream;
    struct http_header headers[CLIENT_MAX_HEADERS];
    size_t n_headers;
};

/* ---- answers ---- */

static int write_line(struct str text)
{
    struct buf line auto_buf = BUF_INIT(ANSWER_MAX + 1);

    (void)buf_add_str(&line, text);
    if (text.len == 0 || buf_add_char(&line, '\n') < 0)
        return line.error;
    return io_write_all(STDOUT_FILENO, line.p, line.len);
}

static int on_event(void *ctx, const struct sse_event *ev)
{
    (void)ctx;
    return write_line(ev->data);
}

static int on_head(void *ctx, const struct http_head *head)
{
    struct bridge *b = ctx;
    struct str id = http_header_get(&head->headers, "mcp-session-id");
    struct str type = http_header_get(&head->headers, "content-type");

    if (id.len > 0 && id.len <= SESSION_MAX) {
        memcpy(b->session, id.p, id.len);
        b->session[id.len] = '\0';
    }
    /* The session is gone, perhaps with the service: go on without. */
    if (head->status == 404)
        b->session[0] = '\0';
    b->is_stream = str_starts(type, STR("text/event-stream"));
    return 0;
}

static int on_bytes(void *ctx, const char *p, size_t n)
{
    struct bridge *b = ctx;

    if (b->is_stream)
        return sse_parser_feed(&b->events, str_n(p, n), on_event, b);
    return buf_add(&b->answer, p, n);
}

static ssize_t read_message(void *ctx, char *p, size_t n)
{
    struct bridge *b = ctx;
    struct str rest = str_skip(b->message, b->sent);

    n = n < rest.len ? n : rest.len;
    memcpy(p, rest.p, n);
    b->sent += n;
    return (ssize_t)n;
}

/* ---- headers ---- */

static void add_header(struct bridge *b, struct str name, struct str value)
{
    if (value.len > 0 && b->n_headers < CLIENT_MAX_HEADERS)
        b->headers[b->n_headers++] = (struct http_header){name, value};
}

/* NAME as a header may hold it. */
static struct str plain(struct arena *a, struct str name)
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
static void add_headers(struct bridge *b, struct arena *a, const struct json *message)
{
    const struct json *params = json_get(message, "params");
    struct str version = json_str(json_get(json_get(params, "_meta"), META), STR_NULL);
    struct str name = json_str(json_get(params, "name"), STR_NULL);

    b->n_headers = 0;
    add_header(b, STR("Accept"), STR("application/json, text/event-stream"));
    if (version.len == 0) {
        add_header(b, STR("Mcp-Session-Id"), str_of(b->session));
        return;
    }
    add_header(b, STR("MCP-Protocol-Version"), version);
    add_header(b, STR("Mcp-Method"), json_str(json_get(message, "method"), STR_NULL));
    add_header(b, STR("Mcp-Name"),
               plain(a, name.len ? name : json_str(json_get(params, "uri"), STR_NULL)));
}

/* ---- messages ---- */

/* The service could not be asked: whoever waits for an answer is told why. */
static int write_failure(struct arena *a, const struct json *message, const struct err *e)
{
    struct json *error = json_new_object(a), *answer = json_new_object(a);
    const struct json *id = json_get(message, "id");
    struct buf text auto_buf = BUF_INIT(MESSAGE_MAX);

    if (!id || !json_get(message, "method"))
        return 0;
    (void)json_set(a, error, "code", json_new_int(a, -32000));
    (void)json_set(a, error, "message", json_new_str(a, str_of(err_text(e))));
    (void)json_set(a, answer, "jsonrpc", json_new_str(a, STR("2.0")));
    (void)json_set(a, answer, "id", id);
    (void)json_set(a, answer, "error", error);
    return json_write(&text, answer, JSON_COMPACT) < 0 ? -ENOMEM : write_line(buf_str(&text));
}

static int pass(struct bridge *b, struct str line)
{
    struct arena a auto_arena;
    struct err e = ERR_INIT;

    arena_init(&a, 16 * MESSAGE_MAX);
    const struct json *message = json_parse(&a, line, NULL, NULL);
    add_headers(b, &a, message);
    b->message = line;
    b->sent = 0;
    buf_clear(&b->answer);
    sse_parser_init(&b->events, ANSWER_MAX);
    const struct client_transfer t = {
        .method = "POST",
        .target = "/mcp",
        .length = (int64_t)line.len,
        .read = read_message,
        .head = on_head,
        .write = on_bytes,
        .ctx = b,
        .headers = b->headers,
        .n_headers = b->n_headers,
        .takes_refusals = true,
    };
    int r = client_transfer(b->remote->client, &t, &e);
    sse_parser_done(&b->events);
    if (r == 0)
        return b->is_stream ? 0 : write_line(str_trim(buf_str(&b->answer)));
    if (r == -ENOTCONN)
        (void)err_set(&e, r, "no service is running");
    return write_failure(&a, message, &e);
}

/* Takes whole lines off IN and passes them on. */
static int pass_lines(struct bridge *b, struct buf *in)
{
    for (;;) {
        ptrdiff_t end = str_chr(buf_str(in), '\n');
        if (end < 0)
            return 0;
        struct str line = str_slice(buf_str(in), 0, (size_t)end);
        if (str_ends(line, STR("\r")))
            line.len--;
        int r = str_trim(line).len > 0 ? pass(b, line) : 0;
        buf_consume(in, (size_t)end + 1);
        if (r < 0)
            return r;
    }
}

/* Reads until the end of the input. 0 or -errno. */
static int serve(struct bridge *b)
{
    struct buf in auto_buf = BUF_INIT(MESSAGE_MAX);

    for (;;) {
        size_t room = in.max - in.len;
        int r = room > 0 ? buf_reserve(&in, room < READ_MAX ? room : READ_MAX) : -EMSGSIZE;
        if (r < 0)
            return r;
        ssize_t n = read(STDIN_FILENO, in.p + in.len, room < READ_MAX ? room : READ_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        in.len += (size_t)n;
        r = pass_lines(b, &in);
        if (r < 0)
            return r;
    }
}

static int run(struct cli_call *call)
{
    struct remote r auto_remote = {0};
    struct bridge b = {.remote = &r, .answer = BUF_INIT(ANSWER_MAX)};
    struct err e = ERR_INIT;
    int status = remote_open(&r, call);

    if (status != CLI_OK)
        return status;
    int code = serve(&b);
    buf_done(&b.answer);
    if (code == 0)
        return CLI_OK;
    (void)err_sys(&e, code, "standard input and output");
    return cli_fail(call, &e);
}

static const struct cli_option options[] = {REMOTE_OPTIONS, {0}};

const struct cli_verb verb_mcp = {
    .name = "mcp",
    .summary = "Serve the tools of the service on standard input and output",
    .help = "For programs that start MCP servers as processes, such as desktop clients: every line "
            "of standard input is a message for the service's MCP server, and its answers are "
            "lines of standard output. Messages are passed on one after another.",
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run,
};
