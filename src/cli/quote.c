/* SPDX-License-Identifier: MIT */
/* Words for a POSIX shell: see quote.h. */
#include "cli/quote.h"

int quote_word(struct buf *out, struct str word)
{
    (void)buf_add_char(out, '\'');
    while (word.p) {
        struct str part = str_cut(&word, '\'');
        (void)buf_add_str(out, part);
        if (word.p)
            (void)buf_add_lit(out, "'\\''");
    }
    return buf_add_char(out, '\'');
}

int quote_command(struct buf *out, const char *const *words, size_t n)
{
    if (n == 1)
        return buf_add_str(out, str_of(words[0]));
    for (size_t i = 0; i < n; i++) {
        if (i)
            (void)buf_add_char(out, ' ');
        (void)quote_word(out, str_of(words[i]));
    }
    return out->error;
}
