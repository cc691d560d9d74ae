/* SPDX-License-Identifier: MIT */
/* Prose in columns: see wrap.h. */
#include "core/wrap.h"

#include <stdbool.h>

/* One line of TEXT from column COL on; returns the buffer's error. */
static int wrap_line(struct buf *out, struct str text, const char *indent, size_t col, size_t width)
{
    bool is_first = true;

    while (text.p) {
        struct str word = str_cut(&text, ' ');
        if (word.len == 0)
            continue;
        if (!is_first && col + 1 + word.len > width) {
            (void)buf_printf(out, "\n%s", indent);
            col = strlen(indent);
        } else if (!is_first) {
            (void)buf_add_char(out, ' ');
            col++;
        }
        (void)buf_add_str(out, word);
        col += word.len;
        is_first = false;
    }
    return out->error;
}

int wrap_text(struct buf *out, struct str text, const char *indent, size_t col, size_t width)
{
    struct str rest = text;

    while (rest.p) {
        struct str line = str_cut(&rest, '\n');
        (void)wrap_line(out, line, indent, col, width);
        col = strlen(indent);
        if (!rest.p)
            break;
        /* An empty line stays empty: no blanks at its end. */
        (void)buf_add_char(out, '\n');
        if (rest.len && rest.p[0] != '\n')
            (void)buf_add_str(out, str_of(indent));
    }
    return out->error;
}
