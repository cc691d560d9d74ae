/* SPDX-License-Identifier: MIT */
/* Changes between databases of SQLite, see changes.h: by its session extension, which compares a
 * table with that of an attached database and gives the changes as a changeset. */
#define SQLITE_ENABLE_SESSION        1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <errno.h>

#include "apps/db/db_internal.h"
#include "apps/db/deadline.h"
#include "apps/db/value.h"
#include "apps/engine/changes.h"
#include "base/clock.h"

enum { MAX_COLUMNS = 500, MAX_TABLES = 1000 };

struct sqlite_diff {
    sqlite3 *c;
    struct changes found;
    const char *tables[MAX_TABLES];
    size_t n_tables;
    struct err *err;
    int64_t deadline_ms;
    const char *columns[MAX_COLUMNS]; /* of the table at hand */
    int n_columns;
};

static int fail_sqlite_diff(struct sqlite_diff *d, int rc, const char *what)
{
    if (rc == SQLITE_INTERRUPT)
        return err_set(d->err, -ETIME, "%s: takes too long", what);
    if (rc == SQLITE_NOMEM)
        return err_set(d->err, -ENOMEM, "out of memory");
    return err_set(d->err, -EIO, "%s: %s", what, sqlite3_errmsg(d->c));
}

static int fail_diff_memory(struct sqlite_diff *d)
{
    return err_set(d->err, -ENOMEM, "more changes than memory");
}

static int look_at_compare_time(void *ctx)
{
    const struct sqlite_diff *d = ctx;

    return deadline_passed(d->deadline_ms);
}

/* ---- reading ---- */

/* Calls FN with the texts of the first column. */
static int each_text(struct sqlite_diff *d, const char *sql, const char *param,
                     int (*fn)(struct sqlite_diff *d, const char *text))
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(d->c, sql, -1, &st, NULL), r = 0;

    if (rc == SQLITE_OK && param)
        rc = sqlite3_bind_text(st, 1, param, -1, SQLITE_STATIC);
    while (rc == SQLITE_OK && r == 0 && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(st, 0);
        char *kept = text ? arena_strdup(&d->found.arena, text) : NULL;
        r = kept ? fn(d, kept) : fail_diff_memory(d);
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(st);
    return r < 0                                  ? r
           : rc == SQLITE_DONE || rc == SQLITE_OK ? 0
                                                  : fail_sqlite_diff(d, rc, "read the schema");
}

static int add_changed_table(struct sqlite_diff *d, const char *name)
{
    if (d->n_tables == MAX_TABLES)
        return err_set(d->err, -E2BIG, "there are more than %d tables", MAX_TABLES);
    d->tables[d->n_tables++] = name;
    return 0;
}

static int add_column(struct sqlite_diff *d, const char *name)
{
    if (d->n_columns == MAX_COLUMNS)
        return err_set(d->err, -E2BIG, "a table has more than %d columns", MAX_COLUMNS);
    d->columns[d->n_columns++] = name;
    return 0;
}

typedef int get_value(sqlite3_changeset_iter *it, int column, sqlite3_value **ret);

/* An object of the columns for which GET gives a value; PK NULL: all, else just those in it. */
static struct json *read_changed_row(struct sqlite_diff *d, sqlite3_changeset_iter *it,
                                     get_value *get, const unsigned char *pk)
{
    struct json *row = json_new_object(&d->found.arena);

    for (int i = 0; row && i < d->n_columns; i++) {
        sqlite3_value *v = NULL;
        struct json value;
        if ((pk && !pk[i]) || get(it, i, &v) != SQLITE_OK || !v)
            continue;
        if (value_read(v, &d->found.arena, &value) < 0 ||
            json_set(&d->found.arena, row, d->columns[i], &value) < 0)
            return NULL;
    }
    return row;
}

static void drop_key(struct json *row, const struct json *key)
{
    for (size_t i = 0; i < key->n; i++)
        (void)json_del(row, key->members[i].key);
}

/* The two sides of a change; what a kind lacks stays NULL. */
static int read_sides(struct sqlite_diff *d, struct change *c, sqlite3_changeset_iter *it,
                      const unsigned char *pk)
{
    struct json *old = NULL;

    c->key = read_changed_row(
        d, it, c->kind == CHANGES_INSERTED ? sqlite3changeset_new : sqlite3changeset_old, pk);
    if (!c->key)
        return fail_diff_memory(d);
    if (c->kind != CHANGES_INSERTED && !(old = read_changed_row(d, it, sqlite3changeset_old, NULL)))
        return fail_diff_memory(d);
    if (c->kind != CHANGES_DELETED &&
        !(c->new = read_changed_row(d, it, sqlite3changeset_new, NULL)))
        return fail_diff_memory(d);
    if (c->kind == CHANGES_UPDATED)
        drop_key(old, c->key);
    c->old = old;
    return 0;
}

static int read_changeset_entry(struct sqlite_diff *d, const char *table,
                                sqlite3_changeset_iter *it)
{
    const char *name;
    unsigned char *pk = NULL;
    struct change c = {0};
    int n, op, is_indirect;

    if (sqlite3changeset_op(it, &name, &n, &op, &is_indirect) != SQLITE_OK ||
        sqlite3changeset_pk(it, &pk, &n) != SQLITE_OK || n != d->n_columns)
        return err_set(d->err, -EIO, "%s: the change cannot be read", table);
    c.kind = op == SQLITE_INSERT   ? CHANGES_INSERTED
             : op == SQLITE_UPDATE ? CHANGES_UPDATED
                                   : CHANGES_DELETED;
    int r = read_sides(d, &c, it, pk);
    return r < 0 ? r : changes_add(&d->found, &c, d->err);
}

static int read_sqlite_changes(struct sqlite_diff *d, const char *table, void *set, int size)
{
    sqlite3_changeset_iter *it = NULL;
    int rc = sqlite3changeset_start(&it, size, set), r = 0;

    while (rc == SQLITE_OK && r == 0 && (rc = sqlite3changeset_next(it)) == SQLITE_ROW) {
        r = read_changeset_entry(d, table, it);
        rc = SQLITE_OK;
    }
    (void)sqlite3changeset_finalize(it);
    if (r == 0 && rc != SQLITE_DONE && rc != SQLITE_OK)
        r = fail_sqlite_diff(d, rc, table);
    return r;
}

static int compare_sqlite_table(struct sqlite_diff *d, const char *table)
{
    sqlite3_session *session = NULL;
    char *why = NULL;
    void *set = NULL;
    int size = 0;

    d->n_columns = 0;
    int r = each_text(d, "SELECT name FROM pragma_table_info(?1) ORDER BY cid", table, add_column);
    if (r == 0)
        r = changes_table(&d->found, table, d->err);
    if (r < 0)
        return r;
    int rc = sqlite3session_create(d->c, "main", &session);
    if (rc == SQLITE_OK)
        rc = sqlite3session_attach(session, table);
    if (rc == SQLITE_OK)
        rc = sqlite3session_diff(session, "base", table, &why);
    if (rc == SQLITE_OK)
        rc = sqlite3session_changeset(session, &size, &set);
    if (rc != SQLITE_OK)
        r = why ? err_set(d->err, -EIO, "%s: %s", table, why) : fail_sqlite_diff(d, rc, table);
    else
        r = read_sqlite_changes(d, table, set, size);
    sqlite3_free(why);
    sqlite3_free(set);
    sqlite3session_delete(session);
    return r;
}

/* ---- all of it ---- */

static int attach_base(struct sqlite_diff *d, const char *base)
{
    char uri[APPDB_URI_MAX];
    sqlite3_stmt *st = NULL;

    appdb_put_uri(base, uri);
    int rc = sqlite3_prepare_v2(d->c, "ATTACH ?1 AS base", -1, &st, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(st, 1, uri, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    (void)sqlite3_finalize(st);
    return rc == SQLITE_DONE ? 0 : fail_sqlite_diff(d, rc, "open what it is compared with");
}

static int compare_databases(struct sqlite_diff *d, const char *base, const char *path)
{
    char uri[APPDB_URI_MAX];

    appdb_put_uri(path, uri);
    int rc = sqlite3_open_v2(uri, &d->c,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    if (rc != SQLITE_OK)
        return fail_sqlite_diff(d, rc, "open");
    sqlite3_progress_handler(d->c, 10000, look_at_compare_time, d);
    int r = attach_base(d, base);
    if (r == 0)
        r = each_text(d,
                      "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
                      " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
                      " AND name NOT LIKE 'fts\\_%' ESCAPE '\\' AND name <> 'tidepool_meta'"
                      " ORDER BY name",
                      NULL, add_changed_table);
    for (size_t i = 0; r == 0 && i < d->n_tables; i++)
        r = compare_sqlite_table(d, d->tables[i]);
    return r;
}

int changes_of_sqlite(const char *base, const char *path, struct buf *out, struct err *e)
{
    struct sqlite_diff d = {.err = e, .deadline_ms = clock_mono_ms() + CHANGES_TIME_MAX_MS};

    changes_init(&d.found);
    int r = compare_databases(&d, base, path);
    (void)sqlite3_close(d.c);
    if (r == 0)
        r = changes_write(&d.found, out, e);
    changes_done(&d.found);
    return r;
}
