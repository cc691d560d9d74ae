/* SPDX-License-Identifier: MIT */
/* The workbook of a chart: categories in column A, a series in each further one. */
#include "base/cleanup.h"
#include "local/powerpoint/chart.h"

#define XML_HEAD      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define SPACE         " xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\""
#define TYPE_OF(what) "application/vnd.openxmlformats-officedocument.spreadsheetml." what "+xml"

enum { BOOK_ARENA_MAX = 128 << 20 };

struct str chart_column(struct arena *a, size_t i)
{
    if (i < 26)
        return arena_printf(a, "%c", (int)('A' + i));
    return arena_printf(a, "%c%c", (int)('A' + i / 26 - 1), (int)('A' + i % 26));
}

static void add_text_cell(struct xml_doc *doc, struct xml *row, struct str at, struct str text)
{
    struct xml *cell = xml_add(doc, row, "c");

    xml_set(doc, cell, "r", at);
    xml_set(doc, cell, "t", STR("inlineStr"));
    xml_set_text(doc, xml_add(doc, xml_add(doc, cell, "is"), "t"), text);
}

static void add_number_cell(struct xml_doc *doc, struct xml *row, struct str at,
                            const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(64);

    if (!json_is_number(v) || json_write(&b, v, JSON_COMPACT) < 0)
        return;
    struct xml *cell = xml_add(doc, row, "c");
    xml_set(doc, cell, "r", at);
    xml_set_text(doc, xml_add(doc, cell, "v"), buf_str(&b));
}

static void fill_chart_sheet(struct arena *a, struct xml_doc *doc, const struct chart_data *data)
{
    struct xml *sheet = xml_child(doc->root, "sheetData");

    for (size_t r = 0; r <= data->categories->n; r++) {
        struct xml *row = xml_add(doc, sheet, "row");
        xml_setf(doc, row, "r", "%zu", r + 1);
        if (r > 0)
            add_text_cell(doc, row, arena_printf(a, "A%zu", r + 1),
                          json_str(&data->categories->items[r - 1], STR("")));
        for (size_t i = 0; i < data->n_series; i++) {
            struct str column = chart_column(a, i + 1);
            struct str at = arena_printf(a, STR_FMT "%zu", STR_ARG(column), r + 1);
            if (r == 0)
                add_text_cell(doc, row, at, data->series[i].name);
            else
                add_number_cell(doc, row, at, json_at(data->series[i].values, r - 1));
        }
    }
}

struct str chart_book(struct arena *a, const struct chart_data *data)
{
    struct arena own auto_arena;
    auto_buf struct buf out = BUF_INIT(PACKAGE_MAX);
    struct package p;

    arena_init(&own, BOOK_ARENA_MAX);
    if (package_new(&p, &own, NULL) < 0)
        return STR_NULL;
    struct part *book =
        package_add(&p, STR("/xl/workbook.xml"), TYPE_OF("sheet.main"),
                    STR(XML_HEAD "<workbook" SPACE " xmlns:r=\"http://schemas.openxmlformats.org/"
                                 "officeDocument/2006/relationships\"><sheets><sheet "
                                 "name=\"Sheet1\" sheetId=\"1\" r:id=\"rId1\"/></sheets>"
                                 "</workbook>"));
    struct part *sheet = package_add(&p, STR("/xl/worksheets/sheet1.xml"), TYPE_OF("worksheet"),
                                     STR(XML_HEAD "<worksheet" SPACE "><sheetData/></worksheet>"));
    if (!book || !sheet || !rel_add(&p, NULL, "officeDocument", book).p ||
        !rel_add(&p, book, "worksheet", sheet).p)
        return STR_NULL;
    struct xml_doc *doc = part_edit(&p, sheet, NULL);
    if (!doc)
        return STR_NULL;
    fill_chart_sheet(&own, doc, data);
    return package_write(&p, &out, NULL) == 0 ? arena_str(a, buf_str(&out)) : STR_NULL;
}
