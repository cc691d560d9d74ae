/* SPDX-License-Identifier: MIT */
#include "apps/formula/book.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum state { WAITING, UNDER_WAY, DONE };

/* What is known of a cell besides itself. */
struct book_slot {
    const struct formula *formula; /* NULL: none, or it cannot be read */
    struct formula_value before;
    uint32_t anchor; /* of a filled cell: the number of the formula's cell; else NONE */
    enum state state;
    bool is_malformed, is_dirty, is_circular, was_filled;
};
#define NONE UINT32_MAX

/* A place on the way through formulas that read others. */
struct book_frame {
    uint32_t cell;
    size_t area;       /* which one of its formula's is looked through */
    uint32_t col, row; /* where in it */
};

struct book_calc {
    struct formula_book *book;
    struct book_slot *slots;
    struct formula_extent *extents; /* of sheets */
    struct formula_env env;
    struct arena scratch; /* of one formula */
    struct book_frame *stack;
    struct formula_cell *more; /* places to be filled that have no cell yet */
    size_t n_more, cap_more;
    unsigned n_nested;
    struct formula_place at; /* of the formula under way, for random numbers */
    uint64_t n_random, steps;
    bool has_failed, needs_round;
};

/* ---- cells by place ---- */

/* By sheet, then column, then row: an area is a few runs of cells. */
static int book_place_cmp(const struct formula_place *a, const struct formula_place *b)
{
    if (a->sheet != b->sheet)
        return a->sheet < b->sheet ? -1 : 1;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int cell_cmp(const void *a, const void *b)
{
    return book_place_cmp(&((const struct formula_cell *)a)->at,
                          &((const struct formula_cell *)b)->at);
}

/* The number of the first cell that is not before AT. */
static uint32_t lower_bound(const struct formula_book *b, const struct formula_place *at)
{
    size_t low = 0, high = b->n_cells;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (book_place_cmp(&b->cells[mid].at, at) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return (uint32_t)low;
}

static uint32_t find_book_cell(const struct formula_book *b, struct formula_place at)
{
    uint32_t i = lower_bound(b, &at);

    return i < b->n_cells && book_place_cmp(&b->cells[i].at, &at) == 0 ? i : NONE;
}

/* ---- values ---- */

static bool is_same_value(const struct formula_value *a, const struct formula_value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case FORMULA_NUMBER:
        return a->look == b->look && !(a->number < b->number) && !(a->number > b->number);
    case FORMULA_TEXT: return str_eq(a->text, b->text);
    case FORMULA_BOOL: return a->flag == b->flag;
    case FORMULA_ERROR: return a->error == b->error;
    case FORMULA_BLANK:
    case FORMULA_ARRAY:
    case FORMULA_AREA:
    case FORMULA_TYPE_COUNT: break;
    }
    return true;
}

/* Sets a cell's value; texts move from the scratch arena to the book's. */
static void set_book_value(struct book_calc *c, uint32_t i, const struct formula_value *v)
{
    struct formula_value own = *v;

    if (is_same_value(&c->book->cells[i].value, v))
        return;
    if (v->type == FORMULA_TEXT) {
        own.text = arena_str(c->book->arena, v->text);
        c->has_failed = c->has_failed || !own.text.p;
    }
    c->book->cells[i].value = own;
}

static void set_error(struct book_calc *c, uint32_t i, enum formula_error error)
{
    struct formula_value v = {.type = FORMULA_ERROR, .error = error};

    set_book_value(c, i, &v);
}

static void evaluate(struct book_calc *c, uint32_t i);

static void cell_of(void *ctx, struct formula_place at, struct formula_value *ret)
{
    struct book_calc *c = ctx;
    uint32_t i = find_book_cell(c->book, at);

    *ret = (struct formula_value){.type = FORMULA_BLANK};
    if (i == NONE)
        return;
    const struct book_slot *s = &c->slots[i];
    /* Found by INDIRECT or the like before its turn. */
    if (s->formula && s->state == WAITING && c->n_nested < FORMULA_BOOK_MAX_NESTED) {
        c->n_nested++;
        evaluate(c, i);
        c->n_nested--;
    } else if (s->state == UNDER_WAY) {
        *ret = (struct formula_value){.type = FORMULA_ERROR, .error = FORMULA_ERROR_REF};
        return;
    }
    *ret = c->book->cells[i].value;
}

static void extent_of(void *ctx, int sheet, struct formula_extent *ret)
{
    *ret = ((struct book_calc *)ctx)->extents[sheet];
}

static int sheet_of(void *ctx, struct str name)
{
    const struct formula_book *b = ((struct book_calc *)ctx)->book;

    for (size_t i = 0; i < b->n_sheets; i++) {
        if (str_ieq(b->sheets[i].title, name))
            return (int)i;
    }
    return -1;
}

/* The same in each place as often as it is calculated with the same seed. */
static double random_of(void *ctx)
{
    struct book_calc *c = ctx;
    uint64_t z = c->book->seed + ((uint64_t)c->at.row << 32) + c->at.col * 1000003u +
                 (uint64_t)c->at.sheet * 7919u + ++c->n_random * 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* ---- arrays ---- */

/* Whether the array at cell I may have the place AT: a blank one, or one that it had before. */
static bool is_free_cell(struct book_calc *c, uint32_t i, struct formula_place at)
{
    const struct formula_sheet *sheet = &c->book->sheets[at.sheet];
    uint32_t k = find_book_cell(c->book, at);

    if (at.row >= sheet->rows || at.col >= sheet->cols)
        return false;
    if (k == NONE || k == i)
        return true;
    const struct formula_cell *cell = &c->book->cells[k];
    const struct book_slot *s = &c->slots[k];
    if (cell->formula.p || (!cell->is_spilled && cell->value.type != FORMULA_BLANK))
        return false;
    return !s->was_filled || s->anchor == i;
}

/* A place that has no cell yet gets one for the next round. */
static void add_cell(struct book_calc *c, struct formula_place at)
{
    struct formula_cell *list =
        arena_grow(c->book->arena, c->more, c->n_more, &c->cap_more, sizeof *list);

    if (!list || c->book->n_cells + c->n_more >= FORMULA_BOOK_MAX_CELLS) {
        c->has_failed = c->has_failed || !list;
        return;
    }
    c->more = list;
    list[c->n_more++] = (struct formula_cell){.at = at, .is_spilled = true};
    c->needs_round = true;
}

static void fill_book_cell(struct book_calc *c, uint32_t i, uint32_t k,
                           const struct formula_value *v)
{
    struct book_slot *s = &c->slots[k];

    if (k == i) {
        set_book_value(c, i, v);
        return;
    }
    /* Others may have read it as it was. */
    c->needs_round =
        c->needs_round || !is_same_value(&c->book->cells[k].value, v) || s->anchor != i;
    c->book->cells[k].is_spilled = true;
    s->was_filled = true;
    s->anchor = i;
    set_book_value(c, k, v);
}

static void fill_array_cells(struct book_calc *c, uint32_t i, const struct formula_array *a)
{
    struct formula_place from = c->book->cells[i].at;

    for (uint32_t r = 0; r < a->rows; r++) {
        for (uint32_t k = 0; k < a->cols; k++) {
            struct formula_place at = {from.sheet, from.row + r, from.col + k};
            if (is_free_cell(c, i, at))
                continue;
            set_error(c, i, FORMULA_ERROR_REF);
            return;
        }
    }
    for (uint32_t r = 0; r < a->rows; r++) {
        for (uint32_t k = 0; k < a->cols; k++) {
            struct formula_place at = {from.sheet, from.row + r, from.col + k};
            uint32_t to = find_book_cell(c->book, at);
            if (to == NONE)
                add_cell(c, at);
            else
                fill_book_cell(c, i, to, &a->items[(size_t)r * a->cols + k]);
        }
    }
}

/* ---- one formula ---- */

static void evaluate(struct book_calc *c, uint32_t i)
{
    struct book_slot *s = &c->slots[i];
    struct formula_place outer = c->at;
    struct formula_value v;

    s->state = UNDER_WAY;
    c->at = c->book->cells[i].at;
    c->n_random = 0;
    bool is_outer = c->n_nested == 0;
    if (is_outer)
        c->env.steps = c->steps < FORMULA_BOOK_STEPS_OF ? c->steps : FORMULA_BOOK_STEPS_OF;
    uint64_t steps = c->env.steps;
    formula_eval(s->formula, &c->env, c->at, &v);
    if (c->env.is_over)
        set_error(c, i, FORMULA_ERROR_PARSE);
    else if (v.type == FORMULA_ARRAY)
        fill_array_cells(c, i, v.array);
    else
        set_book_value(c, i, &v);
    c->at = outer;
    s->state = DONE;
    /* Who reads it need not be calculated when it came out the same. */
    s->is_dirty = !is_same_value(&s->before, &c->book->cells[i].value);
    if (!is_outer)
        return;
    c->steps -= steps - c->env.steps;
    c->env.is_over = false;
    arena_reset(&c->scratch);
}

/* ---- the order ---- */

/* The next cell, from where FRAME is on, that its formula reads; NONE: no more. */
static uint32_t next_read(struct book_calc *c, struct book_frame *f)
{
    const struct formula_area *areas;
    const struct formula_book *b = c->book;
    size_t n = formula_areas(c->slots[f->cell].formula, &areas);

    for (; f->area < n; f->area++, f->col = f->row = 0) {
        const struct a1_range *r = &areas[f->area].range;
        uint32_t last = c->extents[areas[f->area].sheet].used_cols;
        last = r->col1 != A1_OPEN && r->col1 + 1 < last ? r->col1 + 1 : last;
        for (f->col = f->col > r->col0 ? f->col : r->col0; f->col < last; f->col++, f->row = 0) {
            uint32_t row = f->row > r->row0 ? f->row : r->row0;
            struct formula_place at = {areas[f->area].sheet, row, f->col};
            uint32_t i = lower_bound(b, &at);
            if (i == b->n_cells || b->cells[i].at.sheet != at.sheet ||
                b->cells[i].at.col != f->col || b->cells[i].at.row > r->row1)
                continue;
            f->row = b->cells[i].at.row + 1;
            return i;
        }
    }
    return NONE;
}

/* The formula whose value cell I is: its own, or the one that fills it. */
static uint32_t maker_of(const struct book_calc *c, uint32_t i)
{
    if (!c->slots[i].formula && c->slots[i].anchor != NONE)
        i = c->slots[i].anchor;
    return c->slots[i].formula ? i : NONE;
}

static void finish_book_cell(struct book_calc *c, uint32_t i)
{
    struct book_slot *s = &c->slots[i];

    if (s->state == DONE)
        return; /* found early */
    if (s->is_dirty && !s->is_circular) {
        evaluate(c, i);
        return;
    }
    if (s->is_circular)
        set_error(c, i, FORMULA_ERROR_REF);
    s->state = DONE;
    s->is_dirty = !is_same_value(&s->before, &c->book->cells[i].value);
}

/* One of those that FRAME's formula reads. True: it has to be calculated first. */
static bool visit(struct book_calc *c, struct book_frame *f, size_t depth, uint32_t read)
{
    struct book_slot *own = &c->slots[f->cell];
    uint32_t maker = maker_of(c, read);

    if (c->book->cells[read].is_changed)
        own->is_dirty = true;
    if (maker == NONE)
        return false;
    struct book_slot *s = &c->slots[maker];
    if (s->state == WAITING)
        return true;
    if (s->state == DONE) {
        own->is_dirty = own->is_dirty || s->is_dirty;
        return false;
    }
    /* It waits for this one: all from there to here are in a circle. */
    for (size_t k = depth + 1; k > 0; k--) {
        c->slots[c->stack[k - 1].cell].is_circular = true;
        if (c->stack[k - 1].cell == maker)
            break;
    }
    return false;
}

/* Calculates cell ROOT and before it all that it reads; no recursion, however long the chain. */
static void calculate_from(struct book_calc *c, uint32_t root)
{
    size_t depth = 0;

    c->stack[0] = (struct book_frame){.cell = root};
    c->slots[root].state = UNDER_WAY;
    for (;;) {
        struct book_frame *f = &c->stack[depth];
        uint32_t read = next_read(c, f);
        if (read != NONE && c->steps > 0) {
            c->steps--;
            if (visit(c, f, depth, read)) {
                uint32_t maker = maker_of(c, read);
                c->slots[maker].state = UNDER_WAY;
                c->stack[++depth] = (struct book_frame){.cell = maker};
            }
            continue;
        }
        uint32_t cell = f->cell;
        finish_book_cell(c, cell);
        if (depth == 0)
            return;
        depth--;
        c->slots[c->stack[depth].cell].is_dirty |= c->slots[cell].is_dirty;
    }
}

/* ---- rounds ---- */

static void measure_book_cells(struct book_calc *c)
{
    for (size_t i = 0; i < c->book->n_sheets; i++)
        c->extents[i] =
            (struct formula_extent){c->book->sheets[i].rows, c->book->sheets[i].cols, 0, 0};
    for (size_t i = 0; i < c->book->n_cells; i++) {
        const struct formula_place *at = &c->book->cells[i].at;
        struct formula_extent *e = &c->extents[at->sheet];
        e->used_rows = at->row >= e->used_rows ? at->row + 1 : e->used_rows;
        e->used_cols = at->col >= e->used_cols ? at->col + 1 : e->used_cols;
    }
}

/* Puts the cells in order and makes what belongs to them. */
static int prepare_book(struct book_calc *c, struct arena *a)
{
    struct formula_book *b = c->book;

    qsort(b->cells, b->n_cells, sizeof *b->cells, cell_cmp);
    c->slots = arena_zalloc(a, b->n_cells, sizeof *c->slots);
    c->stack = arena_zalloc(a, b->n_cells + 1, sizeof *c->stack);
    c->extents = arena_zalloc(a, b->n_sheets + 1, sizeof *c->extents);
    if (!c->slots || !c->stack || !c->extents)
        return -ENOMEM;
    measure_book_cells(c);
    for (size_t i = 0; i < b->n_cells; i++) {
        struct book_slot *s = &c->slots[i];
        struct err e = ERR_INIT;
        s->before = b->cells[i].value;
        s->anchor = NONE;
        if (!b->cells[i].formula.p)
            continue;
        s->formula = formula_compile(a, b->cells[i].formula, &c->env, b->cells[i].at.sheet, &e);
        s->is_malformed = !s->formula;
        if (e.code == -ENOMEM)
            return -ENOMEM;
    }
    return 0;
}

/* Cells that were filled are blank until a formula fills them again; so all arrays are
 * recalculated, and with them everything else. */
static bool clear_filled(struct book_calc *c)
{
    bool has_filled = false;

    for (size_t i = 0; i < c->book->n_cells; i++) {
        if (!c->book->cells[i].is_spilled)
            continue;
        has_filled = true;
        c->book->cells[i].value = (struct formula_value){.type = FORMULA_BLANK};
    }
    return has_filled;
}

/* New, or an array that may have found no room: what is in its way is none that it reads. */
static bool is_pending(const struct formula_cell *cell)
{
    return cell->is_changed ||
           (cell->value.type == FORMULA_ERROR && cell->value.error == FORMULA_ERROR_REF);
}

static void calculate_round(struct book_calc *c, bool is_all)
{
    struct formula_book *b = c->book;

    for (uint32_t i = 0; i < b->n_cells; i++) {
        struct book_slot *s = &c->slots[i];
        s->state = WAITING;
        s->is_circular = s->was_filled = false;
        s->is_dirty =
            s->formula && (is_all || is_pending(&b->cells[i]) || formula_is_volatile(s->formula));
        if (s->is_malformed)
            set_error(c, i, FORMULA_ERROR_PARSE);
    }
    c->needs_round = false;
    for (uint32_t i = 0; i < b->n_cells; i++) {
        if (c->slots[i].formula && c->slots[i].state == WAITING)
            calculate_from(c, i);
    }
    /* What no formula fills any more. */
    for (uint32_t i = 0; i < b->n_cells; i++) {
        if (b->cells[i].is_spilled && !c->slots[i].was_filled)
            b->cells[i].value = (struct formula_value){.type = FORMULA_BLANK};
    }
}

/* The cells and the new ones among them. */
static int add_book_cells(struct book_calc *c)
{
    struct formula_book *b = c->book;
    size_t n = b->n_cells + c->n_more;
    struct formula_cell *all = arena_zalloc(b->arena, n, sizeof *all);

    if (!all)
        return -ENOMEM;
    (void)memcpy(all, b->cells, b->n_cells * sizeof *all);
    if (c->n_more > 0)
        (void)memcpy(all + b->n_cells, c->more, c->n_more * sizeof *all);
    b->cells = all;
    b->n_cells = n;
    c->more = NULL;
    c->n_more = c->cap_more = 0;
    return 0;
}

static int calculate(struct book_calc *c)
{
    struct arena own auto_arena;
    struct formula_book *b = c->book;
    bool is_all = b->is_new;
    int r = 0;

    arena_init(&own, b->arena->max);
    for (unsigned round = 0; round < FORMULA_BOOK_MAX_ROUNDS; round++) {
        if (c->n_more > 0 || round == 0) {
            arena_reset(&own);
            r = add_book_cells(c);
            r = r < 0 ? r : prepare_book(c, &own);
        }
        if (r < 0)
            return r;
        is_all = (round == 0 && clear_filled(c)) || is_all || round > 0;
        calculate_round(c, is_all);
        if (c->has_failed)
            return -ENOMEM;
        if (!c->needs_round)
            break;
    }
    return 0;
}

/* Values before, by place: cells move when others are added. */
static int remember_values(const struct formula_book *b, struct arena *a, struct formula_cell **ret)
{
    *ret = arena_zalloc(a, b->n_cells + 1, sizeof **ret);
    if (!*ret)
        return -ENOMEM;
    if (b->n_cells > 0)
        (void)memcpy(*ret, b->cells, b->n_cells * sizeof **ret);
    qsort(*ret, b->n_cells, sizeof **ret, cell_cmp);
    return 0;
}

int formula_book_calculate(struct formula_book *b)
{
    struct arena own auto_arena;
    struct formula_cell *before = NULL;
    size_t n_before = b->n_cells;
    struct book_calc c = {.book = b, .steps = FORMULA_BOOK_STEPS};

    if (b->n_cells > FORMULA_BOOK_MAX_CELLS)
        return -E2BIG;
    arena_init(&own, b->arena->max);
    int r = remember_values(b, &own, &before);
    if (r < 0)
        return r;
    arena_init(&c.scratch, b->arena->max);
    c.env = (struct formula_env){.sheet = sheet_of,
                                 .extent = extent_of,
                                 .cell = cell_of,
                                 .random = random_of,
                                 .ctx = &c,
                                 .now = b->now,
                                 .arena = &c.scratch};
    r = calculate(&c);
    arena_done(&c.scratch);
    struct formula_book old = {.cells = before, .n_cells = n_before};
    for (size_t i = 0; i < b->n_cells; i++) {
        uint32_t k = find_book_cell(&old, b->cells[i].at);
        b->cells[i].is_changed = k == NONE ? b->cells[i].value.type != FORMULA_BLANK
                                           : !is_same_value(&before[k].value, &b->cells[i].value) ||
                                                 before[k].is_spilled != b->cells[i].is_spilled;
    }
    return r;
}
