/* SPDX-License-Identifier: MIT */
/* Notion's filters and sorts of databases. What is compiled is a JSON object, since the properties
 * belong to a database and not to the app:
 *
 *     {"filter": {"property": "Status", "select": {"equals": "Done"}}, "sorts": [{"property",
 *      "direction"}], "schema": {"Status": {"id", "name", "type"}}}
 *
 * The columns that CONFIG has to name: properties (values by the ids of properties, as
 * notion_values makes them), created_time, last_edited_time, created_by, last_edited_by. */
#include <errno.h>
#include <string.h>

#include "apps/calendar/civil.h"
#include "apps/lang/lang_internal.h"

enum {
    CONDITIONS_MAX = 80, /* each is a level for SQLite, which allows 200 */
    NESTING_MAX = 16
};

/* What properties are compared as. */
enum kind {
    KIND_TEXT,
    KIND_NUMBER,
    KIND_CHECKBOX,
    KIND_OPTION,
    KIND_OPTIONS,
    KIND_DATE,
    KIND_IDS,
    KIND_FILES,
    KIND_COUNT
};

/* PATH: where the value is in that of the property; "%" stands for the type. NULL: a column. */
static const struct notion_property_type {
    const char *name;
    enum kind kind;
    const char *path;
    bool is_rich; /* a rich text */
} types[] = {
    {"title", KIND_TEXT, ".title", true},
    {"rich_text", KIND_TEXT, ".rich_text", true},
    {"url", KIND_TEXT, ".url", false},
    {"email", KIND_TEXT, ".email", false},
    {"phone_number", KIND_TEXT, ".phone_number", false},
    {"number", KIND_NUMBER, ".number", false},
    {"checkbox", KIND_CHECKBOX, ".checkbox", false},
    {"select", KIND_OPTION, ".select.name", false},
    {"status", KIND_OPTION, ".status.name", false},
    {"multi_select", KIND_OPTIONS, ".multi_select", false},
    {"date", KIND_DATE, ".date.start", false},
    {"created_time", KIND_DATE, NULL, false},
    {"last_edited_time", KIND_DATE, NULL, false},
    {"people", KIND_IDS, ".people", false},
    {"relation", KIND_IDS, ".relation", false},
    {"created_by", KIND_IDS, NULL, false},
    {"last_edited_by", KIND_IDS, NULL, false},
    {"files", KIND_FILES, ".files", false},
};

/* What a condition compares with. */
enum operand {
    OPERAND_TEXT,
    OPERAND_NUMBER,
    OPERAND_BOOL,
    OPERAND_DATE,
    OPERAND_ID,
    OPERAND_TRUE,
    OPERAND_NOTHING
};

/* $x the value of the property, $v what it is compared with, $f how dates are: by the day, or by
 * the moment when the filter says one. */
static const struct condition {
    const char *name;
    enum kind kind;
    enum operand operand;
    const char *sql;
} conditions[] = {
    {"equals", KIND_TEXT, OPERAND_TEXT, "lower(ifnull($x, '')) = lower($v)"},
    {"does_not_equal", KIND_TEXT, OPERAND_TEXT, "lower(ifnull($x, '')) <> lower($v)"},
    {"contains", KIND_TEXT, OPERAND_TEXT, "instr(lower(ifnull($x, '')), lower($v)) > 0"},
    {"does_not_contain", KIND_TEXT, OPERAND_TEXT, "instr(lower(ifnull($x, '')), lower($v)) = 0"},
    {"starts_with", KIND_TEXT, OPERAND_TEXT, "instr(lower(ifnull($x, '')), lower($v)) = 1"},
    {"ends_with", KIND_TEXT, OPERAND_TEXT,
     "substr(lower(ifnull($x, '')), -length($v)) = lower($v)"},
    {"is_empty", KIND_TEXT, OPERAND_TRUE, "ifnull($x, '') = ''"},
    {"is_not_empty", KIND_TEXT, OPERAND_TRUE, "ifnull($x, '') <> ''"},

    {"equals", KIND_NUMBER, OPERAND_NUMBER, "$x = $v"},
    {"does_not_equal", KIND_NUMBER, OPERAND_NUMBER, "$x IS NOT $v"},
    {"greater_than", KIND_NUMBER, OPERAND_NUMBER, "$x > $v"},
    {"less_than", KIND_NUMBER, OPERAND_NUMBER, "$x < $v"},
    {"greater_than_or_equal_to", KIND_NUMBER, OPERAND_NUMBER, "$x >= $v"},
    {"less_than_or_equal_to", KIND_NUMBER, OPERAND_NUMBER, "$x <= $v"},
    {"is_empty", KIND_NUMBER, OPERAND_TRUE, "$x IS NULL"},
    {"is_not_empty", KIND_NUMBER, OPERAND_TRUE, "$x IS NOT NULL"},

    {"equals", KIND_CHECKBOX, OPERAND_BOOL, "ifnull($x, 0) = $v"},
    {"does_not_equal", KIND_CHECKBOX, OPERAND_BOOL, "ifnull($x, 0) <> $v"},

    {"equals", KIND_OPTION, OPERAND_TEXT, "$x = $v"},
    {"does_not_equal", KIND_OPTION, OPERAND_TEXT, "$x IS NOT $v"},
    {"is_empty", KIND_OPTION, OPERAND_TRUE, "$x IS NULL"},
    {"is_not_empty", KIND_OPTION, OPERAND_TRUE, "$x IS NOT NULL"},

    {"contains", KIND_OPTIONS, OPERAND_TEXT,
     "EXISTS (SELECT 1 FROM json_each(ifnull($x, '[]')) WHERE value ->> 'name' = $v)"},
    {"does_not_contain", KIND_OPTIONS, OPERAND_TEXT,
     "NOT EXISTS (SELECT 1 FROM json_each(ifnull($x, '[]')) WHERE value ->> 'name' = $v)"},
    {"is_empty", KIND_OPTIONS, OPERAND_TRUE, "ifnull(json_array_length($x), 0) = 0"},
    {"is_not_empty", KIND_OPTIONS, OPERAND_TRUE, "ifnull(json_array_length($x), 0) > 0"},

    {"contains", KIND_IDS, OPERAND_ID,
     "EXISTS (SELECT 1 FROM json_each(ifnull($x, '[]')) WHERE value ->> 'id' = $v)"},
    {"does_not_contain", KIND_IDS, OPERAND_ID,
     "NOT EXISTS (SELECT 1 FROM json_each(ifnull($x, '[]')) WHERE value ->> 'id' = $v)"},
    {"is_empty", KIND_IDS, OPERAND_TRUE, "ifnull(json_array_length($x), 0) = 0"},
    {"is_not_empty", KIND_IDS, OPERAND_TRUE, "ifnull(json_array_length($x), 0) > 0"},

    {"is_empty", KIND_FILES, OPERAND_TRUE, "ifnull(json_array_length($x), 0) = 0"},
    {"is_not_empty", KIND_FILES, OPERAND_TRUE, "ifnull(json_array_length($x), 0) > 0"},

    {"equals", KIND_DATE, OPERAND_DATE, "$f($x) = $f($v)"},
    {"before", KIND_DATE, OPERAND_DATE, "$f($x) < $f($v)"},
    {"after", KIND_DATE, OPERAND_DATE, "$f($x) > $f($v)"},
    {"on_or_before", KIND_DATE, OPERAND_DATE, "$f($x) <= $f($v)"},
    {"on_or_after", KIND_DATE, OPERAND_DATE, "$f($x) >= $f($v)"},
    {"is_empty", KIND_DATE, OPERAND_TRUE, "$x IS NULL"},
    {"is_not_empty", KIND_DATE, OPERAND_TRUE, "$x IS NOT NULL"},
    {"past_week", KIND_DATE, OPERAND_NOTHING,
     "date($x) BETWEEN date(now(), '-7 days') AND date(now())"},
    {"past_month", KIND_DATE, OPERAND_NOTHING,
     "date($x) BETWEEN date(now(), '-1 month') AND date(now())"},
    {"past_year", KIND_DATE, OPERAND_NOTHING,
     "date($x) BETWEEN date(now(), '-1 year') AND date(now())"},
    {"this_week", KIND_DATE, OPERAND_NOTHING,
     "date($x) BETWEEN date(now(), 'weekday 6', '-6 days') AND date(now(), 'weekday 6')"},
    {"next_week", KIND_DATE, OPERAND_NOTHING,
     "date($x) BETWEEN date(now()) AND date(now(), '+7 days')"},
    {"next_month", KIND_DATE, OPERAND_NOTHING,
     "date($x) BETWEEN date(now()) AND date(now(), '+1 month')"},
    {"next_year", KIND_DATE, OPERAND_NOTHING,
     "date($x) BETWEEN date(now()) AND date(now(), '+1 year')"},
};

struct notion_filter {
    const struct json *config, *schema;
    struct lang_out out;
    struct err *err;
    unsigned n_conditions;
};

/* Always false: the reason is kept. */
static bool refuse_filter(struct notion_filter *f, const char *why, struct str what)
{
    if (!f->err->code)
        (void)err_set(f->err, -EINVAL, "%s: " STR_FMT, why, STR_ARG(what));
    return false;
}

/* ---- properties ---- */

static const struct notion_property_type *find_filter_type(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_is(name, types[i].name))
            return &types[i];
    }
    return NULL;
}

static const struct json *find_filter_property(const struct json *schema, struct str key)
{
    const struct json *p = json_get_str(schema, key);

    for (size_t i = 0; !p && json_is(schema, JSON_OBJECT) && i < schema->n; i++) {
        if (str_eq(json_str(json_get(&schema->members[i].value, "id"), STR("")), key))
            p = &schema->members[i].value;
    }
    return p;
}

/* Ids go into paths: only what notion_schema makes. */
static bool is_property_id(struct str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.p[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'))
            return false;
    }
    return id.len > 0;
}

/* A value to be compared or sorted by. */
struct operand_in {
    const struct notion_property_type *type;
    struct str id; /* of the property; empty for a timestamp */
};

static void add_operand_value(struct notion_filter *f, const struct operand_in *x)
{
    const char *column = lang_field(f->config, STR("properties"));

    if (!x->type->path) {
        const char *own = lang_field(f->config, str_of(x->type->name));
        if (x->type->kind == KIND_IDS)
            lang_sql(&f->out, "json_array(json_object('id', %s))", own ? own : "NULL");
        else
            lang_sql(&f->out, "%s", own ? own : "NULL");
        return;
    }
    lang_sql(&f->out,
             x->type->is_rich ? "notion_plain(json_extract(%s, '$.%s%s'))"
                              : "json_extract(%s, '$.%s%s')",
             column ? column : "NULL", x->id.p, x->type->path);
}

/* The property that IN names, and whether it may be compared as the type T (NULL: as any). */
static bool look_up_property(struct notion_filter *f, struct str name,
                             const struct notion_property_type *t, struct operand_in *ret)
{
    const struct json *p = find_filter_property(f->schema, name);
    const struct notion_property_type *own =
        find_filter_type(json_str(json_get(p, "type"), STR("")));

    ret->id = json_str(json_get(p, "id"), STR(""));
    ret->type = own;
    if (!own || !is_property_id(ret->id))
        return refuse_filter(f, "Could not find property with name or id", name);
    bool is_text = t && str_is(str_of(t->name), "rich_text") && own->kind == KIND_TEXT;
    if (t && t != own && !is_text)
        return refuse_filter(f, "database property does not match filter", str_of(t->name));
    return true;
}

/* ---- conditions ---- */

static bool add_operand(struct notion_filter *f, enum operand operand, const struct json *v)
{
    switch (operand) {
    case OPERAND_TEXT:
    case OPERAND_DATE:
    case OPERAND_ID: lang_text(&f->out, v->s); return true;
    case OPERAND_NUMBER: lang_real(&f->out, json_real(v, 0)); return true;
    case OPERAND_BOOL: lang_int(&f->out, v->b); return true;
    case OPERAND_TRUE:
    case OPERAND_NOTHING: break;
    }
    return false;
}

static bool is_notion_date(struct str s)
{
    struct civil_text t;

    return s.len >= strlen("2026-01-30") && s.p[4] == '-' &&
           (s.len == strlen("2026-01-30") || s.p[10] == 'T') && civil_read(s, &t) == 0;
}

static bool is_operand_type(enum operand operand, const struct json *v)
{
    switch (operand) {
    case OPERAND_TEXT: return json_is(v, JSON_STRING);
    case OPERAND_DATE: return json_is(v, JSON_STRING) && is_notion_date(v->s);
    case OPERAND_ID: return json_is(v, JSON_STRING);
    case OPERAND_NUMBER: return json_is_number(v);
    case OPERAND_BOOL: return json_is(v, JSON_BOOL);
    case OPERAND_TRUE: return json_bool(v, false);
    case OPERAND_NOTHING: return json_is(v, JSON_OBJECT);
    }
    return false;
}

static void add_condition(struct notion_filter *f, const struct condition *c,
                          const struct operand_in *x, const struct json *v)
{
    for (const char *p = c->sql; *p; p++) {
        if (p[0] != '$') {
            (void)buf_add_char(&f->out.sql, *p);
            continue;
        }
        p++;
        if (*p == 'x') {
            add_operand_value(f, x);
        } else if (*p == 'f') {
            lang_sql(&f->out, "%s", v->s.len == 10 ? "date" : "julianday");
        } else {
            lang_sql(&f->out, "%s", c->operand == OPERAND_ID ? "notion_id(" : "");
            (void)add_operand(f, c->operand, v);
            lang_sql(&f->out, "%s", c->operand == OPERAND_ID ? ")" : "");
        }
    }
}

/* {"equals": "Done"}; more than one are all to be met. */
static bool compile_conditions(struct notion_filter *f, const struct operand_in *x,
                               const struct json *in)
{
    if (!json_is(in, JSON_OBJECT) || in->n == 0)
        return refuse_filter(f, "body failed validation", str_of(x->type->name));
    for (size_t i = 0; i < in->n; i++) {
        const struct json_member *m = &in->members[i];
        size_t k = 0;
        while (k < ARRAY_LEN(conditions) &&
               (conditions[k].kind != x->type->kind || !str_is(m->key, conditions[k].name)))
            k++;
        if (k == ARRAY_LEN(conditions) || !is_operand_type(conditions[k].operand, &m->value))
            return refuse_filter(f, "body failed validation", m->key);
        if (++f->n_conditions > CONDITIONS_MAX)
            return refuse_filter(f, "body failed validation", STR("too many conditions"));
        lang_sql(&f->out, "%s(ifnull(", i == 0 ? "" : " AND ");
        add_condition(f, &conditions[k], x, &m->value);
        lang_sql(&f->out, ", 0))");
    }
    return true;
}

/* The member of IN that is named like a type. */
static const struct notion_property_type *filter_type_in(const struct json *in,
                                                         const struct json **ret_value)
{
    for (size_t i = 0; i < in->n; i++) {
        const struct notion_property_type *t = find_filter_type(in->members[i].key);
        *ret_value = &in->members[i].value;
        if (t)
            return t;
    }
    return NULL;
}

static bool compile_leaf(struct notion_filter *f, const struct json *in)
{
    struct str property = json_str(json_get(in, "property"), STR_NULL);
    struct str timestamp = json_str(json_get(in, "timestamp"), STR_NULL);
    const struct json *value = NULL;
    const struct notion_property_type *t = filter_type_in(in, &value);
    struct operand_in x = {.type = t, .id = STR("")};

    if (!t || !property.p == !timestamp.p)
        return refuse_filter(f, "body failed validation", STR("body.filter"));
    if (timestamp.p && (t->path || t->kind != KIND_DATE || !str_is(timestamp, t->name)))
        return refuse_filter(f, "body failed validation", timestamp);
    if (property.p && !look_up_property(f, property, t, &x))
        return false;
    return compile_conditions(f, &x, value);
}

static bool compile_filter(struct notion_filter *f, const struct json *in, unsigned depth);

static bool compile_list(struct notion_filter *f, const struct json *list, const char *between,
                         unsigned depth)
{
    if (!json_is(list, JSON_ARRAY) || depth > NESTING_MAX)
        return refuse_filter(f, "body failed validation", STR("body.filter"));
    lang_sql(&f->out, "%s", list->n == 0 ? "(1" : "(");
    for (size_t i = 0; i < list->n; i++) {
        lang_sql(&f->out, "%s", i == 0 ? "" : between);
        if (!compile_filter(f, json_at(list, i), depth + 1))
            return false;
    }
    lang_sql(&f->out, ")");
    return true;
}

static bool compile_filter(struct notion_filter *f, const struct json *in, unsigned depth)
{
    const struct json *all = json_get(in, "and"), *any = json_get(in, "or");

    if (!json_is(in, JSON_OBJECT) || (all && any))
        return refuse_filter(f, "body failed validation", STR("body.filter"));
    if (all)
        return compile_list(f, all, " AND ", depth);
    if (any)
        return compile_list(f, any, " OR ", depth);
    return compile_leaf(f, in);
}

/* ---- sorts ---- */

/* Selects sort by the place of their options. */
static void add_filter_place(struct notion_filter *f, const struct operand_in *x)
{
    const struct json *p = find_filter_property(f->schema, x->id);
    const struct json *options = json_get(json_get(p, x->type->name), "options");

    lang_sql(&f->out, "CASE ");
    add_operand_value(f, x);
    for (size_t i = 0; json_is(options, JSON_ARRAY) && i < options->n; i++) {
        lang_sql(&f->out, " WHEN ");
        lang_text(&f->out, json_str(json_get(json_at(options, i), "name"), STR("")));
        lang_sql(&f->out, " THEN %zu", i);
    }
    lang_sql(&f->out, " WHEN NULL THEN NULL END");
    if (f->out.values && f->out.values->n > CONDITIONS_MAX)
        (void)refuse_filter(f, "body failed validation", STR("too many options to sort by"));
}

static bool compile_sort(struct notion_filter *f, const struct json *in)
{
    struct str property = json_str(json_get(in, "property"), STR_NULL);
    struct str direction = json_str(json_get(in, "direction"), STR("ascending"));
    bool is_down = str_is(direction, "descending");
    struct operand_in x = {.type = find_filter_type(json_str(json_get(in, "timestamp"), STR(""))),
                           .id = STR("")};

    if (!is_down && !str_is(direction, "ascending"))
        return refuse_filter(f, "body failed validation", direction);
    if (property.p ? !look_up_property(f, property, NULL, &x) : !x.type || x.type->path != NULL)
        return refuse_filter(f, "body failed validation", STR("body.sorts"));
    if (x.type->kind == KIND_OPTION)
        add_filter_place(f, &x);
    else
        add_operand_value(f, &x);
    lang_sql(&f->out, "%s%s NULLS LAST", x.type->kind == KIND_TEXT ? " COLLATE NOCASE" : "",
             is_down ? " DESC" : " ASC");
    return !f->err->code;
}

/* ---- the languages ---- */

static int finish_filter(struct notion_filter *f, bool is_good, struct appdb_predicate *ret)
{
    if (is_good)
        return lang_end(&f->out, ret, f->err);
    lang_drop(&f->out);
    return f->err->code;
}

int lang_notion_filter(const struct json *config, struct str text, struct arena *a,
                       struct appdb_predicate *ret, struct err *e)
{
    struct err own = ERR_INIT;
    const struct json *request = json_parse(a, text, NULL, NULL);
    const struct json *filter = json_get(request, "filter");
    struct notion_filter f = {
        .config = config, .schema = json_get(request, "schema"), .err = e ? e : &own};

    lang_begin(&f.out, a);
    /* The server leaves an empty filter out. */
    if (!filter || json_is(filter, JSON_NULL) || (json_is(filter, JSON_OBJECT) && filter->n == 0)) {
        lang_sql(&f.out, "1");
        return finish_filter(&f, true, ret);
    }
    return finish_filter(&f, compile_filter(&f, filter, 0), ret);
}

int lang_notion_sort(const struct json *config, struct str text, struct arena *a,
                     struct appdb_predicate *ret, struct err *e)
{
    struct err own = ERR_INIT;
    const struct json *request = json_parse(a, text, NULL, NULL);
    const struct json *sorts = json_get(request, "sorts");
    struct notion_filter f = {
        .config = config, .schema = json_get(request, "schema"), .err = e ? e : &own};
    bool is_good = true;

    lang_begin(&f.out, a);
    /* A constant, but not a number: that would be a column. */
    lang_sql(&f.out, "NULL");
    for (size_t i = 0; is_good && json_is(sorts, JSON_ARRAY) && i < sorts->n; i++) {
        lang_sql(&f.out, ", ");
        is_good = i < 100 ? compile_sort(&f, json_at(sorts, i))
                          : refuse_filter(&f, "body failed validation", STR("body.sorts"));
    }
    return finish_filter(&f, is_good, ret);
}
