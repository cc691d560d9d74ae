/* SPDX-License-Identifier: MIT */
/* Properties of databases, and their values on pages. Ids of properties and options come from their
 * names, so that the same data always has the same ids. */
#include "apps/products/notion/notion.h"

#include <string.h>

#include "apps/calendar/civil.h"
#include "base/cleanup.h"

/* ---- ids ---- */

static struct json *property_id_of(struct arena *a, struct str name, uint64_t salt)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    uint64_t h = str_hash(name, 0x6e6f74696f6eULL + salt);
    char id[5];

    for (size_t i = 0; i < 4; i++, h /= 62)
        id[i] = digits[h % 62];
    id[4] = '\0';
    return json_new_str(a, str_of(id));
}

/* An id that no other property of SCHEMA has. */
static struct json *new_property_id(struct arena *a, const struct json *schema, struct str name)
{
    for (uint64_t salt = 0; salt < 1000; salt++) {
        struct json *id = property_id_of(a, name, salt);
        bool is_taken = false;
        for (size_t i = 0; i < schema->n; i++)
            is_taken |= json_equal(json_get(&schema->members[i].value, "id"), id);
        if (!is_taken)
            return id;
    }
    return NULL;
}

static struct json *option_id(struct arena *a, struct str property, struct str name)
{
    uint64_t h = str_hash(property, 1), k = str_hash(name, h);
    struct str id = arena_printf(a, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(k >> 32),
                                 (unsigned)(k >> 16 & 0xffff), (unsigned)(k & 0xfff),
                                 (unsigned)(h & 0xfff), (unsigned long long)(h >> 16));

    return id.p ? json_new_str(a, id) : NULL;
}

/* ---- options ---- */

static const char *const colors[] = {"default", "gray", "brown",  "orange", "yellow",
                                     "green",   "blue", "purple", "pink",   "red"};

static struct json *new_option(struct arena *a, struct str property, const struct json *in,
                               size_t place)
{
    struct str name = json_is(in, JSON_STRING) ? in->s : json_str(json_get(in, "name"), STR(""));
    const struct json *id = json_get(in, "id"), *color = json_get(in, "color");
    struct json *o = json_new_object(a);

    if (name.len == 0 || str_chr(name, ',') >= 0)
        return NULL;
    o = notion_set(a, o, "id", json_is(id, JSON_STRING) ? id : option_id(a, property, name));
    o = notion_set(a, o, "name", json_new_str(a, name));
    if (!json_is(color, JSON_STRING))
        color = json_new_str(a, str_of(colors[place % ARRAY_LEN(colors)]));
    return notion_set(a, o, "color", color);
}

static const struct json *find_option(const struct json *options, const struct json *in)
{
    struct str name = json_is(in, JSON_STRING) ? in->s : json_str(json_get(in, "name"), STR_NULL);
    struct str id = json_str(json_get(in, "id"), STR_NULL);

    for (size_t i = 0; options && i < options->n; i++) {
        const struct json *o = json_at(options, i);
        if ((name.p && str_eq(json_str(json_get(o, "name"), STR("")), name)) ||
            (!name.p && id.p && str_eq(json_str(json_get(o, "id"), STR("")), id)))
            return o;
    }
    return NULL;
}

/* The options of IN, or those of a new status. */
static struct json *read_options(struct arena *a, struct str property, const struct json *in,
                                 bool is_status)
{
    static const char status[] = "[{\"name\":\"Not started\",\"color\":\"default\"},"
                                 "{\"name\":\"In progress\",\"color\":\"blue\"},"
                                 "{\"name\":\"Done\",\"color\":\"green\"}]";
    struct json *list = json_new_array(a);

    if ((!in || (json_is(in, JSON_ARRAY) && in->n == 0)) && is_status)
        in = json_parse(a, str_of(status), NULL, NULL);
    if (!in)
        return list;
    if (!json_is(in, JSON_ARRAY) || in->n > NOTION_LIST_MAX)
        return NULL;
    for (size_t i = 0; i < in->n; i++) {
        const struct json *o = new_option(a, property, json_at(in, i), i);
        if (!o || !list || json_push(a, list, o) < 0)
            return NULL;
    }
    return list;
}

/* ---- types ---- */

enum kind {
    KIND_TEXT,
    KIND_NUMBER,
    KIND_OPTION,
    KIND_OPTIONS,
    KIND_DATE,
    KIND_BOOL,
    KIND_STRING,
    KIND_LIST,
    KIND_ABOUT
};

static const struct property_schema_type {
    const char *name;
    enum kind kind;
} types[] = {
    {"title", KIND_TEXT},          {"rich_text", KIND_TEXT},
    {"number", KIND_NUMBER},       {"select", KIND_OPTION},
    {"status", KIND_OPTION},       {"multi_select", KIND_OPTIONS},
    {"date", KIND_DATE},           {"checkbox", KIND_BOOL},
    {"url", KIND_STRING},          {"email", KIND_STRING},
    {"phone_number", KIND_STRING}, {"people", KIND_LIST},
    {"relation", KIND_LIST},       {"files", KIND_LIST},
    {"created_time", KIND_ABOUT},  {"last_edited_time", KIND_ABOUT},
    {"created_by", KIND_ABOUT},    {"last_edited_by", KIND_ABOUT},
};

static const struct property_schema_type *find_property_type(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_is(name, types[i].name))
            return &types[i];
    }
    return NULL;
}

static const struct property_schema_type *property_type_of(const struct json *property)
{
    return find_property_type(json_str(json_get(property, "type"), STR("")));
}

/* ---- databases ---- */

static struct json *find_schema_property(const struct json *schema, struct str key)
{
    struct json *p = json_get_str(schema, key);

    for (size_t i = 0; !p && schema && i < schema->n; i++) {
        if (str_eq(json_str(json_get(&schema->members[i].value, "id"), STR("")), key))
            p = &schema->members[i].value;
    }
    return p;
}

/* What the type says of itself: {"options"} and the like. */
static struct json *read_property_config(struct arena *a, struct str name,
                                         const struct property_schema_type *t,
                                         const struct json *in)
{
    const struct json *config = json_get(in, t->name);
    struct json *out = json_is(config, JSON_OBJECT) ? json_copy(a, config) : json_new_object(a);

    if (t->kind == KIND_OPTION || t->kind == KIND_OPTIONS)
        return notion_set(
            a, out, "options",
            read_options(a, name, json_get(config, "options"), str_is(str_of(t->name), "status")));
    if (t->kind == KIND_NUMBER && !json_get(out, "format"))
        return notion_set(a, out, "format", json_new_str(a, STR("number")));
    if (!str_is(str_of(t->name), "relation"))
        return out;
    if (!json_is(json_get(out, "database_id"), JSON_STRING))
        return NULL;
    if (!json_get(out, "type"))
        out = notion_set(a, out, "type", json_new_str(a, STR("single_property")));
    return out;
}

/* The type that IN says: "select", {"type": "select"} or {"select": {}}. */
static const struct property_schema_type *property_type_in(const struct json *in)
{
    const struct json *type = json_is(in, JSON_STRING) ? in : json_get(in, "type");

    if (type)
        return find_property_type(json_str(type, STR("")));
    for (size_t i = 0; json_is(in, JSON_OBJECT) && i < in->n; i++) {
        const struct property_schema_type *t = find_property_type(in->members[i].key);
        if (t)
            return t;
    }
    return NULL;
}

static struct json *new_property(struct arena *a, const struct json *schema, struct str name,
                                 const struct json *in, const struct json *old)
{
    const struct property_schema_type *t = property_type_in(in);
    const struct json *id = json_get(old, "id");
    struct json *p = json_new_object(a);

    if (!t)
        return NULL;
    if (!id)
        id = str_is(str_of(t->name), "title") ? json_new_str(a, STR("title"))
                                              : new_property_id(a, schema, name);
    p = notion_set(a, p, "id", id);
    p = notion_set(a, p, "name", json_new_str(a, name));
    p = notion_set(a, p, "type", json_new_str(a, str_of(t->name)));
    return notion_set(a, p, t->name, read_property_config(a, name, t, in));
}

/* A copy of SCHEMA in which the property OLD_NAME is P, called P's name; NULL removes it. */
static struct json *replace_property(struct arena *a, const struct json *schema,
                                     struct str old_name, const struct json *p)
{
    struct json *out = json_new_object(a);

    for (size_t i = 0; out && i < schema->n; i++) {
        const struct json_member *m = &schema->members[i];
        bool is_it = str_eq(m->key, old_name);
        if (is_it && !p)
            continue;
        struct str key = is_it ? json_str(json_get(p, "name"), STR("")) : m->key;
        if (json_get_str(out, key) || json_set_str(a, out, key, is_it ? p : &m->value) < 0)
            return NULL;
    }
    return out;
}

/* One member of what changes a database. */
static struct json *change_one(struct arena *a, struct json *schema, struct str key,
                               const struct json *in)
{
    const struct json *old = find_schema_property(schema, key);
    struct str name = old ? json_str(json_get(old, "name"), STR("")) : key;
    struct str new_name = json_str(json_get(in, "name"), name);

    if (!old) {
        struct json *p = new_property(a, schema, new_name, in, NULL);
        return p && json_set_str(a, schema, new_name, p) == 0 ? schema : NULL;
    }
    bool is_title = str_is(json_str(json_get(old, "type"), STR("")), "title");
    if (json_is(in, JSON_NULL))
        return is_title ? NULL : replace_property(a, schema, name, NULL);
    if (!property_type_in(in)) {
        struct json *renamed = json_copy(a, old);
        renamed = notion_set(a, renamed, "name", json_new_str(a, new_name));
        return renamed ? replace_property(a, schema, name, renamed) : NULL;
    }
    if (is_title != str_is(str_of(property_type_in(in)->name), "title"))
        return NULL;
    struct json *p = new_property(a, schema, new_name, in, old);
    return p ? replace_property(a, schema, name, p) : NULL;
}

static size_t n_titles(const struct json *schema)
{
    size_t n = 0;

    for (size_t i = 0; i < schema->n; i++)
        n += str_is(json_str(json_get(&schema->members[i].value, "type"), STR("")), "title");
    return n;
}

struct json *notion_schema(struct arena *a, const struct json *old, const struct json *in)
{
    struct json *schema = json_is(old, JSON_OBJECT) ? json_copy(a, old) : json_new_object(a);

    if (!json_is(in, JSON_OBJECT))
        return NULL;
    for (size_t i = 0; schema && i < in->n; i++)
        schema = change_one(a, schema, in->members[i].key, &in->members[i].value);
    return schema && n_titles(schema) == 1 && schema->n <= NOTION_PROPERTIES_MAX ? schema : NULL;
}

/* ---- values ---- */

struct value_in {
    struct arena *arena;
    struct json *property; /* of the schema; gets new options */
    bool is_loose;
};

static struct json *take_option(const struct value_in *v, const struct json *in)
{
    struct json *config =
        json_get_str(v->property, json_str(json_get(v->property, "type"), STR("")));
    struct json *options = json_get(config, "options");
    const struct json *o = find_option(options, in);
    bool is_status = str_is(json_str(json_get(v->property, "type"), STR("")), "status");

    if (o)
        return json_copy(v->arena, o);
    if ((is_status && !v->is_loose) || !options)
        return NULL;
    struct json *made =
        new_option(v->arena, json_str(json_get(v->property, "name"), STR("")), in, options->n);
    return made && json_push(v->arena, options, made) == 0 ? made : NULL;
}

static struct json *take_options(const struct value_in *v, const struct json *in)
{
    struct json *list = json_new_array(v->arena);

    if (json_is(in, JSON_STRING) && v->is_loose) {
        const struct json *one = take_option(v, in);
        return one && list && json_push(v->arena, list, one) == 0 ? list : NULL;
    }
    if (!json_is(in, JSON_ARRAY) || in->n > NOTION_LIST_MAX)
        return NULL;
    for (size_t i = 0; i < in->n; i++) {
        const struct json *o = take_option(v, json_at(in, i));
        if (!o || !list || json_push(v->arena, list, o) < 0)
            return NULL;
    }
    return list;
}

/* "2026-01-30", perhaps with a time. */
static bool is_date_text(const struct json *v)
{
    struct civil_text t;

    return json_is(v, JSON_STRING) && v->s.len >= strlen("2026-01-30") && v->s.p[4] == '-' &&
           (v->s.len == strlen("2026-01-30") || v->s.p[10] == 'T') && civil_read(v->s, &t) == 0;
}

static struct json *take_date_property(const struct value_in *v, const struct json *in)
{
    const struct json *start = v->is_loose && json_is(in, JSON_STRING) ? in : json_get(in, "start");
    const struct json *end = json_get(in, "end"), *zone = json_get(in, "time_zone");
    struct json *o = json_new_object(v->arena), *null = json_new_null(v->arena);

    if (!is_date_text(start) || (end && !json_is(end, JSON_NULL) && !is_date_text(end)))
        return NULL;
    o = notion_set(v->arena, o, "start", start);
    o = notion_set(v->arena, o, "end", end ? end : null);
    return notion_set(v->arena, o, "time_zone", zone ? zone : null);
}

static struct json *take_property_file(const struct value_in *v, const struct json *in)
{
    if (v->is_loose && json_is(in, JSON_STRING))
        return notion_set(v->arena, json_new_object(v->arena), "name", in);
    return json_is(json_get(in, "name"), JSON_STRING) ? json_copy(v->arena, in) : NULL;
}

/* A person or a page. What is loose may also be named; the import finds out who that is. */
static struct json *take_reference(const struct value_in *v, const struct json *in, bool is_person)
{
    const struct json *id = v->is_loose && json_is(in, JSON_STRING) ? in : json_get(in, "id");
    struct json *o = json_new_object(v->arena);
    char text[NOTION_ID_MAX];

    if (!json_is(id, JSON_STRING))
        return NULL;
    if (notion_id(id->s, text))
        id = json_new_str(v->arena, str_of(text));
    else if (!v->is_loose)
        return NULL;
    if (is_person)
        o = notion_set(v->arena, o, "object", json_new_str(v->arena, STR("user")));
    return notion_set(v->arena, o, "id", id);
}

static struct json *take_property_list(const struct value_in *v, const struct json *in,
                                       const char *type)
{
    struct json *list = json_new_array(v->arena);
    bool is_person = str_is(str_of(type), "people");

    if (!json_is(in, JSON_ARRAY) || in->n > NOTION_LIST_MAX)
        return NULL;
    for (size_t i = 0; i < in->n; i++) {
        const struct json *o = str_is(str_of(type), "files")
                                   ? take_property_file(v, json_at(in, i))
                                   : take_reference(v, json_at(in, i), is_person);
        if (!o || !list || json_push(v->arena, list, o) < 0)
            return NULL;
    }
    return list;
}

static struct json *take_property_value(const struct value_in *v,
                                        const struct property_schema_type *t, const struct json *in)
{
    bool is_null = json_is(in, JSON_NULL);

    switch (t->kind) {
    case KIND_TEXT:
        return json_is(in, JSON_STRING) && !v->is_loose ? NULL : notion_rich_text(v->arena, in);
    case KIND_NUMBER: return is_null || json_is_number(in) ? json_copy(v->arena, in) : NULL;
    case KIND_OPTION:
        if (is_null)
            return json_new_null(v->arena);
        return json_is(in, JSON_OBJECT) || v->is_loose ? take_option(v, in) : NULL;
    case KIND_OPTIONS: return take_options(v, in);
    case KIND_DATE: return is_null ? json_new_null(v->arena) : take_date_property(v, in);
    case KIND_BOOL: return json_is(in, JSON_BOOL) ? json_copy(v->arena, in) : NULL;
    case KIND_STRING: return is_null || json_is(in, JSON_STRING) ? json_copy(v->arena, in) : NULL;
    case KIND_LIST: return take_property_list(v, in, t->name);
    case KIND_ABOUT: break;
    }
    return NULL;
}

/* {"select": {…}}, or the plain value where that is taken. */
static const struct json *typed_value(const struct property_schema_type *t, const struct json *in,
                                      bool is_loose)
{
    const struct json *value = json_get(in, t->name);

    if (value || !is_loose)
        return value;
    return json_is(in, JSON_OBJECT) && json_get(in, "type") ? NULL : in;
}

static struct json *new_property_value(const struct value_in *v, const struct json *in)
{
    const struct property_schema_type *t = property_type_of(v->property);
    const struct json *value = t ? typed_value(t, in, v->is_loose) : NULL;
    struct json *o = json_new_object(v->arena);

    o = notion_set(v->arena, o, "type", t ? json_new_str(v->arena, str_of(t->name)) : NULL);
    return notion_set(v->arena, o, t ? t->name : "",
                      value ? take_property_value(v, t, value) : NULL);
}

struct json *notion_values(struct arena *a, const struct json *schema, const struct json *old,
                           const struct json *in, bool is_loose)
{
    struct json *own = json_copy(a, schema), *out = json_new_object(a);
    struct json *values = json_is(old, JSON_OBJECT) ? json_copy(a, old) : json_new_object(a);

    if (!json_is(in, JSON_OBJECT) || !json_is(own, JSON_OBJECT))
        return NULL;
    for (size_t i = 0; i < in->n; i++) {
        struct value_in v = {a, find_schema_property(own, in->members[i].key), is_loose};
        const struct property_schema_type *t = property_type_of(v.property);
        /* What is exported has what Notion calculates, too. */
        if (is_loose && t && t->kind == KIND_ABOUT)
            continue;
        const struct json *value =
            v.property ? new_property_value(&v, &in->members[i].value) : NULL;
        struct str id = json_str(json_get(v.property, "id"), STR(""));
        if (!value || !values || json_set_str(a, values, id, value) < 0)
            return NULL;
    }
    return notion_set(a, notion_set(a, out, "values", values), "schema", own);
}

/* ---- showing ---- */

static struct json *empty_value(struct arena *a, enum kind kind)
{
    switch (kind) {
    case KIND_TEXT:
    case KIND_OPTIONS:
    case KIND_LIST: return json_new_array(a);
    case KIND_BOOL: return json_new_bool(a, false);
    case KIND_NUMBER:
    case KIND_OPTION:
    case KIND_DATE:
    case KIND_STRING:
    case KIND_ABOUT: break;
    }
    return json_new_null(a);
}

static const struct json *about_value(struct arena *a, const struct json *about, const char *name)
{
    const struct json *value = json_get(about, name);
    struct json *user = json_new_object(a);

    if (!str_ends(str_of(name), STR("_by")))
        return value;
    user = notion_set(a, user, "object", json_new_str(a, STR("user")));
    return notion_set(a, user, "id", value);
}

/* Options are shown as the database has them by now: renamed, in another color. */
static const struct json *fresh(const struct json *property, const struct property_schema_type *t,
                                const struct json *value)
{
    const struct json *options = json_get(json_get(property, t->name), "options");
    const struct json *o =
        t->kind == KIND_OPTION && json_is(value, JSON_OBJECT) ? find_option(options, value) : NULL;

    return o ? o : value;
}

static struct json *show_one(struct arena *a, const struct json *property,
                             const struct json *values, const struct json *about)
{
    const struct property_schema_type *t = property_type_of(property);
    struct str id = json_str(json_get(property, "id"), STR(""));
    struct json *o = notion_set(a, json_new_object(a), "id", json_get(property, "id"));

    if (!t)
        return NULL;
    const struct json *value = json_get(json_get_str(values, id), t->name);
    if (t->kind == KIND_ABOUT)
        value = about_value(a, about, t->name);
    o = notion_set(a, o, "type", json_new_str(a, str_of(t->name)));
    return notion_set(a, o, t->name, value ? fresh(property, t, value) : empty_value(a, t->kind));
}

static bool is_among(const struct json *only, const struct json *property)
{
    for (size_t i = 0; i < only->n; i++) {
        if (json_equal(json_at(only, i), json_get(property, "id")) ||
            json_equal(json_at(only, i), json_get(property, "name")))
            return true;
    }
    return false;
}

struct json *notion_show(struct arena *a, const struct json *schema, const struct json *values,
                         const struct json *about, const struct json *only)
{
    struct json *out = json_new_object(a);

    for (size_t i = 0; out && json_is(schema, JSON_OBJECT) && i < schema->n; i++) {
        const struct json_member *m = &schema->members[i];
        if (json_is(only, JSON_ARRAY) && only->n > 0 && !is_among(only, &m->value))
            continue;
        const struct json *shown = show_one(a, &m->value, values, about);
        if (!shown || json_set_str(a, out, m->key, shown) < 0)
            return NULL;
    }
    return out;
}
