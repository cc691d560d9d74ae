/* SPDX-License-Identifier: MIT */
/* Tools on whole documents: making, copying and listing them, what is in them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/word/grid.h"
#include "local/word/tools.h"

/* ---- files ---- */

struct str tool_create_document(struct word *w)
{
    struct str name = word_docx(w->arena, word_arg(w, "filename"));
    const char *path = word_path(w, name);
    struct err e = ERR_INIT;

    if (!path)
        return STR_NULL;
    if (path[0] == '\0')
        return word_say(w, "Cannot create document: Directory of " STR_FMT " does not exist",
                        STR_ARG(name));
    if (access(path, F_OK) == 0 && access(path, W_OK) < 0)
        return word_say(
            w, "Cannot create document: File " STR_FMT " is not writeable (permission denied)",
            STR_ARG(name));
    if (word_blank(&w->package, w->arena, word_arg(w, "title"), word_arg(w, "author")) < 0)
        return word_failed(w, "not enough memory");
    if (package_save(&w->package, path, &e) < 0)
        return word_failed(w, "%s", err_text(&e));
    return word_say(w, "Document " STR_FMT " created successfully", STR_ARG(name));
}

/* NAME with "_copy" before its extension. */
static struct str copy_word_name(struct word *w, struct str name)
{
    return word_say(w, STR_FMT "_copy.docx", STR_ARG(str_slice(name, 0, name.len - 5)));
}

struct str tool_copy_document(struct word *w)
{
    struct str from = word_docx(w->arena, word_arg(w, "source_filename"));
    struct str to = word_arg(w, "destination_filename"), bytes;
    const char *source = word_path(w, from);

    to = to.len > 0 ? word_docx(w->arena, to) : copy_word_name(w, from);
    const char *target = source ? word_path(w, to) : NULL;
    if (!target)
        return STR_NULL;
    if (access(source, F_OK) < 0)
        return word_failed(w, "Source document " STR_FMT " does not exist", STR_ARG(from));
    int r = target[0] ? path_read(w->c, source, &bytes) : -ENOENT;
    if (r == 0)
        r = path_write(w->c, target, bytes);
    if (r < 0)
        return word_failed(w, "Failed to copy document: " STR_FMT,
                           STR_ARG(path_error(w->c, r, "copy", target, NULL)));
    return word_say(w, "Document copied to " STR_FMT, STR_ARG(to));
}

static int is_document(const struct dirent *d)
{
    return str_ends(str_of(d->d_name), STR(".docx"));
}

struct str tool_list_available_documents(struct word *w)
{
    struct str dir = word_has(w, "directory") ? word_arg(w, "directory") : STR(".");
    const char *path = word_path(w, dir);
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct dirent **found = NULL;

    if (!path)
        return STR_NULL;
    int n = access(path, F_OK) < 0 ? -1 : scandir(path, &found, is_document, alphasort);
    if (n < 0 && access(path, F_OK) < 0)
        return word_say(w, "Directory " STR_FMT " does not exist", STR_ARG(dir));
    if (n < 0)
        return word_failed(w, STR_FMT, STR_ARG(path_error(w->c, -errno, "scandir", path, NULL)));
    if (n > 0)
        (void)buf_printf(&b, "Found %d Word documents in " STR_FMT ":\n", n, STR_ARG(dir));
    else
        (void)buf_printf(&b, "No Word documents found in " STR_FMT, STR_ARG(dir));
    for (int i = 0; i < n; i++) {
        struct str file = arena_printf(w->arena, "%s/%s", path, found[i]->d_name);
        struct stat st;
        bool is_there = file.p && stat(file.p, &st) == 0;
        (void)buf_printf(&b, "- %s (%.2f KB)\n", found[i]->d_name,
                         is_there ? (double)st.st_size / 1024 : 0.0);
        free(found[i]);
    }
    free(found);
    return arena_str(w->arena, buf_str(&b));
}

/* ---- properties ---- */

static void set_info_text(struct word *w, struct json *o, const char *key, struct str s)
{
    (void)json_set(w->arena, o, key, json_new_str(w->arena, s));
}

static void set_word_int(struct word *w, struct json *o, const char *key, int64_t i)
{
    (void)json_set(w->arena, o, key, json_new_int(w->arena, i));
}

/* "2024-05-06T07:08:09Z" as "2024-05-06 07:08:09+00:00". */
static struct str word_date_of(struct word *w, struct str s)
{
    if (s.len < 19 || s.p[10] != 'T')
        return s;
    return word_say(w, STR_FMT " " STR_FMT "+00:00", STR_ARG(str_slice(s, 0, 10)),
                    STR_ARG(str_slice(s, 11, 19)));
}

static int64_t count_words(struct word *w)
{
    int64_t n = 0;

    for (struct xml *p = xml_child(w->body, "w:p"); p; p = xml_next(p, "w:p")) {
        struct str text = word_text(w, p);
        bool is_inside = false;
        for (size_t i = 0; i < text.len; i++) {
            bool is_space = strchr(" \t\r\n\v\f", text.p[i]) != NULL;
            n += !is_space && !is_inside;
            is_inside = !is_space;
        }
    }
    return n;
}

struct str tool_get_document_info(struct word *w)
{
    static const struct {
        const char *key, *element;
    } texts[] = {
        {"title", "dc:title"},
        {"author", "dc:creator"},
        {"subject", "dc:subject"},
        {"keywords", "cp:keywords"},
        {"created", "dcterms:created"},
        {"modified", "dcterms:modified"},
        {"last_modified_by", "cp:lastModifiedBy"},
    };
    struct json *o = json_new_object(w->arena);
    struct part *part = rel_part_by_type(&w->package, NULL, "core-properties");
    struct xml_doc *d = part ? part_xml(&w->package, part, NULL) : NULL;
    struct xml *root = d ? d->root : NULL;
    int64_t revision = 0, sections = 0;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct xml *n = xml_child(root, texts[i].element);
        struct str text = n ? xml_text(d, n) : STR("");
        set_info_text(w, o, texts[i].key,
                      strncmp(texts[i].element, "dcterms", 7) == 0 ? word_date_of(w, text) : text);
    }
    if (xml_child(root, "cp:revision"))
        (void)str_to_i64(xml_text(d, xml_child(root, "cp:revision")), &revision);
    for (struct xml *n = NULL; (n = xml_walk(w->body, n, "w:sectPr"));)
        sections++;
    set_word_int(w, o, "revision", revision);
    set_word_int(w, o, "page_count", sections);
    set_word_int(w, o, "word_count", count_words(w));
    set_word_int(w, o, "paragraph_count", (int64_t)word_n_paragraphs(w));
    set_word_int(w, o, "table_count", (int64_t)xml_count(w->body, "w:tbl"));
    return word_json(w, o, JSON_PRETTY);
}

/* ---- content ---- */

/* Each cell once, with the paragraphs in it. */
static void add_word_cells(struct word *w, const struct xml *table, struct buf *out)
{
    for (const struct xml *r = xml_child(table, "w:tr"); r; r = xml_next(r, "w:tr")) {
        for (const struct xml *c = xml_child(r, "w:tc"); c; c = xml_next(c, "w:tc")) {
            for (const struct xml *p = xml_child(c, "w:p"); p; p = xml_next(p, "w:p")) {
                (void)buf_add_str(out, word_text(w, p));
                (void)buf_add_char(out, '\n');
            }
        }
    }
}

struct str tool_get_document_text(struct word *w)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX / 4);

    for (struct xml *p = xml_child(w->body, "w:p"); p; p = xml_next(p, "w:p")) {
        (void)buf_add_str(&b, word_text(w, p));
        (void)buf_add_char(&b, '\n');
    }
    for (struct xml *t = xml_child(w->body, "w:tbl"); t; t = xml_next(t, "w:tbl"))
        add_word_cells(w, t, &b);
    if (!buf_ok(&b))
        return word_failed(w, "the document is too large");
    return arena_str(w->arena, str_n(b.p ? b.p : "", b.len > 0 ? b.len - 1 : 0));
}

enum { OUTLINE_TEXT = 100, PREVIEW_TEXT = 20, PREVIEW_CELLS = 3 };

static struct json *table_outline(struct word *w, const struct xml *table, int64_t index)
{
    struct json *o = json_new_object(w->arena), *rows = json_new_array(w->arena);
    size_t n_rows = xml_count(table, "w:tr"), n_columns = word_n_columns(table);

    for (int64_t i = 0; i < PREVIEW_CELLS && (size_t)i < n_rows; i++) {
        struct json *row = json_new_array(w->arena);
        for (int64_t k = 0; k < PREVIEW_CELLS && (size_t)k < n_columns; k++) {
            struct xml *cell = word_cell(table, i, k);
            struct str text = cell ? word_cell_text(w, cell) : STR("N/A");
            (void)json_push(w->arena, row,
                            json_new_str(w->arena, word_short(w, text, PREVIEW_TEXT)));
        }
        (void)json_push(w->arena, rows, row);
    }
    set_word_int(w, o, "index", index);
    set_word_int(w, o, "rows", (int64_t)n_rows);
    set_word_int(w, o, "columns", (int64_t)n_columns);
    (void)json_set(w->arena, o, "preview", rows);
    return o;
}

struct str tool_get_document_outline(struct word *w)
{
    struct json *o = json_new_object(w->arena);
    struct json *paragraphs = json_new_array(w->arena), *tables = json_new_array(w->arena);
    int64_t i = 0;

    for (struct xml *p = xml_child(w->body, "w:p"); p; p = xml_next(p, "w:p"), i++) {
        struct json *v = json_new_object(w->arena);
        set_word_int(w, v, "index", i);
        set_info_text(w, v, "text", word_short(w, word_text(w, p), OUTLINE_TEXT));
        set_info_text(w, v, "style", word_style_of(w, p));
        (void)json_push(w->arena, paragraphs, v);
    }
    i = 0;
    for (struct xml *t = xml_child(w->body, "w:tbl"); t; t = xml_next(t, "w:tbl"), i++)
        (void)json_push(w->arena, tables, table_outline(w, t, i));
    (void)json_set(w->arena, o, "paragraphs", paragraphs);
    (void)json_set(w->arena, o, "tables", tables);
    return word_json(w, o, JSON_PRETTY);
}

struct str tool_get_paragraph_text_from_document(struct word *w)
{
    int64_t i = word_int(w, "paragraph_index", 0);
    struct json *o = json_new_object(w->arena);
    struct xml *p = word_paragraph(w, i);

    if (i < 0)
        return word_say(w, "Invalid parameter: paragraph_index must be a non-negative integer");
    if (!p) {
        set_info_text(w, o, "error",
                      word_say(w, "Invalid paragraph index: %lld. Document has %zu paragraphs.",
                               (long long)i, word_n_paragraphs(w)));
        return word_json(w, o, JSON_PRETTY);
    }
    struct str style = word_style_of(w, p);
    set_word_int(w, o, "index", i);
    set_info_text(w, o, "text", word_text(w, p));
    set_info_text(w, o, "style", style);
    (void)json_set(w->arena, o, "is_heading",
                   json_new_bool(w->arena, str_starts(style, STR("Heading"))));
    return word_json(w, o, JSON_PRETTY);
}

/* ---- the body as XML, a line for each element ---- */

static void add_word_escaped(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        const char *entity = s.p[i] == '&'   ? "&amp;"
                             : s.p[i] == '<' ? "&lt;"
                             : s.p[i] == '>' ? "&gt;"
                             : s.p[i] == '"' ? "&quot;"
                                             : NULL;
        if (entity)
            (void)buf_add_str(out, str_of(entity));
        else
            (void)buf_add_char(out, s.p[i]);
    }
}

static void open_tag(struct buf *out, const struct xml *n)
{
    (void)buf_add_char(out, '<');
    (void)buf_add_str(out, n->name->written);
    for (unsigned i = 0; i < n->n_attrs; i++) {
        (void)buf_add_char(out, ' ');
        (void)buf_add_str(out, n->attrs[i].name->written);
        (void)buf_add_lit(out, "=\"");
        add_word_escaped(out, n->attrs[i].value);
        (void)buf_add_char(out, '"');
    }
}

/* Whether there is text in N that a line break would change. */
static bool has_breakable_text(const struct xml *n)
{
    for (const struct xml *c = n->first; c; c = c->next) {
        if ((c->kind == XML_TEXT || c->kind == XML_CDATA) && word_strip(c->text).len > 0)
            return true;
    }
    return n->first && xml_is(n, "w:t");
}

static void add_pretty(struct buf *out, const struct xml *n, int depth)
{
    (void)buf_printf(out, "%*s", depth * 2, "");
    if (!n->first || has_breakable_text(n)) {
        (void)xml_write_node(n, out);
        (void)buf_add_char(out, '\n');
        return;
    }
    open_tag(out, n);
    (void)buf_add_lit(out, ">\n");
    for (const struct xml *c = n->first; c; c = c->next) {
        if (c->kind == XML_ELEMENT) /* no deeper than XML_DEPTH_MAX */
            add_pretty(out, c, depth + 1);
    }
    (void)buf_printf(out, "%*s</" STR_FMT ">\n", depth * 2, "", STR_ARG(n->name->written));
}

struct str tool_get_document_xml(struct word *w)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX / 4);

    /* What the prefixes mean is said at the document's element. */
    (void)buf_printf(&b, "<" STR_FMT, STR_ARG(w->body->name->written));
    const struct xml *root = w->doc->root;
    for (unsigned i = 0; i < root->n_attrs; i++) {
        if (!str_starts(root->attrs[i].name->written, STR("xmlns")))
            continue;
        (void)buf_printf(&b, " " STR_FMT "=\"", STR_ARG(root->attrs[i].name->written));
        add_word_escaped(&b, root->attrs[i].value);
        (void)buf_add_char(&b, '"');
    }
    (void)buf_add_lit(&b, ">\n");
    for (const struct xml *c = w->body->first; c; c = c->next) {
        if (c->kind == XML_ELEMENT)
            add_pretty(&b, c, 1);
    }
    (void)buf_printf(&b, "</" STR_FMT ">\n", STR_ARG(w->body->name->written));
    if (!buf_ok(&b))
        return word_failed(w, "the document is too large");
    return arena_str(w->arena, buf_str(&b));
}
