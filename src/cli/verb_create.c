/* SPDX-License-Identifier: MIT */
/* tidepool create */
#include "cli/verbs.h"

#include "base/cleanup.h"
#include "cli/remote.h"
#include "core/sandbox_fields.h"

static int put_seconds(const struct cli_call *call, const char *option, struct jw *w)
{
    int64_t seconds = 0;
    int r = cli_value_seconds(call, option, 0, &seconds);

    jw_int(w, seconds);
    return r;
}

static int put_create_number(const struct cli_call *call, const char *option, struct jw *w)
{
    const char *value = cli_value(call, option);
    int64_t number;

    if (str_to_i64(str_of(value), &number) < 0)
        return cli_usage(call, "--%s: expected a whole number, got '%s'", option, value);
    jw_int(w, number);
    return CLI_OK;
}

static int put_create_member(const struct cli_call *call, const struct sandbox_field *f,
                             struct jw *w)
{
    const char *name = f->names[SANDBOX_FACE_API], *value = cli_value(call, f->option);

    if (f->kind == SANDBOX_STRINGS)
        return remote_put_pairs(call, f->option, name, w);
    if (!value)
        return CLI_OK;
    jw_key(w, name);
    if (f->kind == SANDBOX_NUMBER)
        return put_create_number(call, f->option, w);
    if (f->kind == SANDBOX_SECONDS)
        return put_seconds(call, f->option, w);
    if (f->kind == SANDBOX_FLAG)
        jw_bool(w, cli_is_on(call, f->option));
    else
        jw_cstr(w, value);
    return CLI_OK;
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

static int put_create_request(const struct cli_call *call, struct buf *out)
{
    struct jw w = jw_to(out);
    int r = CLI_OK;

    jw_object(&w);
    for (size_t i = 0; r == CLI_OK && i < sandbox_n_fields; i++)
        if (sandbox_fields[i].option)
            r = put_create_member(call, &sandbox_fields[i], &w);
    put_command(call, &w);
    jw_end(&w);
    return r;
}

static int run_sandbox_create(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct buf body auto_buf = BUF_INIT(4UL << 20);
    struct json *doc = NULL;
    int status = put_create_request(call, &body);

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

/* What the help adds to a field's own. */
#define MORE_NAME    "."
#define MORE_TEXT    "."
#define MORE_AMOUNT  "."
#define MORE_NUMBER  "."
#define MORE_FLAG    "."
#define MORE_SECONDS " (such as 90, 15m or 2h)."
#define MORE_STRINGS " (repeatable)."

#define SANDBOX_OPTION(kind, member, api, store, mcp, title, help_, option, letter_, arg_)         \
    {.name = (option), .letter = (letter_), .arg = (arg_), .help = help_ MORE_##kind},
#define SANDBOX_FIELD(...)
#define SANDBOX_KEPT(...)

static const struct cli_option options[] = {
#include "core/sandbox_fields.def"
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
    .run = run_sandbox_create,
};
