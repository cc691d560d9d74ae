/* SPDX-License-Identifier: MIT */
/* Scripts on PostgreSQL. */
#include <errno.h>
#include <string.h>

#include "apps/db/db.h"
#include "apps/pg/pg.h"
#include "base/clock.h"

#define MAX_VALUES 32

struct pg_run {
    PGconn *c;
    struct app_call *call;
    struct json *kept; /* columns of the statements before */
    struct err *err;
    int64_t until_ms;
};

/* A statement with its parameters as the server takes them. */
struct built {
    struct buf sql;
    const char *values[MAX_VALUES];
    int n;
    bool is_simple;
};

/* ---- parameters ---- */

static const struct json *find_script_param(const struct pg_run *run, struct str name)
{
    const struct json *v = json_get_str(run->kept, name);

    return v ? v : json_get_str(run->call->args, name);
}

static const char *as_text(const struct pg_run *run, const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(PG_RESULT_MAX);

    if (!v || json_is(v, JSON_NULL))
        return NULL;
    if (json_is(v, JSON_STRING))
        return arena_str(run->call->arena, v->s).p;
    (void)json_write(&b, v, 0);
    return buf_ok(&b) ? arena_str(run->call->arena, buf_str(&b)).p : NULL;
}

static bool is_param_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* ":name" at the beginning of REST becomes $N. */
static struct str add_pg_param(const struct pg_run *run, struct built *b, struct str rest)
{
    size_t n = 1;

    while (n < rest.len && is_param_char(rest.p[n]))
        n++;
    if (b->n < MAX_VALUES) {
        b->values[b->n++] = as_text(run, find_script_param(run, str_slice(rest, 1, n)));
        (void)buf_printf(&b->sql, "$%d", b->n);
    }
    return str_skip(rest, n);
}

/* Outside of quotes; "::" is a cast. */
static void add_pg_sql(const struct pg_run *run, struct built *b, struct str rest)
{
    bool is_quoted = false;

    while (rest.len > 0) {
        if (rest.p[0] == '\'')
            is_quoted = !is_quoted;
        if (!is_quoted && str_starts(rest, STR("::"))) {
            (void)buf_add_lit(&b->sql, "::");
            rest = str_skip(rest, 2);
        } else if (!is_quoted && rest.p[0] == ':' && rest.len > 1 && is_param_char(rest.p[1])) {
            rest = add_pg_param(run, b, rest);
        } else {
            (void)buf_add_char(&b->sql, rest.p[0]);
            rest = str_skip(rest, 1);
        }
    }
}

static void build_query(const struct pg_run *run, const struct script_statement *st,
                        struct built *b)
{
    size_t at = 0;

    buf_init(&b->sql, 4 << 20);
    for (unsigned i = 0; i < st->n_queries; i++) {
        const struct script_query *q = &st->queries[i];
        const char *text = as_text(run, find_script_param(run, q->param));
        add_pg_sql(run, b, str_slice(st->sql, at, q->offset));
        (void)buf_add_str(&b->sql, str_of(text ? text : ""));
        at = q->offset + q->len;
        b->is_simple = str_is(q->language, "sql") && str_trim(st->sql).len == q->len;
    }
    add_pg_sql(run, b, str_skip(st->sql, at));
}

/* ---- statements ---- */

static int keep_columns(struct pg_run *run, const PGresult *r)
{
    struct arena *a = run->call->arena;

    for (int k = 0; k < PQnfields(r); k++) {
        bool is_null = PQntuples(r) == 0 || PQgetisnull(r, 0, k);
        struct str text = is_null ? STR("") : arena_str(a, str_of(PQgetvalue(r, 0, k)));
        struct str name = arena_str(a, str_of(PQfname(r, k)));
        struct json *v = is_null ? json_new_null(a) : json_new_str(a, text);
        if (!name.p || !v || json_set_str(a, run->kept, name, v) < 0)
            return err_set(run->err, -ENOMEM, "out of memory");
    }
    return 0;
}

/* A plan is text, line by line. */
static void add_plan_lines(struct buf *b, const PGresult *r)
{
    for (int i = 0; i < PQntuples(r); i++) {
        (void)buf_add_str(b, i > 0 ? STR("\n") : STR(""));
        (void)buf_add_str(b, str_of(PQgetvalue(r, i, 0)));
    }
}

/* The answer: one value, lines of text, or all rows. */
static void add_pg_answer(struct buf *b, const struct pg_run *run,
                          const struct script_statement *st, const PGresult *r)
{
    int result = PQfnumber(r, "result");

    if (PQresultStatus(r) != PGRES_TUPLES_OK)
        (void)buf_add_lit(b, "No results");
    else if (st->n_queries > 0 && str_is(st->queries[0].language, "plan"))
        add_plan_lines(b, r);
    else if (result >= 0 && run->call->script->n > 1 && PQntuples(r) > 0)
        pg_repr_value(b, r, 0, result);
    else
        pg_repr_rows(b, r);
}

/* What the rows say; 1 when the call is over. */
static int look_at_rows(struct pg_run *run, const struct script_statement *st, const PGresult *r,
                        bool is_last)
{
    auto_buf struct buf b = BUF_INIT(PG_RESULT_MAX);
    int error = PQfnumber(r, "error");
    struct arena *a = run->call->arena;

    if (!is_last && error >= 0 && PQntuples(r) > 0 && !PQgetisnull(r, 0, error)) {
        run->call->error = arena_str(a, str_of(PQgetvalue(r, 0, error)));
        return 1;
    }
    if (!is_last && (PQfnumber(r, "result") < 0 || PQntuples(r) == 0))
        return keep_columns(run, r);
    add_pg_answer(&b, run, st, r);
    if (!buf_ok(&b))
        return err_set(run->err, -EINVAL, "the answer is larger than %d bytes", PG_RESULT_MAX);
    run->call->result = arena_str(a, buf_str(&b));
    return run->call->result.p ? 1 : err_set(run->err, -ENOMEM, "out of memory");
}

static int run_pg_statement(struct pg_run *run, const struct script_statement *st, bool is_last)
{
    struct built b = {.n = 0};
    PGresult *r auto_(pg_clear) = NULL;
    int64_t left = run->until_ms - clock_mono_ms();
    int n;

    build_query(run, st, &b);
    struct pg_query q = {.sql = buf_cstr(&b.sql),
                         .values = b.values,
                         .n = b.n,
                         .is_simple = b.is_simple,
                         .max_ms = left > 0 ? (int)left : 1};
    if (!q.sql)
        n = err_set(run->err, -EINVAL, "the statement is too long");
    else
        n = pg_run(run->c, &q, &r, run->err);
    buf_done(&b.sql);
    return n < 0 ? n : look_at_rows(run, st, r, is_last);
}

static int run_all_pg(struct pg_run *run)
{
    const struct script *s = run->call->script;
    int r = 0;

    for (size_t i = 0; r == 0 && i < s->n; i++)
        r = run_pg_statement(run, &s->statements[i], i + 1 == s->n);
    return r < 0 ? r : 0;
}

/* Leaves nothing behind in the session: a transaction that was left open is done, what was set is
 * not any more. */
static int settle_session(PGconn *c, struct err *e)
{
    PGTransactionStatusType t = PQtransactionStatus(c);
    int r = 0;

    if (t == PQTRANS_INTRANS || t == PQTRANS_INERROR)
        r = pg_do(c, t == PQTRANS_INTRANS ? "COMMIT" : "ROLLBACK", NULL, e);
    if (PQtransactionStatus(c) == PQTRANS_IDLE)
        (void)pg_do(c, "DISCARD ALL", NULL, NULL);
    return r;
}

int pg_script(PGconn *c, struct app_call *call, struct err *e)
{
    struct err own = ERR_INIT, end = ERR_INIT;
    struct pg_run run = {.c = c,
                         .call = call,
                         .kept = json_new_object(call->arena),
                         .err = &own,
                         .until_ms = clock_mono_ms() + PG_CALL_MAX_MS};
    int r = run.kept ? 0 : -ENOMEM;

    if (r == 0 && !call->is_write)
        r = pg_do(c, "BEGIN READ ONLY", NULL, &own);
    if (r == 0)
        r = run_all_pg(&run);
    if (call->is_write) {
        int n = settle_session(c, &end);
        if (r == 0 && n < 0)
            r = err_set(&own, n, "%s", err_text(&end));
    } else {
        (void)pg_do(c, "ROLLBACK", NULL, NULL);
    }
    if (r != -EINVAL)
        return r < 0 ? err_set(e, r, "%s", err_text(&own)) : 0;
    /* What the server refuses is an answer. */
    call->error = arena_str(call->arena, str_of(err_text(&own)));
    return call->error.p ? 0 : err_set(e, -ENOMEM, "out of memory");
}
