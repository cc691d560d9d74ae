/* SPDX-License-Identifier: MIT */
/* Fills and outlines. */
#include "base/cleanup.h"
#include "local/powerpoint/shape.h"

const char *const shape_order[] = {"a:xfrm",      "a:custGeom", "a:prstGeom",  "a:noFill",
                                   "a:solidFill", "a:gradFill", "a:blipFill",  "a:pattFill",
                                   "a:grpFill",   "a:ln",       "a:effectLst", "a:effectDag",
                                   "a:scene3d",   "a:sp3d",     "a:extLst",    NULL};

/* Removes whatever fills NODE (p:spPr, a:tcPr, a:rPr, …). */
static void shape_no_fill(struct xml *node)
{
    static const char *const fills[] = {"a:noFill",   "a:solidFill", "a:gradFill",
                                        "a:blipFill", "a:pattFill",  "a:grpFill"};

    for (size_t i = 0; i < ARRAY_LEN(fills); i++)
        xml_remove_all(node, fills[i]);
}

struct xml *shape_fill(struct xml_doc *doc, struct xml *node, const char *const order[],
                       const char *rgb)
{
    shape_no_fill(node);
    struct xml *fill = xml_need(doc, node, "a:solidFill", order);
    struct xml *color = xml_add(doc, fill, "a:srgbClr");
    xml_set(doc, color, "val", str_of(rgb));
    return fill;
}

struct xml *shape_gradient(struct xml_doc *doc, struct xml *node, const char *const order[],
                           const char *const rgb[2], int angle)
{
    shape_no_fill(node);
    struct xml *fill = xml_need(doc, node, "a:gradFill", order);
    xml_set(doc, fill, "rotWithShape", STR("1"));
    struct xml *stops = xml_add(doc, fill, "a:gsLst");
    for (int i = 0; i < 2; i++) {
        struct xml *stop = xml_add(doc, stops, "a:gs");
        xml_setf(doc, stop, "pos", "%d", i * 100000);
        xml_set(doc, xml_add(doc, stop, "a:srgbClr"), "val", str_of(rgb[i]));
    }
    struct xml *lin = xml_add(doc, fill, "a:lin");
    xml_setf(doc, lin, "ang", "%d", angle * 60000);
    xml_set(doc, lin, "scaled", STR("0"));
    return fill;
}

void shape_line(struct xml_doc *doc, struct xml *properties, const char *rgb, int64_t emu)
{
    static const char *const line_order[] = {
        "a:noFill", "a:solidFill", "a:gradFill", "a:pattFill", "a:prstDash", "a:custDash",
        "a:round",  "a:bevel",     "a:miter",    "a:headEnd",  "a:tailEnd",  NULL};
    struct xml *line = xml_need(doc, properties, "a:ln", shape_order);

    if (emu > 0)
        xml_setf(doc, line, "w", "%lld", (long long)emu);
    if (rgb)
        (void)shape_fill(doc, line, line_order, rgb);
}
