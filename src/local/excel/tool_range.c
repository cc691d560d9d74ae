/* SPDX-License-Identifier: MIT */
/* The server "excel": merging, copying, inserting and deleting. */
#include "base/python.h"
#include "local/excel/excel.h"

/* ---- merged ranges ---- */

bool excel_is_merged(const struct sheet *s, struct ref at)
{
    struct xml *n = xml_path(s->doc->root, "mergeCells/mergeCell");
    struct range r;

    for (; n; n = xml_next(n, "mergeCell")) {
        if (range_parse(xml_get(n, "ref"), &r) && range_has(r, at) &&
            (at.row != r.row || at.col != r.col))
            return true;
    }
    return false;
}

static struct xml *find_merged(const struct sheet *s, struct range want)
{
    struct xml *n = xml_path(s->doc->root, "mergeCells/mergeCell");
    struct range r;

    for (; n; n = xml_next(n, "mergeCell")) {
        if (range_parse(xml_get(n, "ref"), &r) && memcmp(&r, &want, sizeof r) == 0)
            return n;
    }
    return NULL;
}

static void count_merged(struct sheet *s)
{
    struct xml *list = xml_child(s->doc->root, "mergeCells");

    if (list && !xml_child(list, "mergeCell"))
        xml_remove(list);
    else
        xml_setf(s->doc, list, "count", "%zu", xml_count(list, "mergeCell"));
}

void excel_merge(struct excel *x, struct range r)
{
    struct sheet *s = x->sheet;

    if (!find_merged(s, r)) {
        struct xml *list = sheet_child(s, "mergeCells");
        xml_set(s->doc, xml_add(s->doc, list, "mergeCell"), "ref", range_text(x->book.arena, r));
    }
    count_merged(s);
    /* Only the first cell of them keeps its content. */
    for (size_t i = sheet_row_at(s, r.row); i < s->n_rows && s->rows[i].number <= r.row2; i++) {
        struct xml *c = xml_child(s->rows[i].node, "c");
        for (; c; c = xml_next(c, "c")) {
            struct ref at = cell_at(c);
            if (range_has(r, at) && (at.row != r.row || at.col != r.col))
                cell_set(&x->book, s, c, (struct value){.kind = VALUE_NONE});
        }
    }
}

void excel_merge_cells(struct local_call *c)
{
    struct excel x;
    struct range r;

    if (!excel_edit_sheet(c, &x))
        return;
    if (!excel_take_range(c, "start_cell", "end_cell", "", &r))
        return;
    if (excel_arg(c, "end_cell").len == 0) {
        excel_error(c, "Both start and end cells must be specified for merging");
        return;
    }
    excel_merge(&x, r);
    excel_savef(&x, "Range '" STR_FMT "' merged in sheet '" STR_FMT "'",
                STR_ARG(range_text(&c->arena, r)), STR_ARG(x.sheet->name));
}

void excel_unmerge_cells(struct local_call *c)
{
    struct excel x;
    struct range r;

    if (!excel_edit_sheet(c, &x))
        return;
    if (!excel_take_range(c, "start_cell", "end_cell", "", &r))
        return;
    struct str text = range_text(&c->arena, r);
    struct xml *n = find_merged(x.sheet, r);
    if (!n) {
        excel_error(c, "Range '" STR_FMT "' is not merged", STR_ARG(text));
        return;
    }
    xml_remove(n);
    count_merged(x.sheet);
    excel_savef(&x, "Range '" STR_FMT "' unmerged successfully", STR_ARG(text));
}

void excel_get_merged_cells(struct local_call *c)
{
    auto_buf struct buf out = BUF_INIT(LOCAL_ANSWER_MAX);
    struct excel x;

    if (!excel_open_sheet(c, &x))
        return;
    (void)buf_add_char(&out, '[');
    struct xml *n = xml_path(x.sheet->doc->root, "mergeCells/mergeCell");
    for (; n; n = xml_next(n, "mergeCell")) {
        python_str(&out, xml_get(n, "ref"));
        (void)buf_add_str(&out, xml_next(n, "mergeCell") ? STR(", ") : STR(""));
    }
    (void)buf_add_char(&out, ']');
    local_text(c, buf_str(&out));
}

/* ---- copying ---- */

/* Copies of the cells of R, in their order; those that are not there are NULL. */
static struct xml **copy_cells(struct excel *x, struct sheet *to, struct range r)
{
    size_t n = (size_t)(r.row2 - r.row + 1) * (r.col2 - r.col + 1), i = 0;
    struct xml **copies = arena_zalloc(&x->call->arena, n, sizeof(struct xml *));

    if (!copies)
        return NULL;
    for (struct ref at = {r.row, r.col}; at.row <= r.row2; at.row++) {
        for (at.col = r.col; at.col <= r.col2; at.col++) {
            struct xml *cell = sheet_cell(x->sheet, at);
            copies[i++] = cell ? xml_copy(to->doc, cell) : NULL;
        }
    }
    return copies;
}

/* Puts what a cell holds and looks like into the one at AT. */
static void put_copy(struct book *b, struct sheet *s, struct ref at, struct xml *copy)
{
    if (!copy) {
        struct xml *there = sheet_cell(s, at);
        cell_set(b, s, there, (struct value){.kind = VALUE_NONE});
        return;
    }
    struct xml *cell = sheet_need_cell(b, s, at);
    xml_set(s->doc, copy, "r", ref_text(b->arena, at));
    if (!cell)
        return;
    xml_insert(cell->parent, copy, cell);
    xml_remove(cell);
}

static void put_copies(struct excel *x, struct sheet *to, struct range r, struct ref at)
{
    struct xml **copies = copy_cells(x, to, r);
    size_t i = 0;

    for (unsigned row = 0; copies && row <= r.row2 - r.row; row++) {
        for (unsigned col = 0; col <= r.col2 - r.col; col++)
            put_copy(&x->book, to, (struct ref){at.row + row, at.col + col}, copies[i++]);
    }
}

void excel_copy_range(struct local_call *c)
{
    struct str target = excel_arg(c, "target_sheet");
    struct err e = ERR_INIT;
    struct excel x;
    struct range r;
    struct ref at;

    if (!excel_open_sheet(c, &x))
        return;
    struct sheet *to = target.len > 0 ? book_sheet(&x.book, target) : x.sheet;
    if (!to) {
        excel_error(c, "Failed to copy range: 'Worksheet " STR_FMT " does not exist.'",
                    STR_ARG(target));
        return;
    }
    if (!excel_take_range(c, "source_start", "source_end", "Invalid source range: ", &r))
        return;
    if (ref_read(local_str(c, "target_start"), &at) == 0) {
        excel_error(c, "Invalid target cell: " STR_FMT, STR_ARG(local_str(c, "target_start")));
        return;
    }
    if (!excel_check_size(c, r))
        return;
    if (at.row + (r.row2 - r.row) > REF_ROWS_MAX || at.col + (r.col2 - r.col) > REF_COLS_MAX) {
        excel_error(c, "Failed to copy range: it would leave the sheet");
        return;
    }
    if (sheet_edit(&x.book, to, &e) < 0) {
        excel_error(c, "Failed to copy range: %s", err_text(&e));
        return;
    }
    put_copies(&x, to, r, at);
    excel_save(&x, STR("Range copied successfully"));
}

/* ---- deleting ---- */

void excel_delete_range(struct local_call *c)
{
    struct str direction = local_str(c, "shift_direction");
    struct excel x;
    struct range r;

    if (!excel_edit_sheet(c, &x))
        return;
    if (!excel_take_range(c, "start_cell", "end_cell", "Invalid range: ", &r))
        return;
    struct range used = sheet_used(x.sheet);
    if (r.row2 > used.row2) {
        excel_error(c, "End row %u out of bounds (1-%u)", r.row2, used.row2);
        return;
    }
    if (r.col2 > used.col2) {
        excel_error(c, "End column %u out of bounds (1-%u)", r.col2, used.col2);
        return;
    }
    if (direction.len == 0 || str_is(direction, "up")) {
        sheet_move_rows(&x.book, x.sheet, r.row2 + 1, -(int64_t)(r.row2 - r.row + 1));
    } else if (str_is(direction, "left")) {
        sheet_move_cols(&x.book, x.sheet, r.col2 + 1, -(int64_t)(r.col2 - r.col + 1));
    } else {
        excel_error(c, "Invalid shift direction: " STR_FMT ". Must be 'up' or 'left'",
                    STR_ARG(direction));
        return;
    }
    excel_savef(&x, "Range " STR_FMT " deleted successfully", STR_ARG(range_text(&c->arena, r)));
}

/* ---- rows and columns ---- */

struct line_change {
    const char *what, *arg; /* "row", "start_row" */
    bool is_row, is_insert;
};

/* The two arguments; false when the call has its answer. */
static bool read_range_lines(struct excel *x, const struct line_change *l, int64_t *start,
                             int64_t *count)
{
    struct range used = sheet_used(x->sheet);
    unsigned max = l->is_row ? used.row2 : used.col2;
    int64_t most = l->is_row ? REF_ROWS_MAX : REF_COLS_MAX;

    *start = local_int(x->call, l->arg, 0);
    *count = local_int(x->call, "count", 1);
    if (*start < 1)
        excel_error(x->call, "Start %s must be 1 or greater", l->what);
    else if (*count < 1)
        excel_error(x->call, "Count must be 1 or greater");
    else if (!l->is_insert && *start > max)
        excel_error(x->call, "Start %s %lld exceeds worksheet bounds (max %s: %u)", l->what,
                    (long long)*start, l->what, max);
    else if (*start > most || *count > most)
        excel_error(x->call, "A sheet has no more than %lld %ss", (long long)most, l->what);
    else
        return true;
    return false;
}

static void change_lines(struct local_call *c, const struct line_change *l)
{
    int64_t start, count;
    struct excel x;

    if (!excel_edit_sheet(c, &x) || !read_range_lines(&x, l, &start, &count))
        return;
    unsigned first = (unsigned)(l->is_insert ? start : start + count);
    int64_t by = l->is_insert ? count : -count;
    if (l->is_row)
        sheet_move_rows(&x.book, x.sheet, first, by);
    else
        sheet_move_cols(&x.book, x.sheet, first, by);
    excel_savef(&x, "%s %lld %s(s) starting at %s %lld in sheet '" STR_FMT "'",
                l->is_insert ? "Inserted" : "Deleted", (long long)count, l->what, l->what,
                (long long)start, STR_ARG(x.sheet->name));
}

void excel_insert_rows(struct local_call *c)
{
    change_lines(c, &(struct line_change){"row", "start_row", true, true});
}

void excel_insert_columns(struct local_call *c)
{
    change_lines(c, &(struct line_change){"column", "start_col", false, true});
}

void excel_delete_rows(struct local_call *c)
{
    change_lines(c, &(struct line_change){"row", "start_row", true, false});
}

void excel_delete_columns(struct local_call *c)
{
    change_lines(c, &(struct line_change){"column", "start_col", false, false});
}
