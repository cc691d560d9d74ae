/* SPDX-License-Identifier: MIT */
/* The server "excel": how cells look. */
#include "base/cleanup.h"
#include "local/excel/excel.h"
#include "local/excel/styles.h"

static const char *const border_styles[] = {
    "dashDot",       "dashDotDot",       "dashed",       "dotted",       "double", "hair", "medium",
    "mediumDashDot", "mediumDashDotDot", "mediumDashed", "slantDashDot", "thick",  "thin", NULL};
static const char *const alignments[] = {"center",  "centerContinuous", "distributed", "fill",
                                         "general", "justify",          "left",        "right",
                                         NULL};

const char *excel_color(struct local_call *c, struct str given)
{
    struct str color = given;

    if (!str_starts(color, STR("FF")))
        color = arena_printf(&c->arena, "FF" STR_FMT, STR_ARG(given));
    if (color.len == 6)
        color = arena_printf(&c->arena, "00" STR_FMT, STR_ARG(color));
    for (size_t i = 0; i < color.len; i++) {
        if (!strchr("0123456789abcdefABCDEF", color.p[i]))
            return NULL;
    }
    return color.len == 8 ? arena_str(&c->arena, color).p : NULL;
}

/* GIVEN as one of LIST; NULL with the failure that openpyxl gives. */
static const char *one_of(struct local_call *c, const char *const *list, struct str given,
                          const char *what)
{
    auto_buf struct buf names = BUF_INIT(4096);

    for (size_t i = 0; list[i]; i++) {
        if (str_is(given, list[i]))
            return list[i];
        (void)buf_printf(&names, "%s'%s'", i > 0 ? ", " : "", list[i]);
    }
    excel_error(c, "Invalid %s settings: Value must be one of {" STR_FMT "}", what,
                STR_ARG(buf_str(&names)));
    return NULL;
}

/* A color of the arguments to *RET, which stays NULL when it is not given. */
static bool read_color(struct local_call *c, const char *arg, const char *what, const char **ret)
{
    struct str given = excel_arg(c, arg);

    if (given.len == 0)
        return true;
    *ret = excel_color(c, given);
    if (!*ret)
        excel_error(c, "Invalid %s: Colors must be aRGB hex values", what);
    return *ret != NULL;
}

static bool read_protection(struct local_call *c, struct style_change *s)
{
    const struct json *p = json_get(c->args, "protection");

    if (!json_is(p, JSON_OBJECT))
        return true;
    s->has_protection = s->is_locked = true;
    for (size_t i = 0; i < p->n; i++) {
        bool is_locked = str_is(p->members[i].key, "locked");
        if (!is_locked && !str_is(p->members[i].key, "hidden")) {
            excel_error(c, "__init__() got an unexpected keyword argument '" STR_FMT "'",
                        STR_ARG(p->members[i].key));
            return false;
        }
        *(is_locked ? &s->is_locked : &s->is_hidden) = json_bool(&p->members[i].value, is_locked);
    }
    return true;
}

static bool read_format_change(struct local_call *c, struct style_change *s)
{
    struct str border = excel_arg(c, "border_style"), align = excel_arg(c, "alignment");
    struct str format = excel_arg(c, "number_format");

    *s = (struct style_change){
        .has_font = true,
        .is_bold = local_bool(c, "bold"),
        .is_italic = local_bool(c, "italic"),
        .is_underlined = local_bool(c, "underline"),
        .font_size = local_int(c, "font_size", 0),
        .is_wrapped = local_bool(c, "wrap_text"),
        .number_format = format.len > 0 ? format.p : NULL,
        .border_color = "FF000000",
    };
    s->has_alignment = align.len > 0 || s->is_wrapped;
    if (!read_color(c, "font_color", "font color", &s->font_color) ||
        !read_color(c, "bg_color", "background color", &s->fill_color))
        return false;
    if (border.len > 0) {
        s->border_style = one_of(c, border_styles, border, "border");
        if (!s->border_style || !read_color(c, "border_color", "border settings", &s->border_color))
            return false;
    }
    if (align.len > 0) {
        s->horizontal = one_of(c, alignments, align, "alignment");
        if (!s->horizontal)
            return false;
    }
    return read_protection(c, s);
}

/* Ranges have few styles: what became of one is kept until another comes. */
static void format_cells(struct excel *x, struct range r, const struct style_change *s)
{
    int64_t old = -1, new = -1;

    for (struct ref at = {r.row, r.col}; at.row <= r.row2; at.row++) {
        for (at.col = r.col; at.col <= r.col2; at.col++) {
            struct xml *cell = sheet_need_cell(&x->book, x->sheet, at);
            int64_t base = xml_get_int(cell, "s", 0);
            if (base != old || new < 0)
                new = style_changed(&x->book, base, s);
            old = base;
            if (new >= 0)
                xml_setf(x->sheet->doc, cell, "s", "%lld", (long long)new);
        }
    }
}

/* An argument that must be a whole cell name. */
static bool check_cell(struct local_call *c, const char *arg, const char *what)
{
    struct str given = excel_arg(c, arg);
    struct ref at;

    if (ref_parse(given, &at))
        return true;
    excel_error(c, "Invalid %s cell reference: " STR_FMT, what, STR_ARG(given));
    return false;
}

void excel_format_range(struct local_call *c)
{
    const struct json *condition = json_get(c->args, "conditional_format");
    bool has_end = excel_arg(c, "end_cell").len > 0;
    struct err e = ERR_INIT;
    struct style_change s;
    struct excel x;
    struct range r;
    struct str bad;

    if (!check_cell(c, "start_cell", "start") || (has_end && !check_cell(c, "end_cell", "end")))
        return;
    if (!excel_edit_sheet(c, &x) || !read_format_change(c, &s) ||
        !excel_range(c, "start_cell", "end_cell", &r, &bad) || !excel_check_size(c, r))
        return;
    format_cells(&x, r, &s);
    if (local_bool(c, "merge_cells") && has_end)
        excel_merge(&x, r);
    struct str text = range_text(&c->arena, r);
    if (!has_end)
        text = ref_text(&c->arena, (struct ref){r.row, r.col});
    if (json_is(condition, JSON_OBJECT) && !excel_condition(&x, text, condition, &e)) {
        excel_error(c, "%s", err_text(&e));
        return;
    }
    excel_save(&x, STR("Range formatted successfully"));
}
