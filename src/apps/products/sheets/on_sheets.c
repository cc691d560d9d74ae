/* SPDX-License-Identifier: MIT */
/* Requests about whole sheets, and the spreadsheet itself. */
#include <errno.h>

#include "apps/products/sheets/sheets_internal.h"

/* ---- properties ---- */

/* SheetProperties that are kept as they are given. */
static const char *const kept[] = {
    "hidden",
    "rightToLeft",
    "tabColor",
    "tabColorStyle",
    "gridProperties.frozenRowCount",
    "gridProperties.frozenColumnCount",
    "gridProperties.hideGridlines",
    "gridProperties.rowGroupControlAfter",
    "gridProperties.columnGroupControlAfter",
};

static int set_sheet_member(struct sheets *b, struct json *object, const char *path,
                            const struct json *value)
{
    return value && sheets_set_path(b->arena, object, str_of(path), value) == 0
               ? 0
               : sheets_no_memory(b);
}

/* SheetProperties, for replies. */
static int write_properties(struct sheets *b, const struct sheet *s, struct json *to)
{
    struct arena *a = b->arena;
    int r = set_sheet_member(b, to, "sheetId", json_new_int(a, s->id));

    r = r < 0 ? r : set_sheet_member(b, to, "title", json_new_str(a, s->title));
    r = r < 0 ? r : set_sheet_member(b, to, "index", json_new_int(a, (int64_t)sheets_index(b, s)));
    r = r < 0 ? r : set_sheet_member(b, to, "sheetType", json_new_str(a, STR("GRID")));
    r = r < 0 ? r : set_sheet_member(b, to, "gridProperties.rowCount", json_new_int(a, s->rows));
    r = r < 0 ? r : set_sheet_member(b, to, "gridProperties.columnCount", json_new_int(a, s->cols));
    for (size_t i = 0; r == 0 && i < s->n_features; i++) {
        const struct feature *f = &s->features[i];
        if (!str_is(f->kind, "properties"))
            continue;
        for (size_t k = 0; r == 0 && k < f->body->n; k++)
            r = sheets_set_path(a, to, f->body->members[k].key, &f->body->members[k].value);
    }
    return r;
}

/* {NAME: {"properties": …}} */
static int reply_with_sheet(struct sheets *b, const struct sheet *s)
{
    struct json *body = json_new_object(b->arena), *properties = json_new_object(b->arena);

    if (!body || !properties)
        return sheets_no_memory(b);
    int r = write_properties(b, s, properties);
    if (r == 0 && (json_set(b->arena, body, "properties", properties) < 0 ||
                   json_set(b->arena, b->reply, b->name, body) < 0))
        r = sheets_no_memory(b);
    return r;
}

static size_t count_characters(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static bool is_title_taken(const struct sheets *b, struct str title, const struct sheet *but)
{
    bool is_there = false;

    for (size_t i = 0; i < b->n_sheets; i++)
        is_there = is_there || (b->sheets[i] != but && str_ieq(b->sheets[i]->title, title));
    return is_there;
}

static int check_title(struct sheets *b, struct str title, const struct sheet *of)
{
    if (title.len == 0)
        return sheets_fail(b, "Sheet names must not be empty.");
    if (count_characters(title) > 100)
        return sheets_fail(b, "Sheet names must not have more than 100 characters.");
    if (is_title_taken(b, title, of))
        return sheets_fail(
            b, "A sheet with the name \"" STR_FMT "\" already exists. Please enter another name.",
            STR_ARG(title));
    return 0;
}

/* ---- what properties can be set ---- */

static int rename_sheet(struct sheets *b, struct sheet *s, const struct json *value)
{
    struct str title = json_str(value, STR(""));
    struct formula_edit edit = {.kind = FORMULA_EDIT_RENAME, .sheet = s->title, .name = title};
    int r = check_title(b, title, s);

    r = r < 0 ? r : sheets_edit(b, &edit);
    if (r == 0)
        s->title = title;
    return r;
}

static void move_to(struct sheets *b, size_t from, size_t to)
{
    struct sheet *s = b->sheets[from];

    memmove(b->sheets + from, b->sheets + from + 1, (b->n_sheets - from - 1) * sizeof s);
    memmove(b->sheets + to + 1, b->sheets + to, (b->n_sheets - to - 1) * sizeof s);
    b->sheets[to] = s;
}

/* The index counts the places before the sheet is taken away from its own. */
static int move_sheet(struct sheets *b, struct sheet *s, const struct json *value)
{
    int64_t index = json_int(value, -1);
    size_t from = sheets_index(b, s);

    if (index < 0 || index > (int64_t)b->n_sheets)
        return sheets_fail(b, "The index of a sheet must be from 0 to %zu.", b->n_sheets);
    move_to(b, from, (size_t)index - ((size_t)index > from));
    return 0;
}

/* Cells and features beyond the new size are gone. */
static int resize_sheet(struct sheets *b, struct sheet *s, const struct json *value, bool is_rows)
{
    int64_t size = json_int(value, 0);
    uint32_t *now = is_rows ? &s->rows : &s->cols, other = is_rows ? s->cols : s->rows;

    if (size < 1 || size > (is_rows ? A1_MAX_ROWS : A1_MAX_COLUMNS))
        return sheets_fail(b, "Invalid %s: %lld", is_rows ? "rowCount" : "columnCount",
                           (long long)size);
    if (size > *now && !sheets_may_grow(b, (uint64_t)(size - *now) * other))
        return -EINVAL;
    *now = (uint32_t)size;
    for (size_t i = 0; i < s->n_cells; i++) {
        if (s->cells[i].row >= s->rows || s->cells[i].col >= s->cols)
            sheets_clear(&s->cells[i]);
    }
    sheets_compact(s);
    for (size_t i = s->n_features; i-- > 0;) {
        if (s->features[i].range.row0 >= s->rows || s->features[i].range.col0 >= s->cols)
            sheets_drop_feature(s, i);
    }
    return 0;
}

/* Of "*" only what is given, of everything else also that it is not. */
static const struct json *is_property_wanted(const struct mask *m, const struct json *properties,
                                             const char *path)
{
    static const struct json none = {.type = JSON_NULL};
    const struct json *value = mask_value(properties, str_of(path));

    if (!mask_has(m, path) || (m->is_all && !value))
        return NULL;
    return value ? value : &none;
}

static int keep_sheet_properties(struct sheets *b, struct sheet *s, const struct mask *m,
                                 const struct json *properties)
{
    struct json *body = json_new_object(b->arena);
    const struct json *value;
    struct feature f = {STR("properties"), {0, 0, A1_OPEN, A1_OPEN}, body};

    if (!body)
        return sheets_no_memory(b);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        if ((value = is_property_wanted(m, properties, kept[i])) &&
            json_set(b->arena, body, kept[i], value) < 0)
            return sheets_no_memory(b);
    }
    return body->n == 0 || sheets_add_feature(b, s, f) ? 0 : -EINVAL;
}

/* Every path of M has to mean something. */
static int check_mask(struct sheets *b, const struct mask *m)
{
    static const char *const others[] = {"title", "index", "gridProperties.rowCount",
                                         "gridProperties.columnCount"};

    for (size_t i = 0; !m->is_all && i < m->n; i++) {
        struct mask one = {.paths = &m->paths[i], .n = 1};
        bool is_known = false;
        for (size_t k = 0; k < ARRAY_LEN(others); k++)
            is_known = is_known || mask_has(&one, others[k]);
        for (size_t k = 0; k < ARRAY_LEN(kept); k++)
            is_known =
                is_known || mask_has(&one, kept[k]) || str_starts(m->paths[i], str_of(kept[k]));
        if (!is_known)
            return sheets_fail(b, "field '" STR_FMT "' is not supported here",
                               STR_ARG(m->paths[i]));
    }
    return 0;
}

static int set_properties(struct sheets *b, struct sheet *s, const struct mask *m,
                          const struct json *properties)
{
    const struct json *v;
    int r = check_mask(b, m);

    if (r == 0 && (v = is_property_wanted(m, properties, "title")))
        r = rename_sheet(b, s, v);
    /* Of "gridProperties" as a whole the sizes stay when they are not given. */
    if (r == 0 && (v = is_property_wanted(m, properties, "gridProperties.rowCount")) &&
        v->type != JSON_NULL)
        r = resize_sheet(b, s, v, true);
    if (r == 0 && (v = is_property_wanted(m, properties, "gridProperties.columnCount")) &&
        v->type != JSON_NULL)
        r = resize_sheet(b, s, v, false);
    if (r == 0 && (v = is_property_wanted(m, properties, "index")))
        r = move_sheet(b, s, v);
    return r < 0 ? r : keep_sheet_properties(b, s, m, properties);
}

/* ---- requests ---- */

static int update_sheet_properties(struct sheets *b, const struct json *body)
{
    const struct json *properties = json_get(body, "properties");
    struct sheet *s = sheets_sheet(b, json_get(properties, "sheetId"));
    struct mask m;
    int r = s ? mask_read(b, json_get(body, "fields"), &m) : -EINVAL;

    return r < 0 ? r : set_properties(b, s, &m, properties);
}

static int update_spreadsheet_properties(struct sheets *b, const struct json *body)
{
    struct str title = json_str(json_get(json_get(body, "properties"), "title"), STR(""));
    struct mask m;
    int r = mask_read(b, json_get(body, "fields"), &m);

    for (size_t i = 0; r == 0 && i < m.n; i++) {
        if (!m.is_all && !str_is(m.paths[i], "title"))
            r = sheets_fail(b, "field '" STR_FMT "' is not supported here", STR_ARG(m.paths[i]));
    }
    if (r == 0 && title.len == 0)
        r = sheets_fail(b, "The title must not be empty.");
    if (r == 0)
        b->title = title;
    return r;
}

static bool is_id_taken(const struct sheets *b, int64_t id)
{
    bool is_there = false;

    for (size_t i = 0; i < b->n_sheets; i++)
        is_there = is_there || b->sheets[i]->id == id;
    return is_there;
}

/* The one that is given, or a new one; -1: b failed. */
static int64_t choose_id(struct sheets *b, const struct json *given)
{
    int64_t id = json_int(given, -1);

    if (given && (id < 0 || id > INT32_MAX)) {
        (void)sheets_fail(b, "Invalid sheet id.");
        return -1;
    }
    if (given && is_id_taken(b, id)) {
        (void)sheets_fail(b, "Duplicate sheet id: %lld", (long long)id);
        return -1;
    }
    if (given)
        return id;
    id = json_int(json_at(b->numbers, b->n_numbers++), 1);
    while (is_id_taken(b, id))
        id++;
    return id;
}

/* "PREFIX" and the first number from N on that makes it a new name; 0: without one. */
static struct str choose_title(struct sheets *b, struct str prefix, unsigned n, const char *gap)
{
    for (;; n++) {
        struct str title =
            n == 0 ? prefix : arena_printf(b->arena, STR_FMT "%s%u", STR_ARG(prefix), gap, n);
        if (!title.p || !is_title_taken(b, title, NULL))
            return title;
        n += n == 0;
    }
}

static int insert_sheet(struct sheets *b, struct sheet *s, int64_t index)
{
    if (b->n_sheets == SHEETS_MAX_SHEETS)
        return sheets_fail(b, "A spreadsheet cannot have more than %d sheets.", SHEETS_MAX_SHEETS);
    if (index < 0 || index > (int64_t)b->n_sheets)
        return sheets_fail(b, "The index of a sheet must be from 0 to %zu.", b->n_sheets);
    b->sheets[b->n_sheets++] = s;
    move_to(b, b->n_sheets - 1, (size_t)index);
    return 0;
}

static int add_sheet(struct sheets *b, const struct json *body)
{
    const struct json *properties = json_get(body, "properties");
    const struct json *title = json_get(properties, "title");
    const struct json *grid = json_get(properties, "gridProperties");
    struct sheet *s = arena_new(b->arena, struct sheet);
    struct str all = STR_INIT("*");
    struct mask m = {.paths = &all, .n = 1, .is_all = true};
    struct str type = json_str(json_get(properties, "sheetType"), STR("GRID"));

    if (!s)
        return sheets_no_memory(b);
    if (!str_is(type, "GRID"))
        return sheets_fail(b, "sheetType " STR_FMT " is not supported here", STR_ARG(type));
    s->id = choose_id(b, json_get(properties, "sheetId"));
    s->title = title ? json_str(title, STR(""))
                     : choose_title(b, STR("Sheet"), (unsigned)b->n_sheets + 1, "");
    int64_t rows = json_int(json_get(grid, "rowCount"), 1000);
    int64_t cols = json_int(json_get(grid, "columnCount"), 26);
    int r = s->id < 0 ? -EINVAL : check_title(b, s->title, NULL);
    if (r == 0 && (rows < 1 || rows > A1_MAX_ROWS || cols < 1 || cols > A1_MAX_COLUMNS))
        r = sheets_fail(b, "Invalid size of the grid.");
    if (r == 0 && !sheets_may_grow(b, (uint64_t)rows * (uint64_t)cols))
        r = -EINVAL;
    s->rows = (uint32_t)rows;
    s->cols = (uint32_t)cols;
    r = r < 0 ? r
              : insert_sheet(b, s, json_int(json_get(properties, "index"), (int64_t)b->n_sheets));
    r = r < 0 ? r : keep_sheet_properties(b, s, &m, properties);
    return r < 0 ? r : reply_with_sheet(b, s);
}

static int delete_sheet(struct sheets *b, const struct json *body)
{
    struct sheet *s = sheets_sheet(b, json_get(body, "sheetId"));

    if (!s)
        return -EINVAL;
    if (b->n_sheets == 1)
        return sheets_fail(b, "You can't remove all the visible sheets in a document.");
    struct formula_edit edit = {.kind = FORMULA_EDIT_DROP, .sheet = s->title};
    move_to(b, sheets_index(b, s), b->n_sheets - 1);
    b->n_sheets--;
    return sheets_edit(b, &edit);
}

static int copy_into_sheet(struct sheets *b, const struct sheet *from, struct sheet *to)
{
    to->rows = from->rows;
    to->cols = from->cols;
    to->cells = arena_zalloc(b->arena, from->n_cells + 1, sizeof *to->cells);
    to->features = arena_zalloc(b->arena, from->n_features + 1, sizeof *to->features);
    if (!to->cells || !to->features)
        return sheets_no_memory(b);
    if (from->n_cells > 0)
        memcpy(to->cells, from->cells, from->n_cells * sizeof *to->cells);
    if (from->n_features > 0)
        memcpy(to->features, from->features, from->n_features * sizeof *to->features);
    to->n_cells = from->n_cells;
    to->n_sorted = from->n_sorted;
    to->cap_cells = from->n_cells + 1;
    to->n_features = from->n_features;
    to->cap_features = from->n_features + 1;
    return 0;
}

static int duplicate_sheet(struct sheets *b, const struct json *body)
{
    struct sheet *from = sheets_sheet(b, json_get(body, "sourceSheetId"));
    const struct json *title = json_get(body, "newSheetName");
    struct sheet *s = arena_new(b->arena, struct sheet);

    if (!from || !s)
        return from ? sheets_no_memory(b) : -EINVAL;
    s->id = choose_id(b, json_get(body, "newSheetId"));
    struct str prefix = arena_printf(b->arena, "Copy of " STR_FMT, STR_ARG(from->title));
    s->title = title ? json_str(title, STR("")) : choose_title(b, prefix, 0, " ");
    int r = s->id < 0 ? -EINVAL : check_title(b, s->title, NULL);
    if (r == 0 && !sheets_may_grow(b, (uint64_t)from->rows * from->cols))
        r = -EINVAL;
    r = r < 0 ? r : copy_into_sheet(b, from, s);
    r = r < 0 ? r : insert_sheet(b, s, json_int(json_get(body, "insertSheetIndex"), 0));
    return r < 0 ? r : reply_with_sheet(b, s);
}

const struct request requests_of_sheets[] = {
    {"addSheet", add_sheet},
    {"deleteSheet", delete_sheet},
    {"duplicateSheet", duplicate_sheet},
    {"updateSheetProperties", update_sheet_properties},
    {"updateSpreadsheetProperties", update_spreadsheet_properties},
    {NULL, NULL},
};
