/* SPDX-License-Identifier: MIT */
/* tidepool create */
#include "cli/verbs.h"

#include "base/cleanup.h"
#include "cli/remote.h"

enum kind { TEXT, NUMBER, SECONDS, SWITCH };

/* Options that become members of the request as they are. */
static const struct {
    const char *option, *member;
    enum kind kind;
} members[] = {
    {"name", "name", TEXT},
    {"template", "template", TEXT},
    {"image", "image", TEXT},
    {"timeout", "timeout", SECONDS},
    {"idle-timeout", "idle_timeout", SECONDS},
    {"cpu", "cpu_limit", TEXT},
    {"memory", "memory_limit", TEXT},
    {"disk", "disk", TEXT},
    {"pids", "pids", NUMBER},
    {"port", "port", NUMBER},
    {"workdir", "workdir", TEXT},
    {"app", "app", TEXT},
    {"auto-pause", "autoPause", SWITCH},
    {"auto-resume", "autoResume", SWITCH},
};

static int put_seconds(const struct cli_call *call, const char *option, struct jw *w)
{
    int64_t seconds = 0;
    int r = cli_value_seconds(call, option, 0, &seconds);

    jw_int(w, seconds);
    return r;
}

static int put_number(const struct cli_call *call, const char *option, struct jw *w)
{
    const char *value = cli_value(call, option);
    int64_t number;

    if (str_to_i64(str_of(value), &number) < 0)
        return cli_usage(call, "--%s: expected a whole number, got '%s'", option, value);
    jw_int(w, number);
    return CLI_OK;
}

static int put_members(const struct cli_call *call, struct jw *w)
{
    int r = CLI_OK;

    for (size_t i = 0; r == CLI_OK && i < ARRAY_LEN(members); i++) {
        const char *value = cli_value(call, members[i].option);
        if (!value)
            continue;
        jw_key(w, members[i].member);
        if (members[i].kind == NUMBER)
            r = put_number(call, members[i].option, w);
        else if (members[i].kind == SECONDS)
            r = put_seconds(call, members[i].option, w);
        else if (members[i].kind == SWITCH)
            jw_bool(w, cli_is_on(call, members[i].option));
        else
            jw_cstr(w, value);
    }
    return r;
}

/* The main process, when the call names one. */
static void put_command(const struct cli_call *call, struct jw *w)
{
    if (call->n_args == 0)
        return;
    jw_key(w, "cmd");
    jw_cstr(w, call->args[0]);
    jw_key(w, "args");
    jw_array(w);
    for (size_t i = 1; i < call->n_args; i++)
        jw_cstr(w, call->args[i]);
    jw_end(w);
}

static int put_request(const struct cli_call *call, struct buf *out)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    int r = put_members(call, &w);
    if (r == CLI_OK)
        r = remote_put_pairs(call, "env", "envVars", &w);
    if (r == CLI_OK)
        r = remote_put_pairs(call, "metadata", "metadata", &w);
    put_command(call, &w);
    jw_end(&w);
    return r;
}

static int run(struct cli_call *call)
{
    struct remote r auto_remote = {0};
    struct buf body auto_buf = BUF_INIT(4UL << 20);
    struct json *doc = NULL;
    int status = put_request(call, &body);

    if (status == CLI_OK)
        status = remote_open(&r, call);
    if (status == CLI_OK)
        status = remote_ask(&r, "POST", "/api/v1/sandbox", &body, &doc);
    if (status != CLI_OK)
        return status;
    const struct json *sandbox = json_get(doc, "sandbox");
    if (cli_is_on(call, "json"))
        (void)cli_put_json(&call->out, sandbox);
    else
        (void)buf_printf(&call->out, STR_FMT "\n", STR_ARG(remote_text(&r, sandbox, "name")));
    return CLI_OK;
}

static const struct cli_option options[] = {
    {.name = "name", .arg = "NAME", .help = "Name of the sandbox (default: generated)."},
    {.name = "template", .arg = "NAME", .help = "Template to create it from."},
    {.name = "image", .arg = "IMAGE", .help = "Image to use instead of the template's."},
    {.name = "env",
     .letter = 'e',
     .arg = "NAME=VALUE",
     .help = "Environment variable for every process in it (repeatable)."},
    {.name = "metadata", .arg = "NAME=VALUE", .help = "Metadata to find it by (repeatable)."},
    {.name = "timeout", .arg = "TIME", .help = "Lifetime, such as 90, 15m or 2h; -1 for no limit."},
    {.name = "idle-timeout", .arg = "TIME", .help = "Lifetime without any activity."},
    {.name = "auto-pause", .help = "Pause it when its timeout expires, instead of deleting it."},
    {.name = "auto-resume", .help = "Resume it automatically when it is used."},
    {.name = "cpu",
     .arg = "QUANTITY",
     .help = "CPU limit, such as 500m or 2 (capped at the host's)."},
    {.name = "memory",
     .arg = "QUANTITY",
     .help = "Memory limit, such as 512Mi or 2Gi; at most the host's."},
    {.name = "disk", .arg = "QUANTITY", .help = "Disk limit, such as 5Gi."},
    {.name = "pids", .arg = "N", .help = "Maximum number of processes and threads."},
    {.name = "port", .arg = "PORT", .help = "Port that its address leads to (default 8080)."},
    {.name = "workdir", .arg = "PATH", .help = "Working directory of its commands."},
    {.name = "app", .arg = "LABEL", .help = "Description, as free text."},
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_create = {
    .name = "create",
    .summary = "Create a sandbox",
    .help = "Creates a sandbox and prints its name once it is running. COMMAND becomes its main "
            "process; 'tidepool logs' shows its output.",
    .args = "[COMMAND [ARGUMENT]...]",
    .max_args = 4096,
    .rest_at = 1,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run,
};
