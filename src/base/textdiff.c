/* SPDX-License-Identifier: MIT */
/* Myers' algorithm: the shortest way through the grid of lines, found by how far one comes with D
 * edits on each diagonal, and walked back from what was kept of each D. */
#include "base/textdiff.h"

#include <errno.h>

struct diff_side {
    struct str *lines; /* with their line break */
    int32_t n;
};

struct diff_work {
    struct arena *arena;
    struct diff_side a, b;
    int32_t skip; /* equal lines at the beginning */
    struct textdiff_change *changes;
    size_t n_changes, cap;
    bool has_failed;
    uint64_t n_steps; /* since the last spend_diff_steps() */
};

static int split_lines(struct arena *arena, struct str text, struct diff_side *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += text.p[i] == '\n' || i + 1 == text.len;
    if (n > TEXTDIFF_MAX_LINES)
        return -E2BIG;
    ret->lines = arena_zalloc(arena, n + 1, sizeof *ret->lines);
    if (!ret->lines)
        return -ENOMEM;
    for (size_t from = 0; from < text.len;) {
        ptrdiff_t at = str_chr(str_skip(text, from), '\n');
        size_t to = at < 0 ? text.len : from + (size_t)at + 1;
        ret->lines[ret->n++] = str_slice(text, from, to);
        from = to;
    }
    return 0;
}

static void add_change(struct diff_work *w, struct textdiff_change c)
{
    if (c.n_a == 0 && c.n_b == 0)
        return;
    struct textdiff_change *all =
        arena_grow(w->arena, w->changes, w->n_changes, &w->cap, sizeof *all);
    if (!all) {
        w->has_failed = true;
        return;
    }
    w->changes = all;
    w->changes[w->n_changes++] = c;
}

static bool is_line_same(struct diff_work *w, int32_t x, int32_t y)
{
    w->n_steps += 1 + w->a.lines[x].len / 32;
    return str_eq(w->a.lines[x], w->b.lines[y]);
}

/* Takes what was done since the last call from STEPS. */
static bool spend_diff_steps(struct diff_work *w, uint64_t *steps)
{
    uint64_t n = w->n_steps;

    w->n_steps = 0;
    if (!steps)
        return true;
    bool enough = *steps > n;
    *steps -= enough ? n : *steps;
    return enough;
}

/* ---- the shortest way ---- */

/* One step further: from how far D - 1 edits come (V) to how far D do. True at the end. */
static bool extend(struct diff_work *w, int32_t *v, int32_t d)
{
    w->n_steps += 2 * (uint64_t)d + 1;
    for (int32_t k = -d; k <= d; k += 2) {
        bool is_down = k == -d || (k != d && v[k - 1] < v[k + 1]);
        int32_t x = is_down ? v[k + 1] : v[k - 1] + 1, y = x - k;
        while (x < w->a.n && y < w->b.n && is_line_same(w, x, y)) {
            x++;
            y++;
        }
        v[k] = x;
        if (x >= w->a.n && y >= w->b.n)
            return true;
    }
    return false;
}

/* Walks back through what was kept; single steps, last first. */
static void walk_back(struct diff_work *w, int32_t **kept, int32_t d)
{
    int32_t x = w->a.n, y = w->b.n;

    for (; d > 0; d--) {
        const int32_t *v = kept[d - 1] + d; /* centred: indices -d … d */
        int32_t k = x - y;
        bool is_down = k == -d || (k != d && v[k - 1] < v[k + 1]);
        int32_t from_k = is_down ? k + 1 : k - 1;
        x = v[from_k];
        y = x - from_k;
        if (is_down)
            add_change(w, (struct textdiff_change){x, 0, y, 1});
        else
            add_change(w, (struct textdiff_change){x, 1, y, 0});
    }
}

/* Keeps V[-d-1 … d+1], which is what D + 1 looks at. */
static int32_t *keep_frontier(struct diff_work *w, const int32_t *v, int32_t d)
{
    size_t n = 2 * (size_t)d + 3;
    int32_t *copy = arena_alloc(w->arena, n * sizeof *copy);

    if (copy)
        memcpy(copy, v - d - 1, n * sizeof *copy);
    return copy;
}

static int find_changes(struct diff_work *w, uint64_t *steps)
{
    int32_t max = w->a.n + w->b.n < TEXTDIFF_MAX_EDITS ? w->a.n + w->b.n : TEXTDIFF_MAX_EDITS;
    int32_t **kept = arena_zalloc(w->arena, (size_t)max + 1, sizeof *kept);
    int32_t *v = arena_zalloc(w->arena, 2 * (size_t)max + 5, sizeof *v);

    if (!kept || !v)
        return -ENOMEM;
    v += max + 2;
    for (int32_t d = 0; d <= max; d++) {
        if (extend(w, v, d)) {
            walk_back(w, kept, d);
            return 0;
        }
        if (!spend_diff_steps(w, steps))
            return -ETIME;
        kept[d] = keep_frontier(w, v, d);
        if (!kept[d])
            return -ENOMEM;
    }
    add_change(w, (struct textdiff_change){0, w->a.n, 0, w->b.n});
    return 0;
}

/* Single steps, last first, become changes in order, each as long as it can be. */
static void join_changes(struct diff_work *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_changes / 2; i++) {
        struct textdiff_change t = w->changes[i];
        w->changes[i] = w->changes[w->n_changes - 1 - i];
        w->changes[w->n_changes - 1 - i] = t;
    }
    for (size_t i = 0; i < w->n_changes; i++) {
        struct textdiff_change c = w->changes[i];
        struct textdiff_change *last = n > 0 ? &w->changes[n - 1] : NULL;
        c.a += w->skip;
        c.b += w->skip;
        if (last && last->a + last->n_a == c.a && last->b + last->n_b == c.b) {
            last->n_a += c.n_a;
            last->n_b += c.n_b;
        } else {
            w->changes[n++] = c;
        }
    }
    w->n_changes = n;
}

/* ---- hunks ---- */

static void write_diff_lines(struct buf *out, char mark, const struct str *lines, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        (void)buf_add_char(out, mark);
        (void)buf_add_str(out, lines[i]);
        if (lines[i].p[lines[i].len - 1] != '\n')
            (void)buf_add_lit(out, "\n\\ No newline at end of file\n");
    }
}

static void write_diff_range(struct buf *out, char sign, int32_t from, int32_t n,
                             enum textdiff_style style)
{
    /* Of no lines the number is that of the line before. */
    (void)buf_printf(out, "%c%d", sign, n ? from + 1 : from);
    if (n != 1 || style == TEXTDIFF_FULL)
        (void)buf_printf(out, ",%d", n);
}

/* Changes [FROM, TO) with the lines between and around them. */
struct hunk {
    size_t from, to;
    int32_t context;
    enum textdiff_style style;
};

static void write_hunk(struct buf *out, const struct textdiff *d, const struct hunk *h)
{
    const struct textdiff_change *first = &d->changes[h->from], *last = &d->changes[h->to - 1];
    int32_t before = first->a < h->context ? first->a : h->context;
    int32_t left = d->n_a - last->a - last->n_a, after = left < h->context ? left : h->context;
    int32_t a = first->a - before, b = first->b - before;

    (void)buf_add_lit(out, "@@ ");
    write_diff_range(out, '-', a, last->a + last->n_a + after - a, h->style);
    (void)buf_add_char(out, ' ');
    write_diff_range(out, '+', b, last->b + last->n_b + after - b, h->style);
    (void)buf_add_lit(out, " @@\n");
    for (size_t i = h->from; i < h->to; i++) {
        const struct textdiff_change *c = &d->changes[i];
        write_diff_lines(out, ' ', d->a + a, c->a - a);
        write_diff_lines(out, '-', d->a + c->a, c->n_a);
        write_diff_lines(out, '+', d->b + c->b, c->n_b);
        a = c->a + c->n_a;
    }
    write_diff_lines(out, ' ', d->a + a, after);
}

int textdiff_write(struct buf *out, const struct textdiff *d, unsigned context,
                   enum textdiff_style style)
{
    struct hunk h = {.context = (int32_t)context, .style = style};

    for (; h.from < d->n; h.from = h.to) {
        for (h.to = h.from + 1; h.to < d->n; h.to++) {
            const struct textdiff_change *last = &d->changes[h.to - 1];
            if (d->changes[h.to].a - last->a - last->n_a > 2 * h.context)
                break;
        }
        write_hunk(out, d, &h);
    }
    return buf_ok(out) ? 0 : -E2BIG;
}

int textdiff_lines(struct textdiff *ret, struct str a, struct str b, struct arena *arena,
                   uint64_t *steps)
{
    struct diff_work w = {.arena = arena};
    int r = split_lines(arena, a, &w.a);

    if (r == 0)
        r = split_lines(arena, b, &w.b);
    if (r < 0)
        return r;
    struct diff_side whole_a = w.a, whole_b = w.b;
    while (w.skip < w.a.n && w.skip < w.b.n && is_line_same(&w, w.skip, w.skip))
        w.skip++;
    w.a.lines += w.skip;
    w.b.lines += w.skip;
    w.a.n -= w.skip;
    w.b.n -= w.skip;
    while (w.a.n > 0 && w.b.n > 0 && is_line_same(&w, w.a.n - 1, w.b.n - 1)) {
        w.a.n--;
        w.b.n--;
    }
    r = find_changes(&w, steps);
    if (r < 0 || w.has_failed)
        return r < 0 ? r : -ENOMEM;
    join_changes(&w);
    *ret = (struct textdiff){whole_a.lines, whole_b.lines, whole_a.n,
                             whole_b.n,     w.changes,     w.n_changes};
    return 0;
}

int textdiff_hunks(struct buf *out, struct str a, struct str b, unsigned context,
                   struct arena *arena)
{
    struct textdiff d;
    int r = textdiff_lines(&d, a, b, arena, NULL);

    return r < 0 ? r : textdiff_write(out, &d, context, TEXTDIFF_FULL);
}
