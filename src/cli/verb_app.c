/* SPDX-License-Identifier: MIT */
/* tidepool app check */
#include "cli/verbs.h"

#include <stdlib.h>

#include "apps/check.h"

static void print_finding(void *ctx, const char *text)
{
    struct cli_call *call = ctx;

    (void)buf_printf(&call->out, "  %s\n", text);
}

/* 0 when nothing was found. */
static int check_app(struct cli_call *call, const char *dir)
{
    struct app *app auto_(app_free) = NULL;
    struct err e = ERR_INIT;

    if (app_load(dir, &app, &e) < 0)
        return cli_fail(call, &e);
    struct app_check c = {.app = app, .finding = print_finding, .ctx = call};
    const char *tmp = getenv("TMPDIR");
    if (app_check(&c, tmp ? tmp : "/tmp", &e) < 0)
        return cli_fail(call, &e);
    (void)buf_printf(&call->out, "%s: %zu tools, %u cases, %s\n", app->name, app->n_tools,
                     c.n_cases, c.n_findings ? "not ok" : "ok");
    (void)cli_flush(call);
    return c.n_findings ? CLI_FAILED : CLI_OK;
}

static int run_check(struct cli_call *call)
{
    int status = CLI_OK;

    for (size_t i = 0; i < call->n_args; i++) {
        int one = check_app(call, call->args[i]);
        status = one ? one : status;
    }
    return status;
}

const struct cli_verb verb_app_check = {
    .name = "app check",
    .summary = "Check emulated products",
    .help = "Loads each folder DIR, prepares every statement of its scripts, checks that what it "
            "exports can be imported again, and runs its cases. Prints what is wrong with file "
            "and line, and exits with 1 when anything is.",
    .args = "DIR...",
    .min_args = 1,
    .max_args = 256,
    .run = run_check,
};
