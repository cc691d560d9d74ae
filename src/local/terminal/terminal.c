/* SPDX-License-Identifier: MIT */
/* The server "terminal": commands of an allow-list in the workspace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/kit/path.h"
#include "local/kit/program.h"
#include "local/kit/servers.h"
#include "local/kit/shell_words.h"

/* What may be run; lists in the order of the alphabet, NULL: everything. */
struct rules {
    const char *benchmark;
    const char *commands, *flags; /* ", " between them */
    size_t max_length, max_out, max_err, max_total;
    int timeout_s;
    bool has_operators;
};

static const struct rules all_rules[] = {
    {
        .benchmark = "MCP_Atlas",
        .commands = "cat, find, ls",
        .max_length = 1024,
        .timeout_s = 30,
    },
    {
        .benchmark = "Toolathlon",
        .commands =
            "7z, awk, basename, bash, bunzip2, bzip2, cat, chmod, column, comm, cp, curl, cut, "
            "date, df, diff, dirname, du, echo, env, expr, false, file, find, git, grep, "
            "gunzip, gzip, head, jq, kubectl, ln, ls, mkdir, mv, node, npm, paste, patch, "
            "pdftotext, pip, printf, pwd, python, python3, rg, rm, rmdir, sed, seq, sh, "
            "sha256sum, sort, stat, tail, tar, tee, touch, tr, tree, true, uniq, unzip, wc, "
            "wget, which, xargs, zip",
        .max_length = 2048,
        .max_out = 8192,
        .max_err = 2048,
        .max_total = 10240,
        .timeout_s = 60,
        .has_operators = true,
    },
    {
        .benchmark = "",
        .commands = "cat, ls, pwd",
        .flags = "--help, -a, -l",
        .max_length = 1024,
        .timeout_s = 30,
    },
};

/* Longer ones first, where one begins with another. */
static const char *const operators[] = {"&&", "||", "|", ">", ">>", "<", "<<", ";"};

static const struct rules *rules_of(const struct local_call *c)
{
    size_t i = 0;

    while (all_rules[i].benchmark[0] && !str_is(c->benchmark, all_rules[i].benchmark))
        i++;
    return &all_rules[i];
}

static bool is_command_listed(const char *list, const char *word)
{
    struct str rest = str_of(list);

    while (rest.p) {
        if (str_is(str_trim(str_cut(&rest, ',')), word))
            return true;
    }
    return false;
}

static const char *find_operator(struct str command)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (str_find(command, str_of(operators[i])) >= 0)
            return operators[i];
    }
    return NULL;
}

/* ---- rules ---- */

/* PART of the command, when it has several; else NULL. */
static void refuse_command(struct local_call *c, const char *part, struct str why)
{
    struct str about =
        part ? arena_printf(&c->arena, "Invalid command part '%s': ", part) : STR("");

    local_textf(c, "Security violation: " STR_FMT STR_FMT, STR_ARG(about), STR_ARG(why));
}

/* An argument that looks like a path has to be in the workspace; it is made absolute. */
static bool check_terminal_path(struct local_call *c, const char **arg, struct str *why)
{
    const char *a = *arg;
    bool is_explicit = ((a[0] == '/' && a[1] != '/') || strncmp(a, "./", 2) == 0 ||
                        strncmp(a, "../", 3) == 0 || strcmp(a, ".") == 0);
    struct str ignored;

    if (!is_explicit) {
        struct str full = arena_printf(&c->arena, "%s/%s", c->local->root, a);
        if (!strchr(a, '/') || strstr(a, "://") || !full.p || access(full.p, F_OK) < 0)
            return true;
    }
    const char *path = path_check(c, str_of(a), &ignored);
    if (path) {
        *arg = path;
        return true;
    }
    /* What does not exist is the command's own business. */
    if (str_starts(ignored, STR("Parent directory")))
        return true;
    *why =
        arena_printf(&c->arena, "Path '%s' is outside of allowed directory: %s", a, c->local->root);
    return false;
}

/* The words of one command that the rules allow; NULL with *WHY. */
static const char **check_command(struct local_call *c, const struct rules *rules,
                                  struct str command, struct str *why)
{
    const char *problem;
    size_t n;
    const char **words = words_split(&c->arena, command, &n, &problem);

    if (!words) {
        *why = arena_printf(&c->arena, "Invalid command format: %s", problem);
        return NULL;
    }
    if (n == 0) {
        *why = STR("Empty command");
        return NULL;
    }
    if (rules->commands && !is_command_listed(rules->commands, words[0])) {
        *why = arena_printf(&c->arena, "Command '%s' is not allowed", words[0]);
        return NULL;
    }
    for (size_t i = 1; i < n; i++) {
        if (words[i][0] == '-' && rules->flags && !is_command_listed(rules->flags, words[i])) {
            *why = arena_printf(&c->arena, "Flag '%s' is not allowed", words[i]);
            return NULL;
        }
        if (words[i][0] != '-' && !check_terminal_path(c, &words[i], why))
            return NULL;
    }
    return words;
}

static bool is_operator(struct str s, size_t at)
{
    /* A single '&' is none. */
    if (s.p[at] == '&')
        return (at + 1 < s.len && s.p[at + 1] == '&') || (at > 0 && s.p[at - 1] == '&');
    return strchr("|<>;", s.p[at]) != NULL;
}

/* Takes what is before the next operator off S, and then the operator; whether that was for a
 * file. */
static struct str take_part(struct local_call *c, struct str *s, bool *is_file)
{
    size_t at = 0;

    while (at < s->len && !is_operator(*s, at))
        at++;
    struct str part = arena_str(&c->arena, str_trim(str_slice(*s, 0, at)));
    *is_file = at < s->len && (s->p[at] == '>' || s->p[at] == '<');
    while (at < s->len && is_operator(*s, at))
        at++;
    *s = str_trim(str_skip(*s, at));
    return part;
}

/* Takes the file behind "<" or ">" off S. */
static const char *take_terminal_file(struct local_call *c, struct str *s)
{
    size_t at = 0;

    while (at < s->len && s->p[at] != ' ' && s->p[at] != '\t' && !is_operator(*s, at))
        at++;
    const char *file = arena_str(&c->arena, str_slice(*s, 0, at)).p;
    *s = str_skip(*s, at);
    return file;
}

/* Every command between operators; the shell runs the whole. */
static bool check_parts(struct local_call *c, const struct rules *rules, struct str command)
{
    struct str why;
    bool is_file;

    while (command.len > 0) {
        struct str part = take_part(c, &command, &is_file);
        if (part.len > 0 && !check_command(c, rules, part, &why)) {
            refuse_command(c, part.p, why);
            return false;
        }
        const char *file = is_file ? take_terminal_file(c, &command) : "";
        if (file && file[0] && !check_terminal_path(c, &file, &why)) {
            refuse_command(c, file, why);
            return false;
        }
    }
    return true;
}

/* ---- running ---- */

/* At most MAX bytes (0: all), with a mark when there were more. */
static void say_clipped(struct local_call *c, struct str text, size_t max)
{
    if (text.len == 0)
        return;
    if (max == 0 || text.len <= max)
        local_text(c, text);
    else
        local_textf(c, STR_FMT "\n...[output truncated]", (int)max, text.p);
}

static void run_words(struct local_call *c, const struct rules *rules, const char *const *words)
{
    struct run r = {.argv = words,
                    .cwd = c->local->root,
                    .timeout_ms = rules->timeout_s * INT64_C(1000),
                    .max_output = rules->max_total ? rules->max_total + 1 : 8 << 20};
    int code = run_program(&r);

    if (code < 0)
        local_textf(c, "Error: Command execution failed: [Errno %d] %s: '%s'", -code,
                    strerror(-code), words[0]);
    else if (r.is_timed_out)
        local_textf(c, "Error: Command timed out after %d seconds", rules->timeout_s);
    else {
        say_clipped(c, buf_str(&r.out), rules->max_out);
        say_clipped(c, buf_str(&r.err), rules->max_err);
        /* As Python reports the end by a signal. */
        local_textf(c, "\nCommand completed with return code: %d",
                    r.status > 128 ? 128 - r.status : r.status);
    }
    run_done(&r);
}

static void run_terminal_command(struct local_call *c)
{
    const struct rules *rules = rules_of(c);
    struct str command = local_str(c, "command"), why;
    const char *found = find_operator(command);

    if (command.len > rules->max_length) {
        refuse_command(
            c, NULL,
            arena_printf(&c->arena, "Command exceeds maximum length of %zu", rules->max_length));
        return;
    }
    if (found && !rules->has_operators) {
        refuse_command(
            c, NULL,
            arena_printf(&c->arena,
                         "Shell operator '%s' is not supported. Set ALLOW_SHELL_OPERATORS=true "
                         "to enable.",
                         found));
        return;
    }
    if (found) {
        const char *const shell[] = {"/bin/sh", "-c", arena_str(&c->arena, command).p, NULL};
        if (check_parts(c, rules, command))
            run_words(c, rules, shell);
        return;
    }
    const char **words = check_command(c, rules, command, &why);
    if (words)
        run_words(c, rules, words);
    else
        refuse_command(c, NULL, why);
}

static void show_security_rules(struct local_call *c)
{
    const struct rules *rules = rules_of(c);

    local_textf(c,
                "Security Configuration:\n==================\nWorking Directory: %s\n"
                "\nAllowed Commands:\n----------------\n%s\n"
                "\nAllowed Flags:\n-------------\n%s\n"
                "\nSecurity Limits:\n---------------\n"
                "Max Command Length: %zu characters\nCommand Timeout: %d seconds\n",
                c->local->root, rules->commands ? rules->commands : "All commands allowed",
                rules->flags ? rules->flags : "All flags allowed", rules->max_length,
                rules->timeout_s);
}

static const struct local_tool tools[] = {
    {"run_command", run_terminal_command},
    {"show_security_rules", show_security_rules},
};

const struct local_server terminal_server = {"terminal", tools, ARRAY_LEN(tools)};
