/* SPDX-License-Identifier: MIT */
/* Tools for charts. */
#include "base/cleanup.h"
#include "local/powerpoint/chart.h"
#include "local/powerpoint/tools.h"

static bool check_chart(struct pp *p)
{
    struct str type = pp_arg_str(p, "chart_type");
    const struct json *names = pp_arg(p, "series_names"), *values = pp_arg(p, "series_values");
    const struct json *categories = pp_arg(p, "categories");
    size_t n_names = names ? names->n : 0, n_values = values ? values->n : 0;
    size_t n = categories ? categories->n : 0;

    if (!chart_is_kind(type))
        pp_error(p, "Invalid chart type: '" STR_FMT "'. Valid types are: " STR_FMT, STR_ARG(type),
                 STR_ARG(chart_kinds(&p->c->arena)));
    else if (n_names != n_values)
        pp_error(p, "Number of series names (%zu) must match number of series values (%zu)",
                 n_names, n_values);
    else if (n == 0)
        pp_error(p, "Categories list cannot be empty");
    else if (n_names > CHART_SERIES_MAX || n * (n_names + 1) > CHART_POINTS_MAX)
        pp_error(p, "Failed to add chart: it has too many values");
    for (size_t i = 0; i < n_values && !pp_failed(p); i++) {
        if (values->items[i].n != n)
            pp_error(p, "Series '" STR_FMT "' has %u values but there are %zu categories",
                     STR_ARG(json_str(json_at(names, i), STR(""))), values->items[i].n, n);
    }
    return !pp_failed(p);
}

static const char *legend_side(struct str word)
{
    static const char *const sides[][2] = {
        {"left", "l"}, {"top", "t"}, {"bottom", "b"}, {"right", "r"}};

    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        if (str_is(word, sides[i][0]))
            return sides[i][1];
    }
    return "r";
}

static void format_chart(struct pp *p, struct part *chart)
{
    static const char *const roles[] = {"primary", "accent1", "accent2", "secondary"};
    struct str scheme = pp_arg_str(p, "color_scheme");
    char colors[4][7];
    struct chart_look look = {.has_legend = json_bool(pp_arg(p, "has_legend"), true),
                              .has_labels = json_bool(pp_arg(p, "has_data_labels"), false),
                              .legend = legend_side(pp_arg_str(p, "legend_position")),
                              .title = pp_arg_str(p, "title"),
                              .x_title = pp_arg_str(p, "x_axis_title"),
                              .y_title = pp_arg_str(p, "y_axis_title"),
                              .n_colors = ARRAY_LEN(colors)};

    for (size_t i = 0; scheme.len > 0 && i < ARRAY_LEN(roles); i++) {
        memcpy(colors[i], scheme_color(scheme, str_of(roles[i])), 7);
        look.colors = (const char(*)[7])colors;
    }
    chart_format(p->deck, chart, &look);
}

void pp_add_chart(struct pp *p)
{
    const struct json *names = pp_arg(p, "series_names");
    struct str type = pp_arg_str(p, "chart_type");
    struct chart_data data = {.categories = pp_arg(p, "categories")};
    struct box box = pp_box(p);

    if (!check_chart(p))
        return;
    data.n_series = names ? names->n : 0;
    data.series = arena_zalloc(&p->c->arena, data.n_series + 1, sizeof *data.series);
    for (size_t i = 0; data.series && i < data.n_series; i++)
        data.series[i] = (struct chart_series){json_str(&names->items[i], STR("")),
                                               json_at(pp_arg(p, "series_values"), i)};
    struct xml *shape = data.series ? chart_add(p->deck, &p->slide, &box, type, &data) : NULL;
    struct part *chart = shape ? chart_of(p->deck, &p->slide, shape) : NULL;
    if (!chart) {
        pp_error(p, "Failed to add chart: the slide or the memory is full");
        return;
    }
    format_chart(p, chart);
    pp_text(p, "message", "Added " STR_FMT " chart to slide %lld", STR_ARG(type),
            (long long)p->slide_index);
    pp_int(p, "shape_index", (int64_t)shape_count(&p->slide) - 1);
    pp_text(p, "chart_type", STR_FMT, STR_ARG(type));
    pp_int(p, "series_count", (int64_t)data.n_series);
    pp_int(p, "categories_count", data.categories->n);
}

void pp_update_chart_data(struct pp *p)
{
    const struct json *series = pp_arg(p, "series_data");
    struct part *chart = chart_of(p->deck, &p->slide, p->shape);
    struct chart_data data = {pp_arg(p, "categories"), NULL, series ? series->n : 0};
    struct json *names = pp_array(p);

    if (!chart) {
        pp_error(p, "Shape is not a chart");
        return;
    }
    if (!data.categories || data.n_series > CHART_SERIES_MAX ||
        data.categories->n * (data.n_series + 1) > CHART_POINTS_MAX) {
        pp_error(p, "Failed to update chart data: there are too many values");
        return;
    }
    data.series = arena_zalloc(&p->c->arena, data.n_series + 1, sizeof *data.series);
    for (size_t i = 0; data.series && i < data.n_series; i++) {
        const struct json *name = json_get(&series->items[i], "name");
        const struct json *values = json_get(&series->items[i], "values");
        if (!name || !json_is(values, JSON_ARRAY)) {
            pp_error(p, "Each series must have 'name' and 'values' keys");
            return;
        }
        data.series[i] = (struct chart_series){json_str(name, STR("")), values};
        pp_push(p, names, name);
    }
    if (!data.series || chart_update(p->deck, chart, &data, &p->err) < 0) {
        pp_error(p, "Failed to update chart data: %s", err_text(&p->err));
        return;
    }
    pp_text(p, "message", "Updated chart data on slide %lld, shape %lld", (long long)p->slide_index,
            (long long)p->shape_index);
    pp_set(p, "categories", data.categories);
    pp_int(p, "series_count", (int64_t)data.n_series);
    pp_set(p, "series_names", names);
}
