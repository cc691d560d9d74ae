/* SPDX-License-Identifier: MIT */
/* The server "excel": workbooks and their sheets. */
#include "local/excel/excel.h"
#include "base/python.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "local/kit/path.h"
#include "local/kit/servers.h"

/* ---- answers ---- */

void excel_error(struct local_call *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str text = arena_vprintf(&c->arena, fmt, ap);
    va_end(ap);
    text = text.p ? arena_printf(&c->arena, "Error: " STR_FMT, STR_ARG(text)) : text;
    local_text(c, text.p ? text : STR("Error: The workbook is too large"));
}

void excel_raise(struct local_call *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str text = arena_vprintf(&c->arena, fmt, ap);
    va_end(ap);
    local_fail(c, "Error executing tool %s: " STR_FMT, c->tool->name, STR_ARG(text));
}

/* ---- arguments ---- */

struct str excel_arg(const struct local_call *c, const char *name)
{
    return local_str(c, name);
}

const char *excel_path(struct local_call *c)
{
    struct str why, given = local_str(c, "filepath");
    const char *path = path_check(c, given, &why);

    if (!path)
        excel_raise(c, STR_FMT, STR_ARG(why));
    return path;
}

bool excel_range(const struct local_call *c, const char *first, const char *second,
                 struct range *ret, struct str *bad)
{
    struct str a = excel_arg(c, first), b = excel_arg(c, second);
    struct ref x, y;

    *bad = a;
    if (ref_read(a, &x) == 0)
        return false;
    y = x;
    *bad = b;
    if (b.len > 0 && ref_read(b, &y) == 0)
        return false;
    *ret = (struct range){x.row < y.row ? x.row : y.row, x.col < y.col ? x.col : y.col,
                          x.row < y.row ? y.row : x.row, x.col < y.col ? y.col : x.col};
    return true;
}

bool excel_take_range(struct local_call *c, const char *first, const char *second,
                      const char *intro, struct range *ret)
{
    struct str bad;

    if (excel_range(c, first, second, ret, &bad))
        return true;
    excel_error(c, "%sInvalid cell reference: " STR_FMT, intro, STR_ARG(bad));
    return false;
}

bool excel_check_size(struct local_call *c, struct range r)
{
    uint64_t n = (uint64_t)(r.row2 - r.row + 1) * (r.col2 - r.col + 1);

    if (n > EXCEL_CELLS_MAX)
        excel_error(c, "The range has more than %d cells", EXCEL_CELLS_MAX);
    return n <= EXCEL_CELLS_MAX;
}

/* ---- opening and saving ---- */

bool excel_open(struct local_call *c, struct excel *x)
{
    struct err e = ERR_INIT;

    *x = (struct excel){.call = c, .path = excel_path(c)};
    if (!x->path)
        return false;
    if (book_open(&x->book, &c->arena, x->path, &e) == 0)
        return true;
    excel_error(c, "%s", err_text(&e));
    return false;
}

static bool open_sheet(struct local_call *c, struct excel *x, bool is_edit)
{
    struct str name = local_str(c, "sheet_name");
    struct err e = ERR_INIT;

    if (!excel_open(c, x))
        return false;
    x->sheet = book_sheet(&x->book, name);
    if (!x->sheet) {
        excel_error(c, "Sheet '" STR_FMT "' not found", STR_ARG(name));
        return false;
    }
    int r = is_edit ? sheet_edit(&x->book, x->sheet, &e) : sheet_load(&x->book, x->sheet, &e);
    if (r < 0)
        excel_error(c, "%s", err_text(&e));
    return r == 0;
}

bool excel_open_sheet(struct local_call *c, struct excel *x)
{
    return open_sheet(c, x, false);
}

bool excel_edit_sheet(struct local_call *c, struct excel *x)
{
    return open_sheet(c, x, true);
}

void excel_save(struct excel *x, struct str text)
{
    struct err e = ERR_INIT;

    if (book_save(&x->book, x->path, &e) < 0)
        excel_error(x->call, "%s", err_text(&e));
    else
        local_text(x->call, text);
}

void excel_savef(struct excel *x, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str text = arena_vprintf(&x->call->arena, fmt, ap);
    va_end(ap);
    excel_save(x, text);
}

/* ---- workbooks ---- */

/* Makes the folders on the way to the file that lie in the workspace. */
static void make_excel_folders(struct local_call *c)
{
    struct str given = local_str(c, "filepath"), why;

    for (size_t i = 1; i < given.len; i++) {
        const char *path = given.p[i] == '/' ? path_check(c, str_slice(given, 0, i), &why) : NULL;
        if (path)
            (void)mkdir(path, 0777);
    }
}

static void create_workbook(struct local_call *c)
{
    struct err e = ERR_INIT;

    make_excel_folders(c);
    struct excel x = {.call = c, .path = excel_path(c)};
    if (!x.path)
        return;
    int r = book_new(&x.book, &c->arena, "Sheet1", &e);
    if (r == 0)
        r = book_save(&x.book, x.path, &e);
    if (r < 0)
        excel_error(c, "Failed to create workbook: %s", err_text(&e));
    else
        local_textf(c, "Created workbook at %s", x.path);
}

static void write_sheet_names(const struct book *b, struct buf *out)
{
    for (size_t i = 0; i < b->n_sheets; i++) {
        (void)buf_add_str(out, i > 0 ? STR(", ") : STR(""));
        python_str(out, b->sheets[i]->name);
    }
}

/* {'Sheet1': 'A1:B2', …} */
static void write_ranges(struct excel *x, struct buf *out)
{
    struct book *b = &x->book;
    struct err e = ERR_INIT;
    bool is_first = true;

    for (size_t i = 0; i < b->n_sheets; i++) {
        if (sheet_load(b, b->sheets[i], &e) < 0)
            continue;
        struct range used = sheet_used(b->sheets[i]);
        used.row = used.col = 1;
        (void)buf_add_str(out, is_first ? STR("") : STR(", "));
        is_first = false;
        python_str(out, b->sheets[i]->name);
        (void)buf_printf(out, ": '" STR_FMT "'", STR_ARG(range_text(b->arena, used)));
    }
}

static void get_workbook_metadata(struct local_call *c)
{
    auto_buf struct buf out = BUF_INIT(LOCAL_ANSWER_MAX);
    const char *path = excel_path(c);
    struct excel x;
    struct stat st;

    if (!path)
        return;
    if (stat(path, &st) < 0) {
        excel_error(c, "File not found: %s", path);
        return;
    }
    if (!excel_open(c, &x))
        return;
    (void)buf_add_lit(&out, "{'filename': ");
    python_str(&out, str_of(strrchr(path, '/') + 1));
    (void)buf_add_lit(&out, ", 'sheets': [");
    write_sheet_names(&x.book, &out);
    (void)buf_printf(&out, "], 'size': %lld, 'modified': ", (long long)st.st_size);
    python_float(&out, (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9);
    if (local_bool(c, "include_ranges")) {
        (void)buf_add_lit(&out, ", 'used_ranges': {");
        write_ranges(&x, &out);
        (void)buf_add_char(&out, '}');
    }
    (void)buf_add_char(&out, '}');
    local_text(c, buf_str(&out));
}

/* ---- sheets ---- */

static void create_worksheet(struct local_call *c)
{
    struct str name = local_str(c, "sheet_name");
    struct err e = ERR_INIT;
    struct excel x;

    if (!excel_open(c, &x))
        return;
    if (book_sheet(&x.book, name))
        excel_error(c, "Sheet " STR_FMT " already exists", STR_ARG(name));
    else if (!book_add_sheet(&x.book, name, &e))
        excel_error(c, "%s", err_text(&e));
    else
        excel_savef(&x, "Sheet " STR_FMT " created successfully", STR_ARG(name));
}

/* What the copy of a sheet cannot share with it, or what is not copied. */
static void strip_copy(struct book *b, struct sheet *to, struct part *from)
{
    static const char *const gone[] = {"drawing",    "legacyDrawing", "legacyDrawingHF", "picture",
                                       "oleObjects", "controls",      "tableParts",      "extLst"};
    struct rel r;

    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        xml_remove_all(to->doc->root, gone[i]);
    xml_unset(xml_child(to->doc->root, "pageSetup"), "r:id");
    for (struct xml *v = NULL; (v = xml_walk(to->doc->root, v, "sheetView"));)
        xml_unset(v, "tabSelected");
    for (struct xml *h = NULL; (h = xml_walk(to->doc->root, h, "hyperlink"));) {
        if (rel_get(&b->package, from, xml_get(h, "r:id"), &r))
            xml_set(to->doc, h, "r:id",
                    rel_add_external(&b->package, to->part, "hyperlink", r.target));
    }
}

static void copy_worksheet(struct local_call *c)
{
    struct str from = local_str(c, "source_sheet"), to = local_str(c, "target_sheet"), bytes;
    struct err e = ERR_INIT;
    struct excel x;

    if (!excel_open(c, &x))
        return;
    struct sheet *source = book_sheet(&x.book, from);
    if (!source) {
        excel_error(c, "Source sheet '" STR_FMT "' not found", STR_ARG(from));
        return;
    }
    if (book_sheet(&x.book, to)) {
        excel_error(c, "Target sheet '" STR_FMT "' already exists", STR_ARG(to));
        return;
    }
    struct sheet *copy = book_add_sheet(&x.book, to, &e);
    if (!copy || part_bytes(&x.book.package, source->part, &bytes, &e) < 0) {
        excel_error(c, "%s", err_text(&e));
        return;
    }
    part_set_bytes(&x.book.package, copy->part, bytes);
    if (sheet_edit(&x.book, copy, &e) < 0) {
        excel_error(c, "%s", err_text(&e));
        return;
    }
    strip_copy(&x.book, copy, source->part);
    excel_savef(&x, "Sheet '" STR_FMT "' copied to '" STR_FMT "'", STR_ARG(from), STR_ARG(to));
}

static void delete_worksheet(struct local_call *c)
{
    struct str name = local_str(c, "sheet_name");
    struct excel x;

    if (!excel_open(c, &x))
        return;
    struct sheet *s = book_sheet(&x.book, name);
    if (!s) {
        excel_error(c, "Sheet '" STR_FMT "' not found", STR_ARG(name));
    } else if (x.book.n_sheets == 1) {
        excel_error(c, "Cannot delete the only sheet in workbook");
    } else {
        book_remove_sheet(&x.book, s);
        excel_savef(&x, "Sheet '" STR_FMT "' deleted", STR_ARG(name));
    }
}

static void rename_worksheet(struct local_call *c)
{
    struct str from = local_str(c, "old_name"), to = local_str(c, "new_name");
    struct err e = ERR_INIT;
    struct excel x;

    if (!excel_open(c, &x))
        return;
    struct sheet *s = book_sheet(&x.book, from);
    if (!s) {
        excel_error(c, "Sheet '" STR_FMT "' not found", STR_ARG(from));
        return;
    }
    if (book_sheet(&x.book, to)) {
        excel_error(c, "Sheet '" STR_FMT "' already exists", STR_ARG(to));
        return;
    }
    if (book_check_name(to, &e) < 0) {
        excel_error(c, "%s", err_text(&e));
        return;
    }
    struct xml_doc *d = part_edit(&x.book.package, x.book.part, &e);
    xml_set(d, s->entry, "name", to);
    excel_savef(&x, "Sheet renamed from '" STR_FMT "' to '" STR_FMT "'", STR_ARG(from),
                STR_ARG(to));
}

/* ---- the table ---- */

#define EXCEL_TOOL(name, function) {#name, function},
static const struct local_tool functions[] = {
#include "local/excel/tools.def"
};
#undef EXCEL_TOOL

/* Calls read a file, change it and write it again: one after another, or changes get lost. */
static void call_alone(struct local_call *c)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (strcmp(c->tool->name, functions[i].name) == 0)
            functions[i].call(c);
    }
    (void)pthread_mutex_unlock(&lock);
}

#define EXCEL_TOOL(name, function) {#name, call_alone},
static const struct local_tool tools[] = {
#include "local/excel/tools.def"
};
#undef EXCEL_TOOL

const struct local_server excel_server = {"excel", tools, ARRAY_LEN(tools)};
