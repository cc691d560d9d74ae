/* SPDX-License-Identifier: MIT */
/* tidepool pause, resume */
#include "cli/verbs.h"

#include "cli/remote.h"

static const struct cli_option options[] = {REMOTE_JSON, REMOTE_OPTIONS, {0}};

static int run_for_each(struct cli_call *call, const char *prefix)
{
    struct remote r auto_(remote_done) = {0};
    int status = remote_open(&r, call);

    return status == CLI_OK ? remote_each(&r, "POST", prefix, NULL) : status;
}

static int run_pause(struct cli_call *call)
{
    return run_for_each(call, "/api/v1/sandbox/pause/");
}

const struct cli_verb verb_pause = {
    .name = "pause",
    .summary = "Pause sandboxes",
    .help = "Pauses sandboxes and prints their names. Their processes are frozen and keep their "
            "memory, files and connections; their timeout stops counting.",
    .args = "NAME...",
    .min_args = 1,
    .max_args = 4096,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_pause,
};

static int run_resume(struct cli_call *call)
{
    return run_for_each(call, "/api/v1/sandbox/resume/");
}

const struct cli_verb verb_resume = {
    .name = "resume",
    .summary = "Resume paused sandboxes",
    .help = "Resumes paused sandboxes and prints their names. Their processes continue where "
            "they stopped, and their timeout starts again.",
    .args = "NAME...",
    .min_args = 1,
    .max_args = 4096,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_resume,
};
