/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/chart.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "local/powerpoint/text.h"

/* ---- kinds ---- */

enum axes { AXES_NONE, AXES_UP, AXES_ACROSS, AXES_NUMBERS };

/* HEAD and TAIL are what stands before and behind the series, SERIES what a new one begins as. */
static const struct pp_chart_kind {
    const char *name, *element, *head, *tail, *series;
    enum axes axes;
} kinds[] = {
#define BAR(dir, grouping)                                                                         \
    "<c:barDir val=\"" dir "\"/><c:grouping val=\"" grouping "\"/><c:varyColors val=\"0\"/>"
#define BAR_SERIES   "<c:invertIfNegative val=\"0\"/>"
#define STACKED      "<c:gapWidth val=\"150\"/><c:overlap val=\"100\"/>"
#define GROUPED(how) "<c:grouping val=\"" how "\"/><c:varyColors val=\"0\"/>"
#define NO_MARKER    "<c:marker><c:symbol val=\"none\"/></c:marker>"
#define STRAIGHT     "<c:smooth val=\"0\"/>"
    {"column", "c:barChart", BAR("col", "clustered"), "<c:gapWidth val=\"150\"/>", BAR_SERIES,
     AXES_UP},
    {"stacked_column", "c:barChart", BAR("col", "stacked"), STACKED, BAR_SERIES, AXES_UP},
    {"bar", "c:barChart", BAR("bar", "clustered"), "<c:gapWidth val=\"150\"/>", BAR_SERIES,
     AXES_ACROSS},
    {"stacked_bar", "c:barChart", BAR("bar", "stacked"), STACKED, BAR_SERIES, AXES_ACROSS},
    {"line", "c:lineChart", GROUPED("standard"), "<c:marker val=\"1\"/>", NO_MARKER STRAIGHT,
     AXES_UP},
    {"line_markers", "c:lineChart", GROUPED("standard"), "<c:marker val=\"1\"/>", STRAIGHT,
     AXES_UP},
    {"pie", "c:pieChart", "<c:varyColors val=\"1\"/>", "<c:firstSliceAng val=\"0\"/>", "",
     AXES_NONE},
    {"doughnut", "c:doughnutChart", "<c:varyColors val=\"1\"/>",
     "<c:firstSliceAng val=\"0\"/><c:holeSize val=\"50\"/>", "", AXES_NONE},
    {"area", "c:areaChart", GROUPED("standard"), "", "", AXES_UP},
    {"stacked_area", "c:areaChart", GROUPED("stacked"), "", "", AXES_UP},
    {"scatter", "c:scatterChart", "<c:scatterStyle val=\"lineMarker\"/><c:varyColors val=\"0\"/>",
     "", "<c:spPr><a:ln w=\"28575\"><a:noFill/></a:ln></c:spPr>" STRAIGHT, AXES_NUMBERS},
    {"radar", "c:radarChart", "<c:radarStyle val=\"marker\"/><c:varyColors val=\"0\"/>", "",
     NO_MARKER, AXES_UP},
    {"radar_markers", "c:radarChart", "<c:radarStyle val=\"marker\"/><c:varyColors val=\"0\"/>", "",
     "", AXES_UP},
};

static const struct pp_chart_kind *find_pp_chart_kind(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (str_iis(name, kinds[i].name))
            return &kinds[i];
    }
    return NULL;
}

bool chart_is_kind(struct str kind)
{
    return find_pp_chart_kind(kind) != NULL;
}

struct str chart_kinds(struct arena *a)
{
    struct str all = STR("");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        all = arena_printf(a, STR_FMT "%s%s", STR_ARG(all), i > 0 ? ", " : "", kinds[i].name);
    return all;
}

/* ---- series ---- */

static const char *const series_order[] = {
    "c:idx",        "c:order",     "c:tx",     "c:spPr",  "c:invertIfNegative", "c:pictureOptions",
    "c:marker",     "c:explosion", "c:dPt",    "c:dLbls", "c:trendline",        "c:errBars",
    "c:cat",        "c:xVal",      "c:val",    "c:yVal",  "c:smooth",           "c:shape",
    "c:bubbleSize", "c:bubble3D",  "c:extLst", NULL};
static const char *const plot_order[] = {
    "c:barDir",        "c:wireframe",  "c:grouping", "c:scatterStyle", "c:radarStyle",
    "c:ofPieType",     "c:varyColors", "c:ser",      "c:dLbls",        "c:dropLines",
    "c:hiLowLines",    "c:upDownBars", "c:gapWidth", "c:gapDepth",     "c:overlap",
    "c:serLines",      "c:marker",     "c:smooth",   "c:shape",        "c:bubbleScale",
    "c:firstSliceAng", "c:holeSize",   "c:axId",     "c:extLst",       NULL};

static void set_val(struct xml_doc *doc, struct xml *node, size_t value)
{
    xml_setf(doc, node, "val", "%zu", value);
}

/* An empty cache of values below NODE: c:strRef or c:numRef to the cells AT. */
static struct xml *add_cache(struct xml_doc *doc, struct xml *node, bool is_text, struct str at)
{
    xml_clear(node);
    struct xml *ref = xml_add(doc, node, is_text ? "c:strRef" : "c:numRef");
    xml_set_text(doc, xml_add(doc, ref, "c:f"), at);
    struct xml *cache = xml_add(doc, ref, is_text ? "c:strCache" : "c:numCache");
    if (!is_text)
        xml_set_text(doc, xml_add(doc, cache, "c:formatCode"), STR("General"));
    return cache;
}

static void add_cached_point(struct xml_doc *doc, struct xml *cache, size_t i, struct str text)
{
    struct xml *point = xml_add(doc, cache, "c:pt");

    xml_setf(doc, point, "idx", "%zu", i);
    xml_set_text(doc, xml_add(doc, point, "c:v"), text);
}

static struct str cells(struct xml_doc *doc, size_t column, size_t n)
{
    struct str c = chart_column(doc->arena, column);

    return arena_printf(doc->arena, "Sheet1!$" STR_FMT "$2:$" STR_FMT "$%zu", STR_ARG(c),
                        STR_ARG(c), n + 1);
}

/* Categories as numbers: as they are written, or counted when one of them is none. */
static void add_numbers(struct xml_doc *doc, struct xml *cache, const struct json *categories)
{
    bool are_numbers = true;
    char *end;

    for (size_t i = 0; i < categories->n; i++) {
        struct str s = json_str(&categories->items[i], STR(""));
        (void)strtod(s.p, &end);
        are_numbers = are_numbers && s.len > 0 && end == s.p + s.len;
    }
    for (size_t i = 0; i < categories->n; i++)
        add_cached_point(doc, cache, i,
                         are_numbers ? json_str(&categories->items[i], STR(""))
                                     : arena_printf(doc->arena, "%zu", i + 1));
}

static void set_categories(struct xml_doc *doc, struct xml *series, const struct chart_data *data,
                           bool is_scatter)
{
    struct xml *node = xml_need(doc, series, is_scatter ? "c:xVal" : "c:cat", series_order);
    struct xml *cache = add_cache(doc, node, !is_scatter, cells(doc, 0, data->categories->n));

    set_val(doc, xml_add(doc, cache, "c:ptCount"), data->categories->n);
    if (is_scatter) {
        add_numbers(doc, cache, data->categories);
        return;
    }
    for (size_t i = 0; i < data->categories->n; i++)
        add_cached_point(doc, cache, i, json_str(&data->categories->items[i], STR("")));
}

static void set_values(struct xml_doc *doc, struct xml *series, const struct chart_data *data,
                       size_t which, bool is_scatter)
{
    const struct json *values = data->series[which].values;
    struct xml *node = xml_need(doc, series, is_scatter ? "c:yVal" : "c:val", series_order);
    struct xml *cache = add_cache(doc, node, false, cells(doc, which + 1, data->categories->n));

    set_val(doc, xml_add(doc, cache, "c:ptCount"), data->categories->n);
    for (size_t i = 0; i < values->n && i < data->categories->n; i++) {
        auto_buf struct buf b = BUF_INIT(64);
        if (json_is_number(&values->items[i]) &&
            json_write(&b, &values->items[i], JSON_COMPACT) == 0)
            add_cached_point(doc, cache, i, buf_str(&b));
    }
}

static void set_series(struct xml_doc *doc, struct xml *series, const struct chart_data *data,
                       size_t which)
{
    struct str column = chart_column(doc->arena, which + 1);
    bool is_scatter = xml_is(series->parent, "c:scatterChart");

    set_val(doc, xml_need(doc, series, "c:idx", series_order), which);
    set_val(doc, xml_need(doc, series, "c:order", series_order), which);
    struct xml *cache =
        add_cache(doc, xml_need(doc, series, "c:tx", series_order), true,
                  arena_printf(doc->arena, "Sheet1!$" STR_FMT "$1", STR_ARG(column)));
    set_val(doc, xml_add(doc, cache, "c:ptCount"), 1);
    add_cached_point(doc, cache, 0, data->series[which].name);
    set_categories(doc, series, data, is_scatter);
    set_values(doc, series, data, which, is_scatter);
}

/* The first plot, which holds the series. */
static struct xml *plot_of(struct xml_doc *doc)
{
    struct xml *area = xml_path(doc->root, "c:chart/c:plotArea");

    for (struct xml *n = xml_child(area, NULL); n; n = xml_next(n, NULL)) {
        if (str_ends(n->name->key, STR("Chart")))
            return n;
    }
    return NULL;
}

/* BEGIN is what series begin as that are not there yet; NULL: as a copy of the last one. */
static bool fill_plot(struct xml_doc *doc, struct xml *plot, const struct chart_data *data,
                      const char *begin)
{
    for (size_t i = 0; i < data->n_series; i++) {
        struct xml *series = xml_nth(plot, "c:ser", i), *last = xml_last(plot, "c:ser");
        if (!series && last && !begin) {
            series = xml_copy(doc, last);
            if (series)
                xml_insert(plot, series, last->next);
        } else if (!series) {
            series = xml_place(doc, plot, "c:ser", plot_order);
            if (series && begin && begin[0])
                (void)xml_add_text(doc, series, NULL, begin);
        }
        if (!series)
            return false;
        set_series(doc, series, data, i);
    }
    while (xml_count(plot, "c:ser") > data->n_series)
        xml_remove(xml_last(plot, "c:ser"));
    return true;
}

/* ---- the parts ---- */

struct part *chart_of(struct deck *d, const struct slide *s, const struct xml *shape)
{
    struct str id = xml_get(xml_path(shape, "a:graphic/a:graphicData/c:chart"), "r:id");

    return id.p ? rel_part_by_id(&d->package, s->part, id) : NULL;
}

static void write_axes(struct buf *b, enum axes axes)
{
    static const char *const sides[][2] = {
        [AXES_UP] = {"b", "l"}, [AXES_ACROSS] = {"l", "b"}, [AXES_NUMBERS] = {"b", "l"}};
#define AXIS_HEAD "<c:scaling><c:orientation val=\"minMax\"/></c:scaling><c:delete val=\"0\"/>"
#define AXIS_TAIL                                                                                  \
    "<c:majorTickMark val=\"out\"/><c:minorTickMark val=\"none\"/><c:tickLblPos val=\"nextTo\"/>"

    if (axes == AXES_NUMBERS)
        (void)buf_printf(b,
                         "<c:valAx><c:axId val=\"50010\"/>" AXIS_HEAD "<c:axPos val=\"%s\"/>"
                         "<c:numFmt formatCode=\"General\" sourceLinked=\"0\"/>" AXIS_TAIL
                         "<c:crossAx val=\"50020\"/><c:crosses val=\"autoZero\"/></c:valAx>",
                         sides[axes][0]);
    else
        (void)buf_printf(b,
                         "<c:catAx><c:axId val=\"50010\"/>" AXIS_HEAD "<c:axPos val=\"%s\"/>"
                         "<c:numFmt formatCode=\"General\" sourceLinked=\"0\"/>" AXIS_TAIL
                         "<c:crossAx val=\"50020\"/><c:crosses val=\"autoZero\"/><c:auto "
                         "val=\"1\"/><c:lblAlgn val=\"ctr\"/><c:lblOffset val=\"100\"/>"
                         "<c:noMultiLvlLbl val=\"0\"/></c:catAx>",
                         sides[axes][0]);
    (void)buf_printf(
        b,
        "<c:valAx><c:axId val=\"50020\"/>" AXIS_HEAD "<c:axPos val=\"%s\"/>"
        "<c:majorGridlines/><c:numFmt formatCode=\"General\" sourceLinked=\"0\"/>" AXIS_TAIL
        "<c:crossAx val=\"50010\"/><c:crosses val=\"autoZero\"/></c:valAx>",
        sides[axes][1]);
}

static void write_chart(struct buf *b, const struct pp_chart_kind *k)
{
    (void)buf_printf(
        b,
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<c:chartSpace "
        "xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" "
        "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" "
        "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">"
        "<c:date1904 val=\"0\"/><c:roundedCorners val=\"0\"/><c:chart><c:autoTitleDeleted "
        "val=\"1\"/><c:plotArea><c:layout/><%s>%s%s%s</%s>",
        k->element, k->head, k->tail,
        k->axes != AXES_NONE ? "<c:axId val=\"50010\"/><c:axId val=\"50020\"/>" : "", k->element);
    if (k->axes != AXES_NONE)
        write_axes(b, k->axes);
    (void)buf_add_lit(b, "</c:plotArea><c:plotVisOnly val=\"1\"/><c:dispBlanksAs val=\"gap\"/>"
                         "</c:chart><c:txPr><a:bodyPr/><a:lstStyle/><a:p><a:pPr><a:defRPr "
                         "sz=\"1200\"/></a:pPr><a:endParaRPr lang=\"en-US\"/></a:p></c:txPr>"
                         "</c:chartSpace>");
}

/* Puts the workbook into the chart, in place of the one that was there. */
static int set_book(struct deck *d, struct part *chart, struct xml_doc *doc,
                    const struct chart_data *data)
{
    struct str bytes = chart_book(&d->arena, data);
    struct xml *link = xml_child(doc->root, "c:externalData");
    struct part *book = link ? rel_part_by_id(&d->package, chart, xml_get(link, "r:id")) : NULL;

    if (!bytes.p)
        return -ENOMEM;
    if (book) {
        part_set_bytes(&d->package, book, bytes);
        return 0;
    }
    struct str name =
        package_free_name(&d->package, "/ppt/embeddings/Microsoft_Excel_Sheet", ".xlsx");
    book = name.p ? package_add(&d->package, name,
                                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                                bytes)
                  : NULL;
    struct str id = book ? rel_add(&d->package, chart, "package", book) : STR_NULL;
    if (!id.p)
        return -ENOMEM;
    if (!link) {
        link = xml_add_text(doc, doc->root, xml_child(doc->root, "c:userShapes"),
                            "<c:externalData><c:autoUpdate val=\"0\"/></c:externalData>");
    }
    xml_set(doc, link, "r:id", id);
    return 0;
}

struct xml *chart_add(struct deck *d, struct slide *s, const struct box *box, struct str kind,
                      const struct chart_data *data)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);
    const struct pp_chart_kind *k = find_pp_chart_kind(kind);
    struct shape_new n = {.name = "Chart", .box = *box};

    write_chart(&b, k);
    struct str text = buf_ok(&b) ? arena_str(&d->arena, buf_str(&b)) : STR_NULL;
    struct str name = package_free_name(&d->package, "/ppt/charts/chart", ".xml");
    struct part *part =
        text.p && name.p
            ? package_add(&d->package, name,
                          "application/vnd.openxmlformats-officedocument.drawingml.chart+xml", text)
            : NULL;
    struct xml_doc *doc = part ? part_edit(&d->package, part, NULL) : NULL;
    if (!doc || !fill_plot(doc, plot_of(doc), data, k->series) || set_book(d, part, doc, data) < 0)
        return NULL;
    struct str id = rel_add(&d->package, s->part, "chart", part);
    struct xml *shape = shape_add_frame(
        s, &n, "http://schemas.openxmlformats.org/drawingml/2006/chart", "<c:chart/>");
    xml_set(s->doc, xml_path(shape, "a:graphic/a:graphicData/c:chart"), "r:id", id);
    return shape;
}

int chart_update(struct deck *d, struct part *chart, const struct chart_data *data, struct err *e)
{
    struct xml_doc *doc = part_edit(&d->package, chart, e);
    struct xml *plot = doc ? plot_of(doc) : NULL;

    if (!plot)
        return err_set(e, -EINVAL, "the chart has no plot");
    if (!fill_plot(doc, plot, data, NULL) || set_book(d, chart, doc, data) < 0)
        return err_set(e, -ENOMEM, "out of memory");
    return 0;
}

/* ---- looks ---- */

static const char *const chart_order[] = {
    "c:title",  "c:autoTitleDeleted", "c:pivotFmts",    "c:view3D",
    "c:floor",  "c:sideWall",         "c:backWall",     "c:plotArea",
    "c:legend", "c:plotVisOnly",      "c:dispBlanksAs", NULL};
static const char *const axis_order[] = {
    "c:axId",           "c:scaling", "c:delete", "c:axPos",         "c:majorGridlines",
    "c:minorGridlines", "c:title",   "c:numFmt", "c:majorTickMark", NULL};

static void set_title(struct xml_doc *doc, struct xml *node, const char *const order[],
                      struct str text)
{
    if (!node || text.len == 0)
        return;
    struct xml *title = xml_need(doc, node, "c:title", order);
    xml_clear(title);
    (void)xml_add_text(doc, title, NULL,
                       "<c:tx><c:rich><a:bodyPr/><a:lstStyle/><a:p/></c:rich></c:tx>"
                       "<c:overlay val=\"0\"/>");
    text_set(doc, xml_path(title, "c:tx/c:rich"), text);
}

static void set_colors(struct xml_doc *doc, struct xml *plot, const struct chart_look *look)
{
    bool is_line = xml_is(plot, "c:lineChart") || xml_is(plot, "c:radarChart");
    size_t i = 0;

    if (xml_is(plot, "c:pieChart") || xml_is(plot, "c:doughnutChart"))
        return;
    for (struct xml *s = xml_child(plot, "c:ser"); s; s = xml_next(s, "c:ser"), i++) {
        const char *rgb = look->colors[i % look->n_colors];
        struct xml *properties = xml_need(doc, s, "c:spPr", series_order);
        if (is_line)
            shape_line(doc, properties, rgb, 28575);
        else if (!xml_is(plot, "c:scatterChart"))
            (void)shape_fill(doc, properties, shape_order, rgb);
    }
}

void chart_format(struct deck *d, struct part *chart, const struct chart_look *look)
{
    struct xml_doc *doc = part_edit(&d->package, chart, NULL);
    struct xml *c = doc ? xml_child(doc->root, "c:chart") : NULL, *plot = doc ? plot_of(doc) : NULL;
    struct xml *area = xml_child(c, "c:plotArea");

    if (!plot)
        return;
    set_title(doc, c, chart_order, look->title);
    if (look->title.len > 0)
        set_val(doc, xml_need(doc, c, "c:autoTitleDeleted", chart_order), 0);
    xml_remove_all(c, "c:legend");
    if (look->has_legend) {
        struct xml *legend = xml_need(doc, c, "c:legend", chart_order);
        xml_set(doc, xml_add(doc, legend, "c:legendPos"), "val", str_of(look->legend));
        set_val(doc, xml_add(doc, legend, "c:overlay"), 0);
    }
    if (look->has_labels && !xml_child(plot, "c:dLbls"))
        (void)xml_add_text(doc, xml_need(doc, plot, "c:dLbls", plot_order), NULL,
                           "<c:showLegendKey val=\"0\"/><c:showVal val=\"1\"/><c:showCatName "
                           "val=\"0\"/><c:showSerName val=\"0\"/><c:showPercent val=\"0\"/>"
                           "<c:showBubbleSize val=\"0\"/>");
    struct xml *x = xml_child(area, "c:catAx");
    set_title(doc, x ? x : xml_child(area, "c:valAx"), axis_order, look->x_title);
    set_title(doc, xml_last(area, "c:valAx"), axis_order, look->y_title);
    if (look->colors)
        set_colors(doc, plot, look);
}
