/* SPDX-License-Identifier: MIT */
/* Running statements: compiled, run on the database that keeps the tables, and told. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/bigquery/gen.h"
#include "apps/bigquery/parse.h"
#include "apps/value.h"
#include "base/cleanup.h"
#include "base/mem.h"

/* ---- SQLite ---- */

/* What SQLite or one of our functions says of a query that failed. */
static void fail_step(struct bq_gen *g, int rc)
{
    const char *why = sqlite3_errmsg(g->run->db);

    if ((rc & 0xff) == SQLITE_INTERRUPT || (rc & 0xff) == SQLITE_NOMEM ||
        (rc & 0xff) == SQLITE_TOOBIG) {
        g->run->has_hit_limits = true;
        bq_fail_as(g, 400, "resourcesExceeded",
                   "Resources exceeded during query execution: The query could not be executed in "
                   "the allotted memory.");
    } else if (str_is(str_of(why), "parser stack overflow")) {
        bq_fail(g, NULL, "Query is too complex: it is nested too deeply");
    } else {
        bq_fail(g, NULL, "%s", why);
    }
}

static sqlite3_stmt *prepare(struct bq_gen *g, struct str sql)
{
    sqlite3_stmt *st = NULL;
    int rc = g->has_failed || !sql.p
                 ? SQLITE_ERROR
                 : sqlite3_prepare_v2(g->run->db, sql.p, (int)sql.len, &st, NULL);

    if (rc != SQLITE_OK && !g->has_failed)
        fail_step(g, rc);
    return st;
}

/* Runs SQL and gives how many rows it changed; -1: failed. */
static int64_t change(struct bq_gen *g, struct str sql)
{
    sqlite3_stmt *st = prepare(g, sql);
    int64_t before = sqlite3_total_changes64(g->run->db);

    if (!st)
        return -1;
    int rc = g->run->is_dry ? SQLITE_DONE : sqlite3_step(st);
    while (rc == SQLITE_ROW)
        rc = sqlite3_step(st);
    if (rc != SQLITE_DONE)
        fail_step(g, rc);
    (void)sqlite3_finalize(st);
    return g->has_failed ? -1 : sqlite3_total_changes64(g->run->db) - before;
}

/* The first column of the first row; 0 when there is none. */
static int64_t number_of(struct bq_gen *g, struct str sql)
{
    sqlite3_stmt *st = prepare(g, sql);
    int64_t n = st && sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;

    (void)sqlite3_finalize(st);
    return n;
}

/* ---- SELECT ---- */

static void put_row(struct bq_gen *g, sqlite3_stmt *st, const struct bq_columns *columns)
{
    struct buf *out = &g->run->text;
    struct arena a auto_arena;

    arena_init(&a, 64UL << 20);
    (void)buf_printf(out, "Row %lld: {", (long long)g->run->n_rows);
    for (size_t i = 0; i < columns->n; i++) {
        struct json value = {.type = JSON_NULL};
        const struct json name = {.type = JSON_STRING, .s = columns->items[i].name};
        (void)value_read(sqlite3_column_value(st, (int)i), &a, &value);
        (void)buf_add_str(out, i > 0 ? STR(", ") : STR(""));
        bq_repr(out, &name, &bq_scalars[BQ_STRING]);
        (void)buf_add_lit(out, ": ");
        bq_repr(out, &value, columns->items[i].type);
    }
    (void)buf_add_lit(out, "}\n");
}

static void run_select(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_result r = bq_gen_query(g, s->query, NULL);
    sqlite3_stmt *st = r.sql.p ? prepare(g, r.sql) : NULL;
    int rc = SQLITE_DONE;

    if (st && !sqlite3_stmt_readonly(st)) /* cannot be */
        bq_fail(g, NULL, "the query writes");
    while (st && !g->run->is_dry && !g->has_failed && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        g->run->n_rows++;
        if (g->run->n_rows <= g->run->max_rows)
            g->run->n_returned++;
        if (g->run->n_returned == g->run->n_rows && g->run->n_rows <= BQ_SHOWN_ROWS)
            put_row(g, st, &r.columns);
    }
    if (st && rc != SQLITE_DONE && rc != SQLITE_ROW)
        fail_step(g, rc);
    (void)sqlite3_finalize(st);
}

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

static const struct bq_field *find_field(const struct bq_type *row, struct str name)
{
    for (size_t i = 0; i < row->n; i++) {
        if (str_ieq(row->fields[i].name, name))
            return &row->fields[i];
    }
    return NULL;
}

/* Which value of an INSERT each field of the table gets; SIZE_MAX: none. */
static bool map_columns(struct bq_gen *g, const struct bq_statement *s, const struct bq_type *row,
                        size_t map[BQ_MAX_COLUMNS], size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < row->n; i++)
        map[i] = s->columns ? SIZE_MAX : i;
    if (!s->columns)
        *n = row->n;
    for (const struct bq_expr *e = s->columns; e; e = e->next) {
        const struct bq_field *f = find_field(row, e->text);
        if (!f) {
            bq_fail(g, e, "Column " STR_FMT " is not present in table " STR_FMT "." STR_FMT,
                    STR_ARG(e->text), STR_ARG(g->tables[0].dataset), STR_ARG(g->tables[0].id));
            return false;
        }
        map[f - row->fields] = (*n)++;
    }
    return true;
}

/* json_array(…) of the values in the order of the fields. */
static struct str row_of(struct bq_gen *g, struct bq_sql *values, const struct bq_type *row,
                         const size_t map[BQ_MAX_COLUMNS])
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    for (size_t i = 0; i < row->n; i++) {
        struct bq_sql null = {.sql = STR("NULL"), .type = &bq_scalars[BQ_ANY]};
        struct bq_sql *v = map[i] == SIZE_MAX ? &null : &values[map[i]];
        if (!fit(g, v, &row->fields[i], map[i]))
            return STR_NULL;
        v->type = row->fields[i].type;
        (void)buf_printf(&b, "%s" STR_FMT, i > 0 ? ", " : "", STR_ARG(bq_json_arg(g, v)));
    }
    return bq_printf(g, "json_array(" STR_FMT ")", STR_ARG(buf_str(&b)));
}

static int64_t insert_rows(struct bq_gen *g, const struct bq_table *t, struct str rows)
{
    return change(g, bq_printf(g,
                               "INSERT INTO bq_row (t, n, d) SELECT %lld, (SELECT ifnull(max(n), 0)"
                               " FROM bq_row WHERE t = %lld) + row_number() OVER (), d"
                               " FROM (" STR_FMT ")",
                               (long long)t->n, (long long)t->n, STR_ARG(rows)));
}

/* The rows of VALUES, one SELECT each. */
static struct str values_rows(struct bq_gen *g, const struct bq_statement *s,
                              const struct bq_type *row, const size_t *map, size_t n)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct bq_sql values[BQ_MAX_COLUMNS];

    for (const struct bq_expr *e = s->rows; e; e = e->next) {
        size_t k = 0;
        for (const struct bq_expr *part = e->first; part && k < BQ_MAX_COLUMNS; part = part->next) {
            bool is_default = part->kind == BQ_E_PATH && str_iis(part->first->text, "DEFAULT");
            const struct bq_scope none = {0};
            values[k] = is_default ? (struct bq_sql){STR("NULL"), &bq_scalars[BQ_ANY], true}
                                   : bq_gen_expr(g, part, &none);
            if (!values[k++].sql.p)
                return STR_NULL;
        }
        if (k != n) {
            bq_fail(g, e, "Inserted row has wrong column count; Has %zu, expected %zu", k, n);
            return STR_NULL;
        }
        struct str one = row_of(g, values, row, map);
        if (!one.p)
            return STR_NULL;
        (void)buf_printf(&b, "%s(" STR_FMT ")", b.len > 0 ? ", " : "", STR_ARG(one));
    }
    return buf_ok(&b)
               ? bq_printf(g, "SELECT column1 AS d FROM (VALUES " STR_FMT ")", STR_ARG(buf_str(&b)))
               : STR_NULL;
}

static struct str query_rows(struct bq_gen *g, const struct bq_query *q, const struct bq_type *row,
                             const size_t *map, size_t n)
{
    struct bq_result r = bq_gen_query(g, q, NULL);
    struct bq_sql values[BQ_MAX_COLUMNS];

    if (!r.sql.p)
        return STR_NULL;
    if (r.columns.n != n) {
        bq_fail(g, NULL, "Inserted row has wrong column count; Has %zu, expected %zu", r.columns.n,
                n);
        return STR_NULL;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = bq_made(g, r.columns.items[i].type, "c%zu", i);
    struct str one = row_of(g, values, row, map);
    return one.p ? bq_printf(g, "SELECT " STR_FMT " AS d FROM (" STR_FMT ")", STR_ARG(one),
                             STR_ARG(r.sql))
                 : STR_NULL;
}

static void run_insert(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t;
    size_t map[BQ_MAX_COLUMNS], n;

    if (!bq_find_table(g, s->table, &t) || !map_columns(g, s, t.row, map, &n))
        return;
    struct str rows =
        s->query ? query_rows(g, s->query, t.row, map, n) : values_rows(g, s, t.row, map, n);
    if (rows.p)
        g->run->n_rows = insert_rows(g, &t, rows);
}

static void run_update(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t;
    struct bq_scope scope = {0};
    auto_buf struct buf sets = BUF_INIT(1 << 20);
    auto_buf struct buf from = BUF_INIT(1 << 20);

    scope.end = &scope.ranges;
    if (!bq_find_table(g, s->table, &t))
        return;
    struct str own = bq_gen_table(g, &t, s->alias, &scope);
    unsigned name = g->n_names;
    struct str others = own.p && s->from ? bq_gen_from(g, s->from, &scope) : STR("");
    if (!own.p || !others.p)
        return;
    (void)buf_printf(&from, STR_FMT "%s" STR_FMT, STR_ARG(own), s->from ? ", " : "",
                     STR_ARG(others));
    for (const struct bq_expr *e = s->sets; e; e = e->next) {
        const struct bq_field *f = find_field(t.row, e->alias);
        if (!f) {
            bq_fail(g, e, "Unrecognized name: " STR_FMT, STR_ARG(e->alias));
            return;
        }
        struct bq_sql v = bq_gen_expr(g, e, &scope);
        if (!fit(g, &v, f, 0))
            return;
        v.type = f->type;
        (void)buf_printf(&sets, ", '$[%zu]', " STR_FMT, (size_t)(f - t.row->fields),
                         STR_ARG(bq_json_arg(g, &v)));
    }
    struct bq_sql where = bq_gen_expr(g, s->where, &scope);
    if (!where.sql.p)
        return;
    g->run->n_rows = change(
        g, bq_printf(g,
                     "UPDATE bq_row SET d = u.d FROM (SELECT t%u.n AS n, json_set(t%u.d" STR_FMT
                     ") AS d FROM " STR_FMT " WHERE " STR_FMT ") AS u"
                     " WHERE bq_row.t = %lld AND bq_row.n = u.n",
                     name, name, STR_ARG(buf_str(&sets)), STR_ARG(buf_str(&from)),
                     STR_ARG(where.sql), (long long)t.n));
}

static void run_delete(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t;
    struct bq_scope scope = {0};

    scope.end = &scope.ranges;
    if (!bq_find_table(g, s->table, &t))
        return;
    struct str own = bq_gen_table(g, &t, s->alias, &scope);
    unsigned name = g->n_names;
    struct bq_sql where = own.p ? bq_gen_expr(g, s->where, &scope) : (struct bq_sql){0};
    if (where.sql.p)
        g->run->n_rows = change(
            g, bq_printf(g,
                         "DELETE FROM bq_row WHERE t = %lld AND n IN (SELECT t%u.n FROM " STR_FMT
                         " WHERE " STR_FMT ")",
                         (long long)t.n, name, STR_ARG(own), STR_ARG(where.sql)));
}

/* ---- tables and datasets ---- */

static bool has_dataset(struct bq_gen *g, struct str dataset)
{
    return number_of(g, bq_printf(g, "SELECT count(*) FROM bq_dataset WHERE id = " STR_FMT,
                                  STR_ARG(bq_quote(g, dataset)))) > 0;
}

static int64_t table_number(struct bq_gen *g, struct str dataset, struct str table)
{
    return number_of(
        g, bq_printf(g, "SELECT n FROM bq_table WHERE dataset = " STR_FMT " AND id = " STR_FMT,
                     STR_ARG(bq_quote(g, dataset)), STR_ARG(bq_quote(g, table))));
}

static bool drop_table(struct bq_gen *g, int64_t n)
{
    return change(g, bq_printf(g, "DELETE FROM bq_row WHERE t = %lld", (long long)n)) >= 0 &&
           change(g, bq_printf(g, "DELETE FROM bq_table WHERE n = %lld", (long long)n)) >= 0;
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
    if (change(g, bq_printf(g,
                            "INSERT INTO bq_table (n, dataset, id, fields, created_at)"
                            " SELECT ifnull(max(n), 0) + 1, " STR_FMT ", " STR_FMT ", " STR_FMT
                            ", now() FROM bq_table",
                            STR_ARG(bq_quote(g, t->dataset)), STR_ARG(bq_quote(g, t->id)),
                            STR_ARG(bq_quote(g, buf_str(&b))))) < 0)
        return false;
    t->n = number_of(g, STR("SELECT max(n) FROM bq_table"));
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
    size_t map[BQ_MAX_COLUMNS];

    if (!s->query)
        return STR_NULL;
    if (!t->row) {
        struct bq_result r = bq_gen_query(g, s->query, NULL);
        t->row = r.sql.p ? type_of_result(g, &r) : NULL;
    }
    for (size_t i = 0; t->row && i < t->row->n; i++)
        map[i] = i;
    return t->row ? query_rows(g, s->query, t->row, map, t->row->n) : STR_NULL;
}

static void run_create_table(struct bq_gen *g, const struct bq_statement *s)
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
        g->run->n_rows = insert_rows(g, &t, rows);
    if (old && !g->has_failed)
        (void)drop_table(g, old);
}

static void run_drop_table(struct bq_gen *g, const struct bq_statement *s)
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

static void run_truncate(struct bq_gen *g, const struct bq_statement *s)
{
    struct bq_table t;

    if (bq_find_table(g, s->table, &t))
        g->run->n_rows =
            change(g, bq_printf(g, "DELETE FROM bq_row WHERE t = %lld", (long long)t.n));
}

/* [project.]dataset */
static struct str dataset_of(const struct bq_statement *s)
{
    const struct bq_expr *last = s->table->first;

    while (last->next)
        last = last->next;
    return last->text;
}

static void run_create_schema(struct bq_gen *g, const struct bq_statement *s)
{
    struct str dataset = dataset_of(s);

    if (!has_dataset(g, dataset))
        (void)change(g, bq_printf(g,
                                  "INSERT INTO bq_dataset (id, location, created_at, updated_at)"
                                  " VALUES (" STR_FMT ", 'US', now(), now())",
                                  STR_ARG(bq_quote(g, dataset))));
    else if (!s->is_if_not_exists)
        bq_fail_as(g, 409, "duplicate", "Already Exists: Dataset " STR_FMT ":" STR_FMT,
                   STR_ARG(g->run->project), STR_ARG(dataset));
}

static void run_drop_schema(struct bq_gen *g, const struct bq_statement *s)
{
    struct str dataset = dataset_of(s), quoted = bq_quote(g, dataset);
    int64_t n = number_of(
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
    (void)change(g, bq_printf(g,
                              "DELETE FROM bq_row WHERE t IN (SELECT n FROM bq_table WHERE"
                              " dataset = " STR_FMT ")",
                              STR_ARG(quoted)));
    (void)change(g, bq_printf(g, "DELETE FROM bq_table WHERE dataset = " STR_FMT, STR_ARG(quoted)));
    (void)change(g, bq_printf(g, "DELETE FROM bq_dataset WHERE id = " STR_FMT, STR_ARG(quoted)));
}

/* ---- all of it ---- */

static const struct {
    const char *name;
    void (*run)(struct bq_gen *g, const struct bq_statement *s);
} kinds[] = {
    [BQ_S_SELECT] = {"SELECT", run_select},
    [BQ_S_INSERT] = {"INSERT", run_insert},
    [BQ_S_UPDATE] = {"UPDATE", run_update},
    [BQ_S_DELETE] = {"DELETE", run_delete},
    [BQ_S_CREATE_TABLE] = {"CREATE_TABLE", run_create_table},
    [BQ_S_DROP_TABLE] = {"DROP_TABLE", run_drop_table},
    [BQ_S_TRUNCATE] = {"TRUNCATE_TABLE", run_truncate},
    [BQ_S_CREATE_SCHEMA] = {"CREATE_SCHEMA", run_create_schema},
    [BQ_S_DROP_SCHEMA] = {"DROP_SCHEMA", run_drop_schema},
};

static void count_bytes(struct bq_gen *g)
{
    for (size_t i = 0; i < g->n_tables && !g->has_failed; i++)
        g->run->n_bytes +=
            number_of(g, bq_printf(g, "SELECT ifnull(sum(length(d)), 0) FROM bq_row WHERE t = %lld",
                                   (long long)g->tables[i].n));
}

int bq_run(struct bq_run *q, struct str text, struct err *e)
{
    struct err own = ERR_INIT;
    struct bq_parser p = {.arena = q->arena, .err = e ? e : &own};
    struct bq_gen *g = mem_zalloc(1, sizeof *g);
    struct bq_statement s;

    q->code = 400;
    q->reason = "invalidQuery";
    q->kind = "SCRIPT";
    if (!g)
        return err_set(e, -ENOMEM, "out of memory");
    int r = bq_parse(&p, text, &s);
    if (r == 0) {
        *g = (struct bq_gen){.run = q, .arena = q->arena, .err = p.err};
        q->kind = kinds[s.kind].name;
        kinds[s.kind].run(g, &s);
        if (!g->has_failed)
            count_bytes(g);
        r = g->has_failed ? -EINVAL : 0;
    }
    free(g);
    return r;
}
