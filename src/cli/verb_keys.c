/* SPDX-License-Identifier: MIT */
/* tidepool keys create, ls, revoke */
#include "cli/verbs.h"

#include "base/cleanup.h"
#include "cli/keys.h"
#include "cli/remote.h"
#include "core/account.h"

static const char *or_default(const char *value, const char *fallback)
{
    return value ? value : fallback;
}

/* ---- create ---- */

static const char *const roles[] = {"user", "system", "grader", "metrics", NULL};

static const struct cli_option create_options[] = {
    {.name = "account",
     .arg = "NAME",
     .help = "Account that owns the key (default: a new one; 'system' for system keys)."},
    {.name = "name", .arg = "LABEL", .help = "Label of the key, shown in lists."},
    {.name = "role",
     .arg = "ROLE",
     .help = "Role of the key: user (default); system; grader, which can only inspect what was "
             "done in the apps of one account; or metrics, which can only read /metrics.",
     .choices = roles},
    {.name = "grades",
     .arg = "ACCOUNT",
     .help = "Account whose apps a grader key can inspect; required with --role grader."},
    {.name = "max-live", .arg = "N", .help = "Maximum live sandboxes; 0 for no limit."},
    {.name = "max-creates",
     .arg = "N",
     .help = "Maximum concurrent create requests; 0 for no limit."},
    {.name = "max-rps", .arg = "N", .help = "Maximum requests per second; 0 for no limit."},
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

static int read_key_limits(const struct cli_call *call, struct keys_create_args *args)
{
    const struct {
        const char *name;
        int64_t fallback, *ret;
    } rows[] = {
        {"max-live", -1, &args->max_live},
        {"max-creates", -1, &args->max_creates},
        {"max-rps", -1, &args->max_rps},
    };
    int r = CLI_OK;

    for (size_t i = 0; r == CLI_OK && i < ARRAY_LEN(rows); i++)
        r = cli_value_int(call, rows[i].name, rows[i].fallback, rows[i].ret);
    return r;
}

static int run_create(struct cli_call *call)
{
    struct keys_create_args args = {
        .account = cli_value(call, "account"),
        .name = cli_value(call, "name"),
        .role = or_default(cli_value(call, "role"), roles[0]),
        .grades = cli_value(call, "grades"),
        .is_json = cli_is_on(call, "json"),
    };
    struct client_where where;
    struct err e = ERR_INIT;
    int r = read_key_limits(call, &args);

    if (r == CLI_OK)
        r = remote_where(call, &where);
    if (r != CLI_OK)
        return r;
    if (account_role_parse(str_of(args.role), &(enum account_role){ACCOUNT_USER}) < 0)
        return cli_usage(call, "--role: expected user, system, grader or metrics, got '%s'",
                         args.role);
    return keys_create(&where, &args, &call->out, &e) < 0 ? cli_fail(call, &e) : CLI_OK;
}

const struct cli_verb verb_keys_create = {
    .name = "keys create",
    .summary = "Create an API key",
    .help = "Creates a key and prints it. Only its hash is stored, so the key cannot be shown "
            "again. A running service accepts it at once.",
    .options = create_options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_create,
};

/* ---- ls ---- */

static const struct cli_option ls_options[] = {
    {.name = "account", .arg = "NAME", .help = "Only keys of this account."},
    {.name = "all", .help = "Include revoked keys."},
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

static int run_keys_ls(struct cli_call *call)
{
    const struct keys_list_args args = {
        .account = cli_value(call, "account"),
        .show_revoked = cli_is_on(call, "all"),
        .is_json = cli_is_on(call, "json"),
    };
    struct client_where where;
    struct err e = ERR_INIT;
    int r = remote_where(call, &where);

    if (r != CLI_OK)
        return r;
    return keys_list(&where, &args, &call->out, &e) < 0 ? cli_fail(call, &e) : CLI_OK;
}

const struct cli_verb verb_keys_ls = {
    .name = "keys ls",
    .summary = "List API keys",
    .help =
        "Lists the id, account, role and label of each key. The keys themselves are not stored.",
    .options = ls_options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_keys_ls,
};

/* ---- revoke ---- */

static int run_revoke(struct cli_call *call)
{
    struct client_where where;
    struct err e = ERR_INIT;
    int r = remote_where(call, &where);

    if (r != CLI_OK)
        return r;
    return keys_revoke(&where, call->args[0], &call->out, &e) < 0 ? cli_fail(call, &e) : CLI_OK;
}

static const struct cli_option revoke_options[] = {REMOTE_OPTIONS, {0}};

const struct cli_verb verb_keys_revoke = {
    .name = "keys revoke",
    .summary = "Revoke an API key",
    .help = "Revokes the key with the given ID, as shown by 'tidepool keys ls'. A running "
            "service rejects it from then on.",
    .args = "ID",
    .min_args = 1,
    .max_args = 1,
    .options = revoke_options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_revoke,
};
