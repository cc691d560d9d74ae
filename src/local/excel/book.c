/* SPDX-License-Identifier: MIT */
/* Workbooks as a whole. */
#include "local/excel/book.h"

#include <errno.h>

#include "base/cleanup.h"
#include "sys/io.h"

#define MAIN_TYPE  "application/vnd.openxmlformats-officedocument.spreadsheetml."
#define HEAD       "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define NAMESPACES "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\""
#define RELS       "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

enum { STRINGS_MAX = 4 << 20, SHEETS_MAX = 4096 };

static const char new_book[] =
    HEAD "<workbook " NAMESPACES " xmlns:r=\"" RELS "\"><workbookPr/>"
         "<bookViews><workbookView activeTab=\"0\"/></bookViews><sheets/>"
         "<calcPr calcId=\"191029\" fullCalcOnLoad=\"1\"/></workbook>";

static const char new_sheet[] =
    HEAD "<worksheet " NAMESPACES "><sheetViews><sheetView workbookViewId=\"0\"/></sheetViews>"
         "<sheetFormatPr baseColWidth=\"8\" defaultRowHeight=\"15\"/><sheetData/>"
         "<pageMargins left=\"0.75\" right=\"0.75\" top=\"1\" bottom=\"1\" header=\"0.5\" "
         "footer=\"0.5\"/></worksheet>";

static const char new_styles[] = HEAD
    "<styleSheet " NAMESPACES "><fonts count=\"1\"><font><sz val=\"11\"/><name val=\"Calibri\"/>"
    "<family val=\"2\"/></font></fonts><fills count=\"2\"><fill><patternFill "
    "patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/></fill></fills>"
    "<borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders>"
    "<cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/>"
    "</cellStyleXfs><cellXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" "
    "borderId=\"0\" xfId=\"0\"/></cellXfs><cellStyles count=\"1\"><cellStyle name=\"Normal\" "
    "xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>";

static int err_book_memory(struct err *e)
{
    return err_set(e, -ENOMEM, "out of memory");
}

/* ---- opening ---- */

static int add_to_list(struct book *b, struct xml *entry, struct part *part, struct err *e)
{
    struct sheet *s = arena_new(b->arena, struct sheet);
    void *grown = arena_grow(b->arena, b->sheets, b->n_sheets, &b->cap, sizeof *b->sheets);

    if (!s || !grown)
        return err_book_memory(e);
    if (b->n_sheets >= SHEETS_MAX)
        return err_set(e, -E2BIG, "more than %d sheets", SHEETS_MAX);
    s->name = xml_get(entry, "name");
    s->entry = entry;
    s->part = part;
    b->sheets = grown;
    b->sheets[b->n_sheets++] = s;
    return 0;
}

static int list_sheets(struct book *b, struct err *e)
{
    struct xml *sheets = xml_child(b->doc->root, "sheets");

    for (struct xml *n = xml_child(sheets, "sheet"); n; n = xml_next(n, "sheet")) {
        struct part *part = rel_part_by_id(&b->package, b->part, xml_get(n, "r:id"));
        int r = part ? add_to_list(b, n, part, e) : 0;
        if (r < 0)
            return r;
    }
    b->has_1904_dates = xml_get_bool(xml_child(b->doc->root, "workbookPr"), "date1904", false);
    return b->n_sheets > 0 ? 0 : err_set(e, -EINVAL, "File contains no valid workbook part");
}

static int find_book(struct book *b, struct err *e)
{
    b->part = package_main(&b->package);
    if (!b->part)
        return err_set(e, -EINVAL, "File contains no valid workbook part");
    b->doc = part_xml(&b->package, b->part, e);
    if (!b->doc)
        return e->code;
    if (!xml_is(b->doc->root, "workbook"))
        return err_set(e, -EINVAL, "File contains no valid workbook part");
    return list_sheets(b, e);
}

static int check_extension(const char *path, struct err *e)
{
    static const char *const known[] = {".xlsx", ".xlsm", ".xltx", ".xltm"};
    struct str p = str_of(path);
    size_t dot = p.len;

    while (dot > 0 && p.p[dot - 1] != '.' && p.p[dot - 1] != '/')
        dot--;
    struct str extension = dot > 0 && p.p[dot - 1] == '.' ? str_skip(p, dot - 1) : STR("");
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (str_iis(extension, known[i]))
            return 0;
    }
    if (str_iis(extension, ".xls"))
        return err_set(e, -EINVAL,
                       "openpyxl does not support the old .xls file format, please use xlrd to "
                       "read this file, or convert it to the more recent .xlsx file format.");
    return err_set(e, -EINVAL,
                   "openpyxl does not support " STR_FMT " file format, please check you can open "
                   "it with Excel first. Supported formats are: .xlsx,.xlsm,.xltx,.xltm",
                   STR_ARG(extension));
}

int book_read(struct book *b, struct arena *a, struct str bytes, struct err *e)
{
    *b = (struct book){.arena = a};
    int r = package_read(&b->package, a, bytes, e);
    return r < 0 ? r : find_book(b, e);
}

int book_open(struct book *b, struct arena *a, const char *path, struct err *e)
{
    auto_buf struct buf bytes = BUF_INIT(PACKAGE_MAX);

    int r = check_extension(path, e);
    if (r < 0)
        return r;
    r = io_read_file(path, &bytes, NULL);
    if (r < 0)
        return err_set(e, r, "[Errno %d] %s: '%s'", -r, strerror(-r), path);
    struct str copy = arena_str(a, buf_str(&bytes));
    return copy.p ? book_read(b, a, copy, e) : err_book_memory(e);
}

int book_new(struct book *b, struct arena *a, const char *sheet, struct err *e)
{
    *b = (struct book){.arena = a};
    struct package *p = &b->package;
    int r = package_new(p, a, e);
    if (r < 0)
        return r;
    b->part = package_add(p, STR("/xl/workbook.xml"), MAIN_TYPE "sheet.main+xml", str_of(new_book));
    struct part *styles =
        package_add(p, STR("/xl/styles.xml"), MAIN_TYPE "styles+xml", str_of(new_styles));
    (void)rel_add(p, NULL, "officeDocument", b->part);
    if (!b->part || !styles)
        return err_book_memory(e);
    (void)rel_add(p, b->part, "styles", styles);
    b->doc = part_edit(p, b->part, e);
    if (!b->doc)
        return e->code;
    return book_add_sheet(b, str_of(sheet), e) ? 0 : e->code;
}

/* ---- sheets ---- */

struct sheet *book_sheet(const struct book *b, struct str name)
{
    for (size_t i = 0; i < b->n_sheets; i++) {
        if (str_eq(b->sheets[i]->name, name))
            return b->sheets[i];
    }
    return NULL;
}

int book_check_name(struct str name, struct err *e)
{
    if (name.len == 0)
        return err_set(e, -EINVAL, "Title must have at least one character");
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] != '\0' && strchr("\\*?:/[]", name.p[i]))
            return err_set(e, -EINVAL, "Invalid character %c found in sheet title", name.p[i]);
    }
    return 0;
}

struct sheet *book_add_sheet(struct book *b, struct str name, struct err *e)
{
    struct package *p = &b->package;
    int64_t id = 0;

    if (book_check_name(name, e) < 0)
        return NULL;
    struct xml_doc *d = part_edit(p, b->part, e);
    struct xml *sheets = d ? xml_child(d->root, "sheets") : NULL;
    for (struct xml *n = xml_child(sheets, "sheet"); n; n = xml_next(n, "sheet"))
        id = xml_get_int(n, "sheetId", 0) > id ? xml_get_int(n, "sheetId", 0) : id;
    struct part *part = package_add(p, package_free_name(p, "/xl/worksheets/sheet", ".xml"),
                                    MAIN_TYPE "worksheet+xml", str_of(new_sheet));
    struct xml *entry = xml_add(d, sheets, "sheet");
    if (!part || !entry) {
        (void)err_book_memory(e);
        return NULL;
    }
    xml_set(d, entry, "name", name);
    xml_setf(d, entry, "sheetId", "%lld", (long long)id + 1);
    xml_set(d, entry, "r:id", rel_add(p, b->part, "worksheet", part));
    if (add_to_list(b, entry, part, e) < 0)
        return NULL;
    return b->sheets[b->n_sheets - 1];
}

/* Parts that only this sheet has. */
static void remove_own_parts(struct book *b, struct part *part, unsigned depth)
{
    static const char *const own[] = {"drawing",  "chart",      "table",
                                      "comments", "vmlDrawing", "printerSettings"};
    struct rel r = {0};

    while (depth > 0 && rel_next(&b->package, part, NULL, &r)) {
        struct part *to = rel_part(&b->package, part, &r);
        for (size_t i = 0; to && i < ARRAY_LEN(own); i++) {
            if (!str_is(r.type, own[i]))
                continue;
            remove_own_parts(b, to, depth - 1);
            package_remove(&b->package, to);
            break;
        }
    }
}

/* Names that belong to a sheet know it by its number. */
static void fix_names(struct book *b, size_t removed)
{
    struct xml *names = xml_child(b->doc->root, "definedNames"), *next;

    for (struct xml *n = xml_child(names, "definedName"); n; n = next) {
        int64_t of = xml_get_int(n, "localSheetId", -1);
        next = xml_next(n, "definedName");
        if (of == (int64_t)removed)
            xml_remove(n);
        else if (of > (int64_t)removed)
            xml_setf(b->doc, n, "localSheetId", "%lld", (long long)of - 1);
    }
    if (names && !xml_child(names, NULL))
        xml_remove(names);
    struct xml *view = xml_path(b->doc->root, "bookViews/workbookView");
    if (xml_get_int(view, "activeTab", 0) >= (int64_t)b->n_sheets)
        xml_set(b->doc, view, "activeTab", STR("0"));
}

void book_remove_sheet(struct book *b, struct sheet *s)
{
    struct err e = ERR_INIT;

    (void)part_edit(&b->package, b->part, &e);
    remove_own_parts(b, s->part, 3);
    package_remove(&b->package, s->part);
    rel_remove(&b->package, b->part, xml_get(s->entry, "r:id"));
    xml_remove(s->entry);
    for (size_t i = 0; i < b->n_sheets; i++) {
        if (b->sheets[i] != s)
            continue;
        b->n_sheets--;
        memmove(b->sheets + i, b->sheets + i + 1, (b->n_sheets - i) * sizeof *b->sheets);
        fix_names(b, i);
        return;
    }
}

/* ---- shared strings ---- */

struct str book_item_text(struct book *b, struct xml_doc *d, const struct xml *item)
{
    auto_buf struct buf text = BUF_INIT(PACKAGE_MAX);
    struct xml *only = xml_child(item, "t");

    if (only && !xml_child(item, "r"))
        return xml_text(d, only);
    for (struct xml *r = xml_child(item, "r"); r; r = xml_next(r, "r"))
        (void)buf_add_str(&text, xml_text(d, xml_child(r, "t")));
    struct str s = arena_str(b->arena, buf_str(&text));
    return s.p ? s : STR("");
}

static void read_shared_strings(struct book *b)
{
    struct part *part = rel_part_by_type(&b->package, b->part, "sharedStrings");
    struct err e = ERR_INIT;
    size_t i = 0;

    b->are_strings_read = true;
    struct xml_doc *d = part ? part_xml(&b->package, part, &e) : NULL;
    size_t n = d ? xml_count(d->root, "si") : 0;
    b->strings = n > 0 && n < STRINGS_MAX ? arena_zalloc(b->arena, n, sizeof *b->strings) : NULL;
    if (!b->strings)
        return;
    for (struct xml *si = xml_child(d->root, "si"); si; si = xml_next(si, "si"))
        b->strings[i++] = book_item_text(b, d, si);
    b->n_strings = n;
}

struct str book_string(struct book *b, int64_t i)
{
    if (!b->are_strings_read)
        read_shared_strings(b);
    return b->strings && i >= 0 && (size_t)i < b->n_strings ? b->strings[i] : STR("");
}

/* ---- saving ---- */

/* Results of formulas are kept in the file; those that may have become wrong go. */
static void drop_results(struct sheet *s)
{
    for (struct xml *f = NULL; (f = xml_walk(s->data, f, "f"));) {
        xml_remove(xml_child(f->parent, "v"));
        xml_unset(f->parent, "t");
    }
}

/* Whether formulas of the sheet may look at other sheets. */
static bool looks_at_others(struct book *b, struct sheet *s)
{
    struct str bytes;

    return part_bytes(&b->package, s->part, &bytes, NULL) == 0 && str_find(bytes, STR("<f")) >= 0 &&
           str_chr(bytes, '!') >= 0;
}

static void set_dimension(struct book *b, struct sheet *s)
{
    struct range used = sheet_used(s);
    bool is_cell = used.row == used.row2 && used.col == used.col2;
    struct str text =
        is_cell ? ref_text(b->arena, (struct ref){used.row, used.col}) : range_text(b->arena, used);

    xml_set(s->doc, sheet_child(s, "dimension"), "ref", text);
}

/* What opens the file next recalculates everything. */
static void ask_for_calculation(struct book *b)
{
    static const char *const order[] = {"sheets",       "functionGroups", "externalReferences",
                                        "definedNames", "calcPr",         "oleSize",
                                        "pivotCaches",  "extLst",         NULL};
    struct part *chain = rel_part_by_type(&b->package, b->part, "calcChain");
    struct rel r = {0};
    struct err e = ERR_INIT;

    if (chain && rel_next(&b->package, b->part, "calcChain", &r)) {
        rel_remove(&b->package, b->part, r.id);
        package_remove(&b->package, chain);
    }
    if (xml_get_bool(xml_child(b->doc->root, "calcPr"), "fullCalcOnLoad", false))
        return;
    struct xml_doc *d = part_edit(&b->package, b->part, &e);
    if (d)
        xml_set(d, xml_need(d, d->root, "calcPr", order), "fullCalcOnLoad", STR("1"));
}

void book_finish(struct book *b)
{
    bool is_changed = false;
    struct err e = ERR_INIT;

    for (size_t i = 0; i < b->n_sheets; i++)
        is_changed = is_changed || b->sheets[i]->is_changed;
    for (size_t i = 0; is_changed && i < b->n_sheets; i++) {
        struct sheet *s = b->sheets[i];
        if (s->is_changed)
            set_dimension(b, s);
        else if (!looks_at_others(b, s) || sheet_edit(b, s, &e) < 0)
            continue;
        drop_results(s);
    }
    if (is_changed)
        ask_for_calculation(b);
}

int book_save(struct book *b, const char *path, struct err *e)
{
    book_finish(b);
    return package_save(&b->package, path, e);
}
