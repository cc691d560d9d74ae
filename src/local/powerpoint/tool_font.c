/* SPDX-License-Identifier: MIT */
/* The tool for font files. */
#include <errno.h>

#include "base/cleanup.h"
#include "local/powerpoint/font.h"
#include "local/powerpoint/tools.h"

/* What "analyze" returns; a file that is not a font has "analysis_success": false. */
static struct json *analysis(struct pp *p, struct str path, struct str *bytes)
{
    struct json *o = pp_object(p);
    struct font_info info;
    struct str why = STR_NULL;
    const char *at = path_check(p->c, path.p ? path : STR(""), &why);
    int r = at ? path_read(p->c, at, bytes) : -EACCES;

    if (at && r < 0)
        why = path_error(p->c, r, "open", at, NULL);
    else if (at && (r = font_look(&p->c->arena, *bytes, &info, &p->err)) < 0)
        why = arena_printf(&p->c->arena, "%s", err_text(&p->err));
    pp_put_str(p, o, "file_path", path);
    if (r < 0) {
        pp_put(p, o, "analysis_success", json_new_bool(&p->c->arena, false));
        pp_put_str(p, o, "error", why);
        return o;
    }
    pp_put_str(p, o, "font_family", info.family);
    pp_put_str(p, o, "font_style", info.style);
    pp_put_int(p, o, "num_glyphs", info.n_glyphs);
    pp_put_int(p, o, "file_size", (int64_t)bytes->len);
    pp_put(p, o, "analysis_success", json_new_bool(&p->c->arena, true));
    return o;
}

static void optimize_font(struct pp *p, struct str path)
{
    auto_buf struct buf out = BUF_INIT(LOCAL_FILE_MAX);
    struct str text = pp_arg_str(p, "text_content"), output = pp_arg_str(p, "output_path");
    struct str bytes = STR_NULL;
    const struct json *told = analysis(p, path, &bytes);

    if (json_get(told, "error")) {
        pp_error(p, "Failed to optimize font: Font optimization failed: " STR_FMT,
                 STR_ARG(json_str(json_get(told, "error"), STR(""))));
        return;
    }
    if (output.len == 0)
        output = arena_printf(&p->c->arena, STR_FMT ".optimized.ttf", STR_ARG(path));
    const char *to = pp_path(p, output);
    if (!to)
        return;
    int r = font_shrink(&p->c->arena, bytes, text, &out, &p->err);
    if (r == 0)
        r = path_write(p->c, to, buf_str(&out));
    if (r < 0) {
        pp_error(p, "Failed to optimize font: Font optimization failed: %s",
                 p->err.code ? err_text(&p->err) : path_error(p->c, r, "open", to, NULL).p);
        return;
    }
    pp_text(p, "message", "Optimized font: " STR_FMT, STR_ARG(path));
    pp_text(p, "original_path", STR_FMT, STR_ARG(path));
    pp_text(p, "optimized_path", STR_FMT, STR_ARG(output));
}

static void recommend_font(struct pp *p, struct str path)
{
    static const struct {
        const char *type, *title, *subtitle, *body, *tip;
    } rows[] = {
        {"business", "24-36pt", "16-20pt", "12-16pt", "Few weights, much space around the text"},
        {"academic", "28-36pt", "18-24pt", "14-18pt", "Sizes that can be read in the last row"},
        {"creative", "36-60pt", "20-28pt", "14-18pt", "Let titles be large and texts short"},
    };
    struct str type = pp_arg_str(p, "presentation_type"), bytes = STR_NULL;
    struct json *o = pp_object(p), *sizes = pp_object(p), *uses = pp_array(p), *tips = pp_array(p);
    size_t row = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        row = str_is(type, rows[i].type) ? i : row;
    pp_put_str(p, sizes, "title", str_of(rows[row].title));
    pp_put_str(p, sizes, "subtitle", str_of(rows[row].subtitle));
    pp_put_str(p, sizes, "body", str_of(rows[row].body));
    pp_push_str(p, uses, STR("titles"));
    pp_push_str(p, uses, STR("body_text"));
    pp_push_str(p, uses, STR("captions"));
    pp_push_str(p, tips, str_of(rows[row].tip));
    pp_put(p, o, "suitable_for", uses);
    pp_put(p, o, "recommended_sizes", sizes);
    pp_put(p, o, "usage_tips", tips);
    pp_put_str(p, o, "compatibility", STR("good"));
    pp_set(p, "font_analysis", analysis(p, path, &bytes));
    pp_text(p, "presentation_type", STR_FMT, STR_ARG(type));
    pp_set(p, "recommendations", o);
}

void pp_manage_fonts(struct pp *p)
{
    struct str operation = pp_arg_str(p, "operation"), path = pp_arg_str(p, "font_path");
    struct str bytes = STR_NULL;

    if (str_is(operation, "analyze"))
        p->answer = analysis(p, path, &bytes);
    else if (str_is(operation, "optimize"))
        optimize_font(p, path);
    else if (str_is(operation, "recommend"))
        recommend_font(p, path);
    else
        pp_error(p, "Invalid operation: " STR_FMT ". Must be 'analyze', 'optimize', or 'recommend'",
                 STR_ARG(operation));
}
