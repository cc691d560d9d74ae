/* SPDX-License-Identifier: MIT */
/* Running statements: compiled, run on the database that keeps the tables, and reported. */
#include "apps/products/bigquery/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/db/db_internal.h"
#include "apps/db/value.h"
#include "base/cleanup.h"
#include "base/mem.h"

/* ---- SQLite ---- */

void bq_sql_fail(struct bq_gen *g, int rc)
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

sqlite3_stmt *bq_sql_prepare(struct bq_gen *g, struct str sql)
{
    sqlite3_stmt *st = NULL;
    appdb_limit_values(g->run->db, sql.len);
    int rc = g->has_failed || !sql.p
                 ? SQLITE_ERROR
                 : sqlite3_prepare_v2(g->run->db, sql.p, (int)sql.len, &st, NULL);

    if (rc != SQLITE_OK && !g->has_failed)
        bq_sql_fail(g, rc);
    return st;
}

int64_t bq_sql_change(struct bq_gen *g, struct str sql)
{
    sqlite3_stmt *st = bq_sql_prepare(g, sql);
    int64_t before = sqlite3_total_changes64(g->run->db);

    if (!st)
        return -1;
    int rc = g->run->is_dry ? SQLITE_DONE : sqlite3_step(st);
    while (rc == SQLITE_ROW)
        rc = sqlite3_step(st);
    if (rc != SQLITE_DONE)
        bq_sql_fail(g, rc);
    (void)sqlite3_finalize(st);
    return g->has_failed ? -1 : sqlite3_total_changes64(g->run->db) - before;
}

int64_t bq_sql_number(struct bq_gen *g, struct str sql)
{
    sqlite3_stmt *st = bq_sql_prepare(g, sql);
    int64_t n = st && sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;

    (void)sqlite3_finalize(st);
    return n;
}

void bq_sql_undo(struct bq_gen *g, const char *savepoint, bool is_undone)
{
    char sql[64];

    (void)snprintf(sql, sizeof sql, "ROLLBACK TO %s", savepoint);
    if (is_undone && !g->run->is_dry)
        (void)sqlite3_exec(g->run->db, sql, NULL, NULL, NULL);
    (void)snprintf(sql, sizeof sql, "RELEASE %s", savepoint);
    if (!g->run->is_dry)
        (void)sqlite3_exec(g->run->db, sql, NULL, NULL, NULL);
}

/* ---- SELECT ---- */

static void put_bq_row(struct bq_gen *g, sqlite3_stmt *st, const struct bq_columns *columns)
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
    sqlite3_stmt *st = r.sql.p ? bq_sql_prepare(g, r.sql) : NULL;
    int rc = SQLITE_DONE;

    if (st && !sqlite3_stmt_readonly(st)) /* cannot be */
        bq_fail(g, NULL, "the query writes");
    while (st && !g->run->is_dry && !g->has_failed && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        g->run->n_rows++;
        if (g->run->n_rows <= g->run->max_rows)
            g->run->n_returned++;
        if (g->run->n_returned == g->run->n_rows && g->run->n_rows <= BQ_SHOWN_ROWS)
            put_bq_row(g, st, &r.columns);
    }
    if (st && rc != SQLITE_DONE && rc != SQLITE_ROW)
        bq_sql_fail(g, rc);
    (void)sqlite3_finalize(st);
}

/* ---- all of it ---- */

static const struct {
    const char *name;
    void (*run)(struct bq_gen *g, const struct bq_statement *s);
} kinds[] = {
    [BQ_S_SELECT] = {"SELECT", run_select},
    [BQ_S_INSERT] = {"INSERT", bq_run_insert},
    [BQ_S_UPDATE] = {"UPDATE", bq_run_update},
    [BQ_S_DELETE] = {"DELETE", bq_run_delete},
    [BQ_S_MERGE] = {"MERGE", bq_run_merge},
    [BQ_S_CREATE_TABLE] = {"CREATE_TABLE", bq_run_create_table},
    [BQ_S_DROP_TABLE] = {"DROP_TABLE", bq_run_drop_table},
    [BQ_S_CREATE_VIEW] = {"CREATE_VIEW", bq_run_create_view},
    [BQ_S_DROP_VIEW] = {"DROP_VIEW", bq_run_drop_table},
    [BQ_S_TRUNCATE] = {"TRUNCATE_TABLE", bq_run_truncate},
    [BQ_S_CREATE_SCHEMA] = {"CREATE_SCHEMA", bq_run_create_schema},
    [BQ_S_DROP_SCHEMA] = {"DROP_SCHEMA", bq_run_drop_schema},
};

static void count_bq_bytes(struct bq_gen *g)
{
    for (size_t i = 0; i < g->n_tables && !g->has_failed; i++)
        g->run->n_bytes += bq_sql_number(
            g, bq_printf(g, "SELECT ifnull(sum(length(d)), 0) FROM bq_row WHERE t = %lld",
                         (long long)g->tables[i].n));
}

void bq_run_statement(struct bq_gen *g, const struct bq_statement *s)
{
    g->n_tables = 0;
    kinds[s->kind].run(g, s);
    if (!g->has_failed)
        count_bq_bytes(g);
}

int bq_run(struct bq_run *q, struct str text, struct err *e)
{
    struct err own = ERR_INIT;
    struct bq_parser p = {.arena = q->arena, .err = e ? e : &own};
    struct bq_gen *g = mem_zalloc(1, sizeof *g);
    struct bq_step *steps = NULL;

    q->code = 400;
    q->reason = "invalidQuery";
    q->kind = "SCRIPT";
    if (!g)
        return err_set(e, -ENOMEM, "out of memory");
    int r = bq_parse(&p, text, &steps);
    if (r == 0) {
        *g = (struct bq_gen){.run = q, .arena = q->arena, .err = p.err};
        g->is_script = steps->next || steps->kind != BQ_P_STATEMENT;
        if (g->is_script) {
            bq_run_script(g, steps);
        } else {
            q->kind = kinds[steps->statement.kind].name;
            bq_run_statement(g, &steps->statement);
        }
        r = g->has_failed ? -EINVAL : 0;
    }
    free(g);
    return r;
}
