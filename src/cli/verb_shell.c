/* SPDX-License-Identifier: MIT */
/* tidepool shell */
#include "cli/verbs.h"

#include <errno.h>
#include <unistd.h>

#include "cli/shell.h"

static int run_sandbox_shell(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    struct err e = ERR_INIT;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        (void)err_set(&e, -ENOTTY, "not a terminal; use 'tidepool exec'");
        return cli_fail(call, &e);
    }
    int status = remote_open(&r, call);
    /* Asked for first because a refusal has words, which a refused WebSocket has not. */
    if (status == CLI_OK)
        status =
            remote_ask(&r, "GET", remote_target(&r, "/api/v1/sandbox/", call->args[0]), NULL, &doc);
    return status == CLI_OK ? shell_run(&r, call->args[0]) : status;
}

static const struct cli_option options[] = {REMOTE_OPTIONS, {0}};

const struct cli_verb verb_shell = {
    .name = "shell",
    .summary = "Open a shell in a sandbox",
    .help = "Opens an interactive shell in a sandbox. All input is sent to it, including control "
            "characters, and the terminal size follows the window. Exits with the status of the "
            "shell.",
    .args = "NAME",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_sandbox_shell,
};
