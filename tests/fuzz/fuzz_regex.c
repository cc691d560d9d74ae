/* SPDX-License-Identifier: MIT */
/* Regular expressions: a pattern, a line end, a text. Whether there is a match and where it is are
 * found in two ways that must agree. */
#include <stdlib.h>

#include "base/regex.h"
#include "fuzz.h"

enum { STEPS = 2000000 };

static void check(bool is_right)
{
    if (!is_right)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a auto_arena;
    struct str text = str_n((const char *)data, size), pattern = str_cut(&text, '\n');
    uint64_t steps = STEPS, more = STEPS;
    struct regex_match m;

    arena_init(&a, 16 << 20);
    const struct regex *re = regex_compile(&a, pattern, NULL);
    if (!re)
        return 0;
    struct regex_find f = {.re = re, .text = text, .steps = &more};
    int found = regex_search(re, text, &steps), at = regex_find(&a, &f, &m);
    check(found < 0 || at < 0 || found == at);
    if (at > 0)
        check(m.start <= m.end && m.end <= text.len);
    f.flags = REGEX_IGNORE_CASE | REGEX_LINES;
    int loose = regex_find(&a, &f, &m);
    if (loose > 0)
        check(m.start <= m.end && m.end <= text.len);
    return 0;
}
