/* SPDX-License-Identifier: MIT */
/* The server "excel": tables. */
#include <errno.h>

#include "base/id.h"
#include "local/excel/excel.h"

#define TABLE_TYPE "application/vnd.openxmlformats-officedocument.spreadsheetml.table+xml"
#define NAMESPACE  "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

struct str excel_table_name(struct local_call *c, const char *prefix)
{
    char text[9];

    id_hex(text, 8);
    return arena_printf(&c->arena, "%s_%s", prefix, text);
}

/* Looks at all tables of the workbook: their highest number, and whether NAME is taken. */
static int check_table_names(struct excel *x, struct str name, int64_t *top, struct err *e)
{
    struct package *p = &x->book.package;

    *top = 0;
    for (size_t i = 0; i < p->zip.n; i++) {
        struct str entry = p->zip.entries[i]->name;
        struct err ignored = ERR_INIT;
        if (!str_starts(entry, STR("xl/tables/")))
            continue;
        struct str full = arena_printf(&x->call->arena, "/" STR_FMT, STR_ARG(entry));
        struct part *part = package_part(p, full);
        struct xml_doc *d = part ? part_xml(p, part, &ignored) : NULL;
        if (!d)
            continue;
        int64_t id = xml_get_int(d->root, "id", 0);
        *top = id > *top ? id : *top;
        if (str_ieq(xml_get(d->root, "displayName"), name))
            return err_set(e, -EEXIST, "Table with name " STR_FMT " already exists", STR_ARG(name));
    }
    return 0;
}

static bool has_column(const struct xml *columns, struct str name)
{
    for (struct xml *n = xml_child(columns, "tableColumn"); n; n = xml_next(n, "tableColumn")) {
        if (str_ieq(xml_get(n, "name"), name))
            return true;
    }
    return false;
}

/* A column for each cell of the first row; their names are there once. */
static void add_table_columns(struct excel *x, struct xml_doc *d, struct xml *columns,
                              struct range r)
{
    auto_buf struct buf text = BUF_INIT(1 << 16);

    for (struct ref at = {r.row, r.col}; at.col <= r.col2; at.col++) {
        unsigned number = at.col - r.col + 1;
        struct value v = cell_value(&x->book, x->sheet, sheet_cell(x->sheet, at));
        buf_clear(&text);
        if (v.kind == VALUE_NONE || (v.kind == VALUE_TEXT && v.text.len == 0))
            (void)buf_printf(&text, "Column%u", number);
        else
            value_str(&text, v);
        for (unsigned again = 2; has_column(columns, buf_str(&text)) && again < 100; again++)
            (void)buf_printf(&text, "%u", again);
        struct xml *n = xml_add(d, columns, "tableColumn");
        xml_setf(d, n, "id", "%u", number);
        xml_set(d, n, "name", buf_str(&text));
        /* The cells must say the same. */
        if (v.kind != VALUE_TEXT || !str_eq(v.text, buf_str(&text)))
            cell_set(&x->book, x->sheet, sheet_need_cell(&x->book, x->sheet, at),
                     value_text(buf_str(&text)));
    }
    xml_setf(d, columns, "count", "%u", r.col2 - r.col + 1);
}

/* The sheet's list of tables. */
static void add_to_sheet(struct excel *x, struct part *part)
{
    struct xml_doc *d = x->sheet->doc;
    struct xml *list = sheet_child(x->sheet, "tableParts");
    struct str id = rel_add(&x->book.package, x->sheet->part, "table", part);

    xml_set(d, xml_add(d, list, "tablePart"), "r:id", id);
    xml_setf(d, list, "count", "%zu", xml_count(list, "tablePart"));
}

bool excel_add_table(struct excel *x, struct range r, struct str name, const char *style,
                     struct err *e)
{
    static const char empty[] = "<table xmlns=\"" NAMESPACE "\"/>";
    struct package *p = &x->book.package;
    int64_t top;

    if (str_chr(name, ' ') >= 0) {
        (void)err_set(e, -EINVAL, "Table names cannot have spaces");
        return false;
    }
    if (check_table_names(x, name, &top, e) < 0)
        return false;
    struct part *part =
        package_add(p, package_free_name(p, "/xl/tables/table", ".xml"), TABLE_TYPE, str_of(empty));
    struct xml_doc *d = part ? part_edit(p, part, e) : NULL;
    if (!d)
        return false;
    struct str ref = range_text(&x->call->arena, r);
    xml_setf(d, d->root, "id", "%lld", (long long)top + 1);
    xml_set(d, d->root, "name", name);
    xml_set(d, d->root, "displayName", name);
    xml_set(d, d->root, "ref", ref);
    xml_set(d, d->root, "headerRowCount", STR("1"));
    xml_set(d, xml_add(d, d->root, "autoFilter"), "ref", ref);
    add_table_columns(x, d, xml_add(d, d->root, "tableColumns"), r);
    struct xml *look = xml_add(d, d->root, "tableStyleInfo");
    xml_set(d, look, "name", str_of(style));
    xml_set(d, look, "showFirstColumn", STR("0"));
    xml_set(d, look, "showLastColumn", STR("0"));
    xml_set(d, look, "showRowStripes", STR("1"));
    xml_set(d, look, "showColumnStripes", STR("0"));
    add_to_sheet(x, part);
    return true;
}

void excel_create_table(struct local_call *c)
{
    struct str name = excel_arg(c, "table_name"), range = local_str(c, "data_range");
    struct str style = local_str(c, "table_style"), sheet = local_str(c, "sheet_name");
    struct err e = ERR_INIT;
    struct excel x;
    struct range r;

    if (!excel_open(c, &x))
        return;
    x.sheet = book_sheet(&x.book, sheet);
    if (!x.sheet) {
        excel_error(c, "Sheet '" STR_FMT "' not found.", STR_ARG(sheet));
        return;
    }
    if (sheet_edit(&x.book, x.sheet, &e) < 0) {
        excel_error(c, "%s", err_text(&e));
        return;
    }
    if (!range_parse(range, &r)) {
        excel_error(c, STR_FMT " is not a valid coordinate or range", STR_ARG(range));
        return;
    }
    if (name.len == 0)
        name = excel_table_name(c, "Table");
    if (excel_add_table(&x, r, name, style.len > 0 ? style.p : "TableStyleMedium9", &e))
        excel_savef(&x, "Successfully created table '" STR_FMT "' in sheet '" STR_FMT "'.",
                    STR_ARG(name), STR_ARG(sheet));
    else
        excel_error(c, "%s", err_text(&e));
}
