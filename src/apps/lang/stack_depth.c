/* SPDX-License-Identifier: MIT */
/* SQLite's parser has a stack of 100 entries, and refuses what needs more. */
#include "apps/lang/lang_internal.h"
#include "base/ascii.h"

/* What the parenthesis at I puts on the parser's stack: itself, the name and the modifier of a
 * function, and what is before it when that is the left side of an operator. */
static unsigned cost_of(struct str sql, size_t i)
{
    unsigned cost = 1;

    if (i > 0 && ascii_is_word(sql.p[i - 1])) {
        cost += 2;
        while (i > 0 && ascii_is_word(sql.p[i - 1]))
            i--;
    }
    while (i > 0 && sql.p[i - 1] == ' ')
        i--;
    return i == 0 || sql.p[i - 1] == '(' || sql.p[i - 1] == ',' ? cost : cost + 2;
}

unsigned lang_stack(struct str sql)
{
    unsigned costs[LANG_MAX_STACK + 1] = {0}, depth = 0, sum = 0, max = 0;

    for (size_t i = 0; i < sql.len && depth < LANG_MAX_STACK && max <= LANG_MAX_STACK; i++) {
        bool is_case = str_starts(str_skip(sql, i), STR("CASE "));
        if (sql.p[i] == '(' || is_case) {
            costs[++depth] = is_case ? 6 : cost_of(sql, i);
            sum += costs[depth];
        } else if (depth > 0 && (sql.p[i] == ')' || str_starts(str_skip(sql, i), STR(" END")))) {
            sum -= costs[depth--];
        } else if (sql.p[i] == ',' && costs[depth] < 6) {
            /* Of a list, the part that was read. */
            costs[depth] += 2;
            sum += 2;
        }
        max = sum > max ? sum : max;
    }
    return depth >= LANG_MAX_STACK ? LANG_MAX_STACK + 1 : max;
}
