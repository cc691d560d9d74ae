/* SPDX-License-Identifier: MIT */
/* Commands in sandboxes, and the tools that sandboxExecutor finds inside them. */
#include <errno.h>
#include <sys/wait.h>

#include "api/mcp/tools.h"
#include "base/cleanup.h"
#include "base/json_pair.h"
#include "core/sandbox.h"
#include "core/template.h"
#include "runtime/engine.h"

enum {
    TIMEOUT_DEFAULT_MS = 60000,
    OUTPUT_MAX = 1 << 20, /* of each of a command's two outputs */
    TEXT_MAX = 4 << 20
};

/* ---- running ---- */

struct tool_run {
    struct mcp_call *call;
    struct sandbox *sb; /* a reference, and held; NULL: it does not run yet */
    struct tool_command cmd;
    bool is_cancelled;
};

static int run_tool_exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void add_run_tool_part(struct buf *text, const char *title, struct str part)
{
    if (part.len == 0)
        return;
    if (text->len > 0 && text->p[text->len - 1] != '\n')
        (void)buf_add_char(text, '\n');
    (void)buf_add_str(text, str_of(title));
    (void)buf_add_str(text, part);
}

static void answer_run_tool(struct mcp_call *c, const struct engine_result *r)
{
    struct buf text auto_buf = BUF_INIT(TEXT_MAX);
    int code = run_tool_exit_code(r->status);

    add_run_tool_part(&text, "", r->out);
    add_run_tool_part(&text, "stderr:\n", r->err);
    if (r->is_timed_out)
        add_run_tool_part(&text, "", STR("the command timed out\n"));
    else if (code != 0)
        add_run_tool_part(&text, "", arena_printf(c->arena, "exit code %d\n", code));
    struct jw *w = mcp_result_begin(c);
    jw_key(w, "content");
    jw_array(w);
    jw_object(w);
    jw_pair_str(w, "type", STR("text"));
    jw_pair_str(w, "text", buf_str(&text));
    jw_end(w);
    jw_end(w);
    jw_key(w, "structuredContent");
    jw_object(w);
    jw_pair_str(w, "stdout", r->out);
    jw_pair_str(w, "stderr", r->err);
    jw_key(w, "exitCode");
    jw_int(w, code);
    jw_key(w, "timedOut");
    jw_bool(w, r->is_timed_out);
    jw_key(w, "truncated");
    jw_bool(w, r->is_output_cut);
    jw_end(w);
    mcp_result_end(c);
}

/* After the answer: the run lives in the call's arena. */
static void finish_run_tool(struct sandbox *sb)
{
    sandbox_release(sb);
    sandbox_unref(sb);
}

static void on_run_tool_result(void *ctx, const struct engine_result *result, const struct err *e)
{
    struct tool_run *t = ctx;
    struct sandbox *sb = t->sb;

    if (result)
        answer_run_tool(t->call, result);
    else
        tool_fail(t->call, e->code, e);
    finish_run_tool(sb);
}

/* The client does not want the answer any more: the command ends. */
static void on_run_tool_cancel(struct mcp_call *c)
{
    struct tool_run *t = c->user;

    t->is_cancelled = true;
    if (t->sb && sandbox_cell(t->sb))
        engine_cell_cancel(sandbox_cell(t->sb), t);
}

static void on_run_tool_usable(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct tool_run *t = ctx;
    const struct tool_command *cmd = &t->cmd;
    struct err why = ERR_INIT;

    if (e || t->is_cancelled) {
        tool_fail(t->call, e ? e->code : -ECANCELED, e);
        return;
    }
    const char *workdir = sb->spec.workdir.len > 0 ? sb->spec.workdir.p : NULL;
    const struct engine_run run = {
        .user = cmd->user.len > 0 ? cmd->user.p : sb->spec.user.p,
        .cwd = cmd->cwd.len > 0 ? cmd->cwd.p : workdir,
        .argv = cmd->argv,
        .env = sandbox_env(sb, cmd->env, t->call->arena),
        .input = cmd->input,
        .timeout_ms = (uint32_t)cmd->timeout_ms,
        .max_output = OUTPUT_MAX,
        .is_tied = true,
    };
    t->sb = sandbox_ref(sb);
    sandbox_hold(sb);
    int r =
        run.env ? engine_cell_run(sandbox_cell(sb), &run, on_run_tool_result, t, &why) : -ENOMEM;
    if (r < 0) {
        tool_fail(t->call, r, &why);
        finish_run_tool(sb);
    }
}

/* Runs CMD in SB and answers C with what it wrote. */
static void tool_run_in(struct mcp_call *c, struct sandbox *sb, const struct tool_command *cmd)
{
    struct tool_run *t = arena_new(c->arena, struct tool_run);

    if (!t) {
        tool_fail(c, -ENOMEM, NULL);
        return;
    }
    t->call = c;
    t->cmd = *cmd;
    c->user = t;
    c->on_cancel = on_run_tool_cancel;
    int code = sandbox_use(sb, on_run_tool_usable, t);
    if (code < 0)
        tool_fail(c, code, NULL);
}

/* argument "timeout" in ms: seconds, within bounds. */
static int64_t tool_timeout_ms(const struct mcp_call *c)
{
    const struct json *v = json_get(c->args, "timeout");
    double s = json_real(v, (double)json_int(v, 0));

    if (!(s > 0 && s <= 86400))
        return TIMEOUT_DEFAULT_MS;
    return s < 0.001 ? 1 : (int64_t)(s * 1000);
}

int64_t tool_takes_ms(const struct mcp_call *c)
{
    /* Those of sandboxExecutor are inside. */
    const struct mcp_call inner = {.args = json_get(c->args, "arguments")};

    return tool_timeout_ms(inner.args ? &inner : c);
}

static bool is_env(const struct json *env)
{
    for (size_t i = 0; json_is(env, JSON_OBJECT) && i < env->n; i++) {
        const struct json_member *m = &env->members[i];
        if (m->value.type != JSON_STRING || m->key.len == 0 || str_chr(m->key, '=') >= 0 ||
            str_has_nul(m->key) || str_has_nul(m->value.s))
            return false;
    }
    return !env || env->type == JSON_OBJECT;
}

/* Runs ARGV, which is copied; the optional arguments of a command are taken from C. */
static void run_argv(struct mcp_call *c, struct sandbox *sb, const char *const argv[4],
                     struct str input)
{
    const char **copy = arena_zalloc(c->arena, 5, sizeof *copy);
    struct tool_command cmd = {.argv = copy,
                               .cwd = tool_arg(c, "cwd"),
                               .user = tool_arg(c, "user"),
                               .input = input,
                               .env = json_get(c->args, "env"),
                               .timeout_ms = tool_timeout_ms(c)};

    for (int i = 0; copy && i < 4; i++)
        copy[i] = argv[i];
    if (!copy)
        tool_fail(c, -ENOMEM, NULL);
    else if (str_has_nul(cmd.cwd) || str_has_nul(cmd.user) || !is_env(cmd.env))
        tool_refuse(c,
                    "cwd and user must be strings without NUL, and env an object of such strings");
    else
        tool_run_in(c, sb, &cmd);
}

static void run_shell(struct mcp_call *c, struct sandbox *sb, struct str command)
{
    const char *const argv[4] = {"/bin/sh", "-lc", command.p, NULL};

    if (str_trim(command).len == 0 || str_has_nul(command))
        tool_refuse(c, "command is required");
    else
        run_argv(c, sb, argv, tool_arg(c, "stdin"));
}

void tool_run(struct mcp_call *c)
{
    struct sandbox *sb = tool_sandbox(c, "sandbox_name");

    if (sb)
        run_shell(c, sb, tool_arg(c, "command"));
}

/* ---- the tools inside ---- */

static void inner_bash(struct mcp_call *c, struct sandbox *sb)
{
    struct str cmd = tool_arg(c, "cmd");

    run_shell(c, sb, cmd.len > 0 ? cmd : tool_arg(c, "command"));
}

static void inner_code(struct mcp_call *c, struct sandbox *sb)
{
    static const struct {
        const char *language, *program, *option;
    } rows[] = {
        {"python", "/usr/bin/python3", "-"},  {"python3", "/usr/bin/python3", "-"},
        {"javascript", "/usr/bin/node", "-"}, {"js", "/usr/bin/node", "-"},
        {"bash", "/bin/bash", "-s"},          {"sh", "/bin/sh", "-s"},
    };
    struct str language = tool_arg(c, "language"), code = tool_arg(c, "code");

    for (size_t i = 0; code.len > 0 && i < ARRAY_LEN(rows); i++)
        if (language.len == 0 || str_is(language, rows[i].language)) {
            const char *const argv[4] = {rows[i].program, rows[i].option, NULL, NULL};
            run_argv(c, sb, argv, code);
            return;
        }
    tool_refuse(c, code.len > 0 ? "language must be python, javascript, bash or sh"
                                : "code is required");
}

static void inner_find(struct mcp_call *c, struct sandbox *sb, bool is_text)
{
    struct str path = tool_arg(c, "path"), what = tool_arg(c, "pattern");
    struct json *env = json_new_object(c->arena);

    if (what.len == 0 || str_has_nul(what) || str_has_nul(path)) {
        tool_refuse(c, "pattern is required");
        return;
    }
    /* The words come by the environment, so that the shell has nothing to take apart. */
    (void)json_set(c->arena, env, "TP_PATH", json_new_str(c->arena, path.len ? path : STR(".")));
    (void)json_set(c->arena, env, "TP_WHAT", json_new_str(c->arena, what));
    if (!env || json_set(c->arena, c->args, "env", env) < 0) {
        tool_fail(c, -ENOMEM, NULL);
        return;
    }
    run_shell(c, sb,
              is_text ? STR("grep -rnI -e \"$TP_WHAT\" -- \"$TP_PATH\"")
                      : STR("find \"$TP_PATH\" -name \"$TP_WHAT\""));
}

static void inner_files(struct mcp_call *c, struct sandbox *sb)
{
    struct str action = tool_arg(c, "action");

    if (str_is(action, "read"))
        tool_read_in(c, sb);
    else if (str_is(action, "write"))
        tool_write_in(c, sb);
    else if (str_is(action, "list"))
        tool_list_in(c, sb);
    else if (str_is(action, "search") || str_is(action, "find"))
        inner_find(c, sb, str_is(action, "search"));
    else
        tool_refuse(c, "action must be read, write, list, search or find");
}

static const struct {
    const char *name;
    void (*run)(struct mcp_call *c, struct sandbox *sb);
} inner[] = {
    {"sandbox_execute_bash", inner_bash},
    {"sandbox_execute_code", inner_code},
    {"sandbox_file_operations", inner_files},
};

void tool_execute(struct mcp_call *c)
{
    struct sandbox *sb = tool_sandbox(c, "sandbox_name");
    struct str name = tool_arg(c, "tool_name");
    struct json *args = json_get(c->args, "arguments");

    if (!sb)
        return;
    c->args = args ? args : json_new_object(c->arena);
    for (size_t i = 0; c->args && i < ARRAY_LEN(inner); i++)
        if (str_is(name, inner[i].name)) {
            inner[i].run(c, sb);
            return;
        }
    tool_refuse(c, "no tool named " STR_FMT " in the sandbox", STR_ARG(str_slice(name, 0, 100)));
}
