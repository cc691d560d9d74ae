/* SPDX-License-Identifier: MIT */
/* The server "git": the real git, set to ignore what a repository's own configuration could make
 * it run, and its output in the frames that agents know. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "local/git/wording.h"
#include "local/kit/path.h"
#include "local/kit/program.h"
#include "local/kit/servers.h"

enum { ARGS_MAX = 1024, TIMEOUT_MS = 60000, OUTPUT_MAX = 16 << 20 };

/* Keys by which a repository names programs, or files with more keys. What is set to nothing is not
 * run. */
static const char risky_keys[] =
    "^(filter\\..*\\.(clean|smudge|process)|diff\\.external|diff\\..*\\.(command|textconv)|"
    "merge\\..*\\.driver|core\\.(fsmonitor|hookspath|sshcommand|pager|editor|askpass|gitproxy|"
    "attributesfile|worktree)|gpg\\..*program|credential\\..*|alias\\..*|include.*\\.path|"
    "sequence\\.editor|interactive\\.difffilter)$";

static const char *const fixed_env[] = {
    "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
    "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
    "GIT_EDITOR=true",       "GIT_ATTR_NOSYSTEM=1",
    "LC_ALL=C.UTF-8",        NULL,
};

struct git {
    struct local_call *c;
    const char *repo;
    const char *argv[ARGS_MAX];
    size_t n, n_fixed; /* those that a caller did not give */
    struct run run;
};

static void add_git_arg(struct git *g, const char *arg)
{
    if (g->n + 1 < ARGS_MAX && arg)
        g->argv[g->n++] = arg;
}

static void add_str(struct git *g, struct str arg)
{
    add_git_arg(g, arena_str(&g->c->arena, arg).p);
}

/* "git" with what it must not take from the repository. */
static void begin_git_args(struct git *g)
{
    g->n = 0;
    add_git_arg(g, "git");
    add_git_arg(g, "-c");
    add_git_arg(g, "safe.directory=*");
    add_git_arg(g, "-c");
    add_git_arg(g, "core.hooksPath=/dev/null");
    add_git_arg(g, "-c");
    add_git_arg(g, "core.fsmonitor=false");
    add_git_arg(g, "-c");
    add_git_arg(g, "protocol.ext.allow=never");
}

static int run_git(struct git *g)
{
    g->argv[g->n] = NULL;
    run_done(&g->run);
    g->run = (struct run){.argv = g->argv,
                          .cwd = g->repo,
                          .env = fixed_env,
                          .timeout_ms = TIMEOUT_MS,
                          .max_output = OUTPUT_MAX};
    return run_program(&g->run);
}

/* Turns off the risky keys that the repository has. */
static void quiet(struct git *g)
{
    begin_git_args(g);
    add_git_arg(g, "config");
    add_git_arg(g, "--local");
    add_git_arg(g, "--name-only");
    add_git_arg(g, "--get-regexp");
    add_git_arg(g, risky_keys);
    int r = run_git(g);
    struct str keys =
        r == 0 && g->run.status == 0 ? arena_str(&g->c->arena, buf_str(&g->run.out)) : STR_NULL;
    begin_git_args(g);
    while (keys.p) {
        struct str key = str_cut(&keys, '\n');
        if (key.len == 0 || g->n + 64 > ARGS_MAX)
            continue;
        add_git_arg(g, "-c");
        add_git_arg(g, arena_printf(&g->c->arena, STR_FMT "=", STR_ARG(key)).p);
    }
    g->n_fixed = g->n;
}

/* Opens the repository that the call names; fails the call when it is none. */
static bool open_repo(struct git *g, struct local_call *c)
{
    struct str why;

    *g = (struct git){.c = c};
    g->repo = path_check(c, local_str(c, "repo_path"), &why);
    if (!g->repo) {
        local_fail_text(c, why);
        return false;
    }
    begin_git_args(g);
    add_git_arg(g, "rev-parse");
    add_git_arg(g, "--git-dir");
    int r = run_git(g);
    if (r < 0 || g->run.status != 0) {
        if (r == -ENOENT && path_check(c, STR("."), &why))
            local_fail(c, "%s", g->repo);
        else
            local_fail(c, "%s", r < 0 ? strerror(-r) : g->repo);
        run_done(&g->run);
        return false;
    }
    quiet(g);
    return true;
}

static struct str without_last_break(struct str s)
{
    return s.len > 0 && s.p[s.len - 1] == '\n' ? str_slice(s, 0, s.len - 1) : s;
}

/* Runs what was added; on failure reports it in the words of the library that the original uses. */
static bool do_git(struct git *g, struct str *out)
{
    auto_buf struct buf line = BUF_INIT(1 << 16);
    int r = run_git(g);

    if (r == 0 && !g->run.is_timed_out && g->run.status == 0) {
        *out = arena_str(&g->c->arena, without_last_break(buf_str(&g->run.out)));
        g->n = g->n_fixed;
        return out->p != NULL;
    }
    (void)buf_add_lit(&line, "git");
    for (size_t i = g->n_fixed; i < g->n; i++)
        (void)buf_printf(&line, " %s", g->argv[i]);
    if (r < 0 || g->run.is_timed_out)
        local_fail(g->c, "Cmd('git') failed: %s\n  cmdline: %s",
                   r < 0 ? strerror(-r) : "it did not end in time", buf_cstr(&line));
    else
        local_fail(
            g->c, "Cmd('git') failed due to: exit code(%d)\n  cmdline: %s\n  stderr: '" STR_FMT "'",
            g->run.status, buf_cstr(&line), STR_ARG(without_last_break(buf_str(&g->run.err))));
    return false;
}

/* Names of branches and commits never become options. */
static bool is_ref_name(struct local_call *c, const char *what, struct str name)
{
    if (name.len > 0 && name.p[0] != '-')
        return true;
    local_fail(c, "Invalid %s: '" STR_FMT "' - cannot start with '-'", what, STR_ARG(name));
    return false;
}

/* ---- tools ---- */

static void show_out(struct git *g, const char *title)
{
    struct str out;

    if (do_git(g, &out))
        local_textf(g->c, "%s" STR_FMT, title, STR_ARG(out));
    run_done(&g->run);
}

static void git_status(struct local_call *c)
{
    struct git g;

    if (!open_repo(&g, c))
        return;
    add_git_arg(&g, "status");
    show_out(&g, "Repository status:\n");
}

static void add_diff(struct git *g)
{
    add_git_arg(g, "diff");
    add_git_arg(g, "--no-ext-diff");
    add_git_arg(g, "--no-textconv");
    add_git_arg(g, arena_printf(&g->c->arena, "--unified=%lld",
                                (long long)local_int(g->c, "context_lines", 3))
                       .p);
}

static void git_diff_unstaged(struct local_call *c)
{
    struct git g;

    if (!open_repo(&g, c))
        return;
    add_diff(&g);
    show_out(&g, "Unstaged changes:\n");
}

static void git_diff_staged(struct local_call *c)
{
    struct git g;

    if (!open_repo(&g, c))
        return;
    add_diff(&g);
    add_git_arg(&g, "--cached");
    show_out(&g, "Staged changes:\n");
}

static void git_diff(struct local_call *c)
{
    struct str target = local_str(c, "target");
    struct git g;

    if (!is_ref_name(c, "target", target) || !open_repo(&g, c))
        return;
    add_diff(&g);
    add_str(&g, target);
    show_out(&g, arena_printf(&c->arena, "Diff with " STR_FMT ":\n", STR_ARG(target)).p);
}

/* As a library commits: whatever is staged, be it nothing. */
static void git_commit(struct local_call *c)
{
    struct git g;
    struct str out;

    if (!open_repo(&g, c))
        return;
    add_git_arg(&g, "-c");
    add_git_arg(&g, "user.useConfigOnly=false");
    add_git_arg(&g, "commit");
    add_git_arg(&g, "--quiet");
    add_git_arg(&g, "--allow-empty");
    add_git_arg(&g, "--allow-empty-message");
    add_git_arg(&g, "--no-verify");
    add_git_arg(&g, "--no-gpg-sign");
    add_git_arg(&g, "--cleanup=verbatim");
    add_git_arg(&g, "-m");
    add_str(&g, local_str(c, "message"));
    if (do_git(&g, &out)) {
        add_git_arg(&g, "rev-parse");
        add_git_arg(&g, "HEAD");
        if (do_git(&g, &out))
            local_textf(c, "Changes committed successfully with hash " STR_FMT, STR_ARG(out));
    }
    run_done(&g.run);
}

static void git_add(struct local_call *c)
{
    const struct json *files = json_get(c->args, "files");
    struct git g;
    struct str out;

    if (!open_repo(&g, c))
        return;
    if (!files || files->n + g.n + 8 > ARGS_MAX) {
        local_fail(c, "too many files in one call");
        run_done(&g.run);
        return;
    }
    add_git_arg(&g, "add");
    add_git_arg(&g, "--");
    for (size_t i = 0; i < files->n; i++)
        add_str(&g, json_str(json_at(files, i), STR("")));
    if (do_git(&g, &out))
        local_text(c, STR("Files staged successfully"));
    run_done(&g.run);
}

static void git_reset(struct local_call *c)
{
    struct git g;
    struct str out;

    if (!open_repo(&g, c))
        return;
    add_git_arg(&g, "reset");
    add_git_arg(&g, "--quiet");
    if (do_git(&g, &out))
        local_text(c, STR("All staged changes reset"));
    run_done(&g.run);
}

static void git_log(struct local_call *c)
{
    struct str since = local_str(c, "start_timestamp"), until = local_str(c, "end_timestamp"), out;
    bool is_dated = since.len > 0 || until.len > 0;
    struct git g;

    if ((since.len > 0 && !is_ref_name(c, "start_timestamp", since)) ||
        (until.len > 0 && !is_ref_name(c, "end_timestamp", until)) || !open_repo(&g, c))
        return;
    add_git_arg(&g, "log");
    add_git_arg(&g, "-z");
    add_git_arg(
        &g,
        arena_printf(&c->arena, "--max-count=%lld", (long long)local_int(c, "max_count", 10)).p);
    add_git_arg(&g, is_dated ? "--format=%H%n%an%n%ad%n%s" : "--format=%H%n%an%n%ae%n%at %ai%n%B");
    if (since.len > 0)
        add_git_arg(&g, arena_printf(&c->arena, "--since=" STR_FMT, STR_ARG(since)).p);
    if (until.len > 0)
        add_git_arg(&g, arena_printf(&c->arena, "--until=" STR_FMT, STR_ARG(until)).p);
    if (do_git(&g, &out)) {
        auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
        enum git_style style = is_dated                             ? GIT_DATED
                               : str_is(c->benchmark, "Toolathlon") ? GIT_PLAIN
                                                                    : GIT_REPR;
        (void)buf_add_lit(&b, "Commit history:\n");
        git_text_log(&b, out, style);
        local_text(c, buf_str(&b));
    }
    run_done(&g.run);
}

static void git_create_branch(struct local_call *c)
{
    struct str name = local_str(c, "branch_name"), base = local_str(c, "base_branch"), out;
    struct git g;

    if (!is_ref_name(c, "branch name", name) ||
        (base.len > 0 && !is_ref_name(c, "base branch", base)) || !open_repo(&g, c))
        return;
    if (base.len == 0) {
        add_git_arg(&g, "symbolic-ref");
        add_git_arg(&g, "--short");
        add_git_arg(&g, "HEAD");
        if (!do_git(&g, &base)) {
            run_done(&g.run);
            return;
        }
    }
    add_git_arg(&g, "branch");
    add_str(&g, name);
    add_str(&g, base);
    if (do_git(&g, &out))
        local_textf(c, "Created branch '" STR_FMT "' from '" STR_FMT "'", STR_ARG(name),
                    STR_ARG(base));
    run_done(&g.run);
}

static void git_checkout(struct local_call *c)
{
    struct str name = local_str(c, "branch_name"), out;
    struct git g;

    if (!is_ref_name(c, "branch name", name) || !open_repo(&g, c))
        return;
    add_git_arg(&g, "checkout");
    add_str(&g, name);
    if (do_git(&g, &out))
        local_textf(c, "Switched to branch '" STR_FMT "'", STR_ARG(name));
    run_done(&g.run);
}

static void git_show(struct local_call *c)
{
    struct str revision = local_str(c, "revision"), head, diff;
    struct git g;

    if (!is_ref_name(c, "revision", revision) || !open_repo(&g, c))
        return;
    add_git_arg(&g, "log");
    add_git_arg(&g, "-z");
    add_git_arg(&g, "--max-count=1");
    add_git_arg(&g, "--format=%H%n%an%n%ae%n%at %ai%n%B");
    add_str(&g, revision);
    add_git_arg(&g, "--");
    bool is_done = do_git(&g, &head);
    if (is_done) {
        add_git_arg(&g, "show");
        add_git_arg(&g, "--first-parent");
        add_git_arg(&g, "--format=");
        add_git_arg(&g, "--no-ext-diff");
        add_git_arg(&g, "--no-textconv");
        add_str(&g, revision);
        add_git_arg(&g, "--");
        is_done = do_git(&g, &diff);
    }
    if (is_done) {
        auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
        git_text_log(&b, head, GIT_REPR);
        git_text_patch(&b, diff);
        local_text(c, buf_str(&b));
    }
    run_done(&g.run);
}

static void git_branch(struct local_call *c)
{
    struct str type = local_str(c, "branch_type"), has = local_str(c, "contains"),
               lacks = local_str(c, "not_contains");
    const char *flag = str_is(type, "remote") ? "-r" : str_is(type, "all") ? "-a" : NULL;
    struct git g;

    if (!flag && !str_is(type, "local")) {
        local_textf(c, "Invalid branch type: " STR_FMT, STR_ARG(type));
        return;
    }
    if ((has.len > 0 && !is_ref_name(c, "contains value", has)) ||
        (lacks.len > 0 && !is_ref_name(c, "not_contains value", lacks)) || !open_repo(&g, c))
        return;
    add_git_arg(&g, "branch");
    if (flag)
        add_git_arg(&g, flag);
    if (has.len > 0) {
        add_git_arg(&g, "--contains");
        add_str(&g, has);
    }
    if (lacks.len > 0) {
        add_git_arg(&g, "--no-contains");
        add_str(&g, lacks);
    }
    show_out(&g, "");
}

static const struct local_tool tools[] = {
    {"git_status", git_status},
    {"git_diff_unstaged", git_diff_unstaged},
    {"git_diff_staged", git_diff_staged},
    {"git_diff", git_diff},
    {"git_commit", git_commit},
    {"git_add", git_add},
    {"git_reset", git_reset},
    {"git_log", git_log},
    {"git_create_branch", git_create_branch},
    {"git_checkout", git_checkout},
    {"git_show", git_show},
    {"git_branch", git_branch},
};

const struct local_server git_server = {"git", tools, ARRAY_LEN(tools)};
