/* SPDX-License-Identifier: MIT */
/* Assertions on databases of PostgreSQL: see engine/verify.h. Parameters are $1, $2 … of an array.
 */
#include <errno.h>
#include <stdlib.h>

#include "apps/engine/verify.h"
#include "apps/pg/pg.h"
#include "apps/pg/types.h"

enum { MAX_PARAMS = 100 };

/* VALUE as the text of a parameter; NULL is null. */
static const char *param_text_of(const struct json *value, struct arena *a)
{
    auto_buf struct buf text = BUF_INIT(1 << 20);

    if (!value || json_is(value, JSON_NULL))
        return NULL;
    if (json_is(value, JSON_STRING))
        return value->s.p;
    (void)json_write(&text, value, JSON_COMPACT);
    return buf_cstr(&text) ? arena_strdup(a, text.p) : NULL;
}

static struct json *pg_value_of(const PGresult *r, int row, int column, struct arena *a)
{
    struct str s = str_n(PQgetvalue(r, row, column), (size_t)PQgetlength(r, row, column));
    struct json *value = NULL;

    if (PQgetisnull(r, row, column))
        return json_new_null(a);
    switch ((int)PQftype(r, column)) {
    case PG_BOOL: return json_new_bool(a, str_is(s, "t"));
    case PG_INT2:
    case PG_INT4:
    case PG_INT8:
    case PG_OID:
    case PG_FLOAT4:
    case PG_FLOAT8:
    case PG_NUMERIC:
    case PG_JSON:
    case PG_JSONB: value = json_parse(a, s, NULL, NULL); break;
    default: break;
    }
    return value ? value : json_new_str(a, s); /* such as NaN */
}

static struct json *rows_of(const PGresult *r, struct arena *a, struct err *e)
{
    struct json *rows = json_new_array(a);
    int n = PQntuples(r);

    if (n > VERIFY_MAX_ROWS) {
        (void)err_set(e, -E2BIG, "more than %d rows", VERIFY_MAX_ROWS);
        return NULL;
    }
    for (int i = 0; rows && i < n; i++) {
        struct json *row = json_new_array(a);
        for (int k = 0; row && k < PQnfields(r); k++) {
            struct json *value = pg_value_of(r, i, k, a);
            if (!value || json_push(a, row, value) < 0)
                row = NULL;
        }
        if (!row || json_push(a, rows, row) < 0)
            rows = NULL;
    }
    if (!rows)
        (void)err_set(e, -E2BIG, "the rows are too large");
    return rows;
}

/* NOLINTNEXTLINE(readability-function-size): a row of a table */
static struct json *query_pg(void *ctx, struct str sql, const struct json *params, struct arena *a,
                             struct err *e)
{
    const char *values[MAX_PARAMS];
    size_t n = json_is(params, JSON_ARRAY) ? params->n : 0;
    PGresult *r auto_(pg_clear) = NULL;
    PGconn *c = ctx;

    for (size_t i = 0; i < n && i < MAX_PARAMS; i++)
        values[i] = param_text_of(&params->items[i], a);
    if (n > MAX_PARAMS || (params && !json_is(params, JSON_ARRAY))) {
        (void)err_set(e, -EINVAL, "params: an array of at most %d", MAX_PARAMS);
        return NULL;
    }
    const struct pg_query q = {
        .sql = sql.p, .values = values, .n = (int)n, .max_ms = PG_CALL_MAX_MS};
    int code = pg_do(c, "BEGIN READ ONLY", NULL, e);
    if (code == 0)
        code = pg_run(c, &q, &r, e);
    if (code == 0 && PQresultStatus(r) != PGRES_TUPLES_OK)
        code = err_set(e, -EINVAL, "sql: has to be one SELECT");
    (void)pg_do(c, "ROLLBACK", NULL, NULL);
    return code == 0 ? rows_of(r, a, e) : NULL;
}

static void put_same_in_pg(struct buf *sql, size_t n)
{
    (void)buf_printf(sql, " IS NOT DISTINCT FROM $%zu", n);
}

const struct verify_source pg_verify = {query_pg, put_same_in_pg};
