/* SPDX-License-Identifier: MIT */
/* Expressions. */
#include "apps/products/bigquery/gen.h"
#include "base/cleanup.h"

static const struct bq_sql failed = {.type = &bq_scalars[BQ_ANY]};

static bool is_expr_number(enum bq_kind kind)
{
    return kind == BQ_INT64 || kind == BQ_FLOAT64 || kind == BQ_NUMERIC || kind == BQ_ANY;
}

static bool is_temporal_kind(enum bq_kind kind)
{
    return kind == BQ_DATE || kind == BQ_DATETIME || kind == BQ_TIMESTAMP || kind == BQ_TIME;
}

/* ---- literals ---- */

static struct bq_sql gen_literal(struct bq_gen *g, const struct bq_expr *e)
{
    struct bq_sql r = {.type = e->type, .is_literal = true};
    enum bq_kind kind = e->type->kind;

    if (kind == BQ_BOOL)
        r.sql = str_iis(e->text, "TRUE") ? STR("1") : STR("0");
    else if (kind == BQ_INT64)
        r.sql = bq_printf(g, STR_FMT, STR_ARG(e->text));
    else if (kind == BQ_FLOAT64)
        r.sql = bq_printf(g, "CAST(" STR_FMT " AS REAL)", STR_ARG(bq_quote(g, e->text)));
    else if (kind == BQ_STRING)
        r.sql = bq_quote(g, e->text);
    else if (kind == BQ_BYTES)
        r.sql = bq_printf(g, "base64(" STR_FMT ")", STR_ARG(bq_quote(g, e->text)));
    else
        r.sql = bq_printf(g, "bq_cast('%s', " STR_FMT ", 'STRING', 0)", bq_kind_name(kind),
                          STR_ARG(bq_quote(g, e->text)));
    return r;
}

static struct bq_sql gen_array(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    const struct bq_type *item = e->type->kind == BQ_ARRAY ? e->type->item : &bq_scalars[BQ_ANY];

    for (const struct bq_expr *part = e->first; part; part = part->next) {
        /* A bare (1, 'x') has the names of the one before. */
        struct bq_expr own = *part;
        if (part->kind == BQ_E_STRUCT && item->kind == BQ_STRUCT && part->type->kind == BQ_ANY)
            own.type = item;
        struct bq_sql v = bq_gen_expr(g, &own, s);
        if (!v.sql.p)
            return failed;
        const struct bq_type *t = bq_common(item, v.type);
        if (!t) {
            bq_fail(g, part,
                    "Array elements of types {" STR_FMT ", " STR_FMT
                    "} do not have a common supertype",
                    STR_ARG(bq_type_text(g->arena, item)), STR_ARG(bq_type_text(g->arena, v.type)));
            return failed;
        }
        item = t;
        (void)buf_printf(&b, "%s" STR_FMT, b.len > 0 ? ", " : "", STR_ARG(bq_json_arg(g, &v)));
    }
    return bq_made(g, bq_array_of(g, item), "json_array(" STR_FMT ")", STR_ARG(buf_str(&b)));
}

static struct str field_name(struct bq_gen *g, const struct bq_expr *part,
                             const struct bq_type *declared, size_t i)
{
    if (declared->kind == BQ_STRUCT && i < declared->n && declared->fields[i].name.len > 0)
        return declared->fields[i].name;
    if (part->alias.p)
        return part->alias;
    if (part->kind != BQ_E_PATH)
        return bq_printf(g, "_field_%zu", i + 1);
    const struct bq_expr *last = part->first;
    while (last->next)
        last = last->next;
    return last->text;
}

static struct bq_sql gen_struct(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct bq_type *t = arena_new(g->arena, struct bq_type);
    struct bq_field *fields = NULL;
    size_t cap = 0;

    for (const struct bq_expr *part = e->first; t && part; part = part->next) {
        struct bq_sql v = bq_gen_expr(g, part, s);
        fields = v.sql.p ? arena_grow(g->arena, fields, t->n, &cap, sizeof *fields) : NULL;
        if (!fields)
            return failed;
        fields[t->n] = (struct bq_field){field_name(g, part, e->type, t->n), v.type};
        (void)buf_printf(&b, "%s" STR_FMT ", " STR_FMT, t->n > 0 ? ", " : "",
                         STR_ARG(bq_quote(g, fields[t->n].name)), STR_ARG(bq_json_arg(g, &v)));
        t->n++;
    }
    if (!t)
        return failed;
    t->kind = BQ_STRUCT;
    t->fields = fields;
    return bq_made(g, t, "json_object(" STR_FMT ")", STR_ARG(buf_str(&b)));
}

/* ---- names ---- */

/* NAME of the struct or JSON OF. */
static struct bq_sql gen_field(struct bq_gen *g, const struct bq_sql *of, struct str name,
                               const struct bq_expr *at)
{
    struct str path = bq_quote(g, bq_printf(g, "$.\"" STR_FMT "\"", STR_ARG(name)));

    if (!path.p)
        return failed;
    if (of->type->kind == BQ_JSON)
        return bq_made(g, of->type, "(" STR_FMT " -> " STR_FMT ")", STR_ARG(of->sql),
                       STR_ARG(path));
    for (size_t i = 0; of->type->kind == BQ_STRUCT && i < of->type->n; i++) {
        const struct bq_field *f = &of->type->fields[i];
        if (!str_ieq(f->name, name))
            continue;
        path = bq_quote(g, bq_printf(g, "$.\"" STR_FMT "\"", STR_ARG(f->name)));
        return bq_made(g, f->type, "(" STR_FMT " ->> " STR_FMT ")", STR_ARG(of->sql),
                       STR_ARG(path));
    }
    if (of->type->kind == BQ_STRUCT)
        bq_fail(g, at, "Field name " STR_FMT " does not exist in " STR_FMT, STR_ARG(name),
                STR_ARG(bq_type_text(g->arena, of->type)));
    else
        bq_fail(g, at, "Cannot access field " STR_FMT " on a value with type " STR_FMT,
                STR_ARG(name), STR_ARG(bq_type_text(g->arena, of->type)));
    return failed;
}

/* The column NAME of R: 1 when it is there. */
static int find_expr_column(const struct bq_range *r, struct str name, struct bq_sql *ret)
{
    for (size_t i = 0; i < r->columns.n; i++) {
        const struct bq_column *c = &r->columns.items[i];
        if (!str_ieq(c->name, name))
            continue;
        *ret = (struct bq_sql){.sql = c->sql, .type = c->type};
        return c->is_hidden ? 0 : 1;
    }
    return 0;
}

/* All of a row, as a struct. */
static struct bq_sql gen_row(struct bq_gen *g, const struct bq_range *r)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct bq_type *t = arena_new(g->arena, struct bq_type);
    struct bq_field *fields = arena_zalloc(g->arena, r->columns.n + 1, sizeof *fields);

    if (r->row.sql.p)
        return r->row;
    for (size_t i = 0; t && fields && i < r->columns.n; i++) {
        const struct bq_column *c = &r->columns.items[i];
        const struct bq_sql v = {.sql = c->sql, .type = c->type};
        fields[i] = (struct bq_field){c->name, c->type};
        (void)buf_printf(&b, "%s" STR_FMT ", " STR_FMT, i > 0 ? ", " : "",
                         STR_ARG(bq_quote(g, c->name)), STR_ARG(bq_json_arg(g, &v)));
    }
    if (!t || !fields)
        return failed;
    *t = (struct bq_type){.kind = BQ_STRUCT, .fields = fields, .n = r->columns.n};
    return bq_made(g, t, "json_object(" STR_FMT ")", STR_ARG(buf_str(&b)));
}

static const struct bq_column *find_expr_alias(const struct bq_scope *s, struct str name)
{
    for (size_t i = 0; s->aliases && i < s->aliases->n; i++) {
        if (str_ieq(s->aliases->items[i].name, name))
            return &s->aliases->items[i];
    }
    return NULL;
}

/* The column NAME of one of S's ranges: how many have it. */
static unsigned find_plain(struct bq_gen *g, const struct bq_scope *s, const struct bq_expr *name,
                           struct bq_sql *ret)
{
    struct bq_sql found;
    unsigned n = 0;

    for (const struct bq_range *r = s->ranges; r; r = r->next) {
        if (find_expr_column(r, name->text, &found) && ++n == 1)
            *ret = found;
    }
    if (n > 1)
        bq_fail(g, name, "Column name " STR_FMT " is ambiguous", STR_ARG(name->text));
    return n;
}

/* A range by its alias, or a column of it; *PATH is the last name that was used. */
static bool find_qualified(struct bq_gen *g, const struct bq_scope *s, const struct bq_expr **path,
                           struct bq_sql *ret)
{
    const struct bq_expr *name = *path;
    const struct bq_range *r = s->ranges;
    struct bq_sql found;

    while (r && !str_ieq(r->name, name->text))
        r = r->next;
    if (!r)
        return false;
    if (!name->next || (r->row.sql.p && !find_expr_column(r, name->next->text, &found)))
        *ret = gen_row(g, r);
    else if (find_expr_column(r, name->next->text, ret) || ret->sql.p)
        *path = name->next;
    else
        bq_fail(g, name->next, "Name " STR_FMT " not found inside " STR_FMT,
                STR_ARG(name->next->text), STR_ARG(name->text));
    return true;
}

/* What the first names of a path are in S alone; *PATH is moved behind them. */
static bool find_in_scope(struct bq_gen *g, const struct bq_scope *s, const struct bq_expr **path,
                          struct bq_sql *ret)
{
    const struct bq_column *alias = find_expr_alias(s, (*path)->text);
    bool is_alias = alias && s->prefers_aliases;

    if (!is_alias && find_plain(g, s, *path, ret) == 0 && !find_qualified(g, s, path, ret)) {
        if (!alias)
            return false;
        is_alias = true;
    }
    if (is_alias)
        *ret = (struct bq_sql){.sql = alias->sql, .type = alias->type};
    *path = (*path)->next;
    return true;
}

static struct bq_sql gen_path(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    const struct bq_expr *rest = e->first;
    struct bq_sql r = failed;

    for (const struct bq_scope *at = s; at; at = at->up) {
        if (!find_in_scope(g, at, &rest, &r))
            continue;
        for (; rest && !g->has_failed; rest = rest->next)
            r = gen_field(g, &r, rest->text, rest);
        return g->has_failed ? failed : r;
    }
    const struct bq_var *var = bq_find_var(g, e->first->text);
    if (var) {
        r = (struct bq_sql){.sql = var->sql, .type = var->type};
        for (rest = e->first->next; rest && !g->has_failed; rest = rest->next)
            r = gen_field(g, &r, rest->text, rest);
        return g->has_failed ? failed : r;
    }
    if (!e->first->next && bq_is_bare_call(e->first->text)) {
        const struct bq_expr call = {.kind = BQ_E_CALL,
                                     .text = e->first->text,
                                     .line = e->line,
                                     .column = e->column,
                                     .type = e->type};
        return bq_gen_call(g, &call, s);
    }
    bq_fail(g, e, "Unrecognized name: " STR_FMT, STR_ARG(e->first->text));
    return failed;
}

/* ---- operators ---- */

static struct bq_sql no_operator_signature(struct bq_gen *g, const struct bq_expr *e,
                                           const struct bq_sql *a, const struct bq_sql *b)
{
    bq_fail(g, e,
            "No matching signature for operator " STR_FMT " for argument types: " STR_FMT
            "%s" STR_FMT,
            STR_ARG(e->text), STR_ARG(bq_type_text(g->arena, a->type)), b ? ", " : "",
            STR_ARG(b ? bq_type_text(g->arena, b->type) : STR("")));
    return failed;
}

static bool is_bool(const struct bq_sql *v)
{
    return v->type->kind == BQ_BOOL || v->type->kind == BQ_ANY;
}

/* Makes A and B of one type, where BigQuery does. */
static bool unify_types(struct bq_gen *g, struct bq_sql *a, struct bq_sql *b)
{
    if (bq_common(a->type, b->type))
        return true;
    return b->is_literal ? bq_coerce(g, b, a->type) || bq_coerce(g, a, b->type)
                         : bq_coerce(g, a, b->type) || bq_coerce(g, b, a->type);
}

static struct bq_sql gen_compare(struct bq_gen *g, const struct bq_expr *e, struct bq_sql *a,
                                 struct bq_sql *b)
{
    if (!unify_types(g, a, b))
        return no_operator_signature(g, e, a, b);
    return bq_made(g, &bq_scalars[BQ_BOOL], "(" STR_FMT " " STR_FMT " " STR_FMT ")",
                   STR_ARG(a->sql), STR_ARG(e->text), STR_ARG(b->sql));
}

/* A time and an interval, or a number of days. */
static struct bq_sql gen_shift(struct bq_gen *g, const struct bq_expr *e, const struct bq_sql *time,
                               const struct bq_expr *by, const struct bq_scope *s)
{
    bool is_interval = by->kind == BQ_E_INTERVAL;
    struct bq_sql n = bq_gen_expr(g, is_interval ? by->first : by, s);
    bool is_minus = str_is(e->text, "-");

    if (!n.sql.p)
        return failed;
    if (!is_interval && (n.type->kind != BQ_INT64 || time->type->kind != BQ_DATE))
        return no_operator_signature(g, e, time, &n);
    return bq_made(g, time->type, "bq_shift('%s', " STR_FMT ", %s(" STR_FMT "), " STR_FMT ")",
                   bq_kind_name(time->type->kind), STR_ARG(time->sql), is_minus ? "-" : "",
                   STR_ARG(n.sql), STR_ARG(bq_quote(g, is_interval ? by->text : STR("DAY"))));
}

static struct bq_sql gen_arithmetic(struct bq_gen *g, const struct bq_expr *e, struct bq_sql *a,
                                    struct bq_sql *b)
{
    const struct bq_type *t = bq_common(a->type, b->type);

    if (!is_expr_number(a->type->kind) || !is_expr_number(b->type->kind) || !t)
        return no_operator_signature(g, e, a, b);
    if (str_is(e->text, "/"))
        return bq_made(g, &bq_scalars[t->kind == BQ_NUMERIC ? BQ_NUMERIC : BQ_FLOAT64],
                       "bq_divide(" STR_FMT ", " STR_FMT ")", STR_ARG(a->sql), STR_ARG(b->sql));
    if (strchr("&|<>", e->text.p[0]) && t->kind != BQ_INT64 && t->kind != BQ_ANY)
        return no_operator_signature(g, e, a, b);
    if (str_is(e->text, "^"))
        return bq_made(g, t, "((" STR_FMT " | " STR_FMT ") - (" STR_FMT " & " STR_FMT "))",
                       STR_ARG(a->sql), STR_ARG(b->sql), STR_ARG(a->sql), STR_ARG(b->sql));
    return bq_made(g, t, "(" STR_FMT " " STR_FMT " " STR_FMT ")", STR_ARG(a->sql), STR_ARG(e->text),
                   STR_ARG(b->sql));
}

static struct bq_sql gen_concat(struct bq_gen *g, const struct bq_expr *e, const struct bq_sql *a,
                                const struct bq_sql *b)
{
    const struct bq_type *t = bq_common(a->type, b->type);

    if (!t || (t->kind != BQ_STRING && t->kind != BQ_ARRAY && t->kind != BQ_ANY))
        return no_operator_signature(g, e, a, b);
    if (t->kind == BQ_ARRAY)
        return bq_made(g, t, "bq_array_concat(" STR_FMT ", " STR_FMT ")", STR_ARG(a->sql),
                       STR_ARG(b->sql));
    return bq_made(g, t, "(" STR_FMT " || " STR_FMT ")", STR_ARG(a->sql), STR_ARG(b->sql));
}

static struct bq_sql gen_logic(struct bq_gen *g, const struct bq_expr *e, const struct bq_sql *a,
                               const struct bq_sql *b)
{
    if (!is_bool(a) || !is_bool(b))
        return no_operator_signature(g, e, a, b);
    return bq_made(g, &bq_scalars[BQ_BOOL], "(" STR_FMT " " STR_FMT " " STR_FMT ")",
                   STR_ARG(a->sql), STR_ARG(e->text), STR_ARG(b->sql));
}

static struct bq_sql gen_operator(struct bq_gen *g, const struct bq_expr *e, struct bq_sql *a,
                                  struct bq_sql *b)
{
    if (str_is(e->text, "AND") || str_is(e->text, "OR"))
        return gen_logic(g, e, a, b);
    if (str_is(e->text, "LIKE"))
        return bq_made(g, &bq_scalars[BQ_BOOL], "(%sbq_like(" STR_FMT ", " STR_FMT "))",
                       e->is_not ? "NOT " : "", STR_ARG(a->sql), STR_ARG(b->sql));
    if (str_is(e->text, "||"))
        return gen_concat(g, e, a, b);
    if (strchr("=!<>", e->text.p[0]) && !str_is(e->text, "<<") && !str_is(e->text, ">>"))
        return gen_compare(g, e, a, b);
    return gen_arithmetic(g, e, a, b);
}

static struct bq_sql gen_binary(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    const struct bq_expr *x = e->first, *y = x->next;
    bool is_sum = str_is(e->text, "+") || str_is(e->text, "-");
    struct bq_sql a = bq_gen_expr(g, x, s);

    if (!a.sql.p)
        return failed;
    if (is_sum && is_temporal_kind(a.type->kind))
        return gen_shift(g, e, &a, y, s);
    struct bq_sql b = bq_gen_expr(g, y, s);
    if (!b.sql.p)
        return failed;
    if (str_is(e->text, "+") && b.type->kind == BQ_DATE)
        return gen_shift(g, e, &b, x, s);
    return gen_operator(g, e, &a, &b);
}

static struct bq_sql gen_unary(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    struct bq_sql a = bq_gen_expr(g, e->first, s);

    if (!a.sql.p)
        return failed;
    if (str_is(e->text, "NOT")) {
        if (!is_bool(&a))
            return no_operator_signature(g, e, &a, NULL);
        return bq_made(g, &bq_scalars[BQ_BOOL], "(NOT " STR_FMT ")", STR_ARG(a.sql));
    }
    if (!is_expr_number(a.type->kind))
        return no_operator_signature(g, e, &a, NULL);
    struct bq_sql r =
        bq_made(g, a.type, "(" STR_FMT " " STR_FMT ")", STR_ARG(e->text), STR_ARG(a.sql));
    r.is_literal = a.is_literal;
    return r;
}

static struct bq_sql gen_is(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    struct bq_sql a = bq_gen_expr(g, e->first, s);

    if (!a.sql.p)
        return failed;
    if (str_is(e->text, "DISTINCT")) {
        struct bq_sql b = bq_gen_expr(g, e->first->next, s);
        if (!b.sql.p || !unify_types(g, &a, &b))
            return b.sql.p ? no_operator_signature(g, e, &a, &b) : failed;
        return bq_made(g, &bq_scalars[BQ_BOOL], "(" STR_FMT " IS %s" STR_FMT ")", STR_ARG(a.sql),
                       e->is_not ? "" : "NOT ", STR_ARG(b.sql));
    }
    return bq_made(g, &bq_scalars[BQ_BOOL], "(" STR_FMT " IS %s" STR_FMT ")", STR_ARG(a.sql),
                   e->is_not ? "NOT " : "",
                   STR_ARG(str_is(e->text, "NULL")   ? e->text
                           : str_is(e->text, "TRUE") ? STR("1")
                                                     : STR("0")));
}

static struct bq_sql gen_in(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    struct bq_sql a = bq_gen_expr(g, e->first, s);
    auto_buf struct buf b = BUF_INIT(1 << 20);

    if (!a.sql.p)
        return failed;
    if (e->query) {
        struct bq_result q = bq_gen_query(g, e->query, s);
        if (!q.sql.p)
            return failed;
        if (q.columns.n != 1) {
            bq_fail(g, e, "Subquery of type IN must have only one output column");
            return failed;
        }
        (void)buf_add_str(&b, q.sql);
    }
    for (const struct bq_expr *part = e->first->next; part; part = part->next) {
        struct bq_sql v = bq_gen_expr(g, part, s);
        if (!v.sql.p)
            return failed;
        if (e->kind == BQ_E_IN_ARRAY) {
            (void)buf_printf(&b, "SELECT value FROM json_each(" STR_FMT ")", STR_ARG(v.sql));
            break;
        }
        if (!unify_types(g, &a, &v)) {
            bq_fail(g, e,
                    "No matching signature for operator IN for argument types " STR_FMT
                    " and {" STR_FMT "}",
                    STR_ARG(bq_type_text(g->arena, a.type)),
                    STR_ARG(bq_type_text(g->arena, v.type)));
            return failed;
        }
        (void)buf_printf(&b, "%s" STR_FMT, b.len > 0 ? ", " : "", STR_ARG(v.sql));
    }
    return bq_made(g, &bq_scalars[BQ_BOOL], "(" STR_FMT " %sIN (" STR_FMT "))", STR_ARG(a.sql),
                   e->is_not ? "NOT " : "", STR_ARG(buf_str(&b)));
}

static struct bq_sql gen_between(struct bq_gen *g, const struct bq_expr *e,
                                 const struct bq_scope *s)
{
    const struct bq_expr *parts = e->first;
    struct bq_sql a = bq_gen_expr(g, parts, s);
    struct bq_sql low = a.sql.p ? bq_gen_expr(g, parts->next, s) : failed;
    struct bq_sql high = low.sql.p ? bq_gen_expr(g, parts->next->next, s) : failed;

    if (!high.sql.p)
        return failed;
    if (!unify_types(g, &a, &low) || !unify_types(g, &a, &high)) {
        bq_fail(g, e,
                "No matching signature for operator BETWEEN for argument types: " STR_FMT
                ", " STR_FMT ", " STR_FMT,
                STR_ARG(bq_type_text(g->arena, a.type)), STR_ARG(bq_type_text(g->arena, low.type)),
                STR_ARG(bq_type_text(g->arena, high.type)));
        return failed;
    }
    return bq_made(g, &bq_scalars[BQ_BOOL], "(" STR_FMT " %sBETWEEN " STR_FMT " AND " STR_FMT ")",
                   STR_ARG(a.sql), e->is_not ? "NOT " : "", STR_ARG(low.sql), STR_ARG(high.sql));
}

/* ---- others ---- */

static struct bq_sql gen_case(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    const struct bq_type *t = &bq_scalars[BQ_ANY];
    const struct bq_expr *part = e->first;
    struct bq_sql operand = failed;
    unsigned n = 0;

    (void)buf_add_lit(&b, "CASE");
    if (e->has_operand) {
        operand = bq_gen_expr(g, part, s);
        part = part->next;
        (void)buf_printf(&b, " " STR_FMT, STR_ARG(operand.sql));
    }
    for (; part; part = part->next, n++) {
        bool is_else = e->has_else && !part->next;
        bool is_when = !is_else && n % 2 == 0;
        struct bq_sql v = bq_gen_expr(g, part, s);
        if (!v.sql.p)
            return failed;
        if (is_when && operand.sql.p && !unify_types(g, &operand, &v))
            return no_operator_signature(g, e, &operand, &v);
        (void)buf_printf(&b, " %s " STR_FMT,
                         is_else   ? "ELSE"
                         : is_when ? "WHEN"
                                   : "THEN",
                         STR_ARG(v.sql));
        const struct bq_type *common = is_when ? t : bq_common(t, v.type);
        if (!common) {
            bq_fail(g, e,
                    "No matching signature for operator CASE; all THEN/ELSE arguments must "
                    "be coercible to a common type but found: " STR_FMT ", " STR_FMT,
                    STR_ARG(bq_type_text(g->arena, t)), STR_ARG(bq_type_text(g->arena, v.type)));
            return failed;
        }
        t = common;
    }
    return bq_made(g, t, STR_FMT " END", STR_ARG(buf_str(&b)));
}

static struct bq_sql gen_cast(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    struct bq_sql a = bq_gen_expr(g, e->first, s);

    if (!a.sql.p)
        return failed;
    if (a.type->kind == e->type->kind)
        return (struct bq_sql){.sql = a.sql, .type = e->type};
    return bq_made(g, e->type, "bq_cast('%s', " STR_FMT ", '%s', %d)", bq_kind_name(e->type->kind),
                   STR_ARG(a.sql), a.type->kind == BQ_ANY ? "" : bq_kind_name(a.type->kind),
                   e->is_safe);
}

static struct bq_sql gen_extract(struct bq_gen *g, const struct bq_expr *e,
                                 const struct bq_scope *s)
{
    struct bq_sql a = bq_gen_expr(g, e->first, s);
    struct str part = bq_quote(g, e->text), day = bq_quote(g, e->alias);
    bool is_date = str_iis(e->text, "DATE"), is_datetime = str_iis(e->text, "DATETIME");
    struct bq_sql zone = {.sql = STR("'UTC'")};

    if (a.sql.p && e->first->next)
        zone = bq_gen_expr(g, e->first->next, s);
    if (!a.sql.p || !zone.sql.p || !part.p)
        return failed;
    if (!is_temporal_kind(a.type->kind) && a.type->kind != BQ_ANY) {
        bq_fail(g, e, "EXTRACT does not support arguments of type: " STR_FMT,
                STR_ARG(bq_type_text(g->arena, a.type)));
        return failed;
    }
    if (is_date || is_datetime)
        return bq_made(g, &bq_scalars[is_date ? BQ_DATE : BQ_DATETIME],
                       "bq_time('%s', " STR_FMT ", " STR_FMT ")", is_date ? "DATE" : "DATETIME",
                       STR_ARG(a.sql), STR_ARG(zone.sql));
    return bq_made(g, &bq_scalars[BQ_INT64],
                   "bq_part(" STR_FMT ", " STR_FMT ", " STR_FMT ", " STR_FMT ")", STR_ARG(part),
                   STR_ARG(a.sql), STR_ARG(zone.sql), STR_ARG(day));
}

static struct bq_sql gen_subquery(struct bq_gen *g, const struct bq_expr *e,
                                  const struct bq_scope *s)
{
    struct bq_result q = bq_gen_query(g, e->query, s);

    if (!q.sql.p)
        return failed;
    if (str_is(e->text, "EXISTS"))
        return bq_made(g, &bq_scalars[BQ_BOOL], "EXISTS (" STR_FMT ")", STR_ARG(q.sql));
    if (q.columns.n != 1) {
        bq_fail(g, e,
                "%s subquery cannot have more than one column unless using SELECT AS STRUCT "
                "to build STRUCT values",
                e->text.len > 0 ? "ARRAY" : "Scalar");
        return failed;
    }
    const struct bq_type *t = q.columns.items[0].type;
    if (e->text.len == 0)
        return bq_made(g, t, "(" STR_FMT ")", STR_ARG(q.sql));
    const struct bq_sql value = {.sql = STR("c0"), .type = t};
    return bq_made(g, bq_array_of(g, t),
                   "(SELECT json_group_array(" STR_FMT ") FROM (" STR_FMT "))",
                   STR_ARG(bq_json_arg(g, &value)), STR_ARG(q.sql));
}

static struct bq_sql gen_index(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    struct bq_sql a = bq_gen_expr(g, e->first, s);
    struct bq_sql n = a.sql.p ? bq_gen_expr(g, e->first->next, s) : failed;
    bool is_safe = str_starts(e->text, STR("SAFE_"));
    bool is_ordinal = str_ends(e->text, STR("ORDINAL"));

    if (!n.sql.p)
        return failed;
    if (a.type->kind == BQ_JSON)
        return bq_made(g, a.type, "(" STR_FMT " -> " STR_FMT ")", STR_ARG(a.sql), STR_ARG(n.sql));
    if (a.type->kind != BQ_ARRAY || !a.type->item) {
        bq_fail(g, e, "Element access using [] is not supported on values of type " STR_FMT,
                STR_ARG(bq_type_text(g->arena, a.type)));
        return failed;
    }
    return bq_made(g, a.type->item, "bq_item(" STR_FMT ", " STR_FMT "%s, %d)", STR_ARG(a.sql),
                   STR_ARG(n.sql), is_ordinal ? " - 1" : "", is_safe);
}

struct str bq_gen_sorts(struct bq_gen *g, const struct bq_sort *sorts, const struct bq_scope *s)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    for (const struct bq_sort *at = sorts; at; at = at->next) {
        struct bq_sql v = bq_gen_expr(g, at->expr, s);
        if (!v.sql.p)
            return STR_NULL;
        (void)buf_printf(&b, "%s(" STR_FMT ")%s%s", b.len > 0 ? ", " : " ORDER BY ", STR_ARG(v.sql),
                         at->is_descending ? " DESC" : "", at->nulls);
    }
    return bq_printf(g, STR_FMT, STR_ARG(buf_str(&b)));
}

static struct bq_sql gen(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    struct bq_sql of;

    switch (e->kind) {
    case BQ_E_NULL:
        return (struct bq_sql){.sql = STR("NULL"), .type = &bq_scalars[BQ_ANY], .is_literal = true};
    case BQ_E_LITERAL: return gen_literal(g, e);
    case BQ_E_PATH: return gen_path(g, e, s);
    case BQ_E_UNARY: return gen_unary(g, e, s);
    case BQ_E_BINARY: return gen_binary(g, e, s);
    case BQ_E_IS: return gen_is(g, e, s);
    case BQ_E_IN:
    case BQ_E_IN_ARRAY: return gen_in(g, e, s);
    case BQ_E_BETWEEN: return gen_between(g, e, s);
    case BQ_E_CASE: return gen_case(g, e, s);
    case BQ_E_CAST: return gen_cast(g, e, s);
    case BQ_E_EXTRACT: return gen_extract(g, e, s);
    case BQ_E_CALL: return bq_gen_call(g, e, s);
    case BQ_E_ARRAY: return gen_array(g, e, s);
    case BQ_E_STRUCT: return gen_struct(g, e, s);
    case BQ_E_QUERY: return gen_subquery(g, e, s);
    case BQ_E_INDEX: return gen_index(g, e, s);
    case BQ_E_FIELD:
        of = bq_gen_expr(g, e->first, s);
        return of.sql.p ? gen_field(g, &of, e->text, e) : failed;
    case BQ_E_NAME:
    case BQ_E_STAR:
    case BQ_E_INTERVAL: break;
    }
    bq_fail(g, e, "Syntax error: Unexpected expression");
    return failed;
}

struct bq_sql bq_gen_expr(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    struct bq_sql r = g->has_failed ? failed : gen(g, e, s);

    return g->has_failed ? failed : r;
}
