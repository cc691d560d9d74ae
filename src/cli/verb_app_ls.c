/* SPDX-License-Identifier: MIT */
/* tidepool app ls, show and new: the apps of this installation. */
#include "cli/verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/catalog/registry.h"
#include "apps/catalog/skeleton.h"
#include "apps/check/check.h"
#include "apps/engine/engine.h"
#include "base/cleanup.h"
#include "cli/remote.h"
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

/* Those that come with the program were checked before. */
static bool is_own_app(const struct config *config, const struct app *app)
{
    char own[PATH_MAX];

    (void)snprintf(own, sizeof own, "%s/" INSTANCES_OWN "/", config->state);
    return str_starts(str_of(app->dir), str_of(own));
}

struct app_fault {
    struct arena *arena;
    struct str text; /* the first finding */
};

static void note_app_fault(void *ctx, const char *text)
{
    struct app_fault *f = ctx;

    if (!f->text.p)
        f->text = arena_str(f->arena, str_of(text));
}

/* What is wrong with it; STR_NULL when nothing is. */
static struct str check_listed_app(struct arena *a, const struct app *app)
{
    struct app_fault f = {.arena = a};
    struct app_check c = {.app = app, .finding = note_app_fault, .ctx = &f};
    const char *tmp = getenv("TMPDIR");
    struct err e = ERR_INIT;

    if (app_check(&c, tmp ? tmp : "/tmp", &e) < 0)
        note_app_fault(&f, err_text(&e));
    return f.text;
}

static void add_app_row(struct table *t, const struct config *config, struct app_registry *r,
                        const char *name)
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
    struct str fault =
        x && is_own_app(config, x->app) ? check_listed_app(t->arena, x->app) : STR_NULL;
    if (fault.p)
        table_add(t, fault);
    else
        table_add(t, x ? STR("ok") : str_of(err_text(&e)));
}

static void add_app_answer(struct table *t, struct remote *r, const struct json *app)
{
    struct str error = remote_text(r, app, "error");

    table_add(t, remote_text(r, app, "name"));
    table_add(t, remote_text(r, app, "title"));
    table_add(t, remote_text(r, app, "tools"));
    table_add(t, json_bool(json_get(app, "data"), false) ? STR("yes") : STR(""));
    table_add(t, error.len > 0 ? error : STR("ok"));
}

static int put_app_table(struct cli_call *call, struct table *t)
{
    struct err e = ERR_INIT;
    int code = table_write(t, tty_width(STDOUT_FILENO), &call->out);

    if (code < 0)
        (void)err_sys(&e, code, "table");
    return code < 0 ? cli_fail(call, &e) : CLI_OK;
}

static int ls_there(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    int status = remote_open(&r, call);

    if (status == CLI_OK)
        status = remote_ask(&r, "GET", "/api/v1/apps", NULL, &doc);
    if (status != CLI_OK)
        return status;
    struct table t = table_new(&r.arena, cols, ARRAY_LEN(cols));
    for (size_t i = 0; json_at(json_get(doc, "data"), i); i++)
        add_app_answer(&t, &r, json_at(json_get(doc, "data"), i));
    return put_app_table(call, &t);
}

static int run_app_ls(struct cli_call *call)
{
    struct client_where where;
    int status = remote_where(call, &where);
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    struct app_registry *r auto_(app_registry_free) = instances_registry(&call->config, &e);
    size_t n = 0;

    arena_init(&a, LIST_MAX);
    if (status != CLI_OK || where.url)
        return status != CLI_OK ? status : ls_there(call);
    const char **names = r ? app_registry_names(r, &a, &n) : NULL;
    if (!names) {
        if (!e.code)
            (void)err_sys(&e, -ENOMEM, "apps");
        return cli_fail(call, &e);
    }
    struct table t = table_new(&a, cols, ARRAY_LEN(cols));
    for (size_t i = 0; i < n; i++)
        add_app_row(&t, &call->config, r, names[i]);
    return put_app_table(call, &t);
}

static const struct cli_option app_options[] = {REMOTE_OPTIONS, {0}};

const struct cli_verb verb_app_ls = {
    .name = "app ls",
    .summary = "List apps",
    .help = "Lists the installed apps: those that ship with Tidepool (apps.dir) and your own, in "
            "apps/own of the state directory, which take precedence and are checked. With --url, "
            "lists the apps of that service.",
    .options = app_options,
    .settings = app_settings,
    .run = run_app_ls,
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
                         app->tools[i].is_read_only ? " (read-only)" : "",
                         app->tools[i].description);
}

static void put_answer(struct remote *r, const struct json *app)
{
    static const char *const names[] = {"name", "title", "group", "engine", "folder", "version"};
    const struct json *tools = json_get(app, "tools");
    struct buf *out = &r->call->out;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)buf_printf(out, "%-7s  " STR_FMT "\n", names[i],
                         STR_ARG(remote_text(r, app, names[i])));
    (void)buf_printf(out, "data     %s\ntools    %zu\n\n",
                     json_bool(json_get(app, "data"), false) ? "initialize and dump" : "none",
                     tools ? (size_t)tools->n : 0);
    for (size_t i = 0; json_at(tools, i); i++)
        (void)buf_printf(out, STR_FMT "%s\n    " STR_FMT "\n",
                         STR_ARG(remote_text(r, json_at(tools, i), "name")),
                         json_bool(json_get(json_at(tools, i), "readOnly"), false) ? " (read-only)"
                                                                                   : "",
                         STR_ARG(remote_text(r, json_at(tools, i), "description")));
}

static int show_there(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    int status = remote_open(&r, call);

    if (status == CLI_OK)
        status = remote_ask(&r, "GET",
                            remote_target(&r, "/api/v1/apps/", call->args[0],
                                          "?benchmark=", call->n_args > 1 ? call->args[1] : ""),
                            NULL, &doc);
    if (status == CLI_OK)
        put_answer(&r, json_get(doc, "data"));
    return status;
}

static int run_app_show(struct cli_call *call)
{
    struct client_where where;
    int status = remote_where(call, &where);

    if (status != CLI_OK || where.url)
        return status != CLI_OK ? status : show_there(call);
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
    .summary = "Show the details and tools of an app",
    .help = "Shows where the app NAME is installed and its tools. With BENCHMARK, shows the "
            "tools of the app's variant for that benchmark, if it has one.",
    .args = "NAME [BENCHMARK]",
    .min_args = 1,
    .max_args = 2,
    .options = app_options,
    .settings = app_settings,
    .run = run_app_show,
};

/* ---- new ---- */

/* Asks the service to make it, where there is one. */
static int new_there(const struct client_where *where, const char *name, char dir[PATH_MAX],
                     struct err *e)
{
    struct arena arena auto_arena;
    struct buf body auto_buf = BUF_INIT(4096);
    struct jw w = jw_to(&body);
    struct json *data = NULL;

    arena_init(&arena, LIST_MAX);
    jw_object(&w);
    jw_key(&w, "name");
    jw_cstr(&w, name);
    jw_end(&w);
    const struct client_request rq = {"POST", "/api/v1/apps", buf_str(&body)};
    int r = buf_ok(&body) ? client_ask(where, &arena, &rq, &data, e) : err_sys(e, -E2BIG, "name");
    if (r == 0)
        (void)snprintf(dir, PATH_MAX, STR_FMT,
                       STR_ARG(json_str(json_get(data, "folder"), STR("/?"))));
    return r;
}

/* In the state directory of a service that is stopped. */
static int new_alone(const struct client_where *where, const char *name, char dir[PATH_MAX],
                     struct err *e)
{
    int r = client_may_go_alone(where, e);

    (void)snprintf(dir, PATH_MAX, "%s/" INSTANCES_OWN "/%s", where->config->state, name);
    return r < 0 ? r : app_skeleton_write(dir, e);
}

static int run_new(struct cli_call *call)
{
    const char *name = call->args[0];
    struct client_where where;
    char dir[PATH_MAX];
    struct err e = ERR_INIT;
    int r;

    if (strchr(name, '/')) {
        (void)snprintf(dir, sizeof dir, "%s", name);
        r = app_skeleton_write(dir, &e);
    } else {
        int status = remote_where(call, &where);
        if (status != CLI_OK)
            return status;
        r = new_there(&where, name, dir, &e);
        if (r == -ENOTCONN)
            r = new_alone(&where, name, dir, &e);
    }
    if (r < 0)
        return cli_fail(call, &e);
    (void)buf_printf(&call->out,
                     "%s\n\nCheck it with: tidepool app check %s\n"
                     "Acquire it with: POST /sandbox/%s\n",
                     dir, dir, strrchr(dir, '/') + 1);
    return CLI_OK;
}

const struct cli_verb verb_app_new = {
    .name = "app new",
    .summary = "Create an app of your own",
    .help = "Creates a small working app: tables, three tools, data and test cases. NAME becomes "
            "a directory in apps/own of the state directory, where a running service finds it at "
            "once; a NAME with a slash is any other directory.\n"
            "\n"
            "An app consists of data files; docs/APPS.md describes them.",
    .args = "NAME",
    .min_args = 1,
    .max_args = 1,
    .options = app_options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_new,
};
