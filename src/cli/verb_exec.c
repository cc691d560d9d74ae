/* SPDX-License-Identifier: MIT */
/* tidepool exec */
#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/enc.h"
#include "cli/quote.h"
#include "cli/remote.h"
#include "sys/io.h"

enum { TIMED_OUT = 124, TIMEOUT_MAX_S = 86400, INPUT_MAX = 8 << 20, BODY_MAX = 16 << 20 };

/* ---- the request ---- */

static int put_input(const struct cli_call *call, struct jw *w)
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
    int r = cli_value_int(call, "timeout", TIMEOUT_MAX_S, &timeout);

    jw_key(w, "timeout");
    jw_int(w, timeout);
    return r;
}

static void put_text(const struct cli_call *call, const char *name, struct jw *w)
{
    if (!cli_value(call, name))
        return;
    jw_key(w, name);
    jw_cstr(w, cli_value(call, name));
}

static int put_request(const struct cli_call *call, struct buf *out)
{
    struct buf command auto_buf = BUF_INIT(4UL << 20);
    struct jw w = jw_to(out);

    jw_object(&w);
    (void)quote_command(&command, call->args + 1, call->n_args - 1);
    jw_key(&w, "command");
    jw_str(&w, buf_str(&command));
    jw_key(&w, "encoding");
    jw_cstr(&w, "base64");
    put_text(call, "user", &w);
    put_text(call, "cwd", &w);
    int r = put_timeout(call, &w);
    if (r == CLI_OK)
        r = remote_put_pairs(call, "env", "env", &w);
    if (r == CLI_OK && cli_is_on(call, "stdin"))
        r = put_input(call, &w);
    jw_end(&w);
    return r;
}

/* ---- the answer ---- */

static int write_output(const struct json *data, const char *member, int fd)
{
    struct str text = json_str(json_get(data, member), STR(""));
    struct buf raw auto_buf = BUF_INIT(text.len + 4);

    if (!str_is(json_str(json_get(data, "encoding"), STR("")), "base64"))
        return io_write_all(fd, text.p, text.len);
    int r = enc_unbase64(&raw, text);
    return r < 0 ? r : io_write_all(fd, raw.p, raw.len);
}

/* Passes on what the command wrote, and returns its exit status. */
static int pass_on(struct cli_call *call, const struct json *data)
{
    struct err e = ERR_INIT;
    int r = write_output(data, "output", STDOUT_FILENO);

    if (r == 0)
        r = write_output(data, "errorOutput", STDERR_FILENO);
    if (r < 0) {
        (void)err_sys(&e, r, "output");
        return cli_fail(call, &e);
    }
    if (json_bool(json_get(data, "truncated"), false))
        (void)fputs("tidepool exec: the output was too large and is cut; write it to a file and "
                    "use 'tidepool cp'\n",
                    stderr);
    if (json_bool(json_get(data, "timedOut"), false))
        return TIMED_OUT;
    return (int)(json_int(json_get(data, "exitCode"), 0) & 0xff);
}

static int run(struct cli_call *call)
{
    struct remote r auto_remote = {0};
    struct buf body auto_buf = BUF_INIT(BODY_MAX);
    struct json *doc = NULL;
    int status = put_request(call, &body);

    if (status == CLI_OK)
        status = remote_open(&r, call);
    if (status == CLI_OK)
        status = remote_ask(
            &r, "POST", remote_target(&r, "/api/v1/terminal/sandbox/", call->args[0]), &body, &doc);
    if (status != CLI_OK)
        return status;
    if (!cli_is_on(call, "json"))
        return pass_on(call, json_get(doc, "data"));
    return cli_put_json(&call->out, json_get(doc, "data")) < 0 ? CLI_FAILED : CLI_OK;
}

static const struct cli_option options[] = {
    {.name = "user", .letter = 'u', .arg = "USER", .help = "Who runs it; default user."},
    {.name = "cwd", .arg = "PATH", .help = "Directory where it starts."},
    {.name = "env",
     .letter = 'e',
     .arg = "NAME=VALUE",
     .help = "Variable of its environment; may be given several times."},
    {.name = "timeout", .arg = "SECONDS", .help = "Kill it after so long; default a day."},
    {.name = "stdin", .letter = 'i', .help = "Give it what comes on standard input, to its end."},
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_exec = {
    .name = "exec",
    .summary = "Run a command in a sandbox",
    .help = "Runs a command in a sandbox and passes on what it wrote, byte for byte, once it has "
            "ended. One word is taken as text for the shell, with pipes and all; several words "
            "reach the command as they are.\n\n"
            "Exits as the command did: 128 and the signal when one killed it, 124 when its time "
            "was over, 1 also when it could not be run. A command goes on when this is broken "
            "off. For one that talks back use 'tidepool shell'.",
    .args = "NAME [--] COMMAND [ARGUMENT]...",
    .min_args = 2,
    .max_args = 65536,
    .rest_at = 2,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run,
};
