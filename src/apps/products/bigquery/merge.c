/* SPDX-License-Identifier: MIT */
/* MERGE. What becomes of every row is decided first, on the tables as they are, and kept as rows of
 * the table 0, which no table has as its number: ["U", n, row], ["D", n] or ["I", null, row]. */
#include "apps/products/bigquery/run.h"
#include "base/cleanup.h"

struct merge {
    const struct bq_statement *s;
    struct bq_table table;
    struct bq_scope scopes[BQ_W_COUNT]; /* what a WHEN may name */
    struct bq_range target;             /* alone */
    struct str own, source, on;
    unsigned name; /* of the table in the SQL */
};

static bool open_merge(struct bq_gen *g, struct merge *m)
{
    struct bq_scope *both = &m->scopes[BQ_W_BOTH];

    both->end = &both->ranges;
    both->is_joined = true;
    if (!bq_find_target(g, m->s->table, &m->table))
        return false;
    m->own = bq_gen_table(g, &m->table, m->s->alias, both);
    m->name = g->n_names;
    m->source = m->own.p ? bq_gen_from(g, m->s->from, both) : STR_NULL;
    struct bq_sql on = m->source.p ? bq_gen_expr(g, m->s->where, both) : (struct bq_sql){0};
    if (!on.sql.p)
        return false;
    if (on.type->kind != BQ_BOOL && on.type->kind != BQ_ANY) {
        bq_fail(g, m->s->where,
                "MERGE ON clause should return type BOOL, but returns type " STR_FMT,
                STR_ARG(bq_type_text(g->arena, on.type)));
        return false;
    }
    m->on = on.sql;
    m->target = *both->ranges;
    m->target.next = NULL;
    m->scopes[BQ_W_TARGET_ONLY].ranges = &m->target;
    m->scopes[BQ_W_SOURCE_ONLY].ranges = both->ranges->next;
    return true;
}

/* The row of INSERT ROW: the columns of the source as they come. */
static struct str whole_row(struct bq_gen *g, const struct merge *m, const struct bq_into *into)
{
    struct bq_sql values[BQ_MAX_COLUMNS];
    size_t n = 0;

    for (const struct bq_range *r = m->scopes[BQ_W_SOURCE_ONLY].ranges; r; r = r->next) {
        for (size_t i = 0; i < r->columns.n && n < BQ_MAX_COLUMNS; i++) {
            if (!r->columns.items[i].is_hidden)
                values[n++] = (struct bq_sql){.sql = r->columns.items[i].sql,
                                              .type = r->columns.items[i].type};
        }
    }
    if (n == into->n)
        return bq_row_of(g, values, into);
    bq_fail(g, NULL, "Inserted row has wrong column count; Has %zu, expected %zu", n, into->n);
    return STR_NULL;
}

/* What W makes of a row. */
static struct str gen_action(struct bq_gen *g, const struct merge *m, const struct bq_when *w)
{
    const struct bq_scope *s = &m->scopes[w->of];
    struct bq_into into;
    struct str row;

    switch (w->does) {
    case BQ_W_DELETE: return bq_printf(g, "json_array('D', t%u.n)", m->name);
    case BQ_W_UPDATE:
        row = bq_gen_sets(g, w->sets, &m->table, s);
        return bq_printf(g, "json_array('U', t%u.n, json_set(t%u.d" STR_FMT "))", m->name, m->name,
                         STR_ARG(row));
    case BQ_W_INSERT:
        if (!bq_into_columns(g, w->columns, &m->table, &into))
            return STR_NULL;
        row = w->row ? bq_row_of_list(g, w->row, &into, s) : whole_row(g, m, &into);
        return bq_printf(g, "json_array('I', NULL, " STR_FMT ")", STR_ARG(row));
    }
    return STR_NULL;
}

/* " WHEN … THEN …" of those that are for rows of one side or both; the first that fits counts. */
static struct str gen_whens(struct bq_gen *g, const struct merge *m, int of)
{
    auto_buf struct buf b = BUF_INIT(4 << 20);

    for (const struct bq_when *w = m->s->whens; w && !g->has_failed; w = w->next) {
        if ((int)w->of != of)
            continue;
        struct bq_sql where = w->where ? bq_gen_expr(g, w->where, &m->scopes[of])
                                       : (struct bq_sql){STR("1"), &bq_scalars[BQ_BOOL], true};
        if (!where.sql.p)
            return STR_NULL;
        if (where.type->kind != BQ_BOOL && where.type->kind != BQ_ANY) {
            bq_fail(g, w->where, "WHEN clause should return type BOOL, but returns type " STR_FMT,
                    STR_ARG(bq_type_text(g->arena, where.type)));
            return STR_NULL;
        }
        struct str action = gen_action(g, m, w);
        (void)buf_printf(&b, " WHEN " STR_FMT " THEN " STR_FMT, STR_ARG(where.sql),
                         STR_ARG(action));
    }
    return bq_printf(g, STR_FMT, STR_ARG(buf_str(&b)));
}

/* The rows of one side or both. */
static struct str gen_rows(struct bq_gen *g, const struct merge *m, int of)
{
    struct str pairs =
        bq_printf(g, STR_FMT "%sJOIN " STR_FMT " ON " STR_FMT, STR_ARG(m->source),
                  of == BQ_W_SOURCE_ONLY ? " LEFT " : " ", STR_ARG(m->own), STR_ARG(m->on));

    if (!pairs.p || of == BQ_W_BOTH)
        return pairs;
    if (of == BQ_W_SOURCE_ONLY)
        return bq_printf(g, STR_FMT " WHERE t%u.n IS NULL", STR_ARG(pairs), m->name);
    return bq_printf(g, STR_FMT " WHERE t%u.n NOT IN (SELECT t%u.n FROM " STR_FMT ")",
                     STR_ARG(m->own), m->name, m->name, STR_ARG(pairs));
}

/* Writes down what is to be done with them. */
static bool decide_merge(struct bq_gen *g, const struct merge *m, int of)
{
    static const struct bq_table notes = {.n = 0};
    struct str whens = gen_whens(g, m, of);

    if (!whens.p || whens.len == 0)
        return !g->has_failed;
    struct str from = gen_rows(g, m, of);
    if (!from.p)
        return false;
    return bq_insert_rows(g, &notes,
                          bq_printf(g,
                                    "SELECT d FROM (SELECT CASE" STR_FMT " END AS d FROM " STR_FMT
                                    ") WHERE d IS NOT NULL",
                                    STR_ARG(whens), STR_ARG(from))) >= 0;
}

static void apply_merge(struct bq_gen *g, const struct bq_table *t)
{
    g->run->n_rows = bq_sql_number(g, STR("SELECT count(*) FROM bq_row WHERE t = 0"));
    if (bq_sql_number(g, STR("SELECT count(*) FROM (SELECT 1 FROM bq_row WHERE t = 0 AND"
                             " d ->> '$[0]' <> 'I' GROUP BY d ->> '$[1]' HAVING count(*) > 1)")) >
        0) {
        bq_fail_many(g);
        return;
    }
    (void)bq_sql_change(
        g, bq_printf(g,
                     "UPDATE bq_row SET d = u.d FROM (SELECT d ->> '$[1]' AS n, d -> '$[2]' AS d"
                     " FROM bq_row WHERE t = 0 AND d ->> '$[0]' = 'U') AS u"
                     " WHERE bq_row.t = %lld AND bq_row.n = u.n",
                     (long long)t->n));
    (void)bq_sql_change(g,
                        bq_printf(g,
                                  "DELETE FROM bq_row WHERE t = %lld AND n IN (SELECT d ->> '$[1]'"
                                  " FROM bq_row WHERE t = 0 AND d ->> '$[0]' = 'D')",
                                  (long long)t->n));
    (void)bq_insert_rows(g, t,
                         STR("SELECT d -> '$[2]' AS d FROM bq_row WHERE t = 0 AND"
                             " d ->> '$[0]' = 'I' ORDER BY n"));
    (void)bq_sql_change(g, STR("DELETE FROM bq_row WHERE t = 0"));
}

void bq_run_merge(struct bq_gen *g, const struct bq_statement *s)
{
    struct merge m = {.s = s};

    if (!open_merge(g, &m))
        return;
    for (int of = 0; of < BQ_W_COUNT; of++) {
        if (!decide_merge(g, &m, of))
            return;
    }
    apply_merge(g, &m.table);
}
