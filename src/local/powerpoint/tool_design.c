/* SPDX-License-Identifier: MIT */
/* Tools for schemes of colors. */
#include "base/cleanup.h"
#include "base/enc.h"
#include "local/powerpoint/deck.h"
#include "local/powerpoint/shape.h"
#include "local/powerpoint/tools.h"

/* ---- schemes ---- */

static struct json *told_color(struct pp *p, const char *rgb)
{
    struct json *array = pp_array(p);
    unsigned char v[3] = {0};

    (void)enc_unhex(v, sizeof v, str_of(rgb));
    for (size_t i = 0; i < sizeof v; i++)
        pp_push(p, array, json_new_int(&p->c->arena, v[i]));
    return array;
}

static void get_schemes(struct pp *p)
{
    struct json *names = pp_array(p), *all = pp_object(p), *roles = pp_array(p);

    for (size_t i = 0; i < scheme_count(); i++) {
        struct json *one = pp_object(p);
        for (size_t k = 0; k < 6; k++)
            pp_put(p, one, scheme_roles[k],
                   told_color(p, scheme_color(str_of(scheme_name(i)), str_of(scheme_roles[k]))));
        pp_push_str(p, names, str_of(scheme_name(i)));
        pp_put(p, all, scheme_name(i), one);
    }
    for (size_t k = 0; k < 6; k++)
        pp_push_str(p, roles, str_of(scheme_roles[k]));
    pp_set(p, "available_schemes", names);
    pp_set(p, "schemes", all);
    pp_set(p, "color_types", roles);
    pp_text(p, "description", "Color schemes for presentations");
}

static void color_title(struct slide *s, const char *rgb)
{
    struct text_format f = TEXT_FORMAT_KEEP;
    struct xml *title = shape_title(s);

    f.rgb = rgb;
    if (title)
        text_format(s->doc, text_body(title), &f);
}

static void professional_slide(struct pp *p, struct str scheme)
{
    static const struct {
        const char *type;
        size_t layout;
    } types[] = {{"title", 0}, {"title_content", 1}, {"content", 6}, {"blank", 6}};
    struct str type = pp_arg_str(p, "slide_type"), title = pp_arg_str(p, "title");
    const struct json *content = pp_arg(p, "content");
    size_t which = 1, n;
    struct slide s;

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        which = str_is(type, types[i].type) ? types[i].layout : which;
    struct part *layout = deck_first_layout(p->deck, which, &n);
    if (!layout || deck_add_slide(p->deck, layout, &s, &p->err) < 0) {
        pp_error(p, "Failed to apply professional design: %s",
                 layout ? err_text(&p->err) : "the presentation has no such layout");
        return;
    }
    struct xml *holder = shape_title(&s), *body = shape_placeholder(&s, 1);
    if (title.len > 0 && holder)
        text_set(s.doc, text_need(s.doc, holder), title);
    color_title(&s, scheme_color(scheme, STR("primary")));
    body = body ? text_need(s.doc, body) : NULL;
    struct xml *first = body && content && content->n > 0 ? text_clear(s.doc, body) : NULL;
    for (size_t i = 0; first && i < content->n; i++)
        (void)text_add_paragraph(s.doc, body, json_str(&content->items[i], STR("")));
    if (first)
        xml_remove(first);
    pp_text(p, "message", "Added professional " STR_FMT " slide", STR_ARG(type));
    pp_int(p, "slide_index", (int64_t)deck_n_slides(p->deck) - 1);
    pp_text(p, "color_scheme", STR_FMT, STR_ARG(scheme));
    pp_text(p, "slide_type", STR_FMT, STR_ARG(type));
}

/* Recolors the theme of the first master. */
static bool set_theme(struct pp *p, struct str scheme)
{
    static const char *const rows[][2] = {
        {"a:dk2", "text"},        {"a:lt2", "light"},       {"a:accent1", "primary"},
        {"a:accent2", "accent1"}, {"a:accent3", "accent2"}, {"a:accent4", "secondary"},
    };
    struct part *master = deck_master(p->deck, 0);
    struct part *theme = master ? rel_part_by_type(&p->deck->package, master, "theme") : NULL;
    struct xml_doc *doc = theme ? part_edit(&p->deck->package, theme, &p->err) : NULL;
    struct xml *colors = doc ? xml_path(doc->root, "a:themeElements/a:clrScheme") : NULL;

    for (size_t i = 0; colors && i < ARRAY_LEN(rows); i++) {
        struct xml *color = xml_child(colors, rows[i][0]);
        if (!color)
            continue;
        xml_clear(color);
        xml_set(doc, xml_add(doc, color, "a:srgbClr"), "val",
                str_of(scheme_color(scheme, str_of(rows[i][1]))));
    }
    return colors != NULL;
}

static void apply_theme(struct pp *p, struct str scheme)
{
    bool also_slides = json_bool(pp_arg(p, "apply_to_existing"), true);
    struct slide s;

    if (!set_theme(p, scheme)) {
        pp_error(p, "Failed to apply professional design: the presentation has no theme");
        return;
    }
    for (size_t i = 0; also_slides && i < deck_n_slides(p->deck); i++) {
        if (deck_slide(p->deck, i, &s, NULL) < 0 || !shape_title(&s))
            continue;
        color_title(&s, scheme_color(scheme, STR("primary")));
        (void)part_edit(&p->deck->package, s.part, NULL);
    }
    pp_text(p, "message", "Applied " STR_FMT " theme to presentation", STR_ARG(scheme));
    pp_text(p, "color_scheme", STR_FMT, STR_ARG(scheme));
    pp_bool(p, "applied_to_existing", also_slides);
}

/* Restyles the shapes; returns what was done. */
static struct json *enhance(struct pp *p, struct slide *s, struct str scheme)
{
    struct json *done = pp_array(p);
    const struct xml *title = shape_title(s);
    bool content = json_bool(pp_arg(p, "enhance_content"), true);
    bool shapes = json_bool(pp_arg(p, "enhance_shapes"), true);

    if (title && json_bool(pp_arg(p, "enhance_title"), true)) {
        color_title(s, scheme_color(scheme, STR("primary")));
        pp_push_str(p, done, STR("title"));
    }
    for (struct xml *x = shape_at(s, 0); x; x = shape_next(x)) {
        struct text_format f = TEXT_FORMAT_KEEP;
        f.rgb = scheme_color(scheme, STR("text"));
        bool is_drawn = xml_child(x, "p:style") && xml_is(x, "p:sp");
        if (content && x != title && !is_drawn)
            text_format(s->doc, text_body(x), &f);
        if (shapes && is_drawn)
            (void)shape_fill(s->doc, shape_properties(x), shape_order,
                             scheme_color(scheme, STR("primary")));
    }
    if (content)
        pp_push_str(p, done, STR("content"));
    if (shapes)
        pp_push_str(p, done, STR("shapes"));
    return done;
}

static bool find_design_slide(struct pp *p, struct slide *s)
{
    int64_t at = json_int(pp_arg(p, "slide_index"), -1);
    size_t n = deck_n_slides(p->deck);

    if (at >= 0 && (uint64_t)at < n && deck_slide(p->deck, (size_t)at, s, &p->err) == 0)
        return true;
    pp_error(p, "Invalid slide index: %lld. Available slides: 0-%lld", (long long)at,
             (long long)n - 1);
    return false;
}

static void enhance_slide(struct pp *p, struct str scheme)
{
    struct slide s;

    if (!pp_arg(p, "slide_index")) {
        pp_error(p, "slide_index is required for enhance operation");
        return;
    }
    if (!find_design_slide(p, &s))
        return;
    struct json *done = enhance(p, &s, scheme);
    (void)part_edit(&p->deck->package, s.part, NULL);
    int64_t at = json_int(pp_arg(p, "slide_index"), 0);
    pp_text(p, "message", "Enhanced slide %lld with " STR_FMT " scheme", (long long)at,
            STR_ARG(scheme));
    pp_int(p, "slide_index", at);
    pp_text(p, "color_scheme", STR_FMT, STR_ARG(scheme));
    pp_set(p, "enhancements_applied", done);
}

void pp_apply_professional_design(struct pp *p)
{
    struct str operation = pp_arg_str(p, "operation"), scheme = pp_arg_str(p, "color_scheme");
    struct str id = pp_arg_str(p, "presentation_id");
    struct slide s;

    if (!scheme.p)
        scheme = STR("modern_blue");
    if (str_is(operation, "get_schemes")) {
        get_schemes(p);
        return;
    }
    p->deck = id.p ? pp_find(id) : pp_current();
    if (!p->deck)
        pp_error(p, "No presentation is currently loaded or the specified ID is invalid");
    else if (str_is(operation, "professional_slide")) {
        if (!pp_arg(p, "slide_index") || find_design_slide(p, &s))
            professional_slide(p, scheme);
    } else if (str_is(operation, "theme"))
        apply_theme(p, scheme);
    else if (str_is(operation, "enhance"))
        enhance_slide(p, scheme);
    else
        pp_error(p,
                 "Invalid operation: " STR_FMT
                 ". Must be 'slide', 'theme', 'enhance', or 'get_schemes'",
                 STR_ARG(operation));
}
