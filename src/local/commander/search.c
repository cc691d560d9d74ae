/* SPDX-License-Identifier: MIT */
/* desktop-commander: searches by name and by content. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/glob.h"
#include "base/regex.h"
#include "local/commander/commander.h"
#include "local/filesystem/filesystem.h"

enum { TIMEOUT_MS = 30000, RESULTS_MAX = 1000, LINE_MAX_BYTES = 2000 };
#define STEPS_MAX ((uint64_t)2000000000)

struct commander_search {
    struct local_call *c;
    struct str pattern, file_pattern;
    const struct regex *regex;
    bool ignores_case, has_hidden;
    int64_t deadline_ms, n_left;
    uint64_t steps;
    struct buf out;
};

static bool has_part(struct str text, struct str part, bool ignores_case, size_t *at)
{
    for (size_t i = 0; i + part.len <= text.len; i++) {
        struct str here = str_slice(text, i, i + part.len);
        if (ignores_case ? str_ieq(here, part) : str_eq(here, part)) {
            *at = i;
            return true;
        }
    }
    return false;
}

static int64_t deadline_of(const struct local_call *c)
{
    int64_t ms = local_int(c, "timeoutMs", TIMEOUT_MS);

    return clock_mono_ms() + (ms < 1 ? 1 : ms > TIMEOUT_MS ? TIMEOUT_MS : ms);
}

/* Answers with what was found. */
static void finish_text_search(struct commander_search *s)
{
    if (s->out.len > 0)
        local_text(s->c, buf_str(&s->out));
    else
        local_textf(s->c, "No matches found or search timed out after %lldms.",
                    (long long)local_int(s->c, "timeoutMs", TIMEOUT_MS));
    buf_done(&s->out);
}

/* ---- by name ---- */

static bool look_at_name(void *ctx, const char *path, const char *name)
{
    struct commander_search *s = ctx;
    size_t at;

    if (clock_mono_ms() > s->deadline_ms || s->n_left == 0)
        return false;
    if (has_part(str_of(name), s->pattern, true, &at)) {
        (void)buf_printf(&s->out, "%s%s", s->out.len > 0 ? "\n" : "", path);
        s->n_left--;
    }
    return true;
}

void commander_search_files(struct local_call *c)
{
    struct commander_search s = {.c = c,
                                 .pattern = local_str(c, "pattern"),
                                 .deadline_ms = deadline_of(c),
                                 .n_left = RESULTS_MAX};
    const char *path = commander_path(c, local_str(c, "path"));

    if (!path)
        return;
    buf_init(&s.out, LOCAL_ANSWER_MAX);
    (void)fs_each_file(c, path, look_at_name, &s); /* a directory that is not there has no files */
    finish_text_search(&s);
}

/* ---- by content ---- */

static bool is_plain_pattern(struct str pattern)
{
    for (size_t i = 0; i < pattern.len; i++) {
        if (strchr("\\^$.|?*+()[]{}", pattern.p[i]))
            return false;
    }
    return true;
}

/* What is shown of a line that matches; .p NULL when it does not. */
static struct str match_line(struct commander_search *s, struct str line)
{
    size_t at;

    if (!s->regex)
        return has_part(line, s->pattern, s->ignores_case, &at)
                   ? str_slice(line, at, at + s->pattern.len)
                   : STR_NULL;
    return regex_search(s->regex, line, &s->steps) == 1 ? str_slice(line, 0, LINE_MAX_BYTES)
                                                        : STR_NULL;
}

static void search_text(struct commander_search *s, const char *path, struct str text)
{
    bool has_title = false;

    for (size_t number = 1; text.p && s->n_left > 0; number++) {
        struct str line = str_cut(&text, '\n'), hit = match_line(s, line);
        if (!hit.p)
            continue;
        if (!has_title)
            (void)buf_printf(&s->out, "%s%s:", s->out.len > 0 ? "\n\n" : "", path);
        has_title = true;
        (void)buf_printf(&s->out, "\n  %zu: " STR_FMT, number, STR_ARG(hit));
        s->n_left--;
    }
}

static bool look_into(void *ctx, const char *path, const char *name)
{
    struct commander_search *s = ctx;
    struct str text;

    if (clock_mono_ms() > s->deadline_ms || s->n_left <= 0)
        return false;
    if ((!s->has_hidden && name[0] == '.') ||
        (s->file_pattern.len > 0 && !glob_match(s->file_pattern, str_of(name))))
        return true;
    /* A file that cannot be read, or is no text, has nothing to find. */
    if (path_read(s->c, path, &text) == 0 &&
        !memchr(text.p, '\0', text.len < 4096 ? text.len : 4096))
        search_text(s, path, text);
    return true;
}

void commander_search_code(struct local_call *c)
{
    struct err e = ERR_INIT;
    struct commander_search s = {.c = c,
                                 .pattern = local_str(c, "pattern"),
                                 .file_pattern = local_str(c, "filePattern"),
                                 .ignores_case = local_bool(c, "ignoreCase"),
                                 .has_hidden = local_bool(c, "includeHidden"),
                                 .deadline_ms = deadline_of(c),
                                 .n_left = local_int(c, "maxResults", RESULTS_MAX),
                                 .steps = STEPS_MAX};
    const char *path = commander_path(c, local_str(c, "path"));

    if (!path)
        return;
    if (!is_plain_pattern(s.pattern)) {
        s.regex = regex_compile(&c->arena, s.pattern, &e);
        if (!s.regex) {
            local_fail(c, "Error: the pattern cannot be used: %s", err_text(&e));
            return;
        }
    }
    s.n_left = s.n_left < 1 || s.n_left > RESULTS_MAX ? RESULTS_MAX : s.n_left;
    buf_init(&s.out, LOCAL_ANSWER_MAX);
    (void)fs_each_file(c, path, look_into, &s);
    finish_text_search(&s);
}
