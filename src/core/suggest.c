/* SPDX-License-Identifier: MIT */
/* "Did you mean …?": see suggest.h. */
#include "core/suggest.h"

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

size_t suggest_distance(struct str a, struct str b)
{
    /* Three rows of the classic table; a swap looks two rows back. */
    size_t rows[3][SUGGEST_WORD_MAX + 1] = {{0}};

    if (a.len > SUGGEST_WORD_MAX || b.len > SUGGEST_WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t change = a.p[i - 1] != b.p[j - 1];
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
            bool is_swap = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
            if (is_swap && two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[a.len % 3][b.len];
}

struct suggest suggest_for(struct str word)
{
    /* A third of the letters may be wrong, but a word of one or two is no hint at all. */
    return (struct suggest){.word = word, .distance = word.len < 3 ? 1 : word.len / 3 + 2};
}

void suggest_try(struct suggest *s, const char *name)
{
    size_t d = suggest_distance(s->word, str_of(name));

    if (d < s->distance) {
        s->distance = d;
        s->best = name;
    }
}
