/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/table.h"

#include "base/cleanup.h"

static const char *const cell_order[] = {"a:lnL",       "a:lnR",      "a:lnT",      "a:lnB",
                                         "a:lnTlToBr",  "a:lnBlToTr", "a:cell3D",   "a:noFill",
                                         "a:solidFill", "a:gradFill", "a:blipFill", "a:pattFill",
                                         "a:grpFill",   "a:headers",  "a:extLst",   NULL};

struct xml *table_of(const struct xml *shape)
{
    return xml_path(shape, "a:graphic/a:graphicData/a:tbl");
}

/* Of LENGTH in N parts the I-th one, so that all together are LENGTH. */
static int64_t share_length(int64_t length, size_t n, size_t i)
{
    return length * (int64_t)(i + 1) / (int64_t)n - length * (int64_t)i / (int64_t)n;
}

struct xml *table_add(struct slide *s, const struct box *box, size_t rows, size_t cols)
{
    struct shape_new n = {.name = "Table", .box = *box};
    struct xml *shape = shape_add_frame(
        s, &n, "http://schemas.openxmlformats.org/drawingml/2006/table",
        "<a:tbl><a:tblPr firstRow=\"1\" bandRow=\"1\"><a:tableStyleId>{5C22544A-7EE6-4342-B048-"
        "85BDC9FD1C3A}</a:tableStyleId></a:tblPr><a:tblGrid/></a:tbl>");
    struct xml *table = table_of(shape), *grid = xml_child(table, "a:tblGrid");

    for (size_t i = 0; i < cols; i++)
        xml_setf(s->doc, xml_add(s->doc, grid, "a:gridCol"), "w", "%lld",
                 (long long)share_length(box->cx, cols, i));
    for (size_t r = 0; r < rows; r++) {
        struct xml *row = xml_add(s->doc, table, "a:tr");
        xml_setf(s->doc, row, "h", "%lld", (long long)share_length(box->cy, rows, r));
        for (size_t c = 0; c < cols; c++)
            (void)xml_add_text(s->doc, row, NULL,
                               "<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p/></a:txBody>"
                               "<a:tcPr/></a:tc>");
    }
    return shape;
}

size_t table_rows(const struct xml *table)
{
    return xml_count(table, "a:tr");
}

size_t table_cols(const struct xml *table)
{
    return xml_count(xml_child(table, "a:tblGrid"), "a:gridCol");
}

struct xml *table_cell(const struct xml *table, size_t row, size_t col)
{
    return xml_nth(xml_nth(table, "a:tr", row), "a:tc", col);
}

void table_cell_fill(struct xml_doc *doc, struct xml *cell, const char *rgb)
{
    (void)shape_fill(doc, xml_need(doc, cell, "a:tcPr", NULL), cell_order, rgb);
}

void table_cell_border(struct xml_doc *doc, struct xml *cell, const char *rgb)
{
    struct xml *look = xml_need(doc, cell, "a:tcPr", NULL);

    for (size_t i = 0; i < 4; i++) {
        struct xml *line = xml_need(doc, look, cell_order[i], cell_order);
        xml_set(doc, line, "w", STR("12700"));
        xml_set(doc, line, "cmpd", STR("sng"));
        (void)shape_fill(doc, line, NULL, rgb);
    }
}

void table_cell_anchor(struct xml_doc *doc, struct xml *cell, const char *anchor)
{
    xml_set(doc, xml_need(doc, cell, "a:tcPr", NULL), "anchor", str_of(anchor));
}
