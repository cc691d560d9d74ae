/* SPDX-License-Identifier: MIT */
/* Where rows come from: tables, queries, arrays and joins of them. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#include "apps/products/bigquery/gen.h"
#include "apps/products/bigquery/parse.h"
#include "base/cleanup.h"

/* ---- tables ---- */

bool bq_is_allowed(struct str list, struct str name)
{
    if (list.len == 0)
        return true;
    while (list.p) {
        struct str word = str_trim(str_cut(&list, ','));
        if (str_ends(word, STR("*")) ? str_starts(name, str_slice(word, 0, word.len - 1))
                                     : str_eq(word, name))
            return word.len > 0;
    }
    return false;
}

bool bq_split_path(struct bq_gen *g, const struct bq_expr *path, struct str *dataset,
                   struct str *table)
{
    struct str parts[3] = {{NULL, 0}};
    size_t n = 0;

    for (const struct bq_expr *e = path->first; e; e = e->next) {
        if (n == ARRAY_LEN(parts)) {
            bq_fail(g, path, "Syntax error: a table is project.dataset.table");
            return false;
        }
        parts[n++] = e->text;
    }
    if (n == 3 && !str_eq(parts[0], g->run->project)) {
        bq_fail_as(g, 403, "accessDenied",
                   "Access Denied: Table " STR_FMT ":" STR_FMT "." STR_FMT
                   ": User does not have permission to query table " STR_FMT ":" STR_FMT "." STR_FMT
                   ", or perhaps it does not exist.",
                   STR_ARG(parts[0]), STR_ARG(parts[1]), STR_ARG(parts[2]), STR_ARG(parts[0]),
                   STR_ARG(parts[1]), STR_ARG(parts[2]));
        return false;
    }
    if (n == 0)
        return false;
    *table = parts[n - 1];
    *dataset = n > 1 ? parts[n - 2] : STR("");
    for (const struct bq_var *t = g->temps; n == 1 && t; t = t->next) {
        if (str_eq(t->name, *table)) {
            *dataset = STR(BQ_TEMP);
            return true;
        }
    }
    if (dataset->len > 0 && bq_is_allowed(g->run->allowed, *dataset))
        return true;
    if (dataset->len > 0)
        bq_fail_as(g, 403, "accessDenied",
                   "Access denied: Dataset '" STR_FMT "' is not in allowed datasets list",
                   STR_ARG(*dataset));
    else
        bq_fail(g, NULL,
                "Table \"" STR_FMT "\" must be qualified with a dataset (e.g. dataset.table).",
                STR_ARG(*table));
    return false;
}

static const struct bq_type *row_type(struct arena *a, struct str fields)
{
    struct json all = {.type = JSON_STRING, .s = STR("RECORD")};
    struct json *field = json_new_object(a);
    struct json *parts = json_parse(a, fields, NULL, NULL);

    if (!field || !json_is(parts, JSON_ARRAY) || json_set(a, field, "type", &all) < 0 ||
        json_set(a, field, "fields", parts) < 0)
        return NULL;
    return bq_type_of_field(a, field);
}

static struct str column_text(struct bq_gen *g, sqlite3_stmt *st, int i)
{
    const char *text = (const char *)sqlite3_column_text(st, i);

    return text ? arena_str(g->arena, str_of(text)) : STR_NULL;
}

static bool read_source_table(struct bq_gen *g, struct bq_table *t)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(g->run->db,
                                "SELECT n, fields, view_query, view_columns FROM bq_table"
                                " WHERE dataset = ?1 AND id = ?2",
                                -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(st, 1, t->dataset.p, (int)t->dataset.len, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(st, 2, t->id.p, (int)t->id.len, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW) {
        struct str fields = column_text(g, st, 1), names = column_text(g, st, 3);
        t->n = sqlite3_column_int64(st, 0);
        t->row = row_type(g->arena, fields.p ? fields : STR("[]"));
        t->view = column_text(g, st, 2);
        t->names = names.p ? json_parse(g->arena, names, NULL, NULL) : NULL;
    }
    (void)sqlite3_finalize(st);
    return t->row;
}

/* Finds the table or view of a path; false: it failed. */
static bool bq_find_table(struct bq_gen *g, const struct bq_expr *path, struct bq_table *ret)
{
    *ret = (struct bq_table){0};
    if (!bq_split_path(g, path, &ret->dataset, &ret->id))
        return false;
    if (!read_source_table(g, ret)) {
        bq_fail_as(g, 404, "notFound",
                   "Not found: Table " STR_FMT ":" STR_FMT "." STR_FMT
                   " was not found in location US",
                   STR_ARG(g->run->project), STR_ARG(ret->dataset), STR_ARG(ret->id));
        return false;
    }
    if (g->n_tables == ARRAY_LEN(g->tables)) {
        bq_fail(g, NULL,
                "Resources exceeded during query execution: Not enough resources for "
                "query planning - too many tables.");
        return false;
    }
    g->tables[g->n_tables++] = *ret;
    return true;
}

bool bq_find_target(struct bq_gen *g, const struct bq_expr *path, struct bq_table *ret)
{
    if (!bq_find_table(g, path, ret))
        return false;
    if (ret->view.p)
        bq_fail_as(g, 400, "invalid",
                   "Using table " STR_FMT ":" STR_FMT "." STR_FMT
                   " is not allowed for this operation because of its type. Try using a different "
                   "table that is of type TABLE.",
                   STR_ARG(g->run->project), STR_ARG(ret->dataset), STR_ARG(ret->id));
    return !g->has_failed;
}

/* ---- ranges ---- */

/* What is joined with others is copied first: SQLite then makes an index of the copy where it needs
 * one, which it cannot of what it finds in JSON or calculates. It is told to by a LIMIT, and
 * expects more rows of a range than of one value. */
static struct str gen_source(struct bq_gen *g, const struct bq_scope *s, struct str sql, unsigned t)
{
    return s->is_joined
               ? bq_printf(g, "(SELECT * FROM (" STR_FMT ") LIMIT -1) AS t%u", STR_ARG(sql), t)
               : bq_printf(g, "(" STR_FMT ") AS t%u", STR_ARG(sql), t);
}

static struct bq_range *add_source_range(struct bq_gen *g, struct bq_scope *s, struct str name)
{
    for (const struct bq_range *r = s->ranges; r; r = r->next) {
        if (name.len > 0 && str_ieq(r->name, name)) {
            bq_fail(g, NULL, "Duplicate table alias " STR_FMT " in the same FROM clause",
                    STR_ARG(name));
            return NULL;
        }
    }
    struct bq_range *r = g->has_failed ? NULL : arena_new(g->arena, struct bq_range);
    if (!r)
        return NULL;
    r->name = name.p ? name : STR("");
    *s->end = r;
    s->end = &r->next;
    return r;
}

/* The columns of COLUMNS as those of the source T. */
static bool add_source_columns(struct bq_gen *g, struct bq_range *r, unsigned t,
                               const struct bq_columns *columns)
{
    for (size_t i = 0; i < columns->n; i++) {
        const struct bq_column c = {.name = columns->items[i].name,
                                    .type = columns->items[i].type,
                                    .sql = bq_printf(g, "t%u.c%zu", t, i)};
        if (!c.sql.p || !bq_add_column(g, &r->columns, &c))
            return false;
    }
    return true;
}

static struct str gen_table(struct bq_gen *g, const struct bq_table *table, struct str alias,
                            struct bq_scope *s, bool is_target)
{
    unsigned t = ++g->n_names;
    struct bq_range *r = add_source_range(g, s, alias.p ? alias : table->id);
    auto_buf struct buf b = BUF_INIT(1 << 20);
    bool is_alone = !s->is_joined && g->depth <= 1;
    long long n = table->n;

    (void)buf_printf(&b, "%s", is_target ? "n, d" : "1");
    for (size_t i = 0; r && i < table->row->n; i++) {
        const struct bq_column c = {.name = table->row->fields[i].name,
                                    .type = table->row->fields[i].type,
                                    .sql = bq_printf(g, "t%u.c%zu", t, i)};
        if (!c.sql.p || !bq_add_column(g, &r->columns, &c))
            return STR_NULL;
        (void)buf_printf(&b, ", d ->> '$[%zu]' AS c%zu", i, i);
    }
    if (!buf_ok(&b))
        return STR_NULL;
    return bq_printf(g, "(SELECT " STR_FMT " FROM bq_row WHERE t BETWEEN %lld AND %lld%s) AS t%u",
                     STR_ARG(buf_str(&b)), n, n, is_alone ? "" : " LIMIT -1", t);
}

struct str bq_gen_table(struct bq_gen *g, const struct bq_table *table, struct str alias,
                        struct bq_scope *s)
{
    return gen_table(g, table, alias, s, true);
}

/* ---- what describes the tables ---- */

static const struct {
    const char *name;
    struct {
        const char *name;
        enum bq_kind kind;
    } columns[8];
    const char *sql; /* %p: the project, %d: the dataset, %a: those that are allowed; quoted */
} views[] = {
    {"TABLES",
     {{"table_catalog", BQ_STRING},
      {"table_schema", BQ_STRING},
      {"table_name", BQ_STRING},
      {"table_type", BQ_STRING},
      {"is_insertable_into", BQ_STRING},
      {"creation_time", BQ_TIMESTAMP}},
     "SELECT %p AS c0, dataset AS c1, id AS c2,"
     " iif(view_query IS NULL, 'BASE TABLE', 'VIEW') AS c3,"
     " iif(view_query IS NULL, 'YES', 'NO') AS c4,"
     " bq_cast('TIMESTAMP', created_at, 'STRING', 1) AS c5"
     " FROM bq_table WHERE %d IN (dataset, '') AND list_allows(%a, dataset)"},
    {"VIEWS",
     {{"table_catalog", BQ_STRING},
      {"table_schema", BQ_STRING},
      {"table_name", BQ_STRING},
      {"view_definition", BQ_STRING},
      {"check_option", BQ_STRING},
      {"use_standard_sql", BQ_STRING}},
     "SELECT %p AS c0, dataset AS c1, id AS c2, view_query AS c3, NULL AS c4, 'YES' AS c5"
     " FROM bq_table"
     " WHERE view_query IS NOT NULL AND %d IN (dataset, '') AND list_allows(%a, dataset)"},
    {"COLUMNS",
     {{"table_catalog", BQ_STRING},
      {"table_schema", BQ_STRING},
      {"table_name", BQ_STRING},
      {"column_name", BQ_STRING},
      {"ordinal_position", BQ_INT64},
      {"is_nullable", BQ_STRING},
      {"data_type", BQ_STRING}},
     "SELECT %p AS c0, b.dataset AS c1, b.id AS c2, f.value ->> 'name' AS c3, f.key + 1 AS c4,"
     " iif(f.value ->> 'mode' = 'REQUIRED', 'NO', 'YES') AS c5, bq_type_name(f.value) AS c6"
     " FROM bq_table b, json_each(b.fields) f"
     " WHERE %d IN (b.dataset, '') AND list_allows(%a, b.dataset)"},
    {"SCHEMATA",
     {{"catalog_name", BQ_STRING}, {"schema_name", BQ_STRING}, {"location", BQ_STRING}},
     "SELECT %p AS c0, id AS c1, location AS c2 FROM bq_dataset"
     " WHERE %d IS NOT NULL AND list_allows(%a, id)"},
};

static struct str gen_view(struct bq_gen *g, size_t i, struct str dataset, struct bq_range *r)
{
    unsigned t = ++g->n_names;
    const struct {
        char letter;
        struct str sql;
    } values[] = {{'p', bq_quote(g, g->run->project)},
                  {'d', bq_quote(g, dataset)},
                  {'a', bq_quote(g, g->run->allowed)}};

    for (size_t k = 0; k < ARRAY_LEN(views[i].columns) && views[i].columns[k].name; k++) {
        const struct bq_column c = {.name = str_of(views[i].columns[k].name),
                                    .type = &bq_scalars[views[i].columns[k].kind],
                                    .sql = bq_printf(g, "t%u.c%zu", t, k)};
        if (!c.sql.p || !bq_add_column(g, &r->columns, &c))
            return STR_NULL;
    }
    auto_buf struct buf b = BUF_INIT(64 << 10);
    for (const char *p = views[i].sql; *p; p++) {
        if (*p != '%') {
            (void)buf_add_char(&b, *p);
            continue;
        }
        p++;
        for (size_t k = 0; k < ARRAY_LEN(values); k++)
            (void)buf_add_str(&b, values[k].letter == *p ? values[k].sql : STR(""));
    }
    return buf_ok(&b) ? bq_printf(g, "(" STR_FMT ") AS t%u", STR_ARG(buf_str(&b)), t) : STR_NULL;
}

/* [project.][dataset.]INFORMATION_SCHEMA.TABLES; *IS_IT is false when F is none of those. */
static struct str gen_information(struct bq_gen *g, const struct bq_from *f, struct bq_scope *s,
                                  bool *is_it)
{
    const struct bq_expr *e = f->expr->first, *before = NULL;

    while (e && !str_iis(e->text, "INFORMATION_SCHEMA")) {
        before = e;
        e = e->next;
    }
    *is_it = e && e->next && !e->next->next;
    if (!*is_it)
        return STR_NULL;
    bool is_all = !before || str_eq(before->text, g->run->project) ||
                  str_starts(before->text, STR("region-"));
    struct str dataset = is_all ? STR("") : before->text;
    if (dataset.len > 0 && !bq_is_allowed(g->run->allowed, dataset)) {
        bq_fail_as(g, 403, "accessDenied",
                   "Access denied: Dataset '" STR_FMT "' is not in allowed datasets list",
                   STR_ARG(dataset));
        return STR_NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        if (!str_iis(e->next->text, views[i].name))
            continue;
        struct bq_range *r = add_source_range(g, s, f->alias.p ? f->alias : e->next->text);
        return r ? gen_view(g, i, dataset, r) : STR_NULL;
    }
    bq_fail_as(g, 404, "notFound",
               "Not found: Table " STR_FMT ":INFORMATION_SCHEMA." STR_FMT
               " was not found in location US",
               STR_ARG(g->run->project), STR_ARG(e->next->text));
    return STR_NULL;
}

/* ---- arrays ---- */

static struct str gen_unnest(struct bq_gen *g, const struct bq_from *f, struct bq_scope *s)
{
    struct bq_sql array = bq_gen_expr(g, f->expr, s);
    unsigned t = ++g->n_names;

    if (!array.sql.p)
        return STR_NULL;
    if (array.type->kind != BQ_ARRAY && array.type->kind != BQ_ANY) {
        bq_fail(g, f->expr,
                "Values referenced in UNNEST must be arrays. UNNEST contains "
                "expression of type " STR_FMT,
                STR_ARG(bq_type_text(g->arena, array.type)));
        return STR_NULL;
    }
    const struct bq_type *item = array.type->item ? array.type->item : &bq_scalars[BQ_ANY];
    struct bq_range *r = add_source_range(g, s, f->alias);
    if (!r)
        return STR_NULL;
    r->row = bq_made(g, item, "t%u.value", t);
    struct bq_column c = {.name = r->name, .type = item, .sql = r->row.sql};
    if (item->kind != BQ_STRUCT && !bq_add_column(g, &r->columns, &c))
        return STR_NULL;
    for (size_t i = 0; item->kind == BQ_STRUCT && i < item->n; i++) {
        c = (struct bq_column){.name = item->fields[i].name, .type = item->fields[i].type};
        struct str path = bq_quote(g, bq_printf(g, "$.\"" STR_FMT "\"", STR_ARG(c.name)));
        c.sql = bq_printf(g, "(t%u.value ->> " STR_FMT ")", t, STR_ARG(path));
        if (!c.sql.p || !bq_add_column(g, &r->columns, &c))
            return STR_NULL;
    }
    if (f->offset.p) {
        c = (struct bq_column){
            .name = f->offset, .type = &bq_scalars[BQ_INT64], .sql = bq_printf(g, "t%u.key", t)};
        struct bq_range *of = add_source_range(g, s, f->offset);
        if (!of || !bq_add_column(g, &of->columns, &c))
            return STR_NULL;
        of->row = bq_made(g, c.type, "t%u.key", t);
    }
    return bq_printf(g, "json_each(ifnull(" STR_FMT ", '[]')) AS t%u", STR_ARG(array.sql), t);
}

/* ---- names ---- */

static const struct bq_named *find_cte(const struct bq_gen *g, const struct bq_expr *path)
{
    if (path->first->next)
        return NULL;
    for (const struct bq_named *c = g->ctes; c; c = c->next) {
        if (str_ieq(c->name, path->first->text))
            return c;
    }
    return NULL;
}

static bool is_range(const struct bq_scope *s, struct str name)
{
    for (const struct bq_range *r = s->ranges; r; r = r->next) {
        if (str_ieq(r->name, name))
            return true;
    }
    return false;
}

/* ---- views ---- */

/* G's failure, and that it came of the view T: the innermost that it came of. */
static void blame_view(struct bq_gen *g, const struct bq_table *t, const struct bq_from *f)
{
    char why[sizeof g->err->text];

    g->has_failed = true;
    (void)snprintf(why, sizeof why, "%s", err_text(g->err));
    if (!str_is(str_of(g->run->reason), "invalidQuery") ||
        str_find(str_of(why), STR("; failed to parse view")) >= 0)
        return;
    (void)err_set(g->err, -EINVAL,
                  "%s; failed to parse view '" STR_FMT "." STR_FMT "." STR_FMT "' at [%u:%u]", why,
                  STR_ARG(g->run->project), STR_ARG(t->dataset), STR_ARG(t->id), f->line,
                  f->column);
}

/* What the query of a view gives, under the view's own names. */
static struct bq_result gen_view_query(struct bq_gen *g, const struct bq_table *t)
{
    struct bq_parser p = {.arena = g->arena, .err = g->err};
    const struct bq_query *q = bq_parse_text(&p, t->view);
    const struct bq_view view = {.up = g->views, .n = t->n};
    struct bq_named *ctes = g->ctes;
    struct bq_var *vars = g->vars;
    struct bq_result r = {0};

    for (const struct bq_view *v = g->views; v; v = v->up) {
        if (v->n == t->n)
            bq_fail_as(g, 400, "invalid",
                       "View " STR_FMT ":" STR_FMT "." STR_FMT " refers to itself",
                       STR_ARG(g->run->project), STR_ARG(t->dataset), STR_ARG(t->id));
    }
    if (!q || g->has_failed)
        return r;
    /* It sees nothing of the query that names it. */
    g->ctes = NULL;
    g->vars = NULL;
    g->views = &view;
    r = bq_gen_query(g, q, NULL);
    g->views = view.up;
    g->vars = vars;
    g->ctes = ctes;
    for (size_t i = 0; t->names && i < r.columns.n && i < t->names->n; i++)
        r.columns.items[i].name = json_str(json_at(t->names, i), r.columns.items[i].name);
    return r;
}

static struct str gen_stored(struct bq_gen *g, const struct bq_from *f, struct bq_scope *s,
                             const struct bq_table *table)
{
    struct bq_result q = gen_view_query(g, table);
    unsigned t = ++g->n_names;

    if (!q.sql.p) {
        blame_view(g, table, f);
        return STR_NULL;
    }
    struct bq_range *r = add_source_range(g, s, f->alias.p ? f->alias : table->id);
    if (!r || !add_source_columns(g, r, t, &q.columns))
        return STR_NULL;
    return gen_source(g, s, q.sql, t);
}

static struct str gen_named(struct bq_gen *g, const struct bq_from *f, struct bq_scope *s)
{
    const struct bq_named *c = find_cte(g, f->expr);
    struct bq_table table;
    bool is_it;

    if (f->expr->first->next && is_range(s, f->expr->first->text))
        return gen_unnest(g, f, s);
    struct str sql = gen_information(g, f, s, &is_it);
    if (is_it)
        return sql;
    if (!c && !bq_find_table(g, f->expr, &table))
        return STR_NULL;
    if (!c)
        return table.view.p ? gen_stored(g, f, s, &table)
                            : gen_table(g, &table, f->alias, s, false);
    unsigned t = ++g->n_names;
    struct bq_range *r = add_source_range(g, s, f->alias.p ? f->alias : f->expr->first->text);
    if (!r || !add_source_columns(g, r, t, &c->columns))
        return STR_NULL;
    return bq_printf(g, STR_FMT " AS t%u", STR_ARG(c->sql_name), t);
}

static struct str gen_derived(struct bq_gen *g, const struct bq_from *f, struct bq_scope *s)
{
    /* It sees what is around the query, not its neighbours. */
    struct bq_result q = bq_gen_query(g, f->query, s->up);
    unsigned t = ++g->n_names;
    struct bq_range *r = q.sql.p ? add_source_range(g, s, f->alias) : NULL;

    if (!r || !add_source_columns(g, r, t, &q.columns))
        return STR_NULL;
    return gen_source(g, s, q.sql, t);
}

/* ---- joins ---- */

static struct bq_column *find_source_column(struct bq_range *from, const struct bq_range *to,
                                            struct str name)
{
    for (struct bq_range *r = from; r && r != to; r = r->next) {
        for (size_t i = 0; i < r->columns.n; i++) {
            if (str_ieq(r->columns.items[i].name, name) && !r->columns.items[i].is_hidden)
                return &r->columns.items[i];
        }
    }
    return NULL;
}

/* USING (a, b): one column of both sides. */
static struct str gen_using(struct bq_gen *g, const struct bq_from *f, struct bq_scope *s,
                            struct bq_range *middle)
{
    struct str sql = STR("1");
    bool is_outer =
        str_find(str_of(f->join), STR("FULL")) >= 0 || str_find(str_of(f->join), STR("RIGHT")) >= 0;

    for (const struct bq_expr *e = f->with; e; e = e->next) {
        struct bq_column *a = find_source_column(s->ranges, middle, e->text);
        struct bq_column *b = find_source_column(middle, NULL, e->text);
        if (!a || !b) {
            bq_fail(g, e, "Column " STR_FMT " in USING clause not found on %s side of join",
                    STR_ARG(e->text), a ? "right" : "left");
            return STR_NULL;
        }
        sql = bq_printf(g, STR_FMT " AND " STR_FMT " = " STR_FMT, STR_ARG(sql), STR_ARG(a->sql),
                        STR_ARG(b->sql));
        if (is_outer)
            a->sql =
                bq_printf(g, "ifnull(" STR_FMT ", " STR_FMT ")", STR_ARG(a->sql), STR_ARG(b->sql));
        b->is_hidden = true;
    }
    return sql;
}

static struct str gen_join(struct bq_gen *g, const struct bq_from *f, struct bq_scope *s)
{
    struct str left = bq_gen_from(g, f->left, s);
    struct bq_range **middle = s->end;
    struct str right = left.p ? bq_gen_from(g, f->right, s) : STR_NULL, on;
    bool is_cross = str_is(str_of(f->join), " CROSS JOIN ");

    if (!right.p)
        return STR_NULL;
    if (f->right->kind == BQ_F_JOIN)
        right = bq_printf(g, "(" STR_FMT ")", STR_ARG(right));
    if (f->with) {
        on = gen_using(g, f, s, *middle);
    } else if (f->on) {
        struct bq_sql c = bq_gen_expr(g, f->on, s);
        if (c.sql.p && c.type->kind != BQ_BOOL && c.type->kind != BQ_ANY)
            bq_fail(g, f->on, "JOIN ON clause should return type BOOL, but returns type " STR_FMT,
                    STR_ARG(bq_type_text(g->arena, c.type)));
        on = c.sql;
    } else if (is_cross) {
        return bq_printf(g, STR_FMT " CROSS JOIN " STR_FMT, STR_ARG(left), STR_ARG(right));
    } else {
        on = STR("1"); /* of an array */
    }
    if (!on.p || g->has_failed)
        return STR_NULL;
    return bq_printf(g, STR_FMT "%s" STR_FMT " ON " STR_FMT, STR_ARG(left), f->join, STR_ARG(right),
                     STR_ARG(on));
}

struct str bq_gen_from(struct bq_gen *g, const struct bq_from *f, struct bq_scope *s)
{
    switch (f->kind) {
    case BQ_F_TABLE: return gen_named(g, f, s);
    case BQ_F_QUERY: return gen_derived(g, f, s);
    case BQ_F_UNNEST: return gen_unnest(g, f, s);
    case BQ_F_JOIN: return gen_join(g, f, s);
    }
    return STR_NULL;
}
