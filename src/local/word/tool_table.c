/* SPDX-License-Identifier: MIT */
/* Tools on tables that are there. */
#include "base/cleanup.h"
#include "local/word/grid.h"
#include "local/word/tools.h"

/* ---- which table, which cell ---- */

/* The table of the call; NULL with the reason in *WHY. */
static struct xml *find_table(struct word *w, struct str *why)
{
    int64_t i = word_int(w, "table_index", 0);
    struct xml *t = i < 0 ? NULL : xml_nth(w->body, "w:tbl", (size_t)i);
    size_t n = xml_count(w->body, "w:tbl");

    if (!t)
        *why = word_say(w, "Invalid table index. Document has %zu tables (0-%lld).", n,
                        (long long)n - 1);
    return t;
}

/* The cell of the call; NULL with the reason in *WHY. */
static struct xml *find_cell(struct word *w, struct str *why)
{
    struct xml *t = find_table(w, why);
    int64_t row = word_int(w, "row_index", 0), column = word_int(w, "col_index", 0);
    size_t n = xml_count(t, "w:tr");

    if (!t)
        return NULL;
    if (row < 0 || (uint64_t)row >= n) {
        *why = word_say(w, "Invalid row index. Table has %zu rows (0-%lld).", n, (long long)n - 1);
        return NULL;
    }
    n = word_n_cells(xml_nth(t, "w:tr", (size_t)row));
    struct xml *cell = word_cell(t, row, column);
    if (!cell)
        *why =
            word_say(w, "Invalid column index. Row has %zu cells (0-%lld).", n, (long long)n - 1);
    return cell;
}

static long long word_index_of(const struct word *w, const char *name)
{
    return (long long)word_int(w, name, 0);
}

/* Calls FN for each cell of ROW, or of all rows of TABLE. */
typedef void cell_fn(struct word *w, struct xml *cell, const void *ctx);

static void each_cell(struct word *w, struct xml *row, cell_fn *fn, const void *ctx)
{
    for (struct xml *c = xml_child(row, "w:tc"); c; c = xml_next(c, "w:tc"))
        fn(w, c, ctx);
}

static void each_row(struct word *w, struct xml *table, cell_fn *fn, const void *ctx)
{
    for (struct xml *r = xml_child(table, "w:tr"); r; r = xml_next(r, "w:tr"))
        each_cell(w, r, fn, ctx);
}

/* ---- looks ---- */

static void set_shading(struct word *w, struct xml *cell, struct str fill, struct str pattern)
{
    struct xml *n = word_prop(w, word_tcpr(w, cell), "w:shd", pattern, word_tcpr_order);
    struct str rgb = word_color(w, fill);

    xml_set(w->doc, n, "w:color", STR("auto"));
    if (rgb.p)
        xml_set(w->doc, n, "w:fill", rgb);
    else
        xml_unset(n, "w:fill");
}

struct str tool_set_table_cell_shading(struct word *w)
{
    struct str why = STR_NULL, pattern = word_arg(w, "pattern");
    struct xml *cell = find_cell(w, &why);

    if (!cell)
        return why;
    set_shading(w, cell, word_arg(w, "fill_color"), pattern.len > 0 ? pattern : STR("clear"));
    return word_done(w, "Cell shading applied successfully to table %lld, row %lld, column %lld.",
                     word_index_of(w, "table_index"), word_index_of(w, "row_index"),
                     word_index_of(w, "col_index"));
}

static void shade(struct word *w, struct xml *cell, const void *ctx)
{
    set_shading(w, cell, *(const struct str *)ctx, STR("clear"));
}

/* The argument, or the product's default for it. */
static struct str color_arg(const struct word *w, const char *name, const char *fallback)
{
    return word_has(w, name) ? word_arg(w, name) : str_of(fallback);
}

struct str tool_apply_table_alternating_rows(struct word *w)
{
    struct str why = STR_NULL;
    struct str colors[2] = {color_arg(w, "color1", "FFFFFF"), color_arg(w, "color2", "F2F2F2")};
    struct xml *t = find_table(w, &why);
    size_t i = 0;

    if (!t)
        return why;
    for (struct xml *r = xml_child(t, "w:tr"); r; r = xml_next(r, "w:tr"))
        each_cell(w, r, shade, &colors[i++ % 2]);
    return word_done(w, "Alternating row shading applied successfully to table %lld.",
                     word_index_of(w, "table_index"));
}

static void set_cell_font(struct word *w, struct xml *cell, const void *ctx)
{
    for (struct xml *p = xml_child(cell, "w:p"); p; p = xml_next(p, "w:p")) {
        for (struct xml *r = NULL; (r = word_next_run(p, r));)
            word_set_font(w->doc, word_rpr(w, r), ctx);
    }
}

struct str tool_highlight_table_header(struct word *w)
{
    struct str why = STR_NULL, fill = color_arg(w, "header_color", "4472C4");
    struct xml *t = find_table(w, &why);
    struct word_font f = {.bold = json_new_bool(w->arena, true),
                          .color = word_color(w, color_arg(w, "text_color", "FFFFFF"))};

    if (!t)
        return why;
    each_cell(w, xml_child(t, "w:tr"), shade, &fill);
    each_cell(w, xml_child(t, "w:tr"), set_cell_font, &f);
    return word_done(w, "Header highlighting applied successfully to table %lld.",
                     word_index_of(w, "table_index"));
}

static void set_borders(struct word *w, struct xml *cell, const void *ctx)
{
    static const char *const sides[] = {"w:top", "w:left", "w:bottom", "w:right"};
    struct xml *n = word_prop(w, word_tcpr(w, cell), "w:tcBorders", STR_NULL, word_tcpr_order);

    xml_clear(n);
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        struct xml *side = xml_add(w->doc, n, sides[i]);
        xml_set(w->doc, side, "w:val", *(const struct str *)ctx);
        xml_set(w->doc, side, "w:sz", STR("4"));
        xml_set(w->doc, side, "w:space", STR("0"));
        xml_set(w->doc, side, "w:color", STR("000000"));
    }
}

/* A list of rows of colours. */
static void set_shadings(struct word *w, struct xml *table, const struct json *rows)
{
    struct xml *r = xml_child(table, "w:tr");

    for (size_t i = 0; r && rows && i < rows->n; i++, r = xml_next(r, "w:tr")) {
        const struct json *row = json_at(rows, i);
        for (size_t k = 0; json_is(row, JSON_ARRAY) && k < row->n; k++) {
            struct xml *cell = word_cell_in(r, (int64_t)k);
            struct str color = json_str(json_at(row, k), STR(""));
            if (cell && word_color(w, color).p)
                set_shading(w, cell, color, STR("clear"));
        }
    }
}

struct str tool_format_table(struct word *w)
{
    struct str why = STR_NULL, border = word_lower(w, word_arg(w, "border_style"));
    const struct json *shading = json_get(w->c->args, "shading");
    struct xml *t = find_table(w, &why);
    struct word_font bold = {.bold = json_new_bool(w->arena, true)};

    if (!t)
        return why;
    if (local_bool(w->c, "has_header_row"))
        each_cell(w, xml_child(t, "w:tr"), set_cell_font, &bold);
    if (border.len > 0) {
        bool is_known = str_is(border, "double") || str_is(border, "thick");
        border = str_is(border, "none") ? STR("nil") : is_known ? border : STR("single");
        each_row(w, t, set_borders, &border);
    }
    if (json_is(shading, JSON_ARRAY))
        set_shadings(w, t, shading);
    return word_done(w, "Table at index %lld formatted successfully.",
                     word_index_of(w, "table_index"));
}

/* ---- merging ---- */

struct str tool_merge_table_cells(struct word *w)
{
    struct word_range r = {word_int(w, "start_row", 0), word_int(w, "start_col", 0),
                           word_int(w, "end_row", 0), word_int(w, "end_col", 0)};
    struct str why = STR_NULL;
    struct xml *t = find_table(w, &why);

    if (!t)
        return why;
    if (r.top > r.bottom || r.left > r.right)
        return word_say(w, "Invalid merge range: start indices must be <= end indices");
    if (r.top == r.bottom && r.left == r.right)
        return word_say(w, "Invalid merge range: cannot merge a single cell with itself");
    if (!word_merge(w, t, &r))
        return word_say(w, "Failed to merge cells. Check that indices are valid.");
    return word_done(w, "Cells merged successfully in table %lld from (%lld,%lld) to (%lld,%lld).",
                     word_index_of(w, "table_index"), (long long)r.top, (long long)r.left,
                     (long long)r.bottom, (long long)r.right);
}

struct str tool_merge_table_cells_horizontal(struct word *w)
{
    int64_t row = word_int(w, "row_index", 0);
    struct word_range r = {row, word_int(w, "start_col", 0), row, word_int(w, "end_col", 0)};
    struct str why = STR_NULL;
    struct xml *t = find_table(w, &why);

    if (!t)
        return why;
    if (!word_merge(w, t, &r))
        return word_say(w, "Failed to merge cells horizontally. Check that indices are valid.");
    return word_done(w, "Cells merged horizontally in table %lld, row %lld, columns %lld-%lld.",
                     word_index_of(w, "table_index"), (long long)row, (long long)r.left,
                     (long long)r.right);
}

struct str tool_merge_table_cells_vertical(struct word *w)
{
    int64_t column = word_int(w, "col_index", 0);
    struct word_range r = {word_int(w, "start_row", 0), column, word_int(w, "end_row", 0), column};
    struct str why = STR_NULL;
    struct xml *t = find_table(w, &why);

    if (!t)
        return why;
    if (!word_merge(w, t, &r))
        return word_say(w, "Failed to merge cells vertically. Check that indices are valid.");
    return word_done(w, "Cells merged vertically in table %lld, column %lld, rows %lld-%lld.",
                     word_index_of(w, "table_index"), (long long)column, (long long)r.top,
                     (long long)r.bottom);
}

/* ---- alignment ---- */

struct alignment {
    struct str horizontal, vertical; /* as given */
    struct str jc, valign;           /* as written */
};

static struct str choose_option(struct word *w, const char *name, const char *const choices[])
{
    struct str given = word_has(w, name) ? word_lower(w, word_arg(w, name)) : str_of(choices[0]);

    for (size_t i = 0; choices[i]; i++) {
        if (str_is(given, choices[i]))
            return given;
    }
    return STR_NULL;
}

/* False with the reason in *WHY. */
static bool read_alignment(struct word *w, struct alignment *a, struct str *why)
{
    static const char *const h[] = {"left", "center", "right", "justify", NULL};
    static const char *const v[] = {"top", "center", "bottom", NULL};

    a->jc = choose_option(w, "horizontal", h);
    a->valign = choose_option(w, "vertical", v);
    a->horizontal = word_has(w, "horizontal") ? word_arg(w, "horizontal") : STR("left");
    a->vertical = word_has(w, "vertical") ? word_arg(w, "vertical") : STR("top");
    if (!a->jc.p)
        *why = STR("Invalid horizontal alignment. Valid options: left, center, right, justify");
    else if (!a->valign.p)
        *why = STR("Invalid vertical alignment. Valid options: top, center, bottom");
    if (str_is(a->jc, "justify"))
        a->jc = STR("both");
    return a->jc.p && a->valign.p;
}

static void align(struct word *w, struct xml *cell, const void *ctx)
{
    const struct alignment *a = ctx;

    for (struct xml *p = xml_child(cell, "w:p"); p; p = xml_next(p, "w:p"))
        (void)word_prop(w, word_ppr(w, p), "w:jc", a->jc, word_ppr_order);
    (void)word_prop(w, word_tcpr(w, cell), "w:vAlign", a->valign, word_tcpr_order);
}

struct str tool_set_table_cell_alignment(struct word *w)
{
    struct alignment a;
    struct str why = STR_NULL;
    long long row = word_index_of(w, "row_index"), column = word_index_of(w, "col_index");

    if (!read_alignment(w, &a, &why))
        return why;
    struct xml *t = find_table(w, &why), *cell = t ? word_cell(t, row, column) : NULL;
    if (!t)
        return why;
    if (!cell)
        return word_say(w, "Failed to set cell alignment. Check that indices are valid.");
    align(w, cell, &a);
    return word_done(w,
                     "Cell alignment set successfully for table %lld, cell (%lld,%lld) to " STR_FMT
                     "/" STR_FMT ".",
                     word_index_of(w, "table_index"), row, column, STR_ARG(a.horizontal),
                     STR_ARG(a.vertical));
}

struct str tool_set_table_alignment_all(struct word *w)
{
    struct alignment a;
    struct str why = STR_NULL;
    struct xml *t = read_alignment(w, &a, &why) ? find_table(w, &why) : NULL;

    if (!t)
        return why;
    each_row(w, t, align, &a);
    return word_done(w,
                     "Table alignment set successfully for table %lld to " STR_FMT "/" STR_FMT
                     " for all cells.",
                     word_index_of(w, "table_index"), STR_ARG(a.horizontal), STR_ARG(a.vertical));
}

/* ---- widths ---- */

struct width {
    struct str given; /* its kind, as the call names it */
    const char *type; /* as it is written */
    double factor;    /* to what is written */
};

static bool read_width(struct word *w, struct width *ret, struct str *why)
{
    static const struct {
        const char *name, *type;
        double factor;
    } kinds[] = {
        {"points", "dxa", 20},  {"inches", "dxa", 1440}, {"cm", "dxa", 567},
        {"percent", "pct", 50}, {"auto", "auto", 0},
    };
    struct str given = word_has(w, "width_type") ? word_arg(w, "width_type") : STR("points");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_iis(given, kinds[i].name))
            continue;
        *ret = (struct width){given, kinds[i].type, kinds[i].factor};
        return true;
    }
    *why = STR("Invalid width type. Valid options: points, inches, cm, percent, auto");
    return false;
}

static void write_width(struct word *w, struct xml *n, const struct width *u, double value)
{
    double v = value * u->factor;

    v = v < 0 ? 0 : v > 31680 ? 31680 : v; /* no page is wider: 22 inches */
    xml_setf(w->doc, n, "w:w", "%lld", (long long)v);
    xml_set(w->doc, n, "w:type", str_of(u->type));
}

static void set_column(struct word *w, struct xml *table, int64_t column, const struct width *u,
                       double value)
{
    struct xml *grid = xml_nth(xml_child(table, "w:tblGrid"), "w:gridCol", (size_t)column);

    for (struct xml *r = xml_child(table, "w:tr"); r; r = xml_next(r, "w:tr")) {
        struct xml *cell = word_cell_in(r, column);
        if (cell)
            write_width(w, word_prop(w, word_tcpr(w, cell), "w:tcW", STR_NULL, word_tcpr_order), u,
                        value);
    }
    if (grid && strcmp(u->type, "dxa") == 0) {
        write_width(w, grid, u, value);
        xml_unset(grid, "w:type");
    }
}

struct str tool_set_table_column_width(struct word *w)
{
    struct width u;
    struct str why = STR_NULL;
    int64_t column = word_int(w, "col_index", 0);
    struct xml *t = read_width(w, &u, &why) ? find_table(w, &why) : NULL;
    size_t n = word_n_columns(t);

    if (!t)
        return why;
    if (column < 0 || (uint64_t)column >= n)
        return word_say(w, "Invalid column index. Table has %zu columns (0-%lld).", n,
                        (long long)n - 1);
    set_column(w, t, column, &u, word_real(w, "width"));
    return word_done(
        w, "Column width set successfully for table %lld, column %lld to " STR_FMT " " STR_FMT ".",
        word_index_of(w, "table_index"), (long long)column,
        STR_ARG(word_float(w, word_real(w, "width"))), STR_ARG(u.given));
}

struct str tool_set_table_column_widths(struct word *w)
{
    const struct json *widths = json_get(w->c->args, "widths");
    struct width u;
    struct str why = STR_NULL;
    struct xml *t = read_width(w, &u, &why) ? find_table(w, &why) : NULL;
    size_t n = json_is(widths, JSON_ARRAY) ? widths->n : 0, n_columns = word_n_columns(t);

    if (!t)
        return why;
    for (size_t i = 0; i < n; i++) {
        if (!json_is_number(&widths->items[i]) && u.factor > 0)
            return STR("Invalid parameter: table_index must be an integer, "
                       "widths must be a list of numbers");
    }
    for (size_t i = 0; i < n && i < n_columns; i++)
        set_column(w, t, (int64_t)i, &u, json_real(&widths->items[i], 0));
    return word_done(
        w, "Column widths set successfully for table %lld with %zu columns in " STR_FMT ".",
        word_index_of(w, "table_index"), n, STR_ARG(u.given));
}

static struct xml *tblpr(struct word *w, struct xml *table)
{
    struct xml *n = xml_child(table, "w:tblPr");

    return n ? n : xml_add_before(w->doc, table, "w:tblPr", table->first);
}

struct str tool_set_table_width(struct word *w)
{
    struct width u;
    struct str why = STR_NULL;
    struct xml *t = read_width(w, &u, &why) ? find_table(w, &why) : NULL;

    if (!t)
        return why;
    write_width(w, word_prop(w, tblpr(w, t), "w:tblW", STR_NULL, word_tblpr_order), &u,
                word_real(w, "width"));
    return word_done(w, "Table width set successfully for table %lld to " STR_FMT " " STR_FMT ".",
                     word_index_of(w, "table_index"), STR_ARG(word_float(w, word_real(w, "width"))),
                     STR_ARG(u.given));
}

struct str tool_auto_fit_table_columns(struct word *w)
{
    static const struct width u = {.type = "auto"};
    struct str why = STR_NULL;
    struct xml *t = find_table(w, &why);

    if (!t)
        return why;
    struct xml *n = word_prop(w, tblpr(w, t), "w:tblLayout", STR_NULL, word_tblpr_order);
    xml_set(w->doc, n, "w:type", STR("autofit"));
    for (size_t i = 0; i < word_n_columns(t); i++)
        set_column(w, t, (int64_t)i, &u, 0);
    return word_done(w, "Table %lld set to auto-fit columns based on content.",
                     word_index_of(w, "table_index"));
}

/* ---- content of cells ---- */

/* "bold=True, size=12pt": what was given. */
static struct str describe_format(struct word *w)
{
    static const struct {
        const char *name, *before, *behind;
    } rows[] = {
        {"bold", "bold=", ""},   {"italic", "italic=", ""},    {"underline", "underline=", ""},
        {"color", "color=", ""}, {"font_size", "size=", "pt"}, {"font_name", "font=", ""},
    };
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    if (word_has(w, "text_content"))
        (void)buf_printf(&b, "content='" STR_FMT "', ",
                         STR_ARG(word_short(w, word_arg(w, "text_content"), 30)));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (word_has(w, rows[i].name))
            (void)buf_printf(&b, "%s" STR_FMT "%s, ", rows[i].before,
                             STR_ARG(word_pystr(w, json_get(w->c->args, rows[i].name))),
                             rows[i].behind);
    }
    return b.len > 0 ? arena_str(w->arena, str_n(b.p, b.len - 2)) : STR("no changes");
}

struct str tool_format_table_cell_text(struct word *w)
{
    struct str why = STR_NULL;
    struct xml *cell = find_cell(w, &why);
    struct word_font f = word_font_args(w);

    if (!cell)
        return why;
    if (word_has(w, "text_content"))
        word_set_cell_text(w, cell, word_arg(w, "text_content"));
    set_cell_font(w, cell, &f);
    return word_done(
        w, "Cell text formatted successfully in table %lld, cell (%lld,%lld): " STR_FMT ".",
        word_index_of(w, "table_index"), word_index_of(w, "row_index"),
        word_index_of(w, "col_index"), STR_ARG(describe_format(w)));
}

struct str tool_set_table_cell_padding(struct word *w)
{
    static const char *const sides[][2] = {
        {"top", "w:top"}, {"left", "w:left"}, {"bottom", "w:bottom"}, {"right", "w:right"}};
    static const int told[] = {0, 2, 1, 3}; /* in which order they are listed */
    struct str why = STR_NULL;
    struct str unit = word_has(w, "unit") ? word_arg(w, "unit") : STR("points");
    bool is_percent = str_iis(unit, "percent");
    struct width u = {.type = is_percent ? "pct" : "dxa", .factor = is_percent ? 50 : 20};
    auto_buf struct buf b = BUF_INIT(1024);

    if (!is_percent && !str_iis(unit, "points"))
        return STR("Invalid unit. Valid options: points, percent");
    struct xml *cell = find_cell(w, &why), *n = NULL;
    if (!cell)
        return why;
    xml_remove_all(word_tcpr(w, cell), "w:tcMar");
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        if (!word_has(w, sides[i][0]))
            continue;
        n = word_prop(w, word_tcpr(w, cell), "w:tcMar", STR_NULL, word_tcpr_order);
        write_width(w, xml_add(w->doc, n, sides[i][1]), &u, word_real(w, sides[i][0]));
    }
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        const char *side = sides[told[i]][0];
        if (word_has(w, side))
            (void)buf_printf(&b, "%s%s=" STR_FMT, b.len > 0 ? ", " : "", side,
                             STR_ARG(word_float(w, word_real(w, side))));
    }
    return word_done(
        w,
        "Cell padding set successfully for table %lld, cell (%lld,%lld): " STR_FMT " " STR_FMT ".",
        word_index_of(w, "table_index"), word_index_of(w, "row_index"),
        word_index_of(w, "col_index"), STR_ARG(n ? buf_str(&b) : STR("no padding")), STR_ARG(unit));
}
