/* SPDX-License-Identifier: MIT */
/* tidepool cp */
#include "cli/verbs.h"

#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cp.h"
#include "cli/tty.h"

/* Removes what a copy left behind that was broken off. */
static void cp_done(struct cp *c)
{
    close_p(&c->fd);
    c->fd = -1;
    if (c->temp)
        (void)unlink(c->temp);
    free(take(c->temp));
}

/* Broken off: nothing half copied is left here, and the service removes its part itself. */
static void on_cp_end(int signo, void *ctx)
{
    struct cp *c = ctx;

    cp_done(c);
    if (c->tar > 0)
        (void)kill(c->tar, SIGTERM);
    if (c->progress.is_on)
        (void)!write(STDERR_FILENO, "\n", 1);
    _exit(128 + signo);
}

static void put_cp_result(struct cli_call *call, const struct cp *c)
{
    struct jw w = jw_to(&call->out);

    jw_object(&w);
    jw_key(&w, "source");
    jw_cstr(&w, call->args[0]);
    jw_key(&w, "destination");
    jw_cstr(&w, call->args[1]);
    jw_key(&w, "bytes"); /* of the archive, when it is a directory */
    jw_int(&w, (int64_t)c->progress.done);
    jw_end(&w);
    (void)buf_add_char(&call->out, '\n');
}

static int run_cp(struct cli_call *call)
{
    struct cp_path from = cp_parse(call->args[0]), to = cp_parse(call->args[1]);
    bool is_upload = to.sandbox.len > 0;
    const struct cp_path *inside = is_upload ? &to : &from;
    struct remote r auto_(remote_done) = {0};

    if (is_upload == (from.sandbox.len > 0))
        return cli_usage(call, "one side must be NAME:PATH, the other a local path");
    int status = remote_open(&r, call);
    if (status != CLI_OK)
        return status;
    struct cp c = {
        .remote = &r,
        .sandbox = arena_str(&r.arena, inside->sandbox).p,
        .inside = inside->path,
        .outside = is_upload ? from.path : to.path,
        .is_quiet = cli_is_on(call, "quiet"),
        .fd = -1,
    };
    (void)signal(SIGPIPE, SIG_IGN);
    (void)tty_on_end(client_loop(r.client), on_cp_end, &c);
    struct err e = ERR_INIT;
    int code = cp_resolve(&c, &e);
    if (code < 0)
        return remote_fail(&r, code, &e);
    status = is_upload ? cp_upload(&c) : cp_download(&c);
    cp_done(&c);
    if (status == CLI_OK && cli_is_on(call, "json"))
        put_cp_result(call, &c);
    return status;
}

static const struct cli_option options[] = {
    {.name = "quiet", .letter = 'q', .help = "Do not show progress."},
    {.name = "json", .help = "Print what was copied as JSON."},
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_cp = {
    .name = "cp",
    .summary = "Copy files to or from a sandbox",
    .help =
        "Copies a file or a directory. One side is NAME:PATH, a path in the sandbox NAME; the "
        "other is a local path, or - for standard input or output. Prefix a local path that "
        "looks like NAME:PATH with ./ to tell them apart. In the sandbox, relative paths start "
        "at its working directory, and ~ is the home directory of its user.\n"
        "\n"
        "If the destination is an existing directory, the copy is placed inside it; otherwise it "
        "gets the destination's name. Copied files belong to the sandbox's user. On a terminal, "
        "progress is shown.",
    .args = "SOURCE DESTINATION",
    .min_args = 2,
    .max_args = 2,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_cp,
};
