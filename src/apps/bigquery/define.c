/* SPDX-License-Identifier: MIT */
/* Making and dropping tables and datasets. */
#include "apps/bigquery/run.h"
#include "base/cleanup.h"

/* ---- tables and datasets ---- */

static bool has_dataset(struct bq_gen *g, struct str dataset)
{
    return bq_sql_number(g, bq_printf(g, "SELECT count(*) FROM bq_dataset WHERE id = " STR_FMT,
                                      STR_ARG(bq_quote(g, dataset)))) > 0;
}

static int64_t table_number(struct bq_gen *g, struct str dataset, struct str table)
{
    return bq_sql_number(
        g, bq_printf(g, "SELECT n FROM bq_table WHERE dataset = " STR_FMT " AND id = " STR_FMT,
                     STR_ARG(bq_quote(g, dataset)), STR_ARG(bq_quote(g, table))));
}

static bool drop_table(struct bq_gen *g, int64_t n)
{
    return bq_sql_change(g, bq_printf(g, "DELETE FROM bq_row WHERE t = %lld", (long long)n)) >= 0 &&
           bq_sql_change(g, bq_printf(g, "DELETE FROM bq_table WHERE n = %lld", (long long)n)) >= 0;
}

/* A new table with the fields of ROW. */
static bool make_table(struct bq_gen *g, struct bq_table *t)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct jw w = jw_to(&b);

    jw_array(&w);
    for (size_t i = 0; i < t->row->n; i++)
        bq_put_field(&w, t->row->fields[i].name, t->row->fields[i].type);
    jw_end(&w);
    if (bq_sql_change(g, bq_printf(g,
                                   "INSERT INTO bq_table (n, dataset, id, fields, created_at)"
                                   " SELECT ifnull(max(n), 0) + 1, " STR_FMT ", " STR_FMT
                                   ", " STR_FMT ", now() FROM bq_table",
                                   STR_ARG(bq_quote(g, t->dataset)), STR_ARG(bq_quote(g, t->id)),
                                   STR_ARG(bq_quote(g, buf_str(&b))))) < 0)
        return false;
    t->n = bq_sql_number(g, STR("SELECT max(n) FROM bq_table"));
    return true;
}

/* The columns of R as a row. */
static const struct bq_type *type_of_result(struct bq_gen *g, const struct bq_result *r)
{
    struct bq_type *t = arena_new(g->arena, struct bq_type);
    struct bq_field *fields = arena_zalloc(g->arena, r->columns.n + 1, sizeof *fields);

    for (size_t i = 0; t && fields && i < r->columns.n; i++) {
        const struct bq_column *c = &r->columns.items[i];
        if (str_starts(c->name, STR("f")) && str_ends(c->name, STR("_"))) {
            bq_fail(g, c->expr, "CREATE TABLE columns must be named, but column %zu has no name",
                    i + 1);
            return NULL;
        }
        fields[i] = (struct bq_field){c->name, c->type};
    }
    if (!t || !fields)
        return NULL;
    *t = (struct bq_type){.kind = BQ_STRUCT, .fields = fields, .n = r->columns.n};
    return t;
}

/* Whether the table T can be made; *OLD is the number of the one that it replaces, or 0. */
static bool may_create(struct bq_gen *g, const struct bq_statement *s, const struct bq_table *t,
                       int64_t *old)
{
    if (!has_dataset(g, t->dataset)) {
        bq_fail_as(g, 404, "notFound", "Not found: Dataset " STR_FMT ":" STR_FMT,
                   STR_ARG(g->run->project), STR_ARG(t->dataset));
        return false;
    }
    *old = table_number(g, t->dataset, t->id);
    if (*old && !s->is_if_not_exists && !s->is_or_replace)
        bq_fail_as(g, 409, "duplicate", "Already Exists: Table " STR_FMT ":" STR_FMT "." STR_FMT,
                   STR_ARG(g->run->project), STR_ARG(t->dataset), STR_ARG(t->id));
    return !*old || (s->is_or_replace && !g->has_failed);
}

/* The rows of AS SELECT, whose columns are T's when none were declared; .p NULL: none. */
static struct str new_rows(struct bq_gen *g, const struct bq_statement *s, struct bq_table *t)
{
    struct bq_into into;

    if (!s->query)
        return STR_NULL;
    if (!t->row) {
        struct bq_result r = bq_gen_query(g, s->query, NULL);
        t->row = r.sql.p ? type_of_result(g, &r) : NULL;
    }
    return t->row && bq_into_columns(g, NULL, t, &into) ? bq_rows_of_query(g, s->query, &into)
                                                        : STR_NULL;
}

void bq_run_create_table(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t = {.row = s->row};
    int64_t old = 0;

    if (!bq_split_path(g, s->table, &t.dataset, &t.id) || !may_create(g, s, &t, &old))
        return;
    struct str rows = new_rows(g, s, &t);
    if (g->has_failed || !t.row || g->run->is_dry)
        return;
    /* The new rows may come from the table that they replace. */
    if (make_table(g, &t) && rows.p)
        g->run->n_rows = bq_insert_rows(g, &t, rows);
    if (old && !g->has_failed)
        (void)drop_table(g, old);
}

void bq_run_drop_table(struct bq_gen *g, const struct bq_statement *s)
{
    struct str dataset, table;

    if (!bq_split_path(g, s->table, &dataset, &table))
        return;
    int64_t n = table_number(g, dataset, table);
    if (n)
        (void)drop_table(g, n);
    else if (!s->is_if_exists)
        bq_fail_as(g, 404, "notFound", "Not found: Table " STR_FMT ":" STR_FMT "." STR_FMT,
                   STR_ARG(g->run->project), STR_ARG(dataset), STR_ARG(table));
}

/* [project.]dataset */
static struct str dataset_of(const struct bq_statement *s)
{
    const struct bq_expr *last = s->table->first;

    while (last->next)
        last = last->next;
    return last->text;
}

void bq_run_create_schema(struct bq_gen *g, const struct bq_statement *s)
{
    struct str dataset = dataset_of(s);

    if (!has_dataset(g, dataset))
        (void)bq_sql_change(
            g, bq_printf(g,
                         "INSERT INTO bq_dataset (id, location, created_at, updated_at)"
                         " VALUES (" STR_FMT ", 'US', now(), now())",
                         STR_ARG(bq_quote(g, dataset))));
    else if (!s->is_if_not_exists)
        bq_fail_as(g, 409, "duplicate", "Already Exists: Dataset " STR_FMT ":" STR_FMT,
                   STR_ARG(g->run->project), STR_ARG(dataset));
}

void bq_run_drop_schema(struct bq_gen *g, const struct bq_statement *s)
{
    struct str dataset = dataset_of(s), quoted = bq_quote(g, dataset);
    int64_t n = bq_sql_number(
        g, bq_printf(g, "SELECT count(*) FROM bq_table WHERE dataset = " STR_FMT, STR_ARG(quoted)));

    if (!has_dataset(g, dataset)) {
        if (!s->is_if_exists)
            bq_fail_as(g, 404, "notFound", "Not found: Dataset " STR_FMT ":" STR_FMT,
                       STR_ARG(g->run->project), STR_ARG(dataset));
        return;
    }
    if (n > 0 && !s->is_cascade) {
        bq_fail_as(g, 400, "resourceInUse", "Dataset " STR_FMT ":" STR_FMT " is still in use",
                   STR_ARG(g->run->project), STR_ARG(dataset));
        return;
    }
    (void)bq_sql_change(g, bq_printf(g,
                                     "DELETE FROM bq_row WHERE t IN (SELECT n FROM bq_table WHERE"
                                     " dataset = " STR_FMT ")",
                                     STR_ARG(quoted)));
    (void)bq_sql_change(
        g, bq_printf(g, "DELETE FROM bq_table WHERE dataset = " STR_FMT, STR_ARG(quoted)));
    (void)bq_sql_change(
        g, bq_printf(g, "DELETE FROM bq_dataset WHERE id = " STR_FMT, STR_ARG(quoted)));
}
