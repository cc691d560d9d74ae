/* SPDX-License-Identifier: MIT */
/* tidepool ls */
#include "cli/verbs.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/human.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/tty.h"

static const struct table_col cols[] = {
    {.title = "NAME", .may_shrink = true},     {.title = "STATUS"},
    {.title = "TEMPLATE", .may_shrink = true}, {.title = "AGE", .is_right = true},
    {.title = "EXPIRES", .is_right = true},    {.title = "CPU", .is_right = true},
    {.title = "MEM", .is_right = true},
};

/* Seconds from now to the time in member NAME, as text; "" without it. */
static struct str listed_span_of(struct remote *r, const struct json *sandbox, const char *name,
                                 int sign)
{
    char text[HUMAN_MAX];
    int64_t at;

    if (human_time(remote_text(r, sandbox, name), &at) < 0)
        return STR("");
    human_span(text, sign * (at - clock_real_us() / 1000000));
    return arena_printf(&r->arena, "%s", text);
}

static void add_ls_row(struct remote *r, struct table *t, const struct json *sandbox)
{
    table_add(t, remote_text(r, sandbox, "name"));
    table_add(t, remote_text(r, sandbox, "status"));
    table_add(t, remote_text(r, sandbox, "template"));
    table_add(t, listed_span_of(r, sandbox, "created_at", -1));
    table_add(t, listed_span_of(r, sandbox, "expires_at", 1));
    table_add(t, remote_text(r, sandbox, "cpu_limit"));
    table_add(t, remote_text(r, sandbox, "memory_limit"));
}

/* True when SANDBOX has all the metadata that the call asks for. */
static bool has_metadata(const struct cli_call *call, const struct json *sandbox)
{
    const struct json *metadata = json_get(sandbox, "metadata");
    const char *pair;

    for (size_t i = 0; (pair = cli_value_at(call, "metadata", i)); i++) {
        struct str value = str_of(pair), key = str_cut(&value, '=');
        const struct json *v = json_get_str(metadata, key);
        if (!v || (value.p && !str_eq(value, json_str(v, STR("")))))
            return false;
    }
    return true;
}

static const char *list_sandboxes_target(struct remote *r)
{
    const char *status = cli_value(r->call, "status"), *template = cli_value(r->call, "template");

    return remote_target(r, "/api/v1/sandbox?state=", status ? status : "",
                         "&template=", template ? template : "");
}

static int show_table(struct remote *r, const struct json *list)
{
    struct table t = table_new(&r->arena, cols, ARRAY_LEN(cols));

    for (size_t i = 0; json_at(list, i); i++)
        add_ls_row(r, &t, json_at(list, i));
    int code = table_write(&t, tty_width(STDOUT_FILENO), &r->call->out);
    return code < 0 ? remote_fail(r, code, &(struct err){0}) : CLI_OK;
}

static int run_sandbox_ls(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    int status = remote_open(&r, call);

    if (status != CLI_OK)
        return status;
    status = remote_ask(&r, "GET", list_sandboxes_target(&r), NULL, &doc);
    if (status != CLI_OK)
        return status;
    const struct json *all = json_get(doc, "data");
    struct json *list = json_new_array(&r.arena);
    for (size_t i = 0; json_at(all, i); i++)
        if (has_metadata(call, json_at(all, i)))
            (void)json_push(&r.arena, list, json_at(all, i));
    if (cli_is_on(call, "json"))
        return cli_put_json(&call->out, list) < 0 ? CLI_FAILED : CLI_OK;
    if (!cli_is_on(call, "quiet"))
        return show_table(&r, list);
    for (size_t i = 0; json_at(list, i); i++)
        (void)buf_printf(&call->out, STR_FMT "\n",
                         STR_ARG(remote_text(&r, json_at(list, i), "name")));
    return CLI_OK;
}

static const char *const statuses[] = {"running", "paused", NULL};

static const struct cli_option options[] = {
    {.name = "status",
     .arg = "STATUS",
     .help = "Only sandboxes in this state.",
     .choices = statuses},
    {.name = "template", .arg = "NAME", .help = "Only sandboxes created from this template."},
    {.name = "metadata",
     .arg = "NAME[=VALUE]",
     .help = "Only sandboxes with this metadata (repeatable)."},
    {.name = "quiet", .letter = 'q', .help = "Print only names."},
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_ls = {
    .name = "ls",
    .summary = "List sandboxes",
    .help = "Lists the sandboxes, newest first, with their template, age, expiry, and CPU and "
            "memory limits.",
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_sandbox_ls,
};
