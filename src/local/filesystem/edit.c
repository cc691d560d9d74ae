/* SPDX-License-Identifier: MIT */
/* edit_file: replaces parts of a text, shown as a difference. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/textdiff.h"
#include "local/filesystem/filesystem.h"

enum { CONTEXT_LINES = 4 };

/* With "\n" for "\r\n". */
static struct str unix_lines(struct local_call *c, struct str s)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    if (!memchr(s.p, '\r', s.len))
        return s;
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] != '\r' || i + 1 == s.len || s.p[i + 1] != '\n')
            (void)buf_add_char(&b, s.p[i]);
    }
    return arena_str(&c->arena, buf_str(&b));
}

static size_t indent_of(struct str line)
{
    size_t n = 0;

    while (n < line.len && (line.p[n] == ' ' || line.p[n] == '\t'))
        n++;
    return n;
}

/* TEXT with the LEN bytes at AT replaced. */
static struct str splice(struct local_call *c, struct str text, size_t at, size_t len,
                         struct str by)
{
    struct str rest = str_skip(text, at + len);
    size_t total = at + by.len + rest.len;
    char *p = total <= LOCAL_FILE_MAX ? arena_alloc(&c->arena, total + 1) : NULL;

    if (!p)
        return STR_NULL;
    memcpy(p, text.p, at);
    if (by.len > 0)
        memcpy(p + at, by.p, by.len);
    memcpy(p + at + by.len, rest.p, rest.len);
    p[total] = '\0';
    return str_n(p, total);
}

/* ---- lines that are the same but for the space around them ---- */

/* How many bytes of TEXT the lines of OLD are, line by line and without regard to space around
 * them; -1 when they are not. */
static ptrdiff_t match_lines(struct str text, struct str old)
{
    struct str rest = text;

    while (old.p) {
        struct str want = str_cut(&old, '\n');
        if (!rest.p || !str_eq(str_trim(str_cut(&rest, '\n')), str_trim(want)))
            return -1;
    }
    return rest.p ? rest.p - text.p - 1 : (ptrdiff_t)text.len;
}

static struct str nth_line(struct str text, size_t n)
{
    struct str line = STR_NULL;

    for (size_t i = 0; i <= n && text.p; i++)
        line = i == n ? str_cut(&text, '\n') : (str_cut(&text, '\n'), STR_NULL);
    return line;
}

/* The new lines, indented as far beyond the place as they are beyond the old lines. */
static struct str reindent(struct local_call *c, struct str place, struct str old, struct str new)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);
    struct str base = str_slice(place, 0, indent_of(place));

    for (size_t i = 0; new.p; i++) {
        struct str line = str_cut(&new, '\n'), before = nth_line(old, i);
        size_t was = indent_of(before), is = indent_of(line);
        if (i > 0)
            (void)buf_add_char(&b, '\n');
        if (i > 0 && !(before.p && was > 0 && is > 0)) {
            (void)buf_add_str(&b, line);
            continue;
        }
        (void)buf_add_str(&b, base);
        for (size_t k = was; i > 0 && k < is; k++)
            (void)buf_add_char(&b, ' ');
        (void)buf_add_str(&b, str_skip(line, is));
    }
    return buf_ok(&b) ? arena_str(&c->arena, buf_str(&b)) : STR_NULL;
}

static struct str apply_by_lines(struct local_call *c, struct str text, struct str old,
                                 struct str new)
{
    for (size_t at = 0; at <= text.len;) {
        struct str rest = str_skip(text, at);
        ptrdiff_t len = match_lines(rest, old);
        if (len >= 0)
            return splice(c, text, at, (size_t)len, reindent(c, rest, old, new));
        ptrdiff_t next = str_chr(rest, '\n');
        if (next < 0)
            break;
        at += (size_t)next + 1;
    }
    return STR_NULL;
}

static struct str apply_text_edit(struct local_call *c, struct str text, const struct json *edit)
{
    struct str old = unix_lines(c, json_str(json_get(edit, "oldText"), STR("")));
    struct str new = unix_lines(c, json_str(json_get(edit, "newText"), STR("")));
    ptrdiff_t at = str_find(text, old);

    return at >= 0 ? splice(c, text, (size_t)at, old.len, new) : apply_by_lines(c, text, old, new);
}

/* ---- the tool ---- */

/* In a fence of more backquotes than the difference has in a row. */
static void show_text_diff(struct local_call *c, const char *path, struct str before,
                           struct str after)
{
    struct buf *diff = local_buf(c), *out = local_buf(c);
    static const char line[] =
        "===================================================================";
    size_t n_quotes = 3, n = 0;

    (void)buf_printf(diff, "Index: %s\n%s\n--- %s\toriginal\n+++ %s\tmodified\n", path, line, path,
                     path);
    if (textdiff_hunks(diff, before, after, CONTEXT_LINES, &c->arena) < 0) {
        local_fail(c, "The texts are too large to be compared");
        return;
    }
    for (size_t i = 0; i < diff->len; i++) {
        n = diff->p[i] == '`' ? n + 1 : 0;
        n_quotes = n >= n_quotes ? n + 1 : n_quotes;
    }
    for (size_t i = 0; i < n_quotes; i++)
        (void)buf_add_char(out, '`');
    (void)buf_add_lit(out, "diff\n");
    (void)buf_add_str(out, buf_str(diff));
    for (size_t i = 0; i < n_quotes; i++)
        (void)buf_add_char(out, '`');
    (void)buf_add_lit(out, "\n\n");
    fs_answer(c, buf_str(out));
}

void fs_edit_file(struct local_call *c)
{
    const char *path = path_arg(c, "path");
    const struct json *edits = json_get(c->args, "edits");
    struct str text;

    if (!path)
        return;
    int r = path_read(c, path, &text);
    if (r < 0) {
        path_fail(c, r, r == -EISDIR ? "read" : "open", r == -EISDIR ? NULL : path);
        return;
    }
    text = unix_lines(c, text);
    struct str after = text;
    for (size_t i = 0; edits && i < edits->n; i++) {
        after = apply_text_edit(c, after, json_at(edits, i));
        if (!after.p) {
            struct str old = json_str(json_get(json_at(edits, i), "oldText"), STR(""));
            local_fail(c, "Could not find exact match for edit:\n" STR_FMT, STR_ARG(old));
            return;
        }
    }
    show_text_diff(c, path, text, after);
    if (c->is_error || local_bool(c, "dryRun"))
        return;
    r = path_write(c, path, after);
    if (r < 0)
        path_fail(c, r, "open", path);
}
