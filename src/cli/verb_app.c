/* SPDX-License-Identifier: MIT */
/* tidepool app check */
#include "cli/verbs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/check/check.h"

static void print_finding(void *ctx, const char *text)
{
    struct cli_call *call = ctx;

    (void)buf_printf(&call->out, "  %s\n", text);
}

/* 0 when nothing was found. */
static int check_named_app(struct cli_call *call, const struct app *app)
{
    struct err e = ERR_INIT;
    struct app_check c = {.app = app, .finding = print_finding, .ctx = call};
    const char *tmp = getenv("TMPDIR");

    if (app_check(&c, tmp ? tmp : "/tmp", &e) < 0)
        return cli_fail(call, &e);
    (void)buf_printf(&call->out, "%s%s%s: %zu tools, %u cases, %s\n", app->name,
                     app->variant ? "/" : "", app->variant ? app->variant : "", app->n_tools,
                     c.n_cases, c.n_findings ? "not ok" : "ok");
    (void)cli_flush(call);
    return c.n_findings ? CLI_FAILED : CLI_OK;
}

/* The first benchmark of those with one variant. */
static bool is_first(const struct json *benchmarks, size_t i)
{
    struct str variant = json_str(&benchmarks->members[i].value, STR(""));

    for (size_t k = 0; k < i; k++) {
        if (str_eq(json_str(&benchmarks->members[k].value, STR("")), variant))
            return false;
    }
    return true;
}

static int check_app(struct cli_call *call, const char *dir)
{
    struct app *app auto_(app_free) = NULL;
    struct err e = ERR_INIT;
    char path[PATH_MAX];

    if (app_load(dir, &app, &e) < 0)
        return cli_fail(call, &e);
    int status = check_named_app(call, app);
    const struct json *benchmarks = app->variant ? NULL : app->benchmarks;
    for (size_t i = 0; benchmarks && i < benchmarks->n; i++) {
        const char *variant = json_str(&benchmarks->members[i].value, STR("")).p;
        if (!is_first(benchmarks, i))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", app->dir, variant);
        int one = check_app(call, path);
        status = one ? one : status;
    }
    return status;
}

static int run_app_check(struct cli_call *call)
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
    .summary = "Check apps",
    .help = "Loads each app in DIR with its variants, compiles every SQL statement, checks that "
            "an export can be imported again, and runs the app's test cases. Prints each problem "
            "with its file and line, and exits with 1 if there were any.",
    .args = "DIR...",
    .min_args = 1,
    .max_args = 256,
    .run = run_app_check,
};
