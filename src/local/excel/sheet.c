/* SPDX-License-Identifier: MIT */
/* Rows and cells of a sheet. */
#include <errno.h>

#include "local/excel/book.h"

/* CT_Worksheet's children (ECMA-376 part 1, 18.3.1.99). */
static const char *const order[] = {"sheetPr",
                                    "dimension",
                                    "sheetViews",
                                    "sheetFormatPr",
                                    "cols",
                                    "sheetData",
                                    "sheetCalcPr",
                                    "sheetProtection",
                                    "protectedRanges",
                                    "scenarios",
                                    "autoFilter",
                                    "sortState",
                                    "dataConsolidate",
                                    "customSheetViews",
                                    "mergeCells",
                                    "phoneticPr",
                                    "conditionalFormatting",
                                    "dataValidations",
                                    "hyperlinks",
                                    "printOptions",
                                    "pageMargins",
                                    "pageSetup",
                                    "headerFooter",
                                    "rowBreaks",
                                    "colBreaks",
                                    "customProperties",
                                    "cellWatches",
                                    "ignoredErrors",
                                    "smartTags",
                                    "drawing",
                                    "legacyDrawing",
                                    "legacyDrawingHF",
                                    "picture",
                                    "oleObjects",
                                    "controls",
                                    "webPublishItems",
                                    "tableParts",
                                    "extLst",
                                    NULL};

struct xml *sheet_child(struct sheet *s, const char *name)
{
    return xml_need(s->doc, s->doc->root, name, order);
}

struct xml *sheet_new_child(struct sheet *s, const char *name)
{
    return xml_place(s->doc, s->doc->root, name, order);
}

/* ---- loading ---- */

struct ref cell_at(const struct xml *cell)
{
    struct ref at = {0, 0};

    (void)ref_parse(xml_get(cell, "r"), &at);
    return at;
}

/* Cells may come without an address: then each is behind the one before. */
static void number_cells(struct book *b, struct sheet *s, struct sheet_row *row)
{
    unsigned col = 0;

    for (struct xml *c = xml_child(row->node, "c"); c; c = xml_next(c, "c")) {
        struct ref at = cell_at(c);
        if (at.row != row->number || at.col <= col) {
            at = (struct ref){row->number, col + 1};
            xml_set(s->doc, c, "r", ref_text(b->arena, at));
        }
        col = at.col;
    }
}

static int add_sheet_row(struct book *b, struct sheet *s, struct xml *node, struct err *e)
{
    unsigned last = s->n_rows > 0 ? s->rows[s->n_rows - 1].number : 0;
    int64_t number = xml_get_int(node, "r", (int64_t)last + 1);
    struct sheet_row *grown = arena_grow(b->arena, s->rows, s->n_rows, &s->cap, sizeof *s->rows);

    if (!grown)
        return err_set(e, -ENOMEM, "out of memory");
    if (number <= last || number > REF_ROWS_MAX)
        return err_set(e, -EINVAL, "the rows of sheet '" STR_FMT "' are not in order",
                       STR_ARG(s->name));
    s->rows = grown;
    s->rows[s->n_rows] = (struct sheet_row){(unsigned)number, node};
    if (!xml_get(node, "r").p)
        xml_setf(s->doc, node, "r", "%u", (unsigned)number);
    number_cells(b, s, &s->rows[s->n_rows++]);
    return 0;
}

int sheet_load(struct book *b, struct sheet *s, struct err *e)
{
    if (s->doc)
        return 0;
    struct xml_doc *d = part_xml(&b->package, s->part, e);
    if (!d)
        return e->code;
    s->data = xml_child(d->root, "sheetData");
    if (!s->data)
        return err_set(e, -EINVAL, "'" STR_FMT "' is not a worksheet", STR_ARG(s->name));
    s->doc = d;
    for (struct xml *n = xml_child(s->data, "row"); n; n = xml_next(n, "row")) {
        int r = add_sheet_row(b, s, n, e);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- shared formulas ---- */

enum { SHARED_MAX = 1 << 16 };

static void find_shared(struct book *b, struct sheet *s)
{
    s->shared = arena_zalloc(b->arena, SHARED_MAX, sizeof(struct xml *));
    for (struct xml *f = NULL; s->shared && (f = xml_walk(s->data, f, "f"));) {
        int64_t i = xml_get_int(f, "si", -1);
        if (f->first && i >= 0 && i < SHARED_MAX && str_is(xml_get(f, "t"), "shared"))
            s->shared[i] = f;
    }
}

struct str sheet_shared_formula(struct book *b, struct sheet *s, const struct xml *f)
{
    int64_t i = xml_get_int(f, "si", -1);

    if (!s->shared)
        find_shared(b, s);
    struct xml *first = s->shared && i >= 0 && i < SHARED_MAX ? s->shared[i] : NULL;
    if (!first)
        return STR("");
    struct ref here = cell_at(f->parent), there = cell_at(first->parent);
    struct str moved = formula_moved(b->arena, xml_text(s->doc, first),
                                     (int64_t)here.row - there.row, (int64_t)here.col - there.col);
    return moved.p ? moved : STR("");
}

/* Gives each cell its own formula, so that the first one may change. */
static void unshare(struct book *b, struct sheet *s)
{
    for (struct xml *f = NULL; (f = xml_walk(s->data, f, "f"));) {
        if (str_is(xml_get(f, "t"), "shared") && !f->first)
            xml_set_text(s->doc, f, sheet_shared_formula(b, s, f));
    }
    for (struct xml *f = NULL; s->shared && (f = xml_walk(s->data, f, "f"));) {
        if (!str_is(xml_get(f, "t"), "shared"))
            continue;
        xml_unset(f, "t");
        xml_unset(f, "si");
        xml_unset(f, "ref");
    }
}

int sheet_edit(struct book *b, struct sheet *s, struct err *e)
{
    int r = sheet_load(b, s, e);

    if (r < 0)
        return r;
    if (!s->is_changed)
        unshare(b, s);
    s->is_changed = true;
    return part_edit(&b->package, s->part, e) ? 0 : e->code;
}

struct range sheet_used(const struct sheet *s)
{
    struct range r = {0, 0, 1, 1};

    for (size_t i = 0; i < s->n_rows; i++) {
        const struct xml *first = xml_child(s->rows[i].node, "c");
        if (!first)
            continue;
        unsigned low = cell_at(first).col, high = cell_at(xml_last(s->rows[i].node, "c")).col;
        r.row = r.row ? r.row : s->rows[i].number;
        r.row2 = s->rows[i].number;
        r.col = r.col && r.col < low ? r.col : low;
        r.col2 = r.col2 > high ? r.col2 : high;
    }
    if (!r.row)
        r = (struct range){1, 1, 1, 1};
    return r;
}

/* ---- finding ---- */

size_t sheet_row_at(const struct sheet *s, unsigned number)
{
    size_t low = 0, high = s->n_rows;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->rows[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct sheet_row *sheet_row(struct sheet *s, unsigned number)
{
    size_t i = sheet_row_at(s, number);

    return i < s->n_rows && s->rows[i].number == number ? &s->rows[i] : NULL;
}

/* The last cell at or before COL, looked for from the end, where cells are mostly added. */
static struct xml *cell_before(const struct xml *row, unsigned col)
{
    struct xml *c = row->last;

    while (c && (!xml_is(c, "c") || cell_at(c).col > col))
        c = c->prev;
    return c;
}

struct xml *sheet_cell(struct sheet *s, struct ref at)
{
    struct sheet_row *row = sheet_row(s, at.row);
    struct xml *c = row ? cell_before(row->node, at.col) : NULL;

    return c && cell_at(c).col == at.col ? c : NULL;
}

/* ---- making ---- */

static struct sheet_row *need_row(struct book *b, struct sheet *s, unsigned number)
{
    size_t i = sheet_row_at(s, number);

    if (i < s->n_rows && s->rows[i].number == number)
        return &s->rows[i];
    struct sheet_row *grown = arena_grow(b->arena, s->rows, s->n_rows, &s->cap, sizeof *s->rows);
    struct xml *before = i < s->n_rows ? s->rows[i].node : NULL;
    struct xml *node = grown ? xml_add_before(s->doc, s->data, "row", before) : NULL;
    if (!node)
        return NULL;
    xml_setf(s->doc, node, "r", "%u", number);
    s->rows = grown;
    memmove(s->rows + i + 1, s->rows + i, (s->n_rows - i) * sizeof *s->rows);
    s->rows[i] = (struct sheet_row){number, node};
    s->n_rows++;
    return &s->rows[i];
}

struct xml *sheet_need_cell(struct book *b, struct sheet *s, struct ref at)
{
    struct sheet_row *row = need_row(b, s, at.row);
    struct xml *before = row ? cell_before(row->node, at.col) : NULL;

    if (!row)
        return NULL;
    if (before && cell_at(before).col == at.col)
        return before;
    struct xml *next = before ? before->next : row->node->first;
    struct xml *c = xml_add_before(s->doc, row->node, "c", next);
    xml_set(s->doc, c, "r", ref_text(b->arena, at));
    /* A hint of which columns there are, which would no longer be true. */
    xml_unset(row->node, "spans");
    return c;
}

/* ---- moving ---- */

static void renumber(struct book *b, struct sheet *s, struct sheet_row *row, unsigned number)
{
    row->number = number;
    xml_setf(s->doc, row->node, "r", "%u", number);
    for (struct xml *c = xml_child(row->node, "c"); c; c = xml_next(c, "c"))
        xml_set(s->doc, c, "r", ref_text(b->arena, (struct ref){number, cell_at(c).col}));
}

void sheet_move_rows(struct book *b, struct sheet *s, unsigned first, int64_t by)
{
    size_t to = 0;

    for (size_t i = 0; i < s->n_rows; i++) {
        struct sheet_row row = s->rows[i];
        int64_t number = row.number >= first ? row.number + by : row.number;
        /* Those that would be overtaken are the ones to go, as are those that leave the sheet. */
        bool is_gone = number > REF_ROWS_MAX ||
                       (by < 0 && row.number < first && (int64_t)row.number >= (int64_t)first + by);
        if (is_gone) {
            xml_remove(row.node);
            continue;
        }
        if (number != row.number)
            renumber(b, s, &row, (unsigned)number);
        s->rows[to++] = row;
    }
    s->n_rows = to;
}

static void move_cells(struct book *b, struct sheet *s, struct sheet_row *row, unsigned first,
                       int64_t by)
{
    struct xml *next;

    for (struct xml *c = xml_child(row->node, "c"); c; c = next) {
        next = xml_next(c, "c");
        unsigned col = cell_at(c).col;
        int64_t to = col >= first ? col + by : col;
        if (to > REF_COLS_MAX || (by < 0 && col < first && (int64_t)col >= (int64_t)first + by))
            xml_remove(c);
        else if (to != col)
            xml_set(s->doc, c, "r", ref_text(b->arena, (struct ref){row->number, (unsigned)to}));
    }
    xml_unset(row->node, "spans");
}

void sheet_move_cols(struct book *b, struct sheet *s, unsigned first, int64_t by)
{
    for (size_t i = 0; i < s->n_rows; i++)
        move_cells(b, s, &s->rows[i], first, by);
}
