/* SPDX-License-Identifier: MIT */
/* Tools for what is put on slides: pictures, tables, shapes, charts, connectors. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "local/powerpoint/image.h"
#include "local/powerpoint/picture.h"
#include "local/powerpoint/table.h"
#include "local/powerpoint/tools.h"

static void tell_index(struct pp *p)
{
    pp_int(p, "shape_index", (int64_t)shape_count(&p->slide) - 1);
}

/* ---- pictures ---- */

/* The file of "image_source"; false: the answer is an error. */
static bool read_image(struct pp *p, struct str *ret)
{
    struct str source = pp_arg_str(p, "image_source");
    const char *path = pp_path(p, source);

    if (!path)
        return false;
    int r = path_read(p->c, path, ret);
    if (r == -ENOENT)
        pp_error(p, "Image file not found: " STR_FMT, STR_ARG(source));
    else if (r < 0)
        pp_error(p, "Failed to add image: " STR_FMT,
                 STR_ARG(path_error(p->c, r, "open", path, NULL)));
    return r == 0;
}

static void add_image(struct pp *p, bool is_base64)
{
    auto_buf struct buf decoded = BUF_INIT(LOCAL_FILE_MAX);
    struct str source = pp_arg_str(p, "image_source"), bytes;

    if (is_base64 && (!source.p || enc_unbase64(&decoded, source) < 0)) {
        pp_error(p, "Failed to process base64 image: the data is no base64");
        return;
    }
    if (is_base64)
        bytes = buf_str(&decoded);
    else if (!read_image(p, &bytes))
        return;
    if (!picture_add(p->deck, &p->slide, pp_box(p), bytes, &p->err)) {
        pp_error(p, "%s: %s", is_base64 ? "Failed to process base64 image" : "Failed to add image",
                 err_text(&p->err));
        return;
    }
    pp_text(p, "message", "Added image %sto slide %lld", is_base64 ? "from base64 " : "",
            (long long)p->slide_index);
    tell_index(p);
    if (!is_base64)
        pp_text(p, "image_path", STR_FMT, STR_ARG(source));
}

static void enhance_image(struct pp *p)
{
    struct str source = pp_arg_str(p, "image_source"), output = pp_arg_str(p, "output_path");
    struct image_change how = {pp_arg_real(p, "brightness", 1),  pp_arg_real(p, "contrast", 1),
                               pp_arg_real(p, "saturation", 1),  pp_arg_real(p, "sharpness", 1),
                               pp_arg_real(p, "blur_radius", 0), pp_arg_str(p, "filter_type")};
    auto_buf struct buf out = BUF_INIT(LOCAL_FILE_MAX);
    struct str style = pp_arg_str(p, "enhancement_style"), bytes;

    p->is_unchanged = true;
    if (style.p && str_is(style, "presentation"))
        how = (struct image_change){1.1, 1.15, 1.1, 1.2, 0, STR_NULL};
    if (!read_image(p, &bytes))
        return;
    if (output.len == 0)
        output = arena_printf(&p->c->arena, STR_FMT ".enhanced.png", STR_ARG(source));
    const char *path = pp_path(p, output);
    if (!path)
        return;
    int r = image_enhance(bytes, &how, &out, &p->err);
    if (r == 0)
        r = path_write(p->c, path, buf_str(&out));
    if (r < 0) {
        pp_error(p, "Failed to enhance image: %s",
                 p->err.code ? err_text(&p->err) : path_error(p->c, r, "open", path, NULL).p);
        return;
    }
    pp_text(p, "message", "Enhanced image: " STR_FMT, STR_ARG(source));
    pp_text(p, "enhanced_path", STR_FMT, STR_ARG(output));
}

void pp_manage_image(struct pp *p)
{
    struct str operation = pp_arg_str(p, "operation"), type = pp_arg_str(p, "source_type");
    bool is_base64 = type.p && str_is(type, "base64");

    if (str_is(operation, "add"))
        add_image(p, is_base64);
    else if (!str_is(operation, "enhance"))
        pp_error(p, "Invalid operation: " STR_FMT ". Must be 'add' or 'enhance'",
                 STR_ARG(operation));
    else if (is_base64)
        pp_error(p, "Enhancement operation requires file path, not base64 data");
    else
        enhance_image(p);
}

/* ---- tables ---- */

static bool check_object_numbers(struct pp *p)
{
    static const struct {
        const char *name, *fault;
        bool may_be_zero;
    } rules[] = {{"rows", "must be a positive integer", false},
                 {"cols", "must be a positive integer", false},
                 {"left", "must be non-negative", true},
                 {"top", "must be non-negative", true},
                 {"width", "must be positive", false},
                 {"height", "must be positive", false}};
    static const char *const colors[] = {"header_bg_color", "body_bg_color", "border_color"};
    char rgb[7];

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        double v = pp_arg_real(p, rules[i].name, 0);
        if (v < 0 || (v == 0 && !rules[i].may_be_zero)) {
            pp_error(p, "Parameter '%s': %s", rules[i].name, rules[i].fault);
            return false;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(colors); i++) {
        if (pp_arg(p, colors[i]) && !pp_rgb(pp_arg(p, colors[i]), rgb)) {
            pp_error(p, "Parameter '%s': must be a valid RGB list [R, G, B] with values 0-255",
                     colors[i]);
            return false;
        }
    }
    return true;
}

static bool check_table(struct pp *p, int64_t rows, int64_t cols)
{
    const struct json *data = pp_arg(p, "data");

    if (!check_object_numbers(p))
        return false;
    if (rows > TABLE_SIDE_MAX || cols > TABLE_SIDE_MAX || rows * cols > TABLE_CELLS_MAX)
        pp_error(p, "Failed to add table: a table can have at most %d rows and columns",
                 (int)TABLE_SIDE_MAX);
    else if (data && data->n > 0 && data->n != rows)
        pp_error(p, "Data has %u rows but table should have %lld rows", data->n, (long long)rows);
    for (size_t i = 0; data && i < data->n && !pp_failed(p); i++) {
        if (data->items[i].n != cols)
            pp_error(p, "Row %zu has %u columns but table should have %lld columns", i,
                     data->items[i].n, (long long)cols);
    }
    return !pp_failed(p);
}

static void fill_object_cell(struct pp *p, struct xml *cell, const struct json *value,
                             bool is_header)
{
    struct xml_doc *doc = p->slide.doc;
    struct text_format f = TEXT_FORMAT_KEEP;
    char rgb[7];

    if (value)
        text_set(doc, text_body(cell), json_str(value, STR("")));
    f.points = pp_arg_real(p, is_header ? "header_font_size" : "body_font_size", 10);
    if (is_header)
        f.bold = TEXT_YES;
    text_format(doc, text_body(cell), &f);
    if (pp_rgb(pp_arg(p, is_header ? "header_bg_color" : "body_bg_color"), rgb))
        table_cell_fill(doc, cell, rgb);
    if (pp_rgb(pp_arg(p, "border_color"), rgb))
        table_cell_border(doc, cell, rgb);
}

void pp_add_table(struct pp *p)
{
    int64_t rows = json_int(pp_arg(p, "rows"), 0), cols = json_int(pp_arg(p, "cols"), 0);
    const struct json *data = pp_arg(p, "data");
    bool has_header = json_bool(pp_arg(p, "header_row"), true);
    struct box box = pp_box(p);

    if (!check_table(p, rows, cols))
        return;
    struct xml *table = table_of(table_add(&p->slide, &box, (size_t)rows, (size_t)cols));
    if (!table) {
        pp_error(p, "Failed to add table: the slide or the memory is full");
        return;
    }
    if (!has_header)
        xml_set(p->slide.doc, xml_child(table, "a:tblPr"), "firstRow", STR("0"));
    size_t r = 0;
    for (struct xml *tr = xml_child(table, "a:tr"); tr; tr = xml_next(tr, "a:tr"), r++) {
        size_t c = 0;
        for (struct xml *tc = xml_child(tr, "a:tc"); tc; tc = xml_next(tc, "a:tc"), c++)
            fill_object_cell(p, tc, json_at(json_at(data, r), c), r == 0 && has_header);
    }
    pp_text(p, "message", "Added %lldx%lld table to slide %lld", (long long)rows, (long long)cols,
            (long long)p->slide_index);
    tell_index(p);
    pp_int(p, "rows", rows);
    pp_int(p, "cols", cols);
}

void pp_format_table_cell(struct pp *p)
{
    int64_t row = json_int(pp_arg(p, "row"), -1), col = json_int(pp_arg(p, "col"), -1);
    const struct xml *table = table_of(p->shape);
    int64_t rows = (int64_t)table_rows(table), cols = (int64_t)table_cols(table);
    struct text_format f;
    char rgb[7], fill[7];

    if (!table)
        pp_error(p, "Shape at index %lld is not a table", (long long)p->shape_index);
    else if (row < 0 || row >= rows)
        pp_error(p, "Invalid row index: %lld. Available rows: 0-%lld", (long long)row,
                 (long long)rows - 1);
    else if (col < 0 || col >= cols)
        pp_error(p, "Invalid column index: %lld. Available columns: 0-%lld", (long long)col,
                 (long long)cols - 1);
    if (pp_failed(p) || !pp_text_args(p, &f, rgb))
        return;
    struct xml *cell = table_cell(table, (size_t)row, (size_t)col);
    struct xml *body = cell ? text_need(p->slide.doc, cell) : NULL;
    if (!body || (pp_arg(p, "bg_color") && !pp_rgb(pp_arg(p, "bg_color"), fill))) {
        pp_error(p, "Failed to format table cell: %s",
                 body ? "bg_color must be [R, G, B] with values 0-255" : "there is no such cell");
        return;
    }
    text_format(p->slide.doc, body, &f);
    if (f.anchor)
        table_cell_anchor(p->slide.doc, cell, f.anchor);
    if (pp_arg(p, "bg_color"))
        table_cell_fill(p->slide.doc, cell, fill);
    pp_text(p, "message",
            "Formatted cell at row %lld, column %lld in table at shape index %lld on slide %lld",
            (long long)row, (long long)col, (long long)p->shape_index, (long long)p->slide_index);
}

/* ---- shapes ---- */

/* In the order of their names, as they are listed. */
static const struct shape_kind {
    const char *type, *geometry, *name;
} shape_kinds[] = {
    {"arrow", "rightArrow", "Right Arrow"},
    {"cloud", "cloud", "Cloud"},
    {"diamond", "diamond", "Diamond"},
    {"flowchart_data", "flowChartInputOutput", "Data"},
    {"flowchart_decision", "flowChartDecision", "Decision"},
    {"flowchart_document", "flowChartDocument", "Document"},
    {"flowchart_process", "flowChartProcess", "Process"},
    {"heart", "heart", "Heart"},
    {"heptagon", "heptagon", "Heptagon"},
    {"hexagon", "hexagon", "Hexagon"},
    {"lightning_bolt", "lightningBolt", "Lightning Bolt"},
    {"moon", "moon", "Moon"},
    {"no_symbol", "noSmoking", "\"No\" symbol"},
    {"octagon", "octagon", "Octagon"},
    {"oval", "ellipse", "Oval"},
    {"pentagon", "pentagon", "Pentagon"},
    {"rectangle", "rect", "Rectangle"},
    {"right_triangle", "rtTriangle", "Right Triangle"},
    {"rounded_rectangle", "roundRect", "Rounded Rectangle"},
    {"smiley_face", "smileyFace", "Smiley Face"},
    {"star", "star5", "5-Point Star"},
    {"sun", "sun", "Sun"},
    {"triangle", "triangle", "Isosceles Triangle"},
};

struct xml *pp_add_kind(struct slide *s, struct str type, struct box box)
{
    for (size_t i = 0; i < ARRAY_LEN(shape_kinds); i++) {
        struct shape_new n = {shape_kinds[i].name, box, shape_kinds[i].geometry, false};
        if (str_iis(type, shape_kinds[i].type))
            return shape_add(s, &n);
    }
    return NULL;
}

static bool is_kind(struct pp *p, struct str type)
{
    struct str all = STR("");

    for (size_t i = 0; i < ARRAY_LEN(shape_kinds); i++) {
        if (str_iis(type, shape_kinds[i].type))
            return true;
        all = arena_printf(&p->c->arena, STR_FMT "%s%s", STR_ARG(all), i > 0 ? ", " : "",
                           shape_kinds[i].type);
    }
    pp_error(p, "Unsupported shape type: '" STR_FMT "'. Available shape types: " STR_FMT,
             STR_ARG(type), STR_ARG(all));
    return false;
}

void pp_add_shape(struct pp *p)
{
    struct str type = pp_arg_str(p, "shape_type"), text = pp_arg_str(p, "text");
    struct text_format f = TEXT_FORMAT_KEEP;
    struct xml_doc *doc = p->slide.doc;
    char fill[7], line[7], rgb[7];
    bool has_fill = pp_rgb(pp_arg(p, "fill_color"), fill);
    bool has_line = pp_rgb(pp_arg(p, "line_color"), line);
    double width = pp_arg_real(p, "line_width", 0);

    if (!is_kind(p, type))
        return;
    struct xml *shape = pp_add_kind(&p->slide, type, pp_box(p));
    struct xml *look = shape_properties(shape);
    if (!look) {
        pp_error(p, "Failed to add shape '" STR_FMT "': the slide or the memory is full",
                 STR_ARG(type));
        return;
    }
    if (has_fill)
        (void)shape_fill(doc, look, shape_order, fill);
    if (has_line || width > 0)
        shape_line(doc, look, has_line ? line : NULL,
                   (int64_t)((width < 1584 ? width : 1584) * PP_EMU_POINT));
    if (text.len > 0)
        text_set(doc, text_body(shape), text);
    f.points = pp_arg_real(p, "font_size", 0);
    f.rgb = pp_rgb(pp_arg(p, "font_color"), rgb) ? rgb : NULL;
    text_format(doc, text_body(shape), &f);
    pp_text(p, "message", "Added " STR_FMT " shape to slide %lld", STR_ARG(type),
            (long long)p->slide_index);
    tell_index(p);
}

void pp_add_connector(struct pp *p)
{
    static const char *const types[][2] = {
        {"straight", "line"}, {"elbow", "bentConnector3"}, {"curved", "curvedConnector3"}};
    static const char *const args[] = {"start_x", "start_y", "end_x", "end_y"};
    struct str type = pp_arg_str(p, "connector_type");
    struct shape_new n = {.name = "Connector"};
    struct json *points[2] = {pp_array(p), pp_array(p)};
    int64_t at[4];
    char rgb[7];

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_iis(type, types[i][0]))
            n.geometry = types[i][1];
    }
    if (!n.geometry) {
        pp_error(p, "Invalid connector type. Use: ['straight', 'elbow', 'curved']");
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        double v = pp_arg_real(p, args[i], 0);
        at[i] = pp_emu(v);
        pp_push(p, points[i / 2], json_new_real(&p->c->arena, v));
    }
    struct xml *shape = shape_add_connector(&p->slide, &n, at, at + 2);
    double width = pp_arg_real(p, "line_width", 1);
    if (!shape) {
        pp_error(p, "Failed to add connector: the slide or the memory is full");
        return;
    }
    shape_line(p->slide.doc, shape_properties(shape), pp_rgb(pp_arg(p, "color"), rgb) ? rgb : NULL,
               width > 0 ? (int64_t)((width < 1584 ? width : 1584) * PP_EMU_POINT) : 0);
    pp_text(p, "message", "Added " STR_FMT " connector to slide %lld", STR_ARG(type),
            (long long)p->slide_index);
    pp_text(p, "connector_type", STR_FMT, STR_ARG(type));
    pp_set(p, "start_point", points[0]);
    pp_set(p, "end_point", points[1]);
    tell_index(p);
}
