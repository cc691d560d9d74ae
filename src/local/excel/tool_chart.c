/* SPDX-License-Identifier: MIT */
/* The server "excel": charts. The first column of the data has the categories (of scatter charts:
 * where points are), every other one is a series with its name in the first row. */
#include <errno.h>

#include "base/cleanup.h"
#include "local/excel/excel.h"

#define DRAWING_TYPE "application/vnd.openxmlformats-officedocument.drawing+xml"
#define CHART_TYPE   "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
#define DRAWINGML    "http://schemas.openxmlformats.org/drawingml/2006/"

enum { CHART_WIDTH = 5400000, CHART_HEIGHT = 2700000, SERIES_MAX = 255 }; /* EMU: 15 and 7.5 cm */

struct chart_kind {
    const char *name, *element;
    const char *before, *behind; /* what is around the series */
    bool has_axes, is_scatter, has_lines;
};

/* Programs take colors from a file's theme where a chart has none, but not all files have one. */
static const char *const colors[] = {"4472C4", "ED7D31", "A5A5A5", "FFC000",
                                     "5B9BD5", "70AD47", "264478", "9E480E"};

static const struct chart_kind kinds[] = {
    {"line", "c:lineChart", "<c:grouping val=\"standard\"/>", "<c:marker val=\"1\"/>", true, false,
     true},
    {"bar", "c:barChart", "<c:barDir val=\"col\"/><c:grouping val=\"clustered\"/>",
     "<c:gapWidth val=\"150\"/>", true, false, false},
    {"pie", "c:pieChart", "<c:varyColors val=\"1\"/>", "<c:firstSliceAng val=\"0\"/>", false, false,
     false},
    {"scatter", "c:scatterChart", "<c:scatterStyle val=\"lineMarker\"/>", "", true, true, false},
    {"area", "c:areaChart", "<c:grouping val=\"standard\"/>", "", true, false, false},
};

struct chart {
    struct excel *x;
    const struct chart_kind *kind;
    struct sheet *source;
    struct range data;
    struct ref target;
    struct xml_doc *d;
};

/* ---- the chart ---- */

static void add_chart_reference(struct chart *c, struct xml *parent, const char *name,
                                struct range r)
{
    struct xml *n = xml_add(c->d, parent, name);

    xml_set_text(c->d, xml_add(c->d, n, "c:f"),
                 range_formula(&c->x->call->arena, c->source->name, r));
}

/* Whether the first column has texts. */
static bool has_texts(struct chart *c, struct range r)
{
    struct value v =
        cell_value(&c->x->book, c->source, sheet_cell(c->source, (struct ref){r.row, r.col}));

    return v.kind == VALUE_TEXT && !v.is_formula;
}

/* How series or, in a pie, slice I is drawn: as a line or filled. */
static void add_series_color(struct chart *c, struct xml *parent, unsigned i)
{
    struct xml *look = xml_add(c->d, parent, "c:spPr");
    bool is_line = c->kind->has_lines || c->kind->is_scatter;
    struct xml *at = is_line ? xml_add(c->d, look, "a:ln") : look;

    if (is_line)
        xml_set(c->d, at, "w", STR("28575"));
    xml_set(c->d, xml_add(c->d, xml_add(c->d, at, "a:solidFill"), "a:srgbClr"), "val",
            str_of(colors[i % ARRAY_LEN(colors)]));
}

static void add_slices(struct chart *c, struct xml *series)
{
    for (unsigned i = 0; i < c->data.row2 - c->data.row && i < SERIES_MAX; i++) {
        struct xml *slice = xml_add(c->d, series, "c:dPt");
        xml_setf(c->d, xml_add(c->d, slice, "c:idx"), "val", "%u", i);
        add_series_color(c, slice, i);
    }
}

static void add_series(struct chart *c, struct xml *plot, unsigned i)
{
    struct range all = c->data;
    unsigned col = all.col + 1 + i;
    struct range first = {all.row + 1, all.col, all.row2, all.col};
    struct range values = {all.row + 1, col, all.row2, col};
    struct xml *s = xml_add(c->d, plot, "c:ser");

    xml_setf(c->d, xml_add(c->d, s, "c:idx"), "val", "%u", i);
    xml_setf(c->d, xml_add(c->d, s, "c:order"), "val", "%u", i);
    add_chart_reference(c, xml_add(c->d, s, "c:tx"), "c:strRef",
                        (struct range){all.row, col, all.row, col});
    if (c->kind->has_axes)
        add_series_color(c, s, i);
    else
        add_slices(c, s);
    if (c->kind->has_lines)
        (void)xml_add_text(c->d, s, NULL, "<c:marker><c:symbol val=\"none\"/></c:marker>");
    struct xml *cat = xml_add(c->d, s, c->kind->is_scatter ? "c:xVal" : "c:cat");
    add_chart_reference(c, cat, has_texts(c, first) ? "c:strRef" : "c:numRef", first);
    add_chart_reference(c, xml_add(c->d, s, c->kind->is_scatter ? "c:yVal" : "c:val"), "c:numRef",
                        values);
    if (c->kind->has_lines || c->kind->is_scatter)
        (void)xml_add_text(c->d, s, NULL, "<c:smooth val=\"0\"/>");
}

static void add_chart_title(struct chart *c, struct xml *parent, struct xml *before,
                            struct str text)
{
    struct xml *n = text.len > 0 ? xml_add_text(c->d, parent, before,
                                                "<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r>"
                                                "<a:t/></a:r></a:p></c:rich></c:tx>"
                                                "<c:overlay val=\"0\"/></c:title>")
                                 : NULL;

    if (n)
        xml_set_text(c->d, xml_walk(n, NULL, "a:t"), text);
}

/* The axes, the first one of categories or, of scatter charts, of values too. */
static void add_axes(struct chart *c, struct xml *area)
{
    struct local_call *call = c->x->call;
    struct xml *first = xml_add_text(
        c->d, area, NULL,
        c->kind->is_scatter
            ? "<c:valAx><c:axId val=\"10\"/><c:scaling><c:orientation val=\"minMax\"/></c:scaling>"
              "<c:delete val=\"0\"/><c:axPos val=\"b\"/><c:majorTickMark val=\"out\"/>"
              "<c:minorTickMark val=\"none\"/><c:crossAx val=\"100\"/></c:valAx>"
            : "<c:catAx><c:axId val=\"10\"/><c:scaling><c:orientation val=\"minMax\"/></c:scaling>"
              "<c:delete val=\"0\"/><c:axPos val=\"b\"/><c:majorTickMark val=\"out\"/>"
              "<c:minorTickMark val=\"none\"/><c:crossAx val=\"100\"/></c:catAx>");
    struct xml *second = xml_add_text(
        c->d, area, NULL,
        "<c:valAx><c:axId val=\"100\"/><c:scaling><c:orientation val=\"minMax\"/></c:scaling>"
        "<c:delete val=\"0\"/><c:axPos val=\"l\"/><c:majorGridlines><c:spPr><a:ln>"
        "<a:solidFill><a:srgbClr val=\"D9D9D9\"/></a:solidFill></a:ln></c:spPr></c:majorGridlines>"
        "<c:majorTickMark val=\"out\"/>"
        "<c:minorTickMark val=\"none\"/><c:crossAx val=\"10\"/></c:valAx>");

    add_chart_title(c, first, xml_child(first, "c:majorTickMark"), local_str(call, "x_axis"));
    add_chart_title(c, second, xml_child(second, "c:majorTickMark"), local_str(call, "y_axis"));
}

static void fill_chart(struct chart *c)
{
    struct xml *chart = xml_child(c->d->root, "c:chart");

    add_chart_title(c, chart, NULL, local_str(c->x->call, "title"));
    if (!xml_child(chart, "c:title"))
        (void)xml_add_text(c->d, chart, NULL, "<c:autoTitleDeleted val=\"1\"/>");
    struct xml *area = xml_add(c->d, chart, "c:plotArea");
    struct xml *plot = xml_add(c->d, area, c->kind->element);
    (void)xml_add_text(c->d, plot, NULL, c->kind->before);
    for (unsigned i = 0; i < c->data.col2 - c->data.col && i < SERIES_MAX; i++)
        add_series(c, plot, i);
    (void)xml_add_text(c->d, plot, NULL,
                       "<c:dLbls><c:showLegendKey val=\"0\"/><c:showVal val=\"1\"/>"
                       "<c:showCatName val=\"0\"/><c:showSerName val=\"0\"/>"
                       "<c:showPercent val=\"0\"/><c:showBubbleSize val=\"0\"/></c:dLbls>");
    if (c->kind->behind[0])
        (void)xml_add_text(c->d, plot, NULL, c->kind->behind);
    if (c->kind->has_axes) {
        (void)xml_add_text(c->d, plot, NULL, "<c:axId val=\"10\"/><c:axId val=\"100\"/>");
        add_axes(c, area);
    }
    (void)xml_add_text(c->d, chart, NULL,
                       "<c:legend><c:legendPos val=\"r\"/></c:legend><c:plotVisOnly val=\"1\"/>"
                       "<c:dispBlanksAs val=\"gap\"/>");
}

/* ---- its place in the sheet ---- */

/* The sheet's drawing, made when there is none. */
static struct part *need_drawing(struct excel *x, struct err *e)
{
    static const char empty[] = "<xdr:wsDr xmlns:xdr=\"" DRAWINGML "spreadsheetDrawing\" "
                                "xmlns:a=\"" DRAWINGML "main\"/>";
    struct package *p = &x->book.package;
    struct sheet *s = x->sheet;
    struct xml *there = xml_child(s->doc->root, "drawing");

    if (there)
        return rel_part_by_id(p, s->part, xml_get(there, "r:id"));
    struct part *part = package_add(p, package_free_name(p, "/xl/drawings/drawing", ".xml"),
                                    DRAWING_TYPE, str_of(empty));
    if (!part) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    xml_set(s->doc, sheet_child(s, "drawing"), "r:id", rel_add(p, s->part, "drawing", part));
    return part;
}

static void add_anchor(struct chart *c, struct xml_doc *d, struct str id)
{
    struct xml *anchor = xml_add_text(
        d, d->root, NULL,
        "<xdr:oneCellAnchor><xdr:from><xdr:col/><xdr:colOff>0</xdr:colOff><xdr:row/>"
        "<xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:ext/><xdr:graphicFrame><xdr:nvGraphicFramePr>"
        "<xdr:cNvPr/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x=\"0\" "
        "y=\"0\"/><a:ext cx=\"0\" cy=\"0\"/></xdr:xfrm><a:graphic><a:graphicData uri=\"" DRAWINGML
        "chart\"><c:chart/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/>"
        "</xdr:oneCellAnchor>");
    struct xml *name = xml_walk(anchor, NULL, "xdr:cNvPr"), *from = xml_child(anchor, "xdr:from");
    size_t number = xml_count(d->root, NULL);
    struct arena *a = &c->x->call->arena;

    xml_set_text(d, xml_child(from, "xdr:col"), arena_printf(a, "%u", c->target.col - 1));
    xml_set_text(d, xml_child(from, "xdr:row"), arena_printf(a, "%u", c->target.row - 1));
    xml_setf(d, xml_child(anchor, "xdr:ext"), "cx", "%d", CHART_WIDTH);
    xml_setf(d, xml_child(anchor, "xdr:ext"), "cy", "%d", CHART_HEIGHT);
    xml_setf(d, name, "id", "%zu", number + 1);
    xml_setf(d, name, "name", "Chart %zu", number);
    xml_set(d, xml_walk(anchor, NULL, "c:chart"), "r:id", id);
}

static bool add_chart(struct chart *c, struct err *e)
{
    static const char empty[] = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
                                "<c:chartSpace xmlns:c=\"" DRAWINGML "chart\" xmlns:a=\"" DRAWINGML
                                "main\"><c:chart/></c:chartSpace>";
    struct package *p = &c->x->book.package;
    struct part *drawing = need_drawing(c->x, e);
    struct part *part = drawing ? package_add(p, package_free_name(p, "/xl/charts/chart", ".xml"),
                                              CHART_TYPE, str_of(empty))
                                : NULL;
    struct xml_doc *d = drawing ? part_edit(p, drawing, e) : NULL;

    c->d = part ? part_edit(p, part, e) : NULL;
    if (!c->d || !d)
        return false;
    fill_chart(c);
    add_anchor(c, d, rel_add(p, drawing, "chart", part));
    return true;
}

/* ---- arguments ---- */

/* "Sheet!A1:B2" or "A1:B2"; false when the call has its answer. */
static bool read_chart_data(struct local_call *call, struct chart *c)
{
    struct str given = local_str(call, "data_range"), range = given;
    struct err e = ERR_INIT;

    c->source = c->x->sheet;
    struct str name = str_cut(&range, '!');
    if (range.p) {
        if (name.len > 1 && name.p[0] == '\'')
            name = str_slice(name, 1, name.len - 1);
        c->source = book_sheet(&c->x->book, name);
        if (!c->source || sheet_load(&c->x->book, c->source, &e) < 0) {
            excel_error(call, "Sheet '" STR_FMT "' referenced in data range not found",
                        STR_ARG(name));
            return false;
        }
        given = range;
    }
    if (str_chr(given, ':') < 0) {
        excel_error(call, "Invalid data range format: not enough values to unpack (expected 2, "
                          "got 1)");
        return false;
    }
    if (!range_parse(given, &c->data)) {
        excel_error(call, "Invalid data range format: Invalid cell reference: " STR_FMT,
                    STR_ARG(given));
        return false;
    }
    return true;
}

static const struct chart_kind *find_chart_kind(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (str_iis(name, kinds[i].name))
            return &kinds[i];
    }
    return NULL;
}

void excel_create_chart(struct local_call *call)
{
    struct str type = local_str(call, "chart_type"), target = local_str(call, "target_cell");
    struct err e = ERR_INIT;
    struct excel x;
    struct chart c = {.x = &x, .kind = find_chart_kind(type)};

    if (!excel_edit_sheet(call, &x) || !read_chart_data(call, &c))
        return;
    if (!c.kind) {
        excel_error(call,
                    "Unsupported chart type: " STR_FMT
                    ". Supported types: line, bar, pie, scatter, area",
                    STR_ARG(type));
        return;
    }
    if (!ref_parse(target, &c.target)) {
        excel_error(call, "Invalid target cell format: " STR_FMT, STR_ARG(target));
        return;
    }
    if (c.data.col == c.data.col2) {
        excel_error(call, "Failed to create chart data references: there is no column of values");
        return;
    }
    if (!add_chart(&c, &e)) {
        excel_error(call, "Failed to create chart drawing: %s", err_text(&e));
        return;
    }
    const char *name = c.kind->name;
    excel_savef(&x, "%c%s chart created successfully", name[0] - 'a' + 'A', name + 1);
}
