/* SPDX-License-Identifier: MIT */
/* Styles, by the names that people see; and fonts. */
#include <strings.h>

#include "base/cleanup.h"
#include "local/word/word.h"

static struct xml *styles_root(struct word *w)
{
    if (!w->styles_part) {
        w->styles_part = rel_part_by_type(&w->package, w->part, "styles");
        w->styles = w->styles_part ? part_xml(&w->package, w->styles_part, NULL) : NULL;
    }
    return w->styles ? w->styles->root : NULL;
}

/* Word shows built-in styles with a capital ("Heading 1") that files write without. */
static bool is_shown_with_capital(struct str name)
{
    return str_is(name, "caption") || str_is(name, "header") || str_is(name, "footer") ||
           (str_starts(name, STR("heading ")) && name.len == 9);
}

static struct str shown_style_name(struct word *w, struct str name)
{
    if (!is_shown_with_capital(name))
        return name;
    return arena_printf(w->arena, "%c" STR_FMT, name.p[0] - 'a' + 'A', STR_ARG(str_skip(name, 1)));
}

struct xml *word_style(struct word *w, struct str name, const char *type)
{
    struct xml *by_id = NULL;

    for (struct xml *s = xml_child(styles_root(w), "w:style"); s; s = xml_next(s, "w:style")) {
        if (type && !str_is(xml_get(s, "w:type"), type))
            continue;
        struct str own = xml_get(xml_child(s, "w:name"), "w:val");
        if (str_eq(own, name) || (own.len > 0 && str_eq(shown_style_name(w, own), name)))
            return s;
        if (!by_id && str_eq(xml_get(s, "w:styleId"), name))
            by_id = s;
    }
    return by_id;
}

struct str word_style_id(struct word *w, struct str name)
{
    return xml_get(word_style(w, name, "paragraph"), "w:styleId");
}

struct str word_style_of(struct word *w, const struct xml *paragraph)
{
    struct str id = xml_get(xml_path(paragraph, "w:pPr/w:pStyle"), "w:val");
    struct str fallback = STR("Normal");

    for (struct xml *s = xml_child(styles_root(w), "w:style"); s; s = xml_next(s, "w:style")) {
        if (!str_is(xml_get(s, "w:type"), "paragraph"))
            continue;
        struct str name = xml_get(xml_child(s, "w:name"), "w:val");
        if (id.len > 0 && str_eq(xml_get(s, "w:styleId"), id))
            return shown_style_name(w, name);
        if (xml_get_bool(s, "w:default", false))
            fallback = shown_style_name(w, name);
    }
    return fallback;
}

bool word_is_like(struct word *w, const struct xml *paragraph, const char *begin)
{
    struct str name = word_style_of(w, paragraph);
    size_t len = strlen(begin);

    return name.len >= len && strncasecmp(name.p, begin, len) == 0;
}

static struct xml *need_styles_part(struct word *w)
{
    static const struct str empty = STR_INIT(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:styles xmlns:w=\""
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main\"/>");

    if (!styles_root(w)) {
        w->styles_part = package_add(&w->package, STR("/word/styles.xml"),
                                     "application/vnd.openxmlformats-officedocument."
                                     "wordprocessingml.styles+xml",
                                     empty);
        if (w->styles_part)
            (void)rel_add(&w->package, w->part, "styles", w->styles_part);
    }
    w->styles = w->styles_part ? part_edit(&w->package, w->styles_part, NULL) : NULL;
    return w->styles ? w->styles->root : NULL;
}

struct xml *word_add_style(struct word *w, const char *type, struct str id, struct str name)
{
    struct xml *root = need_styles_part(w);
    struct xml *s = root ? xml_add(w->styles, root, "w:style") : NULL;

    if (!s)
        return NULL;
    xml_set(w->styles, s, "w:type", str_of(type));
    xml_set(w->styles, s, "w:customStyle", STR("1"));
    xml_set(w->styles, s, "w:styleId", id);
    xml_set(w->styles, xml_add(w->styles, s, "w:name"), "w:val", name);
    return s;
}

/* ---- fonts ---- */

static const struct {
    const char *name, *rgb;
} colors[] = {
    {"red", "FF0000"},    {"blue", "0000FF"},   {"green", "008000"}, {"yellow", "FFFF00"},
    {"black", "000000"},  {"gray", "808080"},   {"grey", "808080"},  {"white", "FFFFFF"},
    {"purple", "800080"}, {"orange", "FFA500"},
};

struct str word_color(struct word *w, struct str color)
{
    for (size_t i = 0; i < ARRAY_LEN(colors); i++) {
        if (str_iis(color, colors[i].name))
            return str_of(colors[i].rgb);
    }
    if (color.len > 0 && color.p[0] == '#')
        color = str_skip(color, 1);
    if (color.len != 6)
        return STR_NULL;
    char *p = arena_alloc(w->arena, 7);
    for (size_t i = 0; p && i < 6; i++) {
        if (!strchr("0123456789abcdefABCDEF", color.p[i]))
            return STR_NULL;
        p[i] = color.p[i] >= 'a' ? (char)(color.p[i] - 'a' + 'A') : color.p[i];
    }
    return p ? str_n(p, 6) : STR_NULL;
}

struct word_font word_font_args(struct word *w)
{
    const struct json *a = w->c->args;

    return (struct word_font){
        .bold = word_has(w, "bold") ? json_get(a, "bold") : NULL,
        .italic = word_has(w, "italic") ? json_get(a, "italic") : NULL,
        .underline = word_has(w, "underline") ? json_get(a, "underline") : NULL,
        .color = word_has(w, "color") ? word_color(w, word_arg(w, "color")) : STR_NULL,
        .name = word_arg(w, "font_name"),
        .size = word_int(w, "font_size", 0),
    };
}

/* <w:b/>, or <w:b w:val="0"/>. */
static void set_switch(struct xml_doc *d, struct xml *rpr, const char *name, const struct json *v)
{
    if (!v)
        return;
    struct xml *n = xml_need(d, rpr, name, word_rpr_order);
    if (json_bool(v, false))
        xml_unset(n, "w:val");
    else
        xml_set(d, n, "w:val", STR("0"));
}

void word_set_font(struct xml_doc *d, struct xml *rpr, const struct word_font *f)
{
    if (f->name.len > 0) {
        struct xml *n = xml_need(d, rpr, "w:rFonts", word_rpr_order);
        xml_set(d, n, "w:ascii", f->name);
        xml_set(d, n, "w:hAnsi", f->name);
    }
    set_switch(d, rpr, "w:b", f->bold);
    set_switch(d, rpr, "w:i", f->italic);
    if (f->color.len > 0)
        xml_set(d, xml_need(d, rpr, "w:color", word_rpr_order), "w:val", f->color);
    if (f->size > 0)
        xml_setf(d, xml_need(d, rpr, "w:sz", word_rpr_order), "w:val", "%lld",
                 (long long)f->size * 2);
    if (f->underline)
        xml_set(d, xml_need(d, rpr, "w:u", word_rpr_order), "w:val",
                json_bool(f->underline, false) ? STR("single") : STR("none"));
}
