/* SPDX-License-Identifier: MIT */
/* SQL of JQL and CQL, by the fields of app.json. */
#include <errno.h>

#include "apps/lang/aql.h"
#include "apps/text/scan.h"

struct aql_writer {
    const struct json *config;
    struct lang_out out;
    struct err *err;
};

/* What a template's places stand for. */
struct places {
    const struct aql_value *value;    /* {v} */
    unsigned number;                  /* of its parameter, 0 before it has one */
    const struct aql_value *function; /* {f} */
    const struct aql_value *caller;   /* of whose arguments {1} is the first */
};

/* ---- fields ---- */

/* cf[10016] is customfield_10016. */
static struct str plain_name(struct aql_writer *w, struct str name)
{
    if (name.len > 4 && str_ieq(str_slice(name, 0, 3), STR("cf[")) && name.p[name.len - 1] == ']') {
        struct str number = str_slice(name, 3, name.len - 1);
        return arena_printf(w->out.arena, "customfield_" STR_FMT, STR_ARG(number));
    }
    return name;
}

static const struct json *find_member(const struct json *object, struct str name)
{
    for (size_t i = 0; json_is(object, JSON_OBJECT) && i < object->n; i++) {
        if (str_ieq(object->members[i].key, name))
            return &object->members[i].value;
    }
    return NULL;
}

static const struct json *find_aql_field(struct aql_writer *w, struct str name)
{
    const struct json *fields = json_get(w->config, "fields");
    const struct json *f = find_member(fields, plain_name(w, name));

    if (json_is(f, JSON_STRING))
        f = find_member(fields, f->s);
    if (!f)
        (void)err_set(w->err, -EINVAL,
                      "Field '" STR_FMT
                      "' does not exist or you do not have permission to view it.",
                      STR_ARG(str_slice(name, 0, 100)));
    return f;
}

static const char *part(const struct json *field, const char *name)
{
    return json_str(json_get(field, name), STR_NULL).p;
}

static int unsupported(struct aql_writer *w, const struct aql_node *n)
{
    return err_set(w->err, -EINVAL,
                   "The operator '%s' is not supported by the '" STR_FMT "' field.",
                   aql_op_name(n->op), STR_ARG(str_slice(n->field, 0, 100)));
}

/* ---- templates ---- */

static int add_aql_template(struct aql_writer *w, const char *template, struct places *at);

static int add_aql_function(struct aql_writer *w, const struct aql_value *f)
{
    const struct json *sql = find_member(json_get(w->config, "functions"), f->text);

    if (!json_is(sql, JSON_STRING))
        return err_set(w->err, -EINVAL, "Unable to find JQL function '" STR_FMT "()'.",
                       STR_ARG(str_slice(f->text, 0, 100)));
    return add_aql_template(w, sql->s.p, &(struct places){.caller = f});
}

/* "{1}" in the SQL of a function; absent arguments are NULL. */
static void add_argument(struct aql_writer *w, const struct aql_value *f, size_t i)
{
    if (f && i < f->n && f->items[i].kind == AQL_TEXT)
        lang_text(&w->out, f->items[i].text);
    else
        lang_sql(&w->out, "NULL");
}

static int add_aql_place(struct aql_writer *w, char what, struct places *at)
{
    if (what == 'f' && !at->function)
        return err_set(w->err, -EOPNOTSUPP, "app.json: {f} where no function can be");
    if (what == 'f')
        return add_aql_function(w, at->function);
    if (what == 'v' && at->number) {
        lang_sql(&w->out, ":_%u", at->number);
    } else if (what == 'v' && at->value) {
        lang_text(&w->out, at->value->text);
        at->number = w->out.values->n;
    } else if (what >= '1' && what <= '9') {
        add_argument(w, at->caller, (size_t)(what - '1'));
    }
    return 0;
}

static int add_aql_template(struct aql_writer *w, const char *template, struct places *at)
{
    struct str rest = str_of(template);
    int r = 0;

    while (r == 0 && rest.len > 0) {
        ptrdiff_t open = str_chr(rest, '{');
        if (open < 0 || rest.len < (size_t)open + 3 || rest.p[open + 2] != '}') {
            lang_sql(&w->out, STR_FMT, STR_ARG(rest));
            return 0;
        }
        lang_sql(&w->out, STR_FMT, (int)open, rest.p);
        r = add_aql_place(w, rest.p[open + 1], at);
        rest = str_skip(rest, (size_t)open + 3);
    }
    return r;
}

/* ---- one value ---- */

static int bad_value(struct aql_writer *w, const struct aql_node *n, const struct aql_value *v)
{
    struct str field = str_slice(n->field, 0, 60), text = str_slice(v->text, 0, 60);

    if (v->kind == AQL_FUNCTION)
        return err_set(w->err, -EINVAL,
                       "Unable to find JQL function '" STR_FMT "()' for the field '" STR_FMT "'.",
                       STR_ARG(text), STR_ARG(field));
    return err_set(w->err, -EINVAL,
                   "Date value '" STR_FMT "' for field '" STR_FMT
                   "' is invalid. Valid formats include: 'yyyy/MM/dd HH:mm', 'yyyy-MM-dd HH:mm', "
                   "'yyyy/MM/dd', 'yyyy-MM-dd', or a period format e.g. '-5d', '4w 2d'.",
                   STR_ARG(text), STR_ARG(field));
}

static int add_number_value(struct aql_writer *w, const struct aql_node *n,
                            const struct aql_value *v)
{
    double number;

    if (v->kind != AQL_TEXT || !scan_number(v->text, &number))
        return err_set(w->err, -EINVAL,
                       "The value '" STR_FMT "' for the field '" STR_FMT "' is not a number.",
                       STR_ARG(str_slice(v->text, 0, 100)), STR_ARG(str_slice(n->field, 0, 60)));
    lang_real(&w->out, number);
    return 0;
}

/* The value behind a comparison of dates or numbers. */
static int add_scalar(struct aql_writer *w, const struct json *f, const struct aql_node *n,
                      const struct aql_value *v)
{
    if (part(f, "number"))
        return add_number_value(w, n, v);
    int r = aql_date(&w->out, v, json_bool(json_get(f, "is_day"), false));
    return r == -EINVAL ? bad_value(w, n, v) : r;
}

/* "field is v", of whichever kind the field is. */
static int add_is(struct aql_writer *w, const struct json *f, const struct aql_node *n,
                  const struct aql_value *v)
{
    const char *column = part(f, "number") ? part(f, "number") : part(f, "date");
    const char *template = v->kind == AQL_FUNCTION ? part(f, "in") : part(f, "is");

    if (v->kind == AQL_EMPTY)
        return part(f, "empty") ? add_aql_template(w, part(f, "empty"), &(struct places){0})
                                : unsupported(w, n);
    if (column) {
        lang_sql(&w->out, "%s = ", column);
        return add_scalar(w, f, n, v);
    }
    if (!template)
        return v->kind == AQL_FUNCTION ? bad_value(w, n, v) : unsupported(w, n);
    struct places at = {.value = v, .function = v->kind == AQL_FUNCTION ? v : NULL};
    return add_aql_template(w, template, &at);
}

/* One of the values; of a single one: it. */
static int add_any_value(struct aql_writer *w, const struct json *f, const struct aql_node *n)
{
    const struct aql_value *v = &n->value;
    int r = 0;

    if (v->kind != AQL_LIST)
        return add_is(w, f, n, v);
    for (size_t i = 0; r == 0 && i < v->n; i++) {
        if (v->items[i].kind == AQL_LIST)
            return unsupported(w, n);
        lang_sql(&w->out, "%s(", i ? " OR " : "");
        r = add_is(w, f, n, &v->items[i]);
        lang_sql(&w->out, ")");
    }
    return r;
}

/* ---- operators ---- */

static int add_equality(struct aql_writer *w, const struct json *f, const struct aql_node *n)
{
    bool is_not = n->op == AQL_NE || n->op == AQL_NOT_IN || n->op == AQL_IS_NOT;
    bool is_single = n->op == AQL_EQ || n->op == AQL_NE;
    const char *empty = part(f, "empty");

    if (is_single && n->value.kind == AQL_LIST)
        return err_set(w->err, -EINVAL,
                       "Operator '%s' does not support the list value for field '" STR_FMT "'.",
                       aql_op_name(n->op), STR_ARG(str_slice(n->field, 0, 100)));
    if ((n->op == AQL_IS || n->op == AQL_IS_NOT) && n->value.kind != AQL_EMPTY)
        return err_set(w->err, -EINVAL,
                       "The operator '%s' only supports the values EMPTY and NULL, not '" STR_FMT
                       "'.",
                       aql_op_name(n->op), STR_ARG(str_slice(n->value.text, 0, 100)));
    /* What is empty is not unequal to anything either. */
    if (is_not && n->value.kind != AQL_EMPTY && empty)
        lang_sql(&w->out, "NOT (%s) AND ", empty);
    lang_sql(&w->out, "(");
    int r = add_any_value(w, f, n);
    lang_sql(&w->out, is_not ? ") IS NOT TRUE" : ")");
    return r;
}

static int add_comparison(struct aql_writer *w, const struct json *f, const struct aql_node *n)
{
    const char *column = part(f, "number") ? part(f, "number") : part(f, "date");

    if (n->value.kind == AQL_LIST || n->value.kind == AQL_EMPTY)
        return unsupported(w, n);
    if (column) {
        lang_sql(&w->out, "%s %s ", column, aql_op_name(n->op));
        return add_scalar(w, f, n, &n->value);
    }
    if (!part(f, "rank") || n->value.kind != AQL_TEXT)
        return unsupported(w, n);
    lang_sql(&w->out, "%s %s ", part(f, "rank"), aql_op_name(n->op));
    return add_aql_template(w, part(f, "rank_of"), &(struct places){.value = &n->value});
}

static int add_text_match(struct aql_writer *w, const struct json *f, const struct aql_node *n)
{
    const struct json *columns = json_get(f, "text");

    if (!json_is(columns, JSON_ARRAY) || n->value.kind != AQL_TEXT)
        return unsupported(w, n);
    if (str_trim(n->value.text).len == 0)
        return err_set(w->err, -EINVAL,
                       "The field '" STR_FMT "' does not support searching for an empty string.",
                       STR_ARG(str_slice(n->field, 0, 100)));
    lang_sql(&w->out, "%stext_match(", n->op == AQL_NOT_MATCH ? "NOT " : "");
    lang_text(&w->out, n->value.text);
    for (size_t i = 0; i < columns->n; i++)
        lang_sql(&w->out, ", %s", json_str(json_at(columns, i), STR("")).p);
    lang_sql(&w->out, ")");
    return 0;
}

/* ---- history ---- */

/* The conditions on h, a row of the changes: BY, AFTER, BEFORE, ON, DURING. */
static int add_change_time(struct aql_writer *w, const struct aql_node *n,
                           const struct aql_predicate *p)
{
    const struct aql_value *v = &p->value;
    const struct aql_value *from = v->kind == AQL_LIST ? &v->items[0] : v;
    const struct aql_value *to = v->kind == AQL_LIST && v->n > 1 ? &v->items[1] : v;
    bool is_on = str_is(p->word, "on"), is_during = str_is(p->word, "during");

    if (is_during && (v->kind != AQL_LIST || v->n != 2))
        return bad_value(w, n, from);
    lang_sql(&w->out, " AND %s %s ", is_on ? "substr(h.created, 1, 10)" : "h.created",
             is_on                       ? "="
             : str_is(p->word, "before") ? "<"
                                         : ">=");
    int r = aql_date(&w->out, from, is_on);
    if (r == 0 && is_during) {
        lang_sql(&w->out, " AND h.created <= ");
        r = aql_date(&w->out, to, false);
    }
    return r == -EINVAL ? bad_value(w, n, from) : r;
}

static int add_change_value(struct aql_writer *w, const char *column, const struct aql_value *v)
{
    if (v->kind == AQL_EMPTY)
        lang_sql(&w->out, " AND %s IS NULL", column);
    else if (v->kind == AQL_TEXT) {
        lang_sql(&w->out, " AND %s = ", column);
        lang_text(&w->out, v->text);
        lang_sql(&w->out, " COLLATE NOCASE");
    }
    return 0;
}

static int add_change_by(struct aql_writer *w, const struct json *f, const struct aql_value *v)
{
    const char *by = part(f, "by");

    lang_sql(&w->out, " AND h.author IN (");
    int r = v->kind == AQL_FUNCTION
                ? add_aql_function(w, v)
                : add_aql_template(w, by ? by : "{v}", &(struct places){.value = v});
    lang_sql(&w->out, ")");
    return r;
}

static int add_predicates(struct aql_writer *w, const struct json *f, const struct aql_node *n)
{
    int r = 0;

    for (const struct aql_predicate *p = n->predicates; r == 0 && p; p = p->next) {
        if (str_is(p->word, "from"))
            r = add_change_value(w, "h.from_text", &p->value);
        else if (str_is(p->word, "to"))
            r = add_change_value(w, "h.to_text", &p->value);
        else if (str_is(p->word, "by"))
            r = add_change_by(w, f, &p->value);
        else
            r = add_change_time(w, n, p);
    }
    return r;
}

/* The field has or had one of the values, or changed at all. */
static int add_history(struct aql_writer *w, const struct json *f, const struct aql_node *n)
{
    const char *changed = part(f, "changed");
    bool is_not = n->op == AQL_WAS_NOT || n->op == AQL_WAS_NOT_IN;
    const struct aql_value *v = &n->value;
    size_t n_values = n->op == AQL_CHANGED ? 0 : v->kind == AQL_LIST ? v->n : 1;
    int r = 0;

    if (!changed)
        return err_set(w->err, -EINVAL, "History searches do not support the '" STR_FMT "' field.",
                       STR_ARG(str_slice(n->field, 0, 100)));
    lang_sql(&w->out, is_not ? "NOT (0" : "(0");
    if (n_values == 0) {
        lang_sql(&w->out, " OR EXISTS (%s", changed);
        r = add_predicates(w, f, n);
        lang_sql(&w->out, ")");
    }
    for (size_t i = 0; r == 0 && i < n_values; i++) {
        const struct aql_value *one = v->kind == AQL_LIST ? &v->items[i] : v;
        /* Without further words what it is now counts too. */
        if (!n->predicates) {
            lang_sql(&w->out, " OR ifnull(");
            r = add_is(w, f, n, one);
            lang_sql(&w->out, ", 0)");
        }
        lang_sql(&w->out, " OR EXISTS (%s AND (1", changed);
        (void)add_change_value(w, "h.from_text", one);
        lang_sql(&w->out, " OR 1");
        (void)add_change_value(w, "h.to_text", one);
        lang_sql(&w->out, ")");
        if (r == 0)
            r = add_predicates(w, f, n);
        lang_sql(&w->out, ")");
    }
    lang_sql(&w->out, ")");
    return r;
}

/* ---- the tree ---- */

static int add_clause(struct aql_writer *w, const struct aql_node *n)
{
    const struct json *f = find_aql_field(w, n->field);

    if (!f)
        return -EINVAL;
    switch (n->op) {
    case AQL_LT:
    case AQL_LE:
    case AQL_GT:
    case AQL_GE: return add_comparison(w, f, n);
    case AQL_MATCH:
    case AQL_NOT_MATCH: return add_text_match(w, f, n);
    case AQL_WAS:
    case AQL_WAS_NOT:
    case AQL_WAS_IN:
    case AQL_WAS_NOT_IN:
    case AQL_CHANGED: return add_history(w, f, n);
    case AQL_EQ:
    case AQL_NE:
    case AQL_IN:
    case AQL_NOT_IN:
    case AQL_IS:
    case AQL_IS_NOT:
    case AQL_OP_COUNT: break;
    }
    return add_equality(w, f, n);
}

/* Nested at most AQL_MAX_DEPTH deep: the parser saw to it. NOT stands behind what it negates, so
 * that SQLite's own parser needs no more room for it than for parentheses. */
static int add_node(struct aql_writer *w, const struct aql_node *n)
{
    int r = 0;

    if (n->kind == AQL_CLAUSE)
        return add_clause(w, n);
    for (const struct aql_node *c = n->first; r == 0 && c; c = c->next) {
        if (c != n->first)
            lang_sql(&w->out, n->kind == AQL_AND ? " AND " : " OR ");
        lang_sql(&w->out, "(");
        r = add_node(w, c);
        lang_sql(&w->out, ")");
    }
    if (n->kind == AQL_NOT)
        lang_sql(&w->out, " IS NOT TRUE");
    return r;
}

/* ---- values that are not known ---- */

static void add_unknown_value(struct aql_writer *w, const struct json *f, const struct aql_node *n,
                              const struct aql_value *v)
{
    const char *missing = part(f, "missing");
    struct str text;

    for (size_t i = 0; v->kind == AQL_LIST && i < v->n; i++)
        add_unknown_value(w, f, n, &v->items[i]);
    if (v->kind != AQL_TEXT)
        return;
    if (missing)
        text =
            arena_printf(w->out.arena, "%s '" STR_FMT "' does not exist for field '" STR_FMT "'.",
                         missing, STR_ARG(v->text), STR_ARG(n->field));
    else
        text = arena_printf(w->out.arena,
                            "The value '" STR_FMT "' does not exist for the field '" STR_FMT "'.",
                            STR_ARG(v->text), STR_ARG(n->field));
    lang_sql(&w->out, " WHEN NOT EXISTS (");
    (void)add_aql_template(w, part(f, "exists"), &(struct places){.value = v});
    lang_sql(&w->out, ") THEN ");
    lang_text(&w->out, text);
}

static void add_checks(struct aql_writer *w, const struct aql_node *n)
{
    for (const struct aql_node *c = n->first; c; c = c->next)
        add_checks(w, c);
    const struct json *f = n->kind == AQL_CLAUSE ? find_aql_field(w, n->field) : NULL;
    if (f && part(f, "exists") && n->op != AQL_CHANGED && n->op != AQL_MATCH)
        add_unknown_value(w, f, n, &n->value);
}

/* ---- order ---- */

static int add_sort(struct aql_writer *w, const struct aql_sort *s)
{
    static const char *const keys[] = {"sort", "rank", "date", "number"};
    const struct json *f = find_aql_field(w, s->field);
    const char *sql = NULL;

    if (!f)
        return -EINVAL;
    for (size_t i = 0; !sql && i < ARRAY_LEN(keys); i++)
        sql = part(f, keys[i]);
    if (!sql)
        return err_set(w->err, -EINVAL, "Not able to sort using field '" STR_FMT "'.",
                       STR_ARG(str_slice(s->field, 0, 100)));
    lang_sql(&w->out, "%s %s, ", sql, s->is_descending ? "DESC NULLS FIRST" : "ASC NULLS LAST");
    return 0;
}

/* ---- the languages ---- */

typedef int aql_writer(struct aql_writer *w, const struct aql_query *q);

static int write_where(struct aql_writer *w, const struct aql_query *q)
{
    if (q->where)
        return add_node(w, q->where);
    lang_sql(&w->out, "1");
    return 0;
}

static int write_order(struct aql_writer *w, const struct aql_query *q)
{
    const char *order = part(w->config, "order"), *tie = part(w->config, "tie");
    int r = 0;

    for (size_t i = 0; r == 0 && i < q->n_sorts; i++)
        r = add_sort(w, &q->sorts[i]);
    if (q->n_sorts == 0 && order)
        lang_sql(&w->out, "%s, ", order);
    lang_sql(&w->out, "%s", tie ? tie : "1");
    return r;
}

static int write_check(struct aql_writer *w, const struct aql_query *q)
{
    int r = write_where(w, q);

    /* The expression reported what is wrong; it is not a part of the answer. */
    buf_clear(&w->out.sql);
    w->out.values->n = 0;
    if (r < 0)
        return r;
    lang_sql(&w->out, "CASE WHEN 0 THEN ''");
    if (q->where)
        add_checks(w, q->where);
    lang_sql(&w->out, " END");
    return 0;
}

static int compile_aql(const struct json *config, struct str text, aql_writer *write,
                       struct lang_out *out, struct err *e)
{
    struct aql_writer w = {.config = config, .out = *out, .err = e};
    struct aql_query *q = arena_new(out->arena, struct aql_query);
    int r = q && !out->has_failed ? aql_parse(text, out->arena, q, e)
                                  : err_set(e, -ENOMEM, "out of memory");

    if (r == 0)
        r = write(&w, q);
    *out = w.out;
    return r;
}

static int finish_aql(struct lang_out *o, int r, struct appdb_predicate *ret, struct err *e)
{
    if (r == 0)
        return lang_end(o, ret, e);
    lang_drop(o);
    return r;
}

int aql_where(const struct json *config, struct str text, struct arena *a,
              struct appdb_predicate *ret, struct err *e)
{
    struct lang_out o;

    lang_begin(&o, a);
    return finish_aql(&o, compile_aql(config, text, write_where, &o, e), ret, e);
}

int aql_order(const struct json *config, struct str text, struct arena *a,
              struct appdb_predicate *ret, struct err *e)
{
    struct lang_out o;

    lang_begin(&o, a);
    return finish_aql(&o, compile_aql(config, text, write_order, &o, e), ret, e);
}

int aql_check(const struct json *config, struct str text, struct arena *a,
              struct appdb_predicate *ret, struct err *e)
{
    struct lang_out o;

    lang_begin(&o, a);
    return finish_aql(&o, compile_aql(config, text, write_check, &o, e), ret, e);
}
