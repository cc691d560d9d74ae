/* SPDX-License-Identifier: MIT */
/* tidepool logs */
#include "cli/verbs.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/remote.h"
#include "core/config_value.h"
#include "sys/io.h"

enum { TAIL_DEFAULT = 200 };

/* The option as the service takes it: "10m" is so long ago. */
static const char *since(struct remote *r)
{
    const char *value = cli_value(r->call, "since");
    char at[CLOCK_RFC3339_MAX];
    int64_t ms;

    if (!value || config_duration(str_of(value), &ms) < 0)
        return value;
    clock_rfc3339(at, clock_real_us() - ms * 1000);
    return arena_strdup(&r->arena, at);
}

static const char *log_target_of(struct remote *r, int64_t tail)
{
    struct cli_call *call = r->call;
    char lines[32];

    (void)snprintf(lines, sizeof lines, "%lld", (long long)tail);
    const char *target =
        remote_target(r, "/api/v1/logs/sandbox/", call->args[0], "?tailLines=", lines);
    if (target && cli_value(call, "since"))
        target = remote_target(r, arena_printf(&r->arena, "%s&since=", target).p, since(r));
    return target ? arena_printf(&r->arena, "%s&follow=%s&timestamps=%s", target,
                                 cli_is_on(call, "follow") ? "true" : "false",
                                 cli_is_on(call, "timestamps") ? "true" : "false")
                        .p
                  : NULL;
}

static int write_log_out(void *ctx, const char *p, size_t n)
{
    (void)ctx;
    return io_write_all(STDOUT_FILENO, p, n);
}

static int follow_log(struct remote *r, const char *target)
{
    const struct client_transfer t = {.method = "GET", .target = target, .write = write_log_out};
    struct err e = ERR_INIT;
    int code = client_transfer(r->client, &t, &e);

    return code < 0 ? remote_fail(r, code, &e) : CLI_OK;
}

static int run_logs(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    int64_t tail;
    int status = cli_value_int(call, "tail", TAIL_DEFAULT, &tail);

    if (status == CLI_OK && cli_is_on(call, "follow") && cli_is_on(call, "json"))
        return cli_usage(call, "--follow and --json cannot be combined");
    if (status == CLI_OK)
        status = remote_open(&r, call);
    if (status != CLI_OK)
        return status;
    const char *target = log_target_of(&r, tail);
    if (target && cli_is_on(call, "follow"))
        return follow_log(&r, target);
    status = remote_ask(&r, "GET", target, NULL, &doc);
    if (status != CLI_OK)
        return status;
    const struct json *data = json_get(doc, "data");
    if (cli_is_on(call, "json"))
        return cli_put_json(&call->out, data) < 0 ? CLI_FAILED : CLI_OK;
    struct str logs = json_str(json_get(data, "logs"), STR(""));
    (void)buf_add_str(&call->out, logs);
    if (logs.len > 0 && !str_ends(logs, STR("\n")))
        (void)buf_add_char(&call->out, '\n');
    return CLI_OK;
}

static const struct cli_option options[] = {
    {.name = "follow", .letter = 'f', .help = "Keep printing new output until interrupted."},
    {.name = "tail",
     .letter = 'n',
     .arg = "N",
     .help = "Number of lines to show from the end (default 200)."},
    {.name = "since",
     .arg = "TIME",
     .help = "Only lines since a time: 2026-01-27T10:00:00Z, or 10m."},
    {.name = "timestamps", .help = "Prefix every line with its timestamp."},
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_logs = {
    .name = "logs",
    .summary = "Show the output of a sandbox's main process",
    .help = "Shows the standard output and standard error of the main process of a sandbox, "
            "without the output of 'tidepool exec'. The log of a paused sandbox ends where it "
            "was paused; the log of a deleted sandbox remains readable for a while.",
    .args = "NAME",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_logs,
};
