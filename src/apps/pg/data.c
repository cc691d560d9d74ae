/* SPDX-License-Identifier: MIT */
/* Data in and out: schemas, tables, columns and rows. Columns are {"name": "type and constraints"};
 * what belongs to a table as a whole (keys of several columns, foreign keys, indexes) has no place
 * in that form. */
#include <errno.h>
#include <string.h>

#include "apps/pg/pg.h"
#include "apps/text/quote.h"

/* ---- in ---- */

struct counts {
    int schemas, tables, rows;
};

static int run_built(PGconn *c, struct buf *sql, const char *value, struct err *e)
{
    const char *const values[] = {value};
    const char *text = buf_cstr(sql);

    if (!text)
        return err_set(e, -E2BIG, "too large");
    return pg_do_with(c, text, values, value ? 1 : 0, NULL, e);
}

static void add_pg_table(struct buf *b, struct str schema, struct str table)
{
    quote_name(b, schema);
    (void)buf_add_char(b, '.');
    quote_name(b, table);
}

static int create_pg_table(PGconn *c, struct str schema, const struct json *t, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    const struct json *columns = json_get(t, "columns");

    (void)buf_add_lit(&b, "CREATE TABLE IF NOT EXISTS ");
    add_pg_table(&b, schema, json_str(json_get(t, "name"), STR("")));
    (void)buf_add_lit(&b, " (");
    for (size_t i = 0; columns && i < columns->n; i++) {
        (void)buf_add_str(&b, i > 0 ? STR(", ") : STR(""));
        quote_name(&b, columns->members[i].key);
        (void)buf_add_char(&b, ' ');
        (void)buf_add_str(&b, json_str(&columns->members[i].value, STR("")));
    }
    (void)buf_add_char(&b, ')');
    return run_built(c, &b, NULL, e);
}

/* Only the columns that the row has: the others get their defaults. */
static int insert_pg_row(PGconn *c, struct str schema, struct str table, const struct json *row,
                         struct err *e)
{
    auto_buf struct buf b = BUF_INIT(1 << 20), names = BUF_INIT(1 << 18), text = BUF_INIT(16 << 20);

    for (size_t i = 0; i < row->n; i++) {
        (void)buf_add_str(&names, i > 0 ? STR(", ") : STR(""));
        quote_name(&names, row->members[i].key);
    }
    (void)json_write(&text, row, 0);
    if (!buf_cstr(&text) || !buf_ok(&names))
        return err_set(e, -E2BIG, "too large");
    (void)buf_add_lit(&b, "INSERT INTO ");
    add_pg_table(&b, schema, table);
    if (row->n == 0) {
        (void)buf_add_lit(&b, " DEFAULT VALUES");
        return run_built(c, &b, NULL, e);
    }
    (void)buf_printf(&b, " (" STR_FMT ") SELECT " STR_FMT " FROM json_populate_record(NULL::",
                     STR_ARG(buf_str(&names)), STR_ARG(buf_str(&names)));
    add_pg_table(&b, schema, table);
    (void)buf_add_lit(&b, ", $1::json)");
    return run_built(c, &b, text.p, e);
}

/* Sequences go on behind the numbers that the rows brought. */
static int move_sequences(PGconn *c, struct str schema, struct str table, struct err *e)
{
    auto_buf struct buf name = BUF_INIT(1024);
    const char *values[1];
    PGresult *r auto_(pg_clear) = NULL;

    add_pg_table(&name, schema, table);
    values[0] = buf_cstr(&name);
    int n = pg_do_with(c,
                       "SELECT format('SELECT setval(%L, greatest(max(%I)::bigint, 1), max(%I) IS "
                       "NOT NULL) FROM %s', s, a, a, $1::text) FROM (SELECT attname AS a, "
                       "pg_get_serial_sequence($1::text, attname) AS s FROM pg_attribute WHERE "
                       "attrelid = ($1::text)::regclass AND attnum > 0 AND NOT attisdropped) x "
                       "WHERE s IS NOT NULL",
                       values, 1, &r, e);
    for (int i = 0; n == 0 && i < PQntuples(r); i++)
        n = pg_do(c, PQgetvalue(r, i, 0), NULL, e);
    return n;
}

static int add_pg_rows(PGconn *c, struct str schema, const struct json *t, struct counts *n,
                       struct err *e)
{
    struct str table = json_str(json_get(t, "name"), STR(""));
    const struct json *rows = json_get(t, "rows");
    int r = 0;

    if (!json_is(rows, JSON_ARRAY) || rows->n == 0)
        return 0;
    for (size_t i = 0; r == 0 && i < rows->n; i++, n->rows++) {
        r = insert_pg_row(c, schema, table, &rows->items[i], e);
        if (r < 0)
            return err_ctx(e, r, "row %zu", i);
    }
    return move_sequences(c, schema, table, e);
}

static int add_schema(PGconn *c, const struct json *s, struct counts *n, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(4096);
    struct str name = json_str(json_get(s, "name"), STR(""));
    const struct json *tables = json_get(s, "tables");

    (void)buf_add_lit(&b, "CREATE SCHEMA IF NOT EXISTS ");
    quote_name(&b, name);
    int r = str_is(name, "public") ? 0 : run_built(c, &b, NULL, e);
    for (size_t i = 0; r == 0 && json_is(tables, JSON_ARRAY) && i < tables->n; i++, n->tables++) {
        r = create_pg_table(c, name, &tables->items[i], e);
        if (r == 0)
            r = add_pg_rows(c, name, &tables->items[i], n, e);
        if (r < 0)
            return err_ctx(e, r, "table '" STR_FMT "." STR_FMT "'", STR_ARG(name),
                           STR_ARG(json_str(json_get(&tables->items[i], "name"), STR(""))));
    }
    n->schemas++;
    return r < 0 ? err_ctx(e, r, "schema '" STR_FMT "'", STR_ARG(name)) : 0;
}

int pg_import(PGconn *c, const struct json *body, struct buf *counts, struct err *e)
{
    const struct json *schemas = json_get(body, "schemas");
    struct counts n = {0};
    int r = pg_do(c, "BEGIN", NULL, e);

    for (size_t i = 0; r == 0 && json_is(schemas, JSON_ARRAY) && i < schemas->n; i++)
        r = add_schema(c, &schemas->items[i], &n, e);
    if (r == 0)
        r = pg_do(c, "COMMIT", NULL, e);
    else
        (void)pg_do(c, "ROLLBACK", NULL, NULL);
    if (r == 0)
        (void)buf_printf(counts, "{\"schemas\":%d,\"tables\":%d,\"rows\":%d}", n.schemas, n.tables,
                         n.rows);
    return r;
}

/* ---- out ---- */

/* Tables with their columns as JSON, and in which order their rows come. */
static const char tables_sql[] =
    "SELECT n.nspname, c.relname, "
    "(SELECT json_object_agg(a.attname, "
    " CASE WHEN pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname) IS NOT "
    "NULL AND a.attidentity = '' THEN CASE a.atttypid WHEN 20 THEN 'bigserial' WHEN 21 THEN "
    "'smallserial' ELSE 'serial' END ELSE format_type(a.atttypid, a.atttypmod) || "
    " CASE a.attidentity WHEN '' THEN '' WHEN 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE ' "
    "GENERATED BY DEFAULT AS IDENTITY' END || CASE WHEN a.attgenerated = 's' THEN ' GENERATED "
    "ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED' ELSE coalesce(' DEFAULT ' || "
    "pg_get_expr(d.adbin, d.adrelid), '') END END || "
    " CASE WHEN k.contype = 'p' THEN ' PRIMARY KEY' WHEN a.attnotnull AND a.attidentity = '' AND "
    "pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname) IS NULL THEN ' NOT "
    "NULL' ELSE '' END || CASE WHEN k.contype = 'u' THEN ' UNIQUE' ELSE '' END "
    " ORDER BY a.attnum) "
    " FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum "
    " LEFT JOIN LATERAL (SELECT contype FROM pg_constraint WHERE conrelid = c.oid AND contype IN "
    "('p', 'u') AND conkey = ARRAY[a.attnum] ORDER BY contype LIMIT 1) k ON true "
    " WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), "
    "coalesce((SELECT string_agg(format('t.%I', a.attname), ', ' ORDER BY x.nth) FROM "
    "pg_constraint p, unnest(p.conkey) WITH ORDINALITY x (num, nth), pg_attribute a WHERE "
    "p.conrelid = c.oid AND p.contype = 'p' AND a.attrelid = c.oid AND a.attnum = x.num), "
    "'t::text'), "
    "coalesce((SELECT json_agg(a.attname) FROM pg_attribute a WHERE a.attrelid = c.oid AND "
    "a.attnum "
    "> 0 AND (a.attgenerated <> '' OR a.attidentity = 'a'))::text, '[]') "
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^pg_' AND n.nspname "
    "<> "
    "'information_schema' "
    "ORDER BY n.nspname = 'public' DESC, n.nspname, c.relname COLLATE \"C\"";

/* Rows without their nulls and without what is calculated. */
static int add_rows_of(PGconn *c, const PGresult *tables, int i, struct buf *out, struct err *e)
{
    auto_buf struct buf sql = BUF_INIT(1 << 20);
    PGresult *r auto_(pg_clear) = NULL;
    const char *const values[] = {PQgetvalue(tables, i, 4)};

    (void)buf_add_lit(&sql, "SELECT (SELECT json_object_agg(key, value) FROM json_each(row_to_json("
                            "t)) WHERE value::text <> 'null' AND NOT ($1::jsonb ? key)) FROM ");
    add_pg_table(&sql, str_of(PQgetvalue(tables, i, 0)), str_of(PQgetvalue(tables, i, 1)));
    (void)buf_printf(&sql, " t ORDER BY %s", PQgetvalue(tables, i, 3));
    if (!buf_cstr(&sql))
        return err_set(e, -E2BIG, "too large");
    int n = pg_do_with(c, sql.p, values, 1, &r, e);
    if (n < 0)
        return n;
    for (int k = 0; k < PQntuples(r); k++) {
        (void)buf_add_str(out, k > 0 ? STR(",") : STR(",\"rows\":["));
        (void)buf_add_str(out, PQgetisnull(r, k, 0) ? STR("{}") : str_of(PQgetvalue(r, k, 0)));
    }
    (void)buf_add_str(out, PQntuples(r) > 0 ? STR("]") : STR(""));
    return 0;
}

static int add_tables(PGconn *c, const PGresult *tables, const char *schema, struct buf *out,
                      struct err *e)
{
    bool is_first = true;
    int r = 0;

    for (int i = 0; r == 0 && i < PQntuples(tables); i++) {
        if (strcmp(PQgetvalue(tables, i, 0), schema) != 0)
            continue;
        (void)buf_add_str(out, is_first ? STR(",\"tables\":[") : STR(","));
        (void)buf_add_lit(out, "{\"name\":");
        (void)json_write_str(out, str_of(PQgetvalue(tables, i, 1)));
        (void)buf_printf(out, ",\"columns\":%s",
                         PQgetisnull(tables, i, 2) ? "{}" : PQgetvalue(tables, i, 2));
        r = add_rows_of(c, tables, i, out, e);
        (void)buf_add_char(out, '}');
        is_first = false;
    }
    (void)buf_add_str(out, is_first ? STR("") : STR("]"));
    return r;
}

/* Every schema but those of the server, and public only when something is in it. */
static const char schemas_sql[] =
    "SELECT nspname FROM pg_namespace n WHERE nspname !~ '^pg_' AND nspname <> "
    "'information_schema' AND (nspname <> 'public' OR EXISTS (SELECT 1 FROM pg_class WHERE "
    "relnamespace = n.oid AND relkind IN ('r', 'p'))) ORDER BY nspname = 'public' DESC, nspname "
    "COLLATE \"C\"";

static int export_schemas(PGconn *c, struct buf *out, struct err *e)
{
    PGresult *schemas auto_(pg_clear) = NULL;
    PGresult *tables auto_(pg_clear) = NULL;
    int r = pg_do(c, schemas_sql, &schemas, e);

    if (r == 0)
        r = pg_do(c, tables_sql, &tables, e);
    if (r < 0)
        return r;
    (void)buf_add_lit(out, "{\"schemas\":[");
    for (int i = 0; r == 0 && i < PQntuples(schemas); i++) {
        const char *name = PQgetvalue(schemas, i, 0);
        (void)buf_add_str(out, i > 0 ? STR(",{\"name\":") : STR("{\"name\":"));
        (void)json_write_str(out, str_of(name));
        r = add_tables(c, tables, name, out, e);
        (void)buf_add_char(out, '}');
    }
    (void)buf_add_lit(out, "]}");
    return r;
}

int pg_export(PGconn *c, struct buf *out, struct err *e)
{
    int r = pg_do(c, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL, e);

    if (r == 0)
        r = export_schemas(c, out, e);
    (void)pg_do(c, "ROLLBACK", NULL, NULL);
    return r == 0 && !buf_ok(out) ? err_set(e, -E2BIG, "too large") : r;
}
