/* SPDX-License-Identifier: MIT */
/* Tools that add to the end of a document, and those on single paragraphs. */
#include <errno.h>

#include "base/cleanup.h"
#include "local/word/grid.h"
#include "local/word/tools.h"
#include "office/picture.h"

enum { EMU_PER_INCH = 914400 };

static void set_fonts(struct word *w, struct xml *p, const struct word_font *f)
{
    if (!f->bold && !f->italic && !f->underline && f->size <= 0 && !f->name.len && !f->color.len)
        return;
    for (struct xml *r = NULL; (r = word_next_run(p, r));)
        word_set_font(w->doc, word_rpr(w, r), f);
}

/* ---- paragraphs ---- */

struct str tool_add_paragraph(struct word *w)
{
    struct str style = word_arg(w, "style"), id = STR("");
    struct word_font f = word_font_args(w);

    if (word_arg(w, "color").len > 0 && !f.color.p)
        return word_failed(w, "invalid color '" STR_FMT "'", STR_ARG(word_arg(w, "color")));
    if (style.len > 0) {
        id = word_style_id(w, style);
        struct xml *other = id.p ? NULL : word_style(w, style, NULL);
        if (other)
            return word_failed(w, "assigned style is type " STR_FMT ", need type paragraph",
                               STR_ARG(xml_get(other, "w:type")));
    }
    struct xml *p = word_add_paragraph(w, word_arg(w, "text"), str_is(id, "Normal") ? STR("") : id);
    if (style.len > 0 && !id.p)
        return word_done(
            w, "Style '" STR_FMT "' not found, paragraph added with default style to " STR_FMT,
            STR_ARG(style), STR_ARG(w->name));
    set_fonts(w, p, &f);
    return word_done(w, "Paragraph added to " STR_FMT, STR_ARG(w->name));
}

/* The id of the style "Heading LEVEL", which is made when the document has none. */
static struct str need_heading(struct word *w, int64_t level)
{
    struct str name = word_say(w, "Heading %lld", (long long)level);
    struct str id = word_style_id(w, name);

    if (id.p)
        return id;
    id = word_say(w, "Heading%lld", (long long)level);
    struct xml *s =
        word_add_style(w, "paragraph", id, word_say(w, "heading %lld", (long long)level));
    xml_unset(s, "w:customStyle");
    struct word_font f = {.bold = json_new_bool(w->arena, true),
                          .size = level == 1   ? 16
                                  : level == 2 ? 14
                                               : 12};
    if (s)
        word_set_font(w->styles, xml_add(w->styles, s, "w:rPr"), &f);
    return id;
}

struct str tool_add_heading(struct word *w)
{
    int64_t level = word_int(w, "level", 1);
    struct str text = word_arg(w, "text");
    struct word_font f = word_font_args(w);

    if (level < 1 || level > 9)
        return word_say(w, "Invalid heading level: %lld. Level must be between 1 and 9.",
                        (long long)level);
    struct xml *p = word_add_paragraph(w, text, need_heading(w, level));
    set_fonts(w, p, &f);
    if (local_bool(w->c, "border_bottom")) {
        struct xml *n = word_prop(w, word_ppr(w, p), "w:pBdr", STR_NULL, word_ppr_order);
        (void)xml_add_text(w->doc, n, NULL,
                           "<w:bottom w:val=\"single\" w:sz=\"4\" w:space=\"0\" "
                           "w:color=\"000000\"/>");
    }
    return word_done(w, "Heading '" STR_FMT "' (level %lld) added to " STR_FMT, STR_ARG(text),
                     (long long)level, STR_ARG(w->name));
}

struct str tool_add_page_break(struct word *w)
{
    struct xml *p = word_add_paragraph(w, STR(""), STR(""));

    (void)xml_add_text(w->doc, p, NULL, "<w:r><w:br w:type=\"page\"/></w:r>");
    return word_done(w, "Page break added to " STR_FMT ".", STR_ARG(w->name));
}

/* "(0-11)", or "(0--1)" as the product writes it for none. */
static struct str no_paragraph(struct word *w)
{
    size_t n = word_n_paragraphs(w);

    return word_say(w, "Invalid paragraph index. Document has %zu paragraphs (0-%lld).", n,
                    (long long)n - 1);
}

struct str tool_delete_paragraph(struct word *w)
{
    int64_t i = word_int(w, "paragraph_index", 0);
    struct xml *p = word_paragraph(w, i);

    if (!p)
        return no_paragraph(w);
    xml_remove(p);
    return word_done(w, "Paragraph at index %lld deleted successfully.", (long long)i);
}

struct str tool_format_text(struct word *w)
{
    int64_t i = word_int(w, "paragraph_index", 0);
    int64_t begin = word_int(w, "start_pos", 0), end = word_int(w, "end_pos", 0);
    struct xml *p = word_paragraph(w, i);
    struct word_font f = word_font_args(w);

    if (!p)
        return no_paragraph(w);
    struct str text = word_text(w, p);
    size_t len = word_chars(text);
    if (begin < 0 || end < 0 || (uint64_t)end > len || begin >= end)
        return word_say(w, "Invalid text positions. Paragraph has %zu characters.", len);
    if (word_arg(w, "color").len > 0 && !f.color.p)
        f.color = STR("000000");
    struct str target =
        str_slice(text, word_byte_of(text, (size_t)begin), word_byte_of(text, (size_t)end));
    struct xml *r = word_split(w, p, (size_t)begin), *behind = word_split(w, p, (size_t)end);
    for (; r && r != behind; r = word_next_run(p, r))
        word_set_font(w->doc, word_rpr(w, r), &f);
    return word_done(w, "Text '" STR_FMT "' formatted successfully in paragraph %lld.",
                     STR_ARG(target), (long long)i);
}

struct str tool_search_and_replace(struct word *w)
{
    struct str old = word_arg(w, "find_text"), new = word_arg(w, "replace_text");
    unsigned n = 0;

    for (struct xml *p = NULL; (p = xml_walk(w->body, p, "w:p"));) {
        if (!word_is_like(w, p, "TOC"))
            n += word_replace(w, p, old, new);
    }
    if (n == 0)
        return word_say(w, "No occurrences of '" STR_FMT "' found.", STR_ARG(old));
    return word_done(w, "Replaced %u occurrence(s) of '" STR_FMT "' with '" STR_FMT "'.", n,
                     STR_ARG(old), STR_ARG(new));
}

/* ---- styles ---- */

/* NAME without what an id cannot have. */
static struct str style_id_of(struct word *w, struct str name)
{
    auto_buf struct buf b = BUF_INIT(1024);

    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] != ' ')
            (void)buf_add_char(&b, name.p[i]);
    }
    return arena_str(w->arena, buf_str(&b));
}

struct str tool_create_custom_style(struct word *w)
{
    struct str name = word_arg(w, "style_name"), base = word_arg(w, "base_style");
    struct word_font f = word_font_args(w);
    struct str base_id = base.len > 0 ? word_style_id(w, base) : STR_NULL;

    if (word_strip(name).len == 0 || name.len > 255)
        return word_failed(w, "style name must have 1 to 255 characters");
    if (base.len > 0 && !base_id.p)
        return word_failed(w, "\"no style with name '" STR_FMT "'\"", STR_ARG(base));
    if (word_style(w, name, NULL))
        return word_say(w, "Style '" STR_FMT "' created successfully.", STR_ARG(name));
    struct xml *s = word_add_style(w, "paragraph", style_id_of(w, name), name);
    if (!s)
        return word_failed(w, "not enough memory");
    if (base_id.len > 0)
        xml_set(w->styles, xml_add(w->styles, s, "w:basedOn"), "w:val", base_id);
    (void)xml_add(w->styles, s, "w:qFormat");
    if (word_arg(w, "color").len > 0 && !f.color.p)
        f.color = STR("000000");
    word_set_font(w->styles, xml_add(w->styles, s, "w:rPr"), &f);
    return word_done(w, "Style '" STR_FMT "' created successfully.", STR_ARG(name));
}

/* ---- tables ---- */

struct str tool_add_table(struct word *w)
{
    int64_t rows = word_int(w, "rows", 0), columns = word_int(w, "cols", 0);
    const struct json *data = json_get(w->c->args, "data");

    rows = rows < 0 ? 0 : rows;
    if (columns <= 0)
        return word_failed(w, "a table needs at least one column");
    if (rows > WORD_CELLS_MAX || columns > 1024 || rows * columns > WORD_CELLS_MAX)
        return word_failed(w, "more than %d cells", WORD_CELLS_MAX);
    struct xml *t = word_add_table(w, rows, columns), *row = xml_child(t, "w:tr");
    for (int64_t i = 0; row && i < rows; i++, row = xml_next(row, "w:tr")) {
        const struct json *cells = json_at(data, (size_t)i);
        struct xml *cell = xml_child(row, "w:tc");
        for (size_t k = 0; cell && cells && cells->type == JSON_ARRAY && k < cells->n; k++) {
            word_set_cell_text(w, cell, word_pystr(w, &cells->items[k]));
            cell = xml_next(cell, "w:tc");
        }
    }
    return word_done(w, "Table (%lldx%lld) added to " STR_FMT, (long long)rows, (long long)columns,
                     STR_ARG(w->name));
}

/* ---- pictures ---- */

/* No two drawings of a document have the same number. */
static int64_t drawing_id(const struct word *w)
{
    int64_t id = 1;

    for (struct xml *n = NULL; (n = xml_walk(w->body, n, "wp:docPr"));) {
        int64_t own = xml_get_int(n, "id", 0);
        if (own >= id && own < INT32_MAX)
            id = own + 1;
    }
    return id;
}

static void set_word_size(struct word *w, struct xml *n, int64_t cx, int64_t cy)
{
    xml_setf(w->doc, n, "cx", "%lld", (long long)cx);
    xml_setf(w->doc, n, "cy", "%lld", (long long)cy);
}

/* A picture in the line of text, as a paragraph of its own. */
static void add_drawing(struct word *w, struct str rel, struct str file, const int64_t size[2])
{
    static const char form[] =
        "<w:r><w:drawing><wp:inline distT=\"0\" distB=\"0\" distL=\"0\" distR=\"0\"><wp:extent/>"
        "<wp:docPr/><wp:cNvGraphicFramePr><a:graphicFrameLocks noChangeAspect=\"1\"/>"
        "</wp:cNvGraphicFramePr><a:graphic><a:graphicData "
        "uri=\"http://schemas.openxmlformats.org/drawingml/2006/picture\"><pic:pic><pic:nvPicPr>"
        "<pic:cNvPr id=\"0\"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip/><a:stretch>"
        "<a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext/>"
        "</a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>"
        "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>";
    int64_t id = drawing_id(w);
    struct xml *p = word_add_paragraph(w, STR(""), STR(""));
    struct xml *run = xml_add_text(w->doc, p, NULL, form);

    struct xml *about = xml_walk(run, NULL, "wp:docPr");
    xml_setf(w->doc, about, "id", "%lld", (long long)id);
    xml_setf(w->doc, about, "name", "Picture %lld", (long long)id);
    xml_set(w->doc, xml_walk(run, NULL, "pic:cNvPr"), "name", file);
    xml_set(w->doc, xml_walk(run, NULL, "a:blip"), "r:embed", rel);
    set_word_size(w, xml_walk(run, NULL, "wp:extent"), size[0], size[1]);
    set_word_size(w, xml_walk(run, NULL, "a:ext"), size[0], size[1]);
}

/* In English Metric Units: as large as it says itself, or of the width that is wanted. */
static void picture_size_of(const struct picture *pic, double inches, int64_t ret[2])
{
    double width = (double)pic->width / pic->dpi_x, height = (double)pic->height / pic->dpi_y;

    if (inches > 0) {
        height *= inches / width;
        width = inches;
    }
    ret[0] = (int64_t)(width * EMU_PER_INCH);
    ret[1] = (int64_t)(height * EMU_PER_INCH);
}

static struct str place_picture(struct word *w, struct str bytes, const struct picture *pic,
                                struct str given)
{
    double inches = word_real(w, "width");
    int64_t size[2];
    struct str behind = arena_printf(w->arena, ".%s", pic->extension);
    struct str name = package_free_name(&w->package, "/word/media/image", behind.p);
    struct part *part = package_add(&w->package, name, pic->type, bytes);

    if (inches < 0 || inches > 1000)
        return word_failed(w, "ValueError - width must be between 0 and 1000 inches");
    if (!part)
        return word_failed(w, "MemoryError - No error details available");
    picture_size_of(pic, inches, size);
    struct str file =
        str_skip(given, (size_t)(strrchr(given.p, '/') ? strrchr(given.p, '/') - given.p + 1 : 0));
    add_drawing(w, rel_add(&w->package, w->part, "image", part), file, size);
    return word_done(w, "Picture " STR_FMT " added to " STR_FMT, STR_ARG(given), STR_ARG(w->name));
}

struct str tool_add_picture(struct word *w)
{
    struct str given = word_arg(w, "image_path"), bytes = STR_NULL;
    const char *path = word_path(w, given);
    struct picture pic;

    if (!path)
        return STR_NULL;
    int r = path[0] ? path_read(w->c, path, &bytes) : -ENOENT;
    if (r == -ENOENT)
        return word_say(w, "Image file not found: %s", path[0] ? path : given.p);
    if (r < 0)
        return word_say(w, "Error checking image file: " STR_FMT,
                        STR_ARG(path_error(w->c, r, "open", path, NULL)));
    if (bytes.len == 0)
        return word_say(w, "Image file appears to be empty: %s (0 KB)", path);
    if (picture_look(bytes, &pic))
        return place_picture(w, bytes, &pic, given);
    return word_failed(w,
                       "UnrecognizedImageError - No error details available\nDiagnostic info: "
                       "Attempting to add image (%s, %.2f KB) to document (%s)",
                       path, (double)bytes.len / 1024, w->path);
}
