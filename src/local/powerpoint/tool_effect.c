/* SPDX-License-Identifier: MIT */
/* Effects of pictures and other shapes. */
#include "base/cleanup.h"
#include "local/powerpoint/tools.h"

struct effect {
    struct pp *p;
    struct xml *look; /* p:spPr */
    const struct json *values;
    const char *fault; /* why it could not be applied */
};

static double value(const struct effect *e, const char *name, double fallback)
{
    double v = json_real(json_get(e->values, name), fallback);

    return v > -10000 && v < 10000 ? v : fallback;
}

static long long points(const struct effect *e, const char *name, double fallback)
{
    double v = value(e, name, fallback);

    return (long long)((v < 0 ? 0 : v) * PP_EMU_POINT);
}

/* A share of 1 in thousandths of a percent. */
static int share_in_thousandths(double v)
{
    return (int)((v < 0 ? 0 : v > 1 ? 1 : v) * 100000);
}

/* Places an effect of its own name among the others. */
static struct xml *place(struct effect *e, const char *name)
{
    static const char *const order[] = {"a:blur",       "a:fillOverlay", "a:glow",
                                        "a:innerShdw",  "a:outerShdw",   "a:prstShdw",
                                        "a:reflection", "a:softEdge",    NULL};
    struct xml_doc *doc = e->p->slide.doc;
    struct xml *list = xml_need(doc, e->look, "a:effectLst", shape_order);

    xml_remove_all(list, name);
    return xml_need(doc, list, name, order);
}

static void add_effect_color(struct effect *e, struct xml *node, const char *fallback, double clear)
{
    struct xml_doc *doc = e->p->slide.doc;
    char rgb[7];
    bool is_given = pp_rgb(json_get(e->values, "color"), rgb);
    struct xml *color = xml_add(doc, node, "a:srgbClr");

    xml_set(doc, color, "val", str_of(is_given ? rgb : fallback));
    xml_setf(doc, xml_add(doc, color, "a:alpha"), "val", "%d",
             share_in_thousandths(1 - value(e, "transparency", clear)));
}

static void shadow(struct effect *e)
{
    struct str type = json_str(json_get(e->values, "shadow_type"), STR("outer"));
    struct xml_doc *doc = e->p->slide.doc;
    struct xml *n = place(e, str_is(type, "inner") ? "a:innerShdw" : "a:outerShdw");
    double direction = value(e, "direction", 315);

    while (direction < 0)
        direction += 360;
    while (direction >= 360)
        direction -= 360;
    xml_setf(doc, n, "blurRad", "%lld", points(e, "blur_radius", 4));
    xml_setf(doc, n, "dist", "%lld", points(e, "distance", 3));
    xml_setf(doc, n, "dir", "%lld", (long long)(direction * 60000));
    add_effect_color(e, n, "000000", 0.6);
}

static void reflection(struct effect *e)
{
    struct xml_doc *doc = e->p->slide.doc;
    struct xml *n = place(e, "a:reflection");

    xml_setf(doc, n, "blurRad", "%lld", points(e, "blur", 4));
    xml_setf(doc, n, "stA", "%d", share_in_thousandths(1 - value(e, "transparency", 0.5)));
    xml_set(doc, n, "endA", STR("300"));
    xml_setf(doc, n, "endPos", "%d", share_in_thousandths(value(e, "size", 0.5)));
    xml_setf(doc, n, "dist", "%lld", points(e, "distance", 0));
    xml_set(doc, n, "dir", STR("5400000"));
    xml_set(doc, n, "sy", STR("-100000"));
    xml_set(doc, n, "algn", STR("bl"));
    xml_set(doc, n, "rotWithShape", STR("0"));
}

static void glow(struct effect *e)
{
    struct xml *n = place(e, "a:glow");

    xml_setf(e->p->slide.doc, n, "rad", "%lld", points(e, "size", 5));
    add_effect_color(e, n, "00B0F0", 0.4);
}

static void soft_edges(struct effect *e)
{
    xml_setf(e->p->slide.doc, place(e, "a:softEdge"), "rad", "%lld", points(e, "radius", 2.5));
}

static void rotation(struct effect *e)
{
    struct xml *x = xml_need(e->p->slide.doc, e->look, "a:xfrm", shape_order);

    xml_setf(e->p->slide.doc, x, "rot", "%lld", (long long)(value(e, "rotation", 0) * 60000));
}

static void transparency(struct effect *e)
{
    struct xml_doc *doc = e->p->slide.doc;
    int alpha = share_in_thousandths(1 - value(e, "transparency", 0));
    struct xml *blip = xml_path(e->p->shape, "p:blipFill/a:blip");
    struct xml *color = xml_child(xml_child(e->look, "a:solidFill"), NULL);

    if (blip) {
        xml_remove_all(blip, "a:alphaModFix");
        struct xml *n = xml_add_before(doc, blip, "a:alphaModFix", xml_child(blip, "a:extLst"));
        xml_setf(doc, n, "amt", "%d", alpha);
    } else if (color) {
        xml_remove_all(color, "a:alpha");
        xml_setf(doc, xml_add(doc, color, "a:alpha"), "val", "%d", alpha);
    } else {
        e->fault = "the shape is neither a picture nor filled with a color";
    }
}

static void bevel(struct effect *e)
{
    static const char *const types[] = {"circle", "relaxedInset", "slope",    "cross",
                                        "angle",  "softRound",    "convex",   "coolSlant",
                                        "divot",  "riblet",       "hardEdge", "artDeco"};
    struct str type = json_str(json_get(e->values, "bevel_type"), STR("circle"));
    struct xml_doc *doc = e->p->slide.doc;
    struct xml *n = xml_need(doc, e->look, "a:sp3d", shape_order);

    xml_remove_all(n, "a:bevelT");
    n = xml_add_before(doc, n, "a:bevelT", xml_child(n, NULL));
    xml_setf(doc, n, "w", "%lld", points(e, "width", 6));
    xml_setf(doc, n, "h", "%lld", points(e, "height", 6));
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_is(type, types[i]))
            xml_set(doc, n, "prst", type);
    }
}

static void filter_picture(struct effect *e)
{
    struct str type = json_str(json_get(e->values, "filter_type"), STR("none"));
    struct xml_doc *doc = e->p->slide.doc;
    struct xml *blip = xml_path(e->p->shape, "p:blipFill/a:blip");

    if (!blip) {
        e->fault = "the shape is no picture";
        return;
    }
    xml_remove_all(blip, "a:grayscl");
    xml_remove_all(blip, "a:duotone");
    if (str_is(type, "grayscale") || str_is(type, "black_white"))
        (void)xml_add_text(doc, blip, xml_child(blip, NULL), "<a:grayscl/>");
    else if (str_is(type, "sepia"))
        (void)xml_add_text(doc, blip, xml_child(blip, NULL),
                           "<a:duotone><a:srgbClr val=\"3B2A14\"/><a:srgbClr val=\"FFF0D8\"/>"
                           "</a:duotone>");
    else if (!str_is(type, "none"))
        e->fault = "filters are grayscale, sepia and none";
}

static const struct {
    const char *name;
    void (*apply)(struct effect *e);
} effects[] = {
    {"shadow", shadow},         {"reflection", reflection}, {"glow", glow},
    {"soft_edges", soft_edges}, {"rotation", rotation},     {"transparency", transparency},
    {"bevel", bevel},           {"filter", filter_picture},
};

void pp_apply_picture_effects(struct pp *p)
{
    const struct json *asked = pp_arg(p, "effects");
    struct json *done = pp_array(p), *warnings = pp_array(p);
    struct xml *look = shape_properties(p->shape);

    for (size_t i = 0; asked && i < asked->n; i++) {
        struct str name = asked->members[i].key;
        struct effect e = {p, look, &asked->members[i].value,
                           look ? NULL : "the shape cannot have effects"};
        bool is_known = false;
        for (size_t k = 0; k < ARRAY_LEN(effects) && !is_known; k++) {
            is_known = str_is(name, effects[k].name);
            if (is_known && look)
                effects[k].apply(&e);
        }
        if (!is_known)
            pp_push_str(p, warnings,
                        arena_printf(&p->c->arena, "Unknown effect type: " STR_FMT, STR_ARG(name)));
        else if (e.fault)
            pp_push_str(p, warnings,
                        arena_printf(&p->c->arena, "Failed to apply " STR_FMT " effect: %s",
                                     STR_ARG(name), e.fault));
        else
            pp_push_str(p, done, name);
    }
    pp_text(p, "message", "Applied %u effects to shape %lld on slide %lld", done ? done->n : 0,
            (long long)p->shape_index, (long long)p->slide_index);
    pp_set(p, "applied_effects", done);
    if (warnings && warnings->n > 0)
        pp_set(p, "warnings", warnings);
}
