/* SPDX-License-Identifier: MIT */
#include "apps/engine/verify.h"

#include <errno.h>

#include "apps/text/quote.h"

enum { ARENA_MAX = 32 << 20, SQL_MAX = 64 << 10 };

struct check {
    const struct verify_source *source;
    void *ctx;
    const struct json *spec;
    struct arena *arena;
    struct json *rows; /* arrays of values */
    struct err err;
};

/* ---- asking ---- */

static int query_check(struct check *c, struct str sql, const struct json *params)
{
    c->rows = c->source->query(c->ctx, sql, params, c->arena, &c->err);
    return c->rows ? 0 : c->err.code;
}

static int count_asserted_rows(struct check *c)
{
    const struct json *where = json_get(c->spec, "where");
    auto_buf struct buf sql = BUF_INIT(SQL_MAX);
    struct json *params = json_new_array(c->arena);

    (void)buf_add_lit(&sql, "SELECT count(*) FROM ");
    quote_name(&sql, json_str(json_get(c->spec, "table"), STR("")));
    for (size_t i = 0; params && where && i < where->n; i++) {
        (void)buf_add_str(&sql, i == 0 ? STR(" WHERE ") : STR(" AND "));
        quote_name(&sql, where->members[i].key);
        c->source->put_same(&sql, i + 1);
        if (json_push(c->arena, params, &where->members[i].value) < 0)
            params = NULL;
    }
    if (!params || !buf_cstr(&sql))
        return err_set(&c->err, -E2BIG, "where: too large");
    return query_check(c, buf_str(&sql), params);
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
    /* Not all have truth values. */
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
    if (json_is(v, JSON_BOOL))
        return v->b;
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

static void run_assertion(struct check *c, struct jw *w, size_t number)
{
    const struct json *name = json_get(c->spec, "name"), *actual = NULL;
    struct str sql = json_str(json_get(c->spec, "sql"), STR_NULL);
    int r = sql.p ? query_check(c, sql, json_get(c->spec, "params")) : count_asserted_rows(c);
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

int verify_run(const struct verify_source *source, void *ctx, const struct json *checks,
               struct buf *out, struct err *e)
{
    struct jw w = jw_to(out);
    int r = check_form(checks, e);

    if (r < 0)
        return r;
    jw_array(&w);
    for (size_t i = 0; i < checks->n; i++) {
        struct arena a auto_arena;
        struct check c = {.source = source, .ctx = ctx, .spec = &checks->items[i], .arena = &a};
        arena_init(&a, ARENA_MAX);
        run_assertion(&c, &w, i + 1);
    }
    jw_end(&w);
    return buf_ok(out) ? 0 : err_set(e, -E2BIG, "the results are too large");
}
