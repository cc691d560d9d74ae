/* SPDX-License-Identifier: MIT */
/* Tables as grids: a cell may cover several columns ("w:gridSpan") and rows ("w:vMerge"). */
#include "local/word/grid.h"

enum { TEXT_WIDTH = 8640 /* of a page of ours, in twentieths of a point */ };

const char *const word_tcpr_order[] = {
    "w:cnfStyle", "w:tcW",   "w:gridSpan",      "w:hMerge",    "w:vMerge", "w:tcBorders", "w:shd",
    "w:noWrap",   "w:tcMar", "w:textDirection", "w:tcFitText", "w:vAlign", "w:hideMark",  NULL,
};
const char *const word_tblpr_order[] = {
    "w:tblStyle",
    "w:tblpPr",
    "w:tblOverlap",
    "w:bidiVisual",
    "w:tblStyleRowBandSize",
    "w:tblStyleColBandSize",
    "w:tblW",
    "w:jc",
    "w:tblCellSpacing",
    "w:tblInd",
    "w:tblBorders",
    "w:shd",
    "w:tblLayout",
    "w:tblCellMar",
    "w:tblLook",
    NULL,
};

size_t word_n_columns(const struct xml *table)
{
    return xml_count(xml_child(table, "w:tblGrid"), "w:gridCol");
}

static int64_t grid_span_of(const struct xml *cell)
{
    int64_t n = xml_get_int(xml_path(cell, "w:tcPr/w:gridSpan"), "w:val", 1);

    return n < 1 ? 1 : n > WORD_CELLS_MAX ? WORD_CELLS_MAX : n;
}

size_t word_n_cells(const struct xml *row)
{
    size_t n = 0;

    for (const struct xml *c = xml_child(row, "w:tc"); c; c = xml_next(c, "w:tc"))
        n += (size_t)grid_span_of(c);
    return n;
}

/* The cell of ROW over COLUMN; *BEGIN is its first column. */
static struct xml *cell_in(const struct xml *row, int64_t column, int64_t *begin)
{
    int64_t at = 0;

    for (struct xml *c = xml_child(row, "w:tc"); c; c = xml_next(c, "w:tc")) {
        *begin = at;
        at += grid_span_of(c);
        if (column < at)
            return c;
    }
    return NULL;
}

struct xml *word_cell_in(const struct xml *row, int64_t column)
{
    int64_t begin;

    return column < 0 ? NULL : cell_in(row, column, &begin);
}

/* Whether the cell is a part of the one above it. */
static bool is_continued(const struct xml *cell)
{
    const struct xml *n = xml_path(cell, "w:tcPr/w:vMerge");

    return n && !str_is(xml_get(n, "w:val"), "restart");
}

static const struct xml *row_before(const struct xml *row)
{
    do
        row = row->prev;
    while (row && !xml_is(row, "w:tr"));
    return row;
}

struct xml *word_cell(const struct xml *table, int64_t row, int64_t column)
{
    const struct xml *r = row < 0 ? NULL : xml_nth(table, "w:tr", (size_t)row);
    struct xml *cell = NULL;
    int64_t begin;

    while (r && column >= 0) {
        struct xml *c = cell_in(r, column, &begin);
        if (!c)
            break;
        cell = c;
        if (!is_continued(c))
            break;
        r = row_before(r);
    }
    return cell;
}

struct xml *word_tcpr(struct word *w, struct xml *cell)
{
    struct xml *n = xml_child(cell, "w:tcPr");

    return n ? n : xml_add_before(w->doc, cell, "w:tcPr", cell ? cell->first : NULL);
}

struct str word_cell_text(struct word *w, const struct xml *cell)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    for (const struct xml *p = xml_child(cell, "w:p"); p; p = xml_next(p, "w:p")) {
        (void)buf_add_str(&b, b.len > 0 || p != xml_child(cell, "w:p") ? STR("\n") : STR(""));
        (void)buf_add_str(&b, word_text(w, p));
    }
    return arena_str(w->arena, buf_str(&b));
}

void word_set_cell_text(struct word *w, struct xml *cell, struct str text)
{
    struct xml *first = xml_child(cell, "w:p"), *ppr = xml_child(first, "w:pPr");

    for (struct xml *n = xml_child(cell, NULL), *next; n; n = next) {
        next = xml_next(n, NULL);
        if (n != first && !xml_is(n, "w:tcPr"))
            xml_remove(n);
    }
    if (!first)
        first = xml_add(w->doc, cell, "w:p");
    xml_clear(first);
    if (ppr)
        xml_insert(first, ppr, NULL);
    (void)word_add_run(w, first, text);
}

static void set_width(struct word *w, struct xml *n, int64_t width)
{
    xml_setf(w->doc, n, "w:w", "%lld", (long long)width);
    xml_set(w->doc, n, "w:type", STR("dxa"));
}

struct xml *word_add_table(struct word *w, int64_t rows, int64_t columns)
{
    struct xml *t = xml_add_before(w->doc, w->body, "w:tbl", xml_last(w->body, "w:sectPr"));
    int64_t width = columns > 0 ? TEXT_WIDTH / columns : 0;
    struct str style = xml_get(word_style(w, STR("Table Grid"), "table"), "w:styleId");

    if (!xml_add_text(w->doc, t, NULL,
                      "<w:tblPr><w:tblW w:type=\"auto\" w:w=\"0\"/><w:tblLook w:val=\"04A0\" "
                      "w:firstRow=\"1\" w:lastRow=\"0\" w:firstColumn=\"1\" w:lastColumn=\"0\" "
                      "w:noHBand=\"0\" w:noVBand=\"1\"/></w:tblPr><w:tblGrid/>"))
        return NULL;
    if (style.len > 0)
        (void)word_prop(w, xml_child(t, "w:tblPr"), "w:tblStyle", style, word_tblpr_order);
    for (int64_t i = 0; i < columns; i++) {
        struct xml *n = xml_add(w->doc, xml_child(t, "w:tblGrid"), "w:gridCol");
        xml_setf(w->doc, n, "w:w", "%lld", (long long)width);
    }
    for (int64_t i = 0; i < rows; i++) {
        struct xml *row = xml_add(w->doc, t, "w:tr");
        for (int64_t k = 0; k < columns; k++) {
            struct xml *cell = xml_add(w->doc, row, "w:tc");
            set_width(w, xml_add(w->doc, word_tcpr(w, cell), "w:tcW"), width);
            (void)xml_add(w->doc, cell, "w:p");
        }
    }
    return t;
}

/* ---- merging ---- */

/* Moves what is in FROM behind what is in TO; empty paragraphs are not worth it. */
static void move_content(struct word *w, struct xml *to, struct xml *from)
{
    struct xml *last = xml_last(to, NULL);

    if (to == from)
        return;
    if (word_cell_text(w, from).len > 0 && xml_is(last, "w:p") && word_text(w, last).len == 0)
        xml_remove(last);
    for (struct xml *n = xml_child(from, NULL), *next; n; n = next) {
        next = xml_next(n, NULL);
        if (xml_is(n, "w:tcPr") || (xml_is(n, "w:p") && !xml_child(n, "w:r")))
            continue;
        xml_remove(n);
        xml_insert(to, n, NULL);
    }
    if (!xml_child(to, "w:p"))
        (void)xml_add(w->doc, to, "w:p");
}

/* Whether the cells of the range begin and end at its borders in each row. */
static bool is_rectangle(const struct xml *table, const struct word_range *r)
{
    for (int64_t i = r->top; i <= r->bottom; i++) {
        const struct xml *row = xml_nth(table, "w:tr", (size_t)i);
        int64_t begin = 0, end = 0;
        const struct xml *first = cell_in(row, r->left, &begin);
        const struct xml *last = cell_in(row, r->right, &end);
        if (!first || !last || begin != r->left || end + grid_span_of(last) != r->right + 1)
            return false;
        if ((i == r->top && is_continued(first)))
            return false;
    }
    return true;
}

/* Makes one cell of those in the range's columns; returns it. */
static struct xml *merge_row(struct word *w, struct xml *row, const struct word_range *r,
                             struct xml *into)
{
    int64_t begin, width = 0;
    struct xml *first = cell_in(row, r->left, &begin), *c = first;

    for (int64_t span = 0; c && span <= r->right - r->left;) {
        struct xml *next = xml_next(c, "w:tc");
        span += grid_span_of(c);
        width += xml_get_int(xml_path(c, "w:tcPr/w:tcW"), "w:w", 0);
        move_content(w, into ? into : first, c);
        if (c != first)
            xml_remove(c);
        c = next;
    }
    struct xml *pr = word_tcpr(w, first);
    struct xml *tcw = xml_child(pr, "w:tcW");
    if (tcw && str_is(xml_get(tcw, "w:type"), "dxa"))
        set_width(w, tcw, width);
    if (r->right > r->left)
        xml_setf(w->doc, word_prop(w, pr, "w:gridSpan", STR_NULL, word_tcpr_order), "w:val", "%lld",
                 (long long)r->right - r->left + 1);
    return first;
}

bool word_merge(struct word *w, struct xml *table, const struct word_range *r)
{
    struct xml *into = NULL;

    if (r->top < 0 || r->left < 0 || r->top > r->bottom || r->left > r->right ||
        !is_rectangle(table, r))
        return false;
    for (int64_t i = r->top; i <= r->bottom; i++) {
        struct xml *cell = merge_row(w, xml_nth(table, "w:tr", (size_t)i), r, into);
        if (!into)
            into = cell;
        if (r->bottom == r->top)
            continue;
        (void)word_prop(w, word_tcpr(w, cell), "w:vMerge",
                        i == r->top ? STR("restart") : STR("continue"), word_tcpr_order);
        if (!xml_child(cell, "w:p"))
            (void)xml_add(w->doc, cell, "w:p");
    }
    return true;
}
