/* SPDX-License-Identifier: MIT */
/* tidepool exec */
#include "cli/verbs.h"

#include <errno.h>
#include <unistd.h>

#include "base/enc.h"
#include "cli/quote.h"
#include "cli/remote.h"
#include "sys/io.h"

enum {
    TIMED_OUT = 124,
    TIMEOUT_MAX_S = 86400,
    INPUT_MAX = 8 << 20,
    BODY_MAX = 16 << 20,
    LINE_MAX_BYTES = 2 << 20
};

/* ---- the request ---- */

static int put_exec_input(const struct cli_call *call, struct jw *w)
{
    struct buf input auto_buf = BUF_INIT(INPUT_MAX), text auto_buf = BUF_INIT(2 * INPUT_MAX);
    struct err e = ERR_INIT;
    ssize_t n = 1;

    while (n > 0 && buf_reserve(&input, 65536) == 0) {
        n = io_read(STDIN_FILENO, input.p + input.len, 65536);
        input.len += n > 0 ? (size_t)n : 0;
    }
    int r = n < 0 ? (int)n : input.error;
    if (r == -ENOBUFS)
        (void)err_set(&e, r, "standard input is larger than %d MiB; use 'tidepool cp'",
                      INPUT_MAX >> 20);
    else if (r < 0)
        (void)err_sys(&e, r, "standard input");
    if (r < 0)
        return cli_fail(call, &e);
    (void)enc_base64(&text, buf_str(&input));
    jw_key(w, "stdin_base64");
    jw_str(w, buf_str(&text));
    return CLI_OK;
}

static int put_timeout(const struct cli_call *call, struct jw *w)
{
    int64_t timeout;
    int r = cli_value_seconds(call, "timeout", TIMEOUT_MAX_S, &timeout);

    if (r == CLI_OK && (timeout < 1 || timeout > TIMEOUT_MAX_S))
        return cli_usage(call, "--timeout: expected a time up to a day");
    jw_key(w, "timeout");
    jw_int(w, timeout);
    return r;
}

static void put_exec_text(const struct cli_call *call, const char *name, struct jw *w)
{
    if (!cli_value(call, name))
        return;
    jw_key(w, name);
    jw_cstr(w, cli_value(call, name));
}

static int put_exec_request(const struct cli_call *call, struct buf *out)
{
    struct buf command auto_buf = BUF_INIT(4UL << 20);
    struct jw w = jw_to(out);

    jw_object(&w);
    (void)quote_command(&command, call->args + 1, call->n_args - 1);
    jw_key(&w, "command");
    jw_str(&w, buf_str(&command));
    jw_key(&w, "encoding");
    jw_cstr(&w, "base64");
    if (!cli_is_on(call, "json")) {
        jw_key(&w, "stream");
        jw_bool(&w, true);
    }
    put_exec_text(call, "user", &w);
    put_exec_text(call, "cwd", &w);
    int r = put_timeout(call, &w);
    if (r == CLI_OK)
        r = remote_put_pairs(call, "env", "env", &w);
    if (r == CLI_OK && cli_is_on(call, "stdin"))
        r = put_exec_input(call, &w);
    jw_end(&w);
    return r;
}

/* ---- the answer ---- */

/* Lines of JSON, each with a piece of output or with how it ended. */
struct exec_answer {
    struct buf line, raw;
    struct str body; /* of the request */
    size_t sent;
    struct err e;
    int status; /* -1: it has not ended */
};

static int write_exec_piece(struct exec_answer *a, const struct json *line, const char *member,
                            int fd)
{
    struct str text = json_str(json_get(line, member), STR_NULL);

    if (!text.p)
        return 0;
    buf_clear(&a->raw);
    int r = enc_unbase64(&a->raw, text);
    if (r == 0)
        r = io_write_all(fd, a->raw.p, a->raw.len);
    return r < 0 ? err_sys(&a->e, r, "output") : 0;
}

static int take_exec_line(struct exec_answer *a, struct str text)
{
    struct arena arena auto_arena;

    arena_init(&arena, 4 * (size_t)LINE_MAX_BYTES);
    const struct json *line = json_parse(&arena, text, NULL, &a->e);
    if (!line)
        return err_ctx(&a->e, -EPROTO, "answer of the service");
    const struct json *code = json_get(line, "exitCode");
    if (code)
        a->status = json_bool(json_get(line, "timedOut"), false) ? TIMED_OUT
                                                                 : (int)(json_int(code, 0) & 0xff);
    int r = write_exec_piece(a, line, "stdout", STDOUT_FILENO);
    return r < 0 ? r : write_exec_piece(a, line, "stderr", STDERR_FILENO);
}

static int on_exec_bytes(void *ctx, const char *p, size_t n)
{
    struct exec_answer *a = ctx;
    struct str rest = str_n(p, n);
    int r = 0;

    for (ptrdiff_t end; r == 0 && (end = str_chr(rest, '\n')) >= 0;) {
        r = buf_add(&a->line, rest.p, (size_t)end);
        if (r == 0)
            r = take_exec_line(a, buf_str(&a->line));
        buf_clear(&a->line);
        rest = str_skip(rest, (size_t)end + 1);
    }
    return r < 0 ? r : buf_add_str(&a->line, rest);
}

static ssize_t read_exec_body(void *ctx, char *p, size_t n)
{
    struct exec_answer *a = ctx;
    struct str rest = str_skip(a->body, a->sent);

    n = n < rest.len ? n : rest.len;
    memcpy(p, rest.p, n);
    a->sent += n;
    return (ssize_t)n;
}

/* Passes on what the command writes while it runs, and returns its exit status. */
static int follow_exec(struct remote *r, const char *target, const struct buf *body)
{
    struct exec_answer a = {.line = BUF_INIT(LINE_MAX_BYTES),
                            .raw = BUF_INIT(LINE_MAX_BYTES),
                            .body = buf_str(body),
                            .status = -1};
    const struct client_transfer t = {.method = "POST",
                                      .target = target,
                                      .length = (int64_t)body->len,
                                      .read = read_exec_body,
                                      .write = on_exec_bytes,
                                      .ctx = &a};
    int code = !target         ? err_sys(&a.e, -ENAMETOOLONG, "request")
               : !buf_ok(body) ? err_sys(&a.e, body->error, "request")
                               : client_transfer(r->client, &t, &a.e);

    buf_done(&a.line);
    buf_done(&a.raw);
    if (code == 0 && a.status < 0)
        code = err_set(&a.e, -ECONNRESET, "the connection was lost before the command ended");
    return code < 0 ? remote_fail(r, code, &a.e) : a.status;
}

static int run_exec(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct buf body auto_buf = BUF_INIT(BODY_MAX);
    struct json *doc = NULL;
    int status = put_exec_request(call, &body);

    if (status == CLI_OK)
        status = remote_open(&r, call);
    if (status != CLI_OK)
        return status;
    const char *target = remote_target(&r, "/api/v1/terminal/sandbox/", call->args[0]);
    if (!cli_is_on(call, "json"))
        return follow_exec(&r, target, &body);
    status = remote_ask(&r, "POST", target, &body, &doc);
    if (status != CLI_OK)
        return status;
    return cli_put_json(&call->out, json_get(doc, "data")) < 0 ? CLI_FAILED : CLI_OK;
}

static const struct cli_option options[] = {
    {.name = "user", .letter = 'u', .arg = "USER", .help = "User to run it as (default: user)."},
    {.name = "cwd", .arg = "PATH", .help = "Working directory."},
    {.name = "env",
     .letter = 'e',
     .arg = "NAME=VALUE",
     .help = "Environment variable (repeatable)."},
    {.name = "timeout",
     .arg = "TIME",
     .help = "Kill it after this time: 90, 15m, 1h (default: one day)."},
    {.name = "stdin", .letter = 'i', .help = "Pass all of standard input to it."},
    {.name = "json",
     .help = "Print JSON when it has exited, with up to 8 MiB of each output stream."},
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_exec = {
    .name = "exec",
    .summary = "Run a command in a sandbox",
    .help =
        "Runs a command in a sandbox and streams its output unchanged. A single word is run by "
        "the shell, so pipes and the like work; several words are passed to the command as they "
        "are.\n"
        "\n"
        "Exits with the status of the command: 128 plus the signal number if it was killed, 124 "
        "if it timed out, and 1 also if it could not be run. Ctrl-C interrupts the command. For "
        "interactive programs, use 'tidepool shell'.",
    .args = "NAME [--] COMMAND [ARGUMENT]...",
    .min_args = 2,
    .max_args = 65536,
    .rest_at = 2,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_exec,
};
