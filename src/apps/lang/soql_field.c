/* SPDX-License-Identifier: MIT */
/* SOQL: fields, those of the objects above, and functions of them. */
#include <errno.h>

#include "apps/lang/soql.h"

enum { MAX_STEPS = 4 /* a.b.c.Field */ };

static const struct {
    const char *name, *sql;
} aggregates[] = {
    {"COUNT", "count("}, {"COUNT_DISTINCT", "count(DISTINCT "},
    {"SUM", "sum("},     {"AVG", "avg("},
    {"MIN", "min("},     {"MAX", "max("},
};

/* Functions of a date, with the number that they give. */
static const struct {
    const char *name, *sql; /* the field stands between the two halves */
    const char *end;
} parts[] = {
    {"CALENDAR_YEAR", "CAST(strftime('%Y', substr(", ", 1, 10)) AS INTEGER)"},
    {"CALENDAR_MONTH", "CAST(strftime('%m', substr(", ", 1, 10)) AS INTEGER)"},
    {"CALENDAR_QUARTER", "((strftime('%m', substr(", ", 1, 10)) + 2) / 3)"},
    {"DAY_IN_MONTH", "CAST(strftime('%d', substr(", ", 1, 10)) AS INTEGER)"},
    {"DAY_IN_WEEK", "(strftime('%w', substr(", ", 1, 10)) + 1)"},
    {"DAY_IN_YEAR", "CAST(strftime('%j', substr(", ", 1, 10)) AS INTEGER)"},
    {"FISCAL_YEAR", "CAST(strftime('%Y', substr(", ", 1, 10)) AS INTEGER)"},
    {"FISCAL_QUARTER", "((strftime('%m', substr(", ", 1, 10)) + 2) / 3)"},
    {"DAY_ONLY", "substr(", ", 1, 10)"},
};

bool soql_is_aggregate(struct str fn)
{
    for (size_t i = 0; i < ARRAY_LEN(aggregates); i++) {
        if (str_iis(fn, aggregates[i].name))
            return true;
    }
    return false;
}

static int find_soql_part(struct str fn)
{
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (str_iis(fn, parts[i].name))
            return (int)i;
    }
    return -1;
}

static const struct json_member *find_soql_field(const struct json *object, struct str name)
{
    for (size_t i = 0; object && i < object->n; i++) {
        if (str_ieq(object->members[i].key, name))
            return &object->members[i];
    }
    return NULL;
}

const struct json *soql_object(const struct soql *q, struct str name, struct str *ret_name)
{
    const struct json_member *m = find_soql_field(q->objects, name);

    if (m)
        *ret_name = m->key;
    return m ? &m->value : NULL;
}

const struct json_member *soql_member(const struct json *object, const char *kind, struct str name)
{
    return find_soql_field(json_get(object, kind), name);
}

struct str soql_own_path(const struct soql_scope *s, struct str path)
{
    struct str rest = path, head = str_cut(&rest, '.');

    return rest.p && (str_ieq(head, s->name) || (s->alias.len > 0 && str_ieq(head, s->alias)))
               ? rest
               : path;
}

static enum soql_type type_of_column(const struct json *v)
{
    static const char *const names[] = {"text", "long", "number", "bool", "date", "time"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(json_str(v, STR("")), names[i]))
            return (enum soql_type)i;
    }
    return SOQL_TEXT;
}

/* The value of PATH in the row of S; names are the app's own, as the configuration has them. */
static int emit_path(struct soql *q, const struct soql_scope *s, const struct soql_operand *o,
                     enum soql_type *ret)
{
    struct str rest = soql_own_path(s, o->path), keys[MAX_STEPS], object = s->name;
    const struct json *at = s->object;
    unsigned n = 0, first = q->n_rows;

    for (;;) {
        struct str head = str_cut(&rest, '.');
        const struct json_member *m = soql_member(at, rest.p ? "parents" : "fields", head);
        if (!m && rest.p)
            return soql_fail(q, o->at, "INVALID_FIELD",
                             "Didn't understand relationship '" STR_FMT
                             "' in field path. If you are attempting to use a custom "
                             "relationship, be sure to append the '__r' after the custom "
                             "relationship name.",
                             STR_ARG(head));
        if (!m)
            return soql_fail(q, o->at, "INVALID_FIELD",
                             "No such column '" STR_FMT "' on entity '" STR_FMT
                             "'. If you are attempting to use a custom field, be sure to append "
                             "the '__c' after the custom field name.",
                             STR_ARG(head), STR_ARG(object));
        if (n == MAX_STEPS)
            return soql_fail(q, o->at, "MALFORMED_QUERY", "too many relationships in a path");
        keys[n++] = m->key;
        if (!rest.p) {
            *ret = type_of_column(&m->value);
            break;
        }
        at = soql_object(q, json_str(&m->value, STR("")), &object);
    }
    if (q->stack + n * SOQL_STACK_STEP > SOQL_STACK_MAX)
        return soql_too_complicated(q, o->at);
    q->n_rows += n - 1;
    for (unsigned i = n - 1; i > 0; i--)
        lang_sql(&q->out, "(SELECT r%u.fields ->> '" STR_FMT "%s' FROM record r%u WHERE r%u.id = ",
                 first + i - 1, STR_ARG(keys[i]), i < n - 1 ? "Id" : "", first + i - 1,
                 first + i - 1);
    lang_sql(&q->out, "r%u.fields ->> '" STR_FMT "%s'", s->row, STR_ARG(keys[0]),
             n > 1 ? "Id" : "");
    for (unsigned i = n - 1; i > 0; i--)
        lang_sql(&q->out, ")");
    return 0;
}

/* What stands before and behind the field of a function. */
static void function_sql(struct str fn, const char **ret_begin, const char **ret_end)
{
    int part = find_soql_part(fn);

    *ret_begin = *ret_end = "";
    if (part >= 0) {
        *ret_begin = parts[part].sql;
        *ret_end = parts[part].end;
    }
    for (size_t i = 0; i < ARRAY_LEN(aggregates); i++) {
        if (!str_iis(fn, aggregates[i].name))
            continue;
        *ret_begin = aggregates[i].sql;
        *ret_end = ")";
    }
}

/* Whether the function goes with a field of TYPE, and what it gives. */
static int check_soql_function(struct soql *q, const struct soql_operand *o, enum soql_type *type)
{
    bool is_sum = str_iis(o->fn, "SUM") || str_iis(o->fn, "AVG"),
         is_part = find_soql_part(o->fn) >= 0;

    if (is_sum && *type != SOQL_NUMBER)
        return soql_fail(q, o->at, "MALFORMED_QUERY",
                         "field " STR_FMT " does not support aggregate operator " STR_FMT,
                         STR_ARG(o->path), STR_ARG(o->fn));
    if (is_part && *type != SOQL_DATE && *type != SOQL_TIME)
        return soql_fail(q, o->at, "MALFORMED_QUERY",
                         "field " STR_FMT " does not support function " STR_FMT, STR_ARG(o->path),
                         STR_ARG(o->fn));
    if (str_iis(o->fn, "DAY_ONLY"))
        *type = SOQL_DATE;
    else if (is_part || str_iis(o->fn, "COUNT") || str_iis(o->fn, "COUNT_DISTINCT"))
        *type = SOQL_NUMBER;
    return 0;
}

int soql_emit(struct soql *q, const struct soql_scope *s, const struct soql_operand *o,
              enum soql_type *ret)
{
    enum soql_type type = SOQL_NUMBER;
    const char *begin, *end;
    int r = 0;

    if (soql_is_aggregate(o->fn) && !s->is_grouped)
        return soql_fail(q, o->at, "MALFORMED_QUERY",
                         "Aggregate functions are not allowed here: " STR_FMT, STR_ARG(o->fn));
    function_sql(o->fn, &begin, &end);
    lang_sql(&q->out, "%s", begin);
    if (o->path.len == 0)
        lang_sql(&q->out, "*");
    else
        r = emit_path(q, s, o, &type);
    if (r < 0 || (r = check_soql_function(q, o, &type)) < 0)
        return r;
    lang_sql(&q->out, "%s", end);
    if (ret)
        *ret = type;
    return 0;
}

int soql_operand(struct soql *q, struct soql_operand *ret)
{
    int r;

    if (q->token.kind != SOQL_WORD)
        return soql_unexpected(q);
    *ret = (struct soql_operand){STR(""), q->token.text, q->token.at};
    if ((r = soql_next(q)) < 0 || !soql_is(q, "("))
        return r;
    struct str fn = ret->path;
    bool is_plain = str_iis(fn, "toLabel") || str_iis(fn, "FORMAT");
    if (!is_plain && !soql_is_aggregate(fn) && find_soql_part(fn) < 0)
        return soql_unexpected(q);
    if ((r = soql_next(q)) < 0)
        return r;
    if (str_iis(fn, "COUNT") && soql_is(q, ")")) {
        *ret = (struct soql_operand){fn, STR(""), ret->at};
        return soql_next(q);
    }
    if (q->token.kind != SOQL_WORD)
        return soql_unexpected(q);
    *ret = (struct soql_operand){is_plain ? STR("") : fn, q->token.text, q->token.at};
    r = soql_next(q);
    return r < 0 ? r : soql_need(q, ")");
}
