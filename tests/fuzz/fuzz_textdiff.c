/* SPDX-License-Identifier: MIT */
/* Differences: byte 0 says where the first text ends. Applying the hunks to it gives the second. */
#include <stdlib.h>

#include "base/textdiff.h"
#include "fuzz.h"

static struct str take_line(struct str *text)
{
    ptrdiff_t at = str_chr(*text, '\n');
    struct str line = str_slice(*text, 0, at < 0 ? text->len : (size_t)at + 1);

    *text = str_skip(*text, line.len);
    return line;
}

/* What the hunks make of A. */
static void apply(struct buf *out, struct str a, struct str hunks)
{
    long line_number = 1, from = 0;

    while (hunks.len > 0) {
        struct str line = take_line(&hunks);
        bool is_cut = str_starts(hunks, STR("\\ No newline"));
        if (line.p[0] == '@') {
            from = strtol(line.p + 4, NULL, 10);
            for (; line_number < from; line_number++)
                (void)buf_add_str(out, take_line(&a));
            continue;
        }
        if (line.p[0] == '\\')
            continue;
        if (line.p[0] != '+') {
            (void)take_line(&a);
            line_number++;
        }
        if (line.p[0] != '-')
            (void)buf_add_str(out, str_slice(line, 1, is_cut ? line.len - 1 : line.len));
    }
    (void)buf_add_str(out, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena auto_arena;
    auto_buf struct buf hunks = BUF_INIT(1 << 20), made = BUF_INIT(1 << 20);

    if (size < 1 || size > 20000)
        return 0;
    struct str all = str_n((const char *)data + 1, size - 1);
    size_t at = all.len * data[0] / 255;
    struct str a = str_slice(all, 0, at), b = str_skip(all, at);
    arena_init(&arena, 64 << 20);
    if (textdiff_hunks(&hunks, a, b, data[0] % 5, &arena) < 0)
        return 0;
    /* With no context a hunk that only adds begins behind its number; see diff's manual. */
    if (data[0] % 5 == 0)
        return 0;
    if (hunks.len == 0) {
        if (!str_eq(a, b))
            abort();
        return 0;
    }
    apply(&made, a, buf_str(&hunks));
    if (!str_eq(buf_str(&made), b))
        abort();
    return 0;
}
