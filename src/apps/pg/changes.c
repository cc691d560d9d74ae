/* SPDX-License-Identifier: MIT */
/* Changes between databases of PostgreSQL, see engine/changes.h: both are read in the order of the
 * keys' texts, side by side. A table of another schema than public has its name before its own.
 * Rows of a table without a primary key are their own keys: they come and go, and do not change. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/db/deadline.h"
#include "apps/engine/changes.h"
#include "apps/pg/pg.h"
#include "base/clock.h"

enum { MAX_TABLES = 1000, SQL_MAX = 1 << 20 };
#define PAGE "1000"

struct pg_table {
    const char *label; /* for the reader */
    const char *name;  /* for SQL; NULL: not there */
    const char *key;   /* an expression of a row t; NULL: it has none */
};

struct tables {
    struct pg_table all[MAX_TABLES];
    size_t n;
};

/* One of the two, and its rows of the table at hand. */
struct pg_side {
    PGconn *c;
    struct tables tables;
    PGresult *page; /* NULL: there are no more */
    int at;
};

struct pg_diff {
    struct pg_side sides[2]; /* before and after */
    struct changes found;
    int64_t deadline_ms;
    struct err *err;
};

/* ---- tables ---- */

static const char tables_sql[] =
    "SELECT CASE n.nspname WHEN 'public' THEN c.relname"
    "       ELSE n.nspname || '.' || c.relname END COLLATE \"C\" AS label,"
    "       quote_ident(n.nspname) || '.' || quote_ident(c.relname),"
    "       (SELECT 'json_build_object(' || string_agg(quote_literal(a.attname) || ', t.' ||"
    "               quote_ident(a.attname), ', ' ORDER BY k.at) || ')'"
    "          FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(number, at), pg_attribute a"
    "         WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = c.oid"
    "           AND a.attnum = k.number)"
    "  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname <> 'information_schema'"
    "   AND n.nspname NOT LIKE 'pg\\_%' ORDER BY label";

static int read_pg_tables(struct pg_diff *d, struct pg_side *s)
{
    PGresult *r auto_(pg_clear) = NULL;
    int code = pg_do(s->c, tables_sql, &r, d->err);

    if (code < 0)
        return code;
    if (PQntuples(r) > MAX_TABLES)
        return err_set(d->err, -E2BIG, "there are more than %d tables", MAX_TABLES);
    for (int i = 0; i < PQntuples(r); i++) {
        struct pg_table *t = &s->tables.all[s->tables.n++];
        t->label = arena_strdup(&d->found.arena, PQgetvalue(r, i, 0));
        t->name = arena_strdup(&d->found.arena, PQgetvalue(r, i, 1));
        if (!PQgetisnull(r, i, 2))
            t->key = arena_strdup(&d->found.arena, PQgetvalue(r, i, 2));
        if (!t->label || !t->name || (!t->key && !PQgetisnull(r, i, 2)))
            return err_set(d->err, -ENOMEM, "out of memory");
    }
    return 0;
}

/* ---- rows ---- */

static int fetch_side(struct pg_diff *d, struct pg_side *s)
{
    PQclear(s->page);
    s->page = NULL;
    s->at = 0;
    if (deadline_passed(d->deadline_ms))
        return err_set(d->err, -ETIME, "the comparison takes too long");
    int r = pg_do(s->c, "FETCH " PAGE " FROM rows", &s->page, d->err);
    if (r == 0 && PQntuples(s->page) == 0) {
        PQclear(s->page);
        s->page = NULL;
    }
    return r;
}

static int begin_rows(struct pg_diff *d, struct pg_side *s, const struct pg_table *t,
                      const char *key)
{
    auto_buf struct buf sql = BUF_INIT(SQL_MAX);

    if (!t->name)
        return 0;
    (void)buf_printf(&sql,
                     "DECLARE rows NO SCROLL CURSOR FOR SELECT (%s)::text COLLATE \"C\" AS k, "
                     "row_to_json(t)::text AS r FROM %s t ORDER BY 1, 2",
                     key ? key : "row_to_json(t)", t->name);
    int r = buf_cstr(&sql) ? pg_do(s->c, "BEGIN READ ONLY", NULL, d->err)
                           : err_set(d->err, -E2BIG, "%s: too many columns", t->label);
    if (r == 0)
        r = pg_do(s->c, sql.p, NULL, d->err);
    return r < 0 ? r : fetch_side(d, s);
}

static void end_rows(struct pg_side *s)
{
    PQclear(s->page);
    s->page = NULL;
    (void)pg_do(s->c, "ROLLBACK", NULL, NULL);
}

static struct str text_at(const struct pg_side *s, int column)
{
    return str_n(PQgetvalue(s->page, s->at, column), (size_t)PQgetlength(s->page, s->at, column));
}

static int next_row(struct pg_diff *d, struct pg_side *s)
{
    return ++s->at < PQntuples(s->page) ? 0 : fetch_side(d, s);
}

/* ---- comparing ---- */

/* The members of A that B does not have, or has another value of. */
static struct json *differing_members(struct pg_diff *d, const struct json *a, const struct json *b)
{
    struct json *ret = json_new_object(&d->found.arena);

    for (size_t i = 0; ret && i < a->n; i++) {
        const struct json_member *m = &a->members[i];
        const struct json *v = json_get_str(b, m->key);
        if (v && json_equal(v, &m->value))
            continue;
        if (json_set_str(&d->found.arena, ret, m->key, &m->value) < 0)
            return NULL;
    }
    return ret;
}

static int add_pg_change(struct pg_diff *d, enum changes_kind kind, const struct pg_side *before,
                         const struct pg_side *after)
{
    struct arena *a = &d->found.arena;
    const struct pg_side *any = after ? after : before;
    struct json *old = before ? json_parse(a, text_at(before, 1), NULL, d->err) : NULL;
    struct json *new = after ? json_parse(a, text_at(after, 1), NULL, d->err) : NULL;
    struct change c = {kind, json_parse(a, text_at(any, 0), NULL, d->err), old, new};

    if (!c.key || (before && !old) || (after && !new))
        return err_set(d->err, -E2BIG, "a row is too large to be shown");
    if (kind == CHANGES_UPDATED) {
        c.old = differing_members(d, old, new);
        c.new = differing_members(d, new, old);
        if (!c.old || !c.new)
            return err_set(d->err, -ENOMEM, "more changes than memory");
    }
    return changes_add(&d->found, &c, d->err);
}

/* Which of the two comes next: as str_cmp(). */
static int order_sides(const struct pg_diff *d)
{
    const struct pg_side *before = &d->sides[0], *after = &d->sides[1];

    if (!before->page || !after->page)
        return before->page ? -1 : 1;
    return str_cmp(text_at(before, 0), text_at(after, 0));
}

static int compare_rows(struct pg_diff *d)
{
    struct pg_side *before = &d->sides[0], *after = &d->sides[1];
    int r = 0;

    while (r == 0 && (before->page || after->page)) {
        int which = order_sides(d);
        if (which < 0)
            r = add_pg_change(d, CHANGES_DELETED, before, NULL);
        else if (which > 0)
            r = add_pg_change(d, CHANGES_INSERTED, NULL, after);
        else if (str_cmp(text_at(before, 1), text_at(after, 1)) != 0)
            r = add_pg_change(d, CHANGES_UPDATED, before, after);
        if (r == 0 && which <= 0)
            r = next_row(d, before);
        if (r == 0 && which >= 0)
            r = next_row(d, after);
    }
    return r;
}

static int compare_pg_table(struct pg_diff *d, const struct pg_table *before,
                            const struct pg_table *after)
{
    const char *label = after->name ? after->label : before->label;
    const char *key = after->name ? after->key : before->key;
    int r = changes_table(&d->found, label, d->err);

    /* Of a table that got another key, rows are what can be compared. */
    if (before->name && after->name && (!key || !before->key || strcmp(key, before->key) != 0))
        key = NULL;
    if (r == 0)
        r = begin_rows(d, &d->sides[0], before, key);
    if (r == 0)
        r = begin_rows(d, &d->sides[1], after, key);
    if (r == 0)
        r = compare_rows(d);
    end_rows(&d->sides[0]);
    end_rows(&d->sides[1]);
    return r;
}

static int compare_tables(struct pg_diff *d)
{
    static const struct pg_table none;
    const struct tables *a = &d->sides[0].tables, *b = &d->sides[1].tables;
    int r = 0;

    for (size_t i = 0, k = 0; r == 0 && (i < a->n || k < b->n);) {
        int which = i == a->n ? 1 : k == b->n ? -1 : strcmp(a->all[i].label, b->all[k].label);
        r = compare_pg_table(d, which <= 0 ? &a->all[i] : &none, which >= 0 ? &b->all[k] : &none);
        i += which <= 0;
        k += which >= 0;
    }
    return r;
}

int pg_changes(PGconn *base, PGconn *c, struct buf *out, struct err *e)
{
    struct pg_diff *d = calloc(1, sizeof *d);

    if (!d)
        return err_set(e, -ENOMEM, "out of memory");
    d->sides[0].c = base;
    d->sides[1].c = c;
    d->err = e;
    d->deadline_ms = clock_mono_ms() + CHANGES_TIME_MAX_MS;
    changes_init(&d->found);
    int r = read_pg_tables(d, &d->sides[0]);
    if (r == 0)
        r = read_pg_tables(d, &d->sides[1]);
    if (r == 0)
        r = compare_tables(d);
    if (r == 0)
        r = changes_write(&d->found, out, e);
    changes_done(&d->found);
    free(d);
    return r;
}
