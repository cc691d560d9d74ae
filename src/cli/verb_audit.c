/* SPDX-License-Identifier: MIT */
/* tidepool audit verify, ls */
#include "cli/verbs.h"

#include "cli/audit.h"
#include "cli/remote.h"

static const struct cli_option verify_options[] = {
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

static int run_audit_verify(struct cli_call *call)
{
    struct client_where where;
    struct err e = ERR_INIT;
    int r = remote_where(call, &where);

    if (r != CLI_OK)
        return r;
    return audit_verify(&where, cli_is_on(call, "json"), &call->out, &e) < 0 ? cli_fail(call, &e)
                                                                             : CLI_OK;
}

const struct cli_verb verb_audit_verify = {
    .name = "audit verify",
    .summary = "Verify the audit chain",
    .help = "Recomputes the hash of every event. If an event was changed, removed or inserted, "
            "reports the first one and exits with 1.",
    .options = verify_options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_audit_verify,
};

enum { DEFAULT_LIMIT = 100 };

static const struct cli_option ls_options[] = {
    {.name = "account", .arg = "NAME", .help = "Only events of this account."},
    {.name = "sandbox", .arg = "ID", .help = "Only events of this sandbox."},
    {.name = "after", .arg = "N", .help = "Only events after this number."},
    {.name = "limit", .arg = "N", .help = "Number of newest events to list (default 100)."},
    {.name = "json", .help = "Print JSON, one object per line."},
    REMOTE_OPTIONS,
    {0},
};

static int run_audit_ls(struct cli_call *call)
{
    struct audit_list_args args = {
        .account = cli_value(call, "account"),
        .sandbox = cli_value(call, "sandbox"),
        .is_json = cli_is_on(call, "json"),
    };
    struct client_where where;
    struct err e = ERR_INIT;
    int r = cli_value_int(call, "after", 0, &args.after);

    if (r == CLI_OK)
        r = cli_value_int(call, "limit", DEFAULT_LIMIT, &args.limit);
    if (r == CLI_OK)
        r = remote_where(call, &where);
    if (r != CLI_OK)
        return r;
    return audit_list(&where, &args, &call->out, &e) < 0 ? cli_fail(call, &e) : CLI_OK;
}

const struct cli_verb verb_audit_ls = {
    .name = "audit ls",
    .summary = "List audit events",
    .help = "Lists the newest events, oldest first.",
    .options = ls_options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_audit_ls,
};
