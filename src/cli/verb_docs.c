/* SPDX-License-Identifier: MIT */
/* tidepool __man, __completion, __limits, __openapi: what the build and the tests make
 * documentation, completion and checks from. */
#include "cli/verbs.h"

#include <string.h>

#include "api/api.h"
#include "core/limits.h"

static int run_man(struct cli_call *call)
{
    if (call->n_args == 0) {
        cli_man_names(&call->out);
        return CLI_OK;
    }
    if (cli_man_page(&call->out, call->args[0]) < 0)
        return cli_usage(call, "no page '%s'", call->args[0]);
    return CLI_OK;
}

const struct cli_verb verb_man = {
    .name = "__man",
    .summary = "Print a man page as scdoc source",
    .help = "Prints the scdoc source of a man page, or lists the pages if none is given.",
    .args = "[PAGE]",
    .max_args = 1,
    .is_hidden = true,
    .run = run_man,
};

static int run_completion(struct cli_call *call)
{
    if (strcmp(call->args[0], "bash") != 0)
        return cli_usage(call, "no completion for '%s'; only bash is supported", call->args[0]);
    cli_completion_bash(&call->out);
    return CLI_OK;
}

const struct cli_verb verb_completion = {
    .name = "__completion",
    .summary = "Print a completion script",
    .help = "Prints the completion script for a shell.",
    .args = "SHELL",
    .min_args = 1,
    .max_args = 1,
    .is_hidden = true,
    .run = run_completion,
};

static int run_limits(struct cli_call *call)
{
    return limits_document(&call->out) < 0 ? CLI_FAILED : CLI_OK;
}

const struct cli_verb verb_limits = {
    .name = "__limits",
    .summary = "Print the documentation of limits",
    .help = "Prints docs/LIMITS.md, generated from the table of limits.",
    .is_hidden = true,
    .run = run_limits,
};

static int run_openapi(struct cli_call *call)
{
    return api_write_openapi(&call->out) < 0 ? CLI_FAILED : CLI_OK;
}

const struct cli_verb verb_openapi = {
    .name = "__openapi",
    .summary = "Print the OpenAPI document",
    .help = "Prints the document that the service serves as /openapi.json.",
    .is_hidden = true,
    .run = run_openapi,
};
