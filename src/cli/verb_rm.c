/* SPDX-License-Identifier: MIT */
/* tidepool rm */
#include "cli/verbs.h"

#include "cli/remote.h"

/* The names of all sandboxes that the key can see. */
static int all_names(struct remote *r, struct json **ret)
{
    struct json *doc = NULL, *names = json_new_array(&r->arena);
    int status = remote_ask(r, "GET", "/api/v1/sandbox", NULL, &doc);

    const struct json *list = json_get(doc, "data");
    for (size_t i = 0; json_at(list, i); i++)
        (void)json_push(&r->arena, names, json_get(json_at(list, i), "name"));
    *ret = names;
    return status;
}

static int run_sandbox_rm(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    bool is_all = cli_is_on(call, "all");
    struct json *names = NULL;

    if (is_all == (call->n_args > 0))
        return cli_usage(call, is_all ? "names and --all cannot be combined"
                                      : "expected NAME..., or --all");
    int status = remote_open(&r, call);
    if (status == CLI_OK && is_all)
        status = all_names(&r, &names);
    return status == CLI_OK ? remote_each(&r, "DELETE", "/api/v1/sandbox/", names) : status;
}

static const struct cli_option options[] = {
    {.name = "all", .help = "Delete every sandbox that the key may delete."},
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_rm = {
    .name = "rm",
    .summary = "Delete sandboxes",
    .help = "Deletes sandboxes, running or paused, with all their processes and files, and "
            "prints their names. Afterwards the names can be reused.",
    .args = "NAME...",
    .max_args = 4096,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_sandbox_rm,
};
