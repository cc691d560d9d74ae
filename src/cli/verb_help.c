/* SPDX-License-Identifier: MIT */
/* tidepool help [VERB] */
#include "cli/verbs.h"

#include <string.h>

static const struct cli_verb *find_help_topic(const struct str name)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        if (str_is(name, cli_verbs[i]->name))
            return cli_verbs[i];
    return NULL;
}

static bool is_help_group(const char *word)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        if (str_is(cli_group(cli_verbs[i]), word))
            return true;
    return false;
}

static int run_help(struct cli_call *call)
{
    struct buf name auto_buf = BUF_INIT(256);

    if (call->n_args == 0) {
        cli_help_overview(&call->out);
        return CLI_OK;
    }
    for (size_t i = 0; i < call->n_args; i++)
        (void)buf_printf(&name, "%s%s", i ? " " : "", call->args[i]);
    const struct cli_verb *verb = find_help_topic(buf_str(&name));
    if (verb)
        cli_help_verb(&call->out, verb);
    else if (call->n_args == 1 && is_help_group(call->args[0]))
        cli_help_group(&call->out, str_of(call->args[0]));
    else
        return cli_usage(call, "unknown verb '" STR_FMT "'", STR_ARG(buf_str(&name)));
    return CLI_OK;
}

const struct cli_verb verb_help = {
    .name = "help",
    .summary = "Show help for the program or a verb",
    .help = "Lists the verbs, or shows the help for VERB, as --help does.",
    .args = "[VERB]",
    .max_args = 2,
    .run = run_help,
};
