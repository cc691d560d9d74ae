/* SPDX-License-Identifier: MIT */
/* tidepool app ls, show and new: the apps of this installation. */
#include "cli/verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps/engine.h"
#include "apps/registry.h"
#include "base/cleanup.h"
#include "cli/app_skeleton.h"
#include "cli/table.h"
#include "cli/tty.h"
#include "core/instance_set.h"

enum { LIST_MAX = 16 << 20 };

DEFINE_CLEANUP(struct app_registry *, app_registry_free)

/* Where the apps are can be named as for the service. */
static const char *const app_settings[] = {"state", "config", "data", NULL};

/* ---- ls ---- */

static const struct table_col cols[] = {
    {.title = "NAME"}, {.title = "TITLE", .may_shrink = true}, {.title = "TOOLS", .is_right = true},
    {.title = "DATA"}, {.title = "STATE", .may_shrink = true},
};

static void add_row(struct table *t, struct app_registry *r, const char *name)
{
    struct err e = ERR_INIT;
    struct app_entry *x auto_(app_entry_unref) = app_registry_get(r, str_of(name), &e);

    table_add(t, str_of(name));
    table_add(t, x ? str_of(x->app->title) : STR(""));
    if (x)
        table_addf(t, "%zu", x->app->n_tools);
    else
        table_add(t, STR(""));
    table_add(t, x && x->app->import ? STR("yes") : STR(""));
    table_add(t, x ? STR("ok") : str_of(err_text(&e)));
}

static int run_ls(struct cli_call *call)
{
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    struct app_registry *r auto_(app_registry_free) = instances_registry(&call->config, &e);
    size_t n = 0;

    arena_init(&a, LIST_MAX);
    const char **names = r ? app_registry_names(r, &a, &n) : NULL;
    if (!names) {
        if (!e.code)
            (void)err_sys(&e, -ENOMEM, "apps");
        return cli_fail(call, &e);
    }
    struct table t = table_new(&a, cols, ARRAY_LEN(cols));
    for (size_t i = 0; i < n; i++)
        add_row(&t, r, names[i]);
    int code = table_write(&t, tty_width(STDOUT_FILENO), &call->out);
    if (code < 0)
        (void)err_sys(&e, code, "table");
    return code < 0 ? cli_fail(call, &e) : CLI_OK;
}

const struct cli_verb verb_app_ls = {
    .name = "app ls",
    .summary = "List emulated products",
    .help = "Lists the apps of this installation: those that come with the program (apps.dir), "
            "and the folders in apps/own of the state directory, which come first.",
    .settings = app_settings,
    .run = run_ls,
};

/* ---- show ---- */

static void put_app(struct buf *out, const struct app_entry *x)
{
    const struct app *app = x->app;

    (void)buf_printf(out, "name     %s\ntitle    %s\ngroup    %s\nengine   %s\nfolder   %s\n",
                     app->name, app->title, app->group ? app->group : "-", app->engine->name,
                     app->dir);
    (void)buf_printf(out, "version  %s\ndata     %s\ntools    %zu\n\n", x->digest,
                     app->import ? "initialize and dump" : "none", app->n_tools);
    for (size_t i = 0; i < app->n_tools; i++)
        (void)buf_printf(out, "%s%s\n    %s\n", app->tools[i].name,
                         app->tools[i].is_read_only ? " (only reads)" : "",
                         app->tools[i].description);
}

static int run_show(struct cli_call *call)
{
    struct err e = ERR_INIT;
    struct app_registry *r auto_(app_registry_free) = instances_registry(&call->config, &e);
    struct app_entry *x auto_(app_entry_unref) =
        r ? app_registry_get_for(r, str_of(call->args[0]),
                                 call->n_args > 1 ? str_of(call->args[1]) : STR(""), &e)
          : NULL;

    if (!x)
        return cli_fail(call, &e);
    put_app(&call->out, x);
    return CLI_OK;
}

const struct cli_verb verb_app_show = {
    .name = "app show",
    .summary = "Show an emulated product and its tools",
    .help = "Tells where the app NAME is, and which tools it has: for BENCHMARK those of its "
            "variant, if it has one.",
    .args = "NAME [BENCHMARK]",
    .min_args = 1,
    .max_args = 2,
    .settings = app_settings,
    .run = run_show,
};

/* ---- new ---- */

static int run_new(struct cli_call *call)
{
    const char *name = call->args[0];
    char dir[PATH_MAX];
    struct err e = ERR_INIT;

    if (strchr(name, '/'))
        (void)snprintf(dir, sizeof dir, "%s", name);
    else
        (void)snprintf(dir, sizeof dir, "%s/" INSTANCES_OWN "/%s", call->config.state, name);
    if (app_skeleton_write(dir, &e) < 0)
        return cli_fail(call, &e);
    (void)buf_printf(&call->out,
                     "%s\n\nCheck it with: tidepool app check %s\n"
                     "Acquire it with: POST /sandbox/%s\n",
                     dir, dir, strrchr(dir, '/') + 1);
    return CLI_OK;
}

const struct cli_verb verb_app_new = {
    .name = "app new",
    .summary = "Begin an emulated product of your own",
    .help = "Writes a small app that works: tables, three tools, data, cases. NAME is a folder in "
            "apps/own of the state directory, where a running service finds it at once; with a "
            "slash in it, any folder.\n\n"
            "An app is data: docs/APPS.md tells what its files hold.",
    .args = "NAME",
    .min_args = 1,
    .max_args = 1,
    .settings = CLI_STATE_SETTINGS,
    .run = run_new,
};
