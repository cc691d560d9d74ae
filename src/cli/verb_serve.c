/* SPDX-License-Identifier: MIT */
/* tidepool serve */
#include "cli/verbs.h"

#include <unistd.h>

#include "base/log.h"
#include "cli/serve.h"

static int run_serve(struct cli_call *call)
{
    const struct config *c = &call->config;
    struct err e = ERR_INIT;

    log_setup((enum log_level)c->log_level, STDERR_FILENO);
    for (size_t i = 0; i < c->n_notes; i++)
        log_warn("configuration", LOG_S("name", c->notes[i].name), LOG_S("note", c->notes[i].text));
    if (serve_run(c, &e) < 0) {
        log_error("serve", LOG_S("error", err_text(&e)));
        return CLI_FAILED;
    }
    return CLI_OK;
}

const struct cli_verb verb_serve = {
    .name = "serve",
    .summary = "Run the service",
    .help = "Runs the service in the foreground until SIGTERM or SIGINT, then finishes pending "
            "requests. Logs JSON lines to standard error.\n"
            "\n"
            "Every setting can also come from the environment or from a file; 'tidepool config "
            "show' with the same flags shows the settings that would apply.",
    .settings = CLI_ALL_SETTINGS,
    .run = run_serve,
};
