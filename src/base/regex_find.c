/* SPDX-License-Identifier: MIT */
/* Regular expressions: where the match is. Like the search, all ways through the program are gone
 * at once, but each remembers where it began, and they are kept in the order in which a
 * backtracking matcher would try them: the first that arrives is the match. */
#include <errno.h>
#include <string.h>

#include "base/regex_internal.h"
#include "base/utf8.h"

struct way {
    uint16_t pc;
    size_t start;
    size_t group[2]; /* where the first group began and ended; SIZE_MAX: not yet */
};

/* What is still to be followed, with the groups on the way there. */
struct todo {
    uint16_t pc;
    size_t group[2];
};

struct finder {
    const struct regex_find *f;
    uint64_t work;
    bool is_found;
    struct regex_match match;
    uint32_t before, behind; /* the characters around this place; 0 at the ends */
    size_t pos;
    unsigned n, n_next;
    struct way *ways, *next; /* at this place; behind its character */
    struct todo *todo;
    uint64_t seen[REGEX_PROGRAM_MAX / 64];
};

/* ---- letters ---- */

/* Capital letters FIRST to LAST whose small ones are BY further on; with a step of two the letters
 * take turns. */
static const struct {
    uint32_t first, last, by, step;
} cases[] = {
    {'A', 'Z', 32, 1},     {0xc0, 0xd6, 32, 1},   {0xd8, 0xde, 32, 1},    {0x100, 0x12e, 1, 2},
    {0x132, 0x136, 1, 2},  {0x139, 0x147, 1, 2},  {0x14a, 0x176, 1, 2},   {0x179, 0x17d, 1, 2},
    {0x386, 0x386, 38, 1}, {0x388, 0x38a, 37, 1}, {0x38c, 0x38c, 64, 1},  {0x38e, 0x38f, 63, 1},
    {0x391, 0x3a1, 32, 1}, {0x3a3, 0x3ab, 32, 1}, {0x400, 0x40f, 80, 1},  {0x410, 0x42f, 32, 1},
    {0x460, 0x480, 1, 2},  {0x48a, 0x4be, 1, 2},  {0x1e00, 0x1e94, 1, 2}, {0x1ea0, 0x1efe, 1, 2},
};

/* C in the other case; C itself when it has none. */
static uint32_t other_case(uint32_t c)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t first = cases[i].first, last = cases[i].last, by = cases[i].by;
        if (c >= first && c <= last && (c - first) % cases[i].step == 0)
            return c + by;
        if (c >= first + by && c <= last + by && (c - by - first) % cases[i].step == 0)
            return c - by;
    }
    return c;
}

static bool takes_char(const struct finder *s, const struct regex_instruction *i, uint32_t c)
{
    bool has = i->op == REGEX_OP_CHAR ? i->c == c : regex_set_has(i->set, c);

    if (!(s->f->flags & REGEX_IGNORE_CASE))
        return has;
    uint32_t other = other_case(c);
    if (i->op == REGEX_OP_CHAR)
        return has || i->c == other;
    /* What a negated set leaves out, it leaves out in both cases. */
    return i->set->negated ? has && regex_set_has(i->set, other)
                           : has || regex_set_has(i->set, other);
}

/* ---- steps ---- */

static bool holds_finder_assert(const struct finder *s, enum regex_assert kind)
{
    bool has_lines = s->f->flags & REGEX_LINES;
    bool is_edge = regex_is_word(s->before) != regex_is_word(s->behind);

    switch (kind) {
    case REGEX_BEGIN: return s->pos == 0 || (has_lines && s->before == '\n');
    case REGEX_END: return s->pos >= s->f->text.len || (has_lines && s->behind == '\n');
    case REGEX_WORD_EDGE: return is_edge;
    case REGEX_NOT_WORD_EDGE: break;
    }
    return !is_edge;
}

/* Marks PC and says whether it was new. */
static bool see_way(struct finder *s, uint16_t pc)
{
    uint64_t bit = UINT64_C(1) << (pc % 64);
    bool is_new = !(s->seen[pc / 64] & bit);

    s->seen[pc / 64] |= bit;
    return is_new;
}

/* Adds W and all that can be reached from it without a character, the preferred ways first. True
 * when one of them arrived: what would be added later is of no interest. */
static bool follow_way(struct finder *s, struct way w)
{
    unsigned n = 0;

    s->todo[n++] = (struct todo){w.pc, {w.group[0], w.group[1]}};
    while (n > 0) {
        struct todo t = s->todo[--n];
        if (!see_way(s, t.pc))
            continue;
        s->work++;
        const struct regex_instruction *i = &s->f->re->program[t.pc];
        struct todo on = t;
        on.pc++;
        switch (i->op) {
        case REGEX_OP_CHAR:
        case REGEX_OP_SET:
            s->ways[s->n++] = (struct way){t.pc, w.start, {t.group[0], t.group[1]}};
            break;
        case REGEX_OP_SPLIT:
            on.pc = i->y;
            s->todo[n++] = on;
            on.pc = i->x;
            s->todo[n++] = on;
            break;
        case REGEX_OP_JUMP:
            on.pc = i->x;
            s->todo[n++] = on;
            break;
        case REGEX_OP_MARK:
            on.group[i->x] = s->pos;
            s->todo[n++] = on;
            break;
        case REGEX_OP_ASSERT:
            if (holds_finder_assert(s, i->kind))
                s->todo[n++] = on;
            break;
        case REGEX_OP_MATCH:
            s->is_found = true;
            s->match = (struct regex_match){w.start, s->pos, t.group[0], t.group[1]};
            return true;
        }
    }
    return false;
}

/* The ways at this place. */
static void arrive_ways(struct finder *s)
{
    bool is_over = false;

    s->n = 0;
    memset(s->seen, 0, ((size_t)s->f->re->n + 63) / 64 * sizeof s->seen[0]);
    for (unsigned i = 0; i < s->n_next && !is_over; i++)
        is_over = follow_way(s, s->next[i]);
    if (!s->is_found)
        (void)follow_way(s, (struct way){0, s->pos, {SIZE_MAX, SIZE_MAX}});
}

static void step_over_char(struct finder *s, uint32_t c)
{
    s->n_next = 0;
    for (unsigned i = 0; i < s->n; i++) {
        if (!takes_char(s, &s->f->re->program[s->ways[i].pc], c))
            continue;
        s->next[s->n_next] = s->ways[i];
        s->next[s->n_next++].pc++;
    }
}

/* Takes the work done since the last call, and one for the character, from what is allowed. */
static bool spend_finder_steps(struct finder *s)
{
    uint64_t n = s->work + 1, *steps = s->f->steps;

    s->work = 0;
    if (!steps)
        return true;
    bool enough = *steps >= n;
    *steps -= enough ? n : *steps;
    return enough;
}

/* The character at the place, U+FFFD for a byte that is no UTF-8; its length. */
static size_t read_regex_char(const struct finder *s, uint32_t *c)
{
    size_t left = s->f->text.len - s->pos;
    size_t len = left > 0 ? utf8_decode(s->f->text.p + s->pos, left, c) : 0;

    if (len > 0)
        return len;
    *c = left > 0 ? 0xfffd : 0;
    return left > 0;
}

static int find_match(struct finder *s)
{
    for (;;) {
        size_t len = read_regex_char(s, &s->behind);
        arrive_ways(s);
        if (len == 0 || (s->is_found && s->n == 0))
            return s->is_found;
        if (!spend_finder_steps(s))
            return -E2BIG;
        step_over_char(s, s->behind);
        s->before = s->behind;
        s->pos += len;
    }
}

/* The character in front of the place FROM, as far as assertions care. */
static uint32_t char_before(const struct regex_find *f)
{
    return f->from > 0 ? (unsigned char)f->text.p[f->from - 1] : 0;
}

int regex_find(struct arena *a, const struct regex_find *f, struct regex_match *ret)
{
    struct finder *s = arena_new(a, struct finder);
    size_t n = f->re->n;

    if (!s || f->from > f->text.len)
        return s ? 0 : -ENOMEM;
    s->f = f;
    s->pos = f->from;
    s->before = char_before(f);
    s->ways = arena_alloc(a, n * sizeof *s->ways);
    s->next = arena_alloc(a, n * sizeof *s->next);
    s->todo = arena_alloc(a, (2 * n + 1) * sizeof *s->todo);
    if (!s->ways || !s->next || !s->todo)
        return -ENOMEM;
    int r = find_match(s);
    if (r > 0)
        *ret = s->match;
    return r;
}
