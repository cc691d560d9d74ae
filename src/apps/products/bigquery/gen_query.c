/* SPDX-License-Identifier: MIT */
/* Queries: WITH, SELECT, set operations, ORDER BY. */
#include "apps/products/bigquery/gen.h"
#include "base/cleanup.h"

/* ---- what is aggregated ---- */

static bool has_aggregate(const struct bq_expr *e)
{
    for (; e; e = e->next) {
        if (e->kind == BQ_E_CALL && !e->over && bq_is_aggregate(e->text))
            return true;
        if (has_aggregate(e->first))
            return true;
    }
    return false;
}

/* Of E alone, without what stands behind it. */
static bool is_aggregated(const struct bq_expr *e)
{
    return (e->kind == BQ_E_CALL && !e->over && bq_is_aggregate(e->text)) ||
           has_aggregate(e->first);
}

static bool is_same_expr(const struct bq_expr *a, const struct bq_expr *b)
{
    /* t.a and a are the same column, as far as can be seen here. */
    if (a->kind == BQ_E_PATH && b->kind == BQ_E_PATH) {
        const struct bq_expr *x = a->first, *y = b->first;
        while (x->next)
            x = x->next;
        while (y->next)
            y = y->next;
        return str_ieq(x->text, y->text);
    }
    if (a->kind != b->kind || a->query || b->query || !str_ieq(a->text, b->text))
        return false;
    const struct bq_expr *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if (!is_same_expr(x, y))
            return false;
    }
    return !x && !y;
}

static const struct bq_column *find_query_alias(const struct bq_columns *items, struct str name)
{
    for (size_t i = 0; i < items->n; i++) {
        if (str_ieq(items->items[i].name, name))
            return &items->items[i];
    }
    return NULL;
}

/* The expression of SELECT that a word of GROUP BY or ORDER BY names: a number or an alias. */
static const struct bq_column *named_item(const struct bq_expr *e, const struct bq_columns *items)
{
    int64_t n;

    if (e->kind == BQ_E_LITERAL && e->type->kind == BQ_INT64)
        return str_to_i64(e->text, &n) == 0 && n >= 1 && (size_t)n <= items->n
                   ? &items->items[n - 1]
                   : NULL;
    if (e->kind != BQ_E_PATH || e->first->next)
        return NULL;
    return find_query_alias(items, e->first->text);
}

static bool is_grouped(const struct bq_expr *e, const struct bq_select *s,
                       const struct bq_columns *items)
{
    for (const struct bq_expr *group = s->groups; group; group = group->next) {
        const struct bq_column *item = named_item(group, items);
        if (is_same_expr(e, group) || (item && item->expr && is_same_expr(e, item->expr)))
            return true;
    }
    return false;
}

static bool refuse_ungrouped(struct bq_gen *g, const struct bq_expr *e)
{
    const struct bq_expr *last = e->first;

    if (bq_is_bare_call(e->first->text) || bq_find_var(g, e->first->text))
        return true;
    while (last->next)
        last = last->next;
    bq_fail(g, e,
            "SELECT list expression references column " STR_FMT
            " which is neither grouped nor aggregated",
            STR_ARG(last->text));
    return false;
}

/* A column of SELECT has to be grouped or within an aggregate. */
static bool check_grouped(struct bq_gen *g, const struct bq_expr *e, const struct bq_select *s,
                          const struct bq_columns *items)
{
    if (is_grouped(e, s, items) || e->query || e->over)
        return true;
    if (e->kind == BQ_E_CALL && bq_is_aggregate(e->text))
        return true;
    if (e->kind == BQ_E_PATH)
        return refuse_ungrouped(g, e);
    for (const struct bq_expr *part = e->first; part; part = part->next) {
        bool is_word = part->kind == BQ_E_PATH && e->kind == BQ_E_CALL && !part->first->next &&
                       part != e->first; /* perhaps DAY of DATE_DIFF */
        if (!is_word && !check_grouped(g, part, s, items))
            return false;
    }
    return true;
}

/* ---- the items of SELECT ---- */

static bool is_among_names(const struct bq_expr *names, struct str name)
{
    for (; names; names = names->next) {
        if (str_ieq(names->text, name))
            return true;
    }
    return false;
}

/* A column of a star, which REPLACE may change. */
static bool add_star_column(struct bq_gen *g, const struct bq_item *item,
                            const struct bq_column *from, const struct bq_scope *s,
                            struct bq_columns *to)
{
    struct bq_column c = {.name = from->name, .sql = from->sql, .type = from->type};

    for (const struct bq_expr *e = item->replace; e; e = e->next) {
        if (!str_ieq(e->alias, c.name))
            continue;
        struct bq_sql made = bq_gen_expr(g, e, s);
        c.sql = made.sql;
        c.type = made.type;
    }
    return c.sql.p && (is_among_names(item->except, c.name) || bq_add_column(g, to, &c));
}

static bool add_struct(struct bq_gen *g, const struct bq_item *item, const struct bq_scope *s,
                       struct bq_columns *to)
{
    struct bq_sql of = bq_gen_expr(g, item->of, s);

    if (!of.sql.p)
        return false;
    if (of.type->kind != BQ_STRUCT) {
        bq_fail(g, item->of, "Dot-star is not supported for type " STR_FMT,
                STR_ARG(bq_type_text(g->arena, of.type)));
        return false;
    }
    for (size_t i = 0; i < of.type->n; i++) {
        const struct bq_field *f = &of.type->fields[i];
        struct str path = bq_quote(g, bq_printf(g, "$.\"" STR_FMT "\"", STR_ARG(f->name)));
        const struct bq_column c = {
            .name = f->name,
            .type = f->type,
            .sql = bq_printf(g, "(" STR_FMT " ->> " STR_FMT ")", STR_ARG(of.sql), STR_ARG(path))};
        if (!c.sql.p || !add_star_column(g, item, &c, s, to))
            return false;
    }
    return true;
}

static bool add_star(struct bq_gen *g, const struct bq_item *item, const struct bq_scope *s,
                     struct bq_columns *to)
{
    bool is_found = false;

    for (const struct bq_range *r = s->ranges; r; r = r->next) {
        if (item->of && (item->of->kind != BQ_E_PATH || item->of->first->next ||
                         !str_ieq(r->name, item->of->first->text)))
            continue;
        is_found = true;
        for (size_t i = 0; i < r->columns.n; i++) {
            const struct bq_column *c = &r->columns.items[i];
            if (!c->is_hidden && !add_star_column(g, item, c, s, to))
                return false;
        }
    }
    if (!is_found && item->of)
        return add_struct(g, item, s, to);
    if (!is_found)
        bq_fail(g, NULL, "SELECT * must have a FROM clause");
    return is_found;
}

/* The name that a column has without an alias. */
static struct str implied_name(struct bq_gen *g, const struct bq_expr *e, size_t *n_unnamed)
{
    if (e->kind == BQ_E_FIELD)
        return e->text;
    if (e->kind != BQ_E_PATH || bq_is_bare_call(e->first->text))
        return bq_printf(g, "f%zu_", (*n_unnamed)++);
    const struct bq_expr *last = e->first;
    while (last->next)
        last = last->next;
    return last->text;
}

static bool gen_items(struct bq_gen *g, const struct bq_select *s, const struct bq_scope *scope,
                      struct bq_columns *to)
{
    size_t n_unnamed = 0;

    for (const struct bq_item *item = s->items; item; item = item->next) {
        if (!item->expr) {
            if (!add_star(g, item, scope, to))
                return false;
            continue;
        }
        struct bq_sql made = bq_gen_expr(g, item->expr, scope);
        if (!made.sql.p)
            return false;
        const struct bq_column c = {.name = item->alias.p ? item->alias
                                                          : implied_name(g, item->expr, &n_unnamed),
                                    .sql = made.sql,
                                    .type = made.type,
                                    .expr = item->expr};
        if (!bq_add_column(g, to, &c))
            return false;
    }
    return true;
}

static bool check_items(struct bq_gen *g, const struct bq_select *s, const struct bq_columns *items)
{
    bool is_it = s->groups || (s->having && is_aggregated(s->having));

    for (size_t i = 0; i < items->n; i++)
        is_it |= items->items[i].expr && is_aggregated(items->items[i].expr);
    for (size_t i = 0; is_it && i < items->n; i++) {
        if (items->items[i].expr && !check_grouped(g, items->items[i].expr, s, items))
            return false;
    }
    return true;
}

/* ---- clauses ---- */

static bool put_condition(struct bq_gen *g, struct buf *b, const char *word,
                          const struct bq_expr *e, const struct bq_scope *s)
{
    if (!e)
        return true;
    struct bq_sql c = bq_gen_expr(g, e, s);
    if (!c.sql.p)
        return false;
    if (c.type->kind != BQ_BOOL && c.type->kind != BQ_ANY) {
        bq_fail(g, e, "%s clause should return type BOOL, but returns type " STR_FMT, word,
                STR_ARG(bq_type_text(g->arena, c.type)));
        return false;
    }
    return buf_printf(b, " %s " STR_FMT, word, STR_ARG(c.sql)) == 0;
}

static bool put_groups(struct bq_gen *g, struct buf *b, const struct bq_select *s,
                       const struct bq_columns *items, const struct bq_scope *scope)
{
    const char *before = " GROUP BY ";

    for (const struct bq_expr *e = s->groups; e; e = e->next, before = ", ") {
        const struct bq_column *item = named_item(e, items);
        if (item && item->expr && is_aggregated(item->expr)) {
            bq_fail(g, e,
                    "Column " STR_FMT " contains an aggregation function, which is not "
                    "allowed in GROUP BY",
                    STR_ARG(item->name));
            return false;
        }
        struct str sql = item ? item->sql : bq_gen_expr(g, e, scope).sql;
        if (!sql.p)
            return false;
        /* A literal would be the number of a column. */
        (void)buf_printf(b, "%s(" STR_FMT ")", before, STR_ARG(sql));
    }
    return true;
}

static bool put_sorts(struct bq_gen *g, struct buf *b, const struct bq_sort *sorts,
                      const struct bq_columns *items, const struct bq_scope *scope)
{
    const char *before = " ORDER BY ";

    for (const struct bq_sort *s = sorts; s; s = s->next, before = ", ") {
        const struct bq_column *item = named_item(s->expr, items);
        if (s->expr->kind == BQ_E_LITERAL && !item) {
            bq_fail(g, s->expr,
                    "ORDER BY column number item is out of range. Column numbers must "
                    "be between 1 and %zu",
                    items->n);
            return false;
        }
        if (item) {
            (void)buf_printf(b, "%s%zu", before, (size_t)(item - items->items) + 1);
        } else {
            struct str sql = bq_gen_expr(g, s->expr, scope).sql;
            if (!sql.p)
                return false;
            (void)buf_printf(b, "%s(" STR_FMT ")", before, STR_ARG(sql));
        }
        (void)buf_printf(b, "%s%s", s->is_descending ? " DESC" : "", s->nulls);
    }
    return true;
}

static void put_query_items(struct buf *b, const struct bq_columns *items)
{
    for (size_t i = 0; i < items->n; i++)
        (void)buf_printf(b, "%s" STR_FMT " AS c%zu", i > 0 ? ", " : " ",
                         STR_ARG(items->items[i].sql), i);
}

/* ---- SELECT ---- */

/* SELECT AS STRUCT: one column of all. */
static bool make_struct(struct bq_gen *g, struct bq_columns *items)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct bq_type *t = arena_new(g->arena, struct bq_type);
    struct bq_field *fields = arena_zalloc(g->arena, items->n + 1, sizeof *fields);

    for (size_t i = 0; t && fields && i < items->n; i++) {
        const struct bq_sql v = {.sql = items->items[i].sql, .type = items->items[i].type};
        fields[i] = (struct bq_field){items->items[i].name, items->items[i].type};
        (void)buf_printf(&b, "%s" STR_FMT ", " STR_FMT, i > 0 ? ", " : "json_object(",
                         STR_ARG(bq_quote(g, fields[i].name)), STR_ARG(bq_json_arg(g, &v)));
    }
    (void)buf_add_char(&b, ')');
    if (!t || !fields || !buf_ok(&b))
        return false;
    *t = (struct bq_type){.kind = BQ_STRUCT, .fields = fields, .n = items->n};
    items->items[0] = (struct bq_column){
        .name = STR(""), .type = t, .sql = bq_printf(g, STR_FMT, STR_ARG(buf_str(&b)))};
    items->n = 1;
    return items->items[0].sql.p;
}

/* SELECT … FROM (the query with the condition as its last column) WHERE that is so. */
static struct str wrap_qualify(struct bq_gen *g, const struct buf *inner, size_t n)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    for (size_t i = 0; i < n; i++)
        (void)buf_printf(&b, "%sc%zu", i > 0 ? ", " : "", i);
    return bq_printf(g, "SELECT " STR_FMT " FROM (" STR_FMT ") WHERE q", STR_ARG(buf_str(&b)),
                     STR_ARG(buf_str(inner)));
}

static bool put_select(struct bq_gen *g, const struct bq_select *s, struct bq_scope *scope,
                       struct bq_columns *items, struct buf *b)
{
    scope->is_joined = s->from && s->from->kind == BQ_F_JOIN;
    struct str from = s->from ? bq_gen_from(g, s->from, scope) : STR("");

    if (!from.p || !gen_items(g, s, scope, items) || !check_items(g, s, items))
        return false;
    if (s->is_struct && !make_struct(g, items))
        return false;
    struct bq_scope named = *scope;
    named.aliases = items;
    (void)buf_printf(b, "SELECT%s", s->is_distinct ? " DISTINCT" : "");
    put_query_items(b, items);
    if (s->qualify) {
        struct bq_sql q = bq_gen_expr(g, s->qualify, &named);
        if (!q.sql.p)
            return false;
        (void)buf_printf(b, ", " STR_FMT " AS q", STR_ARG(q.sql));
    }
    if (s->from)
        (void)buf_printf(b, " FROM " STR_FMT, STR_ARG(from));
    return put_condition(g, b, "WHERE", s->where, scope) && put_groups(g, b, s, items, scope) &&
           put_condition(g, b, "HAVING", s->having, &named);
}

static struct bq_result gen_select(struct bq_gen *g, const struct bq_select *s,
                                   const struct bq_scope *up, const struct bq_sort *sorts)
{
    struct bq_result r = {0};
    struct bq_scope scope = {.up = up};
    auto_buf struct buf b = BUF_INIT(1 << 20);

    scope.end = &scope.ranges;
    if (!put_select(g, s, &scope, &r.columns, &b))
        return r;
    scope.aliases = &r.columns;
    scope.prefers_aliases = true;
    if (!put_sorts(g, &b, sorts, &r.columns, &scope))
        return r;
    if (s->qualify)
        r.sql = wrap_qualify(g, &b, r.columns.n);
    else
        r.sql = bq_printf(g, STR_FMT, STR_ARG(buf_str(&b)));
    return r;
}

/* ---- set operations ---- */

static struct bq_result gen_body(struct bq_gen *g, const struct bq_body *b,
                                 const struct bq_scope *up, const struct bq_sort *sorts);

/* Both have as many columns, of types that go together. */
static bool match_columns(struct bq_gen *g, struct bq_columns *a, const struct bq_columns *b)
{
    if (a->n != b->n) {
        bq_fail(g, NULL,
                "Queries in UNION ALL have mismatched column count; query 1 has %zu "
                "columns, query 2 has %zu columns",
                a->n, b->n);
        return false;
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct bq_type *t = bq_common(a->items[i].type, b->items[i].type);
        if (!t) {
            bq_fail(g, NULL,
                    "Column %zu in UNION ALL has incompatible types: " STR_FMT ", " STR_FMT, i + 1,
                    STR_ARG(bq_type_text(g->arena, a->items[i].type)),
                    STR_ARG(bq_type_text(g->arena, b->items[i].type)));
            return false;
        }
        a->items[i].type = t;
    }
    return true;
}

static struct bq_result gen_union(struct bq_gen *g, const struct bq_body *b,
                                  const struct bq_scope *up)
{
    struct bq_result left = gen_body(g, b->left, up, NULL), none = {0};

    if (!left.sql.p)
        return none;
    if (g->ctes && g->ctes->is_open) {
        g->ctes->columns = left.columns;
        g->ctes->is_open = false;
    }
    struct bq_result right = gen_body(g, b->right, up, NULL);
    if (!right.sql.p || !match_columns(g, &left.columns, &right.columns))
        return none;
    /* In brackets of a query each, because SQLite has none for them. */
    bool is_plain = !b->right->query;
    left.sql =
        is_plain ? bq_printf(g, STR_FMT "%s" STR_FMT, STR_ARG(left.sql), b->op, STR_ARG(right.sql))
                 : bq_printf(g, STR_FMT "%sSELECT * FROM (" STR_FMT ")", STR_ARG(left.sql), b->op,
                             STR_ARG(right.sql));
    return left;
}

static struct bq_result gen_body(struct bq_gen *g, const struct bq_body *b,
                                 const struct bq_scope *up, const struct bq_sort *sorts)
{
    if (b->select)
        return gen_select(g, b->select, up, sorts);
    struct bq_result r = b->op ? gen_union(g, b, up) : bq_gen_query(g, b->query, up);
    if (r.sql.p && !b->op)
        r.sql = bq_printf(g, "SELECT * FROM (" STR_FMT ")", STR_ARG(r.sql));
    if (!r.sql.p || !sorts)
        return r;
    /* Its columns, by number or name. */
    auto_buf struct buf out = BUF_INIT(1 << 20);
    struct bq_scope scope = {.up = up, .aliases = &r.columns};
    unsigned t = ++g->n_names;
    for (size_t i = 0; i < r.columns.n; i++) {
        r.columns.items[i].sql = bq_printf(g, "t%u.c%zu", t, i);
        r.columns.items[i].expr = NULL;
    }
    scope.end = &scope.ranges;
    (void)buf_printf(&out, "SELECT * FROM (" STR_FMT ") AS t%u", STR_ARG(r.sql), t);
    r.sql = put_sorts(g, &out, sorts, &r.columns, &scope)
                ? bq_printf(g, STR_FMT, STR_ARG(buf_str(&out)))
                : STR_NULL;
    return r;
}

/* ---- the query ---- */

static struct bq_named *name_cte(struct bq_gen *g, struct str name)
{
    struct bq_named *n = arena_new(g->arena, struct bq_named);

    if (!n)
        return NULL;
    n->name = name;
    n->sql_name = bq_printf(g, "w%u", ++g->n_names);
    n->next = g->ctes;
    return n;
}

/* "WITH w1 AS (…), " */
static bool put_ctes(struct bq_gen *g, const struct bq_query *q, const struct bq_scope *up,
                     struct buf *b)
{
    const char *before = q->is_recursive ? "WITH RECURSIVE " : "WITH ";

    for (const struct bq_cte *c = q->ctes; c; c = c->next, before = ", ") {
        struct bq_named *n = name_cte(g, c->name);
        if (!n)
            return false;
        if (q->is_recursive && c->query->body->op) {
            n->is_open = true;
            g->ctes = n;
        }
        struct bq_result r = bq_gen_query(g, c->query, up);
        if (!r.sql.p)
            return false;
        n->columns = r.columns;
        n->is_open = false;
        g->ctes = n;
        (void)buf_printf(b, "%s" STR_FMT "(", before, STR_ARG(n->sql_name));
        for (size_t i = 0; i < r.columns.n; i++)
            (void)buf_printf(b, "%sc%zu", i > 0 ? ", " : "", i);
        /* As in joins of tables: see gen_from.c. */
        (void)buf_printf(b, ") AS %s(" STR_FMT ")", q->is_recursive ? "" : "MATERIALIZED ",
                         STR_ARG(r.sql));
    }
    return true;
}

static bool put_row_limit(struct bq_gen *g, struct buf *b, const char *word,
                          const struct bq_expr *e)
{
    int64_t n;

    if (!e)
        return true;
    if (e->kind != BQ_E_LITERAL || str_to_i64(e->text, &n) < 0) {
        bq_fail(g, e, "Syntax error: Unexpected expression in %s", word);
        return false;
    }
    return buf_printf(b, " %s %lld", word, (long long)n) == 0;
}

struct bq_result bq_gen_query(struct bq_gen *g, const struct bq_query *q, const struct bq_scope *up)
{
    struct bq_named *before = g->ctes;
    struct bq_result r = {0}, none = {0};
    auto_buf struct buf b = BUF_INIT(4 << 20);

    if (++g->depth > BQ_MAX_DEPTH)
        bq_fail(g, NULL, "Query is too complex: it is nested too deeply");
    if (!g->has_failed && put_ctes(g, q, up, &b))
        r = gen_body(g, q->body, up, q->sorts);
    if (r.sql.p) {
        (void)buf_printf(&b, " " STR_FMT, STR_ARG(r.sql));
        if (!put_row_limit(g, &b, "LIMIT", q->limit) || !put_row_limit(g, &b, "OFFSET", q->offset))
            r.sql = STR_NULL;
        else
            r.sql = bq_printf(g, STR_FMT, STR_ARG(buf_str(&b)));
    }
    g->depth--;
    g->ctes = before;
    return r.sql.p && !g->has_failed ? r : none;
}
