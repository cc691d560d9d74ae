/* SPDX-License-Identifier: MIT */
/* Regular expressions, second half: the tree becomes a program, and a search runs all the ways
 * through the program at once, so that each character is looked at once per instruction. */
#include "base/regex.h"

#include <errno.h>
#include <string.h>

#include "base/regex_internal.h"
#include "base/utf8.h"

/* ---- tree to program ---- */

enum {
    /* Visits of nodes: bounds what repetitions of nothing cost, which emit no instructions. */
    VISITS_MAX = 16 * REGEX_PROGRAM_MAX
};

struct emitter {
    struct regex_instruction program[REGEX_PROGRAM_MAX];
    uint32_t n, visits;
};

/* The new instruction's place, or -E2BIG. */
static int emit_instruction(struct emitter *m, struct regex_instruction i)
{
    if (m->n == REGEX_PROGRAM_MAX)
        return -E2BIG;
    m->program[m->n] = i;
    return (int)m->n++;
}

static int emit_regex_node(struct emitter *m, const struct regex_node *node);

static int emit_pieces(struct emitter *m, const struct regex_node *piece)
{
    for (; piece; piece = piece->next) {
        int r = emit_regex_node(m, piece);
        if (r < 0)
            return r;
    }
    return 0;
}

/* a|b|c: split a, jump end; split b, jump end; c. The jumps are chained through x until the end
 * is known. */
static int emit_branches(struct emitter *m, const struct regex_node *group)
{
    int jumps = -1;

    for (const struct regex_node *b = group->child; b; b = b->next) {
        int split =
            b->next ? emit_instruction(m, (struct regex_instruction){.op = REGEX_OP_SPLIT}) : 0;
        int r = split < 0 ? split : emit_pieces(m, b->child);
        if (r < 0)
            return r;
        if (!b->next)
            break;
        r = emit_instruction(
            m, (struct regex_instruction){.op = REGEX_OP_JUMP, .x = (uint16_t)(jumps + 1)});
        if (r < 0)
            return r;
        jumps = r;
        m->program[split].x = (uint16_t)(split + 1);
        m->program[split].y = (uint16_t)m->n;
    }
    while (jumps >= 0) {
        int before = m->program[jumps].x - 1;
        m->program[jumps].x = (uint16_t)m->n;
        jumps = before;
    }
    return 0;
}

static int emit_regex_group(struct emitter *m, const struct regex_node *group)
{
    if (!group->is_first)
        return emit_branches(m, group);
    int r = emit_instruction(m, (struct regex_instruction){.op = REGEX_OP_MARK, .x = 0});
    if (r >= 0)
        r = emit_branches(m, group);
    return r < 0 ? r : emit_instruction(m, (struct regex_instruction){.op = REGEX_OP_MARK, .x = 1});
}

/* The ways on from SPLIT: into what follows it, or to here; the preferred one first. */
static void set_split(struct emitter *m, int split, const struct regex_node *node)
{
    uint16_t in = (uint16_t)(split + 1), out = (uint16_t)m->n;

    m->program[split].x = node->is_lazy ? out : in;
    m->program[split].y = node->is_lazy ? in : out;
}

/* x*: split in or out; x; jump back. */
static int emit_star(struct emitter *m, const struct regex_node *node)
{
    int split = emit_instruction(m, (struct regex_instruction){.op = REGEX_OP_SPLIT});
    int r = split < 0 ? split : emit_regex_node(m, node->child);

    if (r >= 0)
        r = emit_instruction(m,
                             (struct regex_instruction){.op = REGEX_OP_JUMP, .x = (uint16_t)split});
    if (r < 0)
        return r;
    set_split(m, split, node);
    return 0;
}

/* x{m,n}: m times x, then n - m times x?, or x* without a maximum. */
static int emit_repeat(struct emitter *m, const struct regex_node *node)
{
    for (uint32_t i = 0; i < node->min; i++) {
        int r = emit_regex_node(m, node->child);
        if (r < 0)
            return r;
    }
    if (node->max == REGEX_NO_MAX)
        return emit_star(m, node);
    for (uint32_t i = node->min; i < node->max; i++) {
        int split = emit_instruction(m, (struct regex_instruction){.op = REGEX_OP_SPLIT});
        int r = split < 0 ? split : emit_regex_node(m, node->child);
        if (r < 0)
            return r;
        set_split(m, split, node);
    }
    return 0;
}

static int emit_regex_node(struct emitter *m, const struct regex_node *node)
{
    if (++m->visits > VISITS_MAX)
        return -E2BIG;
    switch (node->type) {
    case REGEX_CHAR:
        return emit_instruction(m, (struct regex_instruction){.op = REGEX_OP_CHAR, .c = node->c});
    case REGEX_SET:
        return emit_instruction(m,
                                (struct regex_instruction){.op = REGEX_OP_SET, .set = node->set});
    case REGEX_ASSERT:
        return emit_instruction(
            m, (struct regex_instruction){.op = REGEX_OP_ASSERT, .kind = node->kind});
    case REGEX_REPEAT: return emit_repeat(m, node);
    case REGEX_GROUP:
    case REGEX_BRANCH: break;
    }
    return emit_regex_group(m, node);
}

static struct regex *finish_program(struct arena *a, const struct emitter *m,
                                    const struct regex_node *tree)
{
    const struct regex_node *branch = tree->child;
    struct regex *re = arena_new(a, struct regex);
    struct regex_instruction *program = arena_alloc(a, m->n * sizeof *program);

    if (!re || !program)
        return NULL;
    memcpy(program, m->program, m->n * sizeof *program);
    re->program = program;
    re->n = (uint16_t)m->n;
    for (uint32_t i = 0; i < m->n; i++)
        re->has_group |= program[i].op == REGEX_OP_MARK;
    re->is_anchored = !branch->next && branch->child && branch->child->type == REGEX_ASSERT &&
                      branch->child->kind == REGEX_BEGIN;
    return re;
}

struct regex *regex_compile(struct arena *a, struct str pattern, struct err *e)
{
    const struct regex_node *tree = regex_parse(a, pattern, e);
    struct arena scratch auto_arena;

    arena_init(&scratch, 2 * sizeof(struct emitter));
    if (!tree)
        return NULL;
    struct emitter *m = arena_new(&scratch, struct emitter);
    if (!m) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    if (emit_regex_node(m, tree) < 0 ||
        emit_instruction(m, (struct regex_instruction){.op = REGEX_OP_MATCH}) < 0) {
        (void)err_set(e, -E2BIG, "the pattern is too large");
        return NULL;
    }
    struct regex *re = finish_program(a, m, tree);
    if (!re)
        (void)err_set(e, -ENOMEM, "out of memory");
    return re;
}

bool regex_has_group(const struct regex *re)
{
    return re->has_group;
}

/* ---- search ---- */

/* Between two characters of the text. */
struct regex_place {
    bool at_begin, at_end;
    bool word_before, word_behind;
};

struct regex_run {
    const struct regex *re;
    struct regex_place place;
    bool found;
    uint64_t work; /* instructions looked at */
    uint16_t n_threads, n_next;
    uint16_t threads[REGEX_PROGRAM_MAX]; /* at this place, each before an REGEX_OP_CHAR or
                                            REGEX_OP_SET */
    uint16_t next[REGEX_PROGRAM_MAX];    /* where they go on behind the character */
    uint64_t seen[REGEX_PROGRAM_MAX / 64];
};

static bool holds_assert(enum regex_assert kind, const struct regex_place *at)
{
    switch (kind) {
    case REGEX_BEGIN: return at->at_begin;
    case REGEX_END: return at->at_end;
    case REGEX_WORD_EDGE: return at->word_before != at->word_behind;
    case REGEX_NOT_WORD_EDGE: break;
    }
    return at->word_before == at->word_behind;
}

/* Marks PC and says whether it was new. */
static bool see_instruction(struct regex_run *s, uint16_t pc)
{
    uint64_t bit = UINT64_C(1) << (pc % 64);
    bool is_new = !(s->seen[pc / 64] & bit);

    s->seen[pc / 64] |= bit;
    return is_new;
}

/* Adds PC and all that can be reached from it without a character. */
static void follow_program(struct regex_run *s, uint16_t pc)
{
    uint16_t todo[REGEX_PROGRAM_MAX]; /* no place is pushed twice */
    unsigned n = 0;

    if (see_instruction(s, pc))
        todo[n++] = pc;
    while (n > 0) {
        pc = todo[--n];
        s->work++;
        const struct regex_instruction *i = &s->re->program[pc];
        switch (i->op) {
        case REGEX_OP_CHAR:
        case REGEX_OP_SET: s->threads[s->n_threads++] = pc; break;
        case REGEX_OP_SPLIT:
            if (see_instruction(s, i->y))
                todo[n++] = i->y;
            if (see_instruction(s, i->x))
                todo[n++] = i->x;
            break;
        case REGEX_OP_JUMP:
            if (see_instruction(s, i->x))
                todo[n++] = i->x;
            break;
        case REGEX_OP_MARK:
            if (see_instruction(s, (uint16_t)(pc + 1)))
                todo[n++] = (uint16_t)(pc + 1);
            break;
        case REGEX_OP_ASSERT:
            if (holds_assert(i->kind, &s->place) && see_instruction(s, (uint16_t)(pc + 1)))
                todo[n++] = (uint16_t)(pc + 1);
            break;
        case REGEX_OP_MATCH: s->found = true; return;
        }
    }
}

static void step_threads(struct regex_run *s, uint32_t c)
{
    s->n_next = 0;
    for (uint16_t t = 0; t < s->n_threads; t++) {
        const struct regex_instruction *i = &s->re->program[s->threads[t]];
        if (i->op == REGEX_OP_CHAR ? i->c == c : regex_set_has(i->set, c))
            s->next[s->n_next++] = (uint16_t)(s->threads[t] + 1);
    }
}

/* Takes the work done since the last call, and one for the character, from STEPS. */
static bool spend_search_steps(struct regex_run *s, uint64_t *steps)
{
    uint64_t n = s->work + 1;

    s->work = 0;
    if (!steps)
        return true;
    bool enough = *steps >= n;
    *steps -= enough ? n : *steps;
    return enough;
}

int regex_search(const struct regex *re, struct str text, uint64_t *steps)
{
    struct regex_run s;
    size_t pos = 0;

    s.re = re;
    s.found = false;
    s.work = 0;
    s.n_next = 0;
    s.place = (struct regex_place){.at_begin = true};
    for (;;) {
        uint32_t c = 0xfffd; /* for bytes that are no UTF-8 */
        size_t len = pos < text.len ? utf8_decode(text.p + pos, text.len - pos, &c) : 0;
        s.place.at_end = pos >= text.len;
        s.place.word_behind = !s.place.at_end && regex_is_word(c);
        s.n_threads = 0;
        memset(s.seen, 0, ((size_t)re->n + 63) / 64 * sizeof s.seen[0]);
        for (uint16_t i = 0; i < s.n_next && !s.found; i++)
            follow_program(&s, s.next[i]);
        if (!s.found && (!re->is_anchored || pos == 0))
            follow_program(&s, 0);
        if (s.found)
            return 1;
        if (s.place.at_end || (re->is_anchored && s.n_threads == 0))
            return 0;
        if (!spend_search_steps(&s, steps))
            return -E2BIG;
        step_threads(&s, c);
        s.place = (struct regex_place){.word_before = s.place.word_behind};
        pos += len ? len : 1;
    }
}
