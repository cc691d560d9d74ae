/* SPDX-License-Identifier: MIT */
/* Tools for slides: adding, describing, reading texts. */
#include "base/cleanup.h"
#include "local/powerpoint/deck.h"
#include "local/powerpoint/shape.h"
#include "local/powerpoint/table.h"
#include "local/powerpoint/tools.h"

/* ---- adding ---- */

void pp_background(struct slide *s, const char *const rgb[2], struct str direction)
{
    static const char *const order[] = {"p:bg", "p:spTree", NULL};
    static const char *const fill_order[] = {"a:noFill", "a:solidFill", "a:gradFill", "a:effectLst",
                                             NULL};
    struct xml *bg = xml_need(s->doc, xml_child(s->doc->root, "p:cSld"), "p:bg", order);

    xml_clear(bg);
    struct xml *properties = xml_add_text(s->doc, bg, NULL, "<p:bgPr><a:effectLst/></p:bgPr>");
    if (!rgb[1])
        (void)shape_fill(s->doc, properties, fill_order, rgb[0]);
    else
        (void)shape_gradient(s->doc, properties, fill_order, rgb,
                             str_is(direction, "vertical")   ? 90
                             : str_is(direction, "diagonal") ? 45
                                                             : 0);
}

/* What "background_type" asks for; what it does not know changes nothing. */
static void set_background(struct pp *p, struct slide *s)
{
    struct str type = pp_arg_str(p, "background_type"), scheme = pp_arg_str(p, "color_scheme");
    struct str direction = pp_arg_str(p, "gradient_direction");
    const struct json *colors = pp_arg(p, "background_colors");
    char rgb[2][7];
    bool has[2] = {pp_rgb(json_at(colors, 0), rgb[0]), pp_rgb(json_at(colors, 1), rgb[1])};

    if (!type.p)
        return;
    if (str_is(type, "solid"))
        pp_background(s,
                      (const char *[2]){has[0] ? rgb[0] : scheme_color(scheme, STR("light")), NULL},
                      direction);
    else if (str_is(type, "gradient") && has[0] && has[1])
        pp_background(s, (const char *[2]){rgb[0], rgb[1]}, direction);
    else if (str_is(type, "professional_gradient"))
        pp_background(s,
                      (const char *[2]){scheme_color(scheme, STR("light")),
                                        scheme_color(scheme, STR("gradient_start"))},
                      direction);
}

struct part *pp_asked_layout(struct pp *p, int64_t *ret_index)
{
    int64_t index = json_int(pp_arg(p, "layout_index"), 1);
    size_t n;
    struct part *layout = deck_first_layout(p->deck, index < 0 ? SIZE_MAX : (size_t)index, &n);

    if (!layout)
        pp_error(p, "Invalid layout index: %lld. Available layouts: 0-%lld", (long long)index,
                 (long long)n - 1);
    *ret_index = index;
    return layout;
}

void pp_add_slide(struct pp *p)
{
    struct str title = pp_arg_str(p, "title");
    struct slide s;
    int64_t index;
    struct part *layout = pp_asked_layout(p, &index);

    if (!layout)
        return;
    if (deck_add_slide(p->deck, layout, &s, &p->err) < 0) {
        pp_error(p, "Failed to add slide: %s", err_text(&p->err));
        return;
    }
    struct xml *holder = shape_title(&s);
    if (title.len > 0 && holder)
        text_set(s.doc, text_need(s.doc, holder), title);
    set_background(p, &s);
    int64_t at = (int64_t)deck_n_slides(p->deck) - 1;
    pp_text(p, "message", "Added slide %lld with layout %lld", (long long)at, (long long)index);
    pp_int(p, "slide_index", at);
    pp_text(p, "layout_name", STR_FMT, STR_ARG(deck_part_name(p->deck, layout)));
}

/* ---- describing ---- */

static void put_emu(struct pp *p, struct json *o, const char *key, const int64_t *value)
{
    pp_put(p, o, key, value ? json_new_int(&p->c->arena, *value) : json_new_null(&p->c->arena));
}

static struct json *describe_shape(struct pp *p, const struct xml *shape, size_t i)
{
    struct json *o = pp_object(p);
    struct box box;
    bool has = shape_box(p->deck, &p->slide, shape, &box);

    pp_put_int(p, o, "index", (int64_t)i);
    pp_put_str(p, o, "name", shape_name(shape));
    pp_put_str(p, o, "shape_type", str_of(shape_type(shape)));
    put_emu(p, o, "left", has ? &box.x : NULL);
    put_emu(p, o, "top", has ? &box.y : NULL);
    put_emu(p, o, "width", has ? &box.cx : NULL);
    put_emu(p, o, "height", has ? &box.cy : NULL);
    return o;
}

void pp_get_slide_info(struct pp *p)
{
    struct json *holders = pp_array(p), *shapes = pp_array(p);
    size_t i = 0;

    for (struct xml *x = NULL; (x = shape_ph_by_idx(&p->slide, x));) {
        struct json *o = pp_object(p);
        pp_put_int(p, o, "idx", shape_ph_idx(x));
        pp_put_str(p, o, "type", str_of(shape_ph_type(x)));
        pp_put_str(p, o, "name", shape_name(x));
        pp_push(p, holders, o);
    }
    for (struct xml *x = shape_at(&p->slide, 0); x; x = shape_next(x))
        pp_push(p, shapes, describe_shape(p, x, i++));
    pp_int(p, "slide_index", p->slide_index);
    pp_text(p, "layout_name", STR_FMT,
            STR_ARG(deck_part_name(p->deck, deck_base(p->deck, p->slide.part))));
    pp_int(p, "placeholder_count", holders ? holders->n : 0);
    pp_set(p, "placeholders", holders);
    pp_int(p, "shape_count", (int64_t)i);
    pp_set(p, "shapes", shapes);
}

/* ---- texts ---- */

struct slide_reading {
    struct pp *p;
    struct json *holders, *shapes, *tables;
    struct buf all; /* every text, a line each */
};

static void add_slide_line(struct slide_reading *r, struct str text)
{
    if (r->all.len > 0)
        (void)buf_add_char(&r->all, '\n');
    (void)buf_add_str(&r->all, text);
}

static void read_shape(struct slide_reading *r, const struct xml *shape, size_t i)
{
    struct pp *p = r->p;
    struct str text = text_strip(text_get(&p->c->arena, text_body(shape)));

    if (text.len == 0)
        return;
    struct json *o = pp_object(p);
    pp_put_int(p, o, "shape_index", (int64_t)i);
    pp_put_str(p, o, "shape_name", shape_name(shape));
    pp_put_str(p, o, "shape_type", str_of(shape_type(shape)));
    pp_put_str(p, o, "text", text);
    if (shape_ph(shape)) {
        pp_put_str(p, o, "placeholder_type", str_of(shape_ph_type(shape)));
        pp_put_int(p, o, "placeholder_idx", shape_ph_idx(shape));
    }
    pp_push(p, shape_ph(shape) ? r->holders : r->shapes, o);
    add_slide_line(r, text);
}

static void read_slide_table(struct slide_reading *r, const struct xml *shape, size_t i)
{
    struct pp *p = r->p;
    struct json *rows = pp_array(p);
    int64_t n = 0;

    for (struct xml *tr = xml_child(table_of(shape), "a:tr"); tr; tr = xml_next(tr, "a:tr"), n++) {
        struct json *cells = pp_array(p), *row = pp_object(p);
        for (struct xml *tc = xml_child(tr, "a:tc"); tc; tc = xml_next(tc, "a:tc")) {
            struct str text = text_strip(text_get(&p->c->arena, text_body(tc)));
            if (text.len == 0)
                continue;
            pp_push_str(p, cells, text);
            add_slide_line(r, text);
        }
        pp_put_int(p, row, "row", n);
        pp_put(p, row, "cells", cells);
        if (cells && cells->n > 0)
            pp_push(p, rows, row);
    }
    if (!rows || rows->n == 0)
        return;
    struct json *o = pp_object(p);
    pp_put_int(p, o, "shape_index", (int64_t)i);
    pp_put_str(p, o, "shape_name", shape_name(shape));
    pp_put(p, o, "table_content", rows);
    pp_push(p, r->tables, o);
}

/* The text of a slide as extract_slide_text returns it. */
static struct json *pp_slide_text(struct pp *p, const struct slide *s)
{
    struct slide_reading r = {p, pp_array(p), pp_array(p), pp_array(p), BUF_INIT(LOCAL_FILE_MAX)};
    struct json *content = pp_object(p), *o = pp_object(p);
    struct xml *holder = shape_title(s);
    struct str title = holder ? text_strip(text_get(&p->c->arena, text_body(holder))) : STR("");
    size_t i = 0;

    if (title.len > 0)
        add_slide_line(&r, title);
    for (struct xml *x = shape_at(s, 0); x; x = shape_next(x), i++) {
        if (table_of(x))
            read_slide_table(&r, x, i);
        else
            read_shape(&r, x, i);
    }
    pp_put_str(p, content, "slide_title", title);
    pp_put(p, content, "placeholders", r.holders);
    pp_put(p, content, "text_shapes", r.shapes);
    pp_put(p, content, "table_text", r.tables);
    pp_put_str(p, content, "all_text_combined", buf_str(&r.all));
    pp_put(p, o, "success", json_new_bool(&p->c->arena, true));
    pp_put(p, o, "text_content", content);
    pp_put_int(p, o, "total_text_shapes",
               r.holders && r.shapes ? (int64_t)r.holders->n + r.shapes->n : 0);
    pp_put(p, o, "has_title", json_new_bool(&p->c->arena, title.len > 0));
    pp_put(p, o, "has_tables", json_new_bool(&p->c->arena, r.tables && r.tables->n > 0));
    buf_done(&r.all);
    return o;
}

void pp_extract_slide_text(struct pp *p)
{
    p->answer = pp_slide_text(p, &p->slide);
    pp_int(p, "slide_index", p->slide_index);
}

/* One row of "slides_text". */
static struct json *slide_row(struct pp *p, size_t i, const struct slide *s,
                              const struct json *text, bool has_info)
{
    struct json *row = pp_object(p);

    pp_put_int(p, row, "slide_index", (int64_t)i);
    pp_put(p, row, "text_content", json_get(text, "text_content"));
    if (!has_info)
        return row;
    pp_put_str(p, row, "layout_name", deck_part_name(p->deck, deck_base(p->deck, s->part)));
    pp_put(p, row, "total_text_shapes", json_get(text, "total_text_shapes"));
    pp_put(p, row, "has_title", json_get(text, "has_title"));
    pp_put(p, row, "has_tables", json_get(text, "has_tables"));
    return row;
}

static void add_combined(struct buf *all, const struct json *text, size_t i)
{
    struct str one = json_str(json_pointer(text, "/text_content/all_text_combined"), STR(""));

    if (one.len == 0)
        return;
    (void)buf_printf(all, "%s=== SLIDE %zu ===\n", all->len > 0 ? "\n" : "", i + 1);
    (void)buf_add_str(all, one);
    (void)buf_add_char(all, '\n');
}

void pp_extract_presentation_text(struct pp *p)
{
    auto_buf struct buf all = BUF_INIT(LOCAL_FILE_MAX);
    bool has_info = json_bool(pp_arg(p, "include_slide_info"), true);
    int64_t shapes = 0, titles = 0, tables = 0, read = 0;
    struct json *rows = pp_array(p);
    size_t n = deck_n_slides(p->deck);
    struct slide s;

    for (size_t i = 0; i < n; i++) {
        struct json *row = pp_object(p);
        if (deck_slide(p->deck, i, &s, &p->err) < 0) {
            pp_put_int(p, row, "slide_index", (int64_t)i);
            pp_put_str(p, row, "error", str_of(err_text(&p->err)));
            pp_put(p, row, "text_content", json_new_null(&p->c->arena));
            pp_push(p, rows, row);
            continue;
        }
        const struct json *text = pp_slide_text(p, &s);
        pp_push(p, rows, slide_row(p, i, &s, text, has_info));
        shapes += json_int(json_get(text, "total_text_shapes"), 0);
        titles += json_bool(json_get(text, "has_title"), false);
        tables += json_bool(json_get(text, "has_tables"), false);
        read++;
        add_combined(&all, text, i);
    }
    pp_bool(p, "success", true);
    pp_text(p, "presentation_id", "%s", p->deck->id);
    pp_int(p, "total_slides", (int64_t)n);
    pp_int(p, "slides_with_text", read);
    pp_int(p, "total_text_shapes", shapes);
    pp_int(p, "slides_with_titles", titles);
    pp_int(p, "slides_with_tables", tables);
    pp_set(p, "slides_text", rows);
    pp_put_str(p, p->answer, "all_presentation_text_combined", buf_str(&all));
}
