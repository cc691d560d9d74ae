/* SPDX-License-Identifier: MIT */
#include "local/excel/styles.h"

#include <stdlib.h>

#include "base/cleanup.h"

enum { STYLES_MAX = 65490, FIRST_OWN_FORMAT = 164 }; /* Excel's limit; formats of the file */

static const struct {
    int id;
    const char *code;
} formats[] = {
    {0, "General"},
    {1, "0"},
    {2, "0.00"},
    {3, "#,##0"},
    {4, "#,##0.00"},
    {9, "0%"},
    {10, "0.00%"},
    {11, "0.00E+00"},
    {12, "# ?/?"},
    {13, "# ?"
         "?/?"
         "?"},
    {14, "mm-dd-yy"},
    {15, "d-mmm-yy"},
    {16, "d-mmm"},
    {17, "mmm-yy"},
    {18, "h:mm AM/PM"},
    {19, "h:mm:ss AM/PM"},
    {20, "h:mm"},
    {21, "h:mm:ss"},
    {22, "m/d/yy h:mm"},
    {37, "#,##0_);(#,##0)"},
    {38, "#,##0_);[Red](#,##0)"},
    {39, "#,##0.00_);(#,##0.00)"},
    {40, "#,##0.00_);[Red](#,##0.00)"},
    {45, "mm:ss"},
    {46, "[h]:mm:ss"},
    {47, "mmss.0"},
    {48, "##0.0E+0"},
    {49, "@"},
};

static const char *const order[] = {"numFmts",      "fonts",   "fills",      "borders",
                                    "cellStyleXfs", "cellXfs", "cellStyles", "dxfs",
                                    "tableStyles",  "colors",  "extLst",     NULL};

static struct xml_doc *load_styles(struct book *b)
{
    struct part *part = rel_part_by_type(&b->package, b->part, "styles");
    struct err e = ERR_INIT;

    if (!b->styles && part)
        b->styles = part_xml(&b->package, part, &e);
    return b->styles;
}

/* The same for changes; a book without styles gets some. */
static struct xml_doc *edit(struct book *b)
{
    static const char empty[] =
        "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">"
        "<fonts><font/></fonts><fills><fill><patternFill patternType=\"none\"/></fill><fill>"
        "<patternFill patternType=\"gray125\"/></fill></fills><borders><border/></borders>"
        "<cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf/></cellXfs></styleSheet>";
    struct part *part = rel_part_by_type(&b->package, b->part, "styles");
    struct err e = ERR_INIT;

    if (!part) {
        part = package_add(&b->package, STR("/xl/styles.xml"),
                           "application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml",
                           str_of(empty));
        (void)rel_add(&b->package, b->part, "styles", part);
    }
    b->styles = part ? part_edit(&b->package, part, &e) : NULL;
    return b->styles;
}

/* ---- dates ---- */

/* The first section of a format without what is in quotes, behind a backslash or in brackets;
 * brackets that count hours, minutes or seconds set *IS_SPAN. */
static bool shows_time(struct str code, bool *is_span)
{
    for (size_t i = 0; i < code.len && code.p[i] != ';'; i++) {
        char c = code.p[i];
        if (c == '"' || c == '[') {
            ptrdiff_t end = str_chr(str_skip(code, i + 1), c == '"' ? '"' : ']');
            char first = end > 0 ? (char)(code.p[i + 1] | 32) : ' ';
            if (c == '[' && end > 0 && end <= 2 && strchr("hms", first)) {
                *is_span = true;
                return true;
            }
            if (end < 0)
                return false;
            i += (size_t)end + 1;
        } else if (c == '\\' || c == '_') {
            i++;
        } else if (strchr("dmhysDMHYS", c)) {
            return true;
        }
    }
    return false;
}

static struct str format_code(struct xml_doc *d, int64_t id)
{
    for (struct xml *n = xml_path(d->root, "numFmts/numFmt"); n; n = xml_next(n, "numFmt")) {
        if (xml_get_int(n, "numFmtId", -1) == id)
            return xml_get(n, "formatCode");
    }
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (formats[i].id == id)
            return str_of(formats[i].code);
    }
    return STR("");
}

static void find_times(struct book *b)
{
    struct xml_doc *d = load_styles(b);
    struct xml *xfs = d ? xml_child(d->root, "cellXfs") : NULL;
    size_t n = xml_count(xfs, "xf"), i = 0;

    b->style_times = arena_zalloc(b->arena, n + 1, 1);
    b->n_styles = b->style_times ? n : 0;
    for (struct xml *xf = xml_child(xfs, "xf"); xf && i < b->n_styles; xf = xml_next(xf, "xf")) {
        bool is_span = false;
        if (shows_time(format_code(d, xml_get_int(xf, "numFmtId", 0)), &is_span))
            b->style_times[i] = is_span ? STYLE_SPAN : STYLE_TIME;
        i++;
    }
}

enum style_time style_time(struct book *b, int64_t style)
{
    if (!b->style_times)
        find_times(b);
    if (style < 0 || (size_t)style >= b->n_styles)
        return STYLE_NO_TIME;
    return (enum style_time)b->style_times[style];
}

/* ---- collections ---- */

/* The number of a child of LIST that looks like N, which is put behind the others when there is
 * none; -1 when the list is full. */
static int64_t number_of_style(struct xml_doc *d, struct xml *list, struct xml *n)
{
    auto_buf struct buf want = BUF_INIT(1 << 20), got = BUF_INIT(1 << 20);
    int64_t i = 0;

    if (!list || !n || xml_write_node(n, &want) < 0)
        return -1;
    for (struct xml *at = xml_child(list, NULL); at; at = xml_next(at, NULL), i++) {
        buf_clear(&got);
        (void)xml_write_node(at, &got);
        if (str_eq(buf_str(&want), buf_str(&got)))
            return i;
    }
    if (i >= STYLES_MAX)
        return -1;
    xml_insert(list, n, NULL);
    xml_setf(d, list, "count", "%lld", (long long)i + 1);
    return i;
}

/* A child of N with one attribute. */
static struct xml *add_with(struct xml_doc *d, struct xml *n, const char *name, const char *attr,
                            const char *value)
{
    struct xml *child = xml_add(d, n, name);

    xml_set(d, child, attr, str_of(value));
    return child;
}

/* An element that is in no list yet. */
static struct xml *detached(struct xml_doc *d, struct xml *list, const char *name)
{
    struct xml *n = xml_add(d, list, name);

    xml_remove(n);
    return n;
}

static int64_t font_number(struct book *b, int64_t base, const struct style_change *c)
{
    static const char *const kept[] = {"name", "charset", "family", "scheme"};
    struct xml_doc *d = b->styles;
    struct xml *fonts = xml_need(d, d->root, "fonts", order);
    struct xml *old = xml_nth(fonts, "font", (size_t)base), *n = detached(d, fonts, "font");

    if (c->is_bold)
        (void)add_with(d, n, "b", "val", "1");
    if (c->is_italic)
        (void)add_with(d, n, "i", "val", "1");
    if (c->is_underlined)
        (void)add_with(d, n, "u", "val", "single");
    struct xml *size = xml_child(old, "sz");
    if (c->font_size > 0)
        xml_setf(d, xml_add(d, n, "sz"), "val", "%lld", (long long)c->font_size);
    else if (size)
        xml_insert(n, xml_copy(d, size), NULL);
    if (c->font_color)
        (void)add_with(d, n, "color", "rgb", c->font_color);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        struct xml *keep = xml_child(old, kept[i]);
        if (keep)
            xml_insert(n, xml_copy(d, keep), NULL);
    }
    return number_of_style(d, fonts, n);
}

static int64_t fill_number(struct book *b, const char *color)
{
    struct xml_doc *d = b->styles;
    struct xml *fills = xml_need(d, d->root, "fills", order), *n = detached(d, fills, "fill");
    struct xml *pattern = add_with(d, n, "patternFill", "patternType", "solid");

    (void)add_with(d, pattern, "fgColor", "rgb", color);
    (void)add_with(d, pattern, "bgColor", "rgb", color);
    return number_of_style(d, fills, n);
}

static int64_t border_number(struct book *b, const struct style_change *c)
{
    static const char *const sides[] = {"left", "right", "top", "bottom"};
    struct xml_doc *d = b->styles;
    struct xml *borders = xml_need(d, d->root, "borders", order);
    struct xml *n = detached(d, borders, "border");

    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        struct xml *side = add_with(d, n, sides[i], "style", c->border_style);
        (void)add_with(d, side, "color", "rgb", c->border_color);
    }
    (void)xml_add(d, n, "diagonal");
    return number_of_style(d, borders, n);
}

static int64_t format_number(struct book *b, struct str code)
{
    struct xml_doc *d = b->styles;
    int64_t top = FIRST_OWN_FORMAT - 1;

    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (str_is(code, formats[i].code))
            return formats[i].id;
    }
    struct xml *list = xml_need(d, d->root, "numFmts", order);
    for (struct xml *n = xml_child(list, "numFmt"); n; n = xml_next(n, "numFmt")) {
        int64_t id = xml_get_int(n, "numFmtId", 0);
        if (str_eq(xml_get(n, "formatCode"), code))
            return id;
        top = id > top ? id : top;
    }
    struct xml *n = xml_add(d, list, "numFmt");
    xml_setf(d, n, "numFmtId", "%lld", (long long)top + 1);
    xml_set(d, n, "formatCode", code);
    xml_setf(d, list, "count", "%zu", xml_count(list, "numFmt"));
    return top + 1;
}

/* ---- styles ---- */

static void set_part(struct book *b, struct xml *xf, const char *id, const char *apply,
                     int64_t number)
{
    xml_setf(b->styles, xf, id, "%lld", (long long)number);
    xml_set(b->styles, xf, apply, STR("1"));
}

static void set_alignment(struct book *b, struct xml *xf, const struct style_change *c)
{
    static const char *const children[] = {"alignment", "protection", "extLst", NULL};
    struct xml_doc *d = b->styles;

    if (c->has_alignment) {
        xml_remove_all(xf, "alignment");
        struct xml *n = xml_need(d, xf, "alignment", children);
        if (c->horizontal)
            xml_set(d, n, "horizontal", str_of(c->horizontal));
        xml_set(d, n, "vertical", STR("center"));
        if (c->is_wrapped)
            xml_set(d, n, "wrapText", STR("1"));
        xml_set(d, xf, "applyAlignment", STR("1"));
    }
    if (c->has_protection) {
        xml_remove_all(xf, "protection");
        struct xml *n = xml_need(d, xf, "protection", children);
        xml_set(d, n, "locked", c->is_locked ? STR("1") : STR("0"));
        xml_set(d, n, "hidden", c->is_hidden ? STR("1") : STR("0"));
        xml_set(d, xf, "applyProtection", STR("1"));
    }
}

int64_t style_changed(struct book *b, int64_t base, const struct style_change *c)
{
    struct xml_doc *d = edit(b);
    struct xml *xfs = d ? xml_need(d, d->root, "cellXfs", order) : NULL;
    struct xml *old = xml_nth(xfs, "xf", base < 0 ? 0 : (size_t)base);

    if (!xfs)
        return -1;
    struct xml *xf = old ? xml_copy(d, old) : detached(d, xfs, "xf");
    if (c->has_font)
        set_part(b, xf, "fontId", "applyFont", font_number(b, xml_get_int(old, "fontId", 0), c));
    if (c->fill_color)
        set_part(b, xf, "fillId", "applyFill", fill_number(b, c->fill_color));
    if (c->border_style)
        set_part(b, xf, "borderId", "applyBorder", border_number(b, c));
    if (c->number_format)
        set_part(b, xf, "numFmtId", "applyNumberFormat",
                 format_number(b, str_of(c->number_format)));
    set_alignment(b, xf, c);
    b->style_times = NULL;
    return number_of_style(d, xfs, xf);
}

int64_t style_dxf(struct book *b, const char *xml)
{
    struct xml_doc *d = edit(b);
    struct xml *dxfs = d ? xml_need(d, d->root, "dxfs", order) : NULL;
    struct xml *n = dxfs ? detached(d, dxfs, "dxf") : NULL;

    (void)xml_add_text(d, n, NULL, xml);
    return number_of_style(d, dxfs, n);
}

int64_t style_dxf_fill(struct book *b, const char *color)
{
    struct str xml = arena_printf(b->arena,
                                  "<fill><patternFill patternType=\"solid\"><fgColor rgb=\"%s\"/>"
                                  "<bgColor rgb=\"%s\"/></patternFill></fill>",
                                  color, color);

    return xml.p ? style_dxf(b, xml.p) : -1;
}
