/* SPDX-License-Identifier: MIT */
/* Assertions on databases of SQLite: see verify.h. */
#include <errno.h>

#include "apps/db/db_internal.h"
#include "apps/db/value.h"
#include "apps/engine/verify.h"
#include "base/clock.h"

struct sqlite_query {
    struct appdb *db;
    struct arena *arena;
    struct json *rows; /* arrays of values */
    struct err *err;
};

static int bind_json_param(sqlite3_stmt *st, int at, const struct json *v, struct arena *a)
{
    auto_buf struct buf text = BUF_INIT(1 << 20);
    struct str s;

    switch (v ? v->type : JSON_NULL) {
    case JSON_BOOL: return sqlite3_bind_int(st, at, v->b);
    case JSON_INT: return sqlite3_bind_int64(st, at, v->i);
    case JSON_REAL: return sqlite3_bind_double(st, at, v->d);
    case JSON_STRING: return sqlite3_bind_text(st, at, v->s.p, (int)v->s.len, SQLITE_STATIC);
    case JSON_ARRAY:
    case JSON_OBJECT:
        (void)json_write(&text, v, JSON_COMPACT);
        s = buf_ok(&text) ? arena_str(a, buf_str(&text)) : STR_NULL;
        return s.p ? sqlite3_bind_text(st, at, s.p, (int)s.len, SQLITE_STATIC) : SQLITE_NOMEM;
    case JSON_NULL:
    case JSON_TYPE_COUNT: break;
    }
    return sqlite3_bind_null(st, at);
}

static int bind_params(struct sqlite_query *c, sqlite3_stmt *st, const struct json *params)
{
    int n = sqlite3_bind_parameter_count(st);

    for (int i = 1; i <= n; i++) {
        const char *name = sqlite3_bind_parameter_name(st, i);
        const struct json *v =
            name && name[0] != '?' ? json_get(params, name + 1) : json_at(params, (size_t)i - 1);
        int rc = bind_json_param(st, i, v, c->arena);
        if (rc != SQLITE_OK)
            return appdb_fail(c->db, rc, c->err, "params");
    }
    return 0;
}

static int read_query_row(struct sqlite_query *c, sqlite3_stmt *st)
{
    struct json *row = json_new_array(c->arena);

    for (int i = 0; row && i < sqlite3_column_count(st); i++) {
        struct json value;
        if (value_read(sqlite3_column_value(st, i), c->arena, &value) < 0 ||
            json_push(c->arena, row, &value) < 0)
            row = NULL;
    }
    return row && json_push(c->arena, c->rows, row) == 0
               ? 0
               : err_set(c->err, -E2BIG, "the rows are too large");
}

static int step_through_assertion(struct sqlite_query *c, sqlite3_stmt *st)
{
    int rc = SQLITE_ROW, r = 0;

    while (r == 0 && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        if (c->rows->n == VERIFY_MAX_ROWS)
            return err_set(c->err, -E2BIG, "more than %d rows", VERIFY_MAX_ROWS);
        r = read_query_row(c, st);
    }
    return r < 0 || rc == SQLITE_DONE ? r : appdb_fail(c->db, rc, c->err, "sql");
}

static int run_check_query(struct sqlite_query *c, struct str sql, const struct json *params)
{
    sqlite3_stmt *st = NULL;
    const char *rest = NULL;

    if (!c->rows)
        return err_set(c->err, -ENOMEM, "out of memory");
    appdb_limit(c->db, APPDB_USUAL);
    appdb_limit_values(c->db->c, sql.len);
    c->db->now_us = clock_real_us();
    int rc = sqlite3_prepare_v2(c->db->c, sql.p, (int)sql.len, &st, &rest);
    int r = rc == SQLITE_OK ? 0 : appdb_fail(c->db, rc, c->err, "sql");
    if (r == 0 && (!st || sqlite3_column_count(st) == 0 || !sqlite3_stmt_readonly(st) ||
                   str_trim(str_n(rest, (size_t)(sql.p + sql.len - rest))).len > 0))
        r = err_set(c->err, -EINVAL, "sql: has to be one SELECT");
    if (r == 0)
        r = bind_params(c, st, params);
    if (r == 0)
        r = step_through_assertion(c, st);
    (void)sqlite3_finalize(st);
    return r;
}

/* NOLINTNEXTLINE(readability-function-size): a row of a table */
static struct json *query_sqlite(void *ctx, struct str sql, const struct json *params,
                                 struct arena *a, struct err *e)
{
    struct sqlite_query q = {.db = ctx, .arena = a, .rows = json_new_array(a), .err = e};

    appdb_guard(q.db);
    int r = run_check_query(&q, sql, params);
    appdb_guard(NULL);
    return r == 0 ? q.rows : NULL;
}

static void put_same_in_sqlite(struct buf *sql, size_t n)
{
    (void)n;
    (void)buf_add_lit(sql, " IS ?");
}

const struct verify_source verify_sqlite = {query_sqlite, put_same_in_sqlite};
