/* SPDX-License-Identifier: MIT */
/* Rows in and out of tables: INSERT, UPDATE, DELETE, TRUNCATE. */
#include "apps/products/bigquery/run.h"
#include "base/cleanup.h"

/* ---- rows in and out ---- */

/* VALUE for the field F. */
static bool fit(struct bq_gen *g, struct bq_sql *value, const struct bq_field *f, size_t i)
{
    if (!value->sql.p || bq_coerce(g, value, f->type))
        return value->sql.p;
    bq_fail(g, NULL,
            "Query column %zu has type " STR_FMT " which cannot be inserted into column " STR_FMT
            ", which has type " STR_FMT,
            i + 1, STR_ARG(bq_type_text(g->arena, value->type)), STR_ARG(f->name),
            STR_ARG(bq_type_text(g->arena, f->type)));
    return false;
}

static const struct bq_field *find_row_field(const struct bq_type *row, struct str name)
{
    for (size_t i = 0; i < row->n; i++) {
        if (str_ieq(row->fields[i].name, name))
            return &row->fields[i];
    }
    return NULL;
}

bool bq_into_columns(struct bq_gen *g, const struct bq_expr *columns, const struct bq_table *t,
                     struct bq_into *ret)
{
    const struct bq_type *row = t->row;

    ret->table = t;
    ret->n = columns ? 0 : row->n;
    for (size_t i = 0; i < row->n; i++)
        ret->map[i] = columns ? SIZE_MAX : i;
    for (const struct bq_expr *e = columns; e; e = e->next) {
        const struct bq_field *f = find_row_field(row, e->text);
        if (!f) {
            bq_fail(g, e, "Column " STR_FMT " is not present in table " STR_FMT "." STR_FMT,
                    STR_ARG(e->text), STR_ARG(t->dataset), STR_ARG(t->id));
            return false;
        }
        if (ret->map[f - row->fields] != SIZE_MAX) {
            bq_fail(g, e, "INSERT has columns with duplicate name: " STR_FMT, STR_ARG(e->text));
            return false;
        }
        ret->map[f - row->fields] = ret->n++;
    }
    return true;
}

struct str bq_row_of(struct bq_gen *g, struct bq_sql *values, const struct bq_into *into)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    const struct bq_type *row = into->table->row;

    for (size_t i = 0; i < row->n; i++) {
        struct bq_sql null = {.sql = STR("NULL"), .type = &bq_scalars[BQ_ANY]};
        struct bq_sql *v = into->map[i] == SIZE_MAX ? &null : &values[into->map[i]];
        if (!fit(g, v, &row->fields[i], into->map[i]))
            return STR_NULL;
        v->type = row->fields[i].type;
        (void)buf_printf(&b, "%s" STR_FMT, i > 0 ? ", " : "", STR_ARG(bq_json_arg(g, v)));
    }
    return bq_printf(g, "json_array(" STR_FMT ")", STR_ARG(buf_str(&b)));
}

int64_t bq_insert_rows(struct bq_gen *g, const struct bq_table *t, struct str rows)
{
    return bq_sql_change(
        g, bq_printf(g,
                     "INSERT INTO bq_row (t, n, d) SELECT %lld, (SELECT ifnull(max(n), 0)"
                     " FROM bq_row WHERE t = %lld) + row_number() OVER (), d"
                     " FROM (" STR_FMT ")",
                     (long long)t->n, (long long)t->n, STR_ARG(rows)));
}

struct str bq_row_of_list(struct bq_gen *g, const struct bq_expr *row, const struct bq_into *into,
                          const struct bq_scope *s)
{
    struct bq_sql values[BQ_MAX_COLUMNS];
    size_t k = 0;

    for (const struct bq_expr *e = row->first; e && k < BQ_MAX_COLUMNS; e = e->next) {
        bool is_default = e->kind == BQ_E_PATH && str_iis(e->first->text, "DEFAULT");
        values[k] = is_default ? (struct bq_sql){STR("NULL"), &bq_scalars[BQ_ANY], true}
                               : bq_gen_expr(g, e, s);
        if (!values[k++].sql.p)
            return STR_NULL;
    }
    if (k != into->n) {
        bq_fail(g, row, "Inserted row has wrong column count; Has %zu, expected %zu", k, into->n);
        return STR_NULL;
    }
    return bq_row_of(g, values, into);
}

/* The rows of VALUES, one SELECT each. */
static struct str values_rows(struct bq_gen *g, const struct bq_expr *rows,
                              const struct bq_into *into)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    const struct bq_scope none = {0};

    for (const struct bq_expr *e = rows; e; e = e->next) {
        struct str one = bq_row_of_list(g, e, into, &none);
        if (!one.p)
            return STR_NULL;
        (void)buf_printf(&b, "%s(" STR_FMT ")", b.len > 0 ? ", " : "", STR_ARG(one));
    }
    return buf_ok(&b)
               ? bq_printf(g, "SELECT column1 AS d FROM (VALUES " STR_FMT ")", STR_ARG(buf_str(&b)))
               : STR_NULL;
}

struct str bq_rows_of_query(struct bq_gen *g, const struct bq_query *q, const struct bq_into *into)
{
    struct bq_result r = bq_gen_query(g, q, NULL);
    struct bq_sql values[BQ_MAX_COLUMNS];

    if (!r.sql.p)
        return STR_NULL;
    if (r.columns.n != into->n) {
        bq_fail(g, NULL, "Inserted row has wrong column count; Has %zu, expected %zu", r.columns.n,
                into->n);
        return STR_NULL;
    }
    for (size_t i = 0; i < into->n; i++)
        values[i] = bq_made(g, r.columns.items[i].type, "c%zu", i);
    struct str one = bq_row_of(g, values, into);
    return one.p ? bq_printf(g, "SELECT " STR_FMT " AS d FROM (" STR_FMT ")", STR_ARG(one),
                             STR_ARG(r.sql))
                 : STR_NULL;
}

void bq_run_insert(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t;
    struct bq_into into;

    if (!bq_find_target(g, s->table, &t) || !bq_into_columns(g, s->columns, &t, &into))
        return;
    struct str rows =
        s->query ? bq_rows_of_query(g, s->query, &into) : values_rows(g, s->rows, &into);
    if (rows.p)
        g->run->n_rows = bq_insert_rows(g, &t, rows);
}

struct str bq_gen_sets(struct bq_gen *g, const struct bq_expr *sets, const struct bq_table *t,
                       const struct bq_scope *s)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    for (const struct bq_expr *e = sets; e; e = e->next) {
        const struct bq_field *f = find_row_field(t->row, e->alias);
        if (!f) {
            bq_fail(g, e, "Unrecognized name: " STR_FMT, STR_ARG(e->alias));
            return STR_NULL;
        }
        struct bq_sql v = bq_gen_expr(g, e, s);
        if (!fit(g, &v, f, 0))
            return STR_NULL;
        v.type = f->type;
        (void)buf_printf(&b, ", '$[%zu]', " STR_FMT, (size_t)(f - t->row->fields),
                         STR_ARG(bq_json_arg(g, &v)));
    }
    return bq_printf(g, STR_FMT, STR_ARG(buf_str(&b)));
}

void bq_fail_many(struct bq_gen *g)
{
    bq_fail(g, NULL, "UPDATE/MERGE must match at most one source row for each target row");
}

/* Whether no row of the table of the source NAME is found more than once in SOURCE. */
static bool check_once(struct bq_gen *g, unsigned name, struct str source)
{
    if (!g->run->is_dry && bq_sql_number(g, bq_printf(g,
                                                      "SELECT count(*) FROM (SELECT 1 FROM " STR_FMT
                                                      " GROUP BY t%u.n HAVING count(*) > 1)",
                                                      STR_ARG(source), name)) > 0)
        bq_fail_many(g);
    return !g->has_failed;
}

void bq_run_update(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t;
    struct bq_scope scope = {.is_joined = s->from};

    scope.end = &scope.ranges;
    if (!bq_find_target(g, s->table, &t))
        return;
    struct str own = bq_gen_table(g, &t, s->alias, &scope);
    unsigned name = g->n_names;
    struct str others = own.p && s->from ? bq_gen_from(g, s->from, &scope) : STR("");
    struct str sets = own.p && others.p ? bq_gen_sets(g, s->sets, &t, &scope) : STR_NULL;
    struct bq_sql where = sets.p ? bq_gen_expr(g, s->where, &scope) : (struct bq_sql){0};
    if (!where.sql.p)
        return;
    struct str source = bq_printf(g, STR_FMT "%s" STR_FMT " WHERE " STR_FMT, STR_ARG(own),
                                  s->from ? ", " : "", STR_ARG(others), STR_ARG(where.sql));
    if (!source.p || (s->from && !check_once(g, name, source)))
        return;
    g->run->n_rows = bq_sql_change(
        g, bq_printf(g,
                     "UPDATE bq_row SET d = u.d FROM (SELECT t%u.n AS n, json_set(t%u.d" STR_FMT
                     ") AS d FROM " STR_FMT ") AS u"
                     " WHERE bq_row.t = %lld AND bq_row.n = u.n",
                     name, name, STR_ARG(sets), STR_ARG(source), (long long)t.n));
}

void bq_run_delete(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t;
    struct bq_scope scope = {0};

    scope.end = &scope.ranges;
    if (!bq_find_target(g, s->table, &t))
        return;
    struct str own = bq_gen_table(g, &t, s->alias, &scope);
    unsigned name = g->n_names;
    struct bq_sql where = own.p ? bq_gen_expr(g, s->where, &scope) : (struct bq_sql){0};
    if (where.sql.p)
        g->run->n_rows = bq_sql_change(
            g, bq_printf(g,
                         "DELETE FROM bq_row WHERE t = %lld AND n IN (SELECT t%u.n FROM " STR_FMT
                         " WHERE " STR_FMT ")",
                         (long long)t.n, name, STR_ARG(own), STR_ARG(where.sql)));
}

void bq_run_truncate(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t;

    if (bq_find_target(g, s->table, &t))
        g->run->n_rows =
            bq_sql_change(g, bq_printf(g, "DELETE FROM bq_row WHERE t = %lld", (long long)t.n));
}
