/* SPDX-License-Identifier: MIT */
/* Steps of builds: see build_step.h. */
#include "core/build_step.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "core/build_internal.h"
#include "core/sandbox.h"
#include "runtime/engine.h"

enum { ARGV_MAX = 12, SHOWN_MAX = 200, READY_S = 300 };

#define ARCHIVE "/tmp/.tidepool-copy.tar.gz"

/* ---- words ---- */

static struct str arg_of(const struct json *step, size_t i)
{
    const struct json *args = json_get(step, "args");

    return json_is(args, JSON_ARRAY) && i < args->n ? args->items[i].s : STR("");
}

/* NULL without memory. It is valid until the next step. */
static const char *step_text_of(struct build_run *run, struct str s)
{
    return arena_str(&run->scratch, s).p;
}

void build_step_log(struct build_run *run, size_t i, bool is_cached)
{
    const struct json *step = &run->steps->items[i];
    struct str first = arg_of(step, 0), second = arg_of(step, 1);
    struct str type = json_str(json_get(step, "type"), STR("?"));
    bool has_two = str_is(type, "COPY") || str_is(type, "ENV");
    struct str line = arena_printf(
        &run->arena, "%s[%zu/%zu] " STR_FMT " " STR_FMT "%s" STR_FMT, is_cached ? "CACHED " : "",
        i + 1, (size_t)run->steps->n, STR_ARG(type), STR_ARG(str_slice(first, 0, SHOWN_MAX)),
        has_two ? " " : "", STR_ARG(str_slice(has_two ? second : STR(""), 0, SHOWN_MAX)));

    build_log(run->build, (int)i + 1, false, line);
}

/* ---- commands ---- */

/* NAME=value of what ENV steps have set. */
static const char *const *make_step_env(struct build_run *run)
{
    const char **out = arena_zalloc(&run->scratch, run->env->n + 1, sizeof *out);

    for (size_t i = 0; out && i < run->env->n; i++) {
        const struct json_member *m = &run->env->members[i];
        out[i] = arena_printf(&run->scratch, STR_FMT "=" STR_FMT, STR_ARG(m->key),
                              STR_ARG(json_str(&m->value, STR(""))))
                     .p;
        if (!out[i])
            return NULL;
    }
    return out;
}

struct step_command {
    struct str user;
    const char *cwd; /* NULL: the workdir */
    size_t n;        /* words: one that is NULL before that was one too many for the memory */
    const char *argv[ARGV_MAX];
    int64_t timeout_ms;
    engine_run_fn *fn;
};

static int run_step_command(struct build_run *run, const struct step_command *c, struct err *e)
{
    struct engine_run how = {.user = step_text_of(run, c->user),
                             .cwd = c->cwd ? c->cwd : step_text_of(run, run->workdir),
                             .argv = c->argv,
                             .env = make_step_env(run),
                             .timeout_ms = (uint32_t)c->timeout_ms};

    bool has_all = how.user && how.cwd && how.env;
    for (size_t i = 0; i < c->n; i++)
        has_all = has_all && c->argv[i];
    if (!has_all)
        return err_set(e, -ENOMEM, "the step and its environment are too large");
    if (!run->sb->cell)
        return err_set(e, -ECONNRESET, "the sandbox of the build is gone");
    return engine_cell_run(run->sb->cell, &how, c->fn, run, e);
}

static struct str last_output_line(struct str text)
{
    while (text.len > 0 && (text.p[text.len - 1] == '\n' || text.p[text.len - 1] == ' '))
        text.len--;
    for (ptrdiff_t at; (at = str_chr(text, '\n')) >= 0;)
        text = str_skip(text, (size_t)at + 1);
    return str_slice(text, 0, SHOWN_MAX);
}

/* What a command left: its output goes to the log; E says how it failed. */
static void read_result(struct build_run *run, int step, const struct engine_result *r,
                        struct err *e)
{
    build_log(run->build, step, false, r->out);
    build_log(run->build, step, r->status != 0, r->err);
    struct str said = last_output_line(r->err.len > 0 ? r->err : r->out);
    if (r->is_timed_out)
        (void)err_set(e, -ETIMEDOUT, "the command did not end in time");
    else if (WIFSIGNALED(r->status))
        (void)err_set(e, -EIO, "the command was ended by signal %d", WTERMSIG(r->status));
    else if (r->status != 0)
        (void)err_set(e, -EIO, "the command exited with status %d%s" STR_FMT,
                      WEXITSTATUS(r->status), said.len > 0 ? ": " : "", STR_ARG(said));
}

static void on_step_ended(void *ctx, const struct engine_result *r, const struct err *why)
{
    struct build_run *run = ctx;
    struct err e = ERR_INIT;

    if (r)
        read_result(run, (int)run->at + 1, r, &e);
    else
        e = *why;
    build_step_done(run, e.code ? &e : NULL);
}

/* ---- kinds of steps: 0 when a command was started, 1 when it is done, -errno ---- */

static int run_run(struct build_run *run, const struct json *step, struct err *e)
{
    struct str user = arg_of(step, 1);
    struct step_command c = {.user = user.len > 0 ? user : run->user,
                             .n = 4,
                             .argv = {"/bin/bash", "-l", "-c", step_text_of(run, arg_of(step, 0))},
                             .timeout_ms = BUILD_STEP_MS,
                             .fn = on_step_ended};

    /* Not every image has bash. */
    if (run->base && !run->base->args.is_on_default) {
        c.argv[0] = "/bin/sh";
        c.argv[1] = "-c";
        c.argv[2] = c.argv[3];
        c.argv[3] = NULL;
        c.n = 3;
    }
    return run_step_command(run, &c, e);
}

static int run_env(struct build_run *run, const struct json *step, struct err *e)
{
    const struct json *args = json_get(step, "args");

    for (size_t i = 0; json_is(args, JSON_ARRAY) && i + 1 < args->n; i += 2) {
        struct str name = args->items[i].s;
        if (name.len == 0 || str_chr(name, '=') >= 0)
            return err_set(e, -EINVAL, "\"" STR_FMT "\" is not a valid environment variable",
                           STR_ARG(str_slice(name, 0, 100)));
        if (json_set_str(&run->arena, run->env, name, &args->items[i + 1]) < 0)
            return err_sys(e, -ENOMEM, "build");
    }
    return 1;
}

static struct str full_path(struct build_run *run, struct str path)
{
    if (path.len > 0 && path.p[0] == '/')
        return arena_str(&run->arena, path);
    bool is_root = str_is(run->workdir, "/");
    return arena_printf(&run->arena, STR_FMT "%s" STR_FMT, STR_ARG(run->workdir),
                        is_root ? "" : "/", STR_ARG(path));
}

static int run_workdir(struct build_run *run, const struct json *step, struct err *e)
{
    struct str path = full_path(run, arg_of(step, 0));
    const struct step_command c = {
        .user = STR("root"),
        .cwd = "/",
        .n = 6,
        .argv = {"/bin/sh", "-c", "[ -d \"$1\" ] || { mkdir -p \"$1\" && chown \"$2\" \"$1\"; }",
                 "sh", step_text_of(run, path), step_text_of(run, run->user)},
        .timeout_ms = BUILD_STEP_MS,
        .fn = on_step_ended};

    run->workdir = path;
    return run_step_command(run, &c, e);
}

static int run_user(struct build_run *run, const struct json *step, struct err *e)
{
    struct str user = arg_of(step, 0);
    const struct step_command c = {
        .user = STR("root"),
        .cwd = "/",
        .n = 5,
        .argv = {"/bin/sh", "-c", "id -u -- \"$1\" > /dev/null", "sh", step_text_of(run, user)},
        .timeout_ms = BUILD_STEP_MS,
        .fn = on_step_ended};

    run->user = arena_str(&run->arena, user);
    return run_step_command(run, &c, e);
}

/* Unpacks the archive and puts what SRC ($1) names in it to DEST ($2), for OWNER ($3) with MODE
 * ($4). A directory's contents are copied, as are several files, into DEST; one file becomes DEST,
 * unless that is a directory or ends with a slash. */
static const char copy_script[] =
    "set -e\n"
    "box=$(mktemp -d /tmp/.tidepool-copy-XXXXXX)\n"
    "trap 'rm -rf \"$box\" " ARCHIVE "' EXIT\n"
    "tar -xf " ARCHIVE " -C \"$box\" --no-same-owner 2>/dev/null || tar -xzf " ARCHIVE
    " -C \"$box\"\n"
    "[ -z \"$3\" ] || chown -R \"$3\" \"$box\"\n"
    "[ -z \"$4\" ] || chmod -R \"$4\" \"$box\"\n"
    "[ -z \"$4\" ] || find \"$box\" -type d -exec chmod u+rwx {} +\n"
    "src=${1#./}; src=${src%/}; dest=$2\n"
    "make() { [ -d \"$1\" ] || { mkdir -p \"$1\" && { [ -z \"$owner\" ] || chown \"$owner\" "
    "\"$1\"; }; }; }\n"
    "owner=$3\n"
    "cd \"$box\"\n"
    "if [ -z \"$src\" ] || [ \"$src\" = . ]; then make \"$dest\"; cp -a ./. \"$dest\"; exit; fi\n"
    "IFS=\n"
    "set -- $src\n"
    "[ -e \"$1\" ] || [ -L \"$1\" ] || { echo \"no files match $src\" >&2; exit 1; }\n"
    "if [ $# -eq 1 ] && [ -d \"$1\" ] && [ ! -L \"$1\" ]; then\n"
    "  make \"$dest\"; cp -a \"$1\"/. \"$dest\"; exit\n"
    "fi\n"
    "case $dest in */) make \"$dest\" ;; esac\n"
    "if [ $# -gt 1 ] || [ -d \"$dest\" ]; then make \"$dest\"; cp -a \"$@\" \"$dest\"; exit; fi\n"
    "make \"$(dirname \"$dest\")\"\n"
    "cp -a \"$1\" \"$dest\"\n";

static void on_files_sent(void *ctx, const struct err *why)
{
    struct build_run *run = ctx;
    const struct json *step = &run->steps->items[run->at];
    struct str user = arg_of(step, 2), dest = full_path(run, arg_of(step, 1));
    const struct step_command c = {
        .user = STR("root"),
        .cwd = "/",
        .n = 8,
        .argv = {"/bin/sh", "-c", copy_script, "sh", step_text_of(run, arg_of(step, 0)),
                 step_text_of(run, dest), step_text_of(run, user.len > 0 ? user : run->user),
                 step_text_of(run, arg_of(step, 3))},
        .timeout_ms = BUILD_STEP_MS,
        .fn = on_step_ended};
    struct err e = ERR_INIT;

    if (why)
        e = *why;
    else
        (void)run_step_command(run, &c, &e);
    if (e.code)
        build_step_done(run, &e);
}

static int run_copy(struct build_run *run, const struct json *step, struct err *e)
{
    char path[PATH_MAX];
    struct str hash = json_str(json_get(step, "filesHash"), STR(""));
    const struct build *b = run->build;

    if (build_file_path(b->set, b->account, hash, path) < 0)
        return err_set(e, -EINVAL, "the hash of its files is missing");
    run->copy = build_copy_begin(run, path, ARCHIVE, on_files_sent, e);
    return run->copy ? 0 : e->code ? e->code : -EIO;
}

void build_step_run(struct build_run *run, const struct json *step)
{
    static const struct {
        const char *type;
        int (*run)(struct build_run *run, const struct json *step, struct err *e);
    } kinds[] = {{"RUN", run_run},
                 {"COPY", run_copy},
                 {"ENV", run_env},
                 {"WORKDIR", run_workdir},
                 {"USER", run_user}};
    struct str type = json_str(json_get(step, "type"), STR(""));
    struct err e = ERR_INIT;
    int r = -EINVAL;

    arena_reset(&run->scratch);
    build_step_log(run, run->at, false);
    (void)err_set(&e, -EINVAL, "unknown kind of step \"" STR_FMT "\"",
                  STR_ARG(str_slice(type, 0, 40)));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(type, kinds[i].type)) {
            e = (struct err)ERR_INIT;
            r = kinds[i].run(run, step, &e);
            break;
        }
    if (r < 0 && !e.code)
        (void)err_sys(&e, r, "step");
    if (r != 0)
        build_step_done(run, r < 0 ? &e : NULL);
}

/* ---- the start ---- */

/* Memory does not outlive a build: the start command is tried, and ended when it is ready. Every
 * sandbox starts it again. */
static const char start_script[] =
    "log=$(mktemp)\n"
    "if [ -n \"$1\" ]; then setsid /bin/sh -c \"$1\" >\"$log\" 2>&1 & pid=$!; fi\n"
    "ok=1 n=0\n"
    "while [ -n \"$2\" ] && ! /bin/sh -c \"$2\" >/dev/null 2>&1; do\n"
    "  n=$((n + 1))\n"
    "  if [ $n -gt $(($3 * 2)) ]; then ok=0; break; fi\n"
    "  sleep 0.5\n"
    "done\n"
    "[ -n \"$2\" ] || sleep 1\n"
    "tail -c 4000 \"$log\"\n"
    "rm -f \"$log\"\n"
    "[ -z \"$pid\" ] || kill -KILL -- -$pid 2>/dev/null\n"
    "[ $ok = 1 ] || { echo 'the ready command did not succeed in time' >&2; exit 1; }\n";

static void on_start_ended(void *ctx, const struct engine_result *r, const struct err *why)
{
    struct build_run *run = ctx;
    struct err e = ERR_INIT;

    if (r)
        read_result(run, BUILD_AT_FINALIZE, r, &e);
    else
        e = *why;
    build_start_done(run, e.code ? &e : NULL);
}

void build_start_run(struct build_run *run)
{
    char seconds[16];
    struct err e = ERR_INIT;

    if (run->start_cmd.len == 0 && run->ready_cmd.len == 0) {
        build_start_done(run, NULL);
        return;
    }
    arena_reset(&run->scratch);
    (void)snprintf(seconds, sizeof seconds, "%d", READY_S);
    const struct step_command c = {.user = run->user,
                                   .n = 7,
                                   .argv = {"/bin/sh", "-c", start_script, "sh",
                                            step_text_of(run, run->start_cmd),
                                            step_text_of(run, run->ready_cmd), seconds},
                                   .timeout_ms = BUILD_STEP_MS,
                                   .fn = on_start_ended};
    if (run_step_command(run, &c, &e) < 0)
        build_start_done(run, &e);
}
