/* SPDX-License-Identifier: MIT */
#include "local/git/wording.h"

#include "base/python.h"

/* "1768467600 2026-01-15 09:00:00 +0000" is "2026-01-15 09:00:00+00:00". */
static void write_date(struct buf *out, struct str text)
{
    (void)str_cut(&text, ' ');
    struct str day = str_cut(&text, ' '), clock = str_cut(&text, ' ');

    (void)buf_printf(out, STR_FMT " " STR_FMT, STR_ARG(day), STR_ARG(clock));
    if (text.len == 5)
        (void)buf_printf(out, "%.3s:%.2s", text.p, text.p + 3);
}

static void write_commit(struct buf *out, struct str commit, enum git_style style)
{
    struct str hash = str_cut(&commit, '\n'), name = str_cut(&commit, '\n');

    if (style == GIT_DATED) {
        struct str date = str_cut(&commit, '\n');
        (void)buf_printf(
            out,
            "Commit: " STR_FMT "\nAuthor: " STR_FMT "\nDate: " STR_FMT "\nMessage: " STR_FMT "\n",
            STR_ARG(hash), STR_ARG(name), STR_ARG(date), STR_ARG(str_cut(&commit, '\n')));
        return;
    }
    struct str mail = str_cut(&commit, '\n'), date = str_cut(&commit, '\n');
    bool is_repr = style == GIT_REPR;
    (void)buf_add_lit(out, "Commit: ");
    if (is_repr)
        python_str(out, hash);
    else
        (void)buf_add_str(out, hash);
    (void)buf_printf(out,
                     is_repr ? "\nAuthor: <git.Actor \"" STR_FMT " <" STR_FMT ">\">\nDate: "
                             : "\nAuthor: " STR_FMT " <" STR_FMT ">\nDate: ",
                     STR_ARG(name), STR_ARG(mail));
    write_date(out, date);
    (void)buf_add_lit(out, "\nMessage: ");
    struct str message = commit.p ? commit : STR("");
    if (is_repr)
        python_str(out, message);
    else
        (void)buf_add_str(out, message);
    (void)buf_add_char(out, '\n');
}

void git_text_log(struct buf *out, struct str text, enum git_style style)
{
    for (size_t i = 0; text.p && text.len > 0; i++) {
        struct str commit = str_cut(&text, '\0');
        if (commit.len == 0)
            continue;
        if (i > 0)
            (void)buf_add_char(out, '\n');
        write_commit(out, commit, style);
    }
}

/* "diff --git a/x b/x": both names, which are the same but for moved files. */
static void write_names(struct buf *out, struct str line)
{
    struct str names = str_skip(line, sizeof "diff --git a/" - 1);
    ptrdiff_t at = str_find(names, STR(" b/"));

    if (at < 0)
        return;
    (void)buf_printf(out, "\n--- " STR_FMT "\n+++ " STR_FMT "\n", (int)at, names.p,
                     STR_ARG(str_skip(names, (size_t)at + 3)));
}

void git_text_patch(struct buf *out, struct str text)
{
    bool is_hunk = false;

    while (text.len > 0) {
        ptrdiff_t at = str_chr(text, '\n');
        struct str line = str_slice(text, 0, at < 0 ? text.len : (size_t)at + 1);
        text = str_skip(text, line.len);
        if (str_starts(line, STR("diff --git a/"))) {
            write_names(out, str_slice(line, 0, line.len - (at >= 0)));
            is_hunk = false;
            continue;
        }
        is_hunk = is_hunk || str_starts(line, STR("@@"));
        if (is_hunk)
            (void)buf_add_str(out, line);
    }
}
