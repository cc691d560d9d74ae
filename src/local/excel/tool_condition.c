/* SPDX-License-Identifier: MIT */
/* The server "excel": conditional formats, by the parameters of openpyxl's rules. */
#include <errno.h>

#include "base/cleanup.h"
#include "local/excel/excel.h"
#include "local/excel/styles.h"

struct condition_rule {
    struct excel *x;
    const struct json *params;
    struct xml_doc *d;
    struct xml *node; /* cfRule */
    struct err *e;
};

/* A number or text of the parameters as text; .p is NULL without it. */
static struct str param(const struct condition_rule *r, const char *name)
{
    const struct json *v = json_get(r->params, name);
    auto_buf struct buf b = BUF_INIT(1 << 16);

    if (json_is(v, JSON_STRING))
        return v->s;
    if (!json_is_number(v))
        return STR_NULL;
    (void)json_write(&b, v, JSON_COMPACT);
    return arena_str(&r->x->call->arena, buf_str(&b));
}

/* cfvo: what a point of a scale is measured by. */
static void add_scale_point(const struct condition_rule *r, struct xml *parent, struct str type,
                            struct str value)
{
    struct xml *n = xml_add(r->d, parent, "cfvo");

    xml_set(r->d, n, "type", type.p ? type : STR("num"));
    if (value.p)
        xml_set(r->d, n, "val", value);
}

/* A color without the FF that format_range adds, as openpyxl takes it. */
static bool add_rule_color(struct condition_rule *r, struct xml *parent, struct str given)
{
    const char *color = excel_color(r->x->call, given);

    if (!color) {
        (void)err_set(r->e, -EINVAL, "Colors must be aRGB hex values");
        return false;
    }
    xml_set(r->d, xml_add(r->d, parent, "color"), "rgb", str_of(color));
    return true;
}

static bool color_scale(struct condition_rule *r)
{
    static const struct {
        const char *type, *value, *color;
    } points[] = {{"start_type", "start_value", "start_color"},
                  {"mid_type", "mid_value", "mid_color"},
                  {"end_type", "end_value", "end_color"}};
    struct xml *scale = xml_add(r->d, r->node, "colorScale");

    for (size_t i = 0; i < ARRAY_LEN(points); i++) {
        if (param(r, points[i].type).p)
            add_scale_point(r, scale, param(r, points[i].type), param(r, points[i].value));
    }
    for (size_t i = 0; i < ARRAY_LEN(points); i++) {
        struct str color = param(r, points[i].color);
        if (color.p && !add_rule_color(r, scale, color))
            return false;
    }
    if (xml_count(scale, "cfvo") >= 2 && xml_count(scale, "color") == xml_count(scale, "cfvo"))
        return true;
    (void)err_set(r->e, -EINVAL, "a color scale needs two or three types and as many colors");
    return false;
}

static bool data_bar(struct condition_rule *r)
{
    struct xml *bar = xml_add(r->d, r->node, "dataBar");
    struct str color = param(r, "color");

    if (json_get(r->params, "showValue"))
        xml_set(r->d, bar, "showValue",
                json_bool(json_get(r->params, "showValue"), true) ? STR("1") : STR("0"));
    struct str start = param(r, "start_type"), end = param(r, "end_type");
    add_scale_point(r, bar, start.p ? start : STR("min"), param(r, "start_value"));
    add_scale_point(r, bar, end.p ? end : STR("max"), param(r, "end_value"));
    return add_rule_color(r, bar, color.p ? color : STR("638EC6"));
}

static bool icon_set(struct condition_rule *r)
{
    struct xml *set = xml_add(r->d, r->node, "iconSet");
    struct str style = param(r, "icon_style"), type = param(r, "type");
    const struct json *values = json_get(r->params, "values");
    auto_buf struct buf b = BUF_INIT(256);

    xml_set(r->d, set, "iconSet", style.p ? style : STR("3TrafficLights1"));
    if (json_bool(json_get(r->params, "reverse"), false))
        xml_set(r->d, set, "reverse", STR("1"));
    if (!json_is(values, JSON_ARRAY) || values->n < 2 || values->n > 5) {
        (void)err_set(r->e, -EINVAL, "an icon set needs 'values'");
        return false;
    }
    for (size_t i = 0; i < values->n; i++) {
        buf_clear(&b);
        (void)json_write(&b, json_at(values, i), JSON_COMPACT);
        add_scale_point(r, set, type.p ? type : STR("percent"), buf_str(&b));
    }
    return true;
}

/* The look of cells that a rule holds for: a fill, or bold and colored text. */
static void add_condition_look(struct condition_rule *r)
{
    const struct json *fill = json_get(r->params, "fill"), *font = json_get(r->params, "font");
    struct local_call *c = r->x->call;
    const char *color = NULL;
    int64_t number = -1;

    if (json_is(fill, JSON_OBJECT))
        color = excel_color(c, json_str(json_get(fill, "fgColor"), STR("FFC7CE")));
    else if (json_is(fill, JSON_STRING))
        color = excel_color(c, fill->s);
    if (color) {
        number = style_dxf_fill(&r->x->book, color);
    } else if (json_is(font, JSON_OBJECT)) {
        struct str given = json_str(json_get(font, "color"), STR_NULL);
        const char *text = given.p ? excel_color(c, given) : NULL;
        struct str xml =
            arena_printf(&c->arena, "<font>%s%s%s%s</font>",
                         json_bool(json_get(font, "bold"), false) ? "<b/>" : "",
                         text ? "<color rgb=\"" : "", text ? text : "", text ? "\"/>" : "");
        number = xml.p ? style_dxf(&r->x->book, xml.p) : -1;
    }
    if (number >= 0)
        xml_setf(r->d, r->node, "dxfId", "%lld", (long long)number);
}

/* "formula": a list of them, or one. */
static bool add_formulas(struct condition_rule *r)
{
    const struct json *f = json_get(r->params, "formula");
    size_t n = json_is(f, JSON_ARRAY) ? f->n : f ? 1 : 0;
    auto_buf struct buf b = BUF_INIT(1 << 16);

    for (size_t i = 0; i < n && i < 3; i++) {
        const struct json *v = json_is(f, JSON_ARRAY) ? json_at(f, i) : f;
        buf_clear(&b);
        if (json_is(v, JSON_STRING))
            (void)buf_add_str(&b, str_starts(v->s, STR("=")) ? str_skip(v->s, 1) : v->s);
        else
            (void)json_write(&b, v, JSON_COMPACT);
        xml_set_text(r->d, xml_add(r->d, r->node, "formula"), buf_str(&b));
    }
    if (n == 0)
        (void)err_set(r->e, -EINVAL, "the rule needs a 'formula'");
    return n > 0;
}

static bool by_formula(struct condition_rule *r)
{
    add_condition_look(r);
    return add_formulas(r);
}

static bool cell_is(struct condition_rule *r)
{
    static const struct {
        const char *given, *name;
    } operators[] = {
        {">", "greaterThan"}, {">=", "greaterThanOrEqual"},
        {"<", "lessThan"},    {"<=", "lessThanOrEqual"},
        {"=", "equal"},       {"==", "equal"},
        {"!=", "notEqual"},
    };
    static const char *const names[] = {
        "greaterThan",  "greaterThanOrEqual", "lessThan", "lessThanOrEqual",
        "equal",        "notEqual",           "between",  "notBetween",
        "containsText", "beginsWith",         "endsWith"};
    struct str given = param(r, "operator");
    const char *name = NULL;

    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        name = str_is(given, operators[i].given) ? operators[i].name : name;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        name = str_is(given, names[i]) ? names[i] : name;
    if (!name) {
        (void)err_set(r->e, -EINVAL, "Value must be one of the operators of cell rules");
        return false;
    }
    add_condition_look(r);
    xml_set(r->d, r->node, "operator", str_of(name));
    return add_formulas(r);
}

static const struct {
    const char *type, *name; /* as agents and as files write it */
    bool (*add)(struct condition_rule *r);
} kinds[] = {
    {"color_scale", "colorScale", color_scale},
    {"data_bar", "dataBar", data_bar},
    {"icon_set", "iconSet", icon_set},
    {"formula", "expression", by_formula},
    {"cell_is", "cellIs", cell_is},
};

static int64_t next_priority(const struct sheet *s)
{
    int64_t top = 0;

    for (struct xml *n = NULL; (n = xml_walk(s->doc->root, n, "cfRule"));) {
        int64_t p = xml_get_int(n, "priority", 0);
        top = p > top ? p : top;
    }
    return top + 1;
}

bool excel_condition(struct excel *x, struct str range, const struct json *condition, struct err *e)
{
    struct str type = json_str(json_get(condition, "type"), STR(""));
    struct condition_rule r = {x, json_get(condition, "params"), x->sheet->doc, NULL, e};
    size_t i = 0;

    if (type.len == 0) {
        (void)err_set(e, -EINVAL, "Conditional format type not specified");
        return false;
    }
    while (i < ARRAY_LEN(kinds) && !str_is(type, kinds[i].type))
        i++;
    if (i == ARRAY_LEN(kinds)) {
        (void)err_set(
            e, -EINVAL,
            "Failed to apply conditional formatting: Invalid conditional format type: " STR_FMT,
            STR_ARG(type));
        return false;
    }
    int64_t priority = next_priority(x->sheet);
    struct xml *list = sheet_new_child(x->sheet, "conditionalFormatting");
    xml_set(r.d, list, "sqref", range);
    r.node = xml_add(r.d, list, "cfRule");
    xml_set(r.d, r.node, "type", str_of(kinds[i].name));
    xml_setf(r.d, r.node, "priority", "%lld", (long long)priority);
    if (json_bool(json_get(r.params, "stopIfTrue"), false))
        xml_set(r.d, r.node, "stopIfTrue", STR("1"));
    if (kinds[i].add(&r))
        return true;
    (void)err_ctx(e, -EINVAL, "Failed to apply conditional formatting");
    return false;
}
