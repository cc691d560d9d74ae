/* SPDX-License-Identifier: MIT */
/* Running scripts. The whole call is one transaction of SQLite, and what a script that fails has
 * done is undone with it; savepoints are for what the script undoes itself. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apps/products/bigquery/run.h"
#include "base/cleanup.h"

struct bq_script {
    struct bq_gen *g;
    unsigned n_steps;
    unsigned n_handlers; /* blocks around this step that catch its failure */
    bool is_open;        /* a transaction */
    struct bq_var *row_count;
};

static bool run_steps(struct bq_script *x, const struct bq_step *steps);

/* ---- failures ---- */

/* The failure of S, as it is reported for scripts: where it was, once. */
static void place_failure(struct bq_gen *g, const struct bq_step *s)
{
    char why[sizeof g->err->text];

    (void)snprintf(why, sizeof why, "%s", err_text(g->err));
    if (strncmp(why, "Query error: ", 13) == 0)
        return;
    if (strstr(why, " at ["))
        (void)err_set(g->err, -EINVAL, "Query error: %s", why);
    else
        (void)err_set(g->err, -EINVAL, "Query error: %s at [%u:%u]", why, s->line, s->column);
}

/* The failure is over. */
static void forgive(struct bq_gen *g)
{
    *g->err = (struct err)ERR_INIT;
    g->has_failed = false;
    g->run->code = 400;
    g->run->reason = "invalidQuery";
}

/* ---- variables ---- */

static struct bq_var *add_var(struct bq_gen *g, struct str name, const struct bq_type *type,
                              struct str sql)
{
    struct bq_var *v = g->has_failed ? NULL : arena_new(g->arena, struct bq_var);

    if (!v) {
        bq_fail(g, NULL, "Query is too complex: it needs too much memory");
        return NULL;
    }
    *v = (struct bq_var){.next = g->vars, .name = name, .type = type, .sql = sql};
    g->vars = v;
    return v;
}

/* What V is now, as a literal of SQLite. .p NULL: failed. */
static struct str literal_of(struct bq_gen *g, const struct bq_sql *v)
{
    sqlite3_stmt *st =
        v->sql.p ? bq_sql_prepare(g, bq_printf(g, "SELECT quote(" STR_FMT ")", STR_ARG(v->sql)))
                 : NULL;
    struct str sql = STR_NULL;
    int rc = st ? sqlite3_step(st) : SQLITE_ERROR;

    if (rc == SQLITE_ROW) {
        sql = str_of((const char *)sqlite3_column_text(st, 0));
        sql = bq_printf(g, STR_FMT, STR_ARG(sql));
    } else if (st) {
        bq_sql_fail(g, rc);
    }
    (void)sqlite3_finalize(st);
    return sql;
}

static struct bq_sql gen_value(struct bq_gen *g, const struct bq_expr *e)
{
    const struct bq_scope none = {0};

    g->n_tables = 0;
    return bq_gen_expr(g, e, &none);
}

/* V as a literal of type T. */
static struct str assigned(struct bq_gen *g, struct bq_sql *v, const struct bq_type *t,
                           const struct bq_expr *name)
{
    if (v->sql.p && !bq_coerce(g, v, t))
        bq_fail(g, name,
                "Cannot assign a value of type " STR_FMT " to variable " STR_FMT
                " of type " STR_FMT,
                STR_ARG(bq_type_text(g->arena, v->type)), STR_ARG(name->text),
                STR_ARG(bq_type_text(g->arena, t)));
    return g->has_failed ? STR_NULL : literal_of(g, v);
}

static void run_declare(struct bq_script *x, const struct bq_step *s)
{
    struct bq_gen *g = x->g;
    struct bq_sql v =
        s->value ? gen_value(g, s->value) : (struct bq_sql){STR("NULL"), &bq_scalars[BQ_ANY], true};
    const struct bq_type *type = s->type ? s->type : v.type;
    struct str sql = assigned(g, &v, type, s->names);

    for (const struct bq_expr *e = s->names; e && sql.p; e = e->next) {
        if (bq_find_var(g, e->text)) {
            bq_fail(g, e, "Variable '" STR_FMT "' redeclaration is not allowed", STR_ARG(e->text));
            return;
        }
        (void)add_var(g, e->text, type, sql);
    }
}

/* Value I of those that SET (a, b) = … has. */
static struct bq_sql bq_member_of(struct bq_gen *g, const struct bq_sql *all, size_t i)
{
    const struct bq_field *f = &all->type->fields[i];
    struct str path = bq_quote(g, bq_printf(g, "$.\"" STR_FMT "\"", STR_ARG(f->name)));

    return bq_made(g, f->type, "(" STR_FMT " ->> " STR_FMT ")", STR_ARG(all->sql), STR_ARG(path));
}

static void run_set(struct bq_script *x, const struct bq_step *s)
{
    struct bq_gen *g = x->g;
    struct bq_sql all = gen_value(g, s->value);
    size_t n = 0;

    for (const struct bq_expr *e = s->names; e; e = e->next)
        n++;
    if (all.sql.p && s->is_list && (all.type->kind != BQ_STRUCT || all.type->n != n))
        bq_fail(g, s->value, "Expected %zu values for SET, but got " STR_FMT, n,
                STR_ARG(bq_type_text(g->arena, all.type)));
    if (s->is_list && !g->has_failed)
        all.sql = literal_of(g, &all); /* all are found before one is set */
    n = 0;
    for (const struct bq_expr *e = s->names; e && !g->has_failed; e = e->next, n++) {
        struct bq_var *v = bq_find_var(g, e->text);
        if (!v) {
            bq_fail(g, e, "Undeclared variable: " STR_FMT, STR_ARG(e->text));
            return;
        }
        struct bq_sql value = s->is_list ? bq_member_of(g, &all, n) : all;
        struct str sql = assigned(g, &value, v->type, e);
        if (sql.p)
            v->sql = sql;
    }
}

/* ---- conditions and blocks ---- */

static void run_if(struct bq_script *x, const struct bq_step *s)
{
    struct bq_sql v = gen_value(x->g, s->value);

    if (v.sql.p && v.type->kind != BQ_BOOL && v.type->kind != BQ_ANY)
        bq_fail(x->g, s->value, "IF condition should return type BOOL, but returns type " STR_FMT,
                STR_ARG(bq_type_text(x->g->arena, v.type)));
    struct str is_so = x->g->has_failed ? STR_NULL : literal_of(x->g, &v);
    if (is_so.p)
        (void)run_steps(x, str_is(is_so, "1") ? s->body : s->other);
}

/* @@error, for the steps that deal with it. */
static void add_error(struct bq_gen *g)
{
    static const struct bq_field fields[] = {{STR_INIT("message"), &bq_scalars[BQ_STRING]}};
    static const struct bq_type type = {.kind = BQ_STRUCT, .fields = fields, .n = 1};
    struct err why = *g->err;

    forgive(g);
    (void)add_var(g, STR("@@error"), &type,
                  bq_printf(g, "json_object('message', " STR_FMT ")",
                            STR_ARG(bq_quote(g, str_of(err_text(&why))))));
}

static void run_block(struct bq_script *x, const struct bq_step *s)
{
    struct bq_var *before = x->g->vars;

    x->n_handlers += s->has_handler;
    bool is_done = run_steps(x, s->body);
    x->n_handlers -= s->has_handler;
    x->g->vars = before;
    if (is_done || !s->has_handler || x->g->run->has_hit_limits)
        return;
    add_error(x->g);
    (void)run_steps(x, s->other);
    x->g->vars = before;
}

/* ---- statements ---- */

static void run_script_step(struct bq_script *x, const struct bq_step *s)
{
    struct bq_run *q = x->g->run;
    int64_t n_rows = q->n_rows;
    bool is_select = s->statement.kind == BQ_S_SELECT;

    if (is_select) {
        buf_clear(&q->text);
        q->n_rows = q->n_returned = 0;
    }
    if (x->n_handlers > 0)
        (void)bq_sql_change(x->g, STR("SAVEPOINT step"));
    bq_run_statement(x->g, &s->statement);
    if (x->n_handlers > 0)
        bq_sql_undo(x->g, "step", x->g->has_failed);
    if (is_select)
        return;
    x->row_count->sql = bq_printf(x->g, "%lld", (long long)q->n_rows);
    q->n_rows = n_rows;
}

/* BEGIN, COMMIT and ROLLBACK TRANSACTION. */
static void run_transaction(struct bq_script *x, const struct bq_step *s)
{
    if (s->kind == BQ_P_BEGIN && x->is_open) {
        bq_fail(x->g, NULL,
                "Transaction is already in progress; nested transactions are not "
                "supported");
        return;
    }
    if (s->kind != BQ_P_BEGIN && !x->is_open) {
        bq_fail(x->g, NULL, "%s TRANSACTION without an open transaction",
                s->kind == BQ_P_COMMIT ? "COMMIT" : "ROLLBACK");
        return;
    }
    x->is_open = s->kind == BQ_P_BEGIN;
    if (x->is_open)
        (void)bq_sql_change(x->g, STR("SAVEPOINT work"));
    else
        bq_sql_undo(x->g, "work", s->kind == BQ_P_ROLLBACK);
}

static bool run_steps(struct bq_script *x, const struct bq_step *steps)
{
    static void (*const kinds[])(struct bq_script *, const struct bq_step *) = {
        [BQ_P_STATEMENT] = run_script_step,
        [BQ_P_DECLARE] = run_declare,
        [BQ_P_SET] = run_set,
        [BQ_P_IF] = run_if,
        [BQ_P_BLOCK] = run_block,
        [BQ_P_BEGIN] = run_transaction,
        [BQ_P_COMMIT] = run_transaction,
        [BQ_P_ROLLBACK] = run_transaction,
    };

    for (const struct bq_step *s = steps; s && !x->g->has_failed; s = s->next) {
        if (++x->n_steps > BQ_MAX_STEPS)
            bq_fail_as(x->g, 400, "resourcesExceeded",
                       "Resources exceeded during query execution: The script has more than %d "
                       "statements",
                       BQ_MAX_STEPS);
        else
            kinds[s->kind](x, s);
        if (x->g->has_failed)
            place_failure(x->g, s);
    }
    return !x->g->has_failed;
}

void bq_run_script(struct bq_gen *g, const struct bq_step *steps)
{
    struct bq_script x = {.g = g};

    x.row_count = add_var(g, STR("@@row_count"), &bq_scalars[BQ_INT64], STR("NULL"));
    if (!x.row_count || g->run->is_dry || !run_steps(&x, steps))
        return;
    if (x.is_open) /* what was not committed */
        bq_sql_undo(g, "work", true);
    bq_drop_temps(g);
}
