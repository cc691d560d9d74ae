/* SPDX-License-Identifier: MIT */
#include "local/interpreter/frame.h"

#include "base/ascii.h"

static int put_plain_frame(struct buf *out, const char *name, struct str payload)
{
    (void)buf_printf(out, "%s %zu\n", name, payload.len);
    return buf_add_str(out, payload);
}

/* One word of the shell. NUL cannot be in one. */
static void put_quoted(struct buf *out, struct str s)
{
    (void)buf_add_char(out, '\'');
    for (size_t i = 0; i < s.len; i++)
        if (s.p[i] == '\'')
            (void)buf_add_lit(out, "'\\''");
        else if (s.p[i] != '\0')
            (void)buf_add_char(out, s.p[i]);
    (void)buf_add_char(out, '\'');
}

/* Not in a function: what the code declares would be local to it. Descriptor 4 is the driver's. */
int frame_put_execute(struct buf *out, enum frame_style style, struct str code)
{
    if (style == FRAME_PLAIN)
        return put_plain_frame(out, "execute", code);
    (void)buf_add_lit(out, "eval ");
    put_quoted(out, code);
    return buf_add_lit(out, " </dev/null 4>&-\n__report_end \"$?\"\n");
}

static bool is_shell_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.p[i] != '_' && !ascii_is_letter(name.p[i]) &&
            (i == 0 || !ascii_is_digit(name.p[i])))
            return false;
    return name.len > 0;
}

int frame_put_env(struct buf *out, enum frame_style style, struct str name, struct str value)
{
    if (style == FRAME_BASH) {
        if (!is_shell_name(name))
            return 0;
        (void)buf_printf(out, value.p ? "export " STR_FMT "=" : "unset " STR_FMT, STR_ARG(name));
        if (value.p)
            put_quoted(out, value);
        return buf_add_char(out, '\n');
    }
    (void)buf_printf(out, "env %zu\n" STR_FMT "%s", name.len + (value.p ? 1 + value.len : 0),
                     STR_ARG(name), value.p ? "=" : "");
    return buf_add_str(out, value);
}

int frame_put_cwd(struct buf *out, enum frame_style style, struct str path)
{
    if (style == FRAME_PLAIN)
        return put_plain_frame(out, "cwd", path);
    (void)buf_add_lit(out, "cd -- ");
    put_quoted(out, path);
    return buf_add_char(out, '\n');
}
