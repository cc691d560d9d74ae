/* SPDX-License-Identifier: MIT */
/* Tools for texts of shapes. */
#include <math.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "local/powerpoint/shape.h"
#include "local/powerpoint/tools.h"

struct box pp_box(const struct pp *p)
{
    return (struct box){pp_emu(pp_arg_real(p, "left", 0)), pp_emu(pp_arg_real(p, "top", 0)),
                        pp_emu(pp_arg_real(p, "width", 0)), pp_emu(pp_arg_real(p, "height", 0))};
}

/* ---- placeholders ---- */

/* The text of "placeholder_idx"; NULL: the answer is an error that begins with FAILED. */
static struct xml *holder_body(struct pp *p, const char *failed)
{
    int64_t idx = json_int(pp_arg(p, "placeholder_idx"), -1);
    struct xml *shape = shape_placeholder(&p->slide, idx);
    struct xml *body = shape ? text_need(p->slide.doc, shape) : NULL;

    if (!shape)
        pp_error(p, "%s: 'no placeholder on this slide with idx == %lld'", failed, (long long)idx);
    else if (!body)
        pp_error(p, "%s: the placeholder holds no text", failed);
    return body;
}

void pp_populate_placeholder(struct pp *p)
{
    struct xml *body = holder_body(p, "Failed to populate placeholder");

    if (!body)
        return;
    text_set(p->slide.doc, body, pp_arg_str(p, "text"));
    pp_text(p, "message", "Populated placeholder %lld on slide %lld",
            (long long)json_int(pp_arg(p, "placeholder_idx"), 0), (long long)p->slide_index);
}

void pp_add_bullet_points(struct pp *p)
{
    const struct json *points = pp_arg(p, "bullet_points");
    struct xml *body = holder_body(p, "Failed to add bullet points");
    size_t n = points ? points->n : 0;

    if (!body)
        return;
    struct xml *first = text_clear(p->slide.doc, body);
    for (size_t i = 0; i < n; i++) {
        struct str text = json_str(&points->items[i], STR(""));
        (void)text_add_paragraph(p->slide.doc, body, text);
    }
    /* The paragraph that was kept would be a point without text. */
    if (n > 0)
        xml_remove(first);
    pp_text(p, "message", "Added %zu bullet points to placeholder %lld on slide %lld", n,
            (long long)json_int(pp_arg(p, "placeholder_idx"), 0), (long long)p->slide_index);
}

/* ---- formats ---- */

static int arg_bool(const struct json *v)
{
    if (!json_is(v, JSON_BOOL))
        return TEXT_KEEP;
    return v->b ? TEXT_YES : TEXT_NO;
}

bool pp_text_args(struct pp *p, struct text_format *f, char rgb[7])
{
    const struct json *size = pp_arg(p, "font_size"), *color = pp_arg(p, "color");

    *f = (struct text_format){.points = json_real(size, 0),
                              .font = pp_arg_str(p, "font_name"),
                              .bold = arg_bool(pp_arg(p, "bold")),
                              .italic = arg_bool(pp_arg(p, "italic")),
                              .underline = arg_bool(pp_arg(p, "underline")),
                              .align = text_align(pp_arg_str(p, "alignment")),
                              .anchor = text_anchor(pp_arg_str(p, "vertical_alignment"))};
    if (size && f->points <= 0) {
        pp_error(p, "Parameter 'font_size': must be a positive integer");
        return false;
    }
    if (color && !pp_rgb(color, rgb)) {
        pp_error(p, "Parameter 'color': must be a valid RGB list [R, G, B] with values 0-255");
        return false;
    }
    f->rgb = color ? rgb : NULL;
    return true;
}

static void manage_add(struct pp *p, const struct text_format *f, const char *background)
{
    struct shape_new n = {"TextBox", pp_box(p), "rect", true};
    struct xml *shape = shape_add(&p->slide, &n), *body = text_body(shape);
    struct xml_doc *doc = p->slide.doc;
    struct str text = pp_arg_str(p, "text");

    if (!body) {
        pp_error(p, "Failed to add text: the slide or the memory is full");
        return;
    }
    text_set(doc, body, text.p ? text : STR(""));
    text_format(doc, body, f);
    if (json_bool(pp_arg(p, "auto_fit"), true))
        (void)xml_add(doc, xml_child(body, "a:bodyPr"), "a:normAutofit");
    if (background)
        (void)shape_fill(doc, shape_properties(shape), shape_order, background);
    pp_text(p, "message", "Added text box to slide %lld", (long long)p->slide_index);
    pp_int(p, "shape_index", (int64_t)shape_count(&p->slide) - 1);
    pp_text(p, "text", STR_FMT, STR_ARG(text));
}

static void manage_format(struct pp *p, const struct text_format *f, const char *background)
{
    struct xml *body = text_need(p->slide.doc, p->shape);

    if (!body) {
        pp_error(p, "Failed to format text: Shape does not contain text");
        return;
    }
    text_format(p->slide.doc, body, f);
    if (background)
        (void)shape_fill(p->slide.doc, shape_properties(p->shape), shape_order, background);
    pp_text(p, "message", "Formatted text shape %lld on slide %lld", (long long)p->shape_index,
            (long long)p->slide_index);
}

/* ---- runs ---- */

static void add_formatted(struct pp *p, struct xml *body, const struct json *run)
{
    struct xml_doc *doc = p->slide.doc;
    char rgb[7];
    struct text_format f = {.points = json_real(json_get(run, "font_size"), 0),
                            .font = json_str(json_get(run, "font_name"), STR_NULL),
                            .bold = arg_bool(json_get(run, "bold")),
                            .italic = arg_bool(json_get(run, "italic")),
                            .underline = arg_bool(json_get(run, "underline"))};
    struct str link = json_str(json_get(run, "hyperlink"), STR(""));
    struct xml *paragraph = text_add_paragraph(doc, body, json_str(json_get(run, "text"), STR("")));

    if (pp_rgb(json_get(run, "color"), rgb))
        f.rgb = rgb;
    for (struct xml *r = xml_child(paragraph, "a:r"); r; r = xml_next(r, "a:r")) {
        text_format_run(doc, r, &f);
        if (link.len > 0)
            text_set_link(p->deck, &p->slide, r, link);
    }
}

static void manage_runs(struct pp *p)
{
    const struct json *runs = pp_arg(p, "text_runs");
    struct json *told = pp_array(p);

    if (!runs || runs->n == 0) {
        pp_error(p, "text_runs parameter is required for format_runs operation");
        return;
    }
    struct xml *body = text_need(p->slide.doc, p->shape);
    if (!body) {
        pp_error(p, "Shape does not contain text");
        return;
    }
    struct xml *first = text_clear(p->slide.doc, body);
    for (size_t i = 0; i < runs->n; i++) {
        const struct json *run = &runs->items[i];
        if (!json_get(run, "text"))
            continue;
        add_formatted(p, body, run);
        struct json *row = pp_object(p), *rest = json_copy(&p->c->arena, run);
        if (rest)
            (void)json_del(rest, STR("text"));
        pp_put(p, row, "text", json_get(run, "text"));
        pp_put(p, row, "formatting_applied", rest);
        pp_push(p, told, row);
    }
    if (told && told->n > 0)
        xml_remove(first);
    pp_text(p, "message", "Applied formatting to %u text runs on shape %lld", told ? told->n : 0,
            (long long)p->shape_index);
    pp_int(p, "slide_index", p->slide_index);
    pp_int(p, "shape_index", p->shape_index);
    pp_set(p, "formatted_runs", told);
}

/* ---- does it fit? ---- */

static size_t count_pp_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

struct fit {
    bool is_over, needs_work;
    int64_t points;             /* that would fit */
    double width, height, wide; /* of the shape, and what the text would need on one line */
    bool has_long_lines;
};

/* A rough guess: letters are 0.6 as wide as high. */
static struct fit guess_text_fit(struct pp *p, const struct xml *shape, struct str text,
                                 int64_t points)
{
    struct fit f = {.points = points};
    struct box box = {0};
    double n = (double)count_pp_chars(text);

    if (text.len == 0)
        return f;
    if (shape_box(p->deck, &p->slide, shape, &box)) {
        f.width = (double)box.cx / PP_EMU_POINT;
        f.height = (double)box.cy / PP_EMU_POINT;
        f.wide = n * (double)points * 0.6;
        f.is_over = f.needs_work = f.wide > f.width;
    }
    if (f.is_over) {
        f.points = (int64_t)(f.width / n * 0.8);
        f.points = f.points < 8 ? 8 : f.points;
    }
    while (text.p)
        f.has_long_lines = f.has_long_lines || count_pp_chars(str_cut(&text, '\n')) > 100;
    f.needs_work = f.needs_work || f.has_long_lines;
    return f;
}

static void tell_fit(struct pp *p, const struct fit *f)
{
    struct arena *a = &p->c->arena;
    struct json *warnings = pp_array(p), *size = json_new_null(a);

    if (f->is_over) {
        size = pp_object(p);
        pp_put(p, size, "width", json_new_real(a, f->wide * 1.2));
        pp_put(p, size, "height", json_new_real(a, f->height));
        pp_push_str(p, warnings,
                    arena_printf(a,
                                 "Text may overflow. Consider font size %lld or increase width to "
                                 "%.1f points",
                                 (long long)f->points, f->wide * 1.2));
    }
    if (f->has_long_lines)
        pp_push_str(p, warnings, STR("Very long lines detected. Consider adding line breaks."));
    pp_bool(p, "fits", !f->is_over);
    pp_bool(p, "estimated_overflow", f->is_over);
    pp_int(p, "suggested_font_size", f->points);
    pp_set(p, "suggested_dimensions", size);
    pp_set(p, "warnings", warnings);
    pp_bool(p, "needs_optimization", f->needs_work);
}

/* Gives every text of the slide that does not fit the size that would. */
static void fix_slide(struct pp *p)
{
    int64_t least = json_int(pp_arg(p, "min_font_size"), 8);
    int64_t most = json_int(pp_arg(p, "max_font_size"), 72), i = 0;
    struct json *issues = pp_array(p), *fixes = pp_array(p);
    struct arena *a = &p->c->arena;

    for (struct xml *x = shape_at(&p->slide, 0); x; x = shape_next(x), i++) {
        struct fit f = guess_text_fit(p, x, text_strip(text_get(a, text_body(x))), 12);
        if (!f.needs_work)
            continue;
        int64_t points = f.points > most ? most : f.points;
        struct text_format format = TEXT_FORMAT_KEEP;
        format.points = (double)(points < least ? least : points);
        text_format(p->slide.doc, text_body(x), &format);
        pp_push_str(p, issues,
                    arena_printf(a, "Shape %lld: Text may not fit properly", (long long)i));
        pp_push_str(p, fixes,
                    arena_printf(a, "Shape %lld: Adjusted font size to %lldpt", (long long)i,
                                 (long long)format.points));
    }
    pp_bool(p, "validation_passed", !issues || issues->n == 0);
    pp_set(p, "issues_found", issues);
    pp_set(p, "fixes_applied", fixes);
    pp_int(p, "shapes_processed", i);
    pp_int(p, "text_shapes_optimized", fixes ? fixes->n : 0);
    pp_text(p, "summary", "Found %u issues, applied %u fixes", issues ? issues->n : 0,
            fixes ? fixes->n : 0);
}

static void manage_validate(struct pp *p)
{
    struct str text = pp_arg_str(p, "text");

    if (text.len == 0)
        text = text_get(&p->c->arena, text_body(p->shape));
    struct fit f = guess_text_fit(p, p->shape, text, json_int(pp_arg(p, "font_size"), 12));
    tell_fit(p, &f);
    if (f.needs_work && !json_bool(pp_arg(p, "validation_only"), false))
        fix_slide(p);
}

static bool needs_shape(struct pp *p, const char *what)
{
    const struct json *index = pp_arg(p, "shape_index");
    size_t n = shape_count(&p->slide);

    p->shape_index = json_int(index, -1);
    p->shape = p->shape_index >= 0 ? shape_at(&p->slide, (size_t)p->shape_index) : NULL;
    if (!p->shape && !index)
        pp_error(p, "Invalid shape index for %s: None. Available shapes: 0-%lld", what,
                 (long long)n - 1);
    else if (!p->shape)
        pp_error(p, "Invalid shape index for %s: %lld. Available shapes: 0-%lld", what,
                 (long long)p->shape_index, (long long)n - 1);
    return p->shape != NULL;
}

void pp_manage_text(struct pp *p)
{
    struct str operation = pp_arg_str(p, "operation");
    const struct json *background = pp_arg(p, "bg_color");
    struct text_format f;
    char rgb[7], fill[7];

    if (!pp_text_args(p, &f, rgb))
        return;
    if (background && !pp_rgb(background, fill)) {
        pp_error(p, "Parameter 'bg_color': must be a valid RGB list [R, G, B] with values 0-255");
        return;
    }
    if (str_is(operation, "add"))
        manage_add(p, &f, background ? fill : NULL);
    else if (str_is(operation, "format") && needs_shape(p, "formatting"))
        manage_format(p, &f, background ? fill : NULL);
    else if (str_is(operation, "validate") && needs_shape(p, "validation"))
        manage_validate(p);
    else if (str_is(operation, "format_runs") && needs_shape(p, "format_runs"))
        manage_runs(p);
    else if (!pp_failed(p))
        pp_error(p,
                 "Invalid operation: " STR_FMT
                 ". Must be 'add', 'format', 'validate', or 'format_runs'",
                 STR_ARG(operation));
}

/* ---- optimize_slide_text ---- */

int64_t pp_best_points(struct str text, const struct box *box, int64_t least, int64_t most)
{
    double width = (double)box->cx / PP_EMU_POINT - 14, height = (double)box->cy / PP_EMU_POINT - 7;

    for (int64_t points = most; points > least; points--) {
        double lines = 0, per_line = width / ((double)points * 0.5);
        for (struct str rest = text; rest.p;) {
            double n = (double)count_pp_chars(str_cut(&rest, '\n'));
            lines += per_line < 1 ? n : 1 + floor(n / per_line);
        }
        if (lines * (double)points * 1.2 <= height)
            return points;
    }
    return least;
}

struct settings {
    bool resize, wrap, spacing;
    int64_t least, most;
};

static void optimize_shape(struct pp *p, struct xml *shape, struct json *told,
                           const struct settings *set)
{
    struct arena *a = &p->c->arena;
    struct xml *body = text_body(shape), *properties = xml_child(body, "a:bodyPr");
    struct str text = text_get(a, body), wrap = xml_get(properties, "wrap");
    struct text_format f = TEXT_FORMAT_KEEP;
    struct box box;
    size_t n = count_pp_chars(text);

    if (set->resize && shape_box(p->deck, &p->slide, shape, &box)) {
        int64_t points = pp_best_points(text, &box, set->least, set->most);
        f.points = (double)points;
        text_format(p->slide.doc, body, &f);
        pp_push_str(p, told, arena_printf(a, "Font resized to %lldpt", (long long)points));
    }
    if (set->wrap && wrap.p && str_is(wrap, "none")) {
        xml_set(p->slide.doc, properties, "wrap", STR("square"));
        pp_push_str(p, told, STR("Text wrapped automatically"));
    }
    if (set->spacing) {
        int percent = n > 300 ? 140 : n > 150 ? 130 : 120;
        text_spacing(p->slide.doc, body, percent);
        pp_push_str(p, told, arena_printf(a, "Line spacing set to 1.%d", percent / 10 - 10));
    }
}

void pp_optimize_slide_text(struct pp *p)
{
    struct settings set = {
        json_bool(pp_arg(p, "auto_resize"), true), json_bool(pp_arg(p, "auto_wrap"), true),
        json_bool(pp_arg(p, "optimize_spacing"), true), json_int(pp_arg(p, "min_font_size"), 8),
        json_int(pp_arg(p, "max_font_size"), 36)};
    struct json *all = pp_array(p), *told = pp_object(p);
    int64_t i = 0;

    if (set.least < 1 || set.most < set.least || set.most > 400) {
        pp_error(p, "Failed to optimize slide text: font sizes must be 1 to 400, in order");
        return;
    }
    for (struct xml *x = shape_at(&p->slide, 0); x; x = shape_next(x), i++) {
        struct json *row = pp_object(p), *done = pp_array(p);
        if (text_get(&p->c->arena, text_body(x)).len == 0)
            continue;
        optimize_shape(p, x, done, &set);
        pp_put_int(p, row, "shape_index", i);
        pp_put(p, row, "optimizations", done);
        if (done && done->n > 0)
            pp_push(p, all, row);
    }
    pp_put(p, told, "auto_resize", json_new_bool(&p->c->arena, set.resize));
    pp_put(p, told, "auto_wrap", json_new_bool(&p->c->arena, set.wrap));
    pp_put(p, told, "optimize_spacing", json_new_bool(&p->c->arena, set.spacing));
    pp_put_str(
        p, told, "font_size_range",
        arena_printf(&p->c->arena, "%lld-%lldpt", (long long)set.least, (long long)set.most));
    pp_text(p, "message", "Optimized %u text elements on slide %lld", all ? all->n : 0,
            (long long)p->slide_index);
    pp_int(p, "slide_index", p->slide_index);
    pp_set(p, "optimizations_applied", all);
    pp_set(p, "settings", told);
}
