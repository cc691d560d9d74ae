/* SPDX-License-Identifier: MIT */
/* Making and dropping tables, views and datasets. */
#include <errno.h>
#include <stdlib.h>

#include "apps/products/bigquery/run.h"
#include "base/cleanup.h"
#include "base/mem.h"

/* ---- tables ---- */

static bool has_dataset(struct bq_gen *g, struct str dataset)
{
    return bq_sql_number(g, bq_printf(g, "SELECT count(*) FROM bq_dataset WHERE id = " STR_FMT,
                                      STR_ARG(bq_quote(g, dataset)))) > 0;
}

/* The number of a table or view, 0 when there is none; *IS_VIEW when it is one. */
static int64_t table_number(struct bq_gen *g, struct str dataset, struct str table, bool *is_view)
{
    struct str where = bq_printf(g, "FROM bq_table WHERE dataset = " STR_FMT " AND id = " STR_FMT,
                                 STR_ARG(bq_quote(g, dataset)), STR_ARG(bq_quote(g, table)));

    *is_view = bq_sql_number(
                   g, bq_printf(g, "SELECT view_query IS NOT NULL " STR_FMT, STR_ARG(where))) > 0;
    return bq_sql_number(g, bq_printf(g, "SELECT n " STR_FMT, STR_ARG(where)));
}

static void fail_type(struct bq_gen *g, struct str dataset, struct str table, bool is_view)
{
    bq_fail_as(g, 400, "invalid",
               STR_FMT ":" STR_FMT "." STR_FMT
                       " is not allowed for this operation because it is currently a %s.",
               STR_ARG(g->run->project), STR_ARG(dataset), STR_ARG(table),
               is_view ? "VIEW" : "TABLE");
}

static bool drop_table(struct bq_gen *g, int64_t n)
{
    return bq_sql_change(g, bq_printf(g, "DELETE FROM bq_row WHERE t = %lld", (long long)n)) >= 0 &&
           bq_sql_change(g, bq_printf(g, "DELETE FROM bq_table WHERE n = %lld", (long long)n)) >= 0;
}

static void put_table_fields(struct buf *out, const struct bq_type *row)
{
    struct jw w = jw_to(out);

    jw_array(&w);
    for (size_t i = 0; i < row->n; i++)
        bq_put_field(&w, row->fields[i].name, row->fields[i].type);
    jw_end(&w);
}

/* A new table with the fields of ROW. */
static bool make_bq_table(struct bq_gen *g, struct bq_table *t)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    put_table_fields(&b, t->row);
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

/* "f0_", which a column without a name gets. */
static bool is_unnamed(struct str name)
{
    size_t i = 1;

    while (i < name.len && name.p[i] >= '0' && name.p[i] <= '9')
        i++;
    return name.len == 0 || (name.p[0] == 'f' && i > 1 && i + 1 == name.len && name.p[i] == '_');
}

static bool has_before(const struct bq_columns *columns, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (str_ieq(columns->items[k].name, columns->items[i].name))
            return true;
    }
    return false;
}

/* The columns of R as the row of a new table or view (WHAT). */
static const struct bq_type *type_of_result(struct bq_gen *g, const struct bq_result *r,
                                            const char *what)
{
    struct bq_type *t = arena_new(g->arena, struct bq_type);
    struct bq_field *fields = arena_zalloc(g->arena, r->columns.n + 1, sizeof *fields);

    for (size_t i = 0; t && fields && i < r->columns.n; i++) {
        const struct bq_column *c = &r->columns.items[i];
        if (is_unnamed(c->name)) {
            bq_fail(g, c->expr, "CREATE %s columns must be named, but column %zu has no name", what,
                    i + 1);
            return NULL;
        }
        if (has_before(&r->columns, i)) {
            bq_fail(g, NULL,
                    "Duplicate column names in the result are not supported. Found "
                    "duplicate(s): " STR_FMT,
                    STR_ARG(c->name));
            return NULL;
        }
        fields[i] = (struct bq_field){c->name, c->type};
    }
    if (!t || !fields)
        return NULL;
    *t = (struct bq_type){.kind = BQ_STRUCT, .fields = fields, .n = r->columns.n};
    return t;
}

/* Whether the table or view T can be made; *OLD is the number of the one that it replaces, or 0. */
static bool may_create(struct bq_gen *g, const struct bq_statement *s, const struct bq_table *t,
                       int64_t *old)
{
    bool is_view;

    if (!s->is_temp && !has_dataset(g, t->dataset)) {
        bq_fail_as(g, 404, "notFound", "Not found: Dataset " STR_FMT ":" STR_FMT,
                   STR_ARG(g->run->project), STR_ARG(t->dataset));
        return false;
    }
    *old = table_number(g, t->dataset, t->id, &is_view);
    if (*old && !s->is_if_not_exists && !s->is_or_replace)
        bq_fail_as(g, 409, "duplicate", "Already Exists: Table " STR_FMT ":" STR_FMT "." STR_FMT,
                   STR_ARG(g->run->project), STR_ARG(t->dataset), STR_ARG(t->id));
    if (*old && s->is_or_replace && is_view != (s->kind == BQ_S_CREATE_VIEW))
        fail_type(g, t->dataset, t->id, is_view);
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
        t->row = r.sql.p ? type_of_result(g, &r, "TABLE") : NULL;
    }
    return t->row && bq_into_columns(g, NULL, t, &into) ? bq_rows_of_query(g, s->query, &into)
                                                        : STR_NULL;
}

/* The name of CREATE TEMP TABLE, which is known from now on. */
static bool open_temp_table(struct bq_gen *g, const struct bq_statement *s, struct bq_table *t)
{
    struct bq_var *temp = arena_new(g->arena, struct bq_var);

    if (!g->is_script)
        bq_fail(g, NULL, "Use of CREATE TEMPORARY TABLE requires a script or session");
    else if (s->table->first->next)
        bq_fail(g, s->table, "Temporary tables may not be qualified");
    else if (!temp)
        bq_fail(g, NULL, "Query is too complex: it needs too much memory");
    if (g->has_failed)
        return false;
    t->dataset = STR(BQ_TEMP);
    t->id = s->table->first->text;
    *temp = (struct bq_var){.next = g->temps, .name = t->id};
    g->temps = temp;
    return true;
}

void bq_drop_temps(struct bq_gen *g)
{
    if (!g->temps)
        return;
    (void)bq_sql_change(g, STR("DELETE FROM bq_row WHERE t IN (SELECT n FROM bq_table"
                               " WHERE dataset = '" BQ_TEMP "')"));
    (void)bq_sql_change(g, STR("DELETE FROM bq_table WHERE dataset = '" BQ_TEMP "'"));
}

void bq_run_create_table(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t = {.row = s->row};
    int64_t old = 0;

    if (s->is_temp ? !open_temp_table(g, s, &t) : !bq_split_path(g, s->table, &t.dataset, &t.id))
        return;
    if (!may_create(g, s, &t, &old))
        return;
    struct str rows = new_rows(g, s, &t);
    if (g->has_failed || !t.row || g->run->is_dry)
        return;
    /* The new rows may come from the table that they replace. */
    if (make_bq_table(g, &t) && rows.p)
        g->run->n_rows = bq_insert_rows(g, &t, rows);
    if (old && !g->has_failed)
        (void)drop_table(g, old);
}

void bq_run_drop_table(struct bq_gen *g, const struct bq_statement *s)
{
    struct str dataset, table;
    bool is_view;

    if (!bq_split_path(g, s->table, &dataset, &table))
        return;
    int64_t n = table_number(g, dataset, table, &is_view);
    if (n && is_view != (s->kind == BQ_S_DROP_VIEW))
        fail_type(g, dataset, table, is_view);
    else if (n)
        (void)drop_table(g, n);
    else if (!s->is_if_exists)
        bq_fail_as(g, 404, "notFound", "Not found: Table " STR_FMT ":" STR_FMT "." STR_FMT,
                   STR_ARG(g->run->project), STR_ARG(dataset), STR_ARG(table));
}

/* ---- views ---- */

/* The row of a view with QUERY, whose columns have the names in the array NAMES, or their own. */
static const struct bq_type *view_type(struct bq_gen *g, const struct bq_query *query,
                                       const struct json *names)
{
    struct bq_result r = bq_gen_query(g, query, NULL);

    if (!r.sql.p)
        return NULL;
    if (names && names->n != r.columns.n) {
        bq_fail(g, NULL,
                "The number of columns in the column list, %zu, does not match the number of "
                "columns of the query, %zu",
                (size_t)names->n, r.columns.n);
        return NULL;
    }
    for (size_t i = 0; names && i < names->n; i++)
        r.columns.items[i].name = json_str(&names->items[i], STR(""));
    return type_of_result(g, &r, "VIEW");
}

/* The names of a column list, as JSON; NULL: there is none, or no memory. */
static const struct json *names_of(struct bq_gen *g, const struct bq_expr *columns)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct jw w = jw_to(&b);

    jw_array(&w);
    for (const struct bq_expr *e = columns; e; e = e->next)
        jw_str(&w, e->text);
    jw_end(&w);
    struct str text = columns ? bq_printf(g, STR_FMT, STR_ARG(buf_str(&b))) : STR_NULL;
    return text.p ? json_parse(g->arena, text, NULL, NULL) : NULL;
}

static bool keep_view(struct bq_gen *g, const struct bq_table *t)
{
    auto_buf struct buf names = BUF_INIT(1 << 20);

    if (t->names)
        (void)json_write(&names, t->names, JSON_CANONICAL);
    return bq_sql_change(g, bq_printf(g,
                                      "UPDATE bq_table SET view_query = " STR_FMT
                                      ", view_columns = nullif(" STR_FMT ", '') WHERE n = %lld",
                                      STR_ARG(bq_quote(g, t->view)),
                                      STR_ARG(bq_quote(g, buf_str(&names))), (long long)t->n)) >= 0;
}

void bq_run_create_view(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t = {.view = s->text};
    struct bq_scope scope = {0};
    int64_t old = 0;

    if (!bq_split_path(g, s->table, &t.dataset, &t.id) || !may_create(g, s, &t, &old))
        return;
    t.names = names_of(g, s->columns);
    t.row = view_type(g, s->query, t.names);
    g->n_tables = 0; /* its rows are not read */
    if (!t.row || g->run->is_dry || !make_bq_table(g, &t) || !keep_view(g, &t) || !old)
        return;
    /* The new one may be the old one's, through however many others. */
    scope.end = &scope.ranges;
    if (drop_table(g, old))
        (void)bq_gen_from(g, &(struct bq_from){.kind = BQ_F_TABLE, .expr = s->table}, &scope);
    g->n_tables = 0;
}

int bq_view_fields(struct bq_run *q, struct str query, const struct json *names, struct buf *out,
                   struct err *e)
{
    struct bq_parser p = {.arena = q->arena, .err = e};
    const struct bq_query *tree = bq_parse_text(&p, query);
    struct bq_gen *g = tree ? mem_zalloc(1, sizeof *g) : NULL;

    if (!g)
        return tree ? err_set(e, -ENOMEM, "out of memory") : -EINVAL;
    *g = (struct bq_gen){.run = q, .arena = q->arena, .err = e};
    q->reason = "invalidQuery";
    const struct bq_type *row = view_type(g, tree, names);
    bool is_made = row && !g->has_failed;
    if (is_made)
        put_table_fields(out, row);
    free(g);
    return is_made ? 0 : -EINVAL;
}

/* ---- datasets ---- */

/* [project.]dataset */
static struct str dataset_of(struct bq_gen *g, const struct bq_statement *s)
{
    const struct bq_expr *last = s->table->first;

    while (last->next)
        last = last->next;
    if (!bq_is_allowed(g->run->allowed, last->text))
        bq_fail_as(g, 403, "accessDenied",
                   "Access denied: Dataset '" STR_FMT "' is not in allowed datasets list",
                   STR_ARG(last->text));
    return last->text;
}

void bq_run_create_schema(struct bq_gen *g, const struct bq_statement *s)
{
    struct str dataset = dataset_of(g, s);

    if (g->has_failed)
        return;
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
    struct str dataset = dataset_of(g, s), quoted = bq_quote(g, dataset);
    int64_t n = bq_sql_number(
        g, bq_printf(g, "SELECT count(*) FROM bq_table WHERE dataset = " STR_FMT, STR_ARG(quoted)));

    if (g->has_failed)
        return;
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
