/* SPDX-License-Identifier: MIT */
#include "apps/verify.h"

#include <errno.h>

#include "apps/db_impl.h"
#include "apps/value.h"
#include "base/clock.h"

enum { ARENA_MAX = 32 << 20, SQL_MAX = 64 << 10 };

struct check {
    struct appdb *db;
    const struct json *spec;
    struct arena *arena;
    struct json *rows; /* arrays of values */
    struct err err;
};

/* ---- running ---- */

static int bind(sqlite3_stmt *st, int at, const struct json *v, struct arena *a)
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

static int bind_params(struct check *c, sqlite3_stmt *st, const struct json *params)
{
    int n = sqlite3_bind_parameter_count(st);

    for (int i = 1; i <= n; i++) {
        const char *name = sqlite3_bind_parameter_name(st, i);
        const struct json *v =
            name && name[0] != '?' ? json_get(params, name + 1) : json_at(params, (size_t)i - 1);
        int rc = bind(st, i, v, c->arena);
        if (rc != SQLITE_OK)
            return appdb_fail(c->db, rc, &c->err, "params");
    }
    return 0;
}

static int read_row(struct check *c, sqlite3_stmt *st)
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
               : err_set(&c->err, -E2BIG, "the rows are too large");
}

static int step_through(struct check *c, sqlite3_stmt *st)
{
    int rc = SQLITE_ROW, r = 0;

    while (r == 0 && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        if (c->rows->n == VERIFY_MAX_ROWS)
            return err_set(&c->err, -E2BIG, "more than %d rows", VERIFY_MAX_ROWS);
        r = read_row(c, st);
    }
    return r < 0 || rc == SQLITE_DONE ? r : appdb_fail(c->db, rc, &c->err, "sql");
}

static int query(struct check *c, struct str sql, const struct json *params)
{
    sqlite3_stmt *st = NULL;
    const char *rest = NULL;

    appdb_limit(c->db, false);
    c->db->now_us = clock_real_us();
    c->rows = json_new_array(c->arena);
    if (!c->rows)
        return err_set(&c->err, -ENOMEM, "out of memory");
    int rc = sqlite3_prepare_v2(c->db->c, sql.p, (int)sql.len, &st, &rest);
    int r = rc == SQLITE_OK ? 0 : appdb_fail(c->db, rc, &c->err, "sql");
    if (r == 0 && (!st || sqlite3_column_count(st) == 0 || !sqlite3_stmt_readonly(st) ||
                   str_trim(str_n(rest, (size_t)(sql.p + sql.len - rest))).len > 0))
        r = err_set(&c->err, -EINVAL, "sql: has to be one SELECT");
    if (r == 0)
        r = bind_params(c, st, params);
    if (r == 0)
        r = step_through(c, st);
    (void)sqlite3_finalize(st);
    return r;
}

/* "x" with its quotes doubled. */
static void put_name(struct buf *out, struct str name)
{
    (void)buf_add_char(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '"')
            (void)buf_add_char(out, '"');
        (void)buf_add_char(out, name.p[i]);
    }
    (void)buf_add_char(out, '"');
}

static int count_rows(struct check *c)
{
    const struct json *where = json_get(c->spec, "where");
    auto_buf struct buf sql = BUF_INIT(SQL_MAX);
    struct json *params = json_new_array(c->arena);

    (void)buf_add_lit(&sql, "SELECT count(*) FROM ");
    put_name(&sql, json_str(json_get(c->spec, "table"), STR("")));
    for (size_t i = 0; params && where && i < where->n; i++) {
        (void)buf_add_str(&sql, i == 0 ? STR(" WHERE ") : STR(" AND "));
        put_name(&sql, where->members[i].key);
        (void)buf_add_lit(&sql, " IS ?");
        if (json_push(c->arena, params, &where->members[i].value) < 0)
            params = NULL;
    }
    if (!params || !buf_cstr(&sql))
        return err_set(&c->err, -E2BIG, "where: too large");
    return query(c, buf_str(&sql), params);
}

/* ---- judging ---- */

/* ACTUAL as it is compared with WANTED: text is JSON where that is no text. */
static const struct json *as_wanted(const struct check *c, const struct json *actual,
                                    const struct json *wanted)
{
    bool is_whole = json_is(wanted, JSON_ARRAY) || json_is(wanted, JSON_OBJECT);
    const struct json *parsed = NULL;

    if (is_whole && json_is(actual, JSON_STRING))
        parsed = json_parse(c->arena, actual->s, NULL, NULL);
    return parsed ? parsed : actual;
}

static bool equals(const struct check *c, const struct json *actual, const struct json *wanted)
{
    /* SQLite has no truth values. */
    if (json_is(wanted, JSON_BOOL) && json_is(actual, JSON_INT))
        return (actual->i != 0) == wanted->b;
    return json_equal(as_wanted(c, actual, wanted), wanted);
}

static bool rows_equal(const struct check *c, const struct json *wanted)
{
    if (!json_is(wanted, JSON_ARRAY) || wanted->n != c->rows->n)
        return false;
    for (size_t i = 0; i < wanted->n; i++) {
        const struct json *row = &wanted->items[i], *actual = &c->rows->items[i];
        if (!json_is(row, JSON_ARRAY) || row->n != actual->n)
            return false;
        for (size_t k = 0; k < row->n; k++) {
            if (!equals(c, &actual->items[k], &row->items[k]))
                return false;
        }
    }
    return true;
}

static bool is_true(const struct json *v)
{
    if (json_is(v, JSON_STRING))
        return v->s.len > 0 && !str_is(v->s, "0");
    return json_is_number(v) && json_real(v, 0) != 0;
}

/* What the query gave, and whether that is what was wanted. */
static bool judge_sql(struct check *c, const struct json **actual)
{
    const struct json *wanted = json_get(c->spec, "rows"), *first = json_at(json_at(c->rows, 0), 0);

    *actual = c->rows;
    if (wanted)
        return rows_equal(c, wanted);
    wanted = json_get(c->spec, "count");
    if (wanted) {
        *actual = json_new_int(c->arena, c->rows->n);
        return json_equal(*actual, wanted);
    }
    *actual = first;
    wanted = json_get(c->spec, "equals");
    if (!wanted)
        return is_true(first);
    return first ? equals(c, first, wanted) : json_is(wanted, JSON_NULL);
}

static bool judge_table(const struct check *c, const struct json **actual)
{
    int64_t n = json_int(json_at(json_at(c->rows, 0), 0), 0);
    const struct json *count = json_get(c->spec, "count"), *min = json_get(c->spec, "min"),
                      *max = json_get(c->spec, "max");

    *actual = json_at(json_at(c->rows, 0), 0);
    if (!count && !min && !max)
        return n > 0;
    return (!count || n == json_int(count, -1)) && (!min || n >= json_int(min, INT64_MAX)) &&
           (!max || n <= json_int(max, -1));
}

/* ---- all of them ---- */

static void run_check(struct check *c, struct jw *w, size_t number)
{
    const struct json *name = json_get(c->spec, "name"), *actual = NULL;
    struct str sql = json_str(json_get(c->spec, "sql"), STR_NULL);
    int r = sql.p ? query(c, sql, json_get(c->spec, "params")) : count_rows(c);
    bool passed = r == 0 && (sql.p ? judge_sql(c, &actual) : judge_table(c, &actual));

    jw_object(w);
    jw_key(w, "name");
    if (name)
        jw_value(w, name);
    else
        jw_int(w, (int64_t)number);
    jw_key(w, "passed");
    jw_bool(w, passed);
    if (r == 0) {
        jw_key(w, "actual");
        jw_value(w, actual);
    } else {
        jw_key(w, "error");
        jw_cstr(w, err_text(&c->err));
    }
    jw_end(w);
}

static int check_form(const struct json *checks, struct err *e)
{
    if (!json_is(checks, JSON_ARRAY) || checks->n > VERIFY_MAX_CHECKS)
        return err_set(e, -EINVAL, "the checks are an array of at most %d", VERIFY_MAX_CHECKS);
    for (size_t i = 0; i < checks->n; i++) {
        const struct json *c = &checks->items[i], *where = json_get(c, "where");
        bool has_sql = json_is(json_get(c, "sql"), JSON_STRING);
        bool has_table = json_is(json_get(c, "table"), JSON_STRING);
        if (has_sql == has_table || (where && !json_is(where, JSON_OBJECT)))
            return err_set(e, -EINVAL, "check %zu: needs either sql or table, with where", i + 1);
    }
    return 0;
}

int verify_run(struct appdb *db, const struct json *checks, struct buf *out, struct err *e)
{
    struct jw w = jw_to(out);
    int r = check_form(checks, e);

    if (r < 0)
        return r;
    jw_array(&w);
    for (size_t i = 0; i < checks->n; i++) {
        struct arena a auto_arena;
        struct check c = {.db = db, .spec = &checks->items[i], .arena = &a};
        arena_init(&a, ARENA_MAX);
        run_check(&c, &w, i + 1);
    }
    jw_end(&w);
    return buf_ok(out) ? 0 : err_set(e, -E2BIG, "the results are too large");
}
