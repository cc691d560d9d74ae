/* SPDX-License-Identifier: MIT */
#include "apps/diff.h"

#include <errno.h>

/* ---- lines ---- */

static int split(struct arena *arena, struct str text, struct str **ret, size_t *ret_n)
{
    size_t n = 0, i = 0;

    for (size_t k = 0; k < text.len; k++)
        n += text.p[k] == '\n' || k + 1 == text.len;
    struct str *lines = arena_zalloc(arena, n + 1, sizeof *lines);
    if (!lines)
        return -ENOMEM;
    while (i < n) {
        ptrdiff_t at = str_chr(text, '\n');
        size_t len = at < 0 ? text.len : (size_t)at + 1;
        lines[i++] = str_slice(text, 0, len);
        text = str_skip(text, len);
    }
    *ret = lines;
    *ret_n = n;
    return 0;
}

/* ---- the search for the fewest edits ---- */

/* The middle of both texts, what is left without equal lines at both ends. */
struct search {
    struct arena *arena;
    const struct str *a, *b;
    ptrdiff_t n_a, n_b;
    bool *is_kept_a, *is_kept_b; /* found: lines that are in both */
    ptrdiff_t **rows;            /* per number of edits: how far each diagonal came before */
};

static ptrdiff_t first_step(const ptrdiff_t *v, ptrdiff_t d, ptrdiff_t k)
{
    bool is_down = k == -d || (k != d && v[k - 1] < v[k + 1]);

    return is_down ? v[k + 1] : v[k - 1] + 1;
}

/* One more edit on every diagonal; true when both ends are reached. */
static bool advance(const struct search *s, ptrdiff_t *v, ptrdiff_t d)
{
    for (ptrdiff_t k = -d; k <= d; k += 2) {
        ptrdiff_t x = first_step(v, d, k);
        while (x < s->n_a && x - k < s->n_b && str_eq(s->a[x], s->b[x - k]))
            x++;
        v[k] = x;
        if (x >= s->n_a && x - k >= s->n_b)
            return true;
    }
    return false;
}

/* From the end back to the start, the way that was found. */
static void mark_kept(const struct search *s, ptrdiff_t d)
{
    ptrdiff_t x = s->n_a, y = s->n_b;

    for (; d >= 0; d--) {
        const ptrdiff_t *v = s->rows[d];
        ptrdiff_t k = x - y;
        ptrdiff_t start = d == 0 ? 0 : first_step(v, d, k);
        while (x > start && y > 0 && x > 0) {
            s->is_kept_a[--x] = true;
            s->is_kept_b[--y] = true;
        }
        if (d == 0)
            return;
        bool is_down = k == -d || (k != d && v[k - 1] < v[k + 1]);
        x = is_down ? start : start - 1;
        y = x - (is_down ? k + 1 : k - 1);
    }
}

static int find_kept(struct search *s)
{
    ptrdiff_t sum = s->n_a + s->n_b, max = sum < DIFF_MAX_EDITS ? sum : DIFF_MAX_EDITS;
    ptrdiff_t *v = arena_zalloc(s->arena, (size_t)(2 * max + 3), sizeof *v);

    s->rows = arena_zalloc(s->arena, (size_t)max + 1, sizeof(ptrdiff_t *));
    if (!v || !s->rows)
        return -ENOMEM;
    v += max + 1;
    for (ptrdiff_t d = 0; d <= max; d++) {
        ptrdiff_t *row = arena_alloc(s->arena, (size_t)(2 * d + 3) * sizeof *row);
        if (!row)
            return -ENOMEM;
        memcpy(row, v - d - 1, (size_t)(2 * d + 3) * sizeof *row);
        s->rows[d] = row + d + 1;
        if (!advance(s, v, d))
            continue;
        mark_kept(s, d);
        break;
    }
    return 0;
}

/* ---- changes ---- */

static int collect(struct arena *arena, struct diff *d, const bool *is_kept_a,
                   const bool *is_kept_b)
{
    size_t cap = 0, i = 0, k = 0;

    while (i < d->n_a || k < d->n_b) {
        struct diff_change c = {.a = i, .b = k};
        while (i < d->n_a && !is_kept_a[i])
            i++;
        while (k < d->n_b && !is_kept_b[k])
            k++;
        c.n_a = i - c.a;
        c.n_b = k - c.b;
        if (c.n_a + c.n_b > 0) {
            d->changes = arena_grow(arena, d->changes, d->n, &cap, sizeof c);
            if (!d->changes)
                return -ENOMEM;
            d->changes[d->n++] = c;
        }
        i++;
        k++;
    }
    return 0;
}

int diff_lines(struct arena *arena, struct str a, struct str b, struct diff *ret)
{
    struct diff d = {0};
    size_t head = 0, tail = 0;

    if (split(arena, a, &d.a, &d.n_a) < 0 || split(arena, b, &d.b, &d.n_b) < 0)
        return -ENOMEM;
    size_t least = d.n_a < d.n_b ? d.n_a : d.n_b;
    while (head < least && str_eq(d.a[head], d.b[head]))
        head++;
    while (tail < least - head && str_eq(d.a[d.n_a - 1 - tail], d.b[d.n_b - 1 - tail]))
        tail++;
    bool *kept_a = arena_zalloc(arena, d.n_a + 1, sizeof *kept_a);
    bool *kept_b = arena_zalloc(arena, d.n_b + 1, sizeof *kept_b);
    if (!kept_a || !kept_b)
        return -ENOMEM;
    memset(kept_a, 1, head);
    memset(kept_b, 1, head);
    memset(kept_a + d.n_a - tail, 1, tail);
    memset(kept_b + d.n_b - tail, 1, tail);
    struct search s = {.arena = arena,
                       .a = d.a + head,
                       .b = d.b + head,
                       .n_a = (ptrdiff_t)(d.n_a - head - tail),
                       .n_b = (ptrdiff_t)(d.n_b - head - tail),
                       .is_kept_a = kept_a + head,
                       .is_kept_b = kept_b + head};
    int r = find_kept(&s);
    if (r == 0)
        r = collect(arena, &d, kept_a, kept_b);
    if (r == 0)
        *ret = d;
    return r;
}

/* ---- patches ---- */

static void add_line(struct buf *out, char sign, struct str line)
{
    (void)buf_add_char(out, sign);
    (void)buf_add_str(out, line);
    if (!str_ends(line, STR("\n")))
        (void)buf_add_lit(out, "\n\\ No newline at end of file\n");
}

static void add_range(struct buf *out, char sign, size_t from, size_t n)
{
    /* Of no lines the number is that of the line before. */
    (void)buf_printf(out, "%c%zu", sign, n == 0 ? from : from + 1);
    if (n != 1)
        (void)buf_printf(out, ",%zu", n);
}

/* The changes [FROM, TO) are one hunk. */
static void add_hunk(struct buf *out, const struct diff *d, size_t from, size_t to)
{
    const struct diff_change *first = &d->changes[from], *last = &d->changes[to - 1];
    size_t before = first->a < DIFF_CONTEXT ? first->a : DIFF_CONTEXT;
    size_t rest = d->n_a - last->a - last->n_a, after = rest < DIFF_CONTEXT ? rest : DIFF_CONTEXT;
    size_t at = first->a - before, end = last->a + last->n_a + after;

    (void)buf_add_lit(out, "@@ ");
    add_range(out, '-', at, end - at);
    (void)buf_add_char(out, ' ');
    add_range(out, '+', first->b - before, last->b + last->n_b + after - (first->b - before));
    (void)buf_add_lit(out, " @@\n");
    for (size_t i = from; i < to; i++) {
        const struct diff_change *c = &d->changes[i];
        for (; at < c->a; at++)
            add_line(out, ' ', d->a[at]);
        for (; at < c->a + c->n_a; at++)
            add_line(out, '-', d->a[at]);
        for (size_t k = c->b; k < c->b + c->n_b; k++)
            add_line(out, '+', d->b[k]);
    }
    for (; at < end; at++)
        add_line(out, ' ', d->a[at]);
}

int diff_patch(const struct diff *d, struct buf *out)
{
    for (size_t from = 0, to; from < d->n; from = to) {
        to = from + 1;
        while (to < d->n && d->changes[to].a - d->changes[to - 1].a - d->changes[to - 1].n_a <=
                                2 * (size_t)DIFF_CONTEXT)
            to++;
        add_hunk(out, d, from, to);
    }
    return out->error;
}

/* ---- merges ---- */

/* A side under way: its next change, and how far its lines are from those of the base. */
struct side {
    struct diff d;
    size_t next;
    ptrdiff_t shift, start; /* start: the shift at the region's beginning */
    bool is_touched;
};

static bool touches(const struct side *s, size_t end)
{
    return s->next < s->d.n && s->d.changes[s->next].a <= end;
}

/* The region of the base that begins at the next change and holds all that touch it. */
static size_t grow_region(struct side sides[2], size_t end)
{
    for (bool is_grown = true; is_grown;) {
        is_grown = false;
        for (int i = 0; i < 2; i++) {
            struct side *s = &sides[i];
            if (!touches(s, end))
                continue;
            const struct diff_change *c = &s->d.changes[s->next++];
            end = c->a + c->n_a > end ? c->a + c->n_a : end;
            s->shift += (ptrdiff_t)c->n_b - (ptrdiff_t)c->n_a;
            s->is_touched = is_grown = true;
        }
    }
    return end;
}

/* The lines of the side that stand for the base's [FROM, TO). */
static struct str lines_of(const struct side *s, size_t from, size_t to)
{
    size_t lo = (size_t)((ptrdiff_t)from + s->start), hi = (size_t)((ptrdiff_t)to + s->shift);

    if (lo >= hi)
        return STR("");
    const struct str *last = &s->d.b[hi - 1];
    return str_n(s->d.b[lo].p, (size_t)(last->p + last->len - s->d.b[lo].p));
}

static size_t next_start(const struct side sides[2], size_t n)
{
    for (int i = 0; i < 2; i++) {
        const struct side *s = &sides[i];
        if (s->next < s->d.n && s->d.changes[s->next].a < n)
            n = s->d.changes[s->next].a;
    }
    return n;
}

/* Adds the region from START on; false when the sides differ in it. */
static bool merge_region(struct side sides[2], size_t start, size_t *end, struct buf *out)
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

int diff_merge(struct arena *arena, struct str base, const struct str texts[2], struct buf *out)
{
    struct side sides[2] = {0};
    size_t at = 0;

    for (int i = 0; i < 2; i++) {
        int r = diff_lines(arena, base, texts[i], &sides[i].d);
        if (r < 0)
            return r;
    }
    const struct diff *d = &sides[0].d;
    while (sides[0].next < sides[0].d.n || sides[1].next < sides[1].d.n) {
        size_t start = next_start(sides, d->n_a), end;
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
