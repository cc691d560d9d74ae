/* SPDX-License-Identifier: MIT */
/* Requests about what areas have besides values: one cell to look at, borders, rules, a filter. */
#include <errno.h>

#include "apps/products/sheets/sheets_internal.h"

/* ---- merged cells ---- */

/* Forgets merged areas within R; -EINVAL when one is only partly in it. */
static int unmerge(struct sheets *b, struct sheet *s, const struct range *r)
{
    for (size_t i = s->n_features; i-- > 0;) {
        const struct feature *f = &s->features[i];
        if (!str_is(f->kind, "merge") || !grid_meets(&f->range, r))
            continue;
        if (!grid_is_within(&f->range, r))
            return sheets_fail(b, "You must select all cells in a merged range to merge or unmerge "
                                  "them.");
        sheets_drop_feature(s, i);
    }
    return 0;
}

/* Only the first cell keeps its value. */
static int merge_range(struct sheets *b, struct sheet *s, struct range r)
{
    struct feature f = {STR("merge"), r, json_new_object(b->arena)};

    if (!f.body)
        return sheets_no_memory(b);
    if (r.row1 - r.row0 == 1 && r.col1 - r.col0 == 1)
        return 0;
    if (!sheets_charge(b, s->n_cells))
        return -EINVAL;
    for (size_t i = 0; i < s->n_cells; i++) {
        struct cell *c = &s->cells[i];
        if (grid_has(&r, c->row, c->col) && (c->row != r.row0 || c->col != r.col0))
            sheets_clear(c);
    }
    return sheets_add_feature(b, s, f) ? 0 : -EINVAL;
}

static int merge_cells(struct sheets *b, const struct json *body)
{
    struct str type = json_str(json_get(body, "mergeType"), STR("MERGE_ALL"));
    struct range r;
    struct sheet *s = grid_range(b, json_get(body, "range"), &r);

    if (!s)
        return -EINVAL;
    r = grid_close(s, r);
    int done = unmerge(b, s, &r);
    if (done < 0)
        return done;
    if (str_is(type, "MERGE_ROWS")) {
        for (uint32_t i = r.row0; done == 0 && i < r.row1; i++)
            done = merge_range(b, s, (struct range){i, r.col0, i + 1, r.col1});
    } else if (str_is(type, "MERGE_COLUMNS")) {
        for (uint32_t i = r.col0; done == 0 && i < r.col1; i++)
            done = merge_range(b, s, (struct range){r.row0, i, r.row1, i + 1});
    } else if (str_is(type, "MERGE_ALL")) {
        done = merge_range(b, s, r);
    } else {
        done = sheets_fail(b, "Invalid mergeType.");
    }
    sheets_compact(s);
    return done;
}

static int unmerge_cells(struct sheets *b, const struct json *body)
{
    struct range r;
    struct sheet *s = grid_range(b, json_get(body, "range"), &r);

    if (!s)
        return -EINVAL;
    r = grid_close(s, r);
    return unmerge(b, s, &r);
}

/* ---- borders ---- */

/* The member PATH of all cells of R is VALUE. */
static int set_cell_format(struct sheets *b, struct sheet *s, struct range r, const char *path,
                           const struct json *value)
{
    struct json *data = json_new_object(b->arena);
    struct str text = str_of(path);
    struct mask m = {.paths = &text, .n = 1};

    if (!data || sheets_set_path(b->arena, data, text, value) < 0)
        return sheets_no_memory(b);
    return r.row0 < r.row1 && r.col0 < r.col1 ? cells_dress(b, s, &r, &m, data) : 0;
}

static int update_borders(struct sheets *b, const struct json *body)
{
    struct range r;
    struct sheet *s = grid_range(b, json_get(body, "range"), &r);
    int done = 0;

    if (!s)
        return -EINVAL;
    r = grid_close(s, r);
    const struct {
        const char *name, *path;
        struct range range;
    } sides[] = {
        {"top", "userEnteredFormat.borders.top", {r.row0, r.col0, r.row0 + 1, r.col1}},
        {"bottom", "userEnteredFormat.borders.bottom", {r.row1 - 1, r.col0, r.row1, r.col1}},
        {"left", "userEnteredFormat.borders.left", {r.row0, r.col0, r.row1, r.col0 + 1}},
        {"right", "userEnteredFormat.borders.right", {r.row0, r.col1 - 1, r.row1, r.col1}},
        {"innerHorizontal",
         "userEnteredFormat.borders.bottom",
         {r.row0, r.col0, r.row1 - 1, r.col1}},
        {"innerHorizontal", "userEnteredFormat.borders.top", {r.row0 + 1, r.col0, r.row1, r.col1}},
        {"innerVertical", "userEnteredFormat.borders.right", {r.row0, r.col0, r.row1, r.col1 - 1}},
        {"innerVertical", "userEnteredFormat.borders.left", {r.row0, r.col0 + 1, r.row1, r.col1}},
    };
    for (size_t i = 0; done == 0 && i < ARRAY_LEN(sides); i++) {
        const struct json *border = json_get(body, sides[i].name);
        if (border)
            done = set_cell_format(b, s, sides[i].range, sides[i].path, border);
    }
    return done;
}

/* ---- what may be entered ---- */

static int set_data_validation(struct sheets *b, const struct json *body)
{
    static const struct json none = {.type = JSON_NULL};
    const struct json *rule = json_get(body, "rule");
    struct range r;
    struct sheet *s = grid_range(b, json_get(body, "range"), &r);

    if (!s)
        return -EINVAL;
    if (rule && !json_is(json_get(rule, "condition"), JSON_OBJECT))
        return sheets_fail(b, "A data validation rule must have a condition.");
    return set_cell_format(b, s, r, "dataValidation", rule ? rule : &none);
}

/* ---- conditional formats ---- */

static int64_t rule_index(const struct feature *f)
{
    return str_is(f->kind, "conditional") ? json_int(json_get(f->body, "index"), 0) : -1;
}

/* Rules from FROM on have BY more places before them. */
static int move_rules(struct sheets *b, struct sheet *s, int64_t from, int64_t by)
{
    for (size_t i = 0; i < s->n_features; i++) {
        struct feature *f = &s->features[i];
        int64_t index = rule_index(f);
        if (index < from)
            continue;
        struct json *body = json_copy(b->arena, f->body);
        if (!body || json_set(b->arena, body, "index", json_new_int(b->arena, index + by)) < 0)
            return sheets_no_memory(b);
        f->body = body;
    }
    return 0;
}

static int64_t count_rules(const struct sheet *s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s->n_features; i++)
        n = rule_index(&s->features[i]) >= n ? rule_index(&s->features[i]) + 1 : n;
    return n;
}

/* RULE without its ranges, at its place. */
static struct json *new_rule(struct sheets *b, const struct json *rule, int64_t index)
{
    struct json *body = json_new_object(b->arena), *kept = json_copy(b->arena, rule);

    if (!body || !kept)
        return NULL;
    (void)json_del(kept, STR("ranges"));
    if (json_set(b->arena, body, "index", json_new_int(b->arena, index)) < 0 ||
        json_set(b->arena, body, "rule", kept) < 0)
        return NULL;
    return body;
}

static int add_conditional_format_rule(struct sheets *b, const struct json *body)
{
    const struct json *rule = json_get(body, "rule"), *ranges = json_get(rule, "ranges");
    struct range r;
    struct sheet *s = grid_range(b, json_at(ranges, 0), &r), *other;
    int64_t index = json_int(json_get(body, "index"), 0);

    if (!s)
        return -EINVAL;
    if (!json_get(rule, "booleanRule") == !json_get(rule, "gradientRule"))
        return sheets_fail(b, "A rule must have either a booleanRule or a gradientRule.");
    if (index < 0 || index > count_rules(s))
        return sheets_fail(b, "No conditional format on sheet: %lld at index: %lld",
                           (long long)s->id, (long long)index);
    int done = move_rules(b, s, index, 1);
    for (size_t i = 0; done == 0 && i < ranges->n; i++) {
        struct feature f = {STR("conditional"), {0}, new_rule(b, rule, index)};
        other = grid_range(b, json_at(ranges, i), &f.range);
        if (!other)
            return -EINVAL;
        if (other != s)
            return sheets_fail(b, "All ranges must be on the same sheet.");
        if (!f.body)
            return sheets_no_memory(b);
        done = sheets_add_feature(b, s, f) ? 0 : -EINVAL;
    }
    return done;
}

static int delete_conditional_format_rule(struct sheets *b, const struct json *body)
{
    struct sheet *s = sheets_sheet(b, json_get(body, "sheetId"));
    int64_t index = json_int(json_get(body, "index"), 0);
    const struct json *rule = NULL;

    if (!s)
        return -EINVAL;
    for (size_t i = s->n_features; i-- > 0;) {
        if (rule_index(&s->features[i]) != index)
            continue;
        rule = json_get(s->features[i].body, "rule");
        sheets_drop_feature(s, i);
    }
    if (!rule)
        return sheets_fail(b, "No conditional format on sheet: %lld at index: %lld",
                           (long long)s->id, (long long)index);
    struct json *told = json_new_object(b->arena);
    if (!told || json_set(b->arena, told, "rule", rule) < 0 ||
        json_set(b->arena, b->reply, b->name, told) < 0)
        return sheets_no_memory(b);
    return move_rules(b, s, index, -1);
}

/* ---- the filter of a sheet ---- */

static void drop_filter(struct sheet *s)
{
    for (size_t i = s->n_features; i-- > 0;) {
        if (str_is(s->features[i].kind, "filter"))
            sheets_drop_feature(s, i);
    }
}

static int set_basic_filter(struct sheets *b, const struct json *body)
{
    const struct json *filter = json_get(body, "filter");
    struct feature f = {.kind = STR("filter")};
    struct sheet *s = grid_range(b, json_get(filter, "range"), &f.range);
    struct json *kept = json_copy(b->arena, filter);

    if (!s || !kept)
        return s ? sheets_no_memory(b) : -EINVAL;
    (void)json_del(kept, STR("range"));
    f.body = kept;
    drop_filter(s);
    return sheets_add_feature(b, s, f) ? 0 : -EINVAL;
}

static int clear_basic_filter(struct sheets *b, const struct json *body)
{
    struct sheet *s = sheets_sheet(b, json_get(body, "sheetId"));

    if (!s)
        return -EINVAL;
    drop_filter(s);
    return 0;
}

const struct request requests_of_features[] = {
    {"addConditionalFormatRule", add_conditional_format_rule},
    {"clearBasicFilter", clear_basic_filter},
    {"deleteConditionalFormatRule", delete_conditional_format_rule},
    {"mergeCells", merge_cells},
    {"setBasicFilter", set_basic_filter},
    {"setDataValidation", set_data_validation},
    {"unmergeCells", unmerge_cells},
    {"updateBorders", update_borders},
    {NULL, NULL},
};
