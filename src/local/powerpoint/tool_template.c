/* SPDX-License-Identifier: MIT */
/* Tools for templates of slides, which are in templates.def and outlines.def. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "local/powerpoint/chart.h"
#include "local/powerpoint/deck.h"
#include "local/powerpoint/picture.h"
#include "local/powerpoint/table.h"
#include "local/powerpoint/tools.h"

/* ---- the data ---- */

enum kind { KIND_TEMPLATE, KIND_TEXT, KIND_SHAPE, KIND_IMAGE, KIND_TABLE, KIND_CHART };

/* What the columns are is described in templates.def. */
struct design_row {
    enum kind kind;
    const char *name; /* id of a template, role of an element */
    double at[4];
    const char *a, *b, *c, *text;
};

/* clang-format off: the rows are one line each. */
static const struct design_row rows[] = {
#define TEMPLATE(id, title, kind_, background, about)                                              \
    {KIND_TEMPLATE, id, {0}, title, kind_, background, about},
#define TEXT(role, x, y, w, h, font, align, color, text_)                                          \
    {KIND_TEXT, role, {x, y, w, h}, font, align, color, text_},
#define SHAPE(role, x, y, w, h, type, fill, fill2)                                                 \
    {KIND_SHAPE, role, {x, y, w, h}, type, fill, fill2, ""},
#define IMAGE(role, x, y, w, h, text_) {KIND_IMAGE, role, {x, y, w, h}, NULL, NULL, NULL, text_},
#define TABLE(role, x, y, w, h, cells) {KIND_TABLE, role, {x, y, w, h}, cells, NULL, NULL, ""},
#define CHART(role, x, y, w, h, type, title, data)                                                 \
    {KIND_CHART, role, {x, y, w, h}, type, title, data, ""},
#include "local/powerpoint/templates.def"
};
/* clang-format on */

/* The first element of a template is behind its row. */
static const struct design_row *find_design_template(struct str id)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].kind == KIND_TEMPLATE && str_is(id, rows[i].name))
            return &rows[i];
    }
    return NULL;
}

static const struct design_row *next_element(const struct design_row *r)
{
    r++;
    return r == rows + ARRAY_LEN(rows) || r->kind == KIND_TEMPLATE ? NULL : r;
}

static size_t n_elements(const struct design_row *t)
{
    size_t n = 0;

    while ((t = next_element(t)))
        n++;
    return n;
}

static const char *const kind_names[] = {"template", "text", "shape", "image", "table", "chart"};

/* ---- elements on a slide ---- */

/* A template that is put on a slide. */
struct design_making {
    struct pp *p;
    struct slide *s;
    struct str scheme;
    const struct json *content, *images; /* objects, or NULL */
};

static const char *color(const struct design_making *m, const char *role)
{
    return strcmp(role, "white") == 0 ? "FFFFFF" : scheme_color(m->scheme, str_of(role));
}

static struct box box_of(const struct design_row *r)
{
    return (struct box){pp_emu(r->at[0]), pp_emu(r->at[1]), pp_emu(r->at[2]), pp_emu(r->at[3])};
}

static struct str element_text_of(const struct design_making *m, const struct design_row *r)
{
    return json_str(json_get(m->content, r->name), str_of(r->text));
}

static struct xml *make_text(struct design_making *m, const struct design_row *r)
{
    static const struct {
        const char *font;
        int64_t least, most;
    } fonts[] = {{"title", 18, 40}, {"subtitle", 14, 24}, {"body", 10, 18}, {"caption", 8, 14}};
    struct shape_new n = {"TextBox", box_of(r), "rect", true};
    struct xml *shape = shape_add(m->s, &n), *body = text_body(shape);
    struct text_format f = {.bold = strchr(r->a, '+') ? TEXT_YES : TEXT_NO,
                            .italic = strchr(r->a, '/') ? TEXT_YES : TEXT_NO,
                            .underline = TEXT_KEEP,
                            .rgb = color(m, r->c),
                            .align = text_align(str_of(r->b)),
                            .anchor = "ctr"};
    size_t font = 2;

    for (size_t i = 0; i < ARRAY_LEN(fonts); i++)
        font = str_starts(str_of(r->a), str_of(fonts[i].font)) ? i : font;
    /* Columns of text begin at their top. */
    if (r->at[3] > 2 && strcmp(r->b, "left") == 0)
        f.anchor = "t";
    f.points =
        (double)pp_best_points(element_text_of(m, r), &n.box, fonts[font].least, fonts[font].most);
    text_set(m->s->doc, body, element_text_of(m, r));
    text_format(m->s->doc, body, &f);
    return shape;
}

static struct xml *make_shape(struct design_making *m, const struct design_row *r)
{
    struct xml *shape = pp_add_kind(m->s, str_of(r->a), box_of(r)), *look = shape_properties(shape);
    struct xml_doc *doc = m->s->doc;

    if (r->c)
        (void)shape_gradient(doc, look, shape_order,
                             (const char *[2]){color(m, r->b), color(m, r->c)}, 0);
    else
        (void)shape_fill(doc, look, shape_order, color(m, r->b));
    struct xml *line = xml_need(doc, look, "a:ln", shape_order);
    (void)xml_need(doc, line, "a:noFill", NULL);
    return shape;
}

static struct xml *make_design_image(struct design_making *m, const struct design_row *r)
{
    struct str path = json_str(json_get(m->images, r->name), STR("")), why, bytes;
    const char *at = path.len > 0 ? path_check(m->p->c, path, &why) : NULL;
    struct xml *shape = at && path_read(m->p->c, at, &bytes) == 0
                            ? picture_add(m->p->deck, m->s, box_of(r), bytes, NULL)
                            : NULL;
    struct text_format f = TEXT_FORMAT_KEEP;

    if (shape)
        return shape;
    shape = pp_add_kind(m->s, STR("rectangle"), box_of(r));
    (void)shape_fill(m->s->doc, shape_properties(shape), shape_order, color(m, "light"));
    text_set(m->s->doc, text_body(shape), element_text_of(m, r));
    f.rgb = color(m, "text");
    f.points = 14;
    text_format(m->s->doc, text_body(shape), &f);
    return shape;
}

static size_t count_parts(struct str s, char by)
{
    size_t n = 0;

    for (; s.p; n++)
        (void)str_cut(&s, by);
    return n;
}

static struct xml *make_table(struct design_making *m, const struct design_row *r)
{
    struct str lines = str_of(r->a), head = lines;
    struct box box = box_of(r);
    size_t n = count_parts(lines, ';');
    struct xml *shape = table_add(m->s, &box, n, count_parts(str_cut(&head, ';'), '|'));
    struct xml *table = table_of(shape);

    for (size_t y = 0; lines.p; y++) {
        struct str line = str_cut(&lines, ';');
        for (size_t x = 0; line.p; x++) {
            struct xml *cell = table_cell(table, y, x);
            struct text_format f = TEXT_FORMAT_KEEP;
            text_set(m->s->doc, text_body(cell), str_cut(&line, '|'));
            f.points = 14;
            f.rgb = y == 0 ? "FFFFFF" : color(m, "text");
            f.bold = y == 0 ? TEXT_YES : TEXT_NO;
            text_format(m->s->doc, text_body(cell), &f);
            table_cell_fill(m->s->doc, cell, color(m, y == 0 ? "primary" : "light"));
        }
    }
    return shape;
}

/* "A|B;Name|1|2": categories, then series. */
static bool read_template_chart(struct pp *p, struct str text, struct chart_data *ret)
{
    struct str line = str_cut(&text, ';');
    struct json *categories = pp_array(p);

    while (line.p)
        pp_push_str(p, categories, str_cut(&line, '|'));
    *ret = (struct chart_data){
        categories,
        arena_zalloc(&p->c->arena, count_parts(text, ';') + 1, sizeof(struct chart_series)), 0};
    while (ret->series && text.p) {
        struct json *values = pp_array(p);
        line = str_cut(&text, ';');
        struct str name = str_cut(&line, '|');
        int64_t v;
        while (line.p) {
            if (str_to_i64(str_cut(&line, '|'), &v) == 0)
                pp_push(p, values, json_new_int(&p->c->arena, v));
        }
        ret->series[ret->n_series++] = (struct chart_series){name, values};
    }
    return ret->series != NULL;
}

static struct xml *make_chart(struct design_making *m, const struct design_row *r)
{
    char colors[2][7];
    struct chart_look look = {.has_legend = true,
                              .legend = "b",
                              .title = str_of(r->b),
                              .colors = (const char(*)[7])colors,
                              .n_colors = 2};
    struct chart_data data;
    struct box box = box_of(r);

    memcpy(colors[0], color(m, "primary"), 7);
    memcpy(colors[1], color(m, "accent2"), 7);
    if (!read_template_chart(m->p, str_of(r->c), &data))
        return NULL;
    struct xml *shape = chart_add(m->p->deck, m->s, &box, str_of(r->a), &data);
    struct part *chart = shape ? chart_of(m->p->deck, m->s, shape) : NULL;
    if (chart)
        chart_format(m->p->deck, chart, &look);
    return shape;
}

static struct xml *(*const makers[])(struct design_making *m, const struct design_row *r) = {
    [KIND_TEXT] = make_text,   [KIND_SHAPE] = make_shape, [KIND_IMAGE] = make_design_image,
    [KIND_TABLE] = make_table, [KIND_CHART] = make_chart,
};

/* What the original returns for an application. */
static struct json *apply_template(struct design_making *m, struct str id)
{
    struct pp *p = m->p;
    struct json *o = pp_object(p), *made = pp_array(p);
    const struct design_row *t = find_design_template(id);

    pp_put(p, o, "success", json_new_bool(&p->c->arena, t != NULL));
    if (!t) {
        pp_put_str(p, o, "error",
                   arena_printf(&p->c->arena, "Template '" STR_FMT "' not found", STR_ARG(id)));
        return o;
    }
    if (t->c)
        pp_background(
            m->s,
            (const char *[2]){color(m, "light"), strcmp(t->c, "gradient") == 0 ? "FFFFFF" : NULL},
            STR("diagonal"));
    for (const struct design_row *r = next_element(t); r; r = next_element(r)) {
        struct json *row = pp_object(p);
        pp_put_str(p, row, "type", str_of(kind_names[r->kind]));
        pp_put_str(p, row, "role", str_of(r->name));
        if (makers[r->kind](m, r))
            pp_put_int(p, row, "index", (int64_t)shape_count(m->s) - 1);
        else
            pp_put_str(p, row, "error", STR("the slide or the memory is full"));
        pp_push(p, made, row);
    }
    (void)part_edit(&p->deck->package, m->s->part, NULL);
    pp_put_str(p, o, "template_id", id);
    pp_put_str(p, o, "template_name", str_of(t->a));
    pp_put_str(p, o, "color_scheme", m->scheme);
    pp_put(p, o, "elements_created", made);
    pp_put_int(p, o, "total_elements", (int64_t)n_elements(t));
    return o;
}

/* ---- describing ---- */

void pp_list_slide_templates(struct pp *p)
{
    static const char example[] =
        "{\"single_slide_example\":{\"description\":\"One slide\",\"code\":{\"template_id\":"
        "\"text_with_image\",\"color_scheme\":\"modern_blue\",\"content_mapping\":{\"title\":"
        "\"Our harbour\",\"content\":\"Three piers\\nTwelve boats\"},\"image_paths\":"
        "{\"supporting\":\"/data/harbour.png\"}}},\"presentation_sequence_example\":"
        "{\"description\":\"A whole presentation\",\"code\":[{\"template_id\":\"title_slide\","
        "\"content\":{\"title\":\"Review of the year\",\"author\":\"Maya Chen\"}},"
        "{\"template_id\":\"thank_you_slide\",\"content\":{\"contact\":"
        "\"maya@larkspur.example\"}}]}}";
    struct json *all = pp_array(p);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json *o = pp_object(p);
        if (rows[i].kind != KIND_TEMPLATE)
            continue;
        pp_put_str(p, o, "id", str_of(rows[i].name));
        pp_put_str(p, o, "name", str_of(rows[i].a));
        pp_put_str(p, o, "description", str_of(rows[i].text));
        pp_put_str(p, o, "layout_type", str_of(rows[i].b));
        pp_put_int(p, o, "element_count", (int64_t)n_elements(&rows[i]));
        pp_push(p, all, o);
    }
    pp_set(p, "available_templates", all);
    pp_int(p, "total_templates", all ? all->n : 0);
    pp_set(p, "usage_examples", json_parse(&p->c->arena, str_of(example), NULL, NULL));
    pp_text(p, "message", "Use apply_slide_template to apply templates to slides");
}

/* The names of what can be changed about an element. */
static struct json *options(struct pp *p, enum kind kind)
{
    static const char *const names[][4] = {
        [KIND_TEXT] = {"font_type", "alignment", "color_role", "auto_fit"},
        [KIND_SHAPE] = {"shape_type", "fill_color_role", "fill_gradient", "no_border"},
        [KIND_IMAGE] = {NULL},
        [KIND_TABLE] = {"header_bg_color_role", "body_bg_color_role"},
        [KIND_CHART] = {"type", "title"},
    };
    struct json *all = pp_array(p);

    for (size_t i = 0; i < 4 && names[kind][i]; i++)
        pp_push_str(p, all, str_of(names[kind][i]));
    return all;
}

static struct json *describe_template(struct pp *p, const struct design_row *r)
{
    static const char *const sides[] = {"left", "top", "width", "height"};
    struct json *o = pp_object(p), *at = pp_object(p);

    for (size_t i = 0; i < 4; i++)
        pp_put(p, at, sides[i], json_new_real(&p->c->arena, r->at[i]));
    pp_put_str(p, o, "type", str_of(kind_names[r->kind]));
    pp_put_str(p, o, "role", str_of(r->name));
    pp_put(p, o, "position", at);
    pp_put_str(p, o, "placeholder_text", str_of(r->text));
    pp_put(p, o, "styling_options", options(p, r->kind));
    return o;
}

void pp_get_template_info(struct pp *p)
{
    struct str id = pp_arg_str(p, "template_id");
    const struct design_row *t = find_design_template(id);
    struct json *all = pp_array(p), *schemes = pp_array(p);

    if (!t) {
        pp_error(p, "Template '" STR_FMT "' not found", STR_ARG(id));
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            if (rows[i].kind == KIND_TEMPLATE)
                pp_push_str(p, all, str_of(rows[i].name));
        }
        pp_set(p, "available_templates", all);
        return;
    }
    for (const struct design_row *r = next_element(t); r; r = next_element(r))
        pp_push(p, all, describe_template(p, r));
    for (size_t i = 0; i < scheme_count(); i++)
        pp_push_str(p, schemes, str_of(scheme_name(i)));
    pp_text(p, "template_id", STR_FMT, STR_ARG(id));
    pp_text(p, "name", "%s", t->a);
    pp_text(p, "description", "%s", t->text);
    pp_text(p, "layout_type", "%s", t->b);
    pp_set(p, "elements", all);
    pp_int(p, "element_count", all ? all->n : 0);
    pp_bool(p, "has_background", t->c != NULL);
    pp_set(p, "background_type",
           t->c ? json_new_str(&p->c->arena, str_of(t->c)) : json_new_null(&p->c->arena));
    pp_set(p, "color_schemes", schemes);
    pp_text(p, "usage_tip",
            "Use create_slide_from_template with template_id='" STR_FMT
            "' to create a slide with this layout",
            STR_ARG(id));
}

/* ---- applying ---- */

static struct design_making making(struct pp *p, struct slide *s)
{
    struct str scheme = pp_arg_str(p, "color_scheme");

    return (struct design_making){p, s, scheme.p ? scheme : STR("modern_blue"),
                                  pp_arg(p, "content_mapping"), pp_arg(p, "image_paths")};
}

static void tell_template_result(struct pp *p, struct json *result, const char *failed,
                                 struct str message, int64_t at)
{
    struct str error = json_str(json_get(result, "error"), STR_NULL);

    if (error.p) {
        pp_error(p, "%s: " STR_FMT, failed, STR_ARG(error));
        return;
    }
    pp_text(p, "message", STR_FMT, STR_ARG(message));
    pp_int(p, "slide_index", at);
    pp_set(p, "template_applied", result);
}

void pp_apply_slide_template(struct pp *p)
{
    struct str id = pp_arg_str(p, "template_id");
    struct design_making m = making(p, &p->slide);

    tell_template_result(p, apply_template(&m, id), "Failed to apply template",
                         arena_printf(&p->c->arena, "Applied template '" STR_FMT "' to slide %lld",
                                      STR_ARG(id), (long long)p->slide_index),
                         p->slide_index);
}

void pp_create_slide_from_template(struct pp *p)
{
    struct str id = pp_arg_str(p, "template_id");
    struct slide s;
    int64_t index;
    struct part *layout = pp_asked_layout(p, &index);

    if (!layout)
        return;
    /* Nothing is added for a template that is not there. */
    if (!find_design_template(id)) {
        pp_error(p, "Failed to apply template to new slide: Template '" STR_FMT "' not found",
                 STR_ARG(id));
        return;
    }
    if (deck_add_slide(p->deck, layout, &s, &p->err) < 0) {
        pp_error(p, "Failed to create slide from template: %s", err_text(&p->err));
        return;
    }
    struct design_making m = making(p, &s);
    int64_t at = (int64_t)deck_n_slides(p->deck) - 1;
    tell_template_result(p, apply_template(&m, id), "Failed to apply template to new slide",
                         arena_printf(&p->c->arena,
                                      "Created slide %lld using template '" STR_FMT "'",
                                      (long long)at, STR_ARG(id)),
                         at);
}

/* ---- whole presentations ---- */

/* A slide for each of SEQUENCE, an array of {"template_id", "content", "images"}. */
static struct json *make_sequence(struct pp *p, const struct json *sequence)
{
    struct json *o = pp_object(p), *made = pp_array(p);
    bool is_whole = true;
    size_t n;

    for (size_t i = 0; i < sequence->n; i++) {
        const struct json *one = &sequence->items[i];
        struct part *layout = deck_first_layout(p->deck, 1, &n);
        struct slide s;
        struct design_making m = making(p, &s);
        struct json *result = pp_object(p);
        struct str id = json_str(json_get(one, "template_id"), STR(""));
        const char *fault = NULL;
        m.content = json_get(one, "content");
        m.images = json_get(one, "images");
        if (id.len == 0)
            fault = "No template_id specified";
        else if (!layout)
            fault = "the presentation has no layout for content";
        else if (deck_add_slide(p->deck, layout, &s, &p->err) < 0)
            fault = err_text(&p->err);
        if (fault) {
            pp_put(p, result, "success", json_new_bool(&p->c->arena, false));
            pp_put_str(p, result, "error", str_of(fault));
        } else {
            result = apply_template(&m, id);
        }
        is_whole = is_whole && json_bool(json_get(result, "success"), false);
        pp_put_int(p, result, "slide_index", (int64_t)i);
        pp_push(p, made, result);
    }
    pp_put(p, o, "success", json_new_bool(&p->c->arena, is_whole));
    pp_put(p, o, "slides_created", made);
    pp_put_int(p, o, "total_slides", sequence->n);
    pp_put_str(p, o, "color_scheme", making(p, NULL).scheme);
    return o;
}

void pp_create_presentation_from_templates(struct pp *p)
{
    const struct json *sequence = pp_arg(p, "template_sequence");
    struct str title = pp_arg_str(p, "presentation_title");

    if (!sequence || sequence->n == 0) {
        pp_error(p, "Template sequence cannot be empty");
        return;
    }
    if (title.len > 0 && deck_set_property(p->deck, "dc:title", title, &p->err) < 0) {
        pp_error(p, "Failed to create presentation from templates: %s", err_text(&p->err));
        return;
    }
    struct json *result = make_sequence(p, sequence);
    if (json_bool(json_get(result, "success"), false))
        pp_text(p, "message", "Created presentation with %u slides", sequence->n);
    else
        pp_text(p, "warning", "Presentation created with some errors");
    pp_text(p, "presentation_id", "%s", p->deck->id);
    pp_set(p, "creation_result", result);
    pp_int(p, "total_slides", (int64_t)deck_n_slides(p->deck));
}

/* ---- outlines ---- */

/* clang-format off: the rows are one line each. */
static const struct outline {
    const char *kind, *id;
    bool is_chart;
    const char *content[4][2];
} outlines[] = {
#define SLIDE(kind_, id_, chart, ...) {kind_, id_, chart, {__VA_ARGS__}},
#include "local/powerpoint/outlines.def"
};
/* clang-format on */

static struct json *outline_slide(struct pp *p, const struct outline *o, struct str topic)
{
    struct json *slide = pp_object(p), *content = pp_object(p);

    for (size_t i = 0; i < 4 && o->content[i][0]; i++) {
        struct str text = str_of(o->content[i][1]);
        ptrdiff_t at = str_find(text, STR("{}"));
        if (at >= 0)
            text = arena_printf(&p->c->arena, "%.*s" STR_FMT "%s", (int)at, text.p, STR_ARG(topic),
                                text.p + at + 2);
        pp_put_str(p, content, o->content[i][0], text);
    }
    pp_put_str(p, slide, "template_id", str_of(o->id));
    pp_put(p, slide, "content", content);
    return slide;
}

/* COUNT slides: the outline's first ones, or all of it filled up before its last one. */
static struct json *make_outline(struct pp *p, struct str kind, int64_t count)
{
    bool charts = json_bool(pp_arg(p, "include_charts"), true);
    bool images = json_bool(pp_arg(p, "include_images"), false);
    struct str topic = pp_arg_str(p, "topic");
    const struct outline *of_kind[16], *filler = NULL;
    struct json *all = pp_array(p);
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(outlines); i++) {
        const struct outline *o = &outlines[i];
        if (!o->kind[0] && (strcmp(o->id, "text_with_image") == 0) == images)
            filler = o;
        if (str_is(kind, o->kind) && o->kind[0] && (charts || !o->is_chart) &&
            n < ARRAY_LEN(of_kind))
            of_kind[n++] = o;
    }
    for (int64_t i = 0; i < count; i++) {
        const struct outline *o = filler;
        if ((size_t)count <= n || (size_t)i < n - 1)
            o = of_kind[i];
        else if (i == count - 1)
            o = of_kind[n - 1];
        pp_push(p, all, outline_slide(p, o, topic));
    }
    return all;
}

void pp_auto_generate_presentation(struct pp *p)
{
    int64_t count = json_int(pp_arg(p, "slide_count"), 5);
    struct str topic = pp_arg_str(p, "topic"), kind = pp_arg_str(p, "presentation_type");
    struct json *used = pp_array(p);

    if (count < 3 || count > 20) {
        pp_error(p, "Slide count must be between 3 and 20");
        return;
    }
    struct str known =
        kind.p && (str_is(kind, "business") || str_is(kind, "academic")) ? kind : STR("creative");
    struct json *sequence = make_outline(p, known, count);
    if (!sequence) {
        pp_error(p, "Failed to auto-generate presentation: out of memory");
        return;
    }
    for (size_t i = 0; i < sequence->n; i++)
        pp_push(p, used, json_get(&sequence->items[i], "template_id"));
    struct json *result = make_sequence(p, sequence);
    pp_text(p, "message", "Auto-generated %lld-slide presentation on '" STR_FMT "'",
            (long long)count, STR_ARG(topic));
    pp_text(p, "topic", STR_FMT, STR_ARG(topic));
    pp_text(p, "presentation_type", STR_FMT, STR_ARG(kind));
    pp_text(p, "color_scheme", STR_FMT, STR_ARG(making(p, NULL).scheme));
    pp_int(p, "slide_count", count);
    pp_set(p, "generation_result", result);
    pp_set(p, "templates_used", used);
}
