/* SPDX-License-Identifier: MIT */
#include "apps/text/merge.h"

#include "base/textdiff.h"

/* A side under way: its next change, and how far its lines are from those of the base. */
struct merge_side {
    struct textdiff d;
    size_t next;
    int32_t shift, start; /* start: the shift at the region's beginning */
    bool is_touched;
};

static bool touches(const struct merge_side *s, int32_t end)
{
    return s->next < s->d.n && s->d.changes[s->next].a <= end;
}

/* The region of the base that begins at the next change and holds all that touch it. */
static int32_t grow_region(struct merge_side sides[2], int32_t end)
{
    for (bool is_grown = true; is_grown;) {
        is_grown = false;
        for (int i = 0; i < 2; i++) {
            struct merge_side *s = &sides[i];
            if (!touches(s, end))
                continue;
            const struct textdiff_change *c = &s->d.changes[s->next++];
            end = c->a + c->n_a > end ? c->a + c->n_a : end;
            s->shift += c->n_b - c->n_a;
            s->is_touched = is_grown = true;
        }
    }
    return end;
}

/* The lines of the side that stand for the base's [FROM, TO). */
static struct str lines_of(const struct merge_side *s, int32_t from, int32_t to)
{
    int32_t lo = from + s->start, hi = to + s->shift;

    if (lo >= hi)
        return STR("");
    const struct str *last = &s->d.b[hi - 1];
    return str_n(s->d.b[lo].p, (size_t)(last->p + last->len - s->d.b[lo].p));
}

static int32_t next_start(const struct merge_side sides[2], int32_t n)
{
    for (int i = 0; i < 2; i++) {
        const struct merge_side *s = &sides[i];
        if (s->next < s->d.n && s->d.changes[s->next].a < n)
            n = s->d.changes[s->next].a;
    }
    return n;
}

/* Adds the region from START on; false when the sides differ in it. */
static bool merge_region(struct merge_side sides[2], int32_t start, int32_t *end, struct buf *out)
{
    for (int i = 0; i < 2; i++) {
        sides[i].start = sides[i].shift;
        sides[i].is_touched = false;
    }
    *end = grow_region(sides, start);
    struct str ours = lines_of(&sides[0], start, *end), theirs = lines_of(&sides[1], start, *end);
    if (sides[0].is_touched && sides[1].is_touched && !str_eq(ours, theirs))
        return false;
    (void)buf_add_str(out, sides[0].is_touched ? ours : theirs);
    return true;
}

int merge_texts(struct arena *arena, struct str base, const struct str texts[2], struct buf *out,
                uint64_t *steps)
{
    struct merge_side sides[2] = {0};
    int32_t at = 0;

    for (int i = 0; i < 2; i++) {
        int r = textdiff_lines(&sides[i].d, base, texts[i], arena, steps);
        if (r < 0)
            return r;
    }
    const struct textdiff *d = &sides[0].d;
    while (sides[0].next < sides[0].d.n || sides[1].next < sides[1].d.n) {
        int32_t start = next_start(sides, d->n_a), end;
        for (; at < start; at++)
            (void)buf_add_str(out, d->a[at]);
        if (!merge_region(sides, start, &end, out))
            return 1;
        at = end;
    }
    for (; at < d->n_a; at++)
        (void)buf_add_str(out, d->a[at]);
    return out->error;
}
