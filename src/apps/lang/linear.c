/* SPDX-License-Identifier: MIT */
/* Linear's filters: objects of fields and comparators, {"title": {"contains": "boot"}}, joined by
 * "and" and "or", into related things by their fields, {"assignee": {"email": {"eq": "…"}}}, and
 * into collections by "some", "every" and "length".
 *
 * CONFIG has the types: {"type": "IssueFilter", "types": {"IssueFilter": {"title": {"text":
 * "i.title"}, …}}}. A field is a column ("text", "number", "date" or "bool") or has the "type" of
 * what it leads to: "one" is "table alias WHERE …" of the thing, "many" of a collection. */
#include <errno.h>

#include "apps/lang/lang_internal.h"
#include "apps/text/scan.h"

enum {
    MAX_NESTED = 12, /* objects in each other; SQLite's parser has its own limit */
    MAX_PARTS = 60   /* comparators together */
};

struct linear_filter {
    const struct json *types;
    struct lang_out out;
    struct err *err;
    unsigned depth, n_parts;
};

static int unknown(struct linear_filter *f, struct str field, struct str type)
{
    return err_set(f->err, -EINVAL,
                   "Variable \"$filter\" got invalid value; Field \"" STR_FMT
                   "\" is not defined by type \"" STR_FMT "\".",
                   STR_ARG(str_slice(field, 0, 80)), STR_ARG(type));
}

static int invalid_filter(struct linear_filter *f, struct str field, const char *why)
{
    return err_set(f->err, -EINVAL,
                   "Variable \"$filter\" got invalid value at \"" STR_FMT "\"; %s.",
                   STR_ARG(str_slice(field, 0, 80)), why);
}

/* What callers that fill in forms leave behind: it says nothing. */
static bool is_left_empty(const struct json *v)
{
    return json_is(v, JSON_NULL) || (json_is(v, JSON_STRING) && v->s.len == 0) ||
           (json_is(v, JSON_OBJECT) && v->n == 0);
}

/* ---- values ---- */

enum column { TEXT, NUMBER, DATE, BOOL, COLUMN_COUNT };

static const char *const column_names[COLUMN_COUNT] = {"text", "number", "date", "bool"};

static bool is_linear_date(struct str s)
{
    return scan_fits(s, "9999-99-99") && (s.len == 10 || s.p[10] == 'T' || s.p[10] == ' ');
}

/* The modifier of SQLite's dates for N of the unit LETTER; false when there is none. */
static bool add_unit(struct buf *out, char sign, uint64_t n, char letter, bool is_time)
{
    static const struct {
        char letter;
        bool is_time;
        unsigned times;
        const char *unit;
    } units[] = {{'Y', false, 1, "years"}, {'M', false, 1, "months"}, {'W', false, 7, "days"},
                 {'D', false, 1, "days"},  {'H', true, 1, "hours"},   {'M', true, 1, "minutes"},
                 {'S', true, 1, "seconds"}};

    for (size_t k = 0; k < ARRAY_LEN(units); k++) {
        if (units[k].letter == letter && units[k].is_time == is_time)
            return buf_printf(out, ", '%c%llu %s'", sign, (unsigned long long)n * units[k].times,
                              units[k].unit) == 0;
    }
    return false;
}

/* The units of "1DT12H"; false when it is malformed. */
static bool add_units(struct buf *out, char sign, struct str s)
{
    bool is_time = false;

    while (s.len > 0) {
        size_t digits = 0;
        uint64_t n = 0;
        if (s.p[0] == 'T') {
            is_time = true;
            s = str_skip(s, 1);
        }
        while (digits < s.len && s.p[digits] >= '0' && s.p[digits] <= '9')
            digits++;
        if (digits == 0 || digits > 6 || digits == s.len)
            return false;
        (void)str_to_u64(str_slice(s, 0, digits), &n);
        if (!add_unit(out, sign, n, s.p[digits], is_time))
            return false;
        s = str_skip(s, digits + 1);
    }
    return out->len > 0;
}

/* "-P2W", "P1DT12H": so long from now. Writes nothing when S is none. */
static bool write_duration(struct lang_out *o, struct str s)
{
    auto_buf struct buf b = BUF_INIT(256);
    bool is_back = str_starts(s, STR("-"));

    s = str_skip(s, is_back || str_starts(s, STR("+")));
    if (!str_starts(s, STR("P")) || !add_units(&b, is_back ? '-' : '+', str_skip(s, 1)))
        return false;
    lang_sql(o, "julianday(now()" STR_FMT ")", STR_ARG(buf_str(&b)));
    return true;
}

static int write_linear_value(struct linear_filter *f, enum column kind, struct str field,
                              const struct json *v)
{
    switch (kind) {
    case TEXT:
        if (!json_is(v, JSON_STRING))
            return invalid_filter(f, field, "String cannot represent a non string value");
        lang_text(&f->out, v->s);
        return 0;
    case NUMBER:
        if (!json_is_number(v))
            return invalid_filter(f, field, "Float cannot represent non numeric value");
        lang_real(&f->out, json_real(v, 0));
        return 0;
    case BOOL:
        if (!json_is(v, JSON_BOOL))
            return invalid_filter(f, field, "Boolean cannot represent a non boolean value");
        lang_int(&f->out, v->b);
        return 0;
    case DATE:
    case COLUMN_COUNT: break;
    }
    struct str s = json_str(v, STR(""));
    if (write_duration(&f->out, s))
        return 0;
    if (!is_linear_date(s))
        return invalid_filter(f, field, "Expected a date, a time or a duration in ISO 8601");
    lang_sql(&f->out, "julianday(");
    lang_text(&f->out, s);
    lang_sql(&f->out, ")");
    return 0;
}

/* ---- comparators ---- */

/* SQL of "COLUMN … VALUE": before the column, between, behind the value. */
struct comparator {
    const char *name;
    unsigned kinds; /* of columns that have it */
    const char *before, *between, *behind;
    bool is_not; /* of the whole */
};

#define ANY   (1U << TEXT | 1U << NUMBER | 1U << DATE | 1U << BOOL)
#define ORDER (1U << NUMBER | 1U << DATE)
#define WORDS (1U << TEXT)

static const struct comparator comparators[] = {
    {"eq", ANY, "", " IS ", "", false},
    {"neq", ANY, "", " IS NOT ", "", false},
    {"lt", ORDER, "", " < ", "", false},
    {"lte", ORDER, "", " <= ", "", false},
    {"gt", ORDER, "", " > ", "", false},
    {"gte", ORDER, "", " >= ", "", false},
    {"eqIgnoreCase", WORDS, "lower(", ") IS lower(", ")", false},
    {"neqIgnoreCase", WORDS, "lower(", ") IS NOT lower(", ")", false},
    {"contains", WORDS, "instr(", ", ", ")", false},
    {"notContains", WORDS, "instr(", ", ", ")", true},
    {"containsIgnoreCase", WORDS, "instr(lower(", "), lower(", "))", false},
    {"notContainsIgnoreCase", WORDS, "instr(lower(", "), lower(", "))", true},
    {"startsWith", WORDS, "1 = instr(", ", ", ")", false},
    {"startsWithIgnoreCase", WORDS, "1 = instr(lower(", "), lower(", "))", false},
    {"notStartsWith", WORDS, "1 = instr(", ", ", ")", true},
};

static void write_column(struct linear_filter *f, enum column kind, const char *sql)
{
    if (kind == DATE)
        lang_sql(&f->out, "julianday(%s)", sql);
    else
        lang_sql(&f->out, "%s", sql);
}

static int write_compared(struct linear_filter *f, enum column kind, const char *sql,
                          const struct json_member *m)
{
    const struct comparator *c = comparators;

    while (c < comparators + ARRAY_LEN(comparators) && !str_is(m->key, c->name))
        c++;
    if (c == comparators + ARRAY_LEN(comparators) || !(c->kinds & 1U << kind))
        return unknown(f, m->key, STR("Comparator"));
    lang_sql(&f->out, "%s(%s", c->is_not ? "NOT ifnull" : "", c->before);
    write_column(f, kind, sql);
    lang_sql(&f->out, "%s", c->between);
    int r = write_linear_value(f, kind, m->key, &m->value);
    lang_sql(&f->out, "%s%s)", c->behind, c->is_not ? ", 0" : "");
    return r;
}

/* "in" and "nin". */
static int write_value_list(struct linear_filter *f, enum column kind, const char *sql,
                            const struct json_member *m)
{
    int r = json_is(&m->value, JSON_ARRAY) ? 0 : invalid_filter(f, m->key, "Expected a list");

    lang_sql(&f->out, "%s ifnull(", str_is(m->key, "nin") ? "NOT" : "");
    write_column(f, kind, sql);
    lang_sql(&f->out, " IN (");
    for (size_t i = 0; r == 0 && i < m->value.n; i++) {
        lang_sql(&f->out, "%s", i > 0 ? ", " : "");
        r = ++f->n_parts > MAX_PARTS ? invalid_filter(f, m->key, "Query is too complex")
                                     : write_linear_value(f, kind, m->key, json_at(&m->value, i));
    }
    lang_sql(&f->out, "), 0)");
    return r;
}

static int write_null(struct linear_filter *f, const char *sql, const struct json_member *m)
{
    if (!json_is(&m->value, JSON_BOOL))
        return invalid_filter(f, m->key, "Boolean cannot represent a non boolean value");
    lang_sql(&f->out, "%s IS %s", sql, m->value.b ? "NULL" : "NOT NULL");
    return 0;
}

/* A value alone is what the column has to be. */
static int write_comparators(struct linear_filter *f, enum column kind, const char *sql,
                             struct str field, const struct json *v)
{
    int r = 0;

    if (!json_is(v, JSON_OBJECT)) {
        struct json_member eq = {STR("eq"), *v};
        return write_compared(f, kind, sql, &eq);
    }
    lang_sql(&f->out, "(1");
    for (size_t i = 0; r == 0 && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (is_left_empty(&m->value))
            continue;
        if (++f->n_parts > MAX_PARTS)
            return invalid_filter(f, field, "Query is too complex");
        lang_sql(&f->out, " AND ");
        if (str_is(m->key, "in") || str_is(m->key, "nin"))
            r = write_value_list(f, kind, sql, m);
        else if (str_is(m->key, "null"))
            r = write_null(f, sql, m);
        else
            r = write_compared(f, kind, sql, m);
    }
    lang_sql(&f->out, ")");
    return r;
}

/* ---- objects ---- */

static int write_linear_object(struct linear_filter *f, struct str type, const struct json *v);

/* Of a collection: {"some": {…}}, {"every": {…}}, {"length": {"gt": 2}}; else some. */
static int write_many(struct linear_filter *f, const struct json *spec, const char *from,
                      const struct json *v)
{
    struct str type = json_str(json_get(spec, "type"), STR(""));
    const struct json *every = json_get(v, "every"), *some = json_get(v, "some");
    const struct json *length = json_get(v, "length");
    auto_buf struct buf count = BUF_INIT(1024);

    if (length) {
        (void)buf_printf(&count, "(SELECT count(*) FROM %s)", from);
        const char *sql = buf_cstr(&count);
        return write_comparators(f, NUMBER, sql ? sql : "0", STR("length"), length);
    }
    lang_sql(&f->out, "%s EXISTS (SELECT 1 FROM %s AND %s ifnull(", every ? "NOT" : "", from,
             every ? "NOT" : "");
    int r = write_linear_object(f, type, every ? every : some ? some : v);
    lang_sql(&f->out, ", 0))");
    return r;
}

static int write_one(struct linear_filter *f, const struct json *spec, const char *from,
                     const struct json *v)
{
    const struct json *null = json_get(v, "null");

    if (json_is(null, JSON_BOOL)) {
        lang_sql(&f->out, "%s EXISTS (SELECT 1 FROM %s)", null->b ? "NOT" : "", from);
        return 0;
    }
    lang_sql(&f->out, "EXISTS (SELECT 1 FROM %s AND ", from);
    int r = write_linear_object(f, json_str(json_get(spec, "type"), STR("")), v);
    lang_sql(&f->out, ")");
    return r;
}

static int write_linear_field(struct linear_filter *f, struct str type, struct str field,
                              const struct json *v)
{
    const struct json *spec = json_get_str(json_get_str(f->types, type), field);
    const char *many = json_str(json_get(spec, "many"), STR_NULL).p;
    const char *one = json_str(json_get(spec, "one"), STR_NULL).p;

    if (!spec)
        return unknown(f, field, type);
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        const char *sql = json_str(json_get(spec, column_names[k]), STR_NULL).p;
        if (sql)
            return write_comparators(f, (enum column)k, sql, field, v);
    }
    if (!json_is(v, JSON_OBJECT))
        return invalid_filter(f, field, "Expected type to be an object");
    return many ? write_many(f, spec, many, v) : write_one(f, spec, one ? one : "(SELECT 1)", v);
}

/* The items of "and" or "or". */
static int write_linear_joined(struct linear_filter *f, struct str type, bool is_or,
                               const struct json *v)
{
    int r = json_is(v, JSON_ARRAY)
                ? 0
                : invalid_filter(f, is_or ? STR("or") : STR("and"), "Expected a list");

    lang_sql(&f->out, "(%d", !is_or || (v && v->n == 0));
    for (size_t i = 0; r == 0 && i < v->n; i++) {
        lang_sql(&f->out, " %s ", is_or ? "OR" : "AND");
        r = write_linear_object(f, type, json_at(v, i));
    }
    lang_sql(&f->out, ")");
    return r;
}

static int write_linear_object(struct linear_filter *f, struct str type, const struct json *v)
{
    int r = 0;

    if (!json_is(v, JSON_OBJECT))
        return invalid_filter(f, type, "Expected type to be an object");
    if (++f->depth > MAX_NESTED)
        return invalid_filter(f, type, "Query is too complex");
    lang_sql(&f->out, "(1");
    for (size_t i = 0; r == 0 && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (is_left_empty(&m->value))
            continue;
        if (++f->n_parts > MAX_PARTS)
            return invalid_filter(f, m->key, "Query is too complex");
        lang_sql(&f->out, " AND ");
        if (str_is(m->key, "and") || str_is(m->key, "or"))
            r = write_linear_joined(f, type, m->key.len == 2, &m->value);
        else
            r = write_linear_field(f, type, m->key, &m->value);
    }
    lang_sql(&f->out, ")");
    f->depth--;
    return r;
}

int lang_linear(const struct json *config, struct str text, struct arena *a,
                struct appdb_predicate *ret, struct err *e)
{
    struct linear_filter f = {.types = json_get(config, "types"), .err = e};
    struct err own = ERR_INIT;
    const struct json *v = json_parse(a, text.len > 0 ? text : STR("{}"), NULL, &own);

    if (!v)
        return err_set(e, -EINVAL, "Variable \"$filter\" got invalid value; %s", err_text(&own));
    lang_begin(&f.out, a);
    int r = write_linear_object(&f, json_str(json_get(config, "type"), STR("")), v);
    if (r < 0) {
        lang_drop(&f.out);
        return r;
    }
    return lang_end(&f.out, ret, e);
}
